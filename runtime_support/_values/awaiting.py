"""One event loop for the run, in a thread of its own, where code that has no loop awaits.

    page = in_loop(fetch(url))      what comes of a coroutine of Python

It is the same loop for the whole run: clients and pools of connections are bound to the loop that
they were first used in, and can be used again.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Awaitable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from inspect import isawaitable
from typing import Any, TypeVar, overload

from runtime_support._values.context import after_fork

T = TypeVar("T")


class _Loop:
    """The loop, begun at its first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._running: Future[asyncio.AbstractEventLoop] = Future()
        self._ended: asyncio.Event | None = None

    def here(self) -> asyncio.AbstractEventLoop:
        """The loop; it runs."""
        with self._lock:
            if self._thread is None:
                name = "loop of coroutines"
                self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
                self._thread.start()
                atexit.register(self.end)
        return self._running.result()

    def is_own_thread(self) -> bool:
        """Whether the code that asks runs in the loop."""
        return threading.current_thread() is self._thread

    def end(self) -> None:
        """Cancels what is left in the loop, and closes it."""
        if self._thread is not None and self._ended is not None:
            self._running.result().call_soon_threadsafe(self._ended.set)
            self._thread.join(timeout=5)

    def _serve(self) -> None:
        async def serve() -> None:
            self._ended = asyncio.Event()
            self._running.set_result(asyncio.get_running_loop())
            await self._ended.wait()

        asyncio.run(serve())


_of_run = _Loop()


def _begin_anew() -> None:
    """A forked process does not have the thread."""
    global _of_run
    _of_run = _Loop()


after_fork(_begin_anew)


@overload
def in_loop(value: Awaitable[T]) -> T: ...
@overload
def in_loop(value: T) -> T: ...
def in_loop(value: Any) -> Any:
    """Waits for an awaitable in the event loop of the run, and returns its result.

    Any other value is returned as it is. The caller's thread waits; its context holds in the loop.
    In a module of the async form, use `await`.
    """
    if not isawaitable(value):
        return value
    if _of_run.is_own_thread():  # a plain function that a coroutine has called: it cannot wait here
        with ThreadPoolExecutor(1) as beside:
            return beside.submit(copy_context().run, asyncio.run, _awaited(value)).result()
    future = asyncio.run_coroutine_threadsafe(_awaited(value), _of_run.here())
    try:
        return future.result()
    except BaseException:
        future.cancel()  # Ctrl-C, while it was waited for
        raise


async def _awaited(value: Awaitable[T]) -> T:
    return await value
