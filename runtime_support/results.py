"""What a prompt gives back: the value, and how it came about.

    report = prompt("Is it warmer in Oslo or in Cairo? Use {temperature}.", temperature=temperature)
    report.value, report.tool_calls[0].args, report.usage.requests

The value is read only through `Result.value`, so that a later version may answer before the model
has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from runtime_support.errors import CheckError
from runtime_support.values import show

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool that the model made.

    `args` are as they were passed (the text as sent when they could not be read); `result` is the
    text that the model got, None after an error; `duration` is in milliseconds.
    """

    tool: str
    args: Any
    result: str | None
    error: str | None
    duration: float


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as far as the provider counts them, and the number of requests."""

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.requests + other.requests,
        )


class Result(Generic[T_co]):
    """The value of a prompt with its history.

    `text` is the model's final text, `repairs` says in words what had to be recovered or asked
    again, `fields` holds one Result for each destructured field, all with the same history.
    """

    __slots__ = ("_value", "fields", "model", "repairs", "text", "tool_calls", "usage")
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
    ) -> None:
        self._value = value
        self.text = text
        self.tool_calls = tool_calls
        self.usage = usage
        self.model = model
        self.repairs = repairs
        self.fields = fields

    @property
    def value(self) -> T_co:
        """The value, of the type that the prompt asked for."""
        return self._value

    @property
    def data(self) -> Any:
        """The value; for text that is a JSON object or array, what it holds."""
        if not isinstance(self._value, str) or self._value.lstrip()[:1] not in ("{", "["):
            return self._value
        import json

        try:
            return json.loads(self._value)
        except ValueError:
            return self._value

    def __iter__(self) -> Iterator[Any]:
        raise CheckError("cannot iterate over a result", hint="use .tool_calls or .value")

    def __str__(self) -> str:
        return show(self._value)

    def __repr__(self) -> str:
        return f"Result({self._value!r})"
