"""What a prompt gives back: the value, and how it came about.

    report = prompt("Is it warmer in Oslo or in Cairo? Use {temperature}.", temperature=temperature)
    report.value, report.tool_calls[0].args, report.usage.requests

All of it is read through properties: a result may be there before the model has answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from runtime_support._values.kinds import brief, show
from runtime_support.errors import CheckError

if TYPE_CHECKING:
    from runtime_support.events import ReplyEvent

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_FENCE = re.compile(
    r"^[ \t]*```(?P<label>[a-zA-Z]*)[ \t]*\n(?P<content>(?:(?!```).)*)```[ \t]*$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the model made.

    - `tool`: the tool's name.
    - `args`: the arguments by name, as the function got them; the text as sent if it was not
      readable.
    - `result`: the text that the model got; None after an error.
    - `error`: the error that the model got; None after success.
    - `duration`: in milliseconds.
    """

    tool: str
    args: Any
    result: str | None
    error: str | None
    duration: float


@dataclass(frozen=True, slots=True)
class Usage:
    """How many requests were sent, and the tokens that the provider counted.

    `cached_tokens` and `cache_write_tokens` are parts of `input_tokens`: read from the provider's
    cache, and written to it. `reasoning_tokens` are a part of `output_tokens`.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.requests + other.requests,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


class ConversationDefaults(NamedTuple):
    """What a prompt that goes on with a conversation may have of it: the functions that its model
    could call, by the names of the tools, those that are `pure`, and its `model`, `system` and
    `reasoning_effort` where a prompt has set them.
    """

    tools: tuple[tuple[str, Callable[..., Any]], ...] = ()
    options: Mapping[str, Any] = MappingProxyType({})
    pure: tuple[Callable[..., Any], ...] | None = None


NOTHING_KEPT = ConversationDefaults()


class Transcript(NamedTuple):
    """A conversation for the prompt that goes on with it: the messages with all that providers want
    back, and the options and the functions without effects that it is known to have.
    """

    messages: Sequence[dict[str, Any]] = ()
    options: Mapping[str, Any] = MappingProxyType({})
    pure: tuple[Callable[..., Any], ...] | None = None


NOTHING_BEFORE = Transcript()


class Answer(NamedTuple):
    """What a conversation came to: the value and its history."""

    value: Any
    text: str
    tool_calls: list[ToolCall]
    usage: Usage
    model: str
    repairs: list[str]
    fields: tuple[Result[Any], ...] = ()
    messages: tuple[dict[str, Any], ...] = ()
    finish: str = "stop"
    kept: ConversationDefaults = NOTHING_KEPT


class Arriving:
    """An answer that comes in parts, when somebody asks for them."""

    def __call__(self) -> Answer:
        """The answer, when all its parts are there."""
        raise NotImplementedError

    def parts(self, kind: type) -> Iterator[Any]:
        """The parts as they come; CheckError when together they are of another kind."""
        raise NotImplementedError

    def drafts(self) -> Iterator[Any]:
        """The value as far as it is there, as it comes."""
        raise NotImplementedError

    def events(self) -> Iterator[ReplyEvent]:
        """What happens in the reply, as it happens."""
        raise NotImplementedError


def value_parts(value: Any, kind: type) -> Iterator[Any]:
    """The parts of a value that is there; CheckError when it is of another kind."""
    if not isinstance(value, kind):
        raise of_another_kind(kind, f", got {brief(value)}")
    return iter([value] if isinstance(value, str) else value)


def of_another_kind(wanted: type, got: str = "") -> CheckError:
    """The error of `pieces` or `items` where there are none."""
    part, words = ("pieces", "text") if wanted is str else ("items", "a list")
    hint = "`drafts` gives any value as far as it is there"
    return CheckError(f"`{part}` are of {words}{got}", hint=hint)


def _content_of_fence(text: str) -> str | None:
    """What the only code fence of a text holds, if it is all of it or says that it is JSON."""
    fences = list(_FENCE.finditer(text))
    if len(fences) != 1:
        return None
    is_all = fences[0].group().strip() == text.strip()
    return fences[0]["content"] if is_all or fences[0]["label"].lower() == "json" else None


class Result(Generic[T_co]):
    """The answer to a prompt: `value` of the type that was asked for, with its history.

    A result may exist before the model has answered, when prompts run concurrently: reading any
    part of it then waits for the answer, and raises the error with which the prompt failed.
    """

    __slots__ = ("_answer",)
    __saft_result__: ClassVar[bool] = True

    def __init__(
        self,
        value: T_co,
        *,
        text: str,
        tool_calls: list[ToolCall],
        usage: Usage,
        model: str,
        repairs: list[str],
        fields: tuple[Result[Any], ...] = (),
        finish: str = "stop",
    ) -> None:
        self._answer: Answer | Callable[[], Answer] = Answer(
            value, text, tool_calls, usage, model, repairs, fields, finish=finish
        )

    @staticmethod
    def of(answer: Answer | Callable[[], Answer]) -> Result[Any]:
        """The result with this answer, or with the one that this function waits for.

        It is called whenever something is asked for and no answer is there, from any thread.
        """
        class_: type[Result[Any]] = Result
        result = class_.__new__(class_)
        result._answer = answer
        return result

    @property
    def value(self) -> T_co:
        """The value, of the type that the prompt asked for."""
        return self._answered().value

    @property
    def text(self) -> str:
        """The model's final text."""
        return self._answered().text

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls of tools that the model made, in order."""
        return self._answered().tool_calls

    @property
    def usage(self) -> Usage:
        """Tokens and requests, of the whole conversation."""
        return self._answered().usage

    @property
    def model(self) -> str:
        """The model that answered, as it calls itself."""
        return self._answered().model

    @property
    def finish(self) -> str:
        """How the last reply ended: "stop", "tool_calls", "length" when it was cut, else a word of
        the server's own.
        """
        return self._answered().finish

    @property
    def repairs(self) -> list[str]:
        """What had to be recovered or asked again, in words."""
        return self._answered().repairs

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation that gave the value, with the last reply, as data for JSON.

        `prompt(..., after=messages)` goes on with it. What only the provider understands, and wants
        back, is the `opaque` part of a message. Empty for a result that no prompt has given.
        """
        from runtime_support._core.hooks import load_part

        return load_part("transcripts").write_messages(self._answered().messages)

    @property
    def transcript(self) -> Transcript:
        """The same for the prompt that goes on with it."""
        answer = self._answered()
        return Transcript(answer.messages, answer.kept.options, answer.kept.pure)

    @property
    def tools(self) -> tuple[tuple[str, Callable[..., Any]], ...]:
        """The functions that the model could call, each with the name of its tool.

        `prompt(..., after=x, tools=x.tools)` offers them again. A result that comes from another
        process has none.
        """
        return self._answered().kept.tools

    @property
    def fields(self) -> tuple[Result[Any], ...]:
        """A Result for each destructured field, all with the same history."""
        return self._answered().fields

    @property
    def data(self) -> Any:
        """The value; for text that is a JSON object or array, what it holds.

        It may be in a code fence, the only one; one with words around it is marked as JSON.
        """
        value = self._answered().value
        if not isinstance(value, str):
            return value
        text = _content_of_fence(value) or value
        if text.lstrip()[:1] not in ("{", "["):
            return value
        import json

        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return value

    def pieces(self: Result[str]) -> Iterator[str]:
        """The text piece by piece as the model writes it, of a prompt with `stream=True`.

        Of other prompts, and of a text that has been read, it is one piece. To go on to something
        else ends the request. A failure is raised where it happens.
        """
        return self._parts(str)

    def items(self: Result[list[T]]) -> Iterator[T]:
        """The elements of a list, each as soon as it is complete and valid; see `pieces`."""
        return self._parts(list)

    def drafts(self) -> Iterator[Any]:
        """The value as far as it is there, whenever more has come, and at last the whole of it.

        A record is a dict of its fields, None where they have not come; a text is there as far as
        it is written, a list has its finished items, and other values are there when they are
        finished. Only what is finished has been checked. See `pieces`.
        """
        answer = self._answer
        if isinstance(answer, Arriving):
            return answer.drafts()
        from runtime_support._core.hooks import load_part

        return load_part("drafts").of_value(self._answered().value)

    def events(self) -> Iterator[ReplyEvent]:
        """The pieces of text and the calls of tools as they happen, of a prompt with `stream=True`;
        at last that the reply is whole.

        A reply that is no text has no pieces here. Of other prompts, and of a reply that has been
        read, all of it comes at once, with the text as one piece. See `pieces`.
        """
        answer = self._answer
        if isinstance(answer, Arriving):
            return answer.events()
        from runtime_support.events import events_of

        return events_of(self._answered())

    def _parts(self, kind: type) -> Iterator[Any]:
        answer = self._answer
        if isinstance(answer, Arriving):
            return answer.parts(kind)
        return value_parts(self._answered().value, kind)

    def _answered(self) -> Answer:
        answer = self._answer
        if not isinstance(answer, Answer):
            answer = self._answer = answer()
        return answer

    def __iter__(self) -> Iterator[Any]:
        raise CheckError("cannot iterate over a result", hint="use .tool_calls or .value")

    def __str__(self) -> str:
        return show(self._answered().value)

    def __repr__(self) -> str:
        answer = self._answer
        return f"Result({answer.value!r})" if isinstance(answer, Answer) else "Result(pending)"

    def _repr_html_(self) -> str:
        """What a notebook shows: the value, the calls of tools, and what it took."""
        from runtime_support._core.hooks import load_part

        return str(load_part("budgets").result_page(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # Functions stay where they are: few can be pickled.
        answer = self._answered()
        return Result.of, (
            answer._replace(kept=ConversationDefaults((), dict(answer.kept.options))),
        )
