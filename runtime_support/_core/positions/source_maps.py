"""Source Maps v3: map places in a module to the script that it was compiled from.

    look_up(None, "triage.py", names, 12, 4)     by `triage.py.map` beside it: "triage.saft:7:1"
    original_position(source_map, 12, 4)         by this map

This module is loaded only at the first lookup in a map.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from runtime_support._values.kinds import is_list, is_object

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}


def look_up(
    source_map: dict[str, Any] | None, path: str, names: dict[str, Any], line: int, column: int
) -> str | None:
    """Returns the position in the script for a line and column of a module, or None.

    Lines count from 1, columns from 0 in bytes of UTF-8. Without a map, uses the map beside the
    module on disk, if it was made for the present text of the module.
    """
    found = source_map or _read_map(f"{path}.map", path)
    return (
        None if found is None else original_position(found, line, _units(path, names, line, column))
    )


def original_position(source_map: dict[str, Any], line: int, column: int) -> str | None:
    """Returns the position in the script for a line and column of the compiled module.

    Lines count from 1, columns from 0 in units of UTF-16. Uses the nearest mapping at or before the
    column, or else the first mapping of the line. Returns None if the line has no mapping, or if
    the map is damaged.
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


def _units(path: str, names: dict[str, Any], line: int, column: int) -> int:
    """Converts a column from UTF-8 bytes, as in Python, to UTF-16 units, as in source maps."""
    import linecache

    text = linecache.getline(path, line, names)
    before = text.encode()[:column].decode(errors="ignore")
    return len(before.encode("utf-16-le")) // 2 if before else column


@lru_cache(maxsize=64)
def _read_map(path: str, module: str) -> dict[str, Any] | None:
    """Reads a map. Returns None if it is unreadable or its digest is not that of the module."""
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
    """Decodes the mappings of a map: returns the segments of each line.

    A segment is a tuple: a column in the module, and the source, line and column that it maps to.
    """
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
    """Decodes numbers in Base64 VLQ.

    A digit has five bits of a number, and a sixth bit that says whether the number continues in the
    next digit. The first bit of a number is its sign.
    """
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
