"""Uncaught errors of `python out.py`, told in terms of the script when `out.py.map` is there.

    Traceback ...
    runtime_support.errors.MissingError: no field `name` in object
    at triage.saft:12:5

Only a main module with its source map beside it changes anything: without one, and in a program
that imports compiled modules, Python's own report stays as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import TracebackType


def install() -> None:
    """Has the position added to uncaught errors, if the main module has its map beside it."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if path is None or not os.path.isfile(f"{path}.map"):
        return
    report = sys.excepthook

    def annotated(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        position = getattr(error, "saft_position", None) or position_in(trace)
        if position is not None and f"at {position}" not in getattr(error, "__notes__", ()):
            error.add_note(f"at {position}")
        report(kind, error, trace)

    sys.excepthook = annotated


def position_in(trace: TracebackType | None) -> str | None:
    """The position in the script of the innermost call that a source map knows."""
    from runtime_support.positions import position_at

    found: str | None = None
    for entry in _entries(trace):
        line, column = _place(entry)
        found = position_at(entry.tb_frame, line, column) or found
    return found


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _place(entry: TracebackType) -> tuple[int, int]:
    """The line (from 1) and the column (from 0, in UTF-8) of what a frame was doing."""
    import dis

    here = loop = dis.Positions()
    name = ""
    for instruction in dis.get_instructions(entry.tb_frame.f_code):
        if instruction.offset > entry.tb_lasti:
            break
        name, before = instruction.opname, here
        here = instruction.positions or dis.Positions()
        if name == "GET_ITER":
            loop = before
    # Until 3.12, Python names the whole loop when what it goes over fails: that, instead.
    place = loop if name in ("GET_ITER", "FOR_ITER") else here
    return place.lineno or entry.tb_lineno, place.col_offset or 0
