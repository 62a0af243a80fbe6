"""Offers functions to a model as tools, and calls them.

    tool = function_tool("look_up", look_up)
    tool.description()                   {"type": "function", "function": {"name": ..., ...}}
    call_tool(tools, "look_up", '{"city": "Oslo"}')      yields each wait, and then returns
                                         ToolCall(..., result="3.5", error=None, ...)
    ToolCaller(...).call_all(wanted, made)      makes the calls of a reply, through all hooks

Arguments are read like replies, and checked before the call. The result of an `async def` is
awaited. Failures are recorded and reported to the model, without secrets. A failure that the model
cannot mend stops the script, for example if a prompt inside of a tool fails because of its
provider, a setting or a budget.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from runtime_support._core.hooks import PromptRun, RequestedCall, load_part, wrap_with_hooks
from runtime_support._core.reader.fitting import Fit, fit_arguments, shortened
from runtime_support._core.reader.replies import read_arguments
from runtime_support._core.redaction import redacted
from runtime_support._core.results import ToolCall
from runtime_support._core.tasks.loops import call_function, call_inside
from runtime_support._core.tasks.turns import wait_while_held
from runtime_support._core.tasks.waits import Steps, Wait
from runtime_support._core.templates import Unknown, tool_name
from runtime_support._schema import model as m
from runtime_support._schema.checking import decode_for_model
from runtime_support._schema.signatures import Parameter, Signature, bind_call, signature_of
from runtime_support._schema.writing import json_schema
from runtime_support._values.ambiguity import Ambiguity
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import (
    brief,
    data_of,
    is_approved,
    is_function,
    is_tuple,
    plain,
)
from runtime_support._values.names import did_you_mean, listed
from runtime_support.errors import (
    CheckError,
    ConfigError,
    ProviderError,
    RunStopped,
    RunWaiting,
    SaftError,
)

if TYPE_CHECKING:
    from runtime_support._core.messages import ToolRequest
    from runtime_support._core.outputs.outputs import Work
    from runtime_support.events import EventParts

# Larger than any context window: a server would refuse it.
LARGEST_RESULT = 4_000_000

# Signatures and schemas by function and name, since a schema is checked at its first use.
_known: WeakKeyDictionary[Any, dict[str, tuple[Signature, m.ObjectSchema]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Tool:
    """A function with the name by which the model calls it.

    `waits` is true if calls of the function need approval.
    """

    name: str
    function: Callable[..., Any]
    signature: Signature
    parameters: m.ObjectSchema
    waits: bool = False

    def description(self) -> dict[str, Any]:
        """Returns the tool's description for requests."""
        schema = json_schema(self.parameters)
        if self.signature.open_ended:
            schema["additionalProperties"] = True
        function: dict[str, Any] = {"name": self.name}
        if self.signature.doc:
            function["description"] = self.signature.doc
        return {"type": "function", "function": {**function, "parameters": schema}}


def function_tool(name: str, function: Callable[..., Any]) -> Tool:
    """Makes a tool of a function. Raises CheckError if JSON cannot hold a parameter's type."""
    if is_approved(function):
        approved: Any = function
        return replace(function_tool(name, approved.__wrapped__), waits=True)
    try:
        known = _known.setdefault(function, {})
    except TypeError:  # cannot be hashed or referred to weakly
        known = dict[str, tuple[Signature, m.ObjectSchema]]()
    tool = known.get(name)
    if tool is not None:
        return Tool(name, function, *tool)
    signature = _without_private(signature_of(function))
    fields = tuple(map(_field, signature.parameters))
    tool = Tool(name, function, signature, m.ObjectSchema(name, fields))
    try:
        tool.description()
    except CheckError as error:
        raise CheckError(f"`{name}` cannot be a tool: {error}") from None
    known[name] = tool.signature, tool.parameters
    return tool


def named_function(tool: Any) -> tuple[str, Any]:
    """Returns the name and the function of an item of `tools`.

    Raises CheckError if it is no function, or has no name.
    """
    if is_tuple(tool) and len(tool) == 2 and isinstance(tool[0], str):
        name, function = tool[0], plain(tool[1])
    else:
        name, function = tool_name(getattr(tool, "__name__", "")), tool
    if isinstance(function, Unknown) or is_function(function):
        if name.isidentifier() or is_tuple(tool):
            return name, function
        what, hint = "has no name", 'give it one: `("look_up", look_up)`'
    else:
        what, hint = "is not a function", None
    raise CheckError(f"one of the `tools` {what}: {brief(function)}", hint=hint)


class ToolCaller:
    """Calls the tools of a prompt. Calls of the tools in `parallel` may run concurrently.

    If `events` is given, the methods yield an event at the start and at the end of each call.
    """

    def __init__(
        self,
        prompt: PromptRun,
        tools: Mapping[str, Tool],
        parallel: frozenset[str],
        events: EventParts | None,
    ) -> None:
        self._prompt = prompt
        self._tools = tools
        self._parallel = parallel
        self._events = events
        self._numbers = itertools.count(1)

    def call_all(self, wanted: Sequence[ToolRequest], made: list[ToolCall]) -> Steps[None]:
        """Makes the calls of a reply in order.

        Neighbouring calls run concurrently if all their tools are in `parallel`. Each call is
        appended to `made` when it has ended.
        """
        for is_parallel, group in groupby(wanted, lambda one: one.name in self._parallel):
            calls = list(group)
            if is_parallel and len(calls) > 1:
                yield from self._call_together(calls, made)
                continue
            for one in calls:
                yield from wait_while_held()
                try:
                    yield from self._started([one])
                    yield from self._ended((yield from self._make(self._call_of(one))), made)
                except RunWaiting:
                    yield from self._approve_first(wanted[len(made) + 1 :])
                    raise

    def do(self, work: Work) -> Steps[Any]:
        """Does work, such as running a program, and returns its outcome.

        If the work needs approval, it is done only when it is approved.
        """
        yield from wait_while_held()
        prompt, number = self._prompt, next(self._numbers)
        call = RequestedCall("program", "", "program", prompt, number, hooks=prompt.hooks)
        if work.waits is not None:
            load_part("approval").hold_program(call, *work.waits, work.refused)
        doing: Steps[Any] = wrap_with_hooks(prompt.hooks, "tool_call", partial(_do, work))(call)
        return (yield from doing)

    def _call_together(self, wanted: list[ToolRequest], made: list[ToolCall]) -> Steps[None]:
        yield from wait_while_held()
        yield from self._started(wanted)
        works = [self._make(self._call_of(one)) for one in wanted]
        take = partial(self._ended, made=made)
        most = self._prompt.settings.max_in_flight
        yield from load_part("slots").run_in_parallel(works, most, take)

    def _started(self, wanted: list[ToolRequest]) -> Steps[None]:
        if self._events is not None:
            yield from map(self._events.start_call, wanted)

    def _ended(self, call: ToolCall, made: list[ToolCall]) -> Steps[None]:
        made.append(call)
        if self._events is not None:
            yield self._events.end_call(call)

    def _call_of(self, wanted: ToolRequest) -> RequestedCall:
        """Returns the call that the model requests, with the approval that it needs, if any."""
        tool = self._tools.get(wanted.name)
        number = next(self._numbers)
        call = RequestedCall(wanted.name, wanted.arguments, "tool", self._prompt, number)
        if tool is not None and tool.waits:
            load_part("approval").hold_call(call, tool)
        return call

    def _make(self, call: RequestedCall) -> Steps[ToolCall]:
        """Makes a call through all hooks."""
        return wrap_with_hooks(self._prompt.hooks, "tool_call", self._call)(call)

    def _call(self, call: RequestedCall) -> Steps[ToolCall]:
        call.began = time.time()
        if call.misfit is not None:
            return call.misfit
        return (yield from call_tool(self._tools, call.name, call.sent, call.inside))

    def _approve_first(self, behind: Sequence[ToolRequest]) -> Steps[None]:
        """Submits the calls in `behind` for approval, although an earlier call waits for it.

        So all calls of the reply can be decided together.
        """
        for call in map(self._call_of, behind):
            if call.approval is not None:
                call.approval.is_put_off = True
                with suppress(RunWaiting):
                    yield from self._make(call)


def call_tool(
    tools: Mapping[str, Tool],
    name: str,
    arguments: str,
    enter: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Steps[ToolCall]:
    """Calls a tool with arguments as JSON text. The function runs inside of the context of `enter`.

    A failure is returned as a ToolCall with `error`. Only errors that the model cannot mend are
    raised: ProviderError, ConfigError and RunStopped.
    """
    started = time.perf_counter()
    read: Any = arguments
    try:
        tool = tools.get(name)
        read = read_for(tool, arguments)
        if tool is None:
            hint = did_you_mean(name, tools) or f"the tools are {listed(tools)}"
            raise CheckError(f"there is no tool `{name}`", hint=hint)
        value = yield from call_function(bind_arguments(tool, read), tool.function, enter)
        result, error = result_text(value), None
    except (ProviderError, ConfigError, RunStopped):
        raise
    except Exception as failure:  # all other errors of a user's function go to the model
        result, error = None, failure_text(failure, name, read)
    milliseconds = round((time.perf_counter() - started) * 1000, 3)
    return ToolCall(name, read, result, error, milliseconds)


def _do(work: Work, call: RequestedCall) -> Steps[Any]:
    return (yield Wait(partial(call_inside, call.inside, partial(work.do, call))))


def read_for(tool: Tool | None, arguments: str) -> dict[str, Any]:
    """Parses a call's arguments for a tool. Raises CheckError if they are not a JSON object."""
    return read_arguments(arguments, None if tool is None else tool.parameters)[0]


def argument_repairs(tool: Tool, arguments: str) -> tuple[str, ...]:
    """Describes the repairs to a call's arguments. Returns `()` if the arguments do not fit."""
    try:
        read, repairs = read_arguments(arguments, tool.parameters)
    except CheckError:
        return ()
    found = _fit(tool, read)
    return () if found.misfits else shortened((*repairs, *found.repairs))


def failure_text(failure: Exception, name: str, arguments: Any) -> str:
    """Returns the message to the model about a failed call, without secrets."""
    return redacted(_words(failure, name, arguments))


def _without_private(signature: Signature) -> Signature:
    """Returns the signature without private parameters, which are optional and begin with `_`.

    An example is `_key=key`, by which a function keeps the present value of a variable.
    """
    shown = [one for one in signature.parameters if not _is_private(one)]
    return replace(signature, parameters=tuple(shown))


def _is_private(parameter: Parameter) -> bool:
    # A positional parameter cannot be omitted if others follow.
    is_separate = not parameter.by_position and not parameter.takes_rest
    return is_separate and not parameter.required and parameter.python_name.startswith("_")


def _field(parameter: Parameter) -> m.Field:
    return m.Field(parameter.name, parameter.schema, parameter.required, m.ABSENT, parameter.doc)


def bind_arguments(tool: Tool, arguments: dict[str, Any]) -> Callable[[], Any]:
    """Returns a function that makes the call. Raises CheckError if the arguments do not fit."""
    return bind_call(tool.function, tool.signature.parameters, checked_arguments(tool, arguments))


def checked_arguments(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the function's arguments by name. Raises CheckError if they do not fit."""
    given = dict(_fit(tool, arguments).data)
    known = {parameter.name for parameter in tool.signature.parameters}
    is_open = tool.signature.open_ended
    others = {name: given.pop(name) for name in arguments if is_open and name not in known}
    return {**decode_for_model(given, tool.parameters, "args"), **others}


def _fit(tool: Tool, arguments: dict[str, Any]) -> Fit:
    return fit_arguments(arguments, tool.parameters.fields, is_open=tool.signature.open_ended)


def result_text(value: Any) -> str:
    """Returns a call's result as text for the model.

    Raises CheckError if the result has no text form or is too long.
    """
    value = data_of(plain(value))
    try:
        text = value if isinstance(value, str) else to_json(value)
    except CheckError as refusal:  # a picture: the hint about prompts does not help a model
        raise CheckError(
            f"the call was made, but its result cannot be told as text: {refusal.message}"
        ) from None
    if len(text) > LARGEST_RESULT:
        raise CheckError(
            f"the result has {len(text):,} characters, more than {LARGEST_RESULT:,}",
            hint="ask for less of it",
        )
    return text


def _words(failure: Exception, name: str, arguments: Any) -> str:
    if isinstance(failure, SaftError):
        return str(failure)
    if isinstance(failure, Ambiguity):
        return _to_choose(failure, name, arguments)
    class_ = type(failure).__name__
    return f"{class_}: {failure}" if str(failure) else class_


def _to_choose(ambiguity: Ambiguity, name: str, arguments: dict[str, Any]) -> str:
    """Returns the message of an ambiguity, with its options as a numbered list.

    An option shows its value, or the call by which the model can choose it.
    """
    options = enumerate(_options(ambiguity, name, arguments), 1)
    lines = [f"{number}. {option}" for number, option in options]
    message = ambiguity.message
    return "\n".join([f"{message.rstrip('.')}; choose one of these:" if lines else message, *lines])


def _options(ambiguity: Ambiguity, name: str, arguments: dict[str, Any]) -> Iterator[str]:
    for option in ambiguity.options:
        try:
            if option.values:
                yield f"{option.sentence}: {to_json(option.values[0])}"
            elif option.call is None:
                yield f"{option.sentence}: {name} {to_json({**arguments, **option.arguments})}"
            else:
                other = getattr(option.call, "__name__", name)
                yield f"{option.sentence}: {other} {to_json(dict(option.arguments))}"
        except CheckError:
            yield option.sentence
