"""What goes around a prompt, its requests and its calls: it may change each, answer it, or fail it.

    class JournalHook(Hook): ...       overrides what it needs of the three methods
    ORDER                              who goes outside of whom
    hooks_for(prompt)                  those that go around this one, outermost first

    load_part("media").content_of()    what the core itself asks of a part, at its first use

The core imports no part. One is imported when it is used: by a compiled module's own import, by
`configure`, or by a variable of the environment.

A hook is given what it goes around and `proceed`, which goes on inwards: to the next hook, and at
last to the conversation, the provider or the function. Who only looks on listens (`events`).

A `RequestedCall` is the same whoever makes it: the model of a conversation, a program, or a script
that calls a tool of an MCP server.
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

from runtime_support._values.context import Block, context_here, environment

if TYPE_CHECKING:
    from datetime import datetime

    from runtime_support._core.messages import Provider, Replying, Request
    from runtime_support._core.positions.frames import Place
    from runtime_support._core.results import Answer, ToolCall
    from runtime_support._core.settings import Settings
    from runtime_support._core.tasks.effects import Effects
    from runtime_support._journal.approval import PendingApproval

    # What goes on inwards.
    AnswerPrompt: TypeAlias = Callable[["PromptRun"], Effects[Answer]]
    SendRequest: TypeAlias = Callable[[Request], Replying]
    MakeCall: TypeAlias = Callable[["RequestedCall"], Effects[Any]]

# By its name in the core: the module of a part. Providers are parts that make themselves from
# settings: `configured(settings)`.
PARTS = {
    "approval": "_journal.approval",
    "budgets": "_budgets",
    "chunks": "_streaming.chunks",
    "counting": "_core.spending",
    "drafts": "_streaming.drafts",
    "events": "events",
    "fallback": "providers._fallback",
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
    "tracing": "_observability.tracing",
    "transcripts": "_core.transcripts",
}

# What asks for a part: variables of the environment, most systems keep them as bytes; settings.
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
    """The module of a part, imported at its first use."""
    return import_module(f"runtime_support.{PARTS[name]}")


def loaded_part(name: str) -> Any:
    """The module of a part that is used in this process; None of another one."""
    return sys.modules.get(f"runtime_support.{PARTS[name]}")


def load_wanted_parts(settings: Settings) -> None:
    """Loads the parts that the environment and the settings ask for."""
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


# The parts whose hooks go around a prompt, from outside; each of them that is loaded makes its own
# by `hook_for(prompt)`. What a journal keeps needs no slot, no recording and no server; a try that
# is made anew by one of these passes all that follow, and so the budget.
ORDER = (
    "events",  # tells those who listen
    "journals",  # finds what a run has kept, and keeps what it comes to
    "approval",  # asks for a yes before the call is made
    "slots",  # bounds the requests of calls that run ahead, in the order of the script
    "recordings",  # answers from a recording, or makes one
    "servers",  # has MCP servers agree to what is told of their tools
    "fallback",  # asks the next model where one does not answer
    "live",  # streams what somebody watches, and asks again when that breaks
    "providers",  # sends again what a server could not answer
    "budgets",  # bounds what is spent
    "counting",  # counts
)


class Hook:
    """What goes around one prompt; this one lets everything through."""

    def prompt(self, prompt: PromptRun, proceed: AnswerPrompt) -> Effects[Answer]:
        """Around all of it, from its first request to its answer or its error."""
        return proceed(prompt)

    def request(self, request: Request, proceed: SendRequest) -> Replying:
        """Around a request: gives the reply, and its pieces as they come if it is streamed."""
        return proceed(request)

    def tool_call(self, call: RequestedCall, proceed: MakeCall) -> Effects[Any]:
        """Around a call: gives the ToolCall that it came to, and of a program the outcome."""
        return proceed(call)


class KeptForm(Protocol):
    """How a journal keeps what comes of a call in a program, which is more than a text."""

    def written(self) -> dict[str, Any]:
        """What is kept of how the call has ended."""
        ...

    def read(self, kept: Mapping[str, Any]) -> ToolCall | None:
        """What the call came to before; None when it is made again."""
        ...


# Of prompts, requests and calls.
ids = itertools.count(1)


@dataclass(slots=True, eq=False)
class RequestedCall:
    """A call of a tool, of a program as a whole, or of a function in one.

    - `sent`: the arguments as JSON text, or the program.
    - `prompt`: the one whose model has asked for it; None of a call that a script makes, which a
      journal finds by `asked`.
    - `number`: which of the calls of its prompt, from 1 on; `position` is where in its program.
    - `approval`: what has to be approved before it is made, if so; `misfit` is what comes of it
      where its arguments do not fit, which nobody is asked about.
    - `contexts`: the function is called inside of these.
    - `hooks`: what goes around a program, and so around the calls in it; one of these `is_approved`
      with the program. `kept_form` is how a journal keeps what comes of it.
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
    kept_form: KeptForm | None = None

    @contextmanager
    def inside(self) -> Generator[None]:
        """Has its function called in the block: what is asked there is asked inside of it."""
        with Block(call=call_here() if self.prompt is None else self), ExitStack() as stack:
            for enter in self.contexts:
                stack.enter_context(enter())
            yield


def call_here() -> RequestedCall | None:
    """The call of a prompt whose function, or program, runs here."""
    return context_here().call


class PromptRun:
    """One call of `prompt`: its settings, its place, its functions, and who answers it.

    `ahead` is how many calls may ask beside it that overlap with it, None where that is not known.
    `caller` is the call that it is asked in, `request_id` that of its latest request; the `hooks`
    go around it, the outermost first, and the `listeners` hear of it.
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
        self.caller = call_here()
        self.id = next(ids)
        self.request_id = 0
        self.listeners: list[Callable[[Any], object]] = []
        self.hooks: Sequence[Hook] = ()
        self._provider: Provider | None = None

    @property
    def provider(self) -> Provider:
        """Who answers; made when it is needed: what a journal or a recording has needs no key."""
        if self._provider is None:
            self._provider = load_part("providers").live_provider(self.settings, self.place)
        return cast("Provider", self._provider)

    def answer_by(self, model: str | None) -> None:
        """Has another model answer from now on."""
        settings = replace(self.settings, model=model)
        self._provider = load_part("providers").live_provider(settings, self.place)

    @property
    def answers_in_order(self) -> bool:
        """Whether which reply is given depends on what was asked before."""
        load_wanted_parts(self.settings)
        parts = map(loaded_part, ("recordings", "budgets"))
        if any(part is not None and part.answers_in_order(self) for part in parts):
            return True
        return bool(getattr(self.provider, "answers_in_order", False))

    def model_of(self, request: Request) -> str:
        """The model that answers the request, or the provider's name where none was named."""
        provider = self.provider  # what is not set up is reported before anything is counted
        return request.model or str(load_part("providers").own_model(provider))


def hooks_for(prompt: PromptRun) -> list[Hook]:
    """All that go around this prompt, outermost first."""
    load_wanted_parts(prompt.settings)
    makers = (getattr(loaded_part(name), "hook_for", None) for name in ORDER)
    return [hook for make in makers if make is not None and (hook := make(prompt)) is not None]


def through(
    hooks: Sequence[Hook],
    method: Literal["prompt", "request", "tool_call"],
    inmost: Callable[[Any], Any],
) -> Callable[[Any], Any]:
    """What goes through this method of all hooks to what is inmost."""
    for hook in reversed(hooks):
        inmost = partial(getattr(hook, method), proceed=inmost)
    return inmost


def make_call(call: RequestedCall, settings: Settings, make: MakeCall) -> Effects[Any]:
    """What comes of a call that a script makes, outside of any prompt."""
    call.hooks = hooks_for(PromptRun(settings))
    return through(call.hooks, "tool_call", make)(call)


def keep_moment(asked: str, moment: datetime) -> datetime:
    """This moment, or that which a journal has kept for a run that resumes."""
    if os.environ.get("SAFT_JOURNAL") or loaded_part("journals") is not None:
        moment = load_part("journals").keep_moment(asked, moment)
    return moment
