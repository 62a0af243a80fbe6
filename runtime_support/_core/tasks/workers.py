"""Workers that run calls ahead of their turn, and the waits between these calls.

    workers = current_workers()       the threads, or the workers of the running event loop
    workers.add(task)                 runs it when few enough tasks run, in the script's order
    yield from wait_until(holds)      waits in a thread or in an event loop
    notify_all()                      notifies all waiters

A waiting call does not count as running, so that another call may run.
"""

from __future__ import annotations

import heapq
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from runtime_support._core.tasks.turns import current_task
from runtime_support._core.tasks.waits import LOOK_SECONDS, Steps, Wait

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from runtime_support._core.tasks.queue import Task

IDLE_SECONDS = 0.5


class Workers(ABC):
    """Runs tasks. Holds the waiting tasks and counts the running tasks."""

    def __init__(self) -> None:
        self.waiting: list[Task] = []
        self.running: int = 0

    def add(self, task: Task) -> None:
        """Adds a task, which starts as soon as fewer tasks run than its queue permits."""
        with shared.lock:
            heapq.heappush(self.waiting, task)
            self.start()

    @abstractmethod
    def start(self) -> None:
        """Starts waiting tasks while fewer tasks run than permitted. The caller holds the lock."""

    @abstractmethod
    def run_needed(self, task: Task) -> None:
        """Runs a task that the caller needs, even if too many tasks run.

        Does nothing if the task has already started.
        """

    def next_task(self) -> Task | None:
        """Removes and returns the first task that still has to run.

        Returns None if there is no such task, or if too many tasks run.
        """
        while self.waiting:
            task = self.waiting[0]
            if task.state == "new" and not task.is_cancelled():
                if self.running >= task.queue.most:
                    return None
                return heapq.heappop(self.waiting)
            heapq.heappop(self.waiting)
        return None


class Threads(Workers):
    """Worker threads, started on demand. An idle thread ends after `IDLE_SECONDS`."""

    def __init__(self, lock: threading.RLock) -> None:
        super().__init__()
        self._idle = 0
        self._offered = threading.Condition(lock)

    def start(self) -> None:
        if not self.waiting:
            return
        room = min(len(self.waiting), self.waiting[0].queue.most - self.running)
        if room <= 0:
            return
        self._offered.notify(room)
        for _ in range(room - self._idle):
            self._idle += 1
            try:
                threading.Thread(target=self._work, name="saft ahead", daemon=True).start()
            except RuntimeError:  # no more threads: the thread that needs a task runs it
                self._idle -= 1
                return

    def run_needed(self, task: Task) -> None:
        # Runs in the calling thread, which counts as running if it does not already.
        is_outside = current_task() is None
        with shared.lock:
            if task.state != "new":
                return
            task.state = "running"
            self.running += is_outside
        try:
            task.run()
        finally:
            with shared.lock:
                self.running -= is_outside
                self.start()

    def _work(self) -> None:
        lock = shared.lock
        with lock:
            is_late = False
            while True:
                task = self.next_task()
                if task is None:
                    if is_late:
                        self._idle -= 1
                        return
                    is_late = not self._offered.wait(IDLE_SECONDS)
                    continue
                task.state = "running"
                self._idle -= 1
                self.running += 1
                lock.release()
                try:
                    task.run()
                    is_late, task = False, None
                finally:
                    lock.acquire()
                    self.running -= 1
                    self._idle += 1


class LoopTasks(Workers):
    """Runs tasks in one event loop."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        super().__init__()
        self._loop = ref(loop)

    def start(self) -> None:
        if not self.waiting:
            return
        loop = self._loop()
        if loop is running_loop():
            self._begin()
        elif loop is not None:
            with suppress(RuntimeError):  # the loop has ended, and its tasks with it
                loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        with shared.lock:
            while (task := self.next_task()) is not None:
                self.run_needed(task)

    def run_needed(self, task: Task) -> None:
        loop = self._loop()
        assert loop is not None
        with shared.lock:
            if task.state != "new":
                return
            task.state = "running"
            self.running += 1
        task.begun = loop.create_task(self._run(task), context=task.context)

    async def _run(self, task: Task) -> None:
        try:
            await task.run_async()
        finally:
            with shared.lock:
                self.running -= 1
                self.start()

    def cancel(self, task: Task) -> None:
        """Cancels the asyncio task that runs a task."""
        loop, begun = self._loop(), task.begun
        if begun is None or loop is None or begun.done():
            return
        if loop is running_loop():
            begun.cancel()
        else:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(begun.cancel)


class _Shared:
    """State of the whole process. Its lock guards this state and the states of all tasks."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        # Callbacks that wake waiters in event loops.
        self.listening: set[Callable[[], object]] = set()
        self.threads = Threads(self.lock)
        self.loops: WeakKeyDictionary[AbstractEventLoop, LoopTasks] = WeakKeyDictionary()


shared = _Shared()


def forget() -> None:
    """Resets the state after a fork, because the threads do not exist in the new process."""
    global shared
    shared = _Shared()


def running_loop() -> AbstractEventLoop | None:
    """Returns the event loop that runs in this thread, or None."""
    import sys

    # While another thread imports asyncio, the module lacks its names, and no loop runs here.
    get: Any = getattr(sys.modules.get("asyncio"), "_get_running_loop", None)
    return None if get is None else get()


def current_workers() -> Workers:
    """Returns the workers for new tasks: `LoopTasks` in a running event loop, else `Threads`."""
    loop = running_loop()
    with shared.lock:
        if loop is None:
            return shared.threads
        return shared.loops.setdefault(loop, LoopTasks(loop))


def notify_all() -> None:
    """Notifies all waiters, which check their conditions again. The caller holds the lock."""
    shared.changed.notify_all()
    for wake in tuple(shared.listening):
        wake()


def wait_until(holds: Callable[[], bool], *, counts: bool = False) -> Steps[None]:
    """Waits until `holds()` returns True.

    Meanwhile the current task counts as running only if `counts`. Calls `holds` with the lock held,
    and never again after it has returned True.
    """
    with shared.lock:
        if holds():
            return
    yield Wait(partial(_wait, holds, counts), partial(_wait_async, holds, counts))


def _wait(holds: Callable[[], bool], counts: bool) -> None:
    if running_loop() is not None:  # a wait would block the tasks that it waits for
        raise RuntimeError(
            "this has to wait for its turn, and would block the event loop: call it in the loop"
            " over `overlap.aio(...)`, or by `await in_thread(...)`"
        )
    with shared.lock, _aside(counts):
        while not holds():
            shared.changed.wait(LOOK_SECONDS)


async def _wait_async(holds: Callable[[], bool], counts: bool) -> None:
    import asyncio

    loop, woken = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        if running_loop() is loop:
            woken.set()
        else:
            with suppress(RuntimeError):  # the loop has ended, and its waiter with it
                loop.call_soon_threadsafe(woken.set)

    with _aside(counts):
        while True:
            with shared.lock:
                if holds():
                    return
                shared.listening.add(wake)
            try:
                await woken.wait()
            finally:
                with shared.lock:
                    shared.listening.discard(wake)
            woken.clear()


@contextmanager
def _aside(counts: bool) -> Generator[None]:
    """During the block, the current task does not count as running, unless `counts`."""
    task = current_task()
    if task is None or counts:
        yield
        return
    workers = task.queue.workers
    with shared.lock:
        workers.running -= 1
        workers.start()
    try:
        yield
    finally:
        with shared.lock:
            workers.running += 1
