"""The requests to one server that are under way, for all threads and event loops together.

    traffic.ask(settings, waited, send, tokens)     the reply, maybe of a later try

As long as a server answers all, its requests pass. One that is refused moves the time before which
none begins, and takes a place away; each reply gives half of one. What waits does so in the order
in which it came: a request keeps its number in all of its tries. Waiting is done by `_retries`.
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
from typing import TYPE_CHECKING

from runtime_support._effects import Signal
from runtime_support._exchange import Replying
from runtime_support._settings import Settings
from runtime_support.errors import ProviderError
from runtime_support.providers._wires import Unanswered, Waited

if TYPE_CHECKING:
    from runtime_support.providers._retries import Rates

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0

# So many requests may be under way at a server that answers some; at one that does not, one.
_FEWEST_PLACES = 4
# The pauses in a row without a reply after which that is so.
_MOST_PAUSES = 2
_PLACES_OF_REPLY = 0.5


class QueuedRequest:
    """A request, from its first try to its end; `began` is when its last try did."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.began = 0.0
        self.signal = Signal()


class Traffic:
    """Who may ask the server now."""

    def __init__(self) -> None:
        # The garbage collector may end a stream that was dropped in the middle of this.
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._queue: list[QueuedRequest] = []
        self._places = float("inf")
        self._under_way = 0
        self._not_before = self._paused_at = float("-inf")
        self._pauses = 0
        # The request that was the only one under way since it began.
        self._alone: QueuedRequest | None = None
        self._trouble: ProviderError | None = None
        self.has_answered = False
        self.rates: Rates | None = None

    def ask(
        self,
        settings: Settings,
        waited: Waited,
        send: Callable[[int], Replying],
        tokens: int,
    ) -> Replying:
        """The reply that `send` gets; see `_retries.patiently`, which does all but a first try."""
        turn, failure = QueuedRequest(next(self._numbers)), None
        has_rate = settings.requests_per_minute or settings.tokens_per_minute
        if not has_rate and self._passes(turn):
            try:
                reply = yield from send(0)
            except Unanswered as unanswered:
                failure = unanswered
            except BaseException:
                self.ended()
                raise
            else:
                self.answered()
                return reply
        from runtime_support.providers._retries import patiently

        return (yield from patiently(self, turn, settings, waited, send, tokens, failure))

    @contextmanager
    def aside(self) -> Generator[None]:
        """Leaves a request under way out of the count in the block, which may wait for others."""
        self.ended()
        try:
            yield
        finally:
            with self._lock:
                self._under_way += 1

    def join(self, turn: QueuedRequest) -> None:
        """Has a request wait before all that came after it."""
        with self._lock:
            insort(self._queue, turn, key=lambda one: one.number)

    def leave(self, turn: QueuedRequest) -> None:
        """Has it wait no more."""
        with self._lock:
            self._queue.remove(turn)
            self._wake()

    def pause_of(self, turn: QueuedRequest) -> float | None:
        """The seconds that one that waits is to wait on, endless until its signal rings; None when
        it has begun.
        """
        with self._lock:
            if self._queue[0] is not turn:
                return float("inf")
            pause = self._not_before - time.monotonic()
            if pause > 0:
                return pause
            if self._under_way + 1 > self._places:
                return float("inf")
            self._begin(turn)
            return None

    def answered(self) -> None:
        """A request under way has its reply."""
        with self._lock:
            self.has_answered = True
            self._pauses = 0
            self._places = max(self._places, _FEWEST_PLACES) + _PLACES_OF_REPLY
            self.ended()

    def ended(self) -> None:
        """A request under way is over, which says nothing of what is too much."""
        with self._lock:
            self._under_way -= 1
            self._wake()

    def refused(self, turn: QueuedRequest, failure: Unanswered, patience: float) -> bool:
        """A request under way was too much; whether it was the only one all the time.

        Where the server asks to wait for longer than it has patience, others are not held for ever.
        """
        with self._lock:
            self._trouble = failure.error
            now, wait = time.monotonic(), failure.wait or 0.0
            wait = wait if wait <= patience else LONGEST_WAIT
            # What was under way at the last pause tells nothing new, but how long to wait.
            if turn.began >= self._paused_at:
                self._paused_at = now
                self._pauses += 1
                self._places = min(self._places, self._under_way)
                wait = max(wait, min(self.wait_for(failure, self._pauses), LONGEST_WAIT))
            self._not_before = max(self._not_before, now + wait)
            fewest = 1 if self._pauses > _MOST_PAUSES else _FEWEST_PLACES
            self._places = max(fewest, self._places - 1)
            self.ended()
            return self._alone is turn

    def pause(self) -> float:
        """The seconds until a request may begin."""
        return max(0.0, self._not_before - time.monotonic())

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

    def trouble(self) -> ProviderError:
        """Why there was no place: what the server said last."""
        error = self._trouble or ProviderError("the server has too much to do")
        return copy.copy(error)  # each prompt reports its own place

    def _passes(self, turn: QueuedRequest) -> bool:
        """Whether a request has begun at once, as nobody waits."""
        with self._lock:
            is_free = not self._queue and self._under_way + 1 <= self._places
            if is_free and time.monotonic() >= self._not_before:
                self._begin(turn)
                return True
        return False

    def _begin(self, turn: QueuedRequest) -> None:
        turn.began = time.monotonic()
        self._alone = None if self._under_way else turn
        self._under_way += 1

    def _wake(self) -> None:
        if self._queue:
            self._queue[0].signal.ring()
