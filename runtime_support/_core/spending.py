"""What runs take: the requests and tokens of each place and model. It is counted from the first
prompt on, and a budget that is set later (`budgets`) begins with that.

    spending_here().taken()     what the run has taken until now
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime_support._core.hooks import Hook
from runtime_support._core.results import Usage
from runtime_support._values.context import after_fork, context_here
from runtime_support.errors import ProviderError, RunStopped

if TYPE_CHECKING:
    from runtime_support._core.hooks import AnswerPrompt, PromptRun, SendRequest
    from runtime_support._core.messages import Reply, Replying, Request
    from runtime_support._core.positions.frames import Place
    from runtime_support._core.results import Answer
    from runtime_support._core.settings import Settings
    from runtime_support._core.tasks.effects import Effects, Signal

# About as many characters make a token; no token has less than a byte.
_TOKEN = 4
# Models may cost more from some length of the input on, always a multiple of a thousand tokens.
_LONG = 32_000


class Taken(NamedTuple):
    """What requests of one place to one model have taken; the settings are of the last of them.

    Each has had an input of this `length` or more, in tokens, where a price may depend on that, and
    the longest reply had so many tokens.
    """

    settings: Settings
    place: Place | None
    model: str
    length: int
    usage: Usage
    longest: int


@dataclass(slots=True, eq=False)
class Reservation:
    """What a budget has reserved for a request under way.

    Its output `is_guess` where the request does not bound it; `most` is what it is bound to here,
    as there is no more. What is `aside` is not waited for.
    """

    input_tokens: int
    output_tokens: int
    cost: float
    is_guess: bool
    most: int | None = None
    is_aside: bool = False

    def usage(self, written: Iterable[str] = ()) -> Usage:
        """What a reply of which no tokens are told is likely to have taken, or none that came."""
        output = tokens_of(written) if self.is_guess else self.output_tokens
        return Usage(self.input_tokens, output, 1)


class Spending:
    """What a run has taken, or a block with `bounds` of its own; for all threads.

    `around` are the bounds outside of the outermost block. Without bounds, it is a run.
    """

    def __init__(
        self,
        bounds: Mapping[str, Any] | None = None,
        around: Mapping[str, Any] | None = None,
    ) -> None:
        self.bounds, self.around = bounds, around or {}
        self._taken: dict[object, Taken] = {}
        # What processes before this one have taken, in a run that resumes; `has_kept` says that all
        # of it was counted when the journal was opened.
        self._kept: dict[object, Taken] = {}
        self.has_kept = False
        self.prompts = self.in_flight = self.from_journal = 0
        self._began = time.monotonic()
        # What was raised last as its own bounds were reached.
        self.passed: BaseException | None = None
        self.was_told = False
        self.forget_others()

    def forget_others(self) -> None:
        """Leaves what is under way to the process that this one was forked from."""
        # The garbage collector may end a stream that was dropped while this counts something else.
        self.lock = threading.RLock()
        # What a budget has reserved for the requests of prompts, and who waits for that.
        self.reservations: dict[PromptRun, Reservation] = {}
        self.waiting: deque[Signal] = deque()

    def sent(self) -> list[Taken]:
        """What this process itself has taken, by place and model."""
        with self.lock:
            return list(self._taken.values())

    def taken(self) -> list[Taken]:
        """The same, and what processes before it have taken."""
        with self.lock:
            return [*self._kept.values(), *self._taken.values()]

    def seconds(self) -> float:
        """How long the process has been asking."""
        return time.monotonic() - self._began

    def add(self, prompt: PromptRun, model: str, usage: Usage) -> None:
        """Adds what a request of a prompt has taken, in the place of what was reserved for it."""
        length = _length(usage.input_tokens)
        one = Taken(prompt.settings, prompt.place, model, length, usage, usage.output_tokens)
        with self.lock:
            self.reservations.pop(prompt, None)
            if usage != Usage():
                _add_to(self._taken, one)
            self.wake()

    def wake(self) -> None:
        """Lets the first of those who wait look again, with the lock held."""
        if self.waiting:
            self.waiting[0].ring()

    def add_kept(self, settings: Settings, model: str, usage: Usage, longest: int) -> None:
        """Adds what an earlier process of the run has taken, which a journal has kept."""
        with self.lock:
            length = _length(usage.input_tokens // max(1, usage.requests))
            _add_to(self._kept, Taken(settings, None, model, length, usage, longest))


def _length(tokens: int) -> int:
    return tokens // 1_000 * 1_000 if tokens >= _LONG else 0


def _add_to(taken: dict[object, Taken], one: Taken) -> None:
    key = key_of(one.place), one.model, one.length
    known = taken.get(key)
    if known is not None:
        usage, longest = known.usage + one.usage, max(known.longest, one.longest)
        one = one._replace(place=known.place, usage=usage, longest=longest)
    taken[key] = one


def key_of(place: Place | None) -> object:
    """What is equal for the same place, as long as that is there."""
    # The hash of code takes as long as the code is.
    return None if place is None else (id(place.code), place.instruction)


_of_process = Spending()


def spendings_here() -> list[Spending]:
    """What the run that this is a part of has taken, and the blocks in it that have budgets, the
    outermost first.
    """
    found = [_of_process]
    for one in context_here().budgets:
        found = [one] if one.bounds is None else [*found, one]
    return found


def spending_here() -> Spending:
    """What the run has taken that this is a part of."""
    return spendings_here()[0]


def add_kept(
    settings: Settings, model: str, usage: Usage, longest: int, *, for_blocks: bool
) -> None:
    """Counts what a journal has kept that is opened here, also for the blocks around it or not."""
    for one in spendings_here() if for_blocks else [spending_here()]:
        one.has_kept = True
        one.add_kept(settings, model, usage, longest)


def note_kept(settings: Settings, model: str, usage: Usage) -> None:
    """Counts an answer from the journal, which the blocks inside of that have not counted yet."""
    run, *blocks = spendings_here()
    with run.lock:
        run.from_journal += 1
    for one in blocks:
        if not one.has_kept:
            one.add_kept(settings, model, usage, 0)


def _leave_to_parent() -> None:
    for spending in spendings_here():
        spending.forget_others()


after_fork(_leave_to_parent)


class Counting(Hook):
    """Counts one prompt and its requests, each try anew."""

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt
        self._spendings = spendings_here()

    def prompt(self, prompt: PromptRun, proceed: AnswerPrompt) -> Effects[Answer]:
        """The answer of a prompt that is counted; what ends the run around it is noted."""
        self._count_prompt(1, 0)
        try:
            return (yield from proceed(prompt))
        except RunStopped as error:
            noted = context_here().stops
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

    def request(self, request: Request, proceed: SendRequest) -> Replying:
        """The reply, counted; one that was left or broke off, as what it is likely to have taken.

        A try counts that may have been paid, also without a reply. One that was refused, or has
        reached nobody, does not.
        """
        prompt, usage = self._prompt, Usage(requests=1)
        model = prompt.model_of(request)
        reserved = self._spendings[-1].reservations.get(prompt)
        reply: Reply | None = None
        try:
            reply = yield from proceed(request)
            usage = reply.usage
            if reserved is not None and not (usage.input_tokens or usage.output_tokens):
                written = [reply.text, *(call.arguments for call in reply.tool_calls)]
                usage = reserved.usage(written)
            return reply
        except ProviderError as error:
            if error.stays_away:
                usage = Usage()
            elif error.another_try or error.status is None or error.status >= 500:
                usage = Usage(tokens_in(request), 0, 1) if reserved is None else reserved.usage()
            raise
        finally:
            if reply is None and request.pieces:
                usage = Usage(tokens_in(request), tokens_of(request.pieces), 1)
            for one in self._spendings:
                one.add(prompt, model, usage)


def hook_for(prompt: PromptRun) -> Counting:
    """What counts a prompt."""
    return Counting(prompt)


def is_of_block(error: BaseException) -> bool:
    """Whether it is the budget of a block that is spent, and not that of the run around it."""
    return any(one.passed is error for one in spendings_here()[1:])


def tokens_in(request: Request) -> int:
    """About how many tokens a request has."""
    return len(json.dumps(request.canonical(), ensure_ascii=False)) // _TOKEN


def tokens_of(texts: Iterable[str]) -> int:
    """About how many tokens these texts have together."""
    return -(-sum(map(len, texts)) // _TOKEN)
