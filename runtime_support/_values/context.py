"""What surrounds the code that runs: the context of the call that it is a part of, and its process.

    with Block(folder=path):        holds in the block, and in copies of its context
    change_here(task=task)          holds in the rest of this context
    context_here().folder           what holds here

A thread or task that works for a call runs in a copy of its context. Blocks of users need not nest,
and a generator may be closed elsewhere than it was begun: a block takes what it has put into the
context, and nothing else, out of the one that it is left in.
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


# No dataclass, which takes longer to load than what asks for a folder.
class Context(NamedTuple):
    """What holds where code runs; what the rooms above know alone is theirs to type.

    - `task`: the call that runs here, when it was begun ahead of its turn; `is_beside` where it is
      one of several calls of a program that run side by side.
    - `call`: the call of a prompt whose function runs here; `place`: in a thread that works for
      another one, where that was; `is_in_exchange` where a provider of somebody's own is at work.
    - `abandoned`: set when what a thread works for is no longer wanted; `clock` counts the time of
      the work, and for so many seconds what runs here has `waited` until it could ask.
    - `settings`: those of the blocks around, the innermost last; `settings_around` hold instead of
      those of the process.
    - `budgets`: of the blocks around, the innermost last; `stops`: what ought to end this part of
      the run.
    - `scope`: the part of the run; `journal`: that of the block around.
    - `folder`: where relative paths begin; `begun_lines`: what a row has begun to print, by stream.
    - `served`: the call that a client of an MCP server waits for.
    - `tested`: the code with the rules of a record all of which are looked at, and the broken ones.
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
    begun_lines: dict[str, str] | None = None
    served: Any = None
    tested: tuple[Any, list[CheckError]] = (None, [])
    blocks: tuple[Block, ...] = ()


# To these a block adds one more; of the others it says the value.
_ADDED_TO = ("settings", "budgets")

_NOTHING = Context()
_context: ContextVar[Context] = ContextVar("saft_context", default=_NOTHING)


def context_here() -> Context:
    """What holds here: without the blocks of generators that were closed elsewhere."""
    context = _context.get()
    for block in context.blocks:
        if block.is_closed:
            context = block.taken_from(context)
            _context.set(context)
    return context


def change_here(**changes: Any) -> None:
    """Has these hold in the rest of this context."""
    _context.set(_context.get()._replace(**changes))


class Block:
    """What holds in a `with` block, and in the copies of its context; it is entered once."""

    def __init__(self, **changes: Any) -> None:
        self._changes = changes
        # What each had before, where it was not added to.
        self._before: dict[str, Any] = {}
        # Whether it was left with its generator, maybe in another context than it was entered in.
        self.is_closed = False

    def __enter__(self) -> None:
        context = context_here()
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
        context = context_here()
        is_elsewhere = self not in context.blocks
        self.is_closed = is_elsewhere or kind is GeneratorExit
        if not is_elsewhere:
            _context.set(self.taken_from(context))

    def taken_from(self, context: Context) -> Context:
        """The context without this block; what other blocks have put into it stays."""
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
    """What `os.environ` keeps; itself, it decodes each variable each time that it is asked for."""
    kept: Any = os.environ
    return getattr(kept, "_data", kept)


def after_fork(action: Callable[[], object]) -> None:
    """Does this first in every forked process: it has none of its parent's threads, and may find
    locks taken by them.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=action)
