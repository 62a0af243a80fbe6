"""The exchange with a model as data: a request goes in, a reply comes out.

    Request(messages=({"role": "user", "content": "hello"},))  ->  Reply("Hello!")

Messages and tools have the form of OpenAI's chat completions. A request says nothing of keys,
addresses or headers; `canonical` is the part of it that decides the answer, which recordings use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from runtime_support._media import abridged

Message: TypeAlias = dict[str, Any]
Structured: TypeAlias = Literal["auto", "on", "off"]


@dataclass(frozen=True, slots=True)
class Request:
    """One request.

    `model` None is the provider's own choice; `schema` is the JSON Schema of the value that is
    asked for, and `structured` whether the provider should, must or must not enforce it;
    `model_is_given` tells that the program chose the model, not the environment around it;
    `must_answer` forbids calls of tools; `options` are sampling options that were set; `begins`
    is the place of the message in which the prompt itself stands.
    """

    messages: tuple[Message, ...]
    model: str | None = None
    tools: tuple[dict[str, Any], ...] = ()
    must_answer: bool = False
    schema: dict[str, Any] | None = None
    is_strict: bool = False
    structured: Structured = "auto"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    model_is_given: bool = True
    begins: int = 0

    def canonical(self) -> dict[str, Any]:
        """What decides the answer, as JSON data; what is not there is left out.

        The data of pictures and files is stood for by its number of bytes and a hash.
        """
        parts: dict[str, Any] = {
            "model": self.model,
            "messages": list(map(abridged, self.messages)),
            "tools": list(self.tools),
            "tool_choice": "none" if self.must_answer else None,
            "schema": self.schema,
            "options": dict(self.options),
        }
        return {name: part for name, part in parts.items() if part}


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call of a tool that the model asks for; `arguments` is JSON text, as it was sent."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply; `finish` is "stop", "length", "tool_calls", "refusal" or the provider's word."""

    text: str
    tool_calls: tuple[ToolRequest, ...] = ()
    finish: str = "stop"
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


@runtime_checkable
class Provider(Protocol):
    """Whatever can answer a request; used from several threads at once."""

    def complete(self, request: Request) -> Reply:
        """The reply, or a ProviderError."""
        ...
