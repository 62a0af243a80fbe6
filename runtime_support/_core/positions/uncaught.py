"""Adds positions in the script to uncaught errors.

install()                        makes uncaught errors show their position in the script
position_of_error(error, trace)  the position of the innermost call that a source map knows
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from runtime_support._core.positions.frames import Place, Stretch, is_ours

if TYPE_CHECKING:
    import ast
    from threading import ExceptHookArgs
    from types import FrameType, TracebackType


def install() -> None:
    """Makes uncaught errors show their position in the script. Later calls do nothing."""
    import threading

    report, report_in_thread = sys.excepthook, threading.excepthook
    if getattr(report, "__module__", None) == __name__:
        return

    def annotated(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        _print_position(error, trace)
        report(kind, error, trace)

    def annotated_in_thread(arguments: ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            _print_position(arguments.exc_value, arguments.exc_traceback)
        report_in_thread(arguments)

    sys.excepthook = annotated
    threading.excepthook = annotated_in_thread


def position_of_error(error: BaseException, trace: TracebackType | None) -> str | None:
    """Returns the position in the script of the innermost call that a source map knows.

    If a record breaks one of its rules, returns the position of the call that makes the record. If
    an MCP tool fails, returns the position of the call of the tool in the script.
    """
    found: str | None = None
    while trace is not None:
        frame = trace.tb_frame
        place = Place(frame.f_code, trace.tb_lasti, frame.f_globals)
        stretch = place.stretch()
        is_told = not is_broken_rule(trace) and not is_tool_of_server(trace)
        if is_told and place.position_at(*stretch[:2]) is not None:
            found = place.position_at(*_meant(frame, stretch))
        trace = trace.tb_next
    return found


def position_of_frame(frame: FrameType | None) -> str | None:
    """Returns the script position of the innermost frame that a source map knows, or None."""
    while frame is not None:
        position = Place(frame.f_code, frame.f_lasti, frame.f_globals).position()
        if position is not None:
            return position
        frame = frame.f_back
    return None


def is_broken_rule(trace: TracebackType) -> bool:
    """Whether this frame checks a rule of a record, and the record breaks the rule."""
    below = trace.tb_next
    return (
        below is not None
        and below.tb_frame.f_code.co_name == "require"
        and is_ours(below.tb_frame.f_code.co_filename)
    )


def is_tool_of_server(trace: TracebackType) -> bool:
    """Whether this frame belongs to the wrapper of an MCP tool, and is calling the server."""
    below = trace.tb_next
    return (
        below is not None
        and below.tb_frame.f_code.co_name in ("call", "acall")
        and below.tb_frame.f_globals.get("__name__") == "runtime_support.mcp._calls"
    )


def text_of_step(trace: TracebackType) -> str:
    """Returns the source text that a frame was executing, or an empty text if it is unknown."""
    import linecache

    frame = trace.tb_frame
    stretch = Place(frame.f_code, trace.tb_lasti, frame.f_globals).stretch()
    line, column, end_line, end_column = stretch
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[line - 1 : end_line]
    if not lines:
        return ""
    # Columns count bytes, and the last line may be the first.
    lines[-1] = lines[-1].encode()[:end_column].decode(errors="ignore")
    lines[0] = lines[0].encode()[column:].decode(errors="ignore")
    return "".join(lines)


def _print_position(error: BaseException, trace: TracebackType | None) -> None:
    position = getattr(error, "saft_position", None) or position_of_error(error, trace)
    if position is not None and f"at {position}" not in getattr(error, "__notes__", ()):
        error.add_note(f"at {position}")


def _meant(frame: FrameType, stretch: Stretch) -> tuple[int, int]:
    """Returns the line and column to report.

    If the iterable of a loop fails, Python up to 3.12 reports the whole loop. This function then
    returns the position of the iterable.
    """
    import ast
    import linecache

    text = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return stretch[:2]  # the file has changed since it was loaded
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and _whole(node) == stretch:
            return node.iter.lineno, node.iter.col_offset
    return stretch[:2]


def _whole(node: ast.stmt) -> Stretch:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
