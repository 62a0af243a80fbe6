"""Where in the script an error happened: from Python frames to positions in the .saft file.

    annotate(error)     error.saft_position == "triage.saft:12:5", and a note that says so

A module compiled in memory carries `__saft_source_map__`: its Source Map v3, or an object whose
`position(line, column)` gives the text. A module on disk may have its map beside it, `NAME.py.map`.
"""

from __future__ import annotations

import inspect
import os
from functools import lru_cache
from types import FrameType
from typing import Any

from runtime_support.errors import SaftError
from runtime_support.values import is_object

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}


def annotate(error: SaftError) -> None:
    """Gives the error its position in the script, unless it has one or no map is known."""
    if error.saft_position is not None:
        return
    frame = _calling_frame()
    position = None if frame is None else position_of(frame)
    if position is not None:
        error.saft_position = position
        error.add_note(f"at {position}")


def calling_place() -> str | None:
    """Where the script, or else the Python module, is that calls this package."""
    frame = _calling_frame()
    if frame is None:
        return None
    return position_of(frame) or f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def position_of(frame: FrameType) -> str | None:
    """The position in the script of what a frame is doing, as `file:line:column`."""
    return position_at(frame, *_place(frame))


def position_at(frame: FrameType, line: int, column: int) -> str | None:
    """The position in the script of a place in a frame's module (line from 1, column from 0)."""
    source_map = frame.f_globals.get("__saft_source_map__") or _map_beside(frame)
    if is_object(source_map):
        return mapped(source_map, line, _units(frame, line, column))
    lookup = getattr(source_map, "position", None)
    return None if lookup is None else lookup(line, column)


def _units(frame: FrameType, line: int, column: int) -> int:
    """A column in UTF-8, as Python counts, in UTF-16 units, as a source map does."""
    import linecache

    text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals)
    before = text.encode()[:column].decode(errors="ignore")
    return len(before.encode("utf-16-le")) // 2 if before else column


def mapped(source_map: dict[str, Any], line: int, column: int) -> str | None:
    """The original position of a generated one (line from 1, column from 0, in UTF-16 units).

    The nearest mapping at or before the column counts, else the first one of the line.
    """
    lines = _decoded(str(source_map.get("mappings", "")))
    segments = lines[line - 1] if 0 < line <= len(lines) else ()
    if not segments:
        return None
    before = [segment for segment in segments if segment[0] <= column]
    _, source, source_line, source_column = before[-1] if before else segments[0]
    sources: list[str] = source_map.get("sources", [])
    name = sources[source] if source < len(sources) else "?"
    return f"{name}:{source_line + 1}:{source_column + 1}"


def _calling_frame() -> FrameType | None:
    """The first frame outside this package."""
    frame = inspect.currentframe()
    package = __name__.partition(".")[0]
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == package:
        frame = frame.f_back
    return frame


def _place(frame: FrameType) -> tuple[int, int]:
    instruction = frame.f_lasti // 2
    for index, (line, _, column, _) in enumerate(frame.f_code.co_positions()):
        if index == instruction and line is not None:
            return line, column or 0
    return frame.f_lineno, 0


def _map_beside(frame: FrameType) -> dict[str, Any] | None:
    path = frame.f_code.co_filename + ".map"
    return _read_map(path) if os.path.isfile(path) else None


@lru_cache(maxsize=64)
def _read_map(path: str) -> dict[str, Any] | None:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
    except (OSError, ValueError):
        return None  # a damaged map must not hide the error that it would explain
    return read if is_object(read) else None


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
