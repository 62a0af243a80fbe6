"""The kinds of tokens, named as in the grammar, and their names in error messages."""

from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

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

# Words that are keywords only in some contexts, and names elsewhere.
SOFT_KEYWORDS = {
    "f": "FUNCTION",
    "type": "TYPE",
    "conv": "CONV",
    "do": "DO",
    "program": "PROGRAM",
    "stream": "STREAM",
    "with": "WITH",
    "after": "AFTER",
    "from": "FROM",
    "mcp": "MCP",
    "import": "IMPORT",
    "as": "AS",
    "try": "TRY",
    "except": "EXCEPT",
    "fail": "FAIL",
}

# The formats of a hole, after its colon: `raw` inserts a text unchanged, `approve` makes calls of a
# function wait for approval.
HOLE_FORMATS = ("raw", "approve")

OPERATORS = {
    "==": "EQUAL",
    "!=": "NOT_EQUAL",
    "<=": "AT_MOST",
    ">=": "AT_LEAST",
    "->": "ARROW",
    "+=": "PLUS_ASSIGN",
    "-=": "MINUS_ASSIGN",
    "*=": "STAR_ASSIGN",
    "/=": "SLASH_ASSIGN",
    "%=": "PERCENT_ASSIGN",
    "...": "ELLIPSIS",
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

# The kinds of tokens between lines: a statement begins after one of them.
LAYOUT = ("NEWLINE", "INDENT", "DEDENT")

# The kinds of words that begin a line with a block below it.
OPENS_BLOCK = {"IF", "ELIF", "ELSE", "FOR", "WHILE", "FUNCTION", "CONV", "TRY", "EXCEPT"}

CLOSER_OF = {"(": ")", "[": "]", "{": "}"}

# The name of a kind of token in an error message, for kinds whose text would not be clear.
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
    "FORMAT_START": "a string",
    "FORMAT_TEXT": "text",
    "FORMAT_END": "the end of the string",
    "FORMAT_HOLE_START": "`{`",
    "FORMAT_SPEC": "`:`",
    "FORMAT_HOLE_END": "`}`",
    **{
        kind: f"`{text}`"
        for table in (KEYWORDS, SOFT_KEYWORDS, OPERATORS)
        for text, kind in table.items()
    },
}


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as written, with its slashes.

    `is_trailing` is true if code precedes it on its line.
    """

    span: Span
    text: str
    is_trailing: bool

    @property
    def is_doc(self) -> bool:
        """True for a doc comment, which begins with `///`."""
        return self.text.startswith("///")


class Token(NamedTuple):
    """A token: its kind, its text (for a string, its value), and its span."""

    kind: str
    text: str
    span: Span

    # The kind, under the name that lark uses. It asks so often that a function would be slower.
    type = property(itemgetter(0))

    # lark takes the position of its end token from the last token; our tokens have spans instead.
    start_pos = end_pos = line = end_line = column = end_column = None


def describe(token: Token) -> str:
    """Returns a description of the token for error messages."""
    if token.kind in ("NAME", "INTEGER", "FLOAT"):
        return f"`{token.text[:40]}`"
    return DESCRIPTIONS.get(token.kind, f"`{token.text}`")


def line_at(tokens: list[Token], offset: int) -> slice:
    """Returns the slice of the tokens of the logical line at `offset`, including its NEWLINE."""
    start = 0
    for position, token in enumerate(tokens):
        if token.kind == "NEWLINE":
            if token.span.start >= offset and position >= start:
                return slice(start, position + 1)
            start = position + 1
        elif token.kind in ("INDENT", "DEDENT") and position == start:
            start = position + 1
    return slice(start, len(tokens))


def opener_above(tokens: list[Token], position: int) -> Token | None:
    """Returns the first word of the block that ends before the token at `position`.

    Returns None if no block ends there.
    """
    depth, place = 0, position - 1
    while place >= 0:
        depth += (tokens[place].kind == "DEDENT") - (tokens[place].kind == "INDENT")
        if not depth and tokens[place].kind not in LAYOUT:
            break
        place -= 1
    line = tokens[line_at(tokens, tokens[place].span.start)] if place >= 0 else []
    return line[0] if line and line[0].kind in OPENS_BLOCK else None


def first_word(tokens: list[Token]) -> Span:
    """The span of the first token that is no line end, INDENT or DEDENT."""
    for candidate in tokens:
        if candidate.kind not in LAYOUT:
            return candidate.span
    return tokens[0].span if tokens else Span(0, 0)
