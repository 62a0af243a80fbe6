"""Every setting with its type and its default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, get_args, get_type_hints

from runtime_support._core.messages import Provider, Structured

# The names of providers.
PROVIDERS = ("openai", "openrouter", "gemini", "anthropic", "local", "mock", "unset")

# Keys of a project file that are for the compiler.
OF_THE_COMPILER = ("overlap", "pure", "root", "in-place")

SAMPLING = ("temperature", "top_p", "max_tokens", "reasoning_effort", "seed", "stop", "extra_body")

# The API to use with a server that offers several.
WireName: TypeAlias = Literal["chat", "responses", "messages"]
# How much a model reasons before it answers; each model supports some of these words.
Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class Price(TypedDict):
    """Prices of a million tokens in US dollars.

    Without `cached_input`, tokens read from the cache cost as much as `input`.
    """

    input: float
    output: float
    cached_input: NotRequired[float]
    cache_write: NotRequired[float]


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default. None leaves the choice to the provider, or sets no limit.

    - Who answers: `provider`, `model`, `fallback` (the models to try in turn if `model` does not
      answer), `base_url` (the address of a compatible server), `api_key_env` (the environment
      variable that holds the key), `api` ("chat", "responses" or "messages").
    - How the model answers: `temperature`, `top_p`, `max_tokens` (of a reply), `reasoning_effort`,
      `seed`, `stop`, `system`, and `extra_body` (other keys of the request, sent unchanged).
    - Typed replies: `max_repairs` (how often a reply that does not fit is sent back),
      `enforce_schema` (whether the server enforces the schema: "auto", "on" or "off"),
      `on_truncated` ("accept" accepts a text that the token limit has cut).
    - Tools: `max_tool_rounds` and `max_tool_calls` of one prompt; `approver` (a function that
      decides about the calls of tools that need approval).
    - The exchange: `timeout` (seconds for one request), `silence` (seconds in which the server may
      send nothing), `max_retries` (after a failed request), `max_wait` (seconds to wait for an
      overloaded server), `max_reply_bytes`.
    - Rates: `requests_per_minute`, `tokens_per_minute`, `max_in_flight` (concurrent requests).
    - Budgets of the run: `budget_requests`, `budget_tokens`, and `budget_cost` in US dollars. The
      cost is computed from `prices` (of a million tokens, by model).
    """

    provider: str | Provider | None = None
    model: str | None = None
    fallback: list[str] | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    api: WireName | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    reasoning_effort: Effort | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    system: str | None = None
    timeout: float = 120.0
    silence: float | None = None
    max_retries: int = 2
    max_wait: float = 300.0
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_reply_bytes: int = 32_000_000
    max_repairs: int = 1
    max_tool_rounds: int = 8
    max_tool_calls: int = 32
    max_in_flight: int = 16
    budget_requests: int | None = None
    budget_tokens: int | None = None
    budget_cost: float | None = None
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])
    enforce_schema: Structured = "auto"
    on_truncated: Literal["error", "accept"] = "error"
    approver: Any = None
    extra_body: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def sampling(self) -> dict[str, Any]:
        """Returns the sampling options that are set, by name."""
        options = {name: getattr(self, name) for name in SAMPLING}
        return {name: value for name, value in options.items() if value not in (None, {})}


def _set_type(hint: Any) -> Any:
    """Returns a setting's type without None."""
    if not isinstance(hint, UnionType):
        return hint
    return reduce(lambda a, b: a | b, (one for one in get_args(hint) if one is not NoneType))


# `checks.checked_option` handles provider objects separately.
SETTING_TYPES = {name: _set_type(hint) for name, hint in get_type_hints(Settings).items()}
SETTING_TYPES["provider"] = str
