"""The settings of a run in this project that bound its requests."""

from typing import NamedTuple

from saftc.cost.rules import Limits


class ReplyCost(NamedTuple):
    """The most that one reply costs in US dollars, with its model and token limit."""

    cost: float
    model: str
    max_tokens: int


def project_limits() -> Limits:
    """The limits that the environment, the project file and the defaults set.

    Imports the runtime. Raises ConfigError if a setting is invalid.
    """
    from runtime_support._core.settings import settings_to_show
    from runtime_support.programs._evaluation import DEFAULT_LIMITS as program_limits

    settings = settings_to_show()
    return Limits(
        settings.max_repairs,
        settings.max_tool_rounds,
        settings.max_tool_calls,
        program_limits.calls,
        settings.max_retries,
        settings.budget_requests,
        settings.enforce_schema == "on",
    )


def project_reply_cost() -> ReplyCost | None:
    """The most that a reply costs, from `max_tokens` and the highest price of the project's models.

    Returns None if `max_tokens` or a price is unknown, or if `extra_body` is set.
    """
    from runtime_support._budgets import price_of
    from runtime_support._core.settings import settings_to_show
    from runtime_support.providers import provider_and_model

    settings = settings_to_show()
    models = provider_and_model(settings)[1], *(settings.fallback or ())
    prices = {one: price_of(settings, one, 0) for one in models}
    known = {one: price["output"] for one, price in prices.items() if price is not None}
    if len(known) < len(prices) or settings.max_tokens is None or settings.extra_body:
        return None
    dearest = max(known, key=lambda one: known[one])
    cost = known[dearest] * settings.max_tokens / 1_000_000
    return ReplyCost(cost, dearest, settings.max_tokens)
