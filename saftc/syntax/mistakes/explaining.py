"""Turns an unexpected token into a diagnostic: what was expected there, and what was meant.

The input is the token, the kinds of tokens that the grammar allows in its place, and the tokens of
the statement.
"""

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.source import Span
from saftc.syntax.mistakes.habits import ALL_FAILURES
from saftc.syntax.mistakes.hints import Place, begins_unpacking, hint_of
from saftc.syntax.tokens import (
    DESCRIPTIONS,
    LAYOUT,
    OPENS_BLOCK,
    Token,
    describe,
    first_word,
    line_at,
    opener_above,
)

# Descriptions of sets of expected kinds: the first row whose kind is in the set applies.
_GROUPS = (
    ("COLON", "`:`"),
    ("NEWLINE", "the end of the line"),
    ("PROMPT_END", "`$`"),
    ("HOLE_END", "`}`"),
    ("FORMAT_HOLE_END", "`}`"),
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
    "FORMAT_HOLE_START": "`}`",
}
_CLOSED_BY = {"RPAR", "RSQB", "RBRACE", "HOLE_END", "FORMAT_HOLE_END"}


def explain(bad: Token, expected: set[str], tokens: list[Token]) -> Diagnostic:
    """Returns the diagnostic for the token `bad`, which is none of the `expected` kinds."""
    if expected == {"EXCEPT"}:
        # The missing `except` is noticed at the next statement.
        position = len(tokens) if bad.type == "$END" else _position(tokens, bad)
        opener = opener_above(tokens, position)
        return catalogue.TRY_ALONE.at(
            (opener or tokens[0]).span,
            word="try",
            other="except",
            hint="write `except error:` below it, with what to do after a failure",
        )
    if bad.type == "$END":
        # The statement ends where the next one begins, so its block is missing.
        bad = tokens[-1]
        expected = {"INDENT"}
    position = _position(tokens, bad)
    previous = tokens[position - 1] if position else None
    if "INDENT" in expected and bad.kind != "INDENT":
        last = previous if previous is not None else bad
        opener = line_at(tokens, last.span.start)
        is_record = tokens[opener][0].kind == "TYPE"
        meant = (
            "a record without rules has no `:`" if is_record else "write `nil` for an empty block"
        )
        hint = f"indent the lines of the block; {meant}"
        return catalogue.MISSING_BLOCK.at(first_word(tokens[opener]), hint=hint)
    if bad.kind == "EXCEPT" and tokens[line_at(tokens, bad.span.start)][0] is bad:
        above = opener_above(tokens, position)
        is_second = above is not None and above.kind == "EXCEPT"
        hint = ALL_FAILURES.format("error") if is_second else None
        return catalogue.TRY_ALONE.at(bad.span, word="except", other="try", hint=hint)
    hint = hint_of(Place(bad, tokens, position, expected, _innermost_open(tokens[:position])))
    return catalogue.UNEXPECTED.at(
        _visible(bad, previous),
        expected=_summary(expected, tokens, position),
        found=describe(bad),
        hint=hint,
    )


def _position(tokens: list[Token], wanted: Token) -> int:
    return next((i for i, token in enumerate(tokens) if token is wanted), 0)


def _summary(expected: set[str], tokens: list[Token], position: int) -> str:
    if position and tokens[position - 1].kind == "DOT":
        return "a name"
    is_pattern = "IN" in expected and not expected & {"NAME", "EQUAL"}
    goes_on = bool(expected & {"NEWLINE", *_CLOSED_BY})
    if goes_on and "INTEGER" not in expected:
        line = tokens[line_at(tokens, tokens[position].span.start)]
        opened = _innermost_open(tokens[:position])
        if opened is not None:
            closings = _CLOSINGS[tokens[opened].kind]
            takes_more = tokens[position].kind != "COMMA"
            return closings if takes_more else closings.removeprefix("`,` or ")
        if begins_unpacking([one for one in line if one.span.start < tokens[position].span.start]):
            return "`=`"
        if line and line[0].kind in OPENS_BLOCK and "COLON" in expected:
            return "`in`" if is_pattern else "`:`"
        if "NEWLINE" in expected:
            return "the end of the line"
    if expected == {"ASSIGN", "LPAR"}:
        return "`=` or `(`"
    if "NAME" in expected and "INTEGER" not in expected and len(expected) < 6:
        return "a name"
    if is_pattern:
        return "`in`"
    if len(expected) == 1:
        (only,) = expected
        return DESCRIPTIONS.get(only, only)
    return next((words for kind, words in _GROUPS if kind in expected), "something else")


def _innermost_open(tokens: list[Token]) -> int | None:
    """Returns the index of the bracket that is open at the end of `tokens`.

    Returns None if no bracket is open.
    """
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


def _visible(bad: Token, previous: Token | None) -> Span:
    """Returns the span to underline.

    This is the span of the token. For a line end, it is the empty span after the previous token.
    """
    span = bad.span
    if bad.kind in ("NEWLINE", "DEDENT") and previous is not None:
        end = previous.span.end
        return Span(end, end)
    return span
