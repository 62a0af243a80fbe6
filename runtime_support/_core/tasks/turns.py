"""Turns of calls that run early, for the rest of the runtime.

A call that `overlap` starts early gets its turn when everything before it, in the script's order,
has ended. Until then its side effects wait:

    in_turn(action)                 calls `action` at the turn and drops its result
    yield from wait_for_turn()      waits before a side effect that cannot be put off
    check_cancelled()               raises Cancelled in a call whose result is dropped

Outside of such calls, actions run at once and nothing waits.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runtime_support._values.context import current_context, set_context

if TYPE_CHECKING:
    from runtime_support._core.tasks.queue import Task
    from runtime_support._core.tasks.waits import Steps

# Prints for scripts. `saftc run` sets a function that escapes the terminal's control characters.
print_values: Callable[..., None] = builtins.print


# Asks a person at the terminal about a call that awaits approval. `saftc run` sets this function.
# It takes the call, and a function that says why a decision is invalid. It returns a Decision, or
# None if the person wants to decide later.
ask_person: Callable[[Any, Callable[[Any], str | None]], Any] | None = None


class Cancelled(BaseException):
    """Raised inside a cancelled call to end it."""


def current_task() -> Task | None:
    """Returns the `Task` that runs this code, or None if no task runs it."""
    return current_context().task


def runs_in_parallel() -> bool:
    """Whether this code runs in one of several concurrent calls of a program."""
    return current_context().is_beside


def in_turn(action: Callable[[], Any]) -> None:
    """Runs a side effect in the script's order: at the turn of the current call."""
    task = current_task()
    if task is None:
        action()
    else:
        task.put_off(action)


def wait_for_turn() -> Steps[None]:
    """Waits until everything before the current call has ended."""
    task = current_task()
    if task is not None:
        yield from task.wait_for_turn()


def waited_here() -> float:
    """Returns how many seconds the requests of this context have waited before they were sent."""
    return current_context().waited


def note_wait(seconds: float) -> None:
    """Adds to the time that the requests of this context have waited."""
    set_context(waited=waited_here() + seconds)


def is_abandoned() -> bool:
    """Whether the event loop or job that started this thread has stopped waiting for the thread."""
    return any(one.is_set() for one in current_context().abandoned)


def check_cancelled() -> None:
    """Raises Cancelled if the result of the current call will be dropped. Never waits."""
    task = current_task()
    if is_abandoned() or (task is not None and task.is_cancelled()):
        raise Cancelled


def wait_while_held() -> Steps[None]:
    """Waits until the error of a failed earlier call is raised, or that call is rerun.

    Raises Cancelled if the current call is cancelled. Do not call this while holding a request
    slot or a lock, because other calls may need it.
    """
    check_cancelled()
    task = current_task()
    if task is not None:
        yield from task.wait_while_held()
