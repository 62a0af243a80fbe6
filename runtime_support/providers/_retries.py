"""Asking again what a server could not answer, and how much all threads ask of it at once.

    patiently(pace, settings, waited, send, tokens)    the reply, maybe of a later try

It is loaded when a server has first refused a request, or has a rate to be kept to.

A server that says it has too much to do is asked less and waited for: a refusal cuts the requests
under way to a part, each reply makes room for a little more (additive increase, multiplicative
decrease), and the refused request waits as long as the server asked for. When nothing gets through
any more, one request tries and all others wait. What breaks otherwise is asked again as often as
`retries` says.
"""

from __future__ import annotations

import copy
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial

from runtime_support._effects import LOOK_SECONDS, Effect, Effects, Signal
from runtime_support._exchange import Reply, Replying
from runtime_support._notes import is_at_terminal, note
from runtime_support._order import check_cancelled, clock_here, note_wait
from runtime_support._settings import Settings
from runtime_support.errors import ProviderError
from runtime_support.providers._wires import Unanswered, Waited

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
# What is left of the requests under way after a refusal, and the refusals in a row that stop all.
CUT = 0.7
MOST_CUTS = 3
# Seconds after which somebody at a terminal would wonder.
TOLD_SECONDS = 2.0


class Pace:
    """How much is asked of one server at once, by all threads.

    Of what was `under_way` when it was made, `last_shared` is when there was more than one.
    """

    def __init__(
        self, under_way: int = 0, last_shared: float = float("-inf"), *, has_answered: bool = False
    ) -> None:
        # The garbage collector may end a stream that was dropped in the middle of this.
        self._lock = threading.RLock()
        self._queue: deque[Signal] = deque()
        self._limit = float("inf")
        self._under_way = under_way
        self._cut_at = self._paused_until = self._told_until = float("-inf")
        self._last_shared = last_shared
        self._cuts = 0
        self._trouble: ProviderError | None = None
        self.rates = Rates()
        self.has_answered = has_answered

    def enter(self, seconds: float) -> Effects[float | None]:
        """Waits so long for room, first come first served; the time then, None without room."""
        with self._lock:
            now = time.monotonic()
            if not self._queue and self._has_room(now):
                self._under_way += 1
                return now
            own = Signal()
            self._queue.append(own)
        until = now + seconds
        try:
            while True:
                check_cancelled()
                with self._lock:
                    now = time.monotonic()
                    if self._queue[0] is own and self._has_room(now):
                        self._under_way += 1
                        return now
                    if now >= until:
                        return None
                    pause = self._paused_until - now
                    left = min(until - now, LOOK_SECONDS)
                yield own.awaited(min(pause, left) if pause > 0 else left)
        finally:
            with self._lock:
                self._queue.remove(own)
                self._wake()

    def answered(self) -> None:
        """A request under way has its reply."""
        with self._lock:
            self.has_answered = True
            self._cuts = 0
            self._limit += 1 / self._limit
            self._leave()

    def ended(self) -> None:
        """A request under way is over, which says nothing of what is too much."""
        with self._lock:
            self._leave()

    def returned(self) -> None:
        """A request that was noted as ended goes on."""
        with self._lock:
            self._under_way += 1

    def refused(self, began: float, error: ProviderError, wait: float) -> bool:
        """A request under way was too much; whether it was the only one all the time."""
        with self._lock:
            was_alone = self._under_way == 1 and self._last_shared < began
            self._trouble = error
            if began >= self._cut_at:  # those that were under way at the last cut tell nothing new
                now = time.monotonic()
                self._limit = max(1.0, min(self._limit, self._under_way) * CUT)
                self._cut_at = now
                self._cuts += 1
                if self._limit == 1.0 or self._cuts > MOST_CUTS:
                    self._paused_until = max(self._paused_until, now + wait)
            self._leave()
        return was_alone

    def trouble(self) -> ProviderError:
        """Why there was no room: what the server said last."""
        error = self._trouble or ProviderError("the server has too much to do")
        return copy.copy(error)  # each prompt reports its own place

    def tell(self, error: ProviderError, wait: float) -> None:
        """Tells somebody at a terminal of a long wait; once for all who wait."""
        if wait <= TOLD_SECONDS or not is_at_terminal():
            return
        now = time.monotonic()
        with self._lock:
            is_news = now >= self._told_until
            self._told_until = max(self._told_until, now + wait)
        if is_news:
            note(f"{error.message}; trying again in {wait:.0f} s")

    def _has_room(self, now: float) -> bool:
        return now >= self._paused_until and self._under_way + 1 <= self._limit

    def _leave(self) -> None:
        if self._under_way > 1:
            self._last_shared = time.monotonic()
        self._under_way -= 1
        self._wake()

    def _wake(self) -> None:
        if self._queue:
            self._queue[0].ring()


class Rates:
    """When the next request may start, so that what is known of a server's rates is kept.

    Requests start one after the other, at even distances. What a reply will take of the tokens is
    guessed, and put right when it is there.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next_request = self._next_tokens = float("-inf")
        self._output: int | None = None

    def reserve(self, settings: Settings, tokens: int) -> tuple[float, float]:
        """The seconds to wait for the start of a request of these tokens, and the tokens taken."""
        with self._lock:
            now = time.monotonic()
            start, taken = now, 0.0
            if settings.requests_per_minute is not None:
                start = max(start, self._next_request)
            if settings.tokens_per_minute is not None:
                start = max(start, self._next_tokens)
                output = self._output if self._output is not None else settings.max_tokens
                taken = tokens + (tokens if output is None else output)
                self._next_tokens = start + taken * 60 / settings.tokens_per_minute
            if settings.requests_per_minute is not None:
                self._next_request = start + 60 / settings.requests_per_minute
            return start - now, taken

    def settle(self, settings: Settings, taken: float, reply: Reply) -> None:
        """Puts what a reply has taken in the place of the guess."""
        used = reply.input_tokens + reply.output_tokens
        if settings.tokens_per_minute is None or not used:
            return
        with self._lock:
            self._output = reply.output_tokens
            self._next_tokens += (used - taken) * 60 / settings.tokens_per_minute


def patiently(
    pace: Pace,
    settings: Settings,
    waited: Waited,
    send: Callable[[int], Replying],
    tokens: int,
    failed: tuple[float, Unanswered] | None = None,
) -> Replying:
    """The reply that `send` gets in one of its tries; it takes the number of the try, from 0.

    `tokens` is about how many the request has; `failed` is when its first try began, which was
    made elsewhere, and how it ended. What neither waiting nor trying again mends is raised: the
    error of the last try.
    """
    tries = refusals = 0
    while True:
        if failed is not None:
            began, failure = failed
            tries += 1
            left = settings.patience - waited.seconds
            if failure.reason == "busy" or (failure.reason == "away" and pace.has_answered):
                refusals += 1
                wait = _wait_for(failure, refusals)
                is_alone = pace.refused(began, failure.error, wait)
                if is_alone and not settings.retries:
                    raise failure.error
                if left <= 0 or (failure.wait or 0) > left:
                    raise _out_of_patience(failure.error, settings)
            else:
                pace.ended()
                if tries - refusals > settings.retries:
                    raise failure.error
                wait = _wait_for(failure, tries - refusals)
            wait = min(wait, max(left, 0))
            pace.tell(failure.error, wait)
            waited.seconds += wait
            yield from _sleep(wait)
        began = yield from _enter(pace, settings, waited)
        try:
            delay, taken = pace.rates.reserve(settings, tokens)
            yield from _sleep(delay)
            reply = yield from send(tries)
        except Unanswered as failure:
            failed = began, failure
        except BaseException:
            pace.ended()
            raise
        else:
            pace.answered()
            pace.rates.settle(settings, taken, reply)
            return reply


def _enter(pace: Pace, settings: Settings, waited: Waited) -> Effects[float]:
    """Waits for room; the time then."""
    before = time.monotonic()
    with clock_here():
        began = yield from pace.enter(settings.patience - waited.seconds)
    waited.seconds += (began or time.monotonic()) - before
    note_wait((began or time.monotonic()) - before)
    if began is None:
        raise _out_of_patience(pace.trouble(), settings)
    return began


def _wait_for(failure: Unanswered, number: int) -> float:
    """The seconds before the next try, the `number`th of its kind; random, as threads differ."""
    wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(number - 1, 20))
    if failure.wait is None:
        return wait * random.uniform(0.5, 1)
    # A server that asks for next to nothing, again and again, means more.
    return max(failure.wait + random.uniform(0, min(failure.wait / 4, 1)), wait / 10)


def _out_of_patience(error: ProviderError, settings: Settings) -> ProviderError:
    error.hint = f"ask again later, or raise `patience`, which is {settings.patience:g} s"
    return error


def _sleep(seconds: float) -> Effects[None]:
    if seconds > 0:
        note_wait(seconds)
        with clock_here():
            yield Effect(partial(_slept, seconds), partial(_slept_async, seconds))


def _slept(seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        check_cancelled()
        time.sleep(min(left, LOOK_SECONDS))


async def _slept_async(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)
