"""A hook wraps a prompt, its requests and its tool calls; it may change, answer or refuse them.

    class JournalHook(Hook): ...       overrides some of the three methods
    ORDER                              the order of the hooks, outermost first
    hooks_for(prompt)                  the hooks of this prompt, outermost first

    load_part("media").content_of()    calls a part from the core; imports it at the first use

A part is a module in `PARTS`. The core imports a part only at its first use. An import in a
compiled module, `configure` or an environment variable may be that use.

A hook's method gets a prompt, request or call, and the function `proceed`, which calls the next
hook. The last `proceed` runs the conversation, the provider or the function. Code that only
observes uses a listener (`events`).

Each call of a tool is a `RequestedCall`. It is requested by the model of a conversation, by a
program, or by a script that calls a tool of an MCP server.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

from runtime_support._values.context import Block, current_context, environment

if TYPE_CHECKING:
    from datetime import datetime

    from runtime_support._core.messages import Provider, ReplyStream, Request
    from runtime_support._core.positions.frames import Place
    from runtime_support._core.results import Answer, ToolCall, Usage
    from runtime_support._core.settings import Settings
    from runtime_support._core.tasks.waits import Steps
    from runtime_support._journal.approval import PendingApproval

    # The types of `proceed`.
    AnswerPrompt: TypeAlias = Callable[["PromptRun"], Steps[Answer]]
    SendRequest: TypeAlias = Callable[[Request], ReplyStream]
    MakeCall: TypeAlias = Callable[["RequestedCall"], Steps[Any]]

# The module of each part, by its name in the core. Providers are parts with a factory:
# `configured(settings)`.
PARTS = {
    "approval": "_journal.approval",
    "budgets": "_budgets",
    "chunks": "_streaming.chunks",
    "counting": "_core.spending",
    "drafts": "_streaming.drafts",
    "events": "events",
    "fallback": "providers._fallback",
    "items": "_streaming.items",
    "journals": "_journal.hook",
    "live": "_observability.live",
    "local": "_local.provider",
    "media": "_media",
    "mock": "_mock.provider",
    "openai": "providers._openai",
    "providers": "providers",
    "recordings": "_recordings",
    "results": "_streaming.results",
    "servers": "mcp._calls",
    "slots": "_core.tasks.queue",
    "spans": "_observability.spans",
    "tables": "_tables",
    "tool_rounds": "_core.tool_rounds",
    "tracing": "_observability.tracing",
    "transcripts": "_core.transcripts",
}

# Environment variables that load a part; most systems keep their names as bytes.
_VARIABLES = {
    "SAFT_CHROME": "tracing",
    "SAFT_JOURNAL": "journals",
    "SAFT_LIVE": "live",
    "SAFT_LOG": "tracing",
    "SAFT_RECORD": "recordings",
    "SAFT_REPLAY": "recordings",
    "SAFT_TIMELINE": "tracing",
    "SAFT_VERBOSE": "tracing",
    "SAFT_USAGE": "budgets",
}
_ASKED_BY: dict[str | bytes, str] = {
    **_VARIABLES,
    **{name.encode(): wanted for name, wanted in _VARIABLES.items()},
}
BUDGETS = ("budget_requests", "budget_tokens", "budget_cost")


def load_part(name: str) -> Any:
    """Returns the module of a part, such as `media`; imports it at the first use."""
    return import_module(f"runtime_support.{PARTS[name]}")


def loaded_part(name: str) -> Any:
    """Returns the module of a part, or None if this process has not loaded the part."""
    return sys.modules.get(f"runtime_support.{PARTS[name]}")


def load_wanted_parts(settings: Settings) -> None:
    """Loads the parts that the environment and the settings require."""
    variables = environment()
    if not variables.keys().isdisjoint(_ASKED_BY):
        for name, wanted in _ASKED_BY.items():
            if variables.get(name):
                load_part(wanted)
    if loaded_part("providers") is None:
        load_part("providers")
    if any(getattr(settings, name) is not None for name in BUDGETS):
        load_part("budgets")
    if settings.fallback:
        load_part("fallback")
    if "opentelemetry.trace" in sys.modules:
        load_part("spans")


# The parts with hooks, outermost first; each loaded part makes its hook by `hook_for(prompt)`. An
# answer from the journal needs no slot, recording or server. A retry by one hook passes all later
# hooks again, and so the budget.
ORDER = (
    "events",  # notifies listeners
    "journals",  # looks up recorded outcomes, and records new ones
    "approval",  # asks for approval before the call is made
    "slots",  # bounds concurrent requests of calls that run ahead
    "recordings",  # answers from a recording, or makes one
    "servers",  # has MCP servers confirm their tools' descriptions
    "fallback",  # asks the next model if one does not answer
    "live",  # streams watched replies, and retries broken streams
    "providers",  # retries requests that a server could not answer
    "budgets",  # enforces budgets
    "counting",  # counts requests and tokens
)


class Hook:
    """Wraps one prompt with its requests and tool calls. This base class changes nothing."""

    def prompt(self, prompt: PromptRun, proceed: AnswerPrompt) -> Steps[Answer]:
        """Wraps the whole prompt, from its first request to its answer or error."""
        return proceed(prompt)

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Wraps a request and returns its reply. If the reply is streamed, yields its chunks."""
        return proceed(request)

    def tool_call(self, call: RequestedCall, proceed: MakeCall) -> Steps[Any]:
        """Wraps a tool call or a program. Returns the ToolCall, or the outcome of the program."""
        return proceed(call)


class OutcomeCodec(Protocol):
    """Converts the outcome of a function call in a program to journal data and back.

    A text does not suffice, since the outcome may be any value.
    """

    def encode(self) -> dict[str, Any]:
        """Returns the outcome of the call as data for the journal."""
        ...

    def decode(self, kept: Mapping[str, Any]) -> ToolCall | None:
        """Returns the recorded outcome, or None if the call must run again."""
        ...


# Ids of prompts, requests and calls.
ids = itertools.count(1)


@dataclass(slots=True, eq=False)
class RequestedCall:
    """A call of a tool, of a whole program, or of a function in a program.

    - `sent`: the arguments as JSON text. It is empty for a whole program, and if JSON cannot hold
      the arguments of a function.
    - `prompt`: the prompt whose model requests the call. It is None if a script makes the call;
      then a journal finds the call by `asked`.
    - `number`: the call's number among the calls of its prompt, from 1 on.
    - `position`: the call's position in its program.
    - `approval`: the approval that the call needs, if any.
    - `misfit`: a failed ToolCall if the arguments do not fit. Then nobody is asked for approval.
    - `contexts`: contexts to enter around the function.
    - `hooks`: the hooks of a program and of the function calls in it.
    - `is_approved`: true for a function call that was approved together with its program.
    - `codec`: converts the outcome of a function call in a program for a journal.
    """

    name: str
    sent: str
    kind: Literal["tool", "server", "program", "function"] = "tool"
    prompt: PromptRun | None = None
    number: int = 0
    position: tuple[int, ...] = ()
    is_pure: bool = False
    approval: PendingApproval | None = None
    misfit: ToolCall | None = None
    asked: Any = None
    contexts: list[Callable[[], AbstractContextManager[Any]]] = field(
        default_factory=list[Callable[[], AbstractContextManager[Any]]]
    )
    id: int = field(default_factory=partial(next, ids))
    # When the function was called, in seconds since the epoch.
    began: float = 0.0
    is_approved: bool = False
    hooks: Sequence[Hook] = ()
    codec: OutcomeCodec | None = None

    @contextmanager
    def inside(self) -> Generator[None]:
        """Enters the contexts of the call for a `with` block.

        If a model requests the call, prompts in the block have the call as their `caller`.
        """
        with Block(call=current_call() if self.prompt is None else self), ExitStack() as stack:
            for enter in self.contexts:
                stack.enter_context(enter())
            yield


def current_call() -> RequestedCall | None:
    """Returns the call whose function or program is running here, or None."""
    return current_context().call


class PromptRun:
    """One call of `prompt`: its settings, its place in the code, its functions and its provider.

    - `ahead`: how many overlapping calls may send requests at the same time; None means unknown.
    - `caller`: the tool call that this prompt runs in, if any.
    - `request_id`: the id of the latest request.
    - `usage`: the usage of the latest request that was sent, as budgets count it.
    - `hooks`: the hooks around this prompt, outermost first.
    - `listeners`: functions that get the events of this prompt.
    """

    def __init__(
        self,
        settings: Settings,
        place: Place | None = None,
        functions: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.settings = settings
        self.place = place
        self.functions = functions
        self.ahead: int | None = None
        self.caller = current_call()
        self.id = next(ids)
        self.request_id = 0
        self.usage: Usage | None = None
        self.listeners: list[Callable[[Any], object]] = []
        self.hooks: Sequence[Hook] = ()
        self._provider: Provider | None = None

    @property
    def provider(self) -> Provider:
        """The provider, created at the first use.

        It is not created earlier, because recorded answers need no provider and no key.
        """
        if self._provider is None:
            self._provider = load_part("providers").live_provider(self.settings, self.place)
        return cast("Provider", self._provider)

    def answer_by(self, model: str | None) -> None:
        """Switches to another model for the following requests."""
        settings = replace(self.settings, model=model)
        self._provider = load_part("providers").live_provider(settings, self.place)

    @property
    def answers_in_order(self) -> bool:
        """Whether replies depend on the order of requests."""
        load_wanted_parts(self.settings)
        parts = map(loaded_part, ("recordings", "budgets"))
        if any(part is not None and part.answers_in_order(self) for part in parts):
            return True
        return bool(getattr(self.provider, "answers_in_order", False))

    def model_of(self, request: Request) -> str:
        """Returns the model that the request names, or else the provider's default model.

        If the provider has no default model, returns the provider's name.
        """
        provider = self.provider  # reports missing setup before anything is counted
        return request.model or str(load_part("providers").own_model(provider))


def hooks_for(prompt: PromptRun) -> list[Hook]:
    """Returns the hooks of a prompt, outermost first."""
    load_wanted_parts(prompt.settings)
    makers = (getattr(loaded_part(name), "hook_for", None) for name in ORDER)
    return [hook for make in makers if make is not None and (hook := make(prompt)) is not None]


def wrap_with_hooks(
    hooks: Sequence[Hook],
    method: Literal["prompt", "request", "tool_call"],
    inmost: Callable[[Any], Any],
) -> Callable[[Any], Any]:
    """Returns a function that calls `inmost` through this method of all hooks.

    The first hook is the outermost.
    """
    for hook in reversed(hooks):
        inmost = partial(getattr(hook, method), proceed=inmost)
    return inmost


def make_call(
    call: RequestedCall,
    settings: Settings,
    make: MakeCall,
    functions: Mapping[str, Any] = MappingProxyType({}),
) -> Steps[Any]:
    """Makes a call outside of any prompt, through all hooks, and returns its outcome.

    If the call is a program, `functions` are the functions that it calls.
    """
    call.hooks = hooks_for(PromptRun(settings, functions=functions))
    return wrap_with_hooks(call.hooks, "tool_call", make)(call)


def record_moment(asked: str, moment: datetime) -> datetime:
    """Returns `moment`, or the moment that an earlier process of the run recorded for `asked`."""
    if os.environ.get("SAFT_JOURNAL") or loaded_part("journals") is not None:
        moment = load_part("journals").record_moment(asked, moment)
    return moment
