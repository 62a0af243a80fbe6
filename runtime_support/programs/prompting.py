"""`program`: a prompt that the model answers with a program. The bridge to the rest of the runtime.

    program("How far is Oslo from Rome? Use {gap}.", gap=gap, conversions=[locate], returns=float)

The registry holds the interpolated functions, the conversions, and the types in all their
signatures. What is invalid or ambiguous goes back to the model with candidate programs, of which
it may choose one by its number; calls with effects that were made before are not made again.
With `returns=Plan` the checked program is the value, to be shown, kept, approved and run later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, overload

from runtime_support.asking import Nobody, Question, settings_where_known
from runtime_support.config import Settings, settings_for
from runtime_support.conversation import Conversation
from runtime_support.errors import CheckError, ContractError, ProgramError, SaftError
from runtime_support.exchange import Request, ToolRequest
from runtime_support.goals import Contract, Unreadable, without_thinking
from runtime_support.positions import annotate
from runtime_support.programs.checking import CheckedProgram
from runtime_support.programs.evaluation import DEFAULT_LIMITS, check
from runtime_support.programs.evaluation import run as run_checked
from runtime_support.programs.json_schema import schema
from runtime_support.programs.machine import OnCall
from runtime_support.programs.outcomes import (
    Ambiguous,
    Call,
    Candidate,
    Failure,
    Outcome,
    Success,
    compact,
)
from runtime_support.programs.registry import Registry, RegistryError, classes_of, describe
from runtime_support.programs.serialization import SerializationError, serialize
from runtime_support.programs.syntax import Limits
from runtime_support.programs.tree import calls_in
from runtime_support.programs.types import ANY, notation
from runtime_support.providers import provider_for
from runtime_support.results import Result, ToolCall
from runtime_support.schema import AnySchema
from runtime_support.tables import summary
from runtime_support.templates import Unknown, render
from runtime_support.tracing import Observer, observer_for
from runtime_support.values import is_dataframe, is_list, is_object

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")
Function = Callable[..., Any]

GRAMMAR = """\
Answer with one program, as JSON only, with no other text. It is checked as a whole, then run once.
- {"name": {"parameter": ...}} calls; each argument is a program again, so calls nest.
- null, true, numbers, texts, [lists] and records of several fields stand for themselves;
  a record of one field is written {"$object": {"field": ...}}.
- {"$let": {"bind": {"x": ...}, "in": ...}} names results, {"$ref": "x"} uses one.
- {"$map": {"over": list, "as": "x", "where": test, "do": ...}} makes a list; "where" is optional.
- {"$if": {"test": ..., "then": ..., "else": ...}} chooses.
Each `conv` is applied by itself where its result is asked for."""

_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)\n\s*```", re.DOTALL)
_CHOICE = re.compile(r"[#(]?(\d{1,3})[.)]?")


@dataclass(frozen=True, slots=True)
class ProgramCall(ToolCall):
    """A call that a program made: `path` is a JSON Pointer into the program."""

    path: str = ""


class ProgramFailed(ProgramError):
    """No program of the model could be run to its end.

    `outcome` is what the last one came to, `attempts` holds a pair (reply text, reason) for each
    try, `tool_calls` the calls that were made until then.
    """

    def __init__(
        self,
        message: str,
        *,
        outcome: Outcome | None,
        attempts: tuple[tuple[str, str], ...] = (),
        tool_calls: tuple[ToolCall, ...] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(message, outcome=outcome, hint=hint)
        self.attempts = attempts
        self.tool_calls = tool_calls


class Plan:
    """A program that a model wrote, checked and not run; its text is JSON on one line.

    `program` is its JSON data, `checked` the tree that will be evaluated.
    """

    def __init__(self, checked: CheckedProgram, limits: Limits = DEFAULT_LIMITS) -> None:
        self.program: Any = checked.program
        self.checked = checked
        self.limits = limits

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls that stand in the program: tool, args (as programs) and path of each."""
        return calls_in(self.checked)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.program == other.program

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return compact(self.program)

    def __repr__(self) -> str:
        return f"Plan({self})"


def run(plan: Plan, on_call: OnCall | None = None) -> Any:
    """The value of the plan; ProgramError when it does not run to its end."""
    outcome = run_checked(plan.checked, limits=plan.limits, on_call=on_call)
    if isinstance(outcome, Success):
        return outcome.value
    error = ProgramFailed(str(outcome), outcome=outcome, attempts=((str(plan), str(outcome)),))
    annotate(error)
    raise error


@overload
def program(
    template: str,
    /,
    *values: Any,
    returns: TypeForm[T],
    options: Mapping[str, Any] | None = None,
    conversions: Iterable[Function] = (),
    pure: Iterable[Function] = (),
    **names: Any,
) -> Result[T]: ...


@overload
def program(
    template: str,
    /,
    *values: Any,
    returns: Any = Any,
    options: Mapping[str, Any] | None = None,
    conversions: Iterable[Function] = (),
    pure: Iterable[Function] = (),
    **names: Any,
) -> Result[Any]: ...


def program(
    template: str,
    /,
    *values: Any,
    returns: Any = Any,
    options: Mapping[str, Any] | None = None,
    conversions: Iterable[Function] = (),
    pure: Iterable[Function] = (),
    **names: Any,
) -> Result[Any]:
    """Asks the model for a program, runs it, and gives its value as a `returns`.

    Holes of the template are those of `prompt`; the functions in them, and `conversions`, are what
    the program may call; those in `pure` have no effects, so that calls of them may run together.
    `max_tool_rounds` bounds how often a program may go back to the model.
    Of the options, `timeout` and `max_tool_calls` also bound each run, when they are given.
    `Result.tool_calls` are the calls that the programs made, each with its path.
    """
    try:
        question = Question(template, values, names, returns, options=options)
        return _ask(question, list(conversions), list(pure))
    except SaftError as error:
        annotate(error)
        raise


def _ask(question: Question, conversions: list[Function], pure: list[Function]) -> Result[Any]:
    options = question.options or {}
    settings = settings_for(options)
    rendered = render(question.template, question.values, question.names)
    registry = registry_for(rendered.tools, conversions, _wanted(question), pure)
    goal = _goal(registry, question, _limits(settings, options))
    conversation = Conversation(
        rendered.content,
        {},
        goal,
        replace(settings, repairs=settings.max_tool_rounds),
        provider_for(settings),
        None,
        observer_for(),
    )
    goal.observer = conversation.observer
    try:
        conversation.run()
    except ContractError as error:
        raise ProgramFailed(
            f"no program could be run: {error.message}",
            outcome=goal.outcome,
            attempts=error.attempts,
            tool_calls=tuple(goal.calls),
            hint="say in the prompt what to call, or raise `max_tool_rounds`",
        ) from None
    if not goal.has_value:
        raise ProgramFailed(
            str(goal.outcome),
            outcome=goal.outcome,
            attempts=(*conversation.attempts, (conversation.text, str(goal.outcome))),
            tool_calls=tuple(goal.calls),
        )
    value = goal.value
    return Result(
        Plan(value, goal.limits) if question.returns is Plan else value,
        text=conversation.text,
        tool_calls=list[ToolCall](goal.calls),
        usage=conversation.usage,
        model=conversation.model,
        repairs=conversation.repairs,
    )


def first_request(question: Question, conversions: Iterable[Function] = ()) -> Request:
    """What `program` would send first; nothing is sent.

    Values, and those of options, may be `Unknown`: their marks stand in their places. A function
    that is not known is named in the text, and missing among what the program can call.
    """
    settings = settings_where_known(question.options)
    rendered = render(question.template, question.values, question.names)
    functions = {n: one for n, one in rendered.tools.items() if not isinstance(one, Unknown)}
    goal = _goal(registry_for(functions, conversions, _wanted(question)), question, DEFAULT_LIMITS)
    conversation = Conversation(rendered.content, {}, goal, settings, Nobody(), None, Observer())
    return conversation.request()


def _goal(registry: Registry, question: Question, limits: Limits) -> ProgramGoal:
    runs = question.returns is not Plan
    return ProgramGoal(registry, _wanted(question), limits, runs=runs)


def _wanted(question: Question) -> Any:
    """The type of the program's value; a plan may have any."""
    return Any if question.returns is Plan else question.returns


def registry_for(
    functions: Mapping[str, Function],
    conversions: Iterable[Function],
    returns: Any = Any,
    pure: Iterable[Function] = (),
) -> Registry:
    """The registry of the functions by name, with the types that their signatures speak of."""
    conversions, pure = list(conversions), list(pure)
    converting = {_name_of(one, functions): one for one in conversions}
    plain = {name: one for name, one in functions.items() if one not in converting.values()}
    try:
        return Registry(
            {name: one for name, one in plain.items() if not isinstance(one, type)},
            classes_of([*functions.values(), *converting.values()], returns),
            converting,
            [name for name, one in {**plain, **converting}.items() if one in pure],
        )
    except RegistryError as error:
        raise CheckError(str(error)) from None


def _name_of(conversion: Function, functions: Mapping[str, Function]) -> str:
    """The name under which it stands in the template, else its own."""
    own = getattr(conversion, "__name__", repr(conversion))
    return next((name for name, one in functions.items() if one is conversion), own)


def _limits(settings: Settings, options: Mapping[str, Any]) -> Limits:
    limits = DEFAULT_LIMITS
    if options.get("timeout") is not None:
        limits = replace(limits, seconds=settings.timeout)
    if options.get("max_tool_calls") is not None:
        limits = replace(limits, calls=settings.max_tool_calls)
    return limits


class ProgramGoal:
    """Reaches the value of a program, or the checked program itself when it is not to run."""

    is_typed = True

    def __init__(self, registry: Registry, returns: Any, limits: Limits, runs: bool) -> None:
        self.repairs: list[str] = []
        self.calls: list[ProgramCall] = []
        self.outcome: Outcome | None = None
        self.plan: CheckedProgram | None = None
        self.limits = limits
        self.observer = Observer()
        self._registry = registry
        self._returns = returns
        self._runs = runs
        self._made: list[Call] = []
        self._candidates: tuple[Candidate, ...] = ()

    @property
    def is_reached(self) -> bool:
        return self.has_value or (self.outcome is not None and not _goes_back(self.outcome))

    @property
    def has_value(self) -> bool:
        return self.plan is not None or isinstance(self.outcome, Success)

    @property
    def value(self) -> Any:
        return self.outcome.value if isinstance(self.outcome, Success) else self.plan

    @property
    def contract(self) -> Contract | None:
        written = schema(self._registry, self._returns)
        written.pop("$schema")
        return Contract(AnySchema(), "", written, is_strict=False)

    def ending(self) -> str:
        lines = describe(self._registry)
        result = self._registry.read_type(self._returns)
        asked = "" if result == ANY else f"\nThe value of the program has to be: {notation(result)}"
        available = f"\nWhat it can call:\n{lines}" if lines else ""
        return f"{GRAMMAR}{available}{asked}"

    def return_tools(self) -> list[dict[str, Any]]:
        return []

    def takes(self, call: ToolRequest) -> bool:
        return False

    def keep(self, call: ToolRequest) -> str:
        raise LookupError(call.name)

    def accept(self, text: str) -> None:
        program = self._chosen(without_thinking(text).strip())
        checked = check(program, self._registry, returns=self._returns, limits=self.limits)
        if not isinstance(checked, CheckedProgram):
            outcome: Outcome = checked
        elif self._runs:
            outcome = run_checked(checked, limits=self.limits, earlier=self._made)
        else:
            self.plan = checked
            return
        self.outcome = outcome
        self._record(outcome)
        self._candidates = () if isinstance(outcome, Success) else outcome.candidates
        if _goes_back(outcome):
            raise Unreadable(str(outcome))

    def reminder(self, reason: str) -> str:
        return reason if self._candidates else f"{reason}\nReply with a corrected program."

    def state(self) -> str:
        return ""

    def _chosen(self, answer: str) -> Any:
        """The program: that candidate whose number it is, or what is written."""
        number = _CHOICE.fullmatch(answer) if self._candidates else None
        if number is None:
            return self._readable(answer)
        index = int(number[1]) - 1
        if not 0 <= index < len(self._candidates):
            count = len(self._candidates)
            raise Unreadable(f"There is no program {number[1]}, only 1 to {count}.")
        self.repairs.append(f"chose {self._candidates[index].sentence}")
        return compact(self._candidates[index].program)

    def _readable(self, answer: str) -> Any:
        """Text of JSON where there is any: as it is, from a fence, or recovered."""
        fenced = _FENCED.findall(answer)
        if len(fenced) == 1:
            self.repairs.append("read from a code fence")
            answer = fenced[0].strip()
        outcome = check(answer, self._registry, limits=self.limits)
        is_json = not isinstance(outcome, Failure) or "is not JSON" not in outcome.message
        if is_json or not answer:
            return answer
        from runtime_support.recovery import RecoveryRefused, recover

        try:
            recovered = recover(answer, AnySchema())
        except RecoveryRefused:
            return answer
        if not (is_object(recovered.value) or is_list(recovered.value)):
            return answer
        self.repairs.extend(recovered.repairs)
        return recovered.value

    def _record(self, outcome: Outcome) -> None:
        made = [call for call in outcome.calls if not call.reused]
        self._made += [call for call in made if not call.pure]
        for call in made:
            if call.kind != "type":
                self.calls.append(self._told(call))
                self.observer.called(self.calls[-1])

    def _told(self, call: Call) -> ProgramCall:
        arguments = {name: self._written(value) for name, value in call.arguments.items()}
        result = None if call.error is not None else self._written(call.result)
        if result is not None and not isinstance(result, str):
            result = compact(result)
        text = "null" if call.error is None and result is None else result
        return ProgramCall(
            call.name, arguments, text, call.error, call.seconds * 1000, path=call.path
        )

    def _written(self, value: Any) -> Any:
        """The value as a program, or how it is shown when it has none."""
        if is_dataframe(value):
            return summary(value)
        try:
            return serialize(value, self._registry)
        except SerializationError:
            return repr(value)


def _goes_back(outcome: Outcome) -> bool:
    """Whether the model may try again: nothing ran, or there is a choice to make."""
    if isinstance(outcome, Failure):
        before_running = outcome.kind == "limit" and not outcome.calls
        return outcome.kind == "invalid" or before_running
    return isinstance(outcome, Ambiguous)
