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

from runtime_support.quick_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast
    from types import FrameType, TracebackType


def install() -> None:
    """Has the position added to uncaught errors, if the main module has its map beside it."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if path is None or not os.path.isfile(f"{path}.map"):
        return
    report = sys.excepthook

    def annotated(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        position = getattr(error, "saft_position", None) or position_of(error, trace)
        if position is not None and f"at {position}" not in getattr(error, "__notes__", ()):
            error.add_note(f"at {position}")
        report(kind, error, trace)

    sys.excepthook = annotated


def position_of(error: BaseException, trace: TracebackType | None) -> str | None:
    """The position in the script of the innermost call that a source map knows."""
    from runtime_support.positions import position_at

    found: str | None = None
    while trace is not None:
        frame, stretch = trace.tb_frame, _stretch(trace)
        if position_at(frame, *stretch[:2]) is not None:
            found = position_at(frame, *_meant(error, frame, stretch))
        trace = trace.tb_next
    return found


# First line (from 1), first column (from 0, in UTF-8), last line, last column.
_Stretch = tuple[int, int, int, int]


def _stretch(entry: TracebackType) -> _Stretch:
    """What a frame was doing."""
    for index, place in enumerate(entry.tb_frame.f_code.co_positions()):
        if index == entry.tb_lasti // 2:
            line, end_line, column, end_column = place
            return line or entry.tb_lineno, column or 0, end_line or 0, end_column or 0
    return entry.tb_lineno, 0, 0, 0


def _meant(error: BaseException, frame: FrameType, stretch: _Stretch) -> tuple[int, int]:
    """The line and column to report.

    A failed `assert` is the whole statement. Until 3.12, Python names the whole loop when what it
    goes over fails: that, instead.
    """
    import ast
    import linecache

    text = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return stretch[:2]  # the file has changed since it was loaded
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and _whole(node) == stretch:
            return node.iter.lineno, node.iter.col_offset
        if isinstance(node, ast.Assert) and isinstance(error, AssertionError):
            line, column, end_line, end_column = _whole(node)
            if (line, column) <= stretch[:2] and stretch[2:] <= (end_line, end_column):
                return line, column
    return stretch[:2]


def _whole(node: ast.stmt) -> _Stretch:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
