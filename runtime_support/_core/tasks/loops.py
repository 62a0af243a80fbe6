"""Waits in an event loop, and calls of users' functions in threads and event loops.

    await finish_async(work)        awaits each wait of a generator, or runs it in a thread
    value = yield from call_function(partial(look_up, "Ada"), look_up)
    await in_thread(sorted, mails, key=urgency)

A blocking function runs in a new thread, with a copy of the caller's context and a flag that
cancels its requests. The event loop itself awaits an `async def`.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import Context
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar, overload

from runtime_support._core.positions.frames import context_of_call, run_in_thread_context
from runtime_support._core.tasks.turns import check_cancelled, is_abandoned
from runtime_support._core.tasks.waits import Steps, StreamClosed, Wait
from runtime_support._values.context import current_context, set_context

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from concurrent.futures import Future

T = TypeVar("T")


async def finish_async(work: Steps[T]) -> T:
    """Awaits each `Wait` that `work` yields, and returns the result of `work`.

    Ignores the other values that `work` yields.
    """
    return await _finish_async(work, lambda: next(work))


async def iterate_async(work: Steps[Any]) -> AsyncGenerator[Any]:
    """Awaits each `Wait` that `work` yields, and yields its other values: parts of the result."""
    try:
        step = next(work)
        while True:
            if isinstance(step, Wait):
                step = _resume(work, *await _outcome(step))
                continue
            try:
                yield step
            except BaseException:  # it is closed, or something is thrown in
                with suppress(StreamClosed):
                    await _finish_async(work, lambda: work.throw(StreamClosed()))
                raise
            step = next(work)
    except StopIteration:
        return


async def _finish_async(work: Steps[T], begin: Callable[[], Any]) -> T:
    try:
        step = begin()
        while True:
            step = _resume(work, *await _outcome(step)) if isinstance(step, Wait) else next(work)
    except StopIteration as end:
        return end.value


async def _outcome(wait: Wait) -> tuple[Any, BaseException | None]:
    try:
        awaiting = in_thread(wait.blocking) if wait.awaitable is None else wait.awaitable()
        return await awaiting, None
    except BaseException as failure:
        return None, failure


def _resume(work: Steps[Any], outcome: Any, failure: BaseException | None) -> Any:
    """Passes the outcome or failure of a `Wait` to `work`, and returns what `work` yields next."""
    return work.send(outcome) if failure is None else work.throw(failure)


def call_function(
    function: Callable[[], Any],
    kind: Callable[..., Any],
    enter: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Steps[Any]:
    """Calls a user's function inside the context manager of `enter`, and returns its value.

    An awaitable value is awaited. `function` makes the call, and `kind` is the user's function
    itself.
    """
    function = partial(call_inside, enter, function)
    # Calling an `async def` only creates the coroutine.
    value = function() if iscoroutinefunction(kind) else (yield Wait(function))
    if not isawaitable(value):
        return value
    return (yield Wait(partial(_await_here, value), partial(maybe_await, value)))


def call_inside(
    enter: Callable[[], AbstractContextManager[object]], function: Callable[[], Any]
) -> Any:
    """Calls a function inside the context manager of `enter`, and returns its result.

    An awaitable result is wrapped. The wrapper calls `enter` again and awaits the result inside.
    """
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
    """Awaits the value until it is no longer awaitable, and returns it."""
    while isawaitable(value):
        value = await value
    return value


def _await_here(value: Awaitable[Any]) -> Any:
    """Blocks until the event loop of the run has awaited the value, and returns the result."""
    from runtime_support._values.awaiting import in_loop

    return in_loop(maybe_await(value))


async def in_thread(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """Calls a function in a thread, so that it does not block the event loop. Returns its result.

    An `async def` among the arguments runs in this loop, and the thread waits for it: with an
    `async def urgency`, `await in_thread(sorted, mails, key=urgency)` sorts by a model's answers.
    Cancelling `in_thread` also cancels these coroutines. The thread continues, but sends no more
    requests.
    """
    import asyncio

    is_left = threading.Event()
    loop = asyncio.get_running_loop()
    begun: set[Future[Any]] = set()

    def blocking(one: Any) -> Any:
        return partial(_run_in, loop, begun, one) if iscoroutinefunction(one) else one

    given = map(blocking, arguments)
    work = partial(function, *given, **{name: blocking(one) for name, one in named.items()})
    context = context_of_call()
    context.run(set_context, abandoned=(*current_context().abandoned, is_left))
    outcome = begin_thread(partial(run_in_thread_context, work), "saft beside", context)
    try:
        return await maybe_await(outcome_value(await asyncio.wrap_future(outcome)))
    except asyncio.CancelledError:
        is_left.set()
        for one in tuple(begun):
            one.cancel()
        raise


async def finish_in_thread(work: Callable[[], T]) -> T:
    """Calls a function in a thread and returns its result. Does not block the event loop.

    If the task is cancelled, the function still finishes, and then the task raises CancelledError.
    """
    import asyncio

    cancelled: asyncio.CancelledError | None = None
    task = asyncio.ensure_future(asyncio.to_thread(work))
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled from task.exception()
    return task.result()


def _run_in(
    loop: AbstractEventLoop,
    begun: set[Future[Any]],
    function: Callable[..., Any],
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    """Runs an `async def` in the event loop of another thread, and blocks until it has a result.

    A thread that runs the loop itself must not block, so it gets the coroutine instead.
    """
    import asyncio

    check_cancelled()
    with suppress(RuntimeError):
        if asyncio.get_running_loop() is loop:
            return function(*arguments, **named)
    future = asyncio.run_coroutine_threadsafe(function(*arguments, **named), loop)
    begun.add(future)
    if is_abandoned():  # abandoned meanwhile, before `begun` held this future
        future.cancel()
    try:
        return future.result()
    finally:
        begun.discard(future)


def begin_thread(
    work: Callable[[], T], name: str, context: Context
) -> Future[tuple[list[T], BaseException | None]]:
    """Runs work in a new thread, and returns a future of the work's value or error.

    An error is in the future's result, because a future cannot raise every exception.
    """
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
    """Returns the value of an outcome of `begin_thread`, or raises its error."""
    values, error = outcome
    if error is not None:
        raise error
    return values[0]
