"""The kinds of token, named as the grammar names them, and what is said of each in an error.

A token is a `lark.Token`, so that the parser takes it as it is; `start_pos` and `end_pos` are
offsets into the source text.
"""

from dataclasses import dataclass

from lark import Token

from saftc.source import Span

KEYWORDS = {
    "if": "IF",
    "elif": "ELIF",
    "else": "ELSE",
    "for": "FOR",
    "in": "IN",
    "while": "WHILE",
    "break": "BREAK",
    "continue": "CONTINUE",
    "ret": "RET",
    "assert": "ASSERT",
    "and": "AND",
    "or": "OR",
    "not": "NOT",
    "true": "TRUE",
    "false": "FALSE",
    "nil": "NIL",
}

# Words with a meaning only in place; elsewhere they are names.
SOFT_KEYWORDS = {
    "f": "FUNCTION",
    "type": "TYPE",
    "conv": "CONV",
    "do": "DO",
    "program": "PROGRAM",
    "with": "WITH",
    "from": "FROM",
    "import": "IMPORT",
    "as": "AS",
}

OPERATORS = {
    "==": "EQUAL",
    "!=": "NOT_EQUAL",
    "<=": "AT_MOST",
    ">=": "AT_LEAST",
    "->": "ARROW",
    "<": "LESS",
    ">": "GREATER",
    "+": "PLUS",
    "-": "MINUS",
    "*": "STAR",
    "/": "SLASH",
    "%": "PERCENT",
    "=": "ASSIGN",
    "|": "BAR",
    "?": "QUESTION",
    ",": "COMMA",
    ":": "COLON",
    ".": "DOT",
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    "{": "LBRACE",
    "}": "RBRACE",
}

CLOSER_OF = {"(": ")", "[": "]", "{": "}"}

# How a token kind is named in an error, where its own text would not do.
DESCRIPTIONS = {
    "NEWLINE": "the end of the line",
    "INDENT": "an indented block",
    "DEDENT": "the end of the block",
    "END": "the end of the file",
    "NAME": "a name",
    "INTEGER": "a number",
    "FLOAT": "a number",
    "STRING": "a string",
    "PROMPT_START": "a prompt",
    "PROMPT_TEXT": "prompt text",
    "PROMPT_END": "`$`",
    "HOLE_START": "`{`",
    "HOLE_END": "`}`",
    **{
        kind: f"`{text}`"
        for table in (KEYWORDS, SOFT_KEYWORDS, OPERATORS)
        for text, kind in table.items()
    },
}


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as written, with its slashes. `is_trailing`: code stands before it on its line."""

    span: Span
    text: str
    is_trailing: bool

    @property
    def is_doc(self) -> bool:
        """Whether it is a `///` doc comment."""
        return self.text.startswith("///")


def token(kind: str, text: str, start: int, end: int) -> Token:
    """A token of `kind` whose text stands at offsets `start` to `end`."""
    return Token(kind, text, start_pos=start, end_pos=end)


def span_of(token: Token) -> Span:
    """The place of `token`."""
    return Span(token.start_pos or 0, token.end_pos or 0)


def describe(token: Token) -> str:
    """The token in the words of an error message."""
    if token.type in ("NAME", "INTEGER", "FLOAT"):
        return f"`{token[:40]}`"
    return DESCRIPTIONS.get(token.type, f"`{token}`")
