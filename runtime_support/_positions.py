"""Where in the script something happens: from Python frames to positions in the .saft file.

    place = place_of_call()      what calls this package, as cheap as it can be remembered
    place.position()             "triage.saft:12:5", or None when no source map knows it
    annotate(error, place)       error.saft_position, and a note that says so
    install()                    uncaught errors are told so as well

A module compiled in memory carries `__saft_source_map__`: its Source Map v3, or an object whose
`position(line, column)` gives the text. A module on disk may have its map beside it, `NAME.py.map`.
A damaged map, or one of another version of the module, gives no position, and hides no error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from runtime_support._values import is_list, is_object
from runtime_support.errors import SaftError

if TYPE_CHECKING:
    import ast
    from threading import ExceptHookArgs
    from types import CodeType, FrameType, TracebackType

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_OURS = os.path.dirname(__file__) + os.sep

# First line (from 1), first column (from 0, in UTF-8), last line, last column.
_Stretch = tuple[int, int, int, int]

# Of a name, as OpenAI takes one for the key of a cache.
_LONGEST_NAME = 64

# What places were found to be, by the identity of their code: the hash of code takes as long as the
# code is. The code is kept beside it, so that no other gets its identity.
_MOST_STRETCHES = 4096
_stretches: dict[tuple[int, int], tuple[CodeType, _Stretch]] = {}


class Place:
    """A point in the run of a module, to be looked up when somebody asks where it is.

    `behind` is the place of the call that the work in this thread is done for, where there is one.
    """

    # No dataclass: compiled modules would pay for the import of `dataclasses` when they start.
    __slots__ = ("behind", "code", "instruction", "names")

    def __init__(
        self, code: CodeType, instruction: int, names: dict[str, Any], behind: Place | None = None
    ) -> None:
        self.code = code
        self.instruction = instruction
        self.names = names
        self.behind = behind

    def position(self) -> str | None:
        """The position in the script, as `file:line:column`."""
        line, column, _, _ = self.stretch()
        own = self.position_at(line, column)
        return own if own is not None or self.behind is None else self.behind.position()

    def text(self) -> str:
        """The position in the script, or else the line in the Python module."""
        position = self.position()
        if position is not None:
            return position
        if self.behind is not None:
            return self.behind.text()
        return f"{os.path.basename(self.code.co_filename)}:{self.stretch()[0]}"

    def name(self) -> str:
        """The module and its function, as in `triage.urgent`, see `name_of_place`."""
        function = self.code.co_qualname.partition(".")[0]
        return name_of_place(self.code.co_filename, "" if function[:1] == "<" else function)

    def position_at(self, line: int, column: int) -> str | None:
        """The position in the script of a place in this module (line from 1, column from 0)."""
        try:
            return self._looked_up(line, column)
        except Exception:  # a damaged map must not hide the error that it would explain
            return None

    def stretch(self) -> _Stretch:
        """What is done here, as a stretch of the module's text."""
        key = id(self.code), self.instruction
        known = _stretches.get(key)
        if known is None:
            if len(_stretches) >= _MOST_STRETCHES:
                _stretches.clear()
            known = _stretches[key] = self.code, _stretch_of(self.code, self.instruction)
        return known[1]

    def _looked_up(self, line: int, column: int) -> str | None:
        path = self.code.co_filename
        source_map = self.names.get("__saft_source_map__") or _map_beside(path)
        if is_object(source_map):
            return mapped(source_map, line, _units(path, self.names, line, column))
        lookup = getattr(source_map, "position", None)
        return None if lookup is None else lookup(line, column)


def name_of_place(path: str, function: str) -> str:
    """`triage.urgent` for a function at the top of `triage.py`, at most 64 characters.

    What stands outside of functions has the module's name.
    """
    # A script that is run as it is has the file name `<compiled triage.saft>`.
    file = path.strip("<>").removeprefix("compiled ")
    module = os.path.splitext(os.path.basename(file))[0]
    whole = f"{module}.{function}" if function else module
    name = "".join(one if one.isalnum() or one in "._-" else "_" for one in whole)
    if len(name) <= _LONGEST_NAME:
        return name
    import hashlib

    mark = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{name[: _LONGEST_NAME - 17]}-{mark}"


def _stretch_of(code: CodeType, instruction: int) -> _Stretch:
    found = next(islice(code.co_positions(), instruction // 2, None), None)
    if found is None:
        return code.co_firstlineno, 0, 0, 0
    line, end_line, column, end_column = found
    return line or code.co_firstlineno, column or 0, end_line or 0, end_column or 0


# In a thread that works for another one: where that was.
_behind: ContextVar[Place | None] = ContextVar("saft_place", default=None)


def place_of_call() -> Place | None:
    """The place outside this package from which it was called."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and is_ours(frame.f_code.co_filename):
        if frame.f_code is _AFAR:
            return _behind.get()
        frame = frame.f_back
    if frame is None:
        return _behind.get()
    return Place(frame.f_code, frame.f_lasti, frame.f_globals, _behind.get())


def context_of_call() -> Context:
    """A copy of the context, for another thread: what is asked in it has the place of this call.

        pool.submit(context_of_call().run, prompt, "hello")
    """
    context = copy_context()
    context.run(_behind.set, place_of_call())
    return context


def call_from_afar(function: Callable[[], Any]) -> Any:
    """Calls a function, in a context of `context_of_call`, which alone says where it is called."""
    return function()


_AFAR = call_from_afar.__code__


def is_ours(path: str) -> bool:
    """Whether a file is one of this package."""
    return path.startswith(_OURS)


def annotate(error: SaftError, place: Place | None = None) -> None:
    """Gives the error the position of the place, or of the call, unless it has one already."""
    if error.saft_position is not None:
        return
    place = place or place_of_call()
    position = None if place is None else place.position()
    if position is not None:
        error.saft_position = position
        error.add_note(f"at {position}")


def mapped(source_map: dict[str, Any], line: int, column: int) -> str | None:
    """The original position of a generated one (line from 1, column from 0, in UTF-16 units).

    The nearest mapping at or before the column counts, else the first one of the line. None
    where the map says nothing, also where it is damaged.
    """
    mappings, sources = source_map.get("mappings"), source_map.get("sources")
    if not isinstance(mappings, str) or not is_list(sources):
        return None
    lines = _decoded(mappings)
    segments = lines[line - 1] if 0 < line <= len(lines) else ()
    if not segments:
        return None
    before = [segment for segment in segments if segment[0] <= column]
    _, source, source_line, source_column = before[-1] if before else segments[0]
    name = sources[source] if 0 <= source < len(sources) else "?"
    return f"{name}:{source_line + 1}:{source_column + 1}"


def install() -> None:
    """Has uncaught errors tell their position in the script; once is enough."""
    import threading

    report, report_in_thread = sys.excepthook, threading.excepthook
    if getattr(report, "__module__", None) == __name__:
        return

    def annotated(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        _tell_position(error, trace)
        report(kind, error, trace)

    def annotated_in_thread(arguments: ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            _tell_position(arguments.exc_value, arguments.exc_traceback)
        report_in_thread(arguments)

    sys.excepthook = annotated
    threading.excepthook = annotated_in_thread


def position_of_error(error: BaseException, trace: TracebackType | None) -> str | None:
    """The position in the script of the innermost call that a source map knows.

    Where a rule of a record is broken, that is where the record was made.
    """
    found: str | None = None
    while trace is not None:
        frame = trace.tb_frame
        place = Place(frame.f_code, trace.tb_lasti, frame.f_globals)
        stretch = place.stretch()
        if place.position_at(*stretch[:2]) is not None and not is_broken_rule(trace):
            found = place.position_at(*_meant(error, frame, stretch))
        trace = trace.tb_next
    return found


def position_of_frame(frame: FrameType | None) -> str | None:
    """The position in the script of the innermost call under way that a source map knows."""
    while frame is not None:
        position = Place(frame.f_code, frame.f_lasti, frame.f_globals).position()
        if position is not None:
            return position
        frame = frame.f_back
    return None


def is_broken_rule(trace: TracebackType) -> bool:
    """Whether this is where a rule of a record does not hold, inside of the record's making."""
    below = trace.tb_next
    return (
        below is not None
        and below.tb_frame.f_code.co_name == "require"
        and below.tb_frame.f_code.co_filename.startswith(_OURS)
    )


def text_of_step(trace: TracebackType) -> str:
    """The text of what a frame was doing; empty where the text of the module is not known."""
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


def _tell_position(error: BaseException, trace: TracebackType | None) -> None:
    position = getattr(error, "saft_position", None) or position_of_error(error, trace)
    if position is not None and f"at {position}" not in getattr(error, "__notes__", ()):
        error.add_note(f"at {position}")


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
    except (SyntaxError, ValueError):
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


def _units(path: str, names: dict[str, Any], line: int, column: int) -> int:
    """A column in UTF-8, as Python counts, in UTF-16 units, as a source map does."""
    import linecache

    text = linecache.getline(path, line, names)
    before = text.encode()[:column].decode(errors="ignore")
    return len(before.encode("utf-16-le")) // 2 if before else column


def _map_beside(module: str) -> dict[str, Any] | None:
    path = module + ".map"
    return _read_map(path, module) if os.path.isfile(path) else None


@lru_cache(maxsize=64)
def _read_map(path: str, module: str) -> dict[str, Any] | None:
    """The map, unless it says that it is of another text than the module's."""
    import json
    from hashlib import sha256

    try:
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
        with open(module, "rb") as file:
            digest = sha256(file.read()).hexdigest()
    except (OSError, ValueError):
        return None
    return read if is_object(read) and read.get("x_digest", digest) == digest else None


@lru_cache(maxsize=64)
def _decoded(mappings: str) -> tuple[tuple[tuple[int, int, int, int], ...], ...]:
    """The lines of a map as segments (generated column, source, line, column)."""
    lines: list[tuple[tuple[int, int, int, int], ...]] = []
    source = line = column = 0
    for group in mappings.split(";"):
        generated = 0
        segments: list[tuple[int, int, int, int]] = []
        for text in filter(None, group.split(",")):
            numbers = _numbers(text)
            generated += numbers[0]
            if len(numbers) < 4:
                continue
            source, line, column = source + numbers[1], line + numbers[2], column + numbers[3]
            segments.append((generated, source, line, column))
        lines.append(tuple(segments))
    return tuple(lines)


def _numbers(text: str) -> list[int]:
    """Base64 VLQ: five bits a digit, the sixth says that more follow, the first is the sign."""
    numbers: list[int] = []
    value = shift = 0
    for digit in text:
        bits = _VALUES[digit]
        value += (bits & 31) << shift
        if bits & 32:
            shift += 5
            continue
        numbers.append(-(value >> 1) if value & 1 else value >> 1)
        value = shift = 0
    return numbers
