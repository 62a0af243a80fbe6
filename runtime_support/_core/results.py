"""Results of prompts: the value with its history.

    report = prompt("Is it warmer in Oslo or in Cairo? Use {temperature}.", temperature=temperature)
    report.value, report.tool_calls[0].args, report.usage.requests

Everything is read through properties: a result may exist before the model has answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

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
    - `args`: the arguments by name; if they are unreadable, their text.
    - `result`: the text that the model got; None after an error.
    - `error`: the error that the model got; None after success.
    - `duration`: how long the call took, in milliseconds.
    """

    tool: str
    args: Any
    result: str | None
    error: str | None
    duration: float


@dataclass(frozen=True, slots=True)
class Usage:
    """The number of requests, and the tokens that the provider counted.

    `cached_tokens` are the `input_tokens` that the provider read from its cache.
    `cache_write_tokens` are the `input_tokens` that it wrote to the cache. `reasoning_tokens` are a
    part of `output_tokens`.
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
    """The tools and options of a conversation, which a follow-up prompt may inherit.

    `tools` are the functions that the model could call, with their names. `pure` are the functions
    declared as free of effects. `options` holds `model`, `fallback`, `system` and
    `reasoning_effort`, if a prompt set them.
    """

    tools: tuple[tuple[str, Callable[..., Any]], ...] = ()
    options: Mapping[str, Any] = MappingProxyType({})
    pure: tuple[Callable[..., Any], ...] | None = None


NOTHING_KEPT = ConversationDefaults()


class Transcript(NamedTuple):
    """A conversation, with all that a follow-up prompt needs to continue it.

    It holds the messages with their opaque parts, the options that the follow-up prompt inherits,
    and the functions declared as free of effects.
    """

    messages: Sequence[dict[str, Any]] = ()
    options: Mapping[str, Any] = MappingProxyType({})
    pure: tuple[Callable[..., Any], ...] | None = None


NOTHING_BEFORE = Transcript()


class Answer(NamedTuple):
    """The outcome of a conversation: the value and its history."""

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


class AnswerReader:
    """Reads a complete answer in parts. Readers of streamed answers are derived from it."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __call__(self) -> Answer:
        """Returns the whole answer."""
        return self._answer

    def parts(self, kind: type) -> Iterator[Any]:
        """Returns an iterator over the pieces of a text (`str`) or the items of a list (`list`).

        Raises CheckError if the value is not of the type `kind`.
        """
        value = self().value
        if not isinstance(value, kind):
            from runtime_support._values.kinds import brief

            raise of_another_kind(kind, f", got {brief(value)}")
        return iter([value] if isinstance(value, str) else value)

    def drafts(self) -> Iterator[Any]:
        """Returns an iterator over the partial value, whenever more of it has arrived."""
        from runtime_support._core.hooks import load_part

        return load_part("drafts").of_value(self().value)

    def events(self) -> Iterator[ReplyEvent]:
        """Returns an iterator over the events of the reply."""
        from runtime_support.events import events_of

        return events_of(self())


def of_another_kind(wanted: type, got: str = "") -> CheckError:
    """Returns the error for reading a value in parts of the wrong kind.

    This is an error of `pieces` if `wanted` is `str`, or else an error of `items`.
    """
    part, words = ("pieces", "text") if wanted is str else ("items", "a list")
    hint = "`drafts` delivers the finished part of any value"
    return CheckError(f"`{part}` are of {words}{got}", hint=hint)


def _content_of_fence(text: str) -> str | None:
    """Returns the content of a text's code fence, or None if the text has none or several.

    If other text surrounds the fence, the fence counts only with the label `json`.
    """
    fences = list(_FENCE.finditer(text))
    if len(fences) != 1:
        return None
    is_all = fences[0].group().strip() == text.strip()
    return fences[0]["content"] if is_all or fences[0]["label"].lower() == "json" else None


class PromptOutcome(Generic[T_co]):
    """The value that a prompt asked for, with the history of its conversation.

    Results and streamed results in event loops have these properties.
    """

    __slots__ = ()
    __saft_result__: ClassVar[bool] = True

    def _answered(self) -> Answer:
        raise NotImplementedError

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
        """The tokens and requests of the whole conversation."""
        return self._answered().usage

    @property
    def model(self) -> str:
        """The name of the model that answered, as the provider reports it."""
        return self._answered().model

    @property
    def finish(self) -> str:
        """How the last reply ended: "stop", "tool_calls", "length" if cut, or the server's word."""
        return self._answered().finish

    @property
    def repairs(self) -> list[str]:
        """Descriptions of repairs to replies, and the reasons why the model was asked again."""
        return self._answered().repairs

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The whole conversation, with the last reply, as JSON data.

        `prompt(..., after=messages)` continues the conversation. The `opaque` part of a message
        holds data that only the provider understands and wants back. The list is empty for a result
        that no prompt returned.
        """
        from runtime_support._core.hooks import load_part

        return load_part("transcripts").write_messages(self._answered().messages)

    @property
    def transcript(self) -> Transcript:
        """The conversation for a follow-up prompt."""
        answer = self._answered()
        return Transcript(answer.messages, answer.kept.options, answer.kept.pure)

    @property
    def tools(self) -> tuple[tuple[str, Callable[..., Any]], ...]:
        """The functions that the model could call, each with the name of its tool.

        For a result `x`, `prompt(..., after=x, tools=x.tools)` offers them again. A result from
        another process has no functions.
        """
        return self._answered().kept.tools

    @property
    def fields(self) -> tuple[Result[Any], ...]:
        """A Result for each field, if the prompt asked for several. Each has the whole history."""
        return self._answered().fields

    @property
    def data(self) -> Any:
        """The value. A text that is a JSON object or array is decoded.

        The JSON may be in a code fence, if the text has only one. If other text surrounds the
        fence, it must be labelled `json`.
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

    def __str__(self) -> str:
        from runtime_support._values.kinds import show

        return show(self._answered().value)


class Result(PromptOutcome[T_co]):
    """The answer to a prompt: `value` of the requested type, with its history.

    A result of a streamed or concurrent prompt may exist before the model has answered. Reading any
    part of it then waits for the answer, and raises the prompt's error if the prompt failed.
    """

    __slots__ = ("_answer",)

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
        """Returns a result with this answer.

        If `answer` is a function that returns the answer, reading the result calls the function,
        from any thread. It is not called again after it has returned.
        """
        class_: type[Result[Any]] = Result
        result = class_.__new__(class_)
        result._answer = answer
        return result

    def pieces(self: Result[str]) -> Iterator[str]:
        """Yields the text in pieces as the model writes it, for a prompt with `stream=True`.

        Other prompts, and a text that was read before, give one piece. Leaving the loop ends the
        request. If the prompt fails, the loop raises its error after the pieces that arrived.
        """
        return self._reader().parts(str)

    def items(self: Result[list[T]]) -> Iterator[T]:
        """Yields each item of a list as soon as the item is complete and valid; see `pieces`."""
        return self._reader().parts(list)

    def drafts(self) -> Iterator[Any]:
        """Yields the partial value whenever more of it has arrived, and finally the whole value.

        A partial record is a dict of its fields, with None for fields that have not arrived. A
        partial text has the characters written so far. A partial list has its finished items. Other
        values appear when they are finished. Only finished values are checked. See `pieces`.
        """
        return self._reader().drafts()

    def events(self) -> Iterator[ReplyEvent]:
        """Yields text pieces and tool calls as they happen, for a prompt with `stream=True`.

        The last event says that the reply is complete. If the prompt asks for a typed value, no
        text pieces are among the events. Other prompts, and a reply that was read before, give all
        events at once, with the text as one piece. See `pieces`.
        """
        return self._reader().events()

    def _reader(self) -> AnswerReader:
        answer = self._answer
        return answer if isinstance(answer, AnswerReader) else AnswerReader(self._answered())

    def _answered(self) -> Answer:
        answer = self._answer
        if not isinstance(answer, Answer):
            answer = self._answer = answer()
        return answer

    def __iter__(self) -> Iterator[Any]:
        raise CheckError("cannot iterate over a result", hint="use .tool_calls or .value")

    def __repr__(self) -> str:
        answer = self._answer
        return f"Result({answer.value!r})" if isinstance(answer, Answer) else "Result(pending)"

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: the value, the tool calls, tokens and cost."""
        from runtime_support._core.hooks import load_part

        return str(load_part("budgets").result_page(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # The pickle omits functions: few can be pickled.
        answer = self._answered()
        return Result.of, (
            answer._replace(kept=ConversationDefaults((), dict(answer.kept.options))),
        )
