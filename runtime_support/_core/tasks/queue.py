"""Calls that run ahead of their turn, and the slots of requests.

    queue = TaskQueue(16)
    queue.begin(function, context_of_call())      as soon as there is room
    yield from queue.take()                       what the first gives or raises, at its turn

Calls are tasks, tasks wait in queues, and a task may have queues itself. Threads, or the tasks of
an event loop, run waiting ones, the first in the order of the script first. What waits is not
counted, so that another one may run; and whoever needs a task that has not started has it run at
once. So only the earlier is ever waited for, and the first of all waits for nobody: there are no
deadlocks. What waits is work of `effects`, the same for threads and loops.

A request takes a slot for as long as it is in flight, and for nothing else.
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
from runtime_support._core.messages import Replying, Request
from runtime_support._core.positions.frames import call_from_afar, context_of_call, is_ours
from runtime_support._core.scopes import scope_here
from runtime_support._core.tasks import turns, workers
from runtime_support._core.tasks.effects import Effect, Effects, finish, finish_async
from runtime_support._core.tasks.turns import (
    Cancelled,
    check_cancelled,
    clock_here,
    in_turn,
    note_wait,
    task_here,
)
from runtime_support._core.tasks.workers import LoopTasks, running_loop, tell, until, workers_here
from runtime_support._values.context import after_fork, change_here
from runtime_support.errors import RunWaiting

if TYPE_CHECKING:
    from asyncio import Task as LoopTask

    from runtime_support._core.hooks import PromptRun, SendRequest


T = TypeVar("T")


class TaskQueue:
    """Tasks in the order of the script; each gets its turn when the one before has ended.

    `calls` is how many there will be, where that is known. Those `of_tools` may have effects: one
    that fails ends no other, none is made anew, and files they write at once.
    """

    def __init__(self, most: int, calls: int | None = None, *, of_tools: bool = False) -> None:
        self.most = most
        self.of_tools = of_tools
        self.calls = calls
        self.workers = workers_here()
        self.parent = task_here()
        self.path = (*(self.parent.path if self.parent else ()), next(_numbers))
        self.line = scope_here().next_line()
        self.tasks: deque[Task] = deque()
        self.count = 0
        self.failed: set[int] = set()
        self.dropped: list[Task] = []
        # Something in it waits for approval: the others come to their end, but none has its turn.
        self.is_waiting = False

    def begin(self, function: Callable[[], Any], context: Context) -> None:
        """Runs a call as soon as there is room."""
        task = Task(self, self.count, function, context)
        self.count += 1
        self.tasks.append(task)
        self.workers.add(task)

    @property
    def left(self) -> int | None:
        """How many calls may ask beside each other from now on, where that is known."""
        if self.calls is None or self.parent is not None:
            return None
        taken = self.count - len(self.tasks)
        return self.calls - max(0, taken - 1)  # the last one that was taken may go on

    def take(self, begin_more: Callable[[TaskQueue], bool] | None = None) -> Effects[Any]:
        """What the next call gives or raises, at its turn.

        Where it waits for approval, what is behind it is brought to its end, with all that
        `begin_more` begins.
        """
        task = self.tasks.popleft()
        try:
            return (yield from task.finish())
        except BaseException as error:
            if isinstance(error, RunWaiting) or (self.of_tools and error is task.error):
                yield from self._finish_others(begin_more)
            self.give_up(task)
            raise

    def _finish_others(self, begin_more: Callable[[TaskQueue], bool] | None) -> Effects[None]:
        """Brings what is behind a call that waits for approval to its end, until one fails; what
        needs its turn is cancelled.
        """
        asking = task_here()
        with workers.shared.lock:
            self.is_waiting = True
            tell()
        while self.tasks if begin_more is None else begin_more(self):
            task = self.tasks.popleft()
            self.dropped.append(task)
            yield from until(lambda task=task: task.state == "done" or _is_cancelled(asking))
            is_failure = not isinstance(task.error, RunWaiting | Cancelled | None)
            if _is_cancelled(asking) or (is_failure and not self.of_tools):
                return

    def give_up(self, *tasks: Task) -> None:
        """Nothing further is wanted, nor what these tasks give."""
        with workers.shared.lock:
            self.dropped += [*tasks, *self.tasks]
            self.tasks.clear()
            for task in self.dropped:
                task.drop()
            tell()

    async def ended(self) -> None:
        """Waits, in an event loop, until all that is not wanted has ended."""
        import asyncio

        begun = [one.begun for one in self.dropped if one.begun is not None]
        if begun:
            await asyncio.wait(begun)


class Task:
    """One call, which may run ahead of its turn: first "new", then "running", then "done"."""

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
        # The task of the event loop that it runs in, and the one that is made in its place.
        self.begun: LoopTask[None] | None = None
        self.anew: Task | None = None

    def __lt__(self, other: Task) -> bool:
        return self.path < other.path

    # What the call itself asks for, where it runs.

    def put_off(self, action: Callable[[], Any]) -> None:
        """Does it now, or when it is this task's turn."""
        with workers.shared.lock:
            check_cancelled()
            ahead = next((task for task in self._chain() if not task.has_turn), None)
            if ahead is not None:
                ahead.waiting_actions.append(action)
                return
        action()

    def wait_for_turn(self) -> Effects[None]:
        """Waits until everything before this has ended."""
        yield from until(
            lambda: self.is_cancelled() or self._has_all_turns() or self._waits_in_vain()
        )
        if self.is_cancelled() or not self._has_all_turns():
            raise Cancelled
        yield from self.wait_while_held()

    def wait_while_held(self) -> Effects[None]:
        """Waits until no call before it has failed that may be made again; raises Cancelled."""
        yield from until(lambda: self.is_cancelled() or not self.is_held())
        if self.is_cancelled():
            raise Cancelled

    def exchange(self, prompt: PromptRun, send: Callable[[], Replying]) -> Replying:
        """The reply, as soon as there is a slot for the request."""
        began = time.monotonic()
        prompt.ahead = self.queue.left
        if prompt.answers_in_order:
            yield from self.wait_for_turn()
        yield from self.wait_while_held()
        with clock_here():
            while not (yield from _slots.take(self)):
                yield from self.wait_while_held()
        note_wait(time.monotonic() - began)
        try:
            return (yield from send())
        finally:
            _slots.give_back()

    # What becomes of it.

    def run(self) -> None:
        """Makes the call here, in the thread that has started it."""
        try:
            value, error = self.context.run(self._call), None
        except BaseException as raised:
            value, error = None, raised
        self.end(value, error)

    async def run_async(self) -> None:
        """Makes the call in a task of an event loop, which has the context."""
        try:
            value, error = await self._call(), None
        except BaseException as raised:
            value, error = None, raised
        self.end(value, error)

    def _call(self) -> Any:
        change_here(task=self, scope=self.queue.line.call(self.number))
        return call_from_afar(self.function)

    def end(self, value: Any, error: BaseException | None) -> None:
        """Keeps what came of the call, for its turn."""
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
            if ends_others and not self.is_cancelled() and not self._waits_in_vain():
                self.queue.failed.add(self.number)
            tell()

    def finish(self) -> Effects[Any]:
        """Gives the task its turn: what it gives, or its error."""
        task = self
        with workers.shared.lock:
            if self.is_stale:
                task = self.make_anew()
        task._give_turn()
        self.queue.workers.run_needed(task)
        asking = task_here()
        yield from until(
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
                    tell()
                    return
            for action in actions:
                in_turn(action)

    def make_anew(self) -> Task:
        """The same call, to be made again: it has read what was written since."""
        self.drop()
        self.queue.failed.discard(self.number)
        tell()
        self.anew = Task(self.queue, self.number, self.function, context_of_call())
        return self.anew

    def drop(self) -> None:
        """What it gives is not wanted; what it waits for in an event loop ends."""
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

    def _waits_in_vain(self) -> bool:
        """Whether its turn does not come in this run, as something before it waits for approval."""
        return any(task.queue.is_waiting and not task.has_turn for task in self._chain())

    def is_cancelled(self) -> bool:
        """Whether what it gives is dropped in any case."""
        return any(task.is_dropped or task.is_stale for task in self._chain())

    def is_held(self) -> bool:
        """Whether it is not to ask for anything, at least for now."""
        return self.is_cancelled() or any(
            failed < task.number for task in self._chain() for failed in tuple(task.queue.failed)
        )


def _is_cancelled(asking: Task | None) -> bool:
    return asking is not None and asking.is_cancelled()


def _own_part(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the function on, without the frames that made the call."""
    own = trace
    while own is not None and is_ours(own.tb_frame.f_code.co_filename):
        own = own.tb_next
    return trace if own is None else own


_numbers = itertools.count()


class _Slots:
    """Bounds the requests in flight."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.waiting: list[Task] = []

    def take(self, task: Task) -> Effects[bool]:
        """Waits for a slot, in the order of the script; False when the task is not to ask."""
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
            yield from until(is_over, counts=True)
            return has_slot
        finally:
            with workers.shared.lock:
                self.waiting.remove(task)
                if self.waiting:
                    tell()

    def give_back(self) -> None:
        """Frees the slot of a request that is over."""
        with workers.shared.lock:
            self.in_flight -= 1
            if self.waiting:
                tell()


_slots = _Slots()


class RequestSlot(Hook):
    """Makes the requests of a call that runs ahead wait for a slot.

    One that is streamed has its turn, and takes no slot.
    """

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt

    def request(self, request: Request, proceed: SendRequest) -> Replying:
        """The reply, as soon as there is a slot for the request."""
        task = task_here()
        if request.pieces is not None or task is None:
            return proceed(request)
        return task.exchange(self._prompt, partial(proceed, request))


def hook_for(prompt: PromptRun) -> RequestSlot:
    """What makes the requests of a prompt wait for a slot, where it runs ahead."""
    return RequestSlot(prompt)


def run_beside(
    works: Sequence[Effects[T]], most: int, take: Callable[[T], Effects[None]]
) -> Effects[None]:
    """Does works at the same time; `take` is given what they come to, in their order, until one
    fails.

    That failure is raised when all have ended. In a thread that an event loop needs, who waits here
    would stop them: there it is one after the other.
    """
    is_awaited = yield Effect(_is_awaited_here, _is_awaited)
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
        raise  # nobody waits any more
    except BaseException:
        queue.give_up()  # a reader who leaves between two results wants none of the others
        yield Effect(_is_awaited_here, queue.ended)
        raise


def _is_awaited_here() -> bool:
    return False


async def _is_awaited() -> bool:
    return True


def _forget() -> None:
    """A forked process has none of what runs, and may find the locks taken."""
    global _slots
    _slots = _Slots()
    workers.forget()
    turns.forget()


after_fork(_forget)
