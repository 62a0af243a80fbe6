"""When a server may be asked, for all threads and event loops together.

    backoff.ask(settings, waited, send, tokens)     the reply, maybe of a later try

A `Backoff` is a semaphore, and the time before which no request begins. Both let all requests pass
until the server refuses one: that moves the time, and keeps its place, of which each reply gives
back half of one. First come, first served: a request keeps its number in all of its tries. Waiting
is done by `_retries`.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from bisect import insort
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runtime_support._core.messages import Replying
from runtime_support._core.settings import Settings
from runtime_support._core.tasks.effects import Signal
from runtime_support.errors import ProviderError
from runtime_support.providers._wires import Unanswered, Waited

if TYPE_CHECKING:
    from runtime_support.providers._retries import Rates

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0

# A server that answers some requests is asked by so many at once; one that answers none, by one.
_FEWEST_PLACES = 4
_MOST_REFUSALS = 2
_PLACES_OF_REPLY = 1.5


class QueuedRequest:
    """A request, from its first try to its end; `began` is when its last try did."""

    def __init__(self, number: int, settings: Settings, waited: Waited) -> None:
        self.number = number
        self.settings = settings
        self.waited = waited
        self.began = 0.0
        self.signal = Signal()


class Backoff:
    """How many requests may be under way at one server, and from when on."""

    def __init__(self) -> None:
        # The garbage collector may end a stream that was dropped in the middle of this.
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._queue: list[QueuedRequest] = []
        self._free = float("inf")
        self._under_way = 0
        self._alone: QueuedRequest | None = None
        self._not_before = self._refused_at = float("-inf")
        self._refusals = 0  # in a row, of which each has moved the time
        self.trouble: ProviderError | None = None
        self.has_answered = False
        self.rates: Rates | None = None

    def ask(
        self, settings: Settings, waited: Waited, send: Callable[[int], Replying], tokens: int
    ) -> Replying:
        """The reply that `send` gets; see `_retries.patiently`, which does all but a first try."""
        request, failure = QueuedRequest(next(self._numbers), settings, waited), None
        has_rate = settings.requests_per_minute or settings.tokens_per_minute
        if not has_rate and self.wait_of(request) is None:
            try:
                return (yield from self.attempt(request, send(0)))
            except Unanswered as unanswered:
                failure = unanswered
        from runtime_support.providers._retries import patiently

        return (yield from patiently(self, request, send, tokens, failure))

    def attempt(self, request: QueuedRequest, replying: Replying) -> Replying:
        """What comes of a try that has begun."""
        places = 1.0
        try:
            reply = yield from replying
            places, self.has_answered, self._refusals = _PLACES_OF_REPLY, True, 0
            return reply
        except Unanswered as failure:
            if self.is_refusal(failure):
                places = 0
                self._refuse(request, failure)
            raise
        finally:
            self._leave(places)

    @contextmanager
    def aside(self) -> Generator[None]:
        """Gives the place of a request free in the block, which may wait for other requests."""
        self._leave(1)
        try:
            yield
        finally:
            with self._lock:
                self._under_way += 1
                self._free -= 1

    def is_refusal(self, failure: Unanswered) -> bool:
        """Whether the server has too much to do, as it says, or as it is gone again."""
        return failure.reason == "busy" or (failure.reason == "away" and self.has_answered)

    def was_alone(self, request: QueuedRequest) -> bool:
        """Whether a request was the only one under way since it began."""
        return self._alone is request

    def join(self, request: QueuedRequest) -> None:
        """Has a request wait before all that came after it."""
        with self._lock:
            insort(self._queue, request, key=lambda one: one.number)

    def leave(self, request: QueuedRequest) -> None:
        """Has it wait no more."""
        with self._lock:
            self._queue.remove(request)
            self._wake()

    def wait_of(self, request: QueuedRequest) -> float | None:
        """The seconds that a request is to wait, endless until its signal rings; None when it has
        begun.
        """
        with self._lock:
            if self._queue and self._queue[0] is not request:
                return float("inf")
            if (pause := self.pause) > 0:
                return pause
            if self._free < 1:
                return float("inf")
            self._free -= 1
            self._alone = None if self._under_way else request
            self._under_way += 1
            request.began = time.monotonic()
            return None

    @property
    def pause(self) -> float:
        """The seconds until a request may begin."""
        return self._not_before - time.monotonic()

    @staticmethod
    def wait_for(failure: Unanswered, number: int) -> float:
        """The seconds before the next try, the `number`th of its kind; random, as processes
        differ.
        """
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(number - 1, 20))
        if failure.wait is None:
            return wait * random.uniform(0.5, 1)
        # A server that asks for next to nothing, again and again, means more.
        return max(failure.wait + random.uniform(0, min(failure.wait / 4, 1)), wait / 10)

    def _refuse(self, request: QueuedRequest, failure: Unanswered) -> None:
        """Moves the time before which nothing begins.

        Where the server asks to wait for longer than anybody has patience, others are not held for
        ever.
        """
        with self._lock:
            self.trouble = failure.error
            now, wait = time.monotonic(), failure.wait or 0.0
            wait = wait if wait <= request.settings.max_wait else min(wait, LONGEST_WAIT)
            # What was under way at the last refusal tells nothing new, but how long to wait.
            if request.began >= self._refused_at:
                self._refused_at, self._refusals = now, self._refusals + 1
                self._free = min(self._free, 0)
                wait = max(wait, min(self.wait_for(failure, self._refusals), LONGEST_WAIT))
            self._not_before = max(self._not_before, now + wait)

    def _leave(self, places: float) -> None:
        """A request is under way no more, and gives so many places."""
        with self._lock:
            self._under_way -= 1
            fewest = 1 if self._refusals > _MOST_REFUSALS else _FEWEST_PLACES
            self._free = max(self._free + places, fewest - self._under_way)
            self._wake()

    def _wake(self) -> None:
        if self._queue:
            self._queue[0].signal.ring()
