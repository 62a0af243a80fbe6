"""Calls of tools, and programs, that wait for a yes.

    prompt("Help {mail}. Use {refund}.", mail=mail, refund=approve(refund))
    configure(approver=ask_the_desk)       `ask_the_desk(call)` gives True, False or a Decision
    Decision.no("above the limit")         the model gets the reason
    Decision.changed({"amount": 20})       the call is made with these arguments instead

Who decides is the first of: `approver`, a person at the terminal of `saftc run`, the journal of the
run, in which the call waits until `saftc approve` has the answer. A decision holds for the name of
the tool, its arguments to the letter, what was shown of them, and the place in the run.

Only calls by a model wait: whoever has the function itself calls it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

from runtime_support import _order
from runtime_support._effects import Effects, call_function, finish, in_thread, maybe_await
from runtime_support._exchange import ToolRequest
from runtime_support._jsontext import to_json
from runtime_support._names import listed
from runtime_support._notes import note
from runtime_support._order import until_turn
from runtime_support._positions import place_of_call
from runtime_support._results import ToolCall
from runtime_support._schema.calls import function_held
from runtime_support._schema.writing import json_schema
from runtime_support._tools import Tool, call_tool, checked_arguments, failure_text, read_for
from runtime_support._values import brief, is_approved, is_function, literal, plain
from runtime_support.errors import (
    CheckError,
    ConfigError,
    ProviderError,
    RunStopped,
    RunWaiting,
)

if TYPE_CHECKING:
    from types import TracebackType

    from runtime_support._asking import Asking
    from runtime_support._seams import Around
    from runtime_support._settings import Settings
    from runtime_support._targets import Work

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

# What a program is called where tools are called by their names.
PROGRAM = "program"

_NOBODY = (
    "set `configure(approver=...)` in Python, run the script at a terminal, or keep the run in a "
    "journal, in which `saftc approve` decides"
)


class Approved:
    """A function whose calls by a model wait for a yes; called by a program, it is the function."""

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

    Raises a CheckError if it is not a function.
    """
    given: Any = plain(function)
    if not is_function(given):
        raise CheckError(f"approve(function): expected a function, got {brief(given)}")
    return given if is_approved(given) else cast("F", Approved(given))


@dataclass(frozen=True, slots=True)
class PendingCall:
    """What an approver decides about: a call of a tool, or a program as a whole.

    `args` are the arguments as the model sent them; `shown` is the call in Saft's notation, with
    what the function will get. `place` is that of the prompt in the script. `key` stays the same
    when a resumed run asks about this call again.
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

    `verdict` is "yes", "no" or "changed", `by` says who decided, `reason` goes to the model after a
    "no", and `arguments` is the JSON text of the changed arguments. `Decision.yes()` and the like
    make one.
    """

    verdict: Literal["yes", "no", "changed"]
    reason: str = ""
    arguments: str | None = None
    by: str = ""

    @staticmethod
    def yes(by: str = "") -> Decision:
        """The call is made."""
        return Decision("yes", by=by)

    @staticmethod
    def no(reason: str = "", by: str = "") -> Decision:
        """The call is not made, and the model gets the reason."""
        return Decision("no", reason, by=by)

    @staticmethod
    def changed(arguments: Mapping[str, Any], by: str = "") -> Decision:
        """The call is made with these arguments, which the model is told."""
        return Decision("changed", arguments=to_json(dict(arguments)), by=by)


Verdict: TypeAlias = bool | Decision
Approver: TypeAlias = Callable[[PendingCall], Verdict | Awaitable[Verdict]]


@dataclass(slots=True)
class HeldWork:
    """Something that waits for a decision, and the decision when it is there.

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
    # That of the place in the journal, if there is one.
    key: str = ""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        text = json.dumps([self.kind, self.name, self.sent, self.shown])
        self.digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        self.key = self.key or self.digest

    @property
    def wanted(self) -> ToolRequest:
        """The call as the model sent it."""
        return ToolRequest(self.name, self.sent)

    @property
    def schema(self) -> dict[str, Any] | None:
        """What changed arguments have to fit."""
        return None if self.tool is None else json_schema(self.tool.parameters)

    @property
    def is_allowed(self) -> bool:
        """Whether it was decided that it may be done."""
        return self.decision is not None and self.decision.verdict in ("yes", "changed")

    def problem_with(self, decision: Decision) -> str | None:
        """Why a decision does not do, if so."""
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

    def decide(self, keep: Callable[[Decision], None] = lambda _: None) -> Effects[Decision]:
        """Asks the approver or the person at the terminal; RunWaiting when neither is there, or the
        answer is put off.

        `keep` keeps the decision at once: nothing that can be cancelled is between the two.
        """
        pending = PendingCall(self.name, self.args, self.shown, self.place, self.key, self.kind)
        approver, ask_person = self.settings.approver, _order.ask_person
        if approver is None and ask_person is None:
            raise RunWaiting(self.shown, self.place)
        yield from until_turn()

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
        """The decision of an approver; ConfigError when it has given something else."""
        said = plain(said)
        if isinstance(said, bool):
            said = Decision.yes() if said else Decision.no()
        if not isinstance(said, Decision):
            hint = 'give True, False, Decision.no("the reason") or Decision.changed({...})'
            message = f"the approver returned {brief(said)} for {self.name}"
            raise ConfigError(message, setting="approver", hint=hint)
        problem = self.problem_with(said)
        if problem is not None:
            raise ConfigError(problem, setting="approver")
        by = said.by or getattr(approver, "__name__", type(approver).__name__)
        return replace(said, by=by)


async def _kept_when_said(said: Awaitable[Any], kept: Callable[[Any], T]) -> T:
    """What is kept of the answer of an `async def`, also if the task is cancelled by then."""
    import asyncio

    keeping = asyncio.ensure_future(in_thread(kept, await maybe_await(said)))
    try:
        return await asyncio.shield(keeping)
    except asyncio.CancelledError:
        await keeping
        raise


def approved_call(asking: Asking, tool: Tool, wanted: ToolRequest) -> Effects[ToolCall]:
    """The outcome of a call that waits for a yes, of one that was refused the refusal.

    Arguments that do not fit are told to the model, and nobody is asked about them.
    """
    held = _held_call(asking, tool, wanted)
    if isinstance(held, ToolCall):
        call = _as_it_is(held)
        for part in reversed(asking.around):
            call = part.call(wanted, call)
        return (yield from call)
    call = _decided_call(asking, held)
    for part in reversed(asking.around):
        call = part.approved(held, call)
    return (yield from call)


def also_waiting(asking: Asking, behind: Sequence[ToolRequest]) -> Effects[None]:
    """Notes the calls of a turn behind one that waits, so that all can be decided together."""
    for wanted in behind:
        tool = asking.tools.get(wanted.name)
        held = _held_call(asking, tool, wanted) if tool is not None and tool.waits else None
        for part in asking.around:
            yield from part.passed_over(None if isinstance(held, ToolCall) else held)


def _held_call(asking: Asking, tool: Tool, wanted: ToolRequest) -> HeldWork | ToolCall:
    """The call as it waits, or else the one that has failed as its arguments do not fit."""
    name, sent = wanted.name, wanted.arguments
    read: Any = sent
    try:
        read = read_for(tool, sent)
        checked = checked_arguments(tool, read)
    except (ProviderError, ConfigError, RunStopped):
        raise
    except Exception as failure:  # also what the rules of the user's own records raise
        return ToolCall(name, read, None, failure_text(failure, name, read), 0.0)
    place = asking.call.place
    text = None if place is None else place.text()
    return HeldWork(
        name, sent, _shown(name, checked, sent), text, asking.call.settings, read, tool=tool
    )


def _shown(name: str, arguments: Mapping[str, Any], sent: str) -> str:
    """The call in Saft's notation; where a value has none, as it was sent."""
    try:
        written = ", ".join(f"{key}: {literal(value)}" for key, value in arguments.items())
    except (CheckError, ValueError, RecursionError):
        return f"{name} {sent}"
    return f"{name}({written})"


def _as_it_is(call: ToolCall) -> Effects[ToolCall]:
    yield from ()
    return call


def _decided_call(asking: Asking, held: HeldWork) -> Effects[ToolCall]:
    decision = held.decision or (yield from held.decide())
    if not held.is_allowed:
        return refused_call(held)
    if decision.verdict != "changed" or decision.arguments is None:
        return (yield from call_tool(asking.tools, held.name, held.sent))
    call = yield from call_tool(asking.tools, held.name, decision.arguments)
    changed = f"(approved with other arguments: {decision.arguments})"
    if call.result is None:
        return replace(call, error=f"{changed} {call.error}")
    return replace(call, result=f"{changed}\n{call.result}")


def refused_call(held: HeldWork) -> ToolCall:
    """What the model gets of a call that was refused."""
    return ToolCall(held.name, dict(held.args), None, refusal(held), 0.0)


def refusal(held: HeldWork) -> str:
    """A refusal in words."""
    reason = "" if held.decision is None else held.decision.reason
    return f"not approved: {reason}" if reason else "not approved"


def approved_work(asking: Asking, work: Work) -> Effects[Any]:
    """The outcome of a program that waits for a yes as a whole."""
    assert work.waits is not None
    program, names = work.waits
    place = asking.call.place
    held = _held_program(
        program, names, asking.call.settings, None if place is None else place.text()
    )
    outcome = _decided_work(asking, held, work)
    for part in reversed(asking.around):
        outcome = part.approved(held, outcome)
    return (yield from outcome)


def _decided_work(asking: Asking, held: HeldWork, work: Work) -> Effects[Any]:
    if held.decision is None:
        yield from held.decide()
    if not held.is_allowed:
        return work.refused(refusal(held))
    return (yield from asking.do(work, is_approved=True))


def held_plan(program: Any, names: Iterable[str], settings: Settings) -> HeldWork:
    """A plan that is to be run, and that calls functions which wait."""
    place = place_of_call()
    return _held_program(program, names, settings, None if place is None else place.text())


def _held_program(
    program: Any, names: Iterable[str], settings: Settings, place: str | None
) -> HeldWork:
    """A program that calls functions which wait, as a whole."""
    text = to_json(program)
    shown = f"program {text}, which calls {listed(names, limit=1000)}"
    return HeldWork(PROGRAM, text, shown, place, settings, {PROGRAM: program}, "program")


def decide_here(held: HeldWork) -> None:
    """Has somebody decide who is here; ConfigError when nobody is."""
    check_somebody_decides([held.name], held.settings, has_journal=False)
    finish(held.decide())


def check_offer(functions: Mapping[str, Any], settings: Settings, around: Sequence[Around]) -> None:
    """ConfigError when nobody could decide; CheckError when a function that waits is also offered
    as one that does not.
    """
    waiting = {name: one for name, one in functions.items() if is_approved(one)}
    for name, one in waiting.items():
        waits = function_held(one.__wrapped__)
        for other, bare in functions.items():
            if not is_approved(bare) and function_held(bare) == waits:
                raise CheckError(
                    f"`{other}` is the same function as `{name}`, which waits for approval",
                    hint="offer it once",
                )
    check_somebody_decides(waiting, settings, any(part.keeps_waiting for part in around))


def check_somebody_decides(names: Iterable[str], settings: Settings, has_journal: bool) -> None:
    """ConfigError when nobody could decide about calls of these functions."""
    if settings.approver is None and _order.ask_person is None and not has_journal:
        named = listed(names)
        message = f"calls of {named} wait for approval, and no approver is set"
        raise ConfigError(message, setting="approver", hint=_NOBODY)


def _end_waiting() -> None:
    """Has a program that nothing keeps from ending as waiting say so, and exit with 4."""
    report = sys.excepthook

    def end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, RunWaiting):
            note(str(error))
            raise SystemExit(error.exit_code)
        report(kind, error, trace)

    sys.excepthook = end


_end_waiting()
