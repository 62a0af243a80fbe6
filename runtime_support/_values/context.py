"""The context of the running code: its task, call, settings, budgets, journal and folder.

    with Block(folder=path):        sets a field inside the block and in copies of its context
    set_context(task=task)          sets a field in the rest of this context
    current_context().folder        returns the current value of a field

A thread or task that works for a call runs in a copy of the call's context. Users' blocks may
overlap without nesting, and a generator may be closed in another context than it was started in.
A block that exits therefore removes only its values from the current context.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from threading import Event
    from types import TracebackType

    from runtime_support.errors import CheckError


# Not a dataclass: importing `dataclasses` takes longer than the modules that only need `folder`.
class Context(NamedTuple):
    """The values that are in effect where code runs. The modules that use a field define its type.

    - `task` is the current call, if it was started ahead of its turn. `is_beside` is true inside
      one of several calls of a program that run in parallel.
    - `call` is the tool call whose function runs. `place` is the place in the script for which this
      thread works. `is_in_exchange` is true while a user's provider runs.
    - `abandoned` has events that are set when this thread's work is no longer needed. `clock`
      measures the time of the work. `waited` is the number of seconds that this code waited before
      it could send requests.
    - `settings` has the settings of the enclosing blocks, the innermost last. `settings_around`
      replace the settings of the process.
    - `budgets` has the budgets of the enclosing blocks, the innermost last. `stops` collects errors
      that should end this part of the run.
    - `scope` is the current part of the run. `journal` is the journal of the enclosing block.
    - `folder` is the base of relative paths. `begun_lines` maps a stream to the unfinished line
      that a row of a table has printed.
    - `served` is the call that a client of an MCP server awaits.
    - While all rules of a record are tested, `tested` has the code that contains the rules, and the
      list of the broken rules' errors.
    """

    task: Any = None
    is_beside: bool = False
    call: Any = None
    place: Any = None
    is_in_exchange: bool = False
    abandoned: tuple[Event, ...] = ()
    clock: Any = None
    waited: float = 0.0
    settings: tuple[dict[str, Any], ...] = ()
    settings_around: Mapping[str, Any] = MappingProxyType({})
    budgets: tuple[Any, ...] = ()
    stops: list[Any] | None = None
    scope: Any = None
    journal: Any = None
    folder: str | None = None
    begun_lines: dict[Any, str] | None = None
    served: Any = None
    tested: tuple[Any, list[CheckError]] = (None, [])
    blocks: tuple[Block, ...] = ()


# A block appends to these fields and replaces the others.
_ADDED_TO = ("settings", "budgets")

_NOTHING = Context()
_context: ContextVar[Context] = ContextVar("saft_context", default=_NOTHING)


def current_context() -> Context:
    """Returns the current context, without the blocks of generators that were closed elsewhere."""
    context = _context.get()
    for block in context.blocks:
        if block.is_closed:
            context = block.copied_from(context)
            _context.set(context)
    return context


def set_context(**changes: Any) -> None:
    """Sets these fields for the rest of the current context."""
    _context.set(_context.get()._replace(**changes))


class Block:
    """Sets fields of the context inside a `with` block and in copies of the block's context.

    A Block can be entered only once.
    """

    def __init__(self, **changes: Any) -> None:
        self._changes = changes
        # The previous values of the fields that the block replaces.
        self._before: dict[str, Any] = {}
        # True if its generator was closed or it exits in another context than it was entered in.
        self.is_closed = False

    def __enter__(self) -> None:
        context = current_context()
        changes = dict(self._changes)
        for name, value in self._changes.items():
            if name in _ADDED_TO:
                changes[name] = (*getattr(context, name), value)
            else:
                self._before[name] = getattr(context, name)
        _context.set(context._replace(blocks=(*context.blocks, self), **changes))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        context = current_context()
        is_elsewhere = self not in context.blocks
        self.is_closed = is_elsewhere or kind is GeneratorExit
        if not is_elsewhere:
            _context.set(self.copied_from(context))

    def copied_from(self, context: Context) -> Context:
        """Returns a copy of the context without this block's values. Other blocks' values stay."""
        index = context.blocks.index(self)
        inner = context.blocks[index + 1 :]
        left: dict[str, Any] = {"blocks": (*context.blocks[:index], *inner)}
        for name, own in self._changes.items():
            value = getattr(context, name)
            if name in _ADDED_TO:
                left[name] = tuple(one for one in value if one is not own)
                continue
            above = next((one for one in inner if name in one._before), None)
            if above is None and value is own:
                left[name] = self._before[name]
            elif above is not None and above._before[name] is own:
                above._before[name] = self._before[name]
        return context._replace(**left)


def environment() -> dict[Any, Any]:
    """Returns the mapping inside `os.environ`, whose names and values are not decoded.

    This is fast, because `os.environ` decodes a variable at each access.
    """
    kept: Any = os.environ
    return getattr(kept, "_data", kept)


def after_fork(action: Callable[[], object]) -> None:
    """Registers an action that runs first in every forked process.

    A forked process has none of its parent's threads, and may inherit locked locks.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=action)
