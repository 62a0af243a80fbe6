"""Maps Python frames to positions in the .saft file.

    place = place_of_call()      the caller of this package, in a form that is cheap to keep
    place.position()             "triage.saft:12:5", or None when no source map knows it
    annotate(error, place)       sets error.saft_position, and adds a note

A module compiled in memory carries `__saft_source_map__`: its Source Map v3, or an object whose
method `position(line, column)` returns the position in the script. A module on disk may have its
map beside it, `NAME.py.map`. A map of another version of the module gives no position. Neither does
an unreadable map. A lookup that fails is reported once, and never hides an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextvars import Context, copy_context
from itertools import islice
from typing import TYPE_CHECKING, Any

from runtime_support._values.context import current_context, set_context
from runtime_support._values.predicates import is_object
from runtime_support.errors import ReplayMiss, SaftError

if TYPE_CHECKING:
    from types import CodeType, FrameType

_OURS = os.path.dirname(str(sys.modules["runtime_support"].__file__)) + os.sep

# First line (from 1), first column (from 0, in UTF-8), last line, last column.
Stretch = tuple[int, int, int, int]

# The longest cache key that OpenAI accepts.
_LONGEST_NAME = 64

# Known stretches by the id of the code and the instruction: hashing a code object takes time in
# proportion to its size. The value holds the code, so that the id stays valid.
_MOST_STRETCHES = 4096
_stretches: dict[tuple[int, int], tuple[CodeType, Stretch]] = {}


class Place:
    """A point in the execution of a module; its position is looked up on demand.

    If this thread works for a call in another thread, `behind` is the place of that call.
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
        """Returns the position in the script, as `file:line:column`, or None if it is unknown."""
        line, column, _, _ = self.stretch()
        own = self.position_at(line, column)
        return own if own is not None or self.behind is None else self.behind.position()

    def text(self) -> str:
        """Returns the position in the script, or else the line in the Python module."""
        return self.described()[0]

    def described(self) -> tuple[str, str]:
        """Returns the text of the place and the enclosing Python functions, as in `outer.inner`."""
        line, column, _, _ = self.stretch()
        position = self.position_at(line, column)
        if position is None and self.behind is not None:
            return self.behind.described()
        names = [one for one in self.code.co_qualname.split(".") if one[0] != "<"]
        text = position or f"{os.path.basename(self.code.co_filename)}:{line}"
        return text, ".".join(names)

    def name(self) -> str:
        """Returns the module and its function, as in `triage.urgent`; see `name_of_place`."""
        function = self.code.co_qualname.partition(".")[0]
        return name_of_place(self.code.co_filename, "" if function[:1] == "<" else function)

    def position_at(self, line: int, column: int) -> str | None:
        """Returns the position in the script for a line and column of this module, or None.

        Lines count from 1, columns from 0.
        """
        try:
            return self._looked_up(line, column)
        except Exception as error:  # a failing lookup must not hide the error that it explains
            _note_failure(self.code.co_filename, error)
            return None

    def stretch(self) -> Stretch:
        """Returns where the code that is executed here begins and ends in the module's text."""
        key = id(self.code), self.instruction
        known = _stretches.get(key)
        if known is None:
            if len(_stretches) >= _MOST_STRETCHES:
                _stretches.clear()
            known = _stretches[key] = self.code, _stretch_of(self.code, self.instruction)
        return known[1]

    def _looked_up(self, line: int, column: int) -> str | None:
        path = self.code.co_filename
        source_map = self.names.get("__saft_source_map__")
        if is_object(source_map) or (not source_map and os.path.isfile(f"{path}.map")):
            from runtime_support._core.positions.source_maps import look_up

            return look_up(source_map, path, self.names, line, column)
        lookup = getattr(source_map, "position", None)
        return None if lookup is None else lookup(line, column)


def _note_failure(path: str, error: Exception) -> None:
    from runtime_support._core.notes import note_once

    file, reason = os.path.basename(path), f"{type(error).__name__}: {error}"
    note_once(path, f"the places of {file} in its script cannot be looked up: {reason}")


def name_of_place(path: str, function: str) -> str:
    """Returns the name of a module and its top-level function, such as `triage.urgent`.

    The name has at most 64 characters. Code outside of functions has the module's name.
    """
    # A script that is run without a module on disk has the file name `<compiled triage.saft>`.
    file = path.strip("<>").removeprefix("compiled ")
    module = os.path.splitext(os.path.basename(file))[0]
    whole = f"{module}.{function}" if function else module
    name = "".join(one if one.isalnum() or one in "._-" else "_" for one in whole)
    if len(name) <= _LONGEST_NAME:
        return name
    import hashlib

    mark = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{name[: _LONGEST_NAME - 17]}-{mark}"


def _stretch_of(code: CodeType, instruction: int) -> Stretch:
    found = next(islice(code.co_positions(), instruction // 2, None), None)
    if found is None:
        return code.co_firstlineno, 0, 0, 0
    line, end_line, column, end_column = found
    return line or code.co_firstlineno, column or 0, end_line or 0, end_column or 0


def place_of_call(passed: int = 0) -> Place | None:
    """Returns the place of the code that called this package, or None if there is none.

    `passed` is how many frames outside of the package are skipped first.
    """
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and ((is_own := is_ours(frame.f_code.co_filename)) or passed):
        if frame.f_code is _AFAR:
            return current_context().place
        passed -= not is_own
        frame = frame.f_back
    if frame is None:
        return current_context().place
    return Place(frame.f_code, frame.f_lasti, frame.f_globals, current_context().place)


def context_of_call() -> Context:
    """Copies the context for another thread. Prompts in the copy have the place of this call.

    pool.submit(context_of_call().run, prompt, "hello")
    """
    context = copy_context()
    context.run(set_context, place=place_of_call())
    return context


def run_in_thread_context(function: Callable[[], Any]) -> Any:
    """Calls a function and marks the stack: `place_of_call` looks no further than this frame.

    The frames outside of this frame belong to the thread, not to the call that the function works
    for. The place of that call is in the context.
    """
    return function()


_AFAR = run_in_thread_context.__code__


def is_ours(path: str) -> bool:
    """Whether a file belongs to this package."""
    return path.startswith(_OURS)


def annotate(error: SaftError | ReplayMiss, place: Place | None = None) -> None:
    """Adds the position of the place, by default the caller, to an error without a position."""
    if error.saft_position is not None:
        return
    place = place or place_of_call()
    position = None if place is None else place.position()
    if position is not None:
        error.saft_position = position
        error.add_note(f"at {position}")
