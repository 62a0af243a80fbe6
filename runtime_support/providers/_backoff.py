"""Backoff: limits the requests to one server, for all threads and event loops.

    backoff.ask(settings, waited, send, tokens)     the reply, perhaps of a later attempt

A `Backoff` is a semaphore and a time before which no request starts. It limits nothing until the
server rejects a request because of overload. Each rejection postpones the time and removes the
request's slot from the semaphore. Each reply returns its slot and adds half a slot. Requests are
served in the order in which they came, as a request keeps its number through all attempts.
`_retries` does the waiting.
"""

from __future__ import annotations

import copy
import itertools
import random
import threading
import time
from bisect import insort
from collections.abc import Callable, Generator
from contextlib import contextmanager

from runtime_support._core.messages import ReplyStream
from runtime_support._core.settings import Settings
from runtime_support._core.tasks.waits import Signal
from runtime_support.errors import ProviderError
from runtime_support.providers._wires import Waited

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0

# The fewest slots of a server; after more than `_MOST_REFUSALS` rejections in a row, it has one.
_FEWEST_PLACES = 4
_MOST_REFUSALS = 2
_PLACES_OF_REPLY = 1.5


class QueuedRequest:
    """A request, which may need several attempts. `began` is when its last attempt started."""

    def __init__(self, number: int, settings: Settings, waited: Waited) -> None:
        self.number = number
        self.settings = settings
        self.waited = waited
        self.began = 0.0
        self.signal = Signal()


class Backoff:
    """Limits how many requests may be in flight at one server, and when they may start."""

    def __init__(self) -> None:
        # Reentrant: the garbage collector may close a dropped stream while the lock is held.
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._queue: list[QueuedRequest] = []
        self._free = float("inf")
        self._under_way = 0
        self._alone: QueuedRequest | None = None
        self._not_before = self._refused_at = float("-inf")
        self._refusals = 0  # rejections in a row that postponed `_not_before`
        self.trouble: ProviderError | None = None
        self.has_answered = False

    def ask(
        self, settings: Settings, waited: Waited, send: Callable[[int], ReplyStream], tokens: int
    ) -> ReplyStream:
        """Returns the reply of the first successful attempt.

        `send(number)` makes an attempt; attempts are numbered from 0. `tokens` is the estimated
        size of the request. If no request has to wait, the first attempt is made at once.
        Otherwise, and for each retry, `retry_loop` waits and sends the request.
        """
        request, failure = QueuedRequest(next(self._numbers), settings, waited), None
        has_rate = settings.requests_per_minute or settings.tokens_per_minute
        if not has_rate and self.wait_of(request) is None:
            try:
                return (yield from self.attempt(request, send(0)))
            except ProviderError as unanswered:
                if unanswered.another_try is None:
                    raise
                failure = unanswered
        from runtime_support.providers._retries import retry_loop

        return (yield from retry_loop(self, request, send, tokens, failure))

    def attempt(self, request: QueuedRequest, replying: ReplyStream) -> ReplyStream:
        """Runs `replying`, which is one attempt of a request, and returns the reply.

        `wait_of` has given the request a slot, which is freed at the end of the attempt.
        """
        places = 1.0
        try:
            reply = yield from replying
            places, self.has_answered, self._refusals = _PLACES_OF_REPLY, True, 0
            return reply
        except ProviderError as failure:
            if self.is_refusal(failure):
                places = 0
                self._refuse(request, failure)
            raise
        finally:
            self._leave(places)

    @contextmanager
    def aside(self) -> Generator[None]:
        """Frees a request's slot during the block, as the block may wait for other requests."""
        self._leave(1)
        try:
            yield
        finally:
            with self._lock:
                self._under_way += 1
                self._free -= 1

    def is_refusal(self, failure: ProviderError) -> bool:
        """True if the server is overloaded, or unreachable although it replied before."""
        reason = failure.another_try
        return reason == "busy" or (reason == "away" and self.has_answered)

    def was_alone(self, request: QueuedRequest) -> bool:
        """True if no other request was in flight when the last attempt of this request started."""
        return self._alone is request

    def join(self, request: QueuedRequest) -> None:
        """Adds a request to the queue, ahead of all requests with higher numbers."""
        with self._lock:
            insort(self._queue, request, key=lambda one: one.number)

    def leave(self, request: QueuedRequest) -> None:
        """Removes a request from the queue."""
        with self._lock:
            self._queue.remove(request)
            self._wake()

    def wait_of(self, request: QueuedRequest) -> float | None:
        """Starts the request if it need not wait. Returns None, or else the seconds to wait.

        Infinity means that the request must wait until its signal rings.
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
        """The seconds until the next request may start; zero or negative if it may start now."""
        return self._not_before - time.monotonic()

    @staticmethod
    def wait_for(failure: ProviderError, number: int) -> float:
        """Returns the seconds to wait before the `number`th retry.

        They are randomized so that processes do not retry at the same time.
        """
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(number - 1, 20))
        asked = failure.retry_after
        if asked is None:
            return wait * random.uniform(0.5, 1)
        # If a server keeps asking for tiny waits, wait longer.
        return max(asked + random.uniform(0, min(asked / 4, 1)), wait / 10)

    def _refuse(self, request: QueuedRequest, failure: ProviderError) -> None:
        """Postpones the time before which no request starts, because a request was rejected.

        If the server asks to wait longer than `max_wait`, the wait is capped, so that other
        requests are not blocked for too long.
        """
        with self._lock:
            self.trouble = copy.copy(failure)  # its prompt adds its own place
            now, wait = time.monotonic(), failure.retry_after or 0.0
            wait = wait if wait <= request.settings.max_wait else min(wait, LONGEST_WAIT)
            # An attempt that started before the last rejection postpones only by its own wait.
            if request.began >= self._refused_at:
                self._refused_at, self._refusals = now, self._refusals + 1
                self._free = min(self._free, 0)
                wait = max(wait, min(self.wait_for(failure, self._refusals), LONGEST_WAIT))
            self._not_before = max(self._not_before, now + wait)

    def _leave(self, places: float) -> None:
        """Ends a request in flight and returns `places` slots to the semaphore."""
        with self._lock:
            self._under_way -= 1
            fewest = 1 if self._refusals > _MOST_REFUSALS else _FEWEST_PLACES
            self._free = max(self._free + places, fewest - self._under_way)
            self._wake()

    def _wake(self) -> None:
        if self._queue:
            self._queue[0].signal.ring()
