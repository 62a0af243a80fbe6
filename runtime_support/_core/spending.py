"""Counts the requests and tokens of runs, by the place of the prompt in the code and by model.

    current_meter().taken()     what the run has used so far

Counting starts with the first prompt; a budget that is set later includes the earlier requests.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime_support._core.hooks import Hook
from runtime_support._core.results import Usage
from runtime_support._values.context import after_fork, current_context
from runtime_support.errors import ProviderError, RunStopped

if TYPE_CHECKING:
    from runtime_support._core.hooks import AnswerPrompt, PromptRun, SendRequest
    from runtime_support._core.messages import ReplyStream, Request
    from runtime_support._core.positions.frames import Place
    from runtime_support._core.results import Answer
    from runtime_support._core.settings import Settings
    from runtime_support._core.tasks.waits import Signal, Steps

# A token has about this many characters, and at least one byte.
_TOKEN = 4
# Some models cost more above an input length, which is always a multiple of a thousand tokens.
_LONG = 32_000


class UsageRecord(NamedTuple):
    """The usage of the requests from one place in the code to one model.

    `settings` are those of the last request. If prices depend on the input length, `length` is the
    length of each request in tokens, rounded down to thousands; otherwise, it is 0. `longest` is
    the number of tokens of the longest reply.
    """

    settings: Settings
    place: Place | None
    model: str
    length: int
    usage: Usage
    longest: int


@dataclass(slots=True, eq=False)
class Reservation:
    """The part of a budget that is reserved for a request in flight.

    - `is_guess`: true if `output_tokens` is a guess, since the request does not limit its reply.
    - `most`: the most tokens that the budget allows the reply, if it sets a limit.
    - `is_aside`: true if other requests do not wait for this request.
    """

    input_tokens: int
    output_tokens: int
    cost: float
    is_guess: bool
    most: int | None = None
    is_aside: bool = False

    def usage(self, written: Iterable[str] = ()) -> Usage:
        """Estimates the usage of a request that has no reply, or whose reply reports no tokens.

        `written` holds the texts of the reply.
        """
        output = tokens_of(written) if self.is_guess else self.output_tokens
        return Usage(self.input_tokens, output, 1)


class Waiter(NamedTuple):
    """A request that waits for a reservation. `path` is the place of its call in the script."""

    path: tuple[int, ...]
    signal: Signal


class UsageMeter:
    """Counts the usage of a run, or of a block with budgets. All threads share the meter.

    `bounds` holds the budgets of the block, and is None for a run. `around` holds the budgets that
    apply outside of the block.
    """

    def __init__(
        self,
        bounds: Mapping[str, Any] | None = None,
        around: Mapping[str, Any] | None = None,
    ) -> None:
        self.bounds, self.around = bounds, around or {}
        self._taken: dict[object, UsageRecord] = {}
        # The usage of earlier processes of a resumed run; `has_kept` says that all of it was
        # counted when the journal was opened.
        self._kept: dict[object, UsageRecord] = {}
        self.has_kept = False
        # By journal: the id of its last row whose usage is counted.
        self.counted: dict[int, int] = {}
        self.prompts = self.in_flight = self.from_journal = 0
        self._began = time.monotonic()
        # The last error that was raised because the meter's own budget was used up.
        self.passed: BaseException | None = None
        self.was_told = False
        self.forget_others()

    def forget_others(self) -> None:
        """Resets locks and requests in flight after a fork: they belong to the parent process."""
        # Reentrant: while this counts, the garbage collector may close a dropped stream.
        self.lock = threading.RLock()
        # Reservations for prompts' requests, and those who wait for one, in the script's order.
        self.reservations: dict[PromptRun, Reservation] = {}
        self.waiting: list[Waiter] = []

    def sent(self) -> list[UsageRecord]:
        """Returns the usage of this process: a record for each place and model."""
        with self.lock:
            return list(self._taken.values())

    def taken(self) -> list[UsageRecord]:
        """Returns the usage of the run, including its earlier processes, as records."""
        with self.lock:
            return [*self._kept.values(), *self._taken.values()]

    def seconds(self) -> float:
        """Returns for how many seconds the meter has been counting."""
        return time.monotonic() - self._began

    def add(self, prompt: PromptRun, model: str, usage: Usage) -> None:
        """Adds the usage of a prompt's request and removes its reservation."""
        length = _length(usage.input_tokens)
        one = UsageRecord(prompt.settings, prompt.place, model, length, usage, usage.output_tokens)
        with self.lock:
            self.reservations.pop(prompt, None)
            if usage != Usage():
                _add_to(self._taken, one)
            self.wake()

    def wake(self) -> None:
        """Wakes the first request that waits for the budget. The caller must hold `lock`."""
        if self.waiting:
            self.waiting[0].signal.ring()

    def add_recorded(self, settings: Settings, model: str, usage: Usage, longest: int) -> None:
        """Adds the usage that a journal recorded in an earlier process of the run."""
        with self.lock:
            length = _length(usage.input_tokens // max(1, usage.requests))
            _add_to(self._kept, UsageRecord(settings, None, model, length, usage, longest))


def _length(tokens: int) -> int:
    return tokens // 1_000 * 1_000 if tokens >= _LONG else 0


def _add_to(taken: dict[object, UsageRecord], one: UsageRecord) -> None:
    key = key_of(one.place), one.model, one.length
    known = taken.get(key)
    if known is not None:
        usage, longest = known.usage + one.usage, max(known.longest, one.longest)
        one = one._replace(place=known.place, usage=usage, longest=longest)
    taken[key] = one


def key_of(place: Place | None) -> object:
    """Returns a dict key for a place. The key is valid only while the place's code exists."""
    # Hashing a code object takes time in proportion to its size.
    return None if place is None else (id(place.code), place.instruction)


_of_process = UsageMeter()


def current_meters() -> list[UsageMeter]:
    """Returns the meters of the current run and of the enclosing blocks with budgets.

    The meter of the run comes first, and that of the innermost block last.
    """
    found = [_of_process]
    for one in current_context().budgets:
        found = [one] if one.bounds is None else [*found, one]
    return found


def current_meter() -> UsageMeter:
    """Returns the meter of the current run."""
    return current_meters()[0]


def note_recorded(settings: Settings, model: str, usage: Usage) -> None:
    """Counts an answer that comes from the journal.

    Adds its usage to those enclosing blocks that have not counted the journal's usage yet.
    """
    run, *blocks = current_meters()
    with run.lock:
        run.from_journal += 1
    for one in blocks:
        if not one.has_kept:
            one.add_recorded(settings, model, usage, 0)


def _leave_to_parent() -> None:
    for spending in current_meters():
        spending.forget_others()


after_fork(_leave_to_parent)


class UsageHook(Hook):
    """Counts one prompt and its requests, retries included."""

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt
        self._spendings = current_meters()

    def prompt(self, prompt: PromptRun, proceed: AnswerPrompt) -> Steps[Answer]:
        """Counts the prompt. If an error ends the run, adds the error to the context's `stops`."""
        self._count_prompt(1, 0)
        try:
            return (yield from proceed(prompt))
        except RunStopped as error:
            noted = current_context().stops
            if noted is not None and not is_of_block(error):
                noted.append(error)
            raise
        finally:
            self._count_prompt(-1, 1)

    def _count_prompt(self, under_way: int, over: int) -> None:
        for one in self._spendings:
            with one.lock:
                one.in_flight += under_way
                one.prompts += over

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Counts a request. Estimates its tokens if its stream was closed or broke off.

        A failed or cancelled request counts with estimated tokens if the provider may charge it. A
        refused request counts without tokens. A request does not count if the server was
        unreachable or overloaded.
        """
        prompt, usage = self._prompt, Usage(requests=1)
        model = prompt.model_of(request)
        reserved = self._spendings[-1].reservations.get(prompt)
        try:
            reply = yield from proceed(request)
            usage = reply.usage
            if reserved is not None and not (usage.input_tokens or usage.output_tokens):
                written = [reply.text, *(call.arguments for call in reply.tool_calls)]
                usage = reserved.usage(written)
            return reply
        except BaseException as error:
            if request.pieces:
                usage = Usage(tokens_in(request), tokens_of(request.pieces), 1)
            elif isinstance(error, ProviderError) and error.stays_away:
                usage = Usage()
            elif _may_be_charged(error):
                usage = Usage(tokens_in(request), 0, 1) if reserved is None else reserved.usage()
            raise
        finally:
            prompt.usage = usage
            for one in self._spendings:
                one.add(prompt, model, usage)


def _may_be_charged(error: BaseException) -> bool:
    """True if the provider may charge a request that ended with this error.

    A request that was cancelled may be charged, too.
    """
    if isinstance(error, ProviderError):
        return bool(error.another_try or error.status is None or error.status >= 500)
    return not isinstance(error, Exception)


def hook_for(prompt: PromptRun) -> UsageHook:
    """Returns the hook that counts a prompt."""
    return UsageHook(prompt)


def is_of_block(error: BaseException) -> bool:
    """Whether the error says that a block's budget, not the run's, is used up."""
    return any(one.passed is error for one in current_meters()[1:])


def tokens_in(request: Request) -> int:
    """Estimates the tokens of a request."""
    return len(json.dumps(request.canonical(), ensure_ascii=False)) // _TOKEN


def tokens_of(texts: Iterable[str]) -> int:
    """Estimates the tokens of these texts together."""
    return -(-sum(map(len, texts)) // _TOKEN)
