"""Generators of waits: code written once that runs in a thread or in an event loop.

    def exchange(request):
        response = yield Wait(partial(post, request), partial(post_async, request))
        return read(response)

    finish(exchange(request))                 performs each wait in this thread
    await finish_async(exchange(request))     awaits each wait (`loops`)

The caller sends each wait's outcome into the generator, or throws its exception in. Other values
that the generator yields are parts of its result, for callers that read them as they come:

    for part in iterate(work): ...
    async for part in iterate_async(work): ...

If a caller stops early, `StreamClosed` is thrown into the generator. The generator can then close
its files and connections, and may yield further waits to do so. A cancellation by asyncio is thrown
in unchanged.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

# The longest wait: on Windows, Ctrl-C is noticed only between waits.
LOOK_SECONDS = 0.5


@dataclass(slots=True)
class Wait:
    """An operation that takes time. A thread calls `blocking`, an event loop awaits `awaitable()`.

    Without `awaitable`, an event loop calls `blocking` in a thread.
    """

    blocking: Callable[[], Any]
    awaitable: Callable[[], Awaitable[Any]] | None = None


class Signal:
    """Wakes one waiter, in a thread or an event loop.

    If `ring` is called before the wait begins, the waiter does not wait at all.
    """

    def __init__(self) -> None:
        self._rung = threading.Event()
        self._tell: Callable[[], object] | None = None

    def ring(self) -> None:
        """Wakes the waiter. Any thread may call this."""
        self._rung.set()
        tell = self._tell
        if tell is not None:
            with suppress(RuntimeError):  # the loop has ended, and its waiter with it
                tell()

    def awaited(self, seconds: float) -> Wait:
        """Returns a `Wait` that ends after a `ring`, or after the given time."""
        return Wait(partial(self._wait, seconds), partial(self._wait_async, seconds))

    def _wait(self, seconds: float) -> None:
        self._rung.wait(seconds)
        self._rung.clear()

    async def _wait_async(self, seconds: float) -> None:
        import asyncio

        heard = asyncio.Event()
        self._tell = partial(asyncio.get_running_loop().call_soon_threadsafe, heard.set)
        if not self._rung.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await heard.wait()
        self._tell = None
        self._rung.clear()


# The type of an outcome depends on its wait, which annotations cannot express.
Steps: TypeAlias = Generator[Any, Any, T]


class StreamClosed(BaseException):
    """Thrown into a generator of waits when its caller stops early."""


def finish(work: Steps[T]) -> T:
    """Performs each `Wait` that `work` yields in this thread. Returns the result of `work`.

    Ignores the other values that `work` yields.
    """
    return _finish(work, lambda: next(work))


def iterate(work: Steps[T]) -> Generator[Any, None, T]:
    """Performs each `Wait` that `work` yields in this thread. Returns the result of `work`.

    Yields the other values that `work` yields: parts of the result.
    """
    try:
        step = next(work)
        while True:
            if isinstance(step, Wait):
                step = _perform(work, step)
                continue
            try:
                yield step
            except BaseException:  # it is closed, or something is thrown in
                with suppress(StreamClosed):
                    _finish(work, lambda: work.throw(StreamClosed()))
                raise
            step = next(work)
    except StopIteration as end:
        return end.value


def _finish(work: Steps[T], begin: Callable[[], Any]) -> T:
    try:
        step = begin()
        while True:
            step = _perform(work, step) if isinstance(step, Wait) else next(work)
    except StopIteration as end:
        return end.value


def _perform(work: Steps[Any], wait: Wait) -> Any:
    """Performs a `Wait`, passes its outcome to `work`, and returns what `work` yields next."""
    try:
        outcome = wait.blocking()
    except BaseException as failure:
        return work.throw(failure)
    return work.send(outcome)


def drive(steps: Steps[T], answering: Callable[[Any], Steps[Any]]) -> Steps[T]:
    """Runs the generator `steps`, and returns its result.

    Calls `answering` with each value that `steps` yields, and sends the result of this call into
    `steps`. Yields everything that `answering` yields.
    """
    try:
        step = next(steps)
        while True:
            try:
                outcome = yield from answering(step)
            except BaseException as failure:
                step = steps.throw(failure)
            else:
                step = steps.send(outcome)
    except StopIteration as end:
        return end.value


def close_after(work: Steps[T], close: Wait) -> Steps[T]:
    """Returns the result of `work`. Performs `close` after `work`, also if `work` fails."""
    try:
        outcome = yield from work
    except GeneratorExit:
        raise  # the event loop has ended and closes what was open in it
    except BaseException:
        yield close
        raise
    yield close
    return outcome
