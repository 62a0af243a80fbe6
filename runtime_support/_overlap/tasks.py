"""Calls that run ahead of their turn, the threads that run them, and the slots of requests.

    queue = TaskQueue(16)
    queue.begin(function, context_of_call())      as soon as there is room
    queue.take()                                  what the first one gives or raises, at its turn

Calls are tasks, tasks wait in queues, and a task may have queues itself. Threads take waiting
tasks, the first in the order of the script first. A thread that waits is not counted, so that
another one may run; and a thread that needs a task which has not begun runs it itself. So only
the earlier is ever waited for, and the first of all waits for nobody: there are no deadlocks.

A request takes a slot for as long as it is in flight, and for nothing else.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import Context
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from runtime_support import _order as turns
from runtime_support._effects import Effect, finish
from runtime_support._exchange import Heard, Reply, Replying, Request
from runtime_support._order import Cancelled, clock_here, current, in_turn, note_wait
from runtime_support._positions import call_from_afar, context_of_call, is_ours
from runtime_support._process import after_fork
from runtime_support._seams import Around, register
from runtime_support.runs._places import Scope, enter, scope_here

if TYPE_CHECKING:
    from runtime_support._seams import Send
    from runtime_support.providers import PromptCall

IDLE_SECONDS = 0.5
# No wait is longer than this: on Windows, Ctrl-C is noticed between waits alone.
_LOOK_SECONDS = 0.5


class TaskQueue:
    """Tasks in the order of the script; each gets its turn when the one before has ended."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.parent = current.get()
        self.path = (*(self.parent.path if self.parent else ()), next(_numbers))
        self.scope = scope_here().next_line()
        self.tasks: deque[Task] = deque()
        self.count = 0
        self.failed: set[int] = set()

    def begin(self, function: Callable[[], Any], context: Context) -> None:
        """Runs a call as soon as there is room."""
        task = Task(self, self.count, function, context)
        self.count += 1
        self.tasks.append(task)
        with _lock:
            heapq.heappush(_pool.waiting, task)
            _start_workers()

    def take(self) -> Any:
        """What the next call gives or raises, at its turn."""
        task = self.tasks.popleft()
        try:
            return task.finish()
        except BaseException:
            self.give_up()
            raise

    def give_up(self) -> None:
        """Nothing further is wanted."""
        with _lock:
            for task in self.tasks:
                task.is_dropped = True
            self.tasks.clear()
            _changed.notify_all()


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

    def __lt__(self, other: Task) -> bool:
        return self.path < other.path

    # What the call itself asks for, in its thread.

    def put_off(self, action: Callable[[], Any]) -> None:
        """Does it now, or when it is this task's turn."""
        with _lock:
            self.check_cancelled()
            ahead = next((task for task in self._chain() if not task.has_turn), None)
            if ahead is not None:
                ahead.waiting_actions.append(action)
                return
        action()

    def await_turn(self) -> None:
        """Waits until everything before this has ended."""
        with _lock:
            _wait(lambda: self.is_cancelled() or all(task.has_turn for task in self._chain()))
            self.check_cancelled()

    def check_cancelled(self) -> None:
        """Ends the task if it is cancelled; if something before it has failed, it waits for that.

        What has failed may have read a file too early, and then runs again.
        """
        with _lock:
            _wait(lambda: self.is_cancelled() or not self.is_held())
            if self.is_cancelled():
                raise Cancelled

    def exchange(self, call: PromptCall, send: Callable[[], Reply]) -> Reply:
        """The reply, as soon as there is a slot for the request."""
        began = time.monotonic()
        if call.answers_in_order:
            self.await_turn()
        self.check_cancelled()
        with clock_here():
            while not _slots.take(self):
                self.check_cancelled()
        note_wait(time.monotonic() - began)
        try:
            return send()
        finally:
            _slots.give_back()

    # What becomes of it.

    def run(self) -> None:
        """Makes the call here, in the thread that has started it."""
        value: Any = None
        error: BaseException | None = None
        try:
            value = self.context.run(self._call)
        except BaseException as raised:
            error = raised.with_traceback(_own_part(raised.__traceback__))
        with _lock:
            self.value, self.error = value, error
            self.state = "done"
            if error is not None and not self.is_cancelled():
                self.queue.failed.add(self.number)
            _changed.notify_all()

    def finish(self) -> Any:
        """Gives the task its turn: what it gives, or its error."""
        task = self
        with _lock:
            if self.is_stale:
                task = self.make_anew()
            is_mine = task.state == "new"
            if is_mine:
                task.state = "running"
        task._give_turn()
        if is_mine:
            _run_here(task)
        asking = current.get()
        with _lock:
            _wait(lambda: task.state == "done" or (asking is not None and asking.is_cancelled()))
        if task.state != "done":
            raise Cancelled
        if task.error is not None:
            raise task.error
        return task.value

    def _call(self) -> Any:
        current.set(self)
        enter(Scope(f"{self.queue.scope}.{self.number}"))
        return call_from_afar(self.function)

    def _give_turn(self) -> None:
        while True:
            with _lock:
                actions, self.waiting_actions = self.waiting_actions, []
                if not actions:
                    self.has_turn = True
                    _changed.notify_all()
                    return
            for action in actions:
                in_turn(action)

    def make_anew(self) -> Task:
        """The same call, to be made again: it has read what was written since."""
        self.is_dropped = True
        self.queue.failed.discard(self.number)
        _changed.notify_all()
        return Task(self.queue, self.number, self.function, context_of_call())

    def _chain(self) -> Iterator[Task]:
        task: Task | None = self
        while task is not None:
            yield task
            task = task.parent

    def is_cancelled(self) -> bool:
        """Whether what it gives is dropped in any case."""
        return any(task.is_dropped or task.is_stale for task in self._chain())

    def is_held(self) -> bool:
        """Whether it is not to ask for anything, at least for now."""
        return self.is_cancelled() or any(
            failed < task.number for task in self._chain() for failed in tuple(task.queue.failed)
        )


def _own_part(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the function on, without the frames that made the call."""
    own = trace
    while own is not None and is_ours(own.tb_frame.f_code.co_filename):
        own = own.tb_next
    return trace if own is None else own


# Threads. The lock guards the states of all tasks and all that is counted here.


class _WorkerPool:
    """Threads that run tasks: what waits for them, and how many run or look for one."""

    def __init__(self) -> None:
        self.waiting: list[Task] = []
        self.running = 0
        self.idle = 0


_numbers = itertools.count()
_pool = _WorkerPool()
_lock = threading.RLock()
_changed = threading.Condition(_lock)
_offered = threading.Condition(_lock)


def _start_workers() -> None:
    """Starts threads that look for tasks, as far as there is room."""
    if not _pool.waiting:
        return
    room = min(len(_pool.waiting), _pool.waiting[0].queue.most - _pool.running)
    if room <= 0:
        return
    _offered.notify(room)
    for _ in range(room - _pool.idle):
        _pool.idle += 1
        try:
            threading.Thread(target=_work, name="saft ahead", daemon=True).start()
        except RuntimeError:  # no more threads: who needs a task runs it
            _pool.idle -= 1
            return


def _work() -> None:
    with _lock:
        is_late = False
        while True:
            task = _next_task()
            if task is None:
                if is_late:
                    _pool.idle -= 1
                    return
                is_late = not _offered.wait(IDLE_SECONDS)
                continue
            task.state = "running"
            _pool.idle -= 1
            _pool.running += 1
            _lock.release()
            try:
                task.run()
                is_late, task = False, None
            finally:
                _lock.acquire()
                _pool.running -= 1
                _pool.idle += 1


def _next_task() -> Task | None:
    while _pool.waiting:
        task = _pool.waiting[0]
        if task.state == "new" and not task.is_cancelled():
            if _pool.running >= task.queue.most:
                return None
            return heapq.heappop(_pool.waiting)
        heapq.heappop(_pool.waiting)
    return None


def _run_here(task: Task) -> None:
    """Runs a task in the thread that needs it, which counts if it does not already."""
    is_outside = current.get() is None
    with _lock:
        _pool.running += is_outside
    try:
        task.run()
    finally:
        with _lock:
            _pool.running -= is_outside
            _start_workers()


def _wait(holds: Callable[[], bool]) -> None:
    """Effects, with the lock held, until something holds; another thread may run meanwhile."""
    if holds():
        return
    is_counted = current.get() is not None
    _pool.running -= is_counted
    _start_workers()
    try:
        while not holds():
            _changed.wait(_LOOK_SECONDS)
    finally:
        _pool.running += is_counted


class _Slots:
    """Bounds the requests in flight."""

    def __init__(self) -> None:
        self.freed = threading.Condition(threading.Lock())
        self.in_flight = 0
        self.waiting: list[Task] = []

    def take(self, task: Task) -> bool:
        """Waits for a slot, in the order of the script; False when the task is not to ask."""
        with self.freed:
            self.waiting.append(task)
            try:
                while not self._is_free_for(task):
                    self.freed.wait(_LOOK_SECONDS)
                if task.is_held():
                    return False
                self.in_flight += 1
                return True
            finally:
                self.waiting.remove(task)
                self.freed.notify_all()

    def give_back(self) -> None:
        """Frees the slot of a request that is over."""
        with self.freed:
            self.in_flight -= 1
            self.freed.notify_all()

    def _is_free_for(self, task: Task) -> bool:
        is_next = self.in_flight < task.queue.most and min(self.waiting) is task
        return is_next or task.is_held()


_slots = _Slots()


class RequestSlot(Around):
    """Makes the requests of a call that runs ahead wait for a slot.

    One that is streamed has its turn, and takes no slot.
    """

    order = 30

    def __init__(self, call: PromptCall) -> None:
        self._call = call

    @classmethod
    def of(cls, call: PromptCall) -> RequestSlot:
        return cls(call)

    def exchange(self, request: Request, heard: Heard, send: Send) -> Replying:
        task = current.get()
        if heard is not None or task is None:
            return send(request, heard)
        return self._exchange(task, request, send)

    def _exchange(self, task: Task, request: Request, send: Send) -> Replying:
        ask = partial(task.exchange, self._call, lambda: finish(send(request, None)))
        return (yield Effect(ask))


register(RequestSlot)


def _forget() -> None:
    """A forked process has none of the threads, and may find the locks taken."""
    global _pool, _lock, _changed, _offered, _slots
    _pool, _lock, _slots = _WorkerPool(), threading.RLock(), _Slots()
    _changed, _offered = threading.Condition(_lock), threading.Condition(_lock)
    turns.forget()


after_fork(_forget)
