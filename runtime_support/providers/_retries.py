"""Retries requests, and makes them wait until the server accepts more.

    retry_loop(backoff, request, send, tokens)       the reply, perhaps of a later attempt

The module is loaded when a request first has to wait, or when the settings limit the rate. After an
overload, the server's `_backoff` determines the wait, for all threads together. Other failures are
retried `max_retries` times.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from runtime_support._core.messages import Reply, ReplyStream
from runtime_support._core.notes import is_at_terminal, note_once
from runtime_support._core.settings import Settings
from runtime_support._core.tasks.clock import current_clock
from runtime_support._core.tasks.turns import check_cancelled, note_wait
from runtime_support._core.tasks.waits import LOOK_SECONDS, Steps, Wait
from runtime_support.errors import ProviderError

if TYPE_CHECKING:
    from runtime_support.providers._backoff import Backoff, QueuedRequest

# Waits that take more than these seconds are reported at a terminal.
TOLD_SECONDS = 2.0


class Rates:
    """Spaces requests so that they keep to the rates in the settings.

    Requests start one by one, at even distances. The tokens of a reply are estimated when its
    request starts, and corrected when the reply arrives.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next_request = self._next_tokens = float("-inf")
        self._output: int | None = None

    def reserve(self, settings: Settings, tokens: int) -> tuple[float, float]:
        """Returns the seconds that a request must wait, and the number of tokens reserved for it.

        `tokens` is the estimated size of the request.
        """
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
        """Replaces the reserved tokens by those that the request and its reply have used.

        `taken` is the number of reserved tokens.
        """
        used = reply.input_tokens + reply.output_tokens
        if settings.tokens_per_minute is None or not used:
            return
        with self._lock:
            self._output = reply.output_tokens
            self._next_tokens += (used - taken) * 60 / settings.tokens_per_minute


def retry_loop(
    backoff: Backoff,
    request: QueuedRequest,
    send: Callable[[int], ReplyStream],
    tokens: int,
    failure: ProviderError | None = None,
) -> ReplyStream:
    """Returns the reply of the first successful `send(number)`; attempts are numbered from 0.

    `tokens` is the estimated size of the request; `failure` is the error of an attempt that was
    already made. If neither waiting nor retrying helps, the error of the last attempt is raised.
    """
    settings, waited = request.settings, request.waited
    rates: Rates = vars(backoff).setdefault("rates", Rates())  # one for threads that begin together
    tries = broken = 0
    while True:
        if failure is not None:
            tries += 1
            if backoff.is_refusal(failure):
                _stay(backoff, request, failure)
            elif (broken := broken + 1) > settings.max_retries:
                raise failure
            else:
                left = max(settings.max_wait - waited.seconds, 0)
                wait = min(backoff.wait_for(failure, broken), left)
                _show_wait(failure, wait)
                waited.seconds += wait
                yield from _sleep(wait)
        yield from _begin(backoff, request)
        delay, taken = rates.reserve(settings, tokens)
        try:
            reply = yield from backoff.attempt(request, _after(delay, send(tries)))
        except ProviderError as unanswered:
            if unanswered.another_try is None:
                raise
            failure = unanswered
        else:
            rates.settle(settings, taken, reply)
            return reply


def _after(delay: float, replying: ReplyStream) -> ReplyStream:
    yield from _sleep(delay)
    return (yield from replying)


def _stay(backoff: Backoff, request: QueuedRequest, failure: ProviderError) -> None:
    """Reports that a rejected request waits. Raises the request's error if waiting cannot help."""
    settings = request.settings
    if backoff.was_alone(request) and not settings.max_retries:
        raise failure
    left = settings.max_wait - request.waited.seconds
    if left <= 0 or (failure.retry_after or 0) > left:
        raise _out_of_patience(failure, settings)
    _show_wait(failure, backoff.pause)


def _begin(backoff: Backoff, request: QueuedRequest) -> Steps[None]:
    """Waits for the request's turn; raises ProviderError when `max_wait` seconds have passed."""
    settings, waited = request.settings, request.waited
    began = time.monotonic()
    end = began + settings.max_wait - waited.seconds
    backoff.join(request)
    try:
        with current_clock():
            while (wait := backoff.wait_of(request)) is not None:
                check_cancelled()
                left = end - time.monotonic()
                if left <= 0:
                    error = backoff.trouble or ProviderError("the server has too much to do")
                    # A copy, since each prompt adds its own place.
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


def _show_wait(error: ProviderError, wait: float) -> None:
    """Reports the first long wait for each status at a terminal."""
    if wait > TOLD_SECONDS and is_at_terminal():
        note_once(f"waited for {error.status}", f"{error.message}; trying again in {wait:.0f} s")


def _out_of_patience(error: ProviderError, settings: Settings) -> ProviderError:
    error.hint = f"ask again later, or raise `max_wait`, which is {settings.max_wait:g} s"
    return error


def _sleep(seconds: float) -> Steps[None]:
    if seconds > 0:
        note_wait(seconds)
        with current_clock():
            yield _slept_for(seconds)


def _slept_for(seconds: float) -> Wait:
    return Wait(partial(_slept, seconds), partial(_slept_async, seconds))


def _slept(seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        check_cancelled()
        time.sleep(min(left, LOOK_SECONDS))


async def _slept_async(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)
