"""Budgets of runs and blocks: limits on requests, tokens and cost.

A request in flight reserves tokens for its input and its reply. If the request sets `max_tokens`,
it reserves that many for the reply, and the budget is never exceeded. Otherwise, it reserves as
many as the longest reply so far to the same prompt by the same model, or at least 4,000 before the
first reply. If the budget has fewer tokens left, the request limits the reply to the rest of the
budget. A request that does not fit beside the requests in flight waits for them.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import lru_cache
from heapq import nlargest
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from runtime_support._core.conversation import is_cut
from runtime_support._core.hooks import BUDGETS, Hook
from runtime_support._core.messages import AssistantMessage, ReplyStream, Request, is_in_exchange
from runtime_support._core.notes import note
from runtime_support._core.results import Result, Usage
from runtime_support._core.settings import Price, Settings, settings_to_show
from runtime_support._core.spending import (
    Reservation,
    UsageMeter,
    UsageRecord,
    Waiter,
    current_meter,
    current_meters,
    key_of,
    tokens_in,
)
from runtime_support._core.tasks.turns import check_cancelled, current_task, note_wait
from runtime_support._core.tasks.waits import LOOK_SECONDS, Signal, Steps, Wait, drive
from runtime_support._values.context import Block
from runtime_support._values.kinds import counted
from runtime_support.errors import BudgetSpent, ConfigError, ProviderError
from runtime_support.providers import provider_and_model

if TYPE_CHECKING:
    from collections.abc import Generator

    from runtime_support._core.hooks import PromptRun, SendRequest

# How many of the most expensive prompts are reported.
_MOST_PLACES = 3
# The estimate of a reply before the first one of its prompt and model; reasoning needs more tokens.
FIRST_REPLY = 4_000
FIRST_REPLY_WITH_THOUGHTS = 16_000
# The smallest limit for a reply: the Responses API rejects smaller ones.
LEAST_REPLY = 16
# The names of our providers in the package `genai-prices`.
_SELLERS = {
    **{name: name for name in ("openai", "openrouter", "anthropic")},
    "gemini": "google",
}
# The price of cache writes if unknown, as a multiple of the input price.
_WRITING = 1.25


@dataclass(slots=True)
class Spent:
    """The requests, tokens and cost of a run or of a part of a run.

    The tokens are counted as in `Usage`, and the cost is in US dollars. `unpriced` counts the
    tokens whose price is unknown and that are charged at another price. If there are any, the cost
    is an upper bound. `without_price` counts the tokens of models that have no price and are not
    charged. If there are any, the cost is a lower bound.
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
        """The sum of input and output tokens."""
        return self.input_tokens + self.output_tokens

    @property
    def usage(self) -> Usage:
        """The requests and tokens as a Usage."""
        return Usage(**{own.name: getattr(self, own.name) for own in fields(Usage)})

    def add(self, more: Spent) -> None:
        """Adds the requests, tokens and cost of `more`."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(more, name))

    @property
    def cost_text(self) -> str:
        """The cost as text. If part of it is unknown, the text is a bound: `at most $2`.

        The text is empty if the whole cost is unknown.
        """
        if not self.cost:
            return "" if self.without_price else dollars(0)
        bounds = {(True, False): "at most ", (False, True): "at least ", (True, True): "about "}
        return bounds.get((self.unpriced > 0, self.without_price > 0), "") + dollars(self.cost)

    def __str__(self) -> str:
        cached = f" ({self.cached_tokens:,} cached)" if self.cached_tokens else ""
        parts = [counted(self.requests, "request"), counted(self.tokens, "token") + cached]
        if self.cost:
            parts.append(f"cost {self.cost_text}")
        return ", ".join(parts)


def spent_of(taken: Iterable[UsageRecord]) -> Spent:
    """Returns the sum of these usage records, with its cost."""
    total = Spent()
    for one in taken:
        total.add(_spent_by(price_of(one.settings, one.model, one.length), one.usage))
    return total


def current_usage() -> Spent:
    """Returns the usage of the current run."""
    return spent_of(current_meter().taken())


def _dearest(
    taken: Iterable[UsageRecord], part: Callable[[UsageRecord], str | None], most: int | None = None
) -> list[str]:
    """Groups usage records and describes each group in a line: `m: 3 requests, 54 tokens`.

    The most expensive group comes first. `part` returns the name of a record's group, or None to
    omit the record. `most` limits the number of lines.
    """
    parts: dict[str, list[UsageRecord]] = {}
    for one in taken:
        if name := part(one):
            parts.setdefault(name, []).append(one)
    found = [(name, spent_of(of_part)) for name, of_part in parts.items()]
    ranked = nlargest(most or len(found), found, key=lambda pair: (pair[1].cost, pair[1].tokens))
    return [f"{name}: {spent}" for name, spent in ranked]


def _place_of(taken: UsageRecord) -> str | None:
    return None if taken.place is None else taken.place.text()


# Limits


class _BudgetLimit(NamedTuple):
    """A limit of a budget, and how many tokens it leaves for a reply.

    `setting` is the name of the budget's setting, `text` the limit in words.
    """

    setting: str
    text: str
    room: float


class _Estimate:
    """An upper estimate of the tokens and the cost of a request.

    Raises ConfigError if a cost budget needs a price that is unknown.
    """

    def __init__(self, prompt: PromptRun, request: Request) -> None:
        settings, model = prompt.settings, prompt.model_of(request)
        self.request, self.model, self.place = request, model, key_of(prompt.place)
        # The size of the longest possible reply, if the request limits it.
        self.most = _most_output(request)
        self.input_tokens = tokens_in(request) if self.most is None else _bytes(request)
        price = price_of(settings, model, self.input_tokens)
        self.input_cost = self.each = 0.0
        if price is not None:
            dearest = max(price["input"], _cached(price), _written(price))
            self.input_cost = self.input_tokens * dearest / 1_000_000
            self.each = price["output"] / 1_000_000
        elif settings.budget_cost is not None:
            raise no_price(model)

    def reply_of(self, taken: Sequence[UsageRecord]) -> int:
        """Estimates the tokens of the reply, from the request's limit or from earlier replies."""
        if self.most is not None:
            return self.most
        same = [one for one in taken if one.model == self.model]
        here = [one.longest for one in same if one.longest and key_of(one.place) == self.place]
        if here:
            return max(here)
        thinks = self.request.options.get("reasoning_effort") is not None
        thinks = thinks or any(one.usage.reasoning_tokens for one in same)
        first = FIRST_REPLY_WITH_THOUGHTS if thinks else FIRST_REPLY
        return max([first, *(one.longest for one in same)])

    def reservation(self, reply: int) -> Reservation:
        """Returns the reservation for a reply of `reply` tokens."""
        cost = self.input_cost + reply * self.each
        return Reservation(self.input_tokens, reply, cost, self.most is None)

    def tightest(self, bounds: Settings, spent: Spent) -> _BudgetLimit:
        """Returns the limit that leaves the fewest tokens for the reply, given the usage so far."""
        found = [_BudgetLimit("", "", float("inf"))]
        requests, tokens, cost = bounds.budget_requests, bounds.budget_tokens, bounds.budget_cost
        if requests is not None and spent.requests >= requests:
            found.append(_BudgetLimit("budget_requests", counted(requests, "request"), -1))
        if tokens is not None:
            room = tokens - spent.tokens - self.input_tokens
            found.append(_BudgetLimit("budget_tokens", counted(tokens, "token"), room))
        if cost is not None:
            left = cost - spent.cost - self.input_cost
            room = left / self.each if self.each else float("inf" if left >= 0 else "-inf")
            found.append(_BudgetLimit("budget_cost", f"a cost of {dollars(cost)}", room))
        return min(found, key=lambda one: one.room)


def _reserve(
    prompt: PromptRun, spending: UsageMeter, bounds: Settings, estimate: _Estimate
) -> Steps[Reservation]:
    """Reserves the estimated usage of a request, after waiting for requests in flight if needed.

    Raises BudgetSpent if the budget is too small even without the requests in flight, or if those
    requests leave too little and this request cannot wait.
    """
    own: Waiter | None = None
    may_wait = not is_in_exchange()
    began = time.monotonic()
    try:
        while True:
            check_cancelled()
            with spending.lock:
                # A request that has waited a while may overtake the first in the queue, since that
                # one may depend on a request that comes earlier in the script.
                if own is not None or not spending.waiting or not may_wait:
                    reserved = _try_to_reserve(spending, bounds, estimate, may_wait=may_wait)
                    if reserved is not None:
                        spending.reservations[prompt] = reserved
                        return reserved
                if own is None:
                    task = current_task()
                    own = Waiter(() if task is None else task.path, Signal())
                    insort(spending.waiting, own, key=lambda one: one.path)
            may_wait = yield Wait(_can_wait, _can_be_awaited)
            if may_wait:
                yield own.signal.awaited(LOOK_SECONDS)
    finally:
        if own is not None:
            note_wait(time.monotonic() - began)
            with spending.lock:
                spending.waiting.remove(own)
                spending.wake()


def _try_to_reserve(
    spending: UsageMeter, bounds: Settings, estimate: _Estimate, *, may_wait: bool
) -> Reservation | None:
    """Returns a reservation, or None if the request must wait; raises BudgetSpent like `_reserve`.

    The caller must hold the lock of `spending`.
    """
    taken = spending.taken()
    spent, reply = spent_of(taken), estimate.reply_of(current_meter().taken())
    least = reply if estimate.most is not None else min(reply, LEAST_REPLY)
    bound = estimate.tightest(bounds, spent)
    if bound.room >= least:
        for one in spending.reservations.values():
            spent.add(Spent(1, one.input_tokens, one.output_tokens, one.cost))
        bound = estimate.tightest(bounds, spent)
        if bound.room >= reply:
            return estimate.reservation(reply)
        if may_wait and not all(one.is_aside for one in spending.reservations.values()):
            return None
        if bound.room >= least:
            reserved = estimate.reservation(int(bound.room))
            reserved.most = reserved.output_tokens
            return reserved
    spending.passed = _passed(bound, taken)
    raise spending.passed


def _passed(bound: _BudgetLimit, taken: Sequence[UsageRecord]) -> BudgetSpent:
    where = "; ".join(_dearest(taken, _place_of, _MOST_PLACES))
    return BudgetSpent(
        f"the next request would pass the budget of {bound.text}; spent so far: "
        + str(spent_of(taken))
        + (f" ({where})" if where else ""),
        hint=f"raise `{bound.setting}` to continue",
    )


# The names of a reply's token limit in requests to servers.
_LIMITS_OF_OUTPUT = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def _most_output(request: Request) -> int | None:
    """Returns the most output tokens that a request allows, or None if it sets no limit."""
    extra = request.options.get("extra_body", {})
    own = [request.options["max_tokens"]] if "max_tokens" in request.options else list[Any]()
    others = [extra[name] for name in _LIMITS_OF_OUTPUT if name in extra]
    limits: list[Any] = own + others
    if not limits or not all(type(limit) is int and limit > 0 for limit in limits):
        return None
    times = extra.get("n", 1)
    return max(limits) * times if type(times) is int and times > 0 else None


def _bytes(request: Request) -> int:
    """Returns the size of a request in bytes, which is an upper bound of its tokens."""
    opaque: list[Any] = []
    for message in request.messages:
        if isinstance(message, AssistantMessage):
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


def no_price(model: str) -> ConfigError:
    """Returns the error for a model whose price is unknown, although a cost budget needs it."""
    return ConfigError(
        f"budget_cost: there is no price of the model {model}",
        setting="prices",
        hint="the project file has prices: [tool.saft.prices] "
        f'"{model}" = {{ input = ..., output = ... }}, for a million tokens each',
    )


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
    """Returns a model's price from the settings, or else from the package `genai-prices`.

    Returns None if the price is unknown. The package is optional, and used only if requests go to
    the provider's own server. On another server, a model may have the same name and another price.
    `sent` is the number of input tokens, since some models cost more for a long input.
    """
    given = settings.prices.get(model)
    if given is not None or settings.base_url or os.environ.get("OPENAI_BASE_URL"):
        return given
    known = _well_known(provider_and_model(settings)[0], model)
    price = {
        name: max((cost for start, cost in steps if start <= sent), default=0.0)
        for name, steps in known.items()
    }
    return cast("Price", price) if {"input", "output"} <= price.keys() else None


@lru_cache(maxsize=256)
def _well_known(provider: str, model: str) -> Mapping[str, Sequence[tuple[int, float]]]:
    """Maps the keys of a model's `Price`, such as `input`, to its prices in `genai-prices`.

    Each key has pairs: a number of input tokens, and the price from that number on. The mapping is
    empty if the package is not installed or does not know the model.
    """
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
    """Formats a cost: `$0.00021`, `$1,250.00`."""
    if cost >= 100:
        return f"${cost:,.2f}"
    return f"${Decimal(f'{cost:.4g}'):f}"


def cost_of(price: Price, usage: Usage) -> tuple[float, int]:
    """Returns the cost in US dollars, and the number of tokens whose price is unknown.

    The price of tokens read from or written to the cache is unknown if `price` has no entry for
    it. These tokens are charged at another price.
    """
    cached, written = usage.cached_tokens, usage.cache_write_tokens
    plain = max(0, usage.input_tokens - cached - written)
    cost = plain * price["input"] + cached * _cached(price) + written * _written(price)
    unpriced = cached * ("cached_input" not in price) + written * ("cache_write" not in price)
    return (cost + usage.output_tokens * price["output"]) / 1_000_000, unpriced


def result_page(result: Result[Any]) -> str:
    """Returns a result as HTML, with its tool calls, tokens and cost.

    All text of the model is escaped.
    """
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
    """True if this thread may block, because it does not run an event loop."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


async def _can_be_awaited() -> bool:
    return True


class BudgetHook(Hook):
    """Keeps the requests of a prompt, including retries, within all budgets that apply."""

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt
        self._spendings = current_meters()

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Reserves usage for a request, sends it and returns the reply.

        Raises BudgetSpent if the budget is used up, or if it has cut the reply. If the server
        rejects the limit on the reply, the request is sent again without the limit.
        """
        tightest, reserved = yield from self._reserve(request)
        most = reserved.most
        try:
            bounded = replace(request, most_output=most)
            reply = yield from drive(proceed(bounded), self._step)
        except ProviderError as error:
            if most is None or error.status not in (400, 422):
                raise
            yield from self._reserve(request)
            return (yield from drive(proceed(request), self._step))
        # Another limit may have cut the reply earlier. Some servers do not count the last token.
        if most is not None and is_cut(reply) and not 0 < reply.output_tokens < most - 1:
            spent = BudgetSpent(
                f"the reply was cut at {counted(most, 'token')}, the rest of the budget",
                hint="raise `budget_tokens` or `budget_cost` to continue",
            )
            spent.text = reply.text
            tightest.passed = spent
            raise spent
        return reply

    def _reserve(self, request: Request) -> Steps[tuple[UsageMeter, Reservation]]:
        """Reserves usage for the request in all budgets that apply.

        Returns the meter whose budget leaves the fewest tokens for the reply, with its reservation.
        """
        prompt, estimate = self._prompt, _Estimate(self._prompt, request)
        reserved: list[tuple[UsageMeter, Reservation]] = []
        try:
            # Innermost first, so that requests wait at each level for those that have passed the
            # inner ones.
            for spending, bounds in reversed(_bounds_of(prompt.settings, self._spendings)):
                one = yield from _reserve(prompt, spending, bounds, estimate)
                reserved.append((spending, one))
        except BaseException:
            for spending in self._spendings:
                spending.add(prompt, estimate.model, Usage())
            raise
        return min(reserved, key=lambda pair: pair[1].output_tokens)

    def _step(self, step: Wait | str) -> Steps[Any]:
        """Yields a wait or a chunk of the reply.

        While the caller handles a chunk, it may send other requests, which must not wait for this
        one. So the reservation is marked by `is_aside` until the caller asks for the next step.
        """
        if isinstance(step, Wait):
            return (yield step)
        self._set_aside(True)
        try:
            yield step
        finally:
            self._set_aside(False)

    def _set_aside(self, is_aside: bool) -> None:
        for spending in self._spendings:
            with spending.lock:
                reserved = spending.reservations.get(self._prompt)
                if reserved is not None:
                    reserved.is_aside = is_aside
                spending.wake()


def hook_for(prompt: PromptRun) -> BudgetHook | None:
    """Returns the hook that enforces the budgets of a prompt, or None if no budget applies."""
    return BudgetHook(prompt) if _is_bounded(prompt) else None


def _is_bounded(prompt: PromptRun) -> bool:
    has_budget = any(getattr(prompt.settings, name) is not None for name in BUDGETS)
    return has_budget or any(one.bounds for one in current_meters())


def answers_in_order(prompt: PromptRun) -> bool:
    """True if requests must be sent in the script's order, since a budget is nearly used up.

    A budget is nearly used up if the requests that may run ahead could use the rest.
    """
    if not _is_bounded(prompt):
        return False
    settings = prompt.settings
    ahead = 2 * settings.max_in_flight
    ahead = ahead if prompt.ahead is None else min(ahead, prompt.ahead)
    for spending, bounds in _bounds_of(settings, current_meters()):
        soon = spent_of(spending.taken())
        share = 1 + ahead / max(1, soon.requests)
        if (
            _is_above(bounds.budget_requests, soon.requests + ahead)
            or _is_above(bounds.budget_tokens, soon.tokens * share)
            or _is_above(bounds.budget_cost, soon.cost * share)
        ):
            return True
    return False


def _is_above(bound: float | None, value: float) -> bool:
    return bound is not None and value >= bound


def budget_of_block(bounds: Mapping[str, Any]) -> UsageMeter:
    """Returns the meter of a new block that has the budgets `bounds`.

    The block is inside of the budgets that apply to the caller.
    """
    outside = settings_to_show()
    return UsageMeter(bounds, {name: getattr(outside, name) for name in BUDGETS})


def _bounds_of(
    settings: Settings, spendings: Sequence[UsageMeter]
) -> list[tuple[UsageMeter, Settings]]:
    """Returns each meter that counts a request, with settings that hold the meter's budgets.

    The meter of the run comes first, and that of the innermost block last. Budgets in the prompt's
    options apply to the last meter.
    """
    run, *blocks = spendings
    if not blocks:
        return [(run, settings)]
    bounds = [blocks[0].around, *(one.bounds or {} for one in blocks)]
    for name in BUDGETS:
        said = getattr(settings, name)
        of_blocks = next((one[name] for one in reversed(bounds) if name in one), None)
        if said is not None and said != of_blocks:
            bounds[-1] = {**bounds[-1], name: said}
    bounded = ({name: one.get(name) for name in BUDGETS} for one in bounds)
    return [
        (spending, replace(settings, **own))
        for spending, own in zip(spendings, bounded, strict=True)
    ]


@contextmanager
def spending_apart() -> Generator[UsageMeter]:
    """Counts the usage in the `with` block like that of a separate run, with full budgets."""
    spending = UsageMeter()
    with Block(budgets=spending):
        yield spending


def report_usage(*, is_wanted: bool = False) -> None:
    """Reports the run's usage once, if SAFT_USAGE is set or if `is_wanted`.

    With SAFT_USAGE=1 the report lists models and the most expensive prompts. SAFT_USAGE=0 disables
    the report.
    """
    spending, asked = current_meter(), os.environ.get("SAFT_USAGE", "")
    if asked == "0" or not (asked or is_wanted) or spending.was_told:
        return
    if not spending.prompts and not spending.in_flight:
        return
    spending.was_told = True
    kept = f"; {spending.from_journal:,} answers from the journal" * bool(spending.from_journal)
    open_ones = f"; {spending.in_flight:,} in flight" * bool(spending.in_flight)
    prompts = counted(spending.prompts, "prompt")
    note(f"{prompts}: {spent_of(spending.sent())}, {spending.seconds():.1f} s{kept}{open_ones}")
    if asked:
        taken = spending.taken()
        models = _dearest(taken, lambda one: one.model)
        # Looking up the line of a place may compile the script again.
        several = len({key_of(one.place) for one in taken}) > 1
        places = _dearest(taken, _place_of, _MOST_PLACES) if several else list[str]()
        for part in [*models * (len(models) > 1), *places * (len(places) > 1)]:
            note(f"  {part}")


atexit.register(report_usage)
