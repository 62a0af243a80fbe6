"""Tokens to an abstract syntax tree.

One top-level statement is parsed at a time. When a line of it cannot be read, the mistake is
reported, the line is replaced by one that can (a block keeps its block), and the statement is
parsed again: so every mistake of a file is found, and the rest of it still has a tree.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

from lark import Lark, Token, UnexpectedInput
from lark.exceptions import UnexpectedToken
from lark.lexer import Lexer
from platformdirs import user_cache_path

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector, Diagnostic
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.builder import Builder, Mistake
from saftc.syntax.docs import attach_docs
from saftc.syntax.lexer import lex
from saftc.syntax.tokens import DESCRIPTIONS, describe, span_of
from saftc.syntax.tokens import token as make_token
from saftc.syntax.walk import depth_of

# What Python, libcst and black can take without running out of stack.
MOST_LEVELS = 200

# A line with fewer tokens than this cannot nest deeper than MOST_LEVELS.
_SHORT = MOST_LEVELS

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

_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)

_OPENS_BLOCK = {"IF", "ELIF", "ELSE", "FOR", "WHILE", "FUNCTION", "CONV"}


def parse(source: Source, found: Collector) -> n.Module:
    """The tree of `source`; mistakes go to `found`."""
    misread = Collector()
    lexed = lex(source, misread)
    guessed: set[str] = set()
    statements: list[n.Statement] = []
    wrong = [diagnostic.span.start for diagnostic in misread.all()]
    for diagnostic in misread.all():
        found.add(diagnostic)
    for tokens in _top_level_statements(_without_stray_indents(lexed.tokens, found, source, wrong)):
        tokens = _without_misread_lines(tokens, wrong, guessed)
        statement = _parse_statement(tokens, found, guessed) if tokens else None
        if statement is not None:
            statements.append(statement)
    comments = tuple(lexed.comments)
    docs = attach_docs(source, statements, comments)
    span = Span(0, len(source.text))
    return n.Module(span, tuple(statements), comments, docs, frozenset(guessed))


class _TokenList(Lexer):
    """Lets lark read the tokens that our lexer made."""

    def __init__(self, lexer_conf: Any) -> None:
        del lexer_conf

    def lex(self, lexer_state: Any, parser_state: Any = None) -> Iterator[Token]:
        del parser_state
        return iter(lexer_state)


@cache
def _parser() -> Lark:
    # Building the tables takes longer than compiling most scripts: lark keeps them in a file
    # named after the grammar and its own version, and does without when it cannot write there.
    folder = user_cache_path("saftc", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        cache_file = str(folder / "grammar")
    except OSError:
        cache_file = ""
    return Lark(
        (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer=_TokenList,
        start="statement",
        maybe_placeholders=False,
        transformer=Builder(),  # type: ignore[arg-type]
        cache=cache_file or False,
    )


def _without_misread_lines(tokens: list[Token], wrong: list[int], guessed: set[str]) -> list[Token]:
    """The tokens less the lines that hold a mistake of the lexer: what they mean is a guess."""
    first = bisect_left(wrong, span_of(tokens[0]).start)
    last = bisect_right(wrong, span_of(tokens[-1]).end)
    for offset in wrong[first:last]:
        line = _line_at(tokens, offset)
        guessed.update(_names(tokens[line]))
        replaced = _without_line(tokens, line)
        if replaced is None:
            return []
        tokens = replaced
    return tokens


def _without_stray_indents(
    tokens: list[Token], found: Collector, source: Source, wrong: list[int]
) -> list[Token]:
    """The tokens less each INDENT that no line opened, and the DEDENT that ends it."""
    wrong_lines = {source.line_of(offset) for offset in wrong}
    kept: list[Token] = []
    strays: list[bool] = []
    line_start = 0
    for position, token in enumerate(tokens):
        if token.type == "INDENT":
            opener = tokens[line_start : position - 1]
            is_stray = not opener or (
                opener[0].type not in _OPENS_BLOCK and opener[-1].type != "COLON"
            )
            strays.append(is_stray)
            if is_stray and source.line_of(span_of(token).start) in wrong_lines:
                continue
            if is_stray:
                found.add(
                    catalogue.UNEXPECTED_INDENT.at(
                        span_of(tokens[position + 1]),
                        hint="only a line that ends with `:` opens a block",
                    )
                )
                continue
        if token.type == "DEDENT" and strays.pop():
            continue
        if token.type not in ("NEWLINE", "INDENT", "DEDENT") and (
            position == 0 or tokens[position - 1].type in ("NEWLINE", "INDENT", "DEDENT")
        ):
            line_start = position
        kept.append(token)
    return kept


def _top_level_statements(tokens: list[Token]) -> Iterator[list[Token]]:
    depth = start = 0
    for position, token in enumerate(tokens):
        if token.type == "INDENT":
            depth += 1
        elif token.type == "DEDENT":
            depth -= 1
        if depth or token.type not in ("NEWLINE", "DEDENT"):
            continue
        following = tokens[position + 1].type if position + 1 < len(tokens) else ""
        if following == "INDENT" or (following in ("ELIF", "ELSE") and tokens[start].type == "IF"):
            continue
        yield tokens[start : position + 1]
        start = position + 1
    if start < len(tokens):
        yield tokens[start:]


def _parse_statement(
    tokens: list[Token], found: Collector, guessed: set[str]
) -> n.Statement | None:
    while not found.is_full:
        diagnostic = None
        try:
            statement: n.Statement = _parser().parse(tokens)  # type: ignore[arg-type, assignment]
        except Mistake as mistake:
            diagnostic = mistake.diagnostic
        except UnexpectedInput as error:
            diagnostic = _explain(error, tokens)
        else:
            return statement if _is_shallow(statement, tokens, found) else None
        broken = _line_at(tokens, diagnostic.span.start)
        if all(token.type != "UNCLOSED" for token in tokens[broken]):
            found.add(diagnostic)
        guessed.update(_names(tokens[broken]))
        replaced = _without_line(tokens, broken, is_orphan=_is_orphan(tokens[broken], diagnostic))
        if replaced is None or replaced == tokens:
            return None
        tokens = replaced
    return None


def _is_shallow(statement: n.Statement, tokens: list[Token], found: Collector) -> bool:
    if len(tokens) < _SHORT:
        return True
    deepest, levels = depth_of(statement)
    if levels <= MOST_LEVELS:
        return True
    found.add(
        catalogue.TOO_DEEP.at(
            deepest.span,
            what="an expression",
            limit=MOST_LEVELS,
            hint="give parts of it names of their own",
        )
    )
    return False


# Reading on after a mistake


def _line_at(tokens: list[Token], offset: int) -> slice:
    """The tokens of the logical line that holds `offset`, its NEWLINE included."""
    start = 0
    for position, token in enumerate(tokens):
        if token.type == "NEWLINE":
            if (token.end_pos or 0) >= offset and position >= start:
                return slice(start, position + 1)
            start = position + 1
        elif token.type in ("INDENT", "DEDENT") and position == start:
            start = position + 1
    return slice(start, len(tokens))


def _names(line: list[Token]) -> Iterator[str]:
    """The names on a line that could not be read: it may define them."""
    for token in line:
        if token.type == "NAME":
            yield token
        elif token.type == "UNCLOSED":
            yield from _WORD.findall(token)


def _is_orphan(line: list[Token], diagnostic: Diagnostic) -> bool:
    """Whether the mistake is an `elif` or `else` without its `if`."""
    if not line or line[0].type not in ("ELIF", "ELSE"):
        return False
    return span_of(line[0]).start == diagnostic.span.start


def _without_line(
    tokens: list[Token], line: slice, *, is_orphan: bool = False
) -> list[Token] | None:
    """`tokens` with one line replaced by a line that means nothing; None when nothing is left."""
    removed = tokens[line]
    following = tokens[line.stop : line.stop + 1]
    opens_block = bool(following) and following[0].type == "INDENT"
    if not removed:
        return None
    first = removed[0].type
    if opens_block:
        replacement = _line("if" if is_orphan else _LIKE.get(first, "if"))
    elif line.start == 0 and line.stop == len(tokens):
        return None
    else:
        replacement = [_made("NIL", "nil"), _made("NEWLINE", "")]
    return [*tokens[: line.start], *replacement, *tokens[line.stop :]]


# What stands for the first line of a block that could not be read.
_LIKE = {
    "FUNCTION": "function",
    "CONV": "function",
    "FOR": "while",
    "WHILE": "while",
    "ELIF": "elif",
    "ELSE": "else",
}


def _line(kind: str) -> list[Token]:
    """The first line of a block that says nothing."""
    if kind == "function":
        words = [("FUNCTION", "f"), ("NAME", "_"), ("LPAR", "("), ("RPAR", ")")]
    elif kind == "else":
        words = [("ELSE", "else")]
    else:
        words = [(kind.upper(), kind), ("TRUE", "true")]
    return [_made(*word) for word in (*words, ("COLON", ":"), ("NEWLINE", ""))]


def _made(kind: str, text: str) -> Token:
    return make_token(kind, text, 0, 0)


# What to say


def _explain(error: UnexpectedInput, tokens: list[Token]) -> Diagnostic:
    bad, expected = tokens[-1], set[str]()
    if isinstance(error, UnexpectedToken):
        bad = cast("Token", error.token)  # pyright: ignore[reportUnknownMemberType]
        expected = set(error.expected)
    if bad.type == "$END":
        # The statement was cut where the next one begins, so what is missing is its block.
        bad = tokens[-1]
        expected = {"INDENT"}
    position = next((i for i, token in enumerate(tokens) if token is bad), 0)
    previous = tokens[position - 1] if position else None
    if "INDENT" in expected and bad.type != "INDENT":
        opener = tokens[_line_at(tokens, span_of(previous or bad).start)]
        return catalogue.MISSING_BLOCK.at(
            _first_word(opener), hint="indent what belongs to it; `nil` does nothing"
        )
    hint = _hint(bad, previous, tokens, position, expected)
    return catalogue.UNEXPECTED.at(
        _visible(bad, previous),
        expected=_summary(expected, tokens, position),
        found=describe(bad),
        hint=hint,
    )


def _summary(expected: set[str], tokens: list[Token], position: int) -> str:
    if position and tokens[position - 1].type == "DOT":
        return "a name"
    goes_on = bool(expected & {"NEWLINE", "RPAR", "RSQB", "RBRACE", "HOLE_END"})
    if goes_on and "INTEGER" not in expected:
        line = tokens[_line_at(tokens, span_of(tokens[position]).start)]
        opened = _innermost_open(tokens[:position])
        if opened is not None:
            return _CLOSINGS[tokens[opened].type]
        if line and line[0].type in _OPENS_BLOCK and "COLON" in expected:
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


_CLOSINGS = {
    "LPAR": "`,` or `)`",
    "LSQB": "`,` or `]`",
    "LBRACE": "`,` or `}`",
    "PATTERN_START": "`,` or `}`",
    "HOLE_START": "`}`",
}
_CLOSED_BY = {"RPAR", "RSQB", "RBRACE", "HOLE_END"}


def _innermost_open(tokens: list[Token]) -> int | None:
    """Where the bracket stands that is open at the end of `tokens`; None when there is none."""
    depth = 0
    for position in reversed(range(len(tokens))):
        kind = tokens[position].type
        if kind in ("NEWLINE", "INDENT", "DEDENT"):
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
    line = tokens[_line_at(tokens, bad.start_pos or 0)]
    first = line[0] if line else bad
    if first.type == "NAME" and first in _FOREIGN and len(line) > 1 and bad is line[1]:
        return _FOREIGN[first]
    if bad.type == "ASSIGN" and previous is first and first.type != "NAME":
        return f"`{first}` is a keyword; choose another name"
    if bad.type == "ASSIGN" and first.type in ("IF", "ELIF", "WHILE", "ASSERT"):
        return "`==` compares"
    if bad.type == "IF" and previous is not None and previous.type == "ELSE":
        return "write `elif`"
    if bad.type in ("ELSE", "ELIF") and bad is first:
        return "it has no `if` before it at this indentation"
    opened = _innermost_open(tokens[:position])
    if opened is not None and tokens[opened].type == "LBRACE":
        opened -= 1
        if first.type == "PATTERN_START" and "COLON" in expected:
            field = tokens[opened - 1]
            return f"patterns do not nest: write `{field}: {{name: type}}` and read its fields"
    if opened is not None and tokens[opened].type == "HOLE_START":
        return r"write `\{` for a brace in the text"
    if previous is not None and previous.type == bad.type == "STAR":
        return "there is no power operator; multiply, or write a function"
    if previous is not None and previous.type == bad.type == "EQUAL":
        return "`==` compares"
    if bad.type == "PROMPT_START" and previous is not None and previous.type == "PROMPT_END":
        return r"a prompt ends at the next `$`; `\$` is a dollar sign in its text"
    if bad.type == "PROMPT_START" and previous is not None and previous.type == "NAME":
        return "only `do` and `program` stand before a prompt"
    return None


def _visible(bad: Token, previous: Token | None) -> Span:
    """The place to underline: the token, or for one without text what stands before it."""
    span = span_of(bad)
    if bad.type in ("NEWLINE", "DEDENT") and previous is not None:
        end = span_of(previous).end
        return Span(end, end)
    return span


def _first_word(tokens: list[Token]) -> Span:
    for candidate in tokens:
        if candidate.type not in ("NEWLINE", "INDENT", "DEDENT"):
            return span_of(candidate)
    return span_of(tokens[0]) if tokens else Span(0, 0)
