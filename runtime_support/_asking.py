"""From a call of `prompt` to its answer.

    ask(Question("how many r are in {word}?", (), {"word": "strawberry"}, int))   Result(3)
    asking(question)              the same, not yet begun: to be driven here or elsewhere
    first_request(question)       the request that would be sent first, without sending it

Template, settings and the place in the script are taken when the prompt is called; only the
conversation may come later.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar, cast

from runtime_support._conversation import MORE_ROUNDS, Conversation, Step, Steps
from runtime_support._effects import (
    Effect,
    Effects,
    drive,
    finish,
    finish_async,
    iterate,
    iterate_async,
)
from runtime_support._exchange import (
    Heard,
    Message,
    Provider,
    Replying,
    Request,
    ToolRequest,
    replying,
)
from runtime_support._observe.tracing import Observer, observer_for
from runtime_support._order import await_turn, check_cancelled, current
from runtime_support._positions import Place, annotate, place_of_call
from runtime_support._results import Answer, Arriving, Result, parts_of
from runtime_support._settings import Settings, ambient_here, settings_for, settings_to_show
from runtime_support._streaming.chunks import Parts, parts_for
from runtime_support._targets import ObjectTarget, Target, target_for
from runtime_support._templates import Rendered, Unknown, render
from runtime_support._tools import Tool, call_tool, function_tool
from runtime_support._values import brief, plain
from runtime_support.errors import CheckError, PromptError, SaftError, ToolsUnsupported
from runtime_support.providers import provider_for
from runtime_support.runs._budgets import spending_here
from runtime_support.runs._keeper import Keeper, keeper_for

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


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
    after: Result[Any] | None = None

    # Whether the functions in the template are tools, which the model calls one by one.
    offers_tools: ClassVar[bool] = True

    def earlier(self) -> Sequence[Message]:
        """The conversation that the prompt goes on with; waits for the end of it."""
        if self.after is None:
            return ()
        if not isinstance(self.after, Result):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise CheckError(f"a prompt comes `after` a result, got {brief(self.after)}")
        if not self.after.messages:
            raise CheckError("a prompt comes `after` a result that a prompt has given")
        return self.after.messages

    def goal(self, settings: Settings, functions: Mapping[str, Any]) -> Target:
        """What the conversation works towards, with these functions in the template."""
        target = target_for(self.returns, self.fields, settings.structured)
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
            conversation = conversation.anew(ObjectTarget(self.fields))
            yield from conversation.steps()
            conversation.repairs.append("asked for the fields as one JSON object: no tools there")
        return conversation.answer(conversation.target.value, is_several=self.fields is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """A prompt that was called and is not answered: the steps to its answer, and who does them."""

    steps: Steps[Answer]
    provider: Provider
    tools: Mapping[str, Tool]
    place: Place | None
    keeper: Keeper | None
    parts: Parts | None  # what is made of the pieces of its replies, when it is streamed

    def answer(self) -> Answer:
        """The answer; an error has the position of the call."""
        return finish(self.answering())

    def answering(self) -> Effects[Answer]:
        """What has to be waited for until the answer is there, and its parts as they come."""
        if self.parts is not None:
            await_turn()
        try:
            with spending_here().one_prompt():
                answer = yield from drive(self.steps, self.doing)
                if self.parts is not None:
                    yield from self.parts.rest(answer.value)
        except SaftError as error:
            if self.keeper is not None and isinstance(error, PromptError):
                self.keeper.failed(error)
            annotate(error, self.place)
            if error.hint == MORE_ROUNDS and error.saft_position is not None:
                error.hint = "leave out `do` if it may use them more often"
            raise
        return answer

    def doing(self, step: Step) -> Effects[Any]:
        """What comes of a step: the reply of the provider, the outcome of a tool or of work."""
        check_cancelled()
        keeper = self.keeper
        if isinstance(step, Request):
            # What stands before a call of a tool is no part of the answer.
            is_streamed = self.parts is not None and (step.must_answer or not step.tools)
            send = partial(_sent, self.provider, heard=[] if is_streamed else None)
            reply = send(step) if keeper is None else keeper.exchange(step, send)
            if self.parts is None:
                return (yield from reply)
            self.parts.begin()
            return (yield from drive(reply, partial(_given, self.parts)))
        if isinstance(step, ToolRequest):
            call = call_tool(self.tools, step.name, step.arguments)
            return (yield from (call if keeper is None else keeper.call(step, call)))
        if keeper is None:
            return (yield Effect(partial(step.do, None)))
        with keeper.program() as keep:
            return (yield Effect(partial(step.do, keep)))


def _given(parts: Parts, step: Effect | str) -> Effects[Any]:
    """What comes of a step of a reply: of a piece the parts that it makes whole."""
    if isinstance(step, Effect):
        return (yield step)
    yield from parts.feed(step)


def _sent(provider: Provider, request: Request, *, heard: Heard) -> Replying:
    """The reply to a request, which waits for a slot when others are in flight ahead of it.

    One that is streamed has its turn, and takes no slot.
    """
    task = current.get()
    if heard is None and task is not None:
        return (yield Effect(partial(task.exchange, provider, request)))
    return (yield from replying(provider, request, heard))


class Streamed(Arriving):
    """The answer to a prompt that is asked in parts, when the first of them is wanted."""

    def __init__(self, asked: Asking, parts: Parts) -> None:
        self._asked = asked
        self._parts = parts
        self._is_begun = False
        self._end: Answer | BaseException | None = None

    def __call__(self) -> Answer:
        """The answer; reads it when nobody has begun to."""
        if not self._is_begun:
            for _ in self._read():
                pass
        if isinstance(self._end, BaseException):
            raise self._end
        if self._end is None:
            raise CheckError(
                "the prompt is not answered to its end", hint="go through all of its pieces first"
            )
        return self._end

    def parts(self, kind: type) -> Iterator[Any]:
        """The parts as they come, once; later all of them at once."""
        if kind is not self._parts.kind:
            return parts_of(self._parts.kind(), kind)
        return parts_of(self().value, kind) if self._is_begun else self._read()

    def _read(self) -> Generator[Any]:
        if self._is_begun:  # by somebody else, since this one was asked for
            yield from parts_of(self().value, self._parts.kind)
            return
        self._is_begun = True
        try:
            self._end = yield from iterate(self._asked.answering())
        except Exception as error:
            self._end = error
            raise


class AsyncResult(Generic[T_co]):
    """The result of a prompt that is asked in parts, for an event loop.

    `await` gives the Result, when all of it is there; or else its parts are gone through.
    """

    def __init__(self, asked: Asking, parts: Parts) -> None:
        self._asked = asked
        self._parts = parts
        self._is_begun = False

    def __await__(self) -> Generator[Any, Any, Result[T_co]]:
        return _answered(self._begun()).__await__()

    def pieces(self: AsyncResult[str]) -> AsyncGenerator[str]:
        """The text piece by piece as the model writes it.

        To go on to something else ends the request. A failure is raised where it happens.
        """
        return self._given(str)

    def items(self: AsyncResult[list[T]]) -> AsyncGenerator[T]:
        """The elements of a list, each as soon as it is complete and valid."""
        return self._given(list)

    def _given(self, kind: type) -> AsyncGenerator[Any]:
        if kind is not self._parts.kind:
            parts_of(self._parts.kind(), kind)
        return iterate_async(self._begun().answering())

    def _begun(self) -> Asking:
        if self._is_begun:
            raise CheckError("this prompt was asked before", hint="keep what it gave")
        self._is_begun = True
        return self._asked


def ask(question: Question, *, is_streamed: bool = False) -> Result[Any]:
    """The answer, or what gives it in parts; errors carry their position in the script."""
    asked = asking(question, is_streamed=is_streamed)
    return Result.of(asked.answer() if asked.parts is None else Streamed(asked, asked.parts))


def ask_async(question: Question) -> Coroutine[Any, Any, Result[Any]]:
    """What is awaited for the answer; errors of the call itself are raised now."""
    return _answered(asking(question))


def ask_in_parts(question: Question) -> AsyncResult[Any]:
    """The same for what gives its parts."""
    asked = asking(question, is_streamed=True)
    assert asked.parts is not None
    return AsyncResult(asked, asked.parts)


async def _answered(asked: Asking) -> Result[Any]:
    return Result.of(await finish_async(asked.answering()))


def asking(question: Question, *, is_streamed: bool = False) -> Asking:
    """The prompt with all that is taken when it is called; errors of the call itself are raised."""
    try:
        settings = settings_for(question.options)
        rendered = _rendered(question)
        offered = rendered.tools if question.offers_tools else dict[str, Any]()
        tools = {name: function_tool(name, one) for name, one in offered.items()}
        told = [tool.description() for tool in tools.values()]
        conversation = _conversation(question, rendered, told, settings, observer_for(settings))
        steps = question.steps(conversation)
        place = place_of_call()
        keeper = keeper_for(settings, place)
        parts = parts_for(conversation.target) if is_streamed else None
        return Asking(steps, provider_for(settings, place), tools, place, keeper, parts)
    except SaftError as error:
        annotate(error)
        raise


def first_request(question: Question) -> Request:
    """What would be sent first; nothing is sent, no provider is needed.

    Values, and those of options, may be `Unknown`: their marks stand in their places.
    """
    settings = _settings_where_known(question.options)
    rendered = _rendered(question)
    offered = rendered.tools if question.offers_tools else dict[str, Any]()
    descriptions = [_described(*tool) for tool in offered.items()]
    return _conversation(question, rendered, descriptions, settings, Observer()).request()


def _settings_where_known(options: Mapping[str, Any] | None) -> Settings:
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
    rendered: Rendered,
    tools: list[dict[str, Any]],
    settings: Settings,
    observer: Observer,
) -> Conversation:
    rounds = plain(question.rounds)
    if rounds is not None and (type(rounds) is not int or rounds < 0):
        raise CheckError(f"`rounds` is a number of rounds, got {brief(rounds)}")
    target, settings = question.goal(settings, rendered.tools), question.settled(settings)
    ambient = ambient_here(question.options)
    earlier = question.earlier()
    return Conversation(
        rendered.content, target, tools, settings, rounds, observer, ambient, earlier
    )


def _described(name: str, function: Any) -> dict[str, Any]:
    if not isinstance(function, Unknown):
        return function_tool(name, function).description()
    return {"type": "function", "function": {"name": name, "parameters": function.mark}}
