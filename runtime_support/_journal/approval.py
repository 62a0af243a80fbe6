"""Approval of tool calls and programs by a person or a function.

    prompt("Help {mail}. Use {refund}.", mail=mail, refund=approve(refund))
    configure(approver=ask_the_desk)       `ask_the_desk(call)` returns True, False or a Decision
    Decision.no("above the limit")         the model gets the reason
    Decision.changed({"amount": 20})       the call is made with these arguments instead

The setting `approver` decides. Without an approver, a person at the terminal of `saftc run`
decides. If there is no such terminal either, the call waits in the run's journal for
`saftc approve`. A decision is valid only for a call with the same tool name, the same arguments,
the same text shown to the approver, and the same position in the run.

Only calls by a model need approval: your own code calls the function directly.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, update_wrapper
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

from runtime_support._core.hooks import Hook, RequestedCall, load_wanted_parts, loaded_part
from runtime_support._core.notes import note
from runtime_support._core.positions.frames import place_of_call
from runtime_support._core.results import ToolCall
from runtime_support._core.settings import settings_for
from runtime_support._core.tasks import turns
from runtime_support._core.tasks.loops import call_function, finish_in_thread, maybe_await
from runtime_support._core.tasks.turns import wait_for_turn
from runtime_support._core.tasks.waits import Steps
from runtime_support._core.tools import Tool, checked_arguments, failure_text, read_for
from runtime_support._schema.calls import unwrap_checked
from runtime_support._schema.writing import json_schema
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import brief, is_approved, is_function, literal, plain
from runtime_support._values.names import listed
from runtime_support.errors import (
    CheckError,
    ConfigError,
    ProviderError,
    RunStopped,
    RunWaiting,
)
from runtime_support.events import emit_decision

if TYPE_CHECKING:
    from types import TracebackType

    from runtime_support._core.hooks import MakeCall, PromptRun
    from runtime_support._core.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

# The name of a program, in place of a tool's name.
PROGRAM = "program"

DECISIONS = 'give True, False, Decision.no("the reason") or Decision.changed({...})'

_NOBODY = (
    "set `configure(approver=...)` in Python, run the script at a terminal, or keep the run in a "
    "journal, in which `saftc approve` decides"
)


class Approved:
    """A function whose calls by a model need approval; your own code calls it directly."""

    __saft_approved__ = True

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.__wrapped__(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["__wrapped__"], name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Approved) and bool(self.__wrapped__ == other.__wrapped__)

    def __hash__(self) -> int:
        return hash((Approved, self.__wrapped__))

    def __repr__(self) -> str:
        return f"approve({self.__wrapped__!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return approve, (self.__wrapped__,)


def approve(function: F) -> F:
    """Returns the function as a tool whose calls by a model wait until they are approved.

    Raises a CheckError if the argument is not a function.
    """
    given: Any = plain(function)
    if not is_function(given):
        raise CheckError(f"approve(function): expected a function, got {brief(given)}")
    return given if is_approved(given) else cast("F", Approved(given))


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A tool call, or a program as a whole, that an approver decides about.

    `args` are the arguments as the model sent them; `shown` is the call in Saft's notation, with
    the arguments that the function will get. `place` is the prompt's position in the script. `key`
    stays the same when a resumed run asks about this call again.
    """

    tool: str
    args: Mapping[str, Any]
    shown: str
    place: str | None
    key: str
    kind: Literal["call", "program"] = "call"


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about a call that waits for approval.

    `verdict` is "yes", "no" or "changed"; `by` says who decided. After "no", the model gets
    `reason`. After "changed", `arguments` is the JSON text of the new arguments. `Decision.yes()`,
    `Decision.no()` and `Decision.changed()` create decisions.
    """

    verdict: Literal["yes", "no", "changed"]
    reason: str = ""
    arguments: str | None = None
    by: str = ""

    @staticmethod
    def yes(by: str = "") -> Decision:
        """Approves the call."""
        return Decision("yes", by=by)

    @staticmethod
    def no(reason: str = "", by: str = "") -> Decision:
        """Refuses the call; the model gets the reason."""
        return Decision("no", reason, by=by)

    @staticmethod
    def changed(arguments: Mapping[str, Any], by: str = "") -> Decision:
        """Approves the call with other arguments. The model is told about the change."""
        return Decision("changed", arguments=to_json(dict(arguments)), by=by)


Verdict: TypeAlias = bool | Decision


def as_decision(said: Any) -> Decision | None:
    """Converts an approver's answer to a decision.

    Returns None if the answer is neither a bool nor a Decision.
    """
    said = plain(said)
    if isinstance(said, bool):
        return Decision.yes() if said else Decision.no()
    return said if isinstance(said, Decision) else None


Approver: TypeAlias = Callable[[PendingCall], Verdict | Awaitable[Verdict]]


@dataclass(slots=True)
class PendingApproval:
    """A call or program that waits for approval, with the decision once it is made.

    `sent` is JSON text: the arguments of a call as the model sent them, or a program.
    """

    name: str
    sent: str
    shown: str
    place: str | None
    settings: Settings
    args: Mapping[str, Any]
    kind: Literal["call", "program"] = "call"
    tool: Tool | None = None
    decision: Decision | None = None
    # Builds the call's result from the reason of a refusal.
    refused: Callable[[str], Any] = str
    # True if an earlier call waits: then this call is recorded as waiting, too, and not made now.
    is_put_off: bool = False
    # The key of the call's place in the journal, or the digest if the run has no journal.
    key: str = ""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        text = json.dumps([self.kind, self.name, self.sent, self.shown])
        self.digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        self.key = self.key or self.digest

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema for changed arguments, or None for a program."""
        return None if self.tool is None else json_schema(self.tool.parameters)

    @property
    def is_allowed(self) -> bool:
        """True if the call was approved, perhaps with changes."""
        return self.decision is not None and self.decision.verdict in ("yes", "changed")

    def problem_with(self, decision: Decision) -> str | None:
        """The reason why a decision cannot be used, or None if it can be used."""
        if decision.verdict in ("yes", "no"):
            return None
        if decision.verdict != "changed" or decision.arguments is None:
            return f"{brief(decision.verdict)} without arguments is not a decision"
        if self.tool is None:
            return "a program is approved or refused as a whole"
        try:
            checked_arguments(self.tool, read_for(self.tool, decision.arguments))
        except CheckError as error:
            return f"the changed arguments do not fit `{self.name}`: {error}"
        return None

    def decide(self, keep: Callable[[Decision], None] = lambda _: None) -> Steps[Decision]:
        """Asks the approver or the person at the terminal.

        Raises RunWaiting if there is nobody to ask, or if the person postpones the decision. `keep`
        stores the decision before the task can be cancelled.
        """
        pending = PendingCall(self.name, self.args, self.shown, self.place, self.key, self.kind)
        approver, ask_person = self.settings.approver, turns.ask_person
        if self.is_put_off or (approver is None and ask_person is None):
            raise RunWaiting(self.shown, self.place)
        yield from wait_for_turn()

        def kept(said: Any) -> Decision | None:
            decision = said if approver is None else self._checked(said, approver)
            if decision is not None:
                keep(decision)
            return decision

        def ask() -> Any:
            if approver is None:
                assert ask_person is not None
                return kept(ask_person(pending, self.problem_with))
            said = approver(pending)
            return _kept_when_said(said, kept) if isawaitable(said) else kept(said)

        self.decision = yield from call_function(ask, approver or ask)
        if self.decision is None:
            raise RunWaiting(self.shown, self.place)
        return self.decision

    def _checked(self, said: Any, approver: Any) -> Decision:
        """The decision that an approver returned; if `by` is empty, it gets the approver's name.

        Raises ConfigError if the approver returned neither a bool nor a Decision, or if the
        decision cannot be used.
        """
        decision = as_decision(said)
        if decision is None:
            message = f"the approver returned {brief(said)} for {self.name}"
            raise ConfigError(message, setting="approver", hint=DECISIONS)
        problem = self.problem_with(decision)
        if problem is not None:
            raise ConfigError(problem, setting="approver")
        by = decision.by or getattr(approver, "__name__", type(approver).__name__)
        return replace(decision, by=by)


async def _kept_when_said(said: Awaitable[Any], kept: Callable[[Any], T]) -> T:
    """Awaits an approver's answer and stores it.

    If the task is cancelled while the answer is being stored, the storing is completed first.
    """
    answer = await maybe_await(said)
    return await finish_in_thread(partial(kept, answer))


class ApprovalHook(Hook):
    """A hook that makes only approved calls, with other arguments if the approver changed them."""

    def tool_call(self, call: RequestedCall, proceed: MakeCall) -> Steps[Any]:
        """Makes the call, or returns a result that reports the refusal if the call was refused."""
        held = call.approval
        if held is None:
            return (yield from proceed(call))
        if held.decision is None:
            check_somebody_decides([held.name], held.settings)
            yield from held.decide()
        decision = held.decision
        assert decision is not None
        emit_decision(call)
        if not held.is_allowed:
            reason = f": {decision.reason}" if decision.reason else ""
            return held.refused(f"not approved{reason}")
        if decision.arguments is None:
            return (yield from proceed(call))
        call.sent = decision.arguments
        made: ToolCall = yield from proceed(call)
        changed = f"(approved with other arguments: {decision.arguments})"
        if made.result is None:
            return replace(made, error=f"{changed} {made.error}")
        return replace(made, result=f"{changed}\n{made.result}")


def hook_for(prompt: PromptRun) -> ApprovalHook:
    """The approval hook of a prompt; raises the errors of `check_offer`."""
    check_offer(prompt.functions, prompt.settings)
    return ApprovalHook()


def hold_call(call: RequestedCall, tool: Tool) -> None:
    """Marks a call as waiting for approval.

    If its arguments do not fit the function, the model gets the error, and no approval is
    requested.
    """
    assert call.prompt is not None
    name, sent = call.name, call.sent
    read: Any = sent
    try:
        read = read_for(tool, sent)
        checked = checked_arguments(tool, read)
    except (ProviderError, ConfigError, RunStopped):
        raise
    except Exception as failure:  # including errors that the user's own records raise
        call.misfit = ToolCall(name, read, None, failure_text(failure, name, read), 0.0)
        return
    held = PendingApproval(
        name, sent, _shown(name, checked, sent), _place(call), call.prompt.settings, read, tool=tool
    )
    held.refused = partial(ToolCall, name, dict(read), None, duration=0.0)
    call.approval = held


def _shown(name: str, arguments: Mapping[str, Any], sent: str) -> str:
    """The text of a call in Saft's notation.

    If an argument cannot be written in this notation, the text has the arguments as the model sent
    them.
    """
    try:
        written = ", ".join(f"{key}: {literal(value)}" for key, value in arguments.items())
    except (CheckError, ValueError, RecursionError):
        return f"{name} {sent}"
    return f"{name}({written})"


def hold_program(
    call: RequestedCall, program: Any, names: Iterable[str], refused: Callable[[str], Any]
) -> None:
    """Marks a whole program as waiting for approval. `names` are the functions that it calls."""
    text = to_json(program)
    shown = f"program {text}, which calls {listed(names, limit=1000)}"
    settings = settings_for() if call.prompt is None else call.prompt.settings
    held = PendingApproval(
        PROGRAM, text, shown, _place(call), settings, {PROGRAM: program}, "program"
    )
    held.refused = refused
    call.approval = held


def _place(call: RequestedCall) -> str | None:
    place = place_of_call() if call.prompt is None else call.prompt.place
    return None if place is None else place.text()


def check_offer(functions: Mapping[str, Any], settings: Settings) -> None:
    """Raises ConfigError if nobody could decide about calls of the offered functions.

    Raises CheckError if a function that needs approval is also offered without approval.
    """
    waiting = {name: one for name, one in functions.items() if is_approved(one)}
    if not waiting:
        return
    for name, one in waiting.items():
        waits = unwrap_checked(one.__wrapped__)
        for other, bare in functions.items():
            if not is_approved(bare) and unwrap_checked(bare) == waits:
                raise CheckError(
                    f"`{other}` is the same function as `{name}`, which waits for approval",
                    hint="offer it once",
                )
    load_wanted_parts(settings)
    journals = loaded_part("journals")
    if journals is None or journals.current_journal(settings) is None:
        check_somebody_decides(waiting, settings)


def check_somebody_decides(names: Iterable[str], settings: Settings) -> None:
    """Raises ConfigError if neither an approver nor a terminal can decide about these calls.

    `names` are the names of the called functions.
    """
    if settings.approver is None and turns.ask_person is None:
        named = listed(names)
        message = f"calls of {named} wait for approval, and no approver is set"
        raise ConfigError(message, setting="approver", hint=_NOBODY)


def _end_waiting() -> None:
    """Installs an excepthook that reports an uncaught RunWaiting and exits with its code, 4."""
    report = sys.excepthook

    def end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, RunWaiting):
            note(str(error))
            raise SystemExit(error.exit_code)
        report(kind, error, trace)

    sys.excepthook = end


_end_waiting()
