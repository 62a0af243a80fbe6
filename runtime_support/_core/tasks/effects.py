"""Work whose waits are data: written once, and done in a thread or in an event loop.

    def exchange(request):
        response = yield Effect(partial(post, request), partial(post_async, request))
        return read(response)

    finish(exchange(request))                 each wait is done here
    await finish_async(exchange(request))     each wait is awaited; what can only block, in a thread

Work is a generator of waits: it is sent what came of each, and a failure is thrown in. What it
yields beside waits are parts of its result, for callers that want them as they come:

    for part in iterate(work): ...
    async for part in iterate_async(work): ...

When the rest is not wanted, `Abandoned` is thrown in, so that what is open can be closed, which may
have to be waited for. asyncio's cancellation is thrown in as it is.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from runtime_support._core.positions.frames import call_from_afar, context_of_call
from runtime_support._core.tasks.turns import check_cancelled, is_abandoned
from runtime_support._values.context import change_here, context_here

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from concurrent.futures import Future

T = TypeVar("T")

# No wait is longer than this: on Windows, Ctrl-C is noticed between waits alone.
LOOK_SECONDS = 0.5


@dataclass(slots=True)
class Effect:
    """Something that takes its time: `here` does it, `there` is awaited for it in an event loop.

    Without `there` it is done in a thread when there is a loop, which goes on meanwhile.
    """

    here: Callable[[], Any]
    there: Callable[[], Awaitable[Any]] | None = None

    def awaited(self) -> Awaitable[Any]:
        """What is awaited for it."""
        return in_thread(self.here) if self.there is None else self.there()


class Signal:
    """Wakes one who waits, in a thread or in an event loop; what rang before counts as well."""

    def __init__(self) -> None:
        self._rung = threading.Event()
        self._tell: Callable[[], object] | None = None

    def ring(self) -> None:
        """Wakes who waits, from any thread."""
        self._rung.set()
        tell = self._tell
        if tell is not None:
            with suppress(RuntimeError):  # the loop has ended, and he with it
                tell()

    def awaited(self, seconds: float) -> Effect:
        """Waits until it rings, but no longer than this."""
        return Effect(partial(self._hear, seconds), partial(self._hear_async, seconds))

    def _hear(self, seconds: float) -> None:
        self._rung.wait(seconds)
        self._rung.clear()

    async def _hear_async(self, seconds: float) -> None:
        import asyncio

        heard = asyncio.Event()
        self._tell = partial(asyncio.get_running_loop().call_soon_threadsafe, heard.set)
        if not self._rung.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await heard.wait()
        self._tell = None
        self._rung.clear()


# What a wait is sent depends on it, which annotations cannot say.
Effects: TypeAlias = Generator[Any, Any, T]


class Abandoned(BaseException):
    """Thrown into work whose rest is not wanted."""


def finish(work: Effects[T]) -> T:
    """The result of the work, each wait done here; its parts are passed over."""
    return _finish(work, lambda: next(work))


def iterate(work: Effects[T]) -> Generator[Any, None, T]:
    """The parts as they come, and the result of the work."""
    try:
        step = next(work)
        while True:
            if isinstance(step, Effect):
                step = _perform(work, step)
                continue
            try:
                yield step
            except BaseException:  # it is closed, or something is thrown in
                with suppress(Abandoned):
                    _finish(work, lambda: work.throw(Abandoned()))
                raise
            step = next(work)
    except StopIteration as end:
        return end.value


async def finish_async(work: Effects[T]) -> T:
    """The result of the work, each wait awaited; its parts are passed over."""
    return await _finish_async(work, lambda: next(work))


async def iterate_async(work: Effects[Any]) -> AsyncGenerator[Any]:
    """The parts as they come."""
    try:
        step = next(work)
        while True:
            if isinstance(step, Effect):
                step = _resume(work, *await _outcome(step))
                continue
            try:
                yield step
            except BaseException:  # it is closed, or something is thrown in
                with suppress(Abandoned):
                    await _finish_async(work, lambda: work.throw(Abandoned()))
                raise
            step = next(work)
    except StopIteration:
        return


def _finish(work: Effects[T], begin: Callable[[], Any]) -> T:
    try:
        step = begin()
        while True:
            step = _perform(work, step) if isinstance(step, Effect) else next(work)
    except StopIteration as end:
        return end.value


async def _finish_async(work: Effects[T], begin: Callable[[], Any]) -> T:
    try:
        step = begin()
        while True:
            step = _resume(work, *await _outcome(step)) if isinstance(step, Effect) else next(work)
    except StopIteration as end:
        return end.value


def _perform(work: Effects[Any], wait: Effect) -> Any:
    """The next step of the work, after this wait."""
    try:
        outcome = wait.here()
    except BaseException as failure:
        return work.throw(failure)
    return work.send(outcome)


async def _outcome(wait: Effect) -> tuple[Any, BaseException | None]:
    try:
        return await wait.awaited(), None
    except BaseException as failure:
        return None, failure


def _resume(work: Effects[Any], outcome: Any, failure: BaseException | None) -> Any:
    """The next step of the work, which gets the outcome of a wait."""
    return work.send(outcome) if failure is None else work.throw(failure)


def drive(steps: Effects[T], answering: Callable[[Any], Effects[Any]]) -> Effects[T]:
    """The result of the steps, each answered by work; the waits and parts of that."""
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


def close_after(work: Effects[T], close: Effect) -> Effects[T]:
    """The result of the work; whatever that is, something is closed after it."""
    try:
        outcome = yield from work
    except GeneratorExit:
        raise  # dropped at the end of an event loop, which closes what was open in it
    except BaseException:
        yield close
        raise
    yield close
    return outcome


def call_function(
    function: Callable[[], Any],
    kind: Callable[..., Any],
    enter: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Effects[Any]:
    """What a call gives of a function of somebody else, made inside of a context; `kind` is the
    function itself.
    """
    function = partial(call_inside, enter, function)
    # A call of an `async def` only makes what is awaited.
    value = function() if iscoroutinefunction(kind) else (yield Effect(function))
    if not isawaitable(value):
        return value
    return (yield Effect(partial(_await_here, value), partial(maybe_await, value)))


def call_inside(
    enter: Callable[[], AbstractContextManager[object]], function: Callable[[], Any]
) -> Any:
    """What a call gives that is made inside of a context; so is all of what is to be awaited."""
    with enter():
        value = function()
    return _await_inside(enter, value) if isawaitable(value) else value


async def _await_inside(
    enter: Callable[[], AbstractContextManager[object]], value: Awaitable[Any]
) -> Any:
    with enter():
        return await maybe_await(value)


@overload
async def maybe_await(value: Awaitable[T] | T) -> T: ...
@overload
async def maybe_await(value: Any) -> Any: ...
async def maybe_await(value: Any) -> Any:
    """The value, or what comes of it when it is to be awaited."""
    while isawaitable(value):
        value = await value
    return value


def _await_here(value: Awaitable[Any]) -> Any:
    """What comes of something that is to be awaited, in the event loop of the run."""
    from runtime_support._values.awaiting import in_loop

    return in_loop(maybe_await(value))


async def in_thread(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """Calls a function that may block in a thread, and returns its result; the event loop goes on.

    Functions among its arguments that are `async def` run in this loop, and the thread waits for
    them: so `await in_thread(sorted, mails, key=urgency)` sorts by what a model answers. If this is
    cancelled, so are they; the thread goes on, but sends no more requests.
    """
    import asyncio

    is_left = threading.Event()
    loop = asyncio.get_running_loop()
    begun: set[Future[Any]] = set()

    def blocking(one: Any) -> Any:
        return partial(_run_in, loop, begun, one) if iscoroutinefunction(one) else one

    given_here = map(blocking, arguments)
    work = partial(function, *given_here, **{name: blocking(one) for name, one in named.items()})
    context = context_of_call()
    context.run(change_here, abandoned=(*context_here().abandoned, is_left))
    outcome = begin_thread(partial(call_from_afar, work), "saft beside", context)
    try:
        return await maybe_await(outcome_value(await asyncio.wrap_future(outcome)))
    except asyncio.CancelledError:
        is_left.set()
        for one in tuple(begun):
            one.cancel()
        raise


def _run_in(
    loop: AbstractEventLoop,
    begun: set[Future[Any]],
    function: Callable[..., Any],
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    """The result of a call of an `async def` that runs in the loop of another thread.

    In that loop itself nothing can wait for it: there it is what the function gives, to be awaited.
    """
    import asyncio

    check_cancelled()
    with suppress(RuntimeError):
        if asyncio.get_running_loop() is loop:
            return function(*arguments, **named)
    future = asyncio.run_coroutine_threadsafe(function(*arguments, **named), loop)
    begun.add(future)
    if is_abandoned():  # in between, and this was not there yet to be cancelled
        future.cancel()
    try:
        return future.result()
    finally:
        begun.discard(future)


def begin_thread(
    work: Callable[[], T], name: str, context: Context
) -> Future[tuple[list[T], BaseException | None]]:
    """The outcome of work that runs in a thread of its own, as data: no future takes all errors."""
    from concurrent.futures import Future

    future: Future[tuple[list[T], BaseException | None]] = Future()
    future.set_running_or_notify_cancel()

    def body() -> None:
        try:
            outcome = [work()], None
        except BaseException as error:
            outcome = list[T](), error
        future.set_result(outcome)

    threading.Thread(target=context.run, args=(body,), name=name, daemon=True).start()
    return future


def outcome_value(outcome: tuple[list[T], BaseException | None]) -> T:
    """What such a thread gave, or raises what it raised."""
    values, error = outcome
    if error is not None:
        raise error
    return values[0]
