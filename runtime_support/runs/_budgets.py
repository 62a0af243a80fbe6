"""What a run has spent, and the budget that ends it.

    from runtime_support.runs import _budgets      from now on requests are counted and bounded
    spending_here().total                          how much that was until now, also before

The request that would pass the budget is not sent. What it may take is reserved while it is under
way: with `max_tokens`, as much as it can take at all, and the bound holds. Without, its length and
the longest output so far; until a first reply has one, only a few requests are under way. What
does not fit beside others waits for them.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import lru_cache
from heapq import nlargest
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from runtime_support._context import Block, after_fork, context_here
from runtime_support._effects import LOOK_SECONDS, Effect, Effects, Signal, drive
from runtime_support._exchange import Reply, Replying, Request, Said, is_in_exchange
from runtime_support._hooks import BUDGETS, Hook
from runtime_support._notes import note
from runtime_support._order import check_cancelled, note_wait
from runtime_support._positions import Place
from runtime_support._results import Result, Usage
from runtime_support._settings import Price, Settings, settings_to_show
from runtime_support._tally import TOKEN, account, likely_reply, tokens_in
from runtime_support._values import counted
from runtime_support.errors import BudgetSpent, ConfigError, ProviderError, RunStopped
from runtime_support.providers import who_answers

if TYPE_CHECKING:
    from runtime_support._hooks import AnswerPrompt, PromptRun, SendRequest
    from runtime_support._results import Answer

_MOST_PLACES = 3
# How many requests are under way while the length of replies is unknown.
FIRST = 4
# The providers by the names that `genai-prices` has for them.
_SELLERS = {
    **{name: name for name in ("openai", "openrouter", "anthropic")},
    "gemini": "google",
}
# What a provider takes for writing to its cache where the price is not known, by that of input.
_WRITING = 1.25


@dataclass(slots=True)
class Spent:
    """Requests, tokens and cost, of a run or of one of its places.

    The tokens are as in `Usage`; those that are `unpriced` have the price of others, and the cost,
    in US dollars, is at most what it says. Where some are of a model `without_price`, it is at
    least that.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    unpriced: int = 0
    without_price: int = 0

    @property
    def tokens(self) -> int:
        """Both kinds of tokens together."""
        return self.input_tokens + self.output_tokens

    @property
    def usage(self) -> Usage:
        """The same as a prompt tells it."""
        return Usage(**{own.name: getattr(self, own.name) for own in fields(Usage)})

    def add(self, more: Spent) -> None:
        """Adds what was spent since."""
        self.requests += more.requests
        self.input_tokens += more.input_tokens
        self.output_tokens += more.output_tokens
        self.cost += more.cost
        self.cached_tokens += more.cached_tokens
        self.cache_write_tokens += more.cache_write_tokens
        self.reasoning_tokens += more.reasoning_tokens
        self.unpriced += more.unpriced
        self.without_price += more.without_price

    def take(self, less: Spent) -> None:
        """Takes away what was added before."""
        self.add(Spent(*(-getattr(less, own.name) for own in fields(less))))

    def __str__(self) -> str:
        cached = f" ({self.cached_tokens:,} cached)" if self.cached_tokens else ""
        parts = [counted(self.requests, "request"), counted(self.tokens, "token") + cached]
        if self.cost:
            bounds = {(True, False): "at most ", (False, True): "at least ", (True, True): "about "}
            bound = bounds.get((self.unpriced > 0, self.without_price > 0), "")
            parts.append(f"cost {bound}{dollars(self.cost)}")
        return ", ".join(parts)


@dataclass(slots=True)
class Reserved:
    """What a request under way may take at most; an `open` one may have any output beside that.

    `price` is that of its output, for a token. A `blind` one began before anybody knew how long
    replies are. What is `aside` is not waited for.
    """

    spent: Spent
    price: float = 0.0
    is_open: bool = False
    is_blind: bool = False
    is_aside: bool = False


class Spending:
    """What a run has spent until now, and where; for all threads."""

    def __init__(self, largest: int | None = None, began: float | None = None) -> None:
        self.total = Spent()
        self._by_place: dict[object, tuple[Place | None, Spent]] = {}
        # What processes before this one have taken, in a run that goes on.
        self._before = Spent()
        # Whether all that a journal has kept was counted when it was opened.
        self.has_kept = False
        # The longest output of a reply until now, in tokens; None while there is none.
        self.largest = largest
        self._replies = 0
        self._began = time.monotonic() if began is None else began
        self.prompts = self.in_flight = self.from_journal = 0
        # What was raised last as its own budget was spent.
        self.passed: BudgetSpent | None = None
        self.was_told = False
        self.forget_others()

    def forget_others(self) -> None:
        """Leaves what is under way to the process that this one was forked from."""
        # The garbage collector may end a stream that was dropped while this counts something else.
        self._lock = threading.RLock()
        self._reserved = Spent()
        # How many requests under way are open, and the sum of the prices of their outputs.
        self._open, self._open_prices = 0, 0.0
        # How many requests of a budget are under way, and how many of them are blind; without those
        # that are aside.
        self._active = self._blind = 0
        self._waiting: deque[Signal] = deque()

    def take_over(self) -> None:
        """Counts what was asked before anybody has counted, or by what began before."""
        if account.is_empty:
            return
        taken, prompts, replies, largest = account.take()
        with self._lock:
            self.prompts += prompts
            self._replies += replies
            if replies:
                self.largest = max(self.largest or 0, largest)
            for one in taken:
                spent = _spent(one.settings, one.model, one.usage)
                self.total.add(spent)
                self._at(one.place).add(spent)

    def seconds(self) -> float:
        """How long the process has been asking."""
        return time.monotonic() - self._began

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
        finally:
            with self._lock:
                self.in_flight -= 1
                self.prompts += 1

    def note_kept(self) -> None:
        """Counts an answer that came from the journal."""
        with self._lock:
            self.from_journal += 1

    def add_answer(self, settings: Settings, model: str, usage: Usage) -> None:
        """Counts an answer that was paid for before, in a process that has ended."""
        with self._lock:
            self.total.add(_spent(settings, model, usage))

    def begin(
        self, settings: Settings, request: Request, model: str, place: Place | None
    ) -> Effects[Reserved | None]:
        """Counts a request that is about to be sent, and reserves what it may take.

        None where there is no bound of tokens or of cost.

        Waits for others to end where it does not fit beside them. BudgetSpent when it would be too
        much without them, too, or when there is no request that could be waited for.
        """
        if not _bounds_what_is_told(settings):
            with self._lock:
                self._begin_one(settings, place)
            return None
        asks = _Asks(settings, request, model)
        own: Signal | None = None
        may_wait = not is_in_exchange()
        began = time.monotonic()
        try:
            while True:
                check_cancelled()
                with self._lock:
                    # One that has waited for a while tries also when it is not the next: that one
                    # may be held by something that comes before it in the script.
                    is_next = own is not None or not self._waiting
                    if is_next or not may_wait:
                        reserved = self._reserve(settings, asks, place, may_wait=may_wait)
                        if reserved is not None:
                            return reserved
                    if own is None:
                        own = Signal()
                        self._waiting.append(own)
                may_wait = yield Effect(_can_wait, _can_be_awaited)
                if may_wait:
                    yield own.awaited(LOOK_SECONDS)
        finally:
            if own is not None:
                note_wait(time.monotonic() - began)
                with self._lock:
                    self._waiting.remove(own)
                    self._wake()

    def is_scarce(self, settings: Settings, calls: int | None) -> bool:
        """Whether the requests that may be asked ahead could take all that is left of a budget.

        `calls` is how many there are that may ask, where that is known.
        """
        ahead = 2 * settings.max_in_flight
        ahead = ahead if calls is None else min(ahead, calls)
        with self._lock:
            total, each = self.total, ahead / max(1, self._replies)
            soon = Spent(ahead, round(total.input_tokens * each), round(total.output_tokens * each))
            soon.cost = total.cost * each
            soon.add(total)
        return any(getattr(soon, what) >= most for _, what, most, _ in _bounds(settings))

    def end(
        self,
        settings: Settings,
        reply: Reply | None,
        model: str,
        place: Place | None,
        reserved: Reserved | None,
    ) -> None:
        """Counts what a request has taken, in the place of what was reserved.

        Where the server has not told, that is what was reserved, or the length of the reply.
        """
        with self._lock:
            if reserved is not None:
                self._reserved.take(reserved.spent)
                self._open -= reserved.is_open
                self._open_prices = self._open_prices - reserved.price if self._open else 0.0
                self._note_active(reserved, -(not reserved.is_aside))
            if reply is not None:
                self._count(settings, reply, model, place, reserved)
            self._wake()

    def lose(
        self,
        settings: Settings,
        request: Request,
        model: str,
        place: Place | None,
        reserved: Reserved | None,
    ) -> None:
        """Ends a request that has no reply, and counts what was reserved for it, or its length."""
        guess = Spent(0, tokens_in(request)) if reserved is None else reserved.spent
        taken = _spent(settings, model, Usage(guess.input_tokens, guess.output_tokens))
        taken.requests = 0  # it was counted when it began
        with self._lock:
            self.total.add(taken)
            self._at(place).add(taken)
        self.end(settings, None, model, place, reserved)

    def take_back(
        self, settings: Settings, model: str, place: Place | None, reserved: Reserved | None
    ) -> None:
        """Ends a request that was begun and is not sent."""
        with self._lock:
            self.total.requests -= 1
            self._at(place).requests -= 1
        self.end(settings, None, model, place, reserved)

    @contextmanager
    def aside(self, reserved: Reserved) -> Generator[None]:
        """In the block no other request waits for this one, since others may be asked there."""
        with self._lock:
            reserved.is_aside = True
            self._note_active(reserved, -1)
            self._wake()
        try:
            yield
        finally:
            with self._lock:
                reserved.is_aside = False
                self._note_active(reserved, 1)

    def add_kept(self, settings: Settings, model: str, usage: Usage, largest: int) -> None:
        """Counts what the run has taken before, in processes that have ended."""
        with self._lock:
            self.has_kept = True
            kept = _spent(settings, model, usage)
            self.total.add(kept)
            self._before.add(kept)
            self._replies += usage.requests  # what they usually take is known from them, too
            self.largest = max(self.largest or 0, largest)

    def _count(
        self,
        settings: Settings,
        reply: Reply,
        model: str,
        place: Place | None,
        reserved: Reserved | None,
    ) -> None:
        usage = reply.usage
        if reserved is not None and not (reply.input_tokens or reply.output_tokens):
            guess = reserved.spent
            written = len(reply.text) + sum(len(call.arguments) for call in reply.tool_calls)
            answered = -(-written // TOKEN) if reserved.is_open else guess.output_tokens
            usage = Usage(guess.input_tokens, answered)
        taken = _spent(settings, model, usage)
        taken.requests = 0  # it was counted when it began
        self._replies += 1
        self.largest = max(self.largest or 0, usage.output_tokens)
        self.total.add(taken)
        self._at(place).add(taken)

    def _reserve(
        self, settings: Settings, asks: _Asks, place: Place | None, *, may_wait: bool
    ) -> Reserved | None:
        """Begins a request, with the lock held; None when it is to wait. See `begin`."""
        reserved = asks.reserved(is_blind=self.largest is None)
        # All that are open are taken to be as long as the longest reply until now.
        own = _of_open(self.largest, reserved.is_open, reserved.price)
        own.add(reserved.spent)
        passed = self._passed_bound(settings, self.total, own)
        if passed is not None:  # whatever those under way will take
            raise self._passed(*passed)
        may_wait = may_wait and self._active > 0
        if may_wait and reserved.is_blind and self._blind >= FIRST:
            return None
        others = _of_open(self.largest, self._open, self._open_prices)
        others.add(self._reserved)
        passed = self._passed_bound(settings, self.total, others, own)
        if passed is not None:
            if may_wait:
                return None
            raise self._passed(*passed)
        self._begin_one(settings, place)
        self._reserved.add(reserved.spent)
        self._open += reserved.is_open
        self._open_prices += reserved.price
        self._note_active(reserved, 1)
        return reserved

    def _begin_one(self, settings: Settings, place: Place | None) -> None:
        """Counts a request, with the lock held; BudgetSpent when there are to be no more."""
        if settings.budget_requests is not None:
            passed = self._passed_bound(settings, self.total)
            if passed is not None:
                raise self._passed(*passed)
        self.total.requests += 1
        self._at(place).requests += 1

    def _note_active(self, reserved: Reserved, change: int) -> None:
        self._active += change
        self._blind += change * reserved.is_blind

    def _wake(self) -> None:
        if self._waiting:
            self._waiting[0].ring()

    def _at(self, place: Place | None) -> Spent:
        # The hash of code takes as long as the code is; the place keeps its identity unique.
        key = None if place is None else (id(place.code), place.instruction)
        return self._by_place.setdefault(key, (place, Spent()))[1]

    def _passed_bound(self, settings: Settings, *parts: Spent) -> tuple[str, str] | None:
        """The setting and the bound that one more request with these would pass, if any."""
        expected = Spent(requests=1)
        for part in parts:
            expected.add(part)
        for setting, what, most, text in _bounds(settings):
            if getattr(expected, what) > most:
                return setting, text
        return None

    def _passed(self, setting: str, bound: str) -> BudgetSpent:
        found = [(place, spent) for place, spent in self._by_place.values() if place is not None]
        ranked = nlargest(_MOST_PLACES, found, key=lambda pair: (pair[1].cost, pair[1].tokens))
        where = "; ".join(f"{place.text()}: {spent}" for place, spent in ranked)
        self.passed = BudgetSpent(
            f"the next request would pass the budget of {bound}; spent until now: {self.total}"
            + (f" ({where})" if where else ""),
            hint=f"raise `{setting}` to go on",
        )
        return self.passed


def _bounds(settings: Settings) -> list[tuple[str, str, float, str]]:
    """What a run may take at most: each setting, of what, how much, and that in words."""
    requests, tokens, cost = settings.budget_requests, settings.budget_tokens, settings.budget_cost
    found: list[tuple[str, str, float, str]] = []
    if requests is not None:
        found.append(("budget_requests", "requests", requests, counted(requests, "request")))
    if tokens is not None:
        found.append(("budget_tokens", "tokens", tokens, counted(tokens, "token")))
    if cost is not None:
        found.append(("budget_cost", "cost", cost, f"a cost of {dollars(cost)}"))
    return found


def _bounds_what_is_told(settings: Settings) -> bool:
    return settings.budget_tokens is not None or settings.budget_cost is not None


class _Asks:
    """What a request may take; ConfigError when a budget needs a price that is not known."""

    def __init__(self, settings: Settings, request: Request, model: str) -> None:
        self._most = _most_output(request)
        self._sent = tokens_in(request) if self._most is None else _bytes(request)
        self._price = price_of(settings, model, self._sent)
        if settings.budget_cost is not None and self._price is None:
            raise ConfigError(
                f"budget_cost: there is no price of the model {model}",
                setting="prices",
                hint="the project file has prices: [tool.saft.prices] "
                f'"{model}" = {{ input = ..., output = ... }}, for a million tokens each',
            )

    def reserved(self, *, is_blind: bool) -> Reserved:
        """What is reserved for it; a guess while the length of replies is unknown."""
        spent, price = Spent(0, self._sent, self._most or 0), self._price
        each = 0.0
        if price is not None:
            dearest = max(price["input"], _cached(price), _written(price))
            each = price["output"] / 1_000_000
            spent.cost = self._sent * dearest / 1_000_000 + spent.output_tokens * each
        if self._most is not None:
            return Reserved(spent)
        return Reserved(spent, each, is_open=True, is_blind=is_blind)


def _of_open(largest: int | None, count: int, prices: float) -> Spent:
    """What the outputs of `count` open requests take, with the sum of their prices."""
    return Spent(0, 0, (largest or 0) * count, (largest or 0) * prices)


# What servers call the longest reply.
_LIMITS_OF_OUTPUT = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def _most_output(request: Request) -> int | None:
    """How many tokens the replies to a request can have; None when nothing bounds them."""
    extra = request.options.get("extra_body", {})
    own = [request.options["max_tokens"]] if "max_tokens" in request.options else list[Any]()
    others = [extra[name] for name in _LIMITS_OF_OUTPUT if name in extra]
    limits: list[Any] = own + others
    if not limits or not all(type(limit) is int and limit > 0 for limit in limits):
        return None
    times = extra.get("n", 1)
    return max(limits) * times if type(times) is int and times > 0 else None


def _bytes(request: Request) -> int:
    """The bytes of what a request sends: it has no more tokens."""
    opaque: list[Any] = []
    for message in request.messages:
        if isinstance(message, Said):
            opaque += [message.reply.opaque, *(one.opaque for one in message.reply.tool_calls)]
    sent = (
        request.messages,
        request.tools,
        request.schema,
        request.options.get("extra_body"),
        opaque,
    )
    text = json.dumps(sent, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode(errors="surrogatepass"))


def _spent(settings: Settings, model: str, usage: Usage) -> Spent:
    return _spent_by(price_of(settings, model, usage.input_tokens), usage)


def _spent_by(price: Price | None, usage: Usage) -> Spent:
    spent = Spent(
        usage.requests,
        usage.input_tokens,
        usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )
    if price is not None:
        spent.cost, spent.unpriced = cost_of(price, usage)
    else:
        spent.without_price = spent.tokens
    return spent


def price_of(settings: Settings, model: str, sent: int) -> Price | None:
    """What the model costs: as the settings say, or by the package `genai-prices` (an extra).

    That is asked about a provider at its own address alone: elsewhere a name says nothing. `sent`
    is how many tokens the input has, as some models cost more for a long one.
    """
    given = settings.prices.get(model)
    if given is not None or settings.base_url or os.environ.get("OPENAI_BASE_URL"):
        return given
    known = _well_known(who_answers(settings)[0], model)
    price = {
        name: max((cost for start, cost in steps if start <= sent), default=0.0)
        for name, steps in known.items()
    }
    return cast("Price", price) if {"input", "output"} <= price.keys() else None


@lru_cache(maxsize=256)
def _well_known(provider: str, model: str) -> Mapping[str, Sequence[tuple[int, float]]]:
    """The prices by `genai-prices`, each from a number of input tokens on; none that it lacks."""
    seller = _SELLERS.get(provider)
    if seller is None or find_spec("genai_prices") is None:
        return {}
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    try:
        found = calc_price(Tokens(), model, provider_id=seller).model_price
    except LookupError:
        return {}
    parts = {
        "input": found.input_mtok,
        "output": found.output_mtok,
        "cached_input": found.cache_read_mtok,
        "cache_write": found.cache_write_mtok,
    }
    return {name: _steps(one) for name, one in parts.items() if one is not None}


def _steps(price: Any) -> list[tuple[int, float]]:
    if isinstance(price, Decimal):
        return [(0, float(price))]
    return [(0, float(price.base)), *((one.start, float(one.price)) for one in price.tiers)]


def dollars(cost: float) -> str:
    """A cost as people write it: `$0.00021`, `$1,250.00`."""
    if cost >= 100:
        return f"${cost:,.2f}"
    return f"${Decimal(f'{cost:.4g}'):f}"


def cost_of(price: Price, usage: Usage) -> tuple[float, int]:
    """What this costs at most in US dollars, and how many of its tokens have no own price."""
    cached, written = usage.cached_tokens, usage.cache_write_tokens
    plain = max(0, usage.input_tokens - cached - written)
    cost = plain * price["input"] + cached * _cached(price) + written * _written(price)
    unpriced = cached * ("cached_input" not in price) + written * ("cache_write" not in price)
    return (cost + usage.output_tokens * price["output"]) / 1_000_000, unpriced


def result_page(result: Result[Any]) -> str:
    """A result as HTML, with its tools, tokens and cost; nothing of it is markup of a model's."""
    from html import escape

    usage, model = result.usage, result.model
    price = price_of(settings_to_show(), model, usage.input_tokens)
    spent = _spent_by(price, usage)
    style = "white-space: pre-wrap; margin: 0"
    parts = [f'<div style="{style}">{escape(str(result))}</div>']
    for call in result.tool_calls:
        gave = call.result if call.error is None else f"failed: {call.error}"
        args = json.dumps(call.args, ensure_ascii=False, default=str)
        shown = f"{call.tool}({args}) \u2192 {gave}"
        parts.append(f'<div style="{style}"><small>{escape(shown)}</small></div>')
    parts.append(f"<small>{escape(model)}: {escape(str(spent))}</small>")
    return "".join(parts)


def _cached(price: Price) -> float:
    return price.get("cached_input", price["input"])


def _written(price: Price) -> float:
    return price.get("cache_write", _WRITING * price["input"])


def _can_wait() -> bool:
    """Whether this thread may wait for others: not when an event loop needs it to go on."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


async def _can_be_awaited() -> bool:
    return True


class BudgetHook(Hook):
    """Counts the requests of one prompt, each try anew."""

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt

    def prompt(self, prompt: PromptRun, proceed: AnswerPrompt) -> Effects[Answer]:
        """The answer of a prompt that is counted; what ends the run is kept."""
        with _one_prompt():
            return (yield from proceed(prompt))

    def request(self, request: Request, proceed: SendRequest) -> Replying:
        """The reply; BudgetSpent when the run has no more to spend.

        What came of a reply that was left or broke off counts as what it is likely to have taken.
        """
        counting = _CountedRequest(self._prompt, request)
        yield from counting.begin()
        reply, error = None, None
        try:
            reply = yield from drive(proceed(request), counting.step)
            return reply
        except ProviderError as failure:
            error = failure
            raise
        finally:
            if reply is None and request.pieces:
                reply = likely_reply(request)
            counting.end(reply, error)


def hook_for(prompt: PromptRun) -> BudgetHook:
    """What counts every prompt, bounded or not."""
    return BudgetHook(prompt)


def answers_in_order(prompt: PromptRun) -> bool:
    """Whether what comes first in the script is to have the rest of a budget, near its end."""
    budgets = _budgets_of(prompt.settings)
    return any(one.is_scarce(settings, prompt.ahead) for one, settings in budgets)


class _CountedRequest:
    """One try of a request, in all that it counts for."""

    def __init__(self, prompt: PromptRun, request: Request) -> None:
        self._settings, self._place = prompt.settings, prompt.place
        self._request, self._model = request, prompt.model_of(request)
        self._budgets = _budgets_of(self._settings)
        self._begun: list[tuple[Spending, Reserved | None]] = []

    def begin(self) -> Effects[None]:
        """Begins one; BudgetSpent when the run has no more to spend."""
        try:
            # Each level waits for those that have passed the inner ones, which then go on.
            for spending, bounds in reversed(self._budgets):
                reserved = yield from spending.begin(
                    bounds, self._request, self._model, self._place
                )
                self._begun.append((spending, reserved))
        except BaseException:
            self._take_back()
            raise

    def step(self, step: Effect | str) -> Effects[Any]:
        """What comes of a step of a reply; who gets a piece of it may ask others meanwhile."""
        if isinstance(step, Effect):
            return (yield step)
        with ExitStack() as stack:
            for spending, reserved in self._begun:
                if reserved is not None:
                    stack.enter_context(spending.aside(reserved))
            yield step

    def end(self, reply: Reply | None, error: ProviderError | None) -> None:
        """Ends the last one, with what came of it."""
        if reply is None and error is not None:
            if error.stays_away:  # it was refused, or has reached nobody
                self._take_back()
            elif error.another_try or error.status is None or error.status >= 500:
                self._lose()
        for spending, reserved in self._begun:
            spending.end(self._settings, reply, self._model, self._place, reserved)

    def _lose(self) -> None:
        """Counts one without a reply, which may have been paid, as what was reserved for it."""
        for spending, reserved in self._begun:
            spending.lose(self._settings, self._request, self._model, self._place, reserved)
        self._begun.clear()

    def _take_back(self) -> None:
        for spending, reserved in self._begun:
            spending.take_back(self._settings, self._model, self._place, reserved)
        self._begun.clear()


_of_process = Spending(began=account.began)


class _BlockBudget(NamedTuple):
    """A block with a budget of its own: what is spent in it, its bounds, and those around it."""

    spending: Spending
    bounds: Mapping[str, Any]
    around: Mapping[str, Any]


def budget_of_block(bounds: Mapping[str, Any]) -> _BlockBudget:
    """What bounds the spending of a block, from its beginning on, beside the bounds around it."""
    outside = settings_to_show()
    around = {name: getattr(outside, name) for name in BUDGETS}
    return _BlockBudget(Spending(spending_here().largest), bounds, around)


def spending_here() -> Spending:
    """What the run has spent that this is a part of: what is counted for itself, or the process."""
    return _budgets_here()[0]


def _budgets_here() -> tuple[Spending, list[_BlockBudget]]:
    """The same, and the blocks inside of it that have budgets of their own, the outermost first."""
    apart: Spending | None = None
    blocks: list[_BlockBudget] = []
    for one in context_here().budgets:
        if isinstance(one, Spending):
            apart, blocks = one, []
        else:
            blocks.append(one)
    if apart is None:
        _of_process.take_over()
    return apart or _of_process, blocks


def _spent_here() -> list[Spending]:
    """What all of these have spent."""
    run, blocks = _budgets_here()
    return [run, *(block.spending for block in blocks)]


def _budgets_of(settings: Settings) -> list[tuple[Spending, Settings]]:
    """All that a request with these settings counts for, each with the settings that bound it.

    The outermost comes first. What the options of the prompt bound is the innermost.
    """
    run, blocks = _budgets_here()
    if not blocks:
        return [(run, settings)]
    bounds = [blocks[0].around, *(block.bounds for block in blocks)]
    for name in BUDGETS:
        said = getattr(settings, name)
        of_blocks = next((one[name] for one in reversed(bounds) if name in one), None)
        if said is not None and said != of_blocks:
            bounds[-1] = {**bounds[-1], name: said}
    bounded = ({name: one.get(name) for name in BUDGETS} for one in bounds)
    spent = (run, *(block.spending for block in blocks))
    return [
        (spending, replace(settings, **own)) for spending, own in zip(spent, bounded, strict=True)
    ]


@contextmanager
def _one_prompt() -> Generator[None]:
    """Counts a prompt, and keeps what ends the run that it is a part of."""
    spent = _spent_here()
    with ExitStack() as stack:
        for spending in spent:
            stack.enter_context(spending.one_prompt())
        try:
            yield
        except RunStopped as error:
            noted = context_here().stops
            if noted is not None and not is_of_block(error):  # that ends only what is inside of it
                noted.append(error)
            raise


def add_kept(
    settings: Settings, model: str, usage: Usage, largest: int, *, for_blocks: bool
) -> None:
    """Counts what a journal has kept that is opened here, also for the blocks around it or not."""
    for spending in _spent_here() if for_blocks else [spending_here()]:
        spending.add_kept(settings, model, usage, largest)


def note_kept(settings: Settings, model: str, usage: Usage) -> None:
    """Counts an answer from the journal, which the blocks inside of that have not counted yet."""
    run, *blocks = _spent_here()
    run.note_kept()
    for spending in blocks:
        if not spending.has_kept:
            spending.add_answer(settings, model, usage)


def is_of_block(error: BaseException) -> bool:
    """Whether it is the budget of a block that has ended, and not that of the run around it."""
    return any(one.passed is error for one in _spent_here()[1:])


account.is_closed = True


def _leave_to_parent() -> None:
    for spending in _spent_here():
        spending.forget_others()


after_fork(_leave_to_parent)


@contextmanager
def spending_apart(largest: int | None = None) -> Generator[Spending]:
    """Counts the block separately, with its own budget.

    `largest` is the longest output until now, where somebody knows of one.
    """
    spending = Spending(largest)
    with Block(budgets=spending):
        yield spending


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
