"""Where parts plug into a prompt: the core calls what is here, and imports none of them.

    class Keeper(Around): ...         goes around a prompt, its exchanges and its calls
    register(Keeper)                  said by its own module when that is imported
    around_prompt(call)               all that go around this call of `prompt`, outermost first
    load_part("media").content_of()   what the core itself asks of a part, at its first use

A part is imported when it is used: by a compiled module's own import, by `configure`, or by a
variable of the environment. Then it registers, and decides for each prompt whether it takes part.
Without any, a prompt passes through here and nothing is imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from runtime_support._process import environment

if TYPE_CHECKING:
    from datetime import datetime

    from runtime_support._approval import HeldWork
    from runtime_support._effects import Effects
    from runtime_support._exchange import Heard, Replying, Request, ToolRequest
    from runtime_support._results import ToolCall
    from runtime_support._settings import Settings
    from runtime_support.errors import PromptError
    from runtime_support.providers import PromptCall

    Send: TypeAlias = Callable[[Request, Heard], Replying]

_NOTHING = nullcontext()

# By its name in the core: the module of a part. Providers are parts that make themselves from
# settings: `configured(settings)`.
PARTS = {
    "approval": "_approval",
    "beside": "_beside",
    "budgets": "runs._budgets",
    "chunks": "_streaming.chunks",
    "drafts": "_streaming.drafts",
    "journals": "runs._keeper",
    "local": "_local.provider",
    "media": "_media",
    "mock": "_mock.provider",
    "openai": "providers._openai",
    "overhearing": "_observe.overhearing",
    "recordings": "runs._recordings",
    "results": "_streaming.results",
    "spans": "_observe.spans",
    "tables": "_tables",
    "tracing": "_observe.tracing",
    "transcripts": "_transcripts",
}

# What asks for a part: variables of the environment, most systems keep them as bytes; settings.
_VARIABLES = {
    "SAFT_CHROME": "tracing",
    "SAFT_JOURNAL": "journals",
    "SAFT_LIVE": "overhearing",
    "SAFT_LOG": "tracing",
    "SAFT_RECORD": "recordings",
    "SAFT_REPLAY": "recordings",
    "SAFT_TIMELINE": "tracing",
    "SAFT_TRACE": "tracing",
    "SAFT_USAGE": "budgets",
}
_ASKED_BY: dict[str | bytes, str] = {
    **_VARIABLES,
    **{name.encode(): wanted for name, wanted in _VARIABLES.items()},
}
BUDGETS = ("max_requests", "max_total_tokens", "max_cost")


class Around:
    """One part around one call of `prompt`; what is here lets everything through.

    The lower its `order`, the further outside it goes; see the numbers of the parts.
    """

    order: ClassVar[int]
    # Whether what waits for approval is kept, so that the run can end and go on.
    keeps_waiting: ClassVar[bool] = False

    @classmethod
    def of(cls, call: PromptCall) -> Around | None:
        """What goes around this call; None when the part has nothing to do with it."""
        raise NotImplementedError

    @classmethod
    def answers_in_order(cls, call: PromptCall) -> bool:
        """Whether which reply is given depends on what was asked before."""
        return False

    @classmethod
    def plan(cls, program: Any, held: HeldWork | None) -> AbstractContextManager[Any]:
        """Around the run of a plan, which waits for approval if it is `held`; gives what `program`
        gives.
        """
        return _NOTHING

    def prompt(self) -> AbstractContextManager[object]:
        """Around all of the prompt, from its first request to its answer or its error."""
        return _NOTHING

    def exchange(self, request: Request, heard: Heard, send: Send) -> Replying:
        """Around a request: the reply that `send` gives, or another one."""
        return send(request, heard)

    def call(self, wanted: ToolRequest, made: Effects[ToolCall]) -> Effects[ToolCall]:
        """Around a call of a tool: what `made` returns, or what is known of it."""
        return made

    def approved(self, held: HeldWork, made: Effects[Any]) -> Effects[Any]:
        """Around a call, or a program, that waits for approval: `made` waits, and then does it."""
        return made if held.tool is None else self.call(held.wanted, made)

    def passed_over(self, held: HeldWork | None) -> Effects[None]:
        """A call behind one that waits, which is not made now; `held` when it waits, too."""
        yield from ()

    @classmethod
    def outside(
        cls, wanted: ToolRequest, made: Effects[Any], is_pure: bool, settings: Settings
    ) -> Effects[Any]:
        """Around a call of a tool of another program: JSON data, as `made` gives it or as known."""
        return made

    def several_calls(self) -> AbstractContextManager[object]:
        """Around several calls of tools at the same time; `called` tells of each when all end."""
        return _NOTHING

    def call_beside(self, wanted: ToolRequest, made: Effects[ToolCall]) -> Effects[ToolCall]:
        """Around one of these."""
        return self.call(wanted, made)

    def program(self) -> AbstractContextManager[Any]:
        """Around a program of the model; gives what keeps the calls in it, or None."""
        return _NOTHING

    def called(self, call: ToolCall) -> None:
        """A call that a program has made, or one of several at a time; told when all have ended."""

    def failed(self, error: PromptError) -> None:
        """The prompt has no usable answer."""


_registered: list[type[Around]] = []
_wanted: set[str] = set()


def register(kind: type[Around]) -> None:
    """From now on this goes around prompts."""
    global _registered
    _registered = sorted([*_registered, kind], key=lambda one: one.order)


def want(name: str) -> None:
    """Loads a part with the first prompt."""
    _wanted.add(name)


def load_part(name: str) -> Any:
    """The module of a part, imported at its first use."""
    return import_module(f"runtime_support.{PARTS[name]}")


def loaded_part(name: str) -> Any:
    """The module of a part that is used in this process; None of another one."""
    return sys.modules.get(f"runtime_support.{PARTS[name]}")


def registered(settings: Settings) -> list[type[Around]]:
    """What goes around prompts, with the parts that the environment and the settings ask for."""
    variables = environment()
    if not variables.keys().isdisjoint(_ASKED_BY):
        for name, wanted in _ASKED_BY.items():
            if variables.get(name):
                load_part(wanted)
    while _wanted:
        load_part(_wanted.pop())
    if any(getattr(settings, name) is not None for name in BUDGETS):
        load_part("budgets")
    if "opentelemetry.trace" in sys.modules:
        load_part("spans")
    return _registered


def around_prompt(call: PromptCall) -> list[Around]:
    """All that go around this call, outermost first."""
    kinds = registered(call.settings)
    return [one for kind in kinds if (one := kind.of(call)) is not None]


def moment(asked: str) -> datetime:
    """This moment, with the offset of this place; what `SAFT_NOW` says instead, as in tests.

    A journal keeps it, and gives it again to a run that resumes; `asked` is who looks at the clock.
    """
    import datetime as library

    from runtime_support._dates_decimals import NotReadable, read

    told = os.environ.get("SAFT_NOW")
    if told is None:
        has_journals = os.environ.get("SAFT_JOURNAL") or loaded_part("journals") is not None
        here = library.datetime.now().astimezone()
        return load_part("journals").keep_moment(asked, here) if has_journals else here
    try:
        return read("datetime", told)
    except NotReadable:
        from runtime_support.errors import ConfigError

        said = f"SAFT_NOW: {told!r} is not a datetime with an offset"
        raise ConfigError(said, hint="write 2026-01-31T09:30:00+01:00") from None


@contextmanager
def around_plan(program: Any, settings: Settings, held: HeldWork | None = None) -> Generator[Any]:
    """Around the run of a plan outside of a prompt; gives what keeps the calls in it, or None.

    One that is `held` has its decision inside of the block.
    """
    with ExitStack() as stack:
        kept = [stack.enter_context(kind.plan(program, held)) for kind in registered(settings)]
        if held is not None and held.decision is None:
            load_part("approval").decide_here(held)
        yield next((one for one in kept if one is not None), None)
