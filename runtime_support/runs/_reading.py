"""Reading a journal, also while its run goes on; nothing in it is changed.

entries(path)      its lines, of which those that are damaged are counted
exchanges(path)    what a run would be answered with
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from runtime_support._notes import note
from runtime_support._values import counted
from runtime_support.errors import ConfigError
from runtime_support.runs._journal import check_head, is_sound
from runtime_support.runs._lines import Entry, Sums, read_lines


def entries(
    path: str, tell_damaged: Callable[[int], object] | None = None, *, only_whole: bool = False
) -> Iterator[Entry]:
    """The lines of a journal that can be read; ConfigError when it is none.

    Those that have changed since they were written are shown as well, unless only whole ones are
    of use. At the end, the number of damaged lines is reported, if there are any.
    """
    is_empty, sums, damaged = True, Sums(), 0
    for line in read_lines(path, "journal"):
        if is_empty:
            check_head(path, line)
            is_empty = False
        is_whole, entry = sums.fit(line), _entry(line)
        if entry is None or not is_whole:
            damaged += line.endswith(b"\n")  # without its end, it is being written
        if entry is not None and (is_whole or not only_whole):
            yield entry
    if is_empty:
        raise ConfigError(f"{path} is empty")
    if damaged and tell_damaged is not None:
        tell_damaged(damaged)


def _entry(line: bytes) -> Entry | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if is_sound(entry) else None


def damaged_lines(path: str, count: int) -> str:
    """The words for a journal that has `count` damaged lines."""
    return f"{path}: {counted(count, 'line is', 'lines are')} damaged"


def note_damaged(path: str) -> Callable[[int], None]:
    return lambda count: note(damaged_lines(path, count))


def exchanges(path: str) -> Iterator[Entry]:
    """The exchanges that a run would be answered with: the last of each place, not forgotten.

    With them are the calls of tools of other programs that have ended.
    """
    found: dict[tuple[object, ...], Entry] = {}
    for entry in entries(path, note_damaged(path), only_whole=True):
        at = tuple(entry.get("at", ()))
        if "forget" in entry:
            for later in [one for one in found if one[:3] == at[:3] and _is_from(one[3], at[3])]:
                del found[later]
        elif "hash" in entry or _is_outside(entry):
            found.pop(tuple(entry.get("instead", ())), None)
            if "kept" in entry:
                found.pop(at, None)
            else:
                found[at] = entry
    yield from found.values()


def _is_outside(entry: Entry) -> bool:
    return str(entry.get("tool", "")).startswith("mcp(") and "ms" in entry and "key" not in entry


def _is_from(step: object, first: int) -> bool:
    return isinstance(step, int) and step >= first
