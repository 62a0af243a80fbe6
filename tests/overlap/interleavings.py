"""Small cases in all their interleavings: a scheduler decides which request is answered next.

Each run is told what to choose at each step; `all_runs` goes through all choices. Between two steps
everything runs as far as it can, in threads or in an event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from runtime_support import Reply, Request, configure, overlap, prompt
from runtime_support._core.messages import ReceivedChunks, ReplyStream, StreamingProvider
from runtime_support._core.positions.frames import context_of_call
from runtime_support._core.tasks import workers
from runtime_support._core.tasks.waits import Wait
from runtime_support._overlap import print as print_in_turn
from runtime_support.errors import ProviderError

ITEMS = 3
EFFECTS = 2
# What hangs is told before the whole run of the tests is ended.
_SECONDS = 300
# Of the event loop, until nothing more happens by itself.
_ROUNDS = 30


@dataclass
class Case:
    """What is to happen: `failing` is a request that fails, `refused` an item at which the head of
    the loop fails, `leaves` the item after which the consumer leaves the loop, `cancels` the step
    at which it is cancelled.
    """

    width: int
    failing: tuple[int, int] | None = None
    leaves: int | None = None
    cancels: int | None = None
    refused: int | None = None

    def items(self) -> Iterator[int]:
        """What the loop goes over, one after the other."""
        for item in range(ITEMS):
            if item == self.refused:
                raise ValueError(f"refused: {item}")
            yield item


@dataclass
class Seen:
    """What came of a run; `options` are the numbers of choices that there were at each step."""

    output: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])
    error: BaseException | None = None
    options: list[int] = field(default_factory=list[int])
    most: int = 0
    # How many requests were begun when the consumer was cancelled or had left, and behind a failure
    # when that was there.
    at_end: int | None = None
    behind: int | None = None
    left_over: int = 0


def in_order(case: Case) -> tuple[list[str], list[str]]:
    """What a run prints and asks that does one thing after the other."""
    output: list[str] = []
    asked: list[str] = []
    for item in range(ITEMS if case.refused is None else case.refused):
        for effect in range(EFFECTS):
            asked.append(f"{item}.{effect}")
            if (item, effect) == case.failing:
                return output, asked
            output.append(f"did {item}.{effect}")
        output.append(f"got {item}")
        if item == case.leaves:
            break
    return output, asked


def raised_at_once(ahead: Any, queue: Any) -> bool:
    """`look_ahead` of a runtime that does not keep what the items raise for its turn."""
    for item in ahead.items:
        queue.begin(partial(ahead.function, item), context_of_call())
    return bool(queue.tasks)


def all_runs(run: Callable[[list[int]], Seen]) -> Iterator[Seen]:
    """What comes of each way to choose."""
    chosen: list[int] = []
    while True:
        seen = run(chosen)
        yield seen
        chosen = [*chosen, *[0] * (len(seen.options) - len(chosen))]
        while chosen and chosen[-1] + 1 >= seen.options[len(chosen) - 1]:
            chosen.pop()
        if not chosen:
            return
        chosen[-1] += 1


class _Held(StreamingProvider):
    """Answers each request when the scheduler says so."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.lock = threading.Lock()
        self.pending: dict[str, Callable[[], object]] = {}
        # The thread that each request was begun in.
        self.threads: dict[str, int] = {}

    def stream_reply(self, request: Request, chunks: ReceivedChunks) -> ReplyStream:
        text = str(request.messages[-1]["content"])
        yield Wait(partial(self._hold, text), partial(self._hold_async, text))
        return Reply(text)

    def _begin(self, text: str, answer: Callable[[], object]) -> None:
        with self.lock:
            self.seen.asked.append(text)
            self.pending[text] = answer
            self.threads[text] = threading.get_ident()
            self.seen.most = max(self.seen.most, len(self.pending))

    def _hold(self, text: str) -> None:
        answered = threading.Event()
        self._begin(text, answered.set)
        assert answered.wait(_SECONDS)
        self._fail(text)

    async def _hold_async(self, text: str) -> None:
        answered = asyncio.Event()
        self._begin(text, answered.set)
        try:
            await answered.wait()
        finally:
            self.pending.pop(text, None)
        self._fail(text)

    def _fail(self, text: str) -> None:
        if text in self.failing:
            raise ProviderError(f"failed: {text}")

    failing: frozenset[str] = frozenset()


class _Scheduler:
    """Answers requests as chosen, or the first that there is; all steps are noted."""

    def __init__(self, case: Case, chosen: list[int], seen: Seen, model: _Held) -> None:
        self.case, self.chosen, self.seen, self.model = case, chosen, seen, model
        if case.failing is not None:
            model.failing = frozenset({"{}.{}".format(*case.failing)})

    def step(self) -> bool:
        """Answers one request; False when there is none."""
        with self.model.lock:
            waiting = sorted(self.model.pending)
            if not waiting:
                return False
            step = len(self.seen.options)
            self.seen.options.append(len(waiting))
            text = waiting[self.chosen[step] if step < len(self.chosen) else 0]
            answer = self.model.pending.pop(text)
            if text in self.model.failing:
                self.seen.behind = self._behind(text)
        answer()
        return True

    def _behind(self, text: str) -> int:
        return sum(one.split(".")[0] > text.split(".")[0] for one in self.seen.asked)


class _Watched(threading.Condition):
    """Knows who waits, and has not been told of any change since; its lock is held for that."""

    def __init__(self, lock: threading.RLock) -> None:
        super().__init__(lock)
        self.waiting = 0
        self.resting: set[int] = set()

    def wait(self, timeout: float | None = None) -> bool:
        self.waiting += 1
        self.resting.add(threading.get_ident())
        try:
            return super().wait(timeout)
        finally:
            self.resting.discard(threading.get_ident())
            self.waiting -= 1

    def notify_all(self) -> None:
        self.resting.clear()
        super().notify_all()


def run_in_threads(case: Case, chosen: list[int]) -> Seen:
    """The case with calls in threads."""
    seen = Seen()
    model = _Held(seen)
    scheduler = _Scheduler(case, chosen, seen, model)
    printed = io.StringIO()

    def work(item: int) -> int:
        for effect in range(EFFECTS):
            prompt("{what:raw}", what=f"{item}.{effect}")
            print_in_turn(f"did {item}.{effect}")
        return item

    def consume() -> None:
        try:
            for item in overlap(work, case.items()):
                print_in_turn(f"got {item}")
                if item == case.leaves:
                    seen.at_end = len(seen.asked)
                    break
        except BaseException as error:
            seen.error = error

    changed = _Watched(workers.shared.lock)
    with (
        contextlib.redirect_stdout(printed),
        configure(provider=model, max_in_flight=case.width),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(workers.shared, "changed", changed)
        consumer = threading.Thread(target=copy_context().run, args=(consume,), daemon=True)
        consumer.start()
        while True:
            _settle(consumer, model, changed, case.width)
            if not scheduler.step():
                break
        consumer.join(_SECONDS)
        assert not consumer.is_alive()
    seen.output = printed.getvalue().splitlines()
    seen.left_over = len(model.pending)
    return seen


def _settle(
    consumer: threading.Thread, model: _Held, changed: _Watched, width: int
) -> None:
    """Waits until nothing happens any more before a request is answered."""
    until = time.monotonic() + _SECONDS
    tries = 0
    while not _is_at_rest(consumer, model, changed, width):
        assert time.monotonic() < until, "it does not come to rest"
        tries += 1
        # On a busy machine, the others would hardly get the lock between two looks.
        time.sleep(0 if tries < 50 else 0.001)


def _is_at_rest(
    consumer: threading.Thread, model: _Held, changed: _Watched, width: int
) -> bool:
    """Whether every thread waits for an answer, for a change that nobody has told of, or for work.

    It does not ask how long nothing has happened: on a busy machine that may be long.
    """
    with workers.shared.lock, model.lock:
        threads = workers.shared.threads
        may_begin = any(one.state == "new" and not one.is_cancelled() for one in threads.waiting)
        if threads.running != len(model.pending) or (may_begin and threads.running < width):
            return False
        asking = {model.threads[text] for text in model.pending}
        return changed.waiting == len(changed.resting) and (
            not consumer.is_alive() or consumer.ident in asking | changed.resting
        )


def run_in_loop(case: Case, chosen: list[int]) -> Seen:
    """The case with calls in the tasks of an event loop."""
    seen = Seen()
    model = _Held(seen)
    scheduler = _Scheduler(case, chosen, seen, model)
    printed = io.StringIO()

    async def work(item: int) -> int:
        for effect in range(EFFECTS):
            await prompt.aio("{what:raw}", what=f"{item}.{effect}")
            print_in_turn(f"did {item}.{effect}")
        return item

    async def consume() -> None:
        try:
            async for item in overlap.aio(work, case.items()):
                print_in_turn(f"got {item}")
                if item == case.leaves:
                    seen.at_end = len(seen.asked)
                    break
        except BaseException:
            seen.left_over += len(model.pending)  # all has ended before the error goes on
            raise

    async def main() -> None:
        consumer: asyncio.Task[Any] = asyncio.create_task(consume())
        while True:
            for _ in range(_ROUNDS):
                await asyncio.sleep(0)
            if case.cancels is not None and len(seen.options) == case.cancels:
                seen.at_end = len(seen.asked)
                consumer.cancel()
                break
            if not scheduler.step():
                break
        try:
            await consumer
        except BaseException as error:
            seen.error = error
        for _ in range(_ROUNDS if case.leaves is not None else 0):
            await asyncio.sleep(0)  # what was left by `break` ends by itself
        seen.left_over += len(asyncio.all_tasks()) - 1 + len(model.pending)

    with contextlib.redirect_stdout(printed), configure(provider=model, max_in_flight=case.width):
        asyncio.run(main())
    seen.output = printed.getvalue().splitlines()
    return seen
