"""`program`: a prompt that the model answers with a program. The bridge to the rest of the runtime.

    program("How far is Oslo from Rome? Use {gap}.", gap=gap, conversions=[locate], returns=float)

The registry holds the interpolated functions, the conversions, and the types in all their
signatures. What is invalid or ambiguous goes back to the model with candidate programs, of which
it may choose one by its number; calls with effects that were made before are not made again.
With `returns=Plan` the checked program is the value, to be shown, kept, approved and run later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, overload

from runtime_support.asking import Nobody, Question, settings_where_known
from runtime_support.config import Settings, settings_for
from runtime_support.conversation import Conversation
from runtime_support.errors import CheckError, ContractError, ProgramError, SaftError
from runtime_support.exchange import Request
from runtime_support.positions import annotate
from runtime_support.programs.checking import CheckedProgram
from runtime_support.programs.evaluation import DEFAULT_LIMITS
from runtime_support.programs.evaluation import run as run_checked
from runtime_support.programs.goal import ProgramCall, ProgramGoal
from runtime_support.programs.machine import OnCall
from runtime_support.programs.outcomes import Outcome, Success, compact
from runtime_support.programs.registry import Registry, RegistryError, classes_of
from runtime_support.programs.syntax import Limits
from runtime_support.programs.tree import calls_in
from runtime_support.providers import provider_for
from runtime_support.results import Result, ToolCall
from runtime_support.templates import Unknown, render
from runtime_support.tracing import Observer, observer_for

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")
Function = Callable[..., Any]


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


__all__ = [
    "Plan",
    "ProgramCall",
    "ProgramFailed",
    "first_request",
    "program",
    "registry_for",
    "run",
]
