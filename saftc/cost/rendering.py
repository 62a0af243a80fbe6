"""Bounds as text, as JSON, and as the lines of a diagnostic.

route(mails)    <= 3 * len(mails)    for each of mails: `triage` 2, line 14: 1
main()          <= 42                8 rounds + 1 + 1 repair + 32 calls of `where`, which asks once
explore()       unbounded            line 52: `while` repeats an unknown number of times; ...
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from saftc.cost.bound import Bound, CallSite, FunctionBound, Reason
from saftc.cost.requests import ProgramBounds
from saftc.cost.rules import Limits
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.source import Source, Span
from saftc.syntax import nodes as n


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the table: its three columns, and how deep the first column is indented."""

    depth: int
    name: str
    bound: str
    words: str


def as_text(bounds: ProgramBounds) -> str:
    """The bounds of a script as text: a line for each function that may send requests.

    Lines below a function have the bounds of its call sites, unless its own line has room for them.
    """
    rows = [row for one in _shown(bounds) for row in _rows(one)]
    budget = bounds.limits.budget_requests
    if budget is not None and rows:
        rows.append(_Row(0, "a run", f"<= {budget}", "its budget (`budget_requests`) ends it"))
    lines = _table(rows) if rows else [f"{bounds.source.name}: sends no requests"]
    return "".join(f"{line}\n" for line in ([bounds.source.name] if rows else []) + lines)


def heading(limits: Limits) -> str:
    """The lines above the bounds: what is counted, and the settings that limit the requests."""
    return (
        f"requests for replies, at most, with max_repairs {limits.max_repairs}, "
        f"max_tool_rounds {limits.max_tool_rounds}, max_tool_calls {limits.max_tool_calls};\n"
        f"each may be sent again, x (1 + max_retries {limits.max_retries}), after a 429 or a "
        "broken connection,\nplus a few one-time requests that probe what the server supports\n"
    )


def as_json(several: Sequence[ProgramBounds]) -> list[dict[str, object]]:
    """The bounds of scripts as JSON objects."""
    return [_data(one) for one in several]


def beside(bound: Bound) -> str:
    """The bound as an editor shows it beside a function: `≤ 3 * len(mails) requests`."""
    if bound.reasons:
        return "any number of requests"
    return f"≤ {bound.text} request{'' if bound.number == 1 else 's'}"


def in_words(bound: Bound, source: Source) -> str:
    """A sentence that says the most requests, or why the number of requests is unbounded."""
    if not bound.reasons:
        return f"At most `{bound.text}` request{'' if bound.number == 1 else 's'} for replies."
    return f"Any number of requests: {_why(bound.reasons[0], source)}."


def too_many(bounds: ProgramBounds, allowed: int) -> Diagnostic | None:
    """The diagnostic for a program that may send more requests than `allowed`.

    Returns None if the program's bound, or the budget of the run, is at most `allowed`.
    """
    program, budget = bounds.program, bounds.limits.budget_requests
    most = program.bound.number
    if (most is not None and most <= allowed) or (budget is not None and budget <= allowed):
        return None
    if program.bound.reasons:
        can, hint = "any number of requests", program.bound.reasons[0].advice
    elif most is not None:
        can, hint = f"{most:,} requests", "fewer repairs, rounds, calls or iterations lower it"
    else:
        can = f"{program.bound.text} requests"
        hint = f"a slice bounds a loop; so does a budget, `budget_requests = {allowed}`"
    lines = tuple(_table(list(_rows(program, is_deep=True))))
    return catalogue.TOO_MANY_REQUESTS.at(
        _place_of(program, bounds), can=can, allowed=f"{allowed:,}", hint=hint, lines=lines
    )


def _place_of(program: FunctionBound, bounds: ProgramBounds) -> Span:
    """The span to underline.

    This is the name `main`. Without `main`, it is the top-level call site with the largest bound.
    """
    if isinstance(program.definition, n.FunctionDef):
        return program.definition.name.span
    own = [one for one in program.pieces if one.source is bounds.source]
    largest = max(
        own, key=lambda one: (bool(one.bound.reasons), one.bound.number or 0), default=None
    )
    return Span(0, 0) if largest is None else largest.node.span


# Rows


def _shown(bounds: ProgramBounds) -> Iterator[FunctionBound]:
    """Yields the functions that may send requests, the top level, and both together."""
    yield from (one for one in (*bounds.of_functions(), bounds.top) if not one.bound.is_zero)
    if not bounds.top.bound.is_zero and bounds.program is not bounds.top:
        yield replace(bounds.program, pieces=())


def _rows(one: FunctionBound, *, is_deep: bool = False) -> Iterator[_Row]:
    """Yields the rows of a function.

    A single call site shares the row of the function, except in a deep table, which also has the
    call sites in called functions. Several call sites get rows below it.
    """
    words = "" if is_deep or not one.bound.reasons else why_unbounded(one.bound, one.source)
    if len(one.pieces) == 1 and not is_deep:
        yield _Row(0, one.title, _bound_text(one.bound), _words(one.pieces[0], one.source))
        yield from _below(one.pieces[0], 1, one.source, is_deep=False)
        return
    yield _Row(0, one.title, _bound_text(one.bound), words)
    for piece in one.pieces:
        yield from _piece_rows(piece, 1, one.source, is_deep=is_deep)


def _piece_rows(piece: CallSite, depth: int, source: Source, *, is_deep: bool) -> Iterator[_Row]:
    place = _line(piece.node, piece.source, source)
    words = _words(piece, source, is_deep=is_deep).removeprefix(f"{place}: ")
    yield _Row(depth, place, _bound_text(piece.bound), words)
    yield from _below(piece, depth + 1, source, is_deep=is_deep)


def _below(piece: CallSite, depth: int, source: Source, *, is_deep: bool) -> Iterator[_Row]:
    """Yields the rows for the call sites in a loop or, in a deep table, in a called function."""
    pieces = () if _is_told_beside(piece) and not is_deep else piece.inner
    if piece.called is not None and is_deep and depth <= _DEEPEST:
        pieces = piece.called.pieces
    for one in pieces:
        yield from _piece_rows(one, depth, source, is_deep=is_deep)


_DEEPEST = 4
_MOST_BESIDE = 3


def _is_told_beside(piece: CallSite) -> bool:
    """Whether the row of a loop also mentions the call sites inside the loop."""
    return len(piece.inner) <= _MOST_BESIDE and not any(one.inner for one in piece.inner)


def _words(piece: CallSite, source: Source, *, is_deep: bool = False) -> str:
    if piece.bound.reasons:
        why = why_unbounded(piece.bound, source)
        is_inside = any(one.bound.reasons for one in piece.inner)
        return f"{piece.words}: {why}" if is_inside else why
    if is_deep or not piece.inner or not _is_told_beside(piece):
        return piece.words
    if len(piece.inner) == 1 and piece.inner[0].called is None:
        return f"{piece.words}: {piece.inner[0].words}"
    each = (
        f"{one.words} {one.bound.text}"
        if one.called is not None
        else f"{_line(one.node, one.source, source)}: {one.bound.text}"
        for one in piece.inner
    )
    return f"{piece.words}: {', '.join(each)}"


def _line(node: n.Node, own: Source, source: Source) -> str:
    place = f"line {own.line_of(node.span.start)}"
    return place if own is source else f"{own.name}, {place}"


def _bound_text(bound: Bound) -> str:
    return "unbounded" if bound.reasons else f"<= {bound.text}"


def why_unbounded(bound: Bound, source: Source) -> str:
    """The first reason why a number of requests is unbounded, and the number of further reasons."""
    more = len(bound.reasons) - 1
    others = f" (and {more} more)" if more > 0 else ""
    return _why(bound.reasons[0], source) + others


def _why(reason: Reason, source: Source) -> str:
    advice = "" if reason.advice is None else f"; {reason.advice}"
    return f"{_line(reason.node, reason.source, source)}: {reason.words}{advice}"


def _table(rows: Sequence[_Row]) -> list[str]:
    """The lines of the rows, in three columns."""
    names = [f"{'  ' * (row.depth + 1)}{row.name}" for row in rows]
    wide = max(map(len, names))
    high = max((len(row.bound) for row in rows if row.words), default=0)
    return [
        f"{name:{wide}}  {row.bound:{high if row.words else 0}}  {row.words}".rstrip()
        for name, row in zip(names, rows, strict=True)
    ]


# JSON


def _data(bounds: ProgramBounds) -> dict[str, object]:
    limits = bounds.limits
    return {
        "file": bounds.source.name,
        "settings": {
            "max_repairs": limits.max_repairs,
            "max_tool_rounds": limits.max_tool_rounds,
            "max_tool_calls": limits.max_tool_calls,
            "max_retries": limits.max_retries,
            "budget_requests": limits.budget_requests,
        },
        "functions": [_function_data(one) for one in bounds.of_functions()],
        "program": _function_data(bounds.program),
    }


def _function_data(one: FunctionBound) -> dict[str, object]:
    definition = one.definition
    name = definition.name if isinstance(definition, n.FunctionDef) else definition
    return {
        "name": one.name or None,
        **_place(name, one.source),
        **_bound_data(one.bound),
        "parts": [_piece_data(piece) for piece in one.pieces],
    }


def _piece_data(piece: CallSite) -> dict[str, object]:
    return {
        **_place(piece.node, piece.source),
        **_bound_data(piece.bound),
        "words": piece.words,
        "parts": [_piece_data(one) for one in piece.inner],
    }


def _bound_data(bound: Bound) -> dict[str, object]:
    return {
        "most": None if bound.reasons else bound.text,
        "number": bound.number,
        "unknown": [_reason_data(one) for one in bound.reasons],
    }


def _reason_data(reason: Reason) -> dict[str, object]:
    return {**_place(reason.node, reason.source), "why": reason.words, "advice": reason.advice}


def _place(node: n.Node, source: Source) -> dict[str, object]:
    line, column = source.position(node.span.start)
    return {"file": source.name, "line": line, "column": column}


def tables(several: Iterable[ProgramBounds]) -> str:
    """The bounds of scripts as text, with a blank line between two scripts."""
    return "\n".join(map(as_text, several))
