"""Asking again what a server could not answer, and waiting until it may be asked.

    patiently(backoff, request, send, tokens)       the reply, maybe of a later try

It is loaded when a request has first to wait, or a server has a rate to be kept to. How long, is
for all threads together to know (`_backoff`). What breaks otherwise is asked again as often as
`max_retries` says.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from runtime_support._core.messages import Reply, Replying
from runtime_support._core.notes import is_at_terminal, note
from runtime_support._core.settings import Settings
from runtime_support._core.tasks.effects import LOOK_SECONDS, Effect, Effects
from runtime_support._core.tasks.turns import check_cancelled, clock_here, note_wait
from runtime_support.errors import ProviderError
from runtime_support.providers._wires import Unanswered

if TYPE_CHECKING:
    from runtime_support.providers._backoff import Backoff, QueuedRequest

# Seconds after which somebody at a terminal would wonder.
TOLD_SECONDS = 2.0


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
    backoff: Backoff,
    request: QueuedRequest,
    send: Callable[[int], Replying],
    tokens: int,
    failure: Unanswered | None = None,
) -> Replying:
    """The reply that `send` gets in one of its tries; it takes the number of the try, from 0.

    `tokens` is about how many the request has; `failure` is how its first try ended. What neither
    waiting nor trying again mends is raised: the error of the last try.
    """
    settings, waited = request.settings, request.waited
    rates = backoff.rates = backoff.rates or Rates()
    tries = broken = 0
    while True:
        if failure is not None:
            tries += 1
            if backoff.is_refusal(failure):
                _stay(backoff, request, failure)
            elif (broken := broken + 1) > settings.max_retries:
                raise failure.error
            else:
                left = max(settings.max_wait - waited.seconds, 0)
                wait = min(backoff.wait_for(failure, broken), left)
                _tell(failure.error, wait)
                waited.seconds += wait
                yield from _sleep(wait)
        yield from _begin(backoff, request)
        delay, taken = rates.reserve(settings, tokens)
        try:
            reply = yield from backoff.attempt(request, _after(delay, send(tries)))
        except Unanswered as unanswered:
            failure = unanswered
        else:
            rates.settle(settings, taken, reply)
            return reply


def _after(delay: float, replying: Replying) -> Replying:
    yield from _sleep(delay)
    return (yield from replying)


def _stay(backoff: Backoff, request: QueuedRequest, failure: Unanswered) -> None:
    """Lets a request that was refused wait; raises its error where that is of no use."""
    settings = request.settings
    if backoff.was_alone(request) and not settings.max_retries:
        raise failure.error
    left = settings.max_wait - request.waited.seconds
    if left <= 0 or (failure.wait or 0) > left:
        raise _out_of_patience(failure.error, settings)
    _tell(failure.error, backoff.pause)


def _begin(backoff: Backoff, request: QueuedRequest) -> Effects[None]:
    """Waits for its turn, as long as there is patience; ProviderError when there is none."""
    settings, waited = request.settings, request.waited
    began = time.monotonic()
    end = began + settings.max_wait - waited.seconds
    backoff.join(request)
    try:
        with clock_here():
            while (wait := backoff.wait_of(request)) is not None:
                check_cancelled()
                left = end - time.monotonic()
                if left <= 0:
                    error = backoff.trouble or ProviderError("the server has too much to do")
                    # Each prompt reports its own place.
                    raise _out_of_patience(copy.copy(error), settings)
                if wait < float("inf"):
                    yield _slept_for(min(wait, left))
                else:
                    yield request.signal.awaited(min(left, LOOK_SECONDS))
    finally:
        backoff.leave(request)
        seconds = time.monotonic() - began
        waited.seconds += seconds
        note_wait(seconds)


def _tell(error: ProviderError, wait: float) -> None:
    """Tells somebody at a terminal of a long wait; once for all who wait."""
    global _told_until
    now = time.monotonic()
    if wait <= TOLD_SECONDS or not is_at_terminal():
        return
    with _telling:
        is_news = now >= _told_until
        _told_until = max(_told_until, now + wait)
    if is_news:
        note(f"{error.message}; trying again in {wait:.0f} s")


_telling = threading.Lock()
_told_until = float("-inf")


def _out_of_patience(error: ProviderError, settings: Settings) -> ProviderError:
    error.hint = f"ask again later, or raise `max_wait`, which is {settings.max_wait:g} s"
    return error


def _sleep(seconds: float) -> Effects[None]:
    if seconds > 0:
        note_wait(seconds)
        with clock_here():
            yield _slept_for(seconds)


def _slept_for(seconds: float) -> Effect:
    return Effect(partial(_slept, seconds), partial(_slept_async, seconds))


def _slept(seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        check_cancelled()
        time.sleep(min(left, LOOK_SECONDS))


async def _slept_async(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)
