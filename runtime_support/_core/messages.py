"""Requests to a model and its replies, as data.

    Request(messages=({"role": "user", "content": "hello"},))  ->  Reply("Hello!")

A provider answers by a generator that yields waits (`tasks.waits`) and the chunks of a streamed
reply. Messages and tools have the form of OpenAI's chat completions. A request holds no keys,
addresses or headers. `Request.canonical` returns the parts of a request that determine the answer;
recordings compute their keys from these parts.

A reply may hold data that only its provider understands, such as encrypted thoughts. This data is
called opaque. An `AssistantMessage` carries it, and the adapter for the provider's API (the wire)
sends it back unchanged to its `Origin`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from runtime_support._core.hooks import load_part
from runtime_support._core.results import Usage
from runtime_support._core.tasks.waits import Steps, finish, iterate
from runtime_support._values.context import current_context

Message: TypeAlias = dict[str, Any]
Structured: TypeAlias = Literal["auto", "on", "off"]


def _abridged(message: Message) -> Message:
    if not isinstance(message.get("content"), list):
        return message
    return load_part("media").abridge_data(message)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a provider.

    - `model`: None lets the provider choose.
    - `schema`: the JSON Schema of the prompt's value. `enforce_schema` says whether the provider
      should, must or must not enforce the schema. `is_strict` says whether a server can enforce all
      of it, and `losses` lists what a server cannot enforce.
    - `ambient`: names of the settings that come from the environment, not from the program.
    - `must_answer`: if true, the model may not call tools.
    - `options`: the sampling options that are set.
    - `most_output`: the tokens that a nearly spent budget leaves for the reply; None means no
      limit.
    - `begins`: the index in `messages` of the message with the prompt itself.
    - `pieces`: the text chunks received so far; None if the reply is not streamed.
    - `tries`: how often this request was sent before.
    """

    messages: tuple[Message, ...]
    model: str | None = None
    tools: tuple[dict[str, Any], ...] = ()
    must_answer: bool = False
    schema: dict[str, Any] | None = None
    is_strict: bool = False
    losses: tuple[str, ...] = ()
    enforce_schema: Structured = "auto"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ambient: frozenset[str] = frozenset()
    most_output: int | None = field(default=None, compare=False, repr=False)
    begins: int = 0
    pieces: list[str] | None = field(default=None, compare=False, repr=False)
    tries: int = field(default=0, compare=False, repr=False)

    def canonical(self) -> dict[str, Any]:
        """The parts that determine the answer, as JSON data; empty parts are omitted.

        A byte count and a hash replace the data of pictures and files.
        """
        parts: dict[str, Any] = {
            "model": self.model,
            "messages": list(map(_abridged, self.messages)),
            "tools": list(self.tools),
            "tool_choice": "none" if self.must_answer else None,
            "schema": self.schema,
            "options": dict(self.options),
        }
        return {name: part for name, part in parts.items() if part}


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a reply: the API (`wire`), the address without secrets, the requested model.

    Opaque parts of the reply are sent back only if API, address and model are still the same.
    """

    wire: str
    address: str
    model: str


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call that the model requests; `arguments` is its JSON text, unchanged.

    `id` is the provider's id of the call, or an empty text.
    """

    name: str
    arguments: str
    id: str = ""
    opaque: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of a provider.

    - `finish`: "stop", "length", "tool_calls", "refusal" or the provider's own word. "left" marks a
      recorded reply whose stream was closed early.
    - `opaque`: JSON data that only the provider understands.
    - `origin`: the source of opaque data and of the ids of calls; None if the reply has neither.
    - `fallback`: the name of the requested model if it is not the prompt's first model.

    The tokens are counted as in `Usage`.
    """

    text: str
    tool_calls: tuple[ToolRequest, ...] = ()
    finish: str = "stop"
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    opaque: Mapping[str, Any] | None = None
    origin: Origin | None = None
    fallback: str = ""

    @property
    def usage(self) -> Usage:
        """The tokens of the reply, as the usage of one request."""
        return Usage(
            self.input_tokens,
            self.output_tokens,
            1,
            self.cached_tokens,
            self.cache_write_tokens,
            self.reasoning_tokens,
        )

    def readable(self) -> dict[str, Any]:
        """The reply without its opaque parts, as JSON data."""
        calls = [{"name": call.name, "arguments": call.arguments} for call in self.tool_calls]
        told = {name: getattr(self, name) for name in _READABLE} | {"tool_calls": calls}
        there = (*TOKEN_PARTS, "fallback")
        return told | {name: getattr(self, name) for name in there if getattr(self, name)}


_READABLE = ("text", "tool_calls", "finish", "model", "input_tokens", "output_tokens")
# Subsets of these tokens, written only if they are not 0.
TOKEN_PARTS = ("cached_tokens", "cache_write_tokens", "reasoning_tokens")


class AssistantMessage(dict[str, Any]):
    """A message of the model, with the reply that it came from.

    The dict holds the message alone, with the runtime's ids of calls. Recordings and journals look
    up requests by this dict. The wire uses `reply` to send the opaque parts back.
    """

    __slots__ = ("reply",)

    def __init__(self, message: Message, reply: Reply) -> None:
        super().__init__(message)
        self.reply = reply


class ToolErrorMessage(dict[str, Any]):
    """The message with the error of a tool call. As data, it is an ordinary tool message."""

    __slots__ = ()


@runtime_checkable
class Provider(Protocol):
    """Anything that answers requests. The runtime calls it from several threads at once.

    It may also have a method `stream(request)`, which returns an iterator of text chunks. If the
    method is a generator, it may return the Reply.
    """

    def complete(self, request: Request) -> Reply:
        """Returns the reply, or raises a ProviderError."""
        ...


# A generator of waits and text chunks that returns the Reply.
ReplyStream: TypeAlias = Steps[Reply]
# The text chunks received so far; None if the reply is not streamed.
ReceivedChunks: TypeAlias = list[str] | None


class StreamingProvider:
    """A provider with one method for whole and streamed replies, in threads and event loops."""

    __slots__ = ()

    def stream_reply(self, request: Request, chunks: ReceivedChunks) -> ReplyStream:
        """Sends a request and returns the reply.

        Yields waits and, if `chunks` is a list, the text chunks of the reply.
        """
        raise NotImplementedError

    def stream_with_retries(
        self, request: Request, send: Callable[[Request], ReplyStream]
    ) -> ReplyStream:
        """Returns the reply of `send`. A subclass may call `send` again to retry."""
        return send(request)

    def complete(self, request: Request) -> Reply:
        """Returns the reply, with retries."""
        return finish(self.stream_with_retries(request, partial(self.stream_reply, chunks=None)))

    def stream(self, request: Request) -> Generator[str, None, Reply]:
        """Yields the text chunks and returns the reply, with retries."""
        return iterate(self.stream_with_retries(request, partial(self.stream_reply, chunks=[])))


def is_in_exchange() -> bool:
    """Whether this code runs inside a call of a user-defined provider."""
    return current_context().is_in_exchange
