"""The prompt `program`, which a model answers with a program; connects programs to prompts.

    program("How far is Oslo from Rome? Use {gap}.", gap=gap, conversions=[locate], returns=float)

The program may call the interpolated functions, the conversions, and the constructors of the types
in their signatures. An invalid or ambiguous program is returned to the model. For an ambiguous
program, the model may choose one of several candidate programs by number. Calls with effects that
an earlier program made are not repeated. With `returns=Plan`, the value is the checked program,
which can be shown, stored, approved and run later.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, overload

from runtime_support._core.conversation import Conversation
from runtime_support._core.hooks import PromptRun, RequestedCall, load_part, make_call
from runtime_support._core.outputs.contracts import Contract
from runtime_support._core.outputs.outputs import Output, Unreadable, Work, without_thinking
from runtime_support._core.positions.frames import annotate
from runtime_support._core.question import Question, ask, ask_async
from runtime_support._core.redaction import redacted
from runtime_support._core.results import Answer, Result, ToolCall
from runtime_support._core.settings import Settings, settings_for
from runtime_support._core.tasks.loops import call_inside, in_thread
from runtime_support._core.tasks.waits import Steps, Wait, finish
from runtime_support._core.templates import Unknown
from runtime_support._schema.model import AnySchema, ListSchema, MapSchema, UnionSchema
from runtime_support._values.kinds import brief, plain
from runtime_support.errors import CheckError, ContractError, ProgramError, SaftError
from runtime_support.programs._evaluation import DEFAULT_LIMITS, check
from runtime_support.programs._evaluation import run as run_checked
from runtime_support.programs._json_schema import schema
from runtime_support.programs._machine import OnCall
from runtime_support.programs._outcomes import (
    Ambiguous,
    Call,
    Candidate,
    Diagnostic,
    Outcome,
    ProgramFailure,
    Success,
    compact,
)
from runtime_support.programs._registry import (
    Registry,
    RegistryError,
    classes_of,
    describe,
    with_names,
)
from runtime_support.programs._syntax import Limits, ProgramText
from runtime_support.programs._tree import CheckedProgram, calls_in, functions_in, waiting_in
from runtime_support.programs._types import ANY, type_notation
from runtime_support.programs._writing import ProgramCall, described

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from runtime_support._streaming.results import AsyncResult

T = TypeVar("T")
Function = Callable[..., Any]
Messages = Sequence[Mapping[str, Any]]

GRAMMAR = """\
Answer with one program, as JSON only, with no other text. It is checked as a whole, then run once.
- {"name": {"parameter": ...}} calls; each argument is a program again, so calls nest.
- null, true, numbers, texts, [lists] and records of several fields stand for themselves;
  a record of one field is written {"$object": {"field": ...}}.
- {"$let": {"bind": {"x": ...}, "in": ...}} names results, {"$ref": "x"} uses one.
- {"$map": {"over": list, "as": "x", "where": test, "do": ...}} makes a list; "where" is optional.
- {"$if": {"test": ..., "then": ..., "else": ...}} chooses.
Each `conv` is applied by itself where its result is asked for."""

_TO_READ = "`plan: program = parse(text)` reads one that was kept"
_PROGRAM = UnionSchema((MapSchema(AnySchema()), ListSchema(AnySchema())))
_CHOICE = re.compile(r"[#(]?(\d{1,3})[.)]?")


class Plan:
    """A checked program that a model wrote and that has not run yet.

    `program` is the program as JSON data, and `checked` is the tree that will be evaluated.
    `str(plan)` is the program as JSON text on one line.
    """

    __saft_kind__: ClassVar[str] = "program"

    # With a union of both types, mypy does not accept a dictionary's functions as callables.
    @overload
    @classmethod
    def read(
        cls,
        program: Any,
        functions: Mapping[str, Function],
        conversions: Iterable[Function] = (),
        pure: Iterable[Function] = (),
    ) -> Plan: ...

    @overload
    @classmethod
    def read(
        cls,
        program: Any,
        functions: Iterable[Function],
        conversions: Iterable[Function] = (),
        pure: Iterable[Function] = (),
    ) -> Plan: ...

    @classmethod
    def read(
        cls,
        program: Any,
        functions: Iterable[Function] | Mapping[str, Function],
        conversions: Iterable[Function] = (),
        pure: Iterable[Function] = (),
    ) -> Plan:
        """Returns the plan of a stored program, which is parsed JSON, a ProgramText or a plan.

        A plain string is a program whose value is that string. A program may call the functions,
        the conversions, and the constructors of the types in their signatures. If the program is
        not valid, raises ProgramError with all mistakes.
        """
        program = plain(program)
        if isinstance(program, Plan):
            return program
        registry = registry_for(dict(with_names(functions)), conversions, pure=pure)
        return _checked_plan(program, registry)

    def __saft_json__(self) -> Any:
        return self.program

    def __init__(self, checked: CheckedProgram, limits: Limits = DEFAULT_LIMITS) -> None:
        self.program: Any = checked.program
        self.checked = checked
        self.limits = limits

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls in the program, each as a dictionary with the keys `tool`, `args` and `path`.

        The values in `args` are programs, and `path` is a JSON Pointer into the program.
        """
        return calls_in(self.checked)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.program == other.program

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return compact(self.program)

    def __repr__(self) -> str:
        return f"Plan({self})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickles the registry's parts: when the plan is loaded, the program is checked again.
        return _checked_again, (self.program, *self.checked.registry.parts(), self.limits)


def _checked_again(
    program: Any,
    functions: dict[str, Function],
    types: dict[str, type],
    conversions: dict[str, Function],
    pure: list[str],
    limits: Limits,
) -> Plan:
    registry = Registry(functions, types, conversions, pure)
    return _checked_plan(program, registry, limits, "the plan no longer fits its functions")


def _checked_plan(
    program: Any,
    registry: Registry,
    limits: Limits = DEFAULT_LIMITS,
    refusal: str = "the program cannot be run",
) -> Plan:
    checked = check(program, registry, limits=limits)
    if isinstance(checked, CheckedProgram):
        return Plan(checked, limits)
    wrong = checked.points if isinstance(checked, Ambiguous) else checked.diagnostics
    reasons = "; ".join(f"{one.message} (at {one.path or '(root)'})" for one in wrong)
    error = ProgramError(f"{refusal}: {reasons}", outcome=checked)
    annotate(error)
    raise error


class Run:
    """Runs a plan, which `program(..., returns=Plan)` returns. `run` is the only instance."""

    __name__ = "run"

    def __call__(self, plan: Plan, on_call: OnCall | None = None) -> Any:
        """Returns the value of the plan; raises ProgramError if the plan fails."""
        given: object = plain(plan)
        if not isinstance(given, Plan):
            error = CheckError(f"run(plan): expected program, got {brief(given)}", hint=_TO_READ)
            annotate(error)
            raise error
        plan = given
        call = RequestedCall("program", "", "program", number=1, asked=plan.program)
        names = waiting_in(plan.checked)
        if names:
            load_part("approval").hold_program(call, plan.program, names, _refuse)
        outcome = finish(
            make_call(
                call,
                settings_for(),
                partial(_run_plan, plan, on_call),
                functions_in(plan.checked),
            )
        )
        if isinstance(outcome, Success):
            return outcome.value
        error = ProgramError(str(outcome), outcome=outcome)
        error.attempts = ((str(plan), str(outcome)),)
        annotate(error)
        raise error

    async def aio(self, plan: Plan, on_call: OnCall | None = None) -> Any:
        """Runs a plan in a thread, so that an event loop can await it.

        The arguments are those of `__call__`.
        """
        try:
            return await in_thread(self, plan, on_call)
        except SaftError as error:
            annotate(error)
            raise


run: Run = Run()


def _refuse(reason: str) -> NoReturn:
    error = ProgramError(reason)
    annotate(error)
    raise error


def _run_plan(plan: Plan, on_call: OnCall | None, call: RequestedCall) -> Steps[Outcome]:
    run = partial(run_checked, plan.checked, limits=plan.limits, on_call=on_call, call=call)
    return (yield Wait(partial(call_inside, call.inside, run)))


class ProgramPrompt:
    """Requests a program of calls from a model, and runs it. `program` is the only instance.

        program("How far is Oslo from Rome? Use {gap}.", gap=gap, returns=float).value

    `__call__` describes the arguments; `program.aio` is the same for an event loop.
    """

    @overload
    def __call__(
        self,
        template: str,
        /,
        *values: Any,
        returns: TypeForm[T],
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        conversions: Iterable[Function] = (),
        pure: Iterable[Function] = (),
        **names: Any,
    ) -> Result[T]: ...

    @overload
    def __call__(
        self,
        template: str,
        /,
        *values: Any,
        returns: Any = Any,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        conversions: Iterable[Function] = (),
        pure: Iterable[Function] = (),
        **names: Any,
    ) -> Result[Any]: ...

    def __call__(
        self,
        template: str,
        /,
        *values: Any,
        returns: Any = Any,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        conversions: Iterable[Function] = (),
        pure: Iterable[Function] = (),
        **names: Any,
    ) -> Result[Any]:
        """Requests a program from the model, runs it, and returns its value of type `returns`.

        The template is written as for `prompt`. The program may call the functions in the template,
        in `tools` and in `conversions`. Calls of the functions in `pure` may run in parallel, as
        they have no side effects. `max_tool_rounds` limits how often a program may be returned to
        the model. The option `timeout` also limits the seconds of each run, and `max_tool_calls`
        limits the calls of all runs together. `Result.tool_calls` are the calls that the programs
        made, each with its path.
        """
        return ask(
            ProgramQuestion(
                *(template, values, names, returns, None, None, options, after, tuple(tools)),
                conversions=conversions,
                pure=(*pure,),
            )
        )

    @overload
    def aio(
        self,
        template: str,
        /,
        *values: Any,
        returns: TypeForm[T],
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        conversions: Iterable[Function] = (),
        pure: Iterable[Function] = (),
        **names: Any,
    ) -> Coroutine[Any, Any, Result[T]]: ...

    @overload
    def aio(
        self,
        template: str,
        /,
        *values: Any,
        returns: Any = Any,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        conversions: Iterable[Function] = (),
        pure: Iterable[Function] = (),
        **names: Any,
    ) -> Coroutine[Any, Any, Result[Any]]: ...

    def aio(
        self,
        template: str,
        /,
        *values: Any,
        returns: Any = Any,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        conversions: Iterable[Function] = (),
        pure: Iterable[Function] = (),
        **names: Any,
    ) -> Coroutine[Any, Any, Result[Any]]:
        """The same as `__call__` for an event loop; programs run in threads."""
        return ask_async(
            ProgramQuestion(
                *(template, values, names, returns, None, None, options, after, tuple(tools)),
                conversions=conversions,
                pure=(*pure,),
            )
        )


program: ProgramPrompt = ProgramPrompt()


class ProgramConversation(Conversation):
    """A conversation in which the model answers with programs."""

    def converse(self, prompt: PromptRun) -> Steps[Answer]:
        """Requests programs until one has run to its end. Raises ProgramError if none does."""
        output = self.output
        assert isinstance(output, ProgramOutput)
        try:
            answer = yield from super().converse(prompt)
        except ContractError as error:
            hint = "say in the prompt what to call, or raise `max_tool_rounds`"
            raise self._failure(f"no program could be run: {error.message}", hint) from None
        if not output.has_value:
            reason = output.stays_wrong or str(output.outcome)
            self.attempts.append((self.text, reason))
            if output.stays_wrong is None:
                raise self._failure(reason)
            hint = "say in the prompt what to call, or raise `max_repairs`"
            raise self._failure(f"no program could be run: {reason}", hint)
        return answer._replace(tool_calls=self._calls_of_programs())

    def _failure(self, message: str, hint: str | None = None) -> ProgramError:
        assert isinstance(self.output, ProgramOutput)
        error = ProgramError(message, outcome=self.output.outcome, hint=hint)
        error.attempts = tuple(self.attempts)
        error.tool_calls = tuple(self._calls_of_programs())
        self.note_replies(error)
        return error

    def _calls_of_programs(self) -> list[ToolCall]:
        """The calls that programs made.

        Tool calls that the model itself requested are left out. They fail, because no tools are
        offered to the model.
        """
        return [call for call in self.calls if isinstance(call, ProgramCall)]


@dataclass(frozen=True, slots=True)
class ProgramQuestion(Question):
    """The arguments of a call of the prompt `program`.

    In a preview, some functions are known only by name. The text shows these names, but a program
    cannot call the functions.
    """

    conversions: Iterable[Function] = ()
    pure: Iterable[Function] = ()

    offers_tools: ClassVar[bool] = False
    conversation: ClassVar[type[Conversation]] = ProgramConversation

    def output(self, settings: Settings, functions: Mapping[str, Any]) -> ProgramOutput:
        runs = self.returns is not Plan
        wanted = self.returns if runs else Any
        known = {n: one for n, one in functions.items() if not isinstance(one, Unknown)}
        registry = registry_for(known, self.conversions, wanted, self.pure)
        limits = _limits(settings, self.options or {})
        return ProgramOutput(registry, wanted, limits, runs, settings.max_repairs)

    def settled(self, settings: Settings) -> Settings:
        """Returns the settings with `max_tool_rounds` in place of `max_repairs`.

        `ProgramOutput` uses the original `max_repairs`, to limit how often the model may repeat a
        mistake.
        """
        return replace(settings, max_repairs=settings.max_tool_rounds)


def registry_for(
    functions: Mapping[str, Function],
    conversions: Iterable[Function],
    returns: Any = Any,
    pure: Iterable[Function] = (),
) -> Registry:
    """Returns the registry of the functions, the conversions, and the classes in signatures."""
    conversions, pure = list(conversions), list(pure)
    converting = {_name_of(one, functions): one for one in conversions}
    others = {name: one for name, one in functions.items() if one not in converting.values()}
    try:
        return Registry(
            {name: one for name, one in others.items() if not isinstance(one, type)},
            classes_of([*functions.values(), *converting.values()], returns),
            converting,
            [name for name, one in {**others, **converting}.items() if one in pure],
        )
    except RegistryError as error:
        raise CheckError(str(error)) from None


def _name_of(conversion: Function, functions: Mapping[str, Function]) -> str:
    """Returns the name that the template has for a conversion, or else its `__name__`."""
    own = getattr(conversion, "__name__", repr(conversion))
    return next((name for name, one in functions.items() if one is conversion), own)


def _limits(settings: Settings, options: Mapping[str, Any]) -> Limits:
    """Returns the limits of each run: the options of the prompt, or the defaults."""
    given = {
        "seconds": settings.timeout if options.get("timeout") is not None else None,
        "calls": settings.max_tool_calls if options.get("max_tool_calls") is not None else None,
    }
    return replace(DEFAULT_LIMITS, **{k: v for k, v in given.items() if v is not None})


class ProgramOutput(Output):
    """The output of a prompt that the model answers with a program.

    Its value is the value of the program, or a `Plan` if the program is not to run. `accept` reads
    and checks a program, and returns a ProgramRun if the program is to run. The same mistake is
    returned to the model at most `max_repairs` times; then `stays_wrong` says why no program could
    be run.
    """

    may_be_call = True

    def __init__(
        self, registry: Registry, returns: Any, limits: Limits, runs: bool, repairs: int
    ) -> None:
        super().__init__()
        self.stays_wrong: str | None = None
        self._repairs_allowed = repairs
        self._told = Counter[str]()
        self.outcome: Outcome | None = None
        self.limits = limits
        self.registry = registry
        self.earlier: list[Call] = []
        self._returns = returns
        self._runs = runs
        self._candidates: tuple[Candidate, ...] = ()

    @property
    def is_complete(self) -> bool:
        is_over = self.outcome is not None and not _goes_back(self.outcome)
        return is_over or self.stays_wrong is not None

    @property
    def has_value(self) -> bool:
        return isinstance(self.outcome, Success)

    @property
    def value(self) -> Any:
        return self.outcome.value if isinstance(self.outcome, Success) else None

    @property
    def contract(self) -> Contract | None:
        written = schema(self.registry, self._returns)
        written.pop("$schema")
        return Contract(AnySchema(), "", written, is_strict=False)

    def ending(self) -> str:
        lines = describe(self.registry)
        result = self.registry.read_type(self._returns)
        asked = (
            ""
            if result == ANY
            else f"\nThe value of the program has to be: {type_notation(result)}"
        )
        available = f"\nWhat it can call:\n{lines}" if lines else ""
        return f"{GRAMMAR}{available}{asked}"

    def accept(self, text: str) -> Work | None:
        program = self._chosen(without_thinking(text).strip())
        if self.stays_wrong is not None:
            return None
        checked = check(program, self.registry, returns=self._returns, limits=self.limits)
        if not isinstance(checked, CheckedProgram):
            self.record_outcome(checked)
            return None
        if self._runs:
            return ProgramRun(self, checked)
        self.outcome = Success(Plan(checked, self.limits), checked.program)
        return None

    def record_outcome(self, outcome: Outcome) -> None:
        """Stores the outcome; raises Unreadable if the model may try again."""
        self.outcome = outcome
        self.earlier += [call for call in outcome.calls if not call.reused]
        if isinstance(outcome, ProgramFailure) and _goes_back(outcome):
            found = [f"{one.message} at {one.path}" for one in outcome.diagnostics]
            self.send_back(redacted(str(outcome)), found)
        elif isinstance(outcome, Ambiguous):
            self._candidates = outcome.candidates
            raise Unreadable(redacted(str(outcome)))

    def send_back(self, reason: str, mistakes: list[str]) -> None:
        """Raises Unreadable with the reason, so that the model tries again.

        If the model has made one of the mistakes too often, stores the reason as `stays_wrong`.
        """
        self._told.update(mistakes)
        if max(map(self._told.__getitem__, mistakes)) <= self._repairs_allowed:
            raise Unreadable(reason)
        self.stays_wrong = reason

    def reminder(self, reason: str) -> str:
        is_choice = isinstance(self.outcome, Ambiguous) and self.outcome.candidates
        return reason if is_choice else f"{reason}\nReply with a corrected program."

    def _chosen(self, answer: str) -> Any:
        """Returns the program that the answer means.

        The answer is the number of a candidate program, or it contains a program.
        """
        number = _CHOICE.fullmatch(answer) if self._candidates else None
        if number is None:
            return self._readable(answer)
        index = int(number[1]) - 1
        if not 0 <= index < len(self._candidates):
            count = len(self._candidates)
            reason = f"There is no program {number[1]}, only 1 to {count}."
            self.send_back(reason, [reason])
            return None
        self.repairs.append(f"chose {self._candidates[index].sentence}")
        return self._candidates[index].program

    def _readable(self, answer: str) -> Any:
        """Returns the program in the answer.

        JSON text is not changed. Other text is read with the repairs that any reply may need.
        """
        if len(answer) > self.limits.bytes:
            return ProgramText(answer)
        from runtime_support._core.reader.around import split_fences
        from runtime_support._core.reader.replies import read_reply

        fences, _ = split_fences(answer)
        for text in (answer, *(fences if len(fences) == 1 else ())):
            with suppress(ValueError, RecursionError):
                json.loads(text)
                self.repairs.extend(["code fence removed"] if text is not answer else [])
                return ProgramText(text)
        with suppress(CheckError):
            program, repairs = read_reply(answer, _PROGRAM)
            self.repairs.extend(repairs)
            return program
        return ProgramText(answer)


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """The work that follows a reply with a program: the run of the checked program."""

    output: ProgramOutput
    checked: CheckedProgram

    @property
    def waits(self) -> tuple[Any, list[str]] | None:
        names = waiting_in(self.checked)
        return (self.checked.program, names) if names else None

    def do(self, call: RequestedCall) -> Outcome:
        output = self.output
        return run_checked(self.checked, limits=output.limits, earlier=output.earlier, call=call)

    def refused(self, reason: str) -> ProgramFailure:
        return ProgramFailure("denied", reason, diagnostics=(Diagnostic(reason, ""),))

    def calls(self, outcome: Outcome) -> list[ToolCall]:
        """Returns the calls of functions and conversions that did not reuse an earlier result."""
        made = [call for call in outcome.calls if not call.reused]
        return [described(call, self.output.registry) for call in made if call.kind != "type"]

    def judge(self, outcome: Outcome) -> None:
        self.output.record_outcome(outcome)


def _goes_back(outcome: Outcome) -> bool:
    """True if the outcome is returned to the model, which may then try again.

    This is so if the program is invalid or ambiguous, if a conversion failed, or if the program was
    denied or exceeded a limit before its first call.
    """
    if isinstance(outcome, ProgramFailure):
        before_running = outcome.kind in ("limit", "denied") and not outcome.calls
        return outcome.kind in ("invalid", "conversion") or before_running
    return isinstance(outcome, Ambiguous)
