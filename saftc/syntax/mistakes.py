"""An unexpected token to a diagnostic: what was expected there, and what was probably meant.

In: the token, the kinds of token that the grammar expects in its place, and the statement's tokens.
"""

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.source import Span
from saftc.syntax.tokens import (
    DESCRIPTIONS,
    LAYOUT,
    OPENS_BLOCK,
    Token,
    describe,
    first_word,
    line_at,
)

# What stands at the beginning of a line in other languages, and what Saft has instead.
_FOREIGN = {
    "def": "a function begins with `f`",
    "function": "a function begins with `f`",
    "fn": "a function begins with `f`",
    "return": "write `ret`",
    "let": "an assignment needs no word before it",
    "var": "an assignment needs no word before it",
    "const": "an assignment needs no word before it",
    "class": "write `type Name(field: schema)`",
    "elseif": "write `elif`",
    "try": "a failed call to a model stops the script; there is no `try`",
    "lambda": "define a function with `f`",
}

# How the kinds of token that begin an expression are summed up, and so on: a set of expected
# kinds that contains the first of a row is described by its second.
_GROUPS = (
    ("COLON", "`:`"),
    ("NEWLINE", "the end of the line"),
    ("PROMPT_END", "`$`"),
    ("HOLE_END", "`}`"),
    ("RPAR", "`)`"),
    ("RSQB", "`]`"),
    ("RBRACE", "`}`"),
    ("NAME", "an expression"),
    ("ELSE", "`else`"),
)

_CLOSINGS = {
    "LPAR": "`,` or `)`",
    "LSQB": "`,` or `]`",
    "LBRACE": "`,` or `}`",
    "PATTERN_START": "`,` or `}`",
    "HOLE_START": "`}`",
}
_CLOSED_BY = {"RPAR", "RSQB", "RBRACE", "HOLE_END"}


def explain(bad: Token, expected: set[str], tokens: list[Token]) -> Diagnostic:
    """What is wrong with a token, `bad`, where one of the kinds `expected` would do."""
    if bad.type == "$END":
        # The statement was cut where the next one begins, so what is missing is its block.
        bad = tokens[-1]
        expected = {"INDENT"}
    position = next((i for i, token in enumerate(tokens) if token is bad), 0)
    previous = tokens[position - 1] if position else None
    if "INDENT" in expected and bad.kind != "INDENT":
        last = previous if previous is not None else bad
        opener = tokens[line_at(tokens, last.span.start)]
        return catalogue.MISSING_BLOCK.at(
            first_word(opener), hint="indent what belongs to it; `nil` does nothing"
        )
    hint = _hint(bad, previous, tokens, position, expected)
    return catalogue.UNEXPECTED.at(
        _visible(bad, previous),
        expected=_summary(expected, tokens, position),
        found=describe(bad),
        hint=hint,
    )


def _summary(expected: set[str], tokens: list[Token], position: int) -> str:
    if position and tokens[position - 1].kind == "DOT":
        return "a name"
    goes_on = bool(expected & {"NEWLINE", "RPAR", "RSQB", "RBRACE", "HOLE_END"})
    if goes_on and "INTEGER" not in expected:
        line = tokens[line_at(tokens, tokens[position].span.start)]
        opened = _innermost_open(tokens[:position])
        if opened is not None:
            return _CLOSINGS[tokens[opened].kind]
        if line and line[0].kind in OPENS_BLOCK and "COLON" in expected:
            return "`:`"
        if "NEWLINE" in expected:
            return "the end of the line"
    if "NAME" in expected and "INTEGER" not in expected and len(expected) < 6:
        return "a name"
    if "IN" in expected and not expected & {"NAME", "EQUAL"}:
        return "`in`"
    if len(expected) == 1:
        (only,) = expected
        return DESCRIPTIONS.get(only, only)
    return next((words for kind, words in _GROUPS if kind in expected), "something else")


def _innermost_open(tokens: list[Token]) -> int | None:
    """Where the bracket stands that is open at the end of `tokens`; None when there is none."""
    depth = 0
    for position in reversed(range(len(tokens))):
        kind = tokens[position].kind
        if kind in LAYOUT:
            return None
        if kind in _CLOSED_BY:
            depth += 1
        elif kind in _CLOSINGS:
            if not depth:
                return position
            depth -= 1
    return None


def _hint(
    bad: Token, previous: Token | None, tokens: list[Token], position: int, expected: set[str]
) -> str | None:
    line = tokens[line_at(tokens, bad.span.start)]
    first = line[0] if line else bad
    if first.kind == "NAME" and first.text in _FOREIGN and len(line) > 1 and bad is line[1]:
        return _FOREIGN[first.text]
    if bad.kind == "ASSIGN" and previous is first and first.kind != "NAME":
        return f"`{first.text}` is a keyword; choose another name"
    if bad.kind == "ASSIGN" and first.kind in ("IF", "ELIF", "WHILE", "ASSERT"):
        return "`==` compares"
    if bad.kind == "IF" and previous is not None and previous.kind == "ELSE":
        return "write `elif`"
    if bad.kind in ("ELSE", "ELIF") and bad is first:
        return "it has no `if` before it at this indentation"
    opened = _innermost_open(tokens[:position])
    if opened is not None and tokens[opened].kind == "LBRACE":
        opened -= 1
        if first.kind == "PATTERN_START" and "COLON" in expected:
            field = tokens[opened - 1]
            return f"patterns do not nest: write `{field.text}: {{name: type}}` and read its fields"
    if opened is not None and tokens[opened].kind == "HOLE_START":
        return r"write `\{` for a brace in the text"
    if previous is not None and previous.kind == bad.kind == "STAR":
        return "there is no power operator; multiply, or write a function"
    if previous is not None and previous.kind == bad.kind == "EQUAL":
        return "`==` compares"
    if bad.kind == "PROMPT_START" and previous is not None and previous.kind == "PROMPT_END":
        return r"a prompt ends at the next `$`; `\$` is a dollar sign in its text"
    if bad.kind == "PROMPT_START" and previous is not None and previous.kind == "NAME":
        return "only `do` and `program` stand before a prompt"
    return None


def _visible(bad: Token, previous: Token | None) -> Span:
    """The place to underline: the token, or for one without text what stands before it."""
    span = bad.span
    if bad.kind in ("NEWLINE", "DEDENT") and previous is not None:
        end = previous.span.end
        return Span(end, end)
    return span
