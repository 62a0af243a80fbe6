"""Queues of calls that run ahead of their turn, and slots that limit the requests in flight.

    queue = TaskQueue(16)
    queue.begin(function, context_of_call())      runs it as soon as a worker is free
    yield from queue.take()                       returns its value, or raises its error

A task is one call. Tasks wait in queues, and a task may begin queues itself. Threads or an event
loop run the waiting tasks in the script's order. While a task waits, it does not count as running,
and a task that the caller needs starts at once. Tasks therefore wait only for earlier tasks, and
the first task waits for none: there are no deadlocks. The module `waits` has the waits of threads
and event loops.

A request holds a slot only while it is in flight.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import Context
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from runtime_support._core.hooks import Hook
from runtime_support._core.messages import ReplyStream, Request
from runtime_support._core.positions.frames import context_of_call, is_ours, run_in_thread_context
from runtime_support._core.scopes import current_scope
from runtime_support._core.tasks import workers
from runtime_support._core.tasks.clock import current_clock
from runtime_support._core.tasks.loops import finish_async
from runtime_support._core.tasks.turns import (
    Cancelled,
    check_cancelled,
    current_task,
    in_turn,
    note_wait,
)
from runtime_support._core.tasks.waits import Steps, Wait, finish
from runtime_support._core.tasks.workers import (
    LoopTasks,
    current_workers,
    notify_all,
    running_loop,
    wait_until,
)
from runtime_support._values.context import after_fork, set_context
from runtime_support.errors import RunWaiting

if TYPE_CHECKING:
    from asyncio import Task as LoopTask

    from runtime_support._core.hooks import PromptRun, SendRequest


T = TypeVar("T")


class TaskQueue:
    """Tasks in the script's order. A task gets its turn when the task before it has ended.

    At most `most` tasks run at once. `calls` is the number of all tasks, if it is known. With
    `of_tools`, the tasks are tool calls, which may have side effects. A failure therefore cancels
    no other call, no call is rerun, and calls write files without waiting for their turn.
    """

    def __init__(self, most: int, calls: int | None = None, *, of_tools: bool = False) -> None:
        self.most = most
        self.of_tools = of_tools
        self.calls = calls
        self.workers = current_workers()
        self.parent = current_task()
        self.path = (*(self.parent.path if self.parent else ()), next(_numbers))
        self.line = current_scope().next_line()
        self.tasks: deque[Task] = deque()
        self.count = 0
        self.failed: set[int] = set()
        self.dropped: list[Task] = []
        # True if a call awaits approval. The later calls run to their end, but get no turn.
        self.is_waiting = False

    def begin(self, function: Callable[[], Any], context: Context) -> None:
        """Adds a call, which runs as soon as fewer than `most` tasks run."""
        task = Task(self, self.count, function, context)
        self.count += 1
        self.tasks.append(task)
        self.workers.add(task)

    @property
    def left(self) -> int | None:
        """The number of the queue's calls that may still send requests at the same time.

        None means that the number is unknown.
        """
        if self.calls is None or self.parent is not None:
            return None
        taken = self.count - len(self.tasks)
        return self.calls - max(0, taken - 1)  # the call taken last may still run

    def take(self, begin_more: Callable[[TaskQueue], bool] | None = None) -> Steps[Any]:
        """Gives the next call its turn, and returns its value or raises its error.

        If this call awaits approval, or is a tool call that fails, its error is raised after the
        later calls of the queue have run to their end. `begin_more` begins further calls, and
        returns False after the last.
        """
        task = self.tasks.popleft()
        try:
            return (yield from task.finish())
        except BaseException as error:
            if isinstance(error, RunWaiting) or (self.of_tools and error is task.error):
                yield from self._finish_others(begin_more)
            self.give_up(task)
            raise

    def _finish_others(self, begin_more: Callable[[TaskQueue], bool] | None) -> Steps[None]:
        """Lets the later calls run to their end after a call has stopped the queue.

        Stops at the first call that fails, unless the calls are tool calls. A call that needs its
        turn is cancelled.
        """
        asking = current_task()
        with workers.shared.lock:
            self.is_waiting = True
            notify_all()
        while self.tasks if begin_more is None else begin_more(self):
            task = self.tasks.popleft()
            self.dropped.append(task)
            yield from wait_until(lambda task=task: task.state == "done" or _is_cancelled(asking))
            is_failure = not isinstance(task.error, RunWaiting | Cancelled | None)
            if _is_cancelled(asking) or (is_failure and not self.of_tools):
                return

    def give_up(self, *tasks: Task) -> None:
        """Cancels the given tasks, and all tasks that are still in the queue."""
        with workers.shared.lock:
            self.dropped += [*tasks, *self.tasks]
            self.tasks.clear()
            for task in self.dropped:
                task.drop()
            notify_all()

    async def ended(self) -> None:
        """Waits in an event loop until all cancelled tasks have ended."""
        import asyncio

        begun = [one.begun for one in self.dropped if one.begun is not None]
        if begun:
            await asyncio.wait(begun)


class Task:
    """One call, which may run ahead of its turn.

    Its `state` is "new", then "running", then "done".
    """

    def __init__(
        self, queue: TaskQueue, number: int, function: Callable[[], Any], context: Context
    ) -> None:
        self.queue = queue
        self.number = number
        self.function = function
        self.context = context
        self.parent = queue.parent
        self.path = (*queue.path, number)
        self.state = "new"
        self.value: Any = None
        self.error: BaseException | None = None
        self.waiting_actions: list[Callable[[], Any]] = []
        self.reads: set[tuple[str, bool]] = set()
        self.has_turn = False
        self.is_stale = False
        self.is_dropped = False
        # The asyncio task that runs the call, and the task that reruns the call.
        self.begun: LoopTask[None] | None = None
        self.anew: Task | None = None

    def __lt__(self, other: Task) -> bool:
        return self.path < other.path

    # Called from inside the running call.

    def put_off(self, action: Callable[[], Any]) -> None:
        """Runs an action at this task's turn. If the task has its turn already, runs it at once."""
        with workers.shared.lock:
            check_cancelled()
            ahead = next((task for task in self._chain() if not task.has_turn), None)
            if ahead is not None:
                ahead.waiting_actions.append(action)
                return
        action()

    def wait_for_turn(self) -> Steps[None]:
        """Waits until everything before this task has ended.

        Raises Cancelled if the task is cancelled, or if its turn cannot come in this run.
        """
        yield from wait_until(
            lambda: self.is_cancelled() or self._has_all_turns() or self._waits_for_nothing()
        )
        if self.is_cancelled() or not self._has_all_turns():
            raise Cancelled
        yield from self.wait_while_held()

    def wait_while_held(self) -> Steps[None]:
        """Waits as long as a failed earlier call may still be rerun.

        Raises Cancelled if this task is cancelled.
        """
        yield from wait_until(lambda: self.is_cancelled() or not self.is_held())
        if self.is_cancelled():
            raise Cancelled

    def exchange(self, prompt: PromptRun, send: Callable[[], ReplyStream]) -> ReplyStream:
        """Waits for a slot, sends the request and returns the reply."""
        began = time.monotonic()
        prompt.ahead = self.queue.left
        if prompt.answers_in_order:
            yield from self.wait_for_turn()
        yield from self.wait_while_held()
        with current_clock():
            while not (yield from _slots.take(self)):
                yield from self.wait_while_held()
        note_wait(time.monotonic() - began)
        try:
            return (yield from send())
        finally:
            _slots.give_back()

    # Running, ending and rerunning the call.

    def run(self) -> None:
        """Makes the call in this thread."""
        try:
            value, error = self.context.run(self._call), None
        except BaseException as raised:
            value, error = None, raised
        self.end(value, error)

    async def run_async(self) -> None:
        """Makes the call in an asyncio task that already has the task's context."""
        try:
            value, error = await self._call(), None
        except BaseException as raised:
            value, error = None, raised
        self.end(value, error)

    def _call(self) -> Any:
        set_context(task=self, scope=self.queue.line.call(self.number))
        return run_in_thread_context(self.function)

    def end(self, value: Any, error: BaseException | None) -> None:
        """Records the call's value or error, so that `finish` can return or raise it."""
        if error is not None:
            error = error.with_traceback(_own_part(error.__traceback__))
        if isinstance(error, StopIteration | StopAsyncIteration):  # it would end the loop
            stopped, error = error, RuntimeError(f"a function raised {type(error).__name__}")
            error.__cause__ = stopped
        with workers.shared.lock:
            self.value, self.error = value, error
            self.state = "done"
            is_failure = error is not None and not isinstance(error, RunWaiting)
            ends_others = is_failure and not self.queue.of_tools
            if ends_others and not self.is_cancelled() and not self._waits_for_nothing():
                self.queue.failed.add(self.number)
            notify_all()

    def finish(self) -> Steps[Any]:
        """Gives the task its turn, and returns its value or raises its error.

        If the task is stale because a file that it read was written afterwards, it is rerun first.
        """
        task = self
        with workers.shared.lock:
            if self.is_stale:
                task = self.rerun()
        task._give_turn()
        self.queue.workers.run_needed(task)
        asking = current_task()
        yield from wait_until(
            lambda: task.state == "done" or (asking is not None and asking.is_cancelled())
        )
        if task.state != "done":
            raise Cancelled
        if task.error is not None:
            raise task.error
        return task.value

    def _give_turn(self) -> None:
        while True:
            with workers.shared.lock:
                actions, self.waiting_actions = self.waiting_actions, []
                if not actions:
                    self.has_turn = True
                    notify_all()
                    return
            for action in actions:
                in_turn(action)

    def rerun(self) -> Task:
        """Cancels this stale task, and returns a new task that makes the call again."""
        self.drop()
        self.queue.failed.discard(self.number)
        notify_all()
        self.anew = Task(self.queue, self.number, self.function, context_of_call())
        return self.anew

    def drop(self) -> None:
        """Cancels the task. In an event loop, also cancels its asyncio task."""
        self.is_dropped = True
        if isinstance(self.queue.workers, LoopTasks):
            self.queue.workers.cancel(self)
        if self.anew is not None:
            self.anew.drop()

    def _chain(self) -> Iterator[Task]:
        task: Task | None = self
        while task is not None:
            yield task
            task = task.parent

    def _has_all_turns(self) -> bool:
        return all(task.has_turn for task in self._chain())

    def _waits_for_nothing(self) -> bool:
        """Whether the turn cannot come in this run because an earlier call awaits approval."""
        return any(task.queue.is_waiting and not task.has_turn for task in self._chain())

    def is_cancelled(self) -> bool:
        """Whether the task, or a task that contains it, was dropped or will be rerun."""
        return any(task.is_dropped or task.is_stale for task in self._chain())

    def is_held(self) -> bool:
        """Whether the task may send no request: it is cancelled, or an earlier call has failed."""
        return self.is_cancelled() or any(
            failed < task.number for task in self._chain() for failed in tuple(task.queue.failed)
        )


def _is_cancelled(asking: Task | None) -> bool:
    return asking is not None and asking.is_cancelled()


def _own_part(trace: TracebackType | None) -> TracebackType | None:
    """Removes the leading frames that belong to this package, and returns the traceback."""
    own = trace
    while own is not None and is_ours(own.tb_frame.f_code.co_filename):
        own = own.tb_next
    return trace if own is None else own


_numbers = itertools.count()


class _Slots:
    """Limits the requests in flight in the whole process."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.waiting: list[Task] = []

    def take(self, task: Task) -> Steps[bool]:
        """Waits until the task gets a slot. Returns False if the task gets none because it is held.

        Tasks get slots in the script's order. `Task.is_held` says whether a task is held.
        """
        has_slot = False

        def is_over() -> bool:
            nonlocal has_slot
            if task.is_held():
                return True
            if self.in_flight < task.queue.most and min(self.waiting) is task:
                self.in_flight += 1
                has_slot = True
            return has_slot

        with workers.shared.lock:
            self.waiting.append(task)
        try:
            yield from wait_until(is_over, counts=True)
            return has_slot
        finally:
            with workers.shared.lock:
                self.waiting.remove(task)
                if self.waiting:
                    notify_all()

    def give_back(self) -> None:
        """Frees the slot of an ended request."""
        with workers.shared.lock:
            self.in_flight -= 1
            if self.waiting:
                notify_all()


_slots = _Slots()


class RequestSlot(Hook):
    """Delays requests until a slot is free, if their calls run ahead of their turn.

    A streamed request takes no slot, because its call already has its turn.
    """

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Waits for a slot if need be, sends the request and returns the reply."""
        task = current_task()
        if request.pieces is not None or task is None:
            return proceed(request)
        return task.exchange(self._prompt, partial(proceed, request))


def hook_for(prompt: PromptRun) -> RequestSlot:
    """Returns the hook that makes a prompt's requests wait for slots."""
    return RequestSlot(prompt)


def run_in_parallel(
    works: Sequence[Steps[T]], most: int, take: Callable[[T], Steps[None]]
) -> Steps[None]:
    """Runs `works` concurrently, and passes their results in order to `take`.

    If one of the works fails, raises its error when all works have ended. In a thread that runs an
    event loop, a wait would block the loop: there the works run one after another.
    """
    is_awaited = yield Wait(_is_awaited_here, _is_awaited)
    if not is_awaited and running_loop() is not None:
        for work in works:
            yield from take((yield from work))
        return
    queue = TaskQueue(most, of_tools=True)
    for work in works:
        queue.begin(partial(finish_async if is_awaited else finish, work), context_of_call())
    try:
        while queue.tasks:
            yield from take((yield from queue.take()))
    except GeneratorExit:
        raise  # the caller is gone
    except BaseException:
        queue.give_up()  # the reader left between two results: cancel the others
        yield Wait(_is_awaited_here, queue.ended)
        raise


def _is_awaited_here() -> bool:
    return False


async def _is_awaited() -> bool:
    return True


def _forget() -> None:
    """Resets the state after a fork, because no task runs in the new process."""
    global _slots
    _slots = _Slots()
    workers.forget()


after_fork(_forget)
