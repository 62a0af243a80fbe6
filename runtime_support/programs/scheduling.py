"""Time and threads: work that must be over in time, and pure work that may run together.

Each evaluation runs in a thread of its own with an event loop of its own, so that it may be
started from anywhere (also from inside a running loop), functions may be async, and a function
that never returns cannot hold the caller. Context variables are those of the caller.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class TimeUp(Exception):
    """The work was not over in time; what is still running has been told to stop."""


def run_within(seconds: float, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What the coroutine returns or raises; raises TimeUp after the seconds."""
    import asyncio

    loop = asyncio.new_event_loop()
    finished = threading.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            results.append(loop.run_until_complete(work()))
        except BaseException as error:
            errors.append(error)
        finally:
            _close(loop)
            finished.set()

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(body,), name="program", daemon=True)
    thread.start()
    try:
        in_time = finished.wait(seconds)
    finally:
        if not finished.is_set():
            with suppress(RuntimeError):  # the loop was closed in between
                loop.call_soon_threadsafe(_cancel_all, loop)
    if not in_time:
        raise TimeUp
    if errors:
        raise errors[0]
    return results[0]


def run_now(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that never has to wait."""
    try:
        work.send(None)
    except StopIteration as result:
        return result.value
    raise RuntimeError("the work had to wait")


async def in_thread(work: Callable[[], T]) -> T:
    """What the function returns or raises, run in a thread of its own."""
    import asyncio

    loop = asyncio.get_running_loop()
    returned: asyncio.Future[tuple[list[T], BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(values: list[T], error: BaseException | None) -> None:
        if not returned.done():
            returned.set_result((values, error))

    def body() -> None:
        values: list[T] = []
        failure: BaseException | None = None
        try:
            values.append(context.run(work))
        except BaseException as error:
            failure = error
        with suppress(RuntimeError):  # nobody waits any more
            loop.call_soon_threadsafe(deliver, values, failure)

    threading.Thread(target=body, name="program call", daemon=True).start()
    values, failure = await returned
    if failure is not None:
        raise failure
    return values[0]


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    for task in asyncio.all_tasks(loop):
        task.cancel()


def _close(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    with suppress(BaseException):
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
