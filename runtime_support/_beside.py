"""Calls of tools that one reply asks for and that may run at the same time.

    finish_beside(works, 16)               each in a thread; what each came to, in their order
    await finish_beside_async(works, 16)   each in a task of the event loop

Each begins here, in their order, up to its first wait: so a journal numbers them as they stand in
the reply. When one fails, the others still come to their end, and their outcomes are kept.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextvars import Context
from functools import partial
from typing import Any, TypeAlias

from runtime_support._effects import (
    LOOK_SECONDS,
    Effects,
    begin_thread,
    finish_begun,
    finish_begun_async,
)
from runtime_support._order import abandoned, calls_before, check_cancelled, is_beside
from runtime_support._positions import call_from_afar, context_of_call

# The value in a list, or else the error.
Outcome: TypeAlias = tuple[list[Any], BaseException | None]


class _Begun:
    """A call that has come to its first wait, or to its end."""

    def __init__(self, work: Effects[Any], before: Sequence[threading.Event]) -> None:
        self.work = work
        self.context: Context = context_of_call()
        self.context.run(is_beside.set, True)
        self.context.run(calls_before.set, (*calls_before.get(), *before))
        self.has_ended = threading.Event()
        self.step: Any = None
        self.outcome: Outcome | None = None
        try:
            self.step = self.context.run(next, work)
        except StopIteration as end:
            self.end([end.value], None)
        except BaseException as error:
            self.end([], error)

    def end(self, values: list[Any], error: BaseException | None) -> None:
        self.outcome = values, error
        self.has_ended.set()


def finish_beside(works: Sequence[Effects[Any]], most: int) -> list[Outcome]:
    """What each work came to, done in threads; those behind one that cannot begin have none."""
    left = threading.Event()
    begun: list[_Begun] = []
    places = threading.Semaphore(most)
    for one in _all_begun(works, begun):
        one.context.run(abandoned.set, (*abandoned.get(), left))
        work = partial(call_from_afar, partial(_finish, one, places))
        begin_thread(work, f"saft tool {len(begun)}", one.context)
    try:
        for one in begun:
            while not one.has_ended.wait(LOOK_SECONDS):
                check_cancelled()
    except BaseException:
        left.set()
        raise
    return [one.outcome for one in begun if one.outcome is not None]


async def finish_beside_async(works: Sequence[Effects[Any]], most: int) -> list[Outcome]:
    """The same in the event loop; when this is cancelled, all of them are, and have ended."""
    import asyncio

    begun: list[_Begun] = []
    places = asyncio.Semaphore(most)
    waiting = list(_all_begun(works, begun))
    tasks = [asyncio.create_task(_finish_async(o, places), context=o.context) for o in waiting]
    try:
        if tasks:
            await asyncio.wait(tasks)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    return [one.outcome for one in begun if one.outcome is not None]


def _all_begun(works: Sequence[Effects[Any]], begun: list[_Begun]) -> Generator[_Begun]:
    """Begins each, until one fails at that; gives those that have to be waited for."""
    for work in works:
        one = _Begun(work, [earlier.has_ended for earlier in begun])
        begun.append(one)
        if one.outcome is None:
            yield one
        elif one.outcome[1] is not None:
            return


def _finish(one: _Begun, places: threading.Semaphore) -> None:
    try:
        with places:
            one.end([finish_begun(one.work, one.step)], None)
    except BaseException as error:
        one.end([], error)


async def _finish_async(one: _Begun, places: Any) -> None:
    from asyncio import CancelledError

    try:
        async with places:
            one.end([await finish_begun_async(one.work, one.step)], None)
    except CancelledError as error:
        one.end([], error)
        raise
    except BaseException as error:
        one.end([], error)
