"""The requests to one server that are under way, as long as it answers all of them.

    traffic.ask(settings, waited, send, tokens)     the reply, maybe of a later try

The first try that fails brings in `_retries`, which counts them from then on: all threads together
ask less, wait and try again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runtime_support._exchange import Replying
from runtime_support._settings import Settings
from runtime_support.providers._wires import Unanswered, Waited

if TYPE_CHECKING:
    from runtime_support.providers._retries import Pace


class Traffic:
    """How many requests are under way; once a `_pace` is there, that counts them."""

    def __init__(self) -> None:
        # The garbage collector may end a stream that was dropped in the middle of this.
        self._lock = threading.RLock()
        self._under_way = 0
        self._last_shared = float("-inf")
        self._has_answered = False
        self._pace: Pace | None = None

    def ask(
        self,
        settings: Settings,
        waited: Waited,
        send: Callable[[int], Replying],
        tokens: int,
    ) -> Replying:
        """The reply that `send` gets; see `_retries.patiently`, which does all but a first try."""
        failed = None
        has_rate = settings.requests_per_minute or settings.tokens_per_minute
        began = None if has_rate else self._begin()
        if began is not None:
            try:
                reply = yield from send(0)
            except Unanswered as failure:
                failed = began, failure
            except BaseException:
                self._end()
                raise
            else:
                self._answered()
                return reply
        from runtime_support.providers._retries import patiently

        return (yield from patiently(self.pace(), settings, waited, send, tokens, failed))

    def pace(self) -> Pace:
        """What counts from now on, and has requests wait."""
        from runtime_support.providers._retries import Pace

        with self._lock:
            if self._pace is None:
                has_answered = self._has_answered
                self._pace = Pace(self._under_way, self._last_shared, has_answered=has_answered)
            return self._pace

    @contextmanager
    def aside(self) -> Generator[None]:
        """Leaves a request under way out of the count in the block, which may wait for others."""
        self._end()
        try:
            yield
        finally:
            with self._lock:
                if self._pace is None:
                    self._under_way += 1
                else:
                    self._pace.returned()

    def _begin(self) -> float | None:
        """Counts one more, and gives the time; None when it may have to wait."""
        with self._lock:
            if self._pace is not None:
                return None
            self._under_way += 1
        return time.monotonic()

    def _answered(self) -> None:
        with self._lock:
            self._has_answered = True
            if self._pace is None:
                self._leave()
            else:
                self._pace.answered()

    def _end(self) -> None:
        with self._lock:
            if self._pace is None:
                self._leave()
            else:
                self._pace.ended()

    def _leave(self) -> None:
        if self._under_way > 1:
            self._last_shared = time.monotonic()
        self._under_way -= 1
