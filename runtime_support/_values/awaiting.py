"""One background event loop for the whole run, where synchronous code awaits coroutines.

    page = in_loop(fetch(url))      the result of a Python coroutine

The loop lives as long as the run, so that HTTP clients and connection pools, which are bound to
the loop that first used them, can be reused.
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
    """An event loop in a background thread, which starts at the first use of the loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._running: Future[asyncio.AbstractEventLoop] = Future()
        self._ended: asyncio.Event | None = None

    def here(self) -> asyncio.AbstractEventLoop:
        """Returns the event loop. Starts its thread if necessary."""
        with self._lock:
            if self._thread is None:
                name = "loop of coroutines"
                self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
                self._thread.start()
                atexit.register(self.end)
        return self._running.result()

    def is_own_thread(self) -> bool:
        """True if the current thread runs the loop."""
        return threading.current_thread() is self._thread

    def end(self) -> None:
        """Cancels the tasks that still run in the loop, and closes the loop."""
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
    """Replaces the loop in a forked process, which lacks the loop's thread."""
    global _of_run
    _of_run = _Loop()


after_fork(_begin_anew)


@overload
def in_loop(value: Awaitable[T]) -> T: ...
@overload
def in_loop(value: T) -> T: ...
def in_loop(value: Any) -> Any:
    """Waits for an awaitable in the run's event loop, and returns its result.

    Any other value is returned unchanged. The calling thread blocks. The awaitable runs in a copy
    of the calling thread's context. Modules that are compiled to async code use `await` instead.
    """
    if not isawaitable(value):
        return value
    if _of_run.is_own_thread():  # a coroutine called a plain function: blocking would deadlock
        with ThreadPoolExecutor(1) as beside:
            return beside.submit(copy_context().run, asyncio.run, _awaited(value)).result()
    future = asyncio.run_coroutine_threadsafe(_awaited(value), _of_run.here())
    try:
        return future.result()
    except BaseException:
        future.cancel()  # Ctrl-C while waiting
        raise


async def _awaited(value: Awaitable[T]) -> T:
    return await value
