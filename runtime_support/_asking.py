"""From a call of `prompt` to its answer.

    ask(Question("how many r are in {word}?", (), {"word": "strawberry"}, int))   Result(3)
    prepare(question)             the same, not yet begun: to be driven here or elsewhere
    first_request(question)       the request that would be sent first, without sending it

Template, settings and the place in the script are taken when the prompt is called; only the
conversation may come later.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import iscoroutinefunction
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from runtime_support import _spending as _spending  # counts what is asked
from runtime_support._conversation import MORE_ROUNDS, Conversation, Step, Steps, Turn
from runtime_support._effects import Effect, Effects, call_inside, drive, finish, finish_async
from runtime_support._exchange import Message, Replying, Request, ToolRequest, ask_provider
from runtime_support._hooks import Hook, PromptRun, RequestedCall, hooks_for, load_part, through
from runtime_support._order import until_turn, until_wanted
from runtime_support._positions import annotate, place_of_call
from runtime_support._results import NOTHING_BEFORE, Answer, Kept, Result, ToolCall, Transcript
from runtime_support._schema import check
from runtime_support._settings import Settings, ambient_here, settings_for, settings_to_show
from runtime_support._targets import Target, TextTarget, Work
from runtime_support._templates import Rendered, Unknown, offer, render, tool_name
from runtime_support._values import (
    brief,
    is_approved,
    is_function,
    is_object,
    is_result,
    is_tuple,
    plain,
)
from runtime_support.errors import (
    CheckError,
    ConfigError,
    ReplayMiss,
    RunWaiting,
    SaftError,
    ToolsUnsupported,
)

if TYPE_CHECKING:
    from runtime_support._media import Content
    from runtime_support._streaming.chunks import Parts
    from runtime_support._streaming.results import AsyncResult
    from runtime_support._tools import Tool
    from runtime_support.events import EventParts

T = TypeVar("T")

# The options that a prompt which goes on with a conversation has of it.
KEPT_OPTIONS = ("model", "fallback", "system", "reasoning_effort")
# The options that are no settings: each prompt chooses for itself.
_TRUST = "trust_system"
_CHECK = "check"


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of a call of `prompt`, and what is made of them."""

    template: str
    values: tuple[Any, ...]
    names: Mapping[str, Any]
    returns: Any = str
    fields: Mapping[str, Any] | None = None
    rounds: int | None = None
    options: Mapping[str, Any] | None = None
    after: Result[Any] | AsyncResult[Any] | Sequence[Mapping[str, Any]] | None = None
    tools: tuple[Any, ...] = ()
    before: Transcript = NOTHING_BEFORE  # what `after` means
    check: Any = None  # the function that fails where the value does not do
    pure: Iterable[Any] | None = None

    # Whether the functions that are offered are tools, which the model calls one by one.
    offers_tools: ClassVar[bool] = True

    def going_on(self) -> Question:
        """The same, with the conversation that it goes on with, for whose end it waits, and with
        the options that it has of that.
        """
        given: Any = plain(self.options)
        if self.after is None and not (is_object(given) and {_TRUST, _CHECK} & given.keys()):
            return self
        own: Any = dict(given) if is_object(given) else given
        judge = plain(own.pop(_CHECK, None)) if is_object(own) else None
        if judge is not None and not isinstance(judge, Unknown):
            from runtime_support._schema.rules import checked_judge

            several, is_program = self.fields is not None, not self.offers_tools
            judge = checked_judge(judge, is_several=several, is_program=is_program)
        trusts = _trusts_system(own.pop(_TRUST, False)) if is_object(own) else False
        has_system = is_object(own) and plain(own.get("system")) is not None
        before = self._earlier(trusts, has_system)
        if before.options and (own is None or is_object(own)):
            said: dict[str, Any] = own or {}
            unsaid = {n: one for n, one in before.options.items() if plain(said.get(n)) is None}
            own = {**said, **unsaid}
        return replace(self, options=own, before=before, check=judge)

    def _earlier(self, trusts_system: bool, has_system: bool) -> Transcript:
        """The conversation that `after` says; of data, its own system message where it counts."""
        if self.after is None:
            return NOTHING_BEFORE
        if is_result(self.after):
            before: Transcript = cast("Any", self.after).transcript
            if not before.messages:
                raise CheckError("a prompt comes `after` a result that a prompt has given")
            return before
        if not isinstance(self.after, list | tuple):
            what = "a result or a list of messages"
            raise CheckError(f"a prompt comes `after` {what}, got {brief(self.after)}")
        read = load_part("transcripts").read_messages
        messages: list[Message] = read(self.after, trusts_system=trusts_system or has_system)
        leading = messages[:1] if messages and messages[0]["role"] == "system" else []
        options = {"system": leading[0]["content"]} if leading and not has_system else {}
        return Transcript(messages, options)

    def known_as_pure(self) -> tuple[Any, ...] | None:
        """The functions without effects; None where nobody has said which these are."""
        if self.pure is None:
            return self.before.pure
        return (*(self.before.pure or ()), *map(plain, self.pure))

    def functions(self, rendered: Rendered) -> dict[str, Any]:
        """The functions that the model may call, by name: those in the text, then the `tools`."""
        found = dict(rendered.tools)
        for one in map(plain, self.tools):
            name, function = _named(one)
            offer(found, name, function)
        return found

    def target(self, settings: Settings, functions: Mapping[str, Any]) -> Target:
        """What the conversation works towards, with these functions on offer."""
        target = _target_for(self.returns, self.fields, settings.enforce_schema)
        for name in functions:
            if target.takes(ToolRequest(name, "")):
                raise CheckError(f"`{name}` is a tool by which the model hands in a field")
        return target

    def settled(self, settings: Settings) -> Settings:
        """The settings in force, as the conversation takes them."""
        return settings

    def steps(self, conversation: Conversation) -> Steps[Answer]:
        """The steps to the answer."""
        try:
            yield from conversation.steps()
        except ToolsUnsupported:
            # After a reply it is what a prompt inside a tool came to.
            if self.fields is None or conversation.usage.requests:
                raise
            from runtime_support._contracts import ObjectTarget

            conversation = conversation.anew(ObjectTarget(self.fields))
            yield from conversation.steps()
            conversation.repairs.append("asked for the fields as one JSON object: no tools there")
        return conversation.answer(conversation.target.value, is_several=self.fields is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """A prompt that was called and is not answered: the steps to its answer, and who does them."""

    steps: Steps[Answer]
    prompt: PromptRun
    tools: Mapping[str, Tool]
    hooks: Sequence[Hook]  # what goes around it, outermost first
    parts: Parts | None  # what is made of the pieces of its replies, when it is streamed
    beside: frozenset[str] = frozenset()  # the tools whose calls may run at the same time
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))  # of its calls
    events: EventParts | None = None  # the same as `parts`, where calls are told as well

    def answer(self) -> Answer:
        """The answer; an error has the position of the call."""
        return finish(self.answering())

    def answering(self) -> Effects[Answer]:
        """What has to be waited for until the answer is there, and its parts as they come."""
        if self.parts is not None:
            yield from until_turn()
        try:
            answering: Effects[Answer] = through(self.hooks, "prompt", self._answer)(self.prompt)
            return (yield from answering)
        except (SaftError, ReplayMiss) as error:
            annotate(error, self.prompt.place)
            if error.hint == MORE_ROUNDS and error.saft_position is not None:
                error.hint = "leave out `do` if it may use them more often"
            raise

    def _answer(self, _: PromptRun) -> Effects[Answer]:
        answer = yield from drive(self.steps, self.doing)
        if self.parts is not None:
            yield from self.parts.rest(answer.value)
        return answer

    def doing(self, step: Step) -> Effects[Any]:
        """What comes of a step: the reply of the provider, the outcome of a tool or of work."""
        yield from until_wanted()
        if isinstance(step, Request):
            return (yield from self.exchange(step))
        if isinstance(step, ToolRequest):
            return (yield from self._make_wanted(step))
        if isinstance(step, Turn):
            return (yield from self._calls(step))
        return (yield from self._work(step))

    def _call_of(self, wanted: ToolRequest) -> RequestedCall:
        """A call that the model asks for, with what has to be approved before it is made."""
        tool = self.tools.get(wanted.name)
        call = RequestedCall(wanted.name, wanted.arguments, "tool", self.prompt, next(self.numbers))
        if tool is not None and tool.waits:
            load_part("approval").hold_call(call, tool)
        return call

    def _make(self, call: RequestedCall) -> Effects[ToolCall]:
        """What a call comes to, through all that goes around it."""
        return through(self.hooks, "tool_call", self._call_tool)(call)

    def _call_tool(self, call: RequestedCall) -> Effects[ToolCall]:
        from runtime_support._tools import call_tool

        call.began = time.time()
        if call.misfit is not None:
            return call.misfit
        return (yield from call_tool(self.tools, call.name, call.sent, call.inside))

    def _make_wanted(self, wanted: ToolRequest) -> Effects[ToolCall]:
        """What a call comes to that the model asks for, told to those who read the events."""
        if self.events is not None:
            yield self.events.start_call(wanted)
        made = yield from self._make(self._call_of(wanted))
        if self.events is not None:
            yield self.events.end_call(made)
        return made

    def _calls(self, turn: Turn) -> Effects[None]:
        """Makes the calls of a turn: at the same time those beside each other that may be."""

        def take(made: ToolCall) -> Effects[None]:
            turn.made.append(made)
            if self.events is not None:
                yield self.events.end_call(made)

        for may_be, group in groupby(turn.wanted, lambda one: one.name in self.beside):
            wanted = list(group)
            if may_be and len(wanted) > 1:
                if self.events is not None:
                    yield from map(self.events.start_call, wanted)
                works = [self._make(self._call_of(one)) for one in wanted]
                most = self.prompt.settings.max_in_flight
                yield from load_part("slots").run_beside(works, most, take)
                continue
            for one in wanted:
                yield from until_wanted()
                try:
                    turn.made.append((yield from self._make_wanted(one)))
                except RunWaiting:
                    yield from self._ask_ahead(turn.wanted[len(turn.made) + 1 :])
                    raise

    def _ask_ahead(self, behind: Sequence[ToolRequest]) -> Effects[None]:
        """Has those who decide hear of the calls behind one that waits, all of them together."""
        for call in map(self._call_of, behind):
            if call.approval is not None:
                call.approval.is_put_off = True
                with suppress(RunWaiting):
                    yield from self._make(call)

    def exchange(self, request: Request) -> Replying:
        """The reply to a request; of one that is streamed, the parts that its pieces make whole."""
        if self.parts is not None:
            request = replace(request, pieces=[])
            self.parts.begin()
        replying: Replying = through(self.hooks, "request", self._send)(request)
        if self.parts is None:
            return (yield from replying)
        reply = yield from drive(replying, partial(_given, self.parts))
        if reply.tool_calls:
            yield from self.parts.before_calls(reply.text)
        return reply

    def _send(self, request: Request) -> Replying:
        """The reply of the provider itself."""
        return (yield from ask_provider(self.prompt.provider, request))

    def _work(self, work: Work) -> Effects[Any]:
        """The outcome of work, such as a program; one that has to be approved waits for that."""
        number = next(self.numbers)
        call = RequestedCall("program", "", "program", self.prompt, number, hooks=self.hooks)
        if work.waits is not None:
            load_part("approval").hold_program(call, *work.waits, work.refused)
        outcome: Effects[Any] = through(self.hooks, "tool_call", partial(_do, work))(call)
        return (yield from outcome)


def _do(work: Work, call: RequestedCall) -> Effects[Any]:
    """The outcome of work that may be done."""
    return (yield Effect(partial(call_inside, call.inside, partial(work.do, call))))


def _target_for(returns: Any, fields: Mapping[str, Any] | None, structured: str) -> Target:
    """The target of a prompt with this type, or these fields by name."""
    if fields is None:
        if returns is str:
            return TextTarget()
        from runtime_support._contracts import ValueTarget, contract_of

        return ValueTarget(contract_of(returns))
    check(fields, dict[str, Any], path="fields")
    if not fields:
        raise CheckError("`fields` names no field")
    if structured == "on":
        from runtime_support._contracts import ObjectTarget

        return ObjectTarget(fields)
    from runtime_support._fields import FieldsTarget

    return FieldsTarget(fields)


def _given(parts: Parts, step: Effect | str) -> Effects[Any]:
    """What comes of a step of a reply: of a piece the parts that it makes whole."""
    if isinstance(step, Effect):
        return (yield step)
    yield from parts.feed(step)


def ask(question: Question, *, is_streamed: bool = False) -> Result[Any]:
    """The answer, or what gives it in parts; errors carry their position in the script."""
    asked = prepare(question, is_streamed=is_streamed)
    if asked.parts is None:
        return Result.of(asked.answer())
    return Result.of(load_part("results").Streamed(asked, asked.parts))


def ask_async(question: Question) -> Coroutine[Any, Any, Result[Any]]:
    """What is awaited for the answer; errors of the call itself are raised now."""
    return answer_async(prepare(question, is_awaited=True))


def ask_in_parts(question: Question) -> AsyncResult[Any]:
    """The same for what gives its parts."""
    asked = prepare(question, is_streamed=True, is_awaited=True)
    return load_part("results").AsyncResult(asked, asked.parts)


async def answer_async(asked: Asking) -> Result[Any]:
    """The result, awaited."""
    return Result.of(await finish_async(asked.answering()))


def prepare(question: Question, *, is_streamed: bool = False, is_awaited: bool = False) -> Asking:
    """The prompt with all that is taken when it is called; errors of the call itself are raised."""
    try:
        question = question.going_on()
        place = place_of_call()
        settings = settings_for(question.options, place)
        rendered = _rendered(question)
        offered = question.functions(rendered)
        tools = _tools_of(offered if question.offers_tools else {})
        told = [tool.description() for tool in tools.values()]
        conversation = _conversation(question, rendered.content, offered, told, settings)
        conversation.read_repairs = partial(_read_repairs, tools)
        conversation.check = question.check
        if question.check is not None and is_streamed:
            from runtime_support._schema.rules import refused_check

            said = "parts of a stream are given before all is checked"
            raise refused_check(said, "leave `stream` out")
        run = PromptRun(settings, place, offered)
        parts = load_part("chunks").parts_for(conversation.target) if is_streamed else None
        if any(map(is_approved, offered.values())):
            load_part("approval").check_offer(offered, settings)
        beside = _beside(tools, question.known_as_pure(), settings, is_awaited)
        return Asking(question.steps(conversation), run, tools, hooks_for(run), parts, beside)
    except SaftError as error:
        annotate(error)
        raise


def _tools_of(functions: Mapping[str, Any]) -> dict[str, Tool]:
    """The functions of a template as tools; those without any load nothing for them."""
    if not functions:
        return {}
    from runtime_support._tools import function_tool

    return {name: function_tool(name, one) for name, one in functions.items()}


def _read_repairs(tools: Mapping[str, Tool], call: ToolRequest) -> list[str]:
    """What was changed to read the arguments of a call of one of the tools."""
    tool = tools.get(call.name)
    if tool is None:
        return []
    from runtime_support._tools import argument_repairs

    return [f"{call.name}: {repair}" for repair in argument_repairs(tool, call.arguments)]


def _beside(
    tools: Mapping[str, Tool], pure: tuple[Any, ...] | None, settings: Settings, is_awaited: bool
) -> frozenset[str]:
    """The tools whose calls may run at the same time: those without effects, and in an event loop,
    where nobody says which these are, those that are `async def`.
    """
    if len(tools) == 0 or settings.max_in_flight == 1 or (pure is None and not is_awaited):
        return frozenset()
    return frozenset(
        name
        for name, tool in tools.items()
        if not tool.waits
        and (tool.function in pure if pure is not None else iscoroutinefunction(tool.function))
    )


def first_request(question: Question) -> Request:
    """What would be sent first; nothing is sent, no provider is needed.

    Values, and those of options, may be `Unknown`: their marks take their places.
    """
    question = question.going_on()
    settings = settings_where_known(question.options)
    rendered = _rendered(question)
    offered = question.functions(rendered)
    told = [_described(*tool) for tool in offered.items()] if question.offers_tools else []
    return _conversation(question, rendered.content, offered, told, settings).request()


def settings_where_known(options: Mapping[str, Any] | None) -> Settings:
    """The settings in force, with the marks of those that are `Unknown`."""
    given = options or {}
    known = {name: value for name, value in given.items() if not isinstance(value, Unknown)}
    unknown = {name: value.mark for name, value in given.items() if isinstance(value, Unknown)}
    # Marks are texts, whatever the setting is: they are shown and not worked with.
    return replace(settings_to_show(known), **cast("dict[str, Any]", unknown))


def _rendered(question: Question) -> Rendered:
    """The template with its values, as it can be sent."""
    rendered = render(question.template, question.values, question.names)
    text = rendered.text
    try:
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError as error:
        half = brief(error.object[error.start : error.end])
        raise CheckError(f"the prompt has a character that is not Unicode: {half}") from None
    return rendered


def _conversation(
    question: Question,
    content: Content,
    functions: Mapping[str, Any],
    tools: list[dict[str, Any]],
    settings: Settings,
) -> Conversation:
    rounds = plain(question.rounds)
    if rounds is not None and (type(rounds) is not int or rounds < 0):
        raise CheckError(f"`rounds` is a number of rounds, got {brief(rounds)}")
    target, settings = question.target(settings, functions), question.settled(settings)
    ambient = ambient_here(question.options)
    earlier = question.before.messages
    options = _kept_options(question.options)
    kept = Kept(tuple(functions.items()), options, question.known_as_pure())
    return Conversation(content, target, tools, settings, rounds, ambient, earlier, kept)


def _kept_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    given = options or {}
    return {name: given[name] for name in KEPT_OPTIONS if plain(given.get(name)) is not None}


def _trusts_system(value: Any) -> bool:
    trusts = plain(value)
    if trusts is None or isinstance(trusts, bool):
        return bool(trusts)
    raise ConfigError(f"option {_TRUST}: expected bool, got {brief(trusts)}", setting=_TRUST)


def _named(tool: Any) -> tuple[str, Any]:
    """The name and the function of one of the `tools`."""
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


def _described(name: str, function: Any) -> dict[str, Any]:
    if not isinstance(function, Unknown):
        return _tools_of({name: function})[name].description()
    return {"type": "function", "function": {"name": name, "parameters": function.mark}}
