"""What a run has spent, and the budget that ends it.

    Metered(provider, settings, place).complete(request)     counts, and stops where the budget ends
    spending_here().total          how much that was until now

The request that would pass the budget is not sent. How many tokens it takes is guessed from its
length and from the replies so far; what is under way counts with its guess.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from heapq import nlargest

from runtime_support._config import Settings
from runtime_support._exchange import (
    Heard,
    Provider,
    Reply,
    Replying,
    Request,
    Streaming,
    replying,
)
from runtime_support._positions import Place
from runtime_support._tracing import note
from runtime_support._values import counted
from runtime_support.errors import BudgetSpent, ConfigError, RunStopped

# About as many characters make a token.
_TOKEN = 4
_MOST_PLACES = 3


@dataclass(slots=True)
class Spent:
    """Requests, tokens and cost, of a run or of one of its places."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Both kinds of tokens together."""
        return self.input_tokens + self.output_tokens

    def add(self, more: Spent) -> None:
        """Adds what was spent since."""
        self.requests += more.requests
        self.input_tokens += more.input_tokens
        self.output_tokens += more.output_tokens
        self.cost += more.cost

    def take(self, less: Spent) -> None:
        """Takes away what was added before."""
        self.add(Spent(-less.requests, -less.input_tokens, -less.output_tokens, -less.cost))

    def __str__(self) -> str:
        parts = [counted(self.requests, "request"), counted(self.tokens, "token")]
        if self.cost:
            parts.append(f"cost {self.cost:.4g}")
        return ", ".join(parts)


class Spending:
    """What a run has spent until now, and where; for all threads."""

    def __init__(self) -> None:
        self.total = Spent()
        self._by_place: dict[object, tuple[Place | None, Spent]] = {}
        # What requests are likely to take that have no reply yet.
        self._under_way = Spent()
        self._replies = 0
        # What processes before this one have taken, in a run that goes on.
        self._before = Spent()
        # The garbage collector may end a stream that was dropped while this counts something else.
        self._lock = threading.RLock()
        self._begun = time.monotonic()
        self.prompts = self.in_flight = self.from_journal = 0
        # What has ended a prompt and ought to end the run, whoever has caught it.
        self.stopped: RunStopped | None = None
        self.was_told = False

    def seconds(self) -> float:
        """How long the process has been asking."""
        return time.monotonic() - self._begun

    def sent(self) -> Spent:
        """What this process itself has taken."""
        with self._lock:
            own = Spent()
            own.add(self.total)
            own.take(self._before)
        return own

    @contextmanager
    def one_prompt(self) -> Generator[None]:
        """Counts a prompt: in flight inside of the block, and done with its end."""
        with self._lock:
            self.in_flight += 1
        try:
            yield
        except RunStopped as error:
            self.stopped = self.stopped or error
            raise
        finally:
            with self._lock:
                self.in_flight -= 1
                self.prompts += 1

    def note_kept(self) -> None:
        """Counts an answer that came from the journal."""
        with self._lock:
            self.from_journal += 1

    def begin(self, settings: Settings, request: Request, model: str, place: Place | None) -> Spent:
        """Counts a request that is about to be sent, and guesses what it takes.

        BudgetSpent when that would be too much.
        """
        with self._lock:
            guess = Spent()
            if _bounds(settings):
                guess = self._guess(settings, request, model)
                self._check(settings, guess)
            self.total.requests += 1
            self._at(place).requests += 1
            self._under_way.add(guess)
        return guess

    def is_scarce(self, settings: Settings) -> bool:
        """Whether the requests that may be asked ahead could take all that is left of a budget."""
        ahead = 2 * settings.max_in_flight
        with self._lock:
            total, each = self.total, ahead / max(1, self._replies)
            soon = Spent(ahead, round(total.input_tokens * each), round(total.output_tokens * each))
            soon.cost = total.cost * each
            soon.add(total)
        return any(getattr(soon, what) >= most for _, what, most, _ in _bounds(settings))

    def end(
        self, settings: Settings, reply: Reply | None, model: str, place: Place | None, guess: Spent
    ) -> None:
        """Counts what a request has taken, in the place of what was guessed."""
        with self._lock:
            self._under_way.take(guess)
            if reply is None:
                return
            self._replies += 1
            taken = _spent(settings, model, 0, reply.input_tokens, reply.output_tokens)
            self.total.add(taken)
            self._at(place).add(taken)

    def add_kept(
        self, settings: Settings, model: str, requests: int, sent: int, answered: int
    ) -> None:
        """Counts what the run has taken before, in processes that have ended."""
        with self._lock:
            kept = _spent(settings, model, requests, sent, answered)
            self.total.add(kept)
            self._before.add(kept)
            self._replies += requests  # what they usually take is known from them, too

    def _at(self, place: Place | None) -> Spent:
        # The hash of code takes as long as the code is; the place keeps its identity unique.
        key = None if place is None else (id(place.code), place.instruction)
        return self._by_place.setdefault(key, (place, Spent()))[1]

    def _guess(self, settings: Settings, request: Request, model: str) -> Spent:
        if settings.max_cost is not None and model not in settings.prices:
            raise ConfigError(
                f"max_cost: there is no price of the model {model}",
                setting="prices",
                hint="the project file has prices: [tool.saft.prices] "
                f'"{model}" = {{ input = ..., output = ... }}, for a million tokens each',
            )
        sent = _tokens(request)
        usual = self.total.output_tokens // max(1, self._replies)
        return _spent(settings, model, 0, sent, usual)

    def _check(self, settings: Settings, guess: Spent) -> None:
        expected = Spent(requests=1)
        for part in (self.total, self._under_way, guess):
            expected.add(part)
        for setting, what, most, text in _bounds(settings):
            if getattr(expected, what) > most:
                raise self._passed(setting, text)

    def _passed(self, setting: str, bound: str) -> BudgetSpent:
        found = [(place, spent) for place, spent in self._by_place.values() if place is not None]
        ranked = nlargest(_MOST_PLACES, found, key=lambda pair: (pair[1].cost, pair[1].tokens))
        where = "; ".join(f"{place.text()}: {spent}" for place, spent in ranked)
        return BudgetSpent(
            f"the next request would pass the budget of {bound}; spent until now: {self.total}"
            + (f" ({where})" if where else ""),
            hint=f"raise `{setting}` to go on",
        )


def _bounds(settings: Settings) -> list[tuple[str, str, float, str]]:
    """What a run may take at most: each setting, of what, how much, and that in words."""
    requests, tokens, cost = settings.max_requests, settings.max_total_tokens, settings.max_cost
    found: list[tuple[str, str, float, str]] = []
    if requests is not None:
        found.append(("max_requests", "requests", requests, counted(requests, "request")))
    if tokens is not None:
        found.append(("max_total_tokens", "tokens", tokens, counted(tokens, "token")))
    if cost is not None:
        found.append(("max_cost", "cost", cost, f"a cost of {cost:g}"))
    return found


def _tokens(request: Request) -> int:
    """About how many tokens a request has."""
    return len(json.dumps(request.canonical(), ensure_ascii=False)) // _TOKEN


def _spent(settings: Settings, model: str, requests: int, sent: int, answered: int) -> Spent:
    price = settings.prices.get(model)
    if price is None:
        return Spent(requests, sent, answered)
    cost = (sent * price["input"] + answered * price["output"]) / 1_000_000
    return Spent(requests, sent, answered, cost)


class Metered(Streaming):
    """A provider whose requests are counted, for a prompt at this place."""

    def __init__(
        self, live: Callable[[], Provider], settings: Settings, place: Place | None
    ) -> None:
        self._live = live
        self._provider: Provider | None = None
        self.settings = settings
        self.place = place

    @property
    def provider(self) -> Provider:
        """The provider, made when it is needed: what a journal answers needs no key."""
        if self._provider is None:
            self._provider = self._live()
        return self._provider

    @property
    def answers_in_order(self) -> bool:
        """Whether which reply is given depends on what was asked before.

        So it does near the end of a budget: what stands first in the script is to have the rest.
        """
        is_scarce = spending_here().is_scarce(self.settings)
        return is_scarce or getattr(self.provider, "answers_in_order", False)

    def replying(self, request: Request, heard: Heard) -> Replying:
        """The reply; BudgetSpent when the run has no more to spend.

        What came of a reply that was left or broke off counts as what it is likely to have taken.
        """
        spending, settings, place = spending_here(), self.settings, self.place
        provider = self.provider
        model = request.model or own_model(provider)
        guess = spending.begin(settings, request, model, place)
        reply: Reply | None = None
        try:
            whole = reply = yield from replying(provider, request, heard)
            return whole
        finally:
            if reply is None and heard:
                answered = -(-sum(map(len, heard)) // _TOKEN)
                reply = Reply("", input_tokens=_tokens(request), output_tokens=answered)
            spending.end(settings, reply, model, place, guess)


def own_model(provider: Provider) -> str:
    """What stands for the model where none was named."""
    name: str = getattr(provider, "default_model", "")
    return name or type(provider).__name__.removesuffix("Provider").lower()


_of_process = Spending()
_of_block: ContextVar[Spending | None] = ContextVar("saft_spending", default=None)


def spending_here() -> Spending:
    """What the run has spent that this is a part of: the block around, or the process."""
    return _of_block.get() or _of_process


@contextmanager
def spending_apart() -> Generator[Spending]:
    """Has the block be counted for itself, with a budget of its own."""
    token = _of_block.set(spending := Spending())
    try:
        yield spending
    finally:
        _of_block.reset(token)


def tell_sum(*, is_wanted: bool = False) -> None:
    """Tells once what the run has taken, where SAFT_USAGE=1 asks for it or it `is_wanted`.

    SAFT_USAGE=0 asks for nothing of it.
    """
    spending, asked = spending_here(), os.environ.get("SAFT_USAGE", "")
    if asked == "0" or not (asked or is_wanted) or spending.was_told or not spending.prompts:
        return
    spending.was_told = True
    kept = f"; {spending.from_journal:,} answers from the journal" * bool(spending.from_journal)
    prompts = counted(spending.prompts, "prompt")
    note(f"{prompts}: {spending.sent()}, {spending.seconds():.1f} s{kept}")


atexit.register(tell_sum)
