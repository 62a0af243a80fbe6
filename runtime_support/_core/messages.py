"""The exchange with a model as data: a request goes in, a reply comes out.

    Request(messages=({"role": "user", "content": "hello"},))  ->  Reply("Hello!")

How a reply comes about is work (`tasks.effects`), which gives the pieces of one that is streamed.
Messages and tools have the form of OpenAI's chat completions. A request says nothing of keys,
addresses or headers; `canonical` is the part of it that decides the answer, which recordings use.

A reply may hold what only its maker understands, such as encrypted thoughts. This part is opaque:
an `AssistantMessage` carries it, and the wire sends it back to its `Origin` as it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from runtime_support._core.hooks import load_part
from runtime_support._core.results import Usage
from runtime_support._core.tasks.effects import Effect, Effects, close_after, finish, iterate
from runtime_support._core.tasks.turns import is_abandoned
from runtime_support._values.context import Block, context_here

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
    - `schema`: the JSON Schema of the value that the prompt asks for; `enforce_schema` says whether
      the provider should, must or must not enforce it; `losses` say why `is_strict` is false, if
      known.
    - `ambient`: names of the settings that come from the environment, not from the program.
    - `must_answer`: the model may not call tools.
    - `options`: the sampling options that are set.
    - `most_output`: how many tokens a budget has left for the reply, where that is not much.
    - `begins`: the index of the message that is the prompt itself.
    - `pieces`: those that were given until now of its reply, which is streamed; None of another.
    - `tries`: how often it was sent before.
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
        """What decides the answer, as JSON data; what is not there is left out.

        The data of pictures and files is stood for by its number of bytes and a hash.
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
    """Who made a reply: its wire, the address without secrets, and the model as it was asked for.

    Opaque parts go back to the same three alone.
    """

    wire: str
    address: str
    model: str


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call of a tool that the model asks for; `arguments` is JSON text, as it was sent.

    `id` is the provider's own, empty where it gives none.
    """

    name: str
    arguments: str
    id: str = ""
    opaque: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of a provider.

    `finish` is "stop", "length", "tool_calls", "refusal" or the provider's own word; "left" is that
    of a recorded reply whose stream was closed early. `origin` says who made the ids and the opaque
    parts in it, which are JSON data of the wire's choice, and is None if there are none. Tokens are
    as in `Usage`. `fallback` is the model that was asked where it is not the first of its prompt.
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
        """What the request has taken."""
        return Usage(
            self.input_tokens,
            self.output_tokens,
            1,
            self.cached_tokens,
            self.cache_write_tokens,
            self.reasoning_tokens,
        )

    def readable(self) -> dict[str, Any]:
        """What everybody understands of it, as JSON data."""
        calls = [{"name": call.name, "arguments": call.arguments} for call in self.tool_calls]
        told = {name: getattr(self, name) for name in _READABLE} | {"tool_calls": calls}
        there = (*TOKEN_PARTS, "fallback")
        return told | {name: getattr(self, name) for name in there if getattr(self, name)}


_READABLE = ("text", "tool_calls", "finish", "model", "input_tokens", "output_tokens")
# Parts of these tokens, told where there are any.
TOKEN_PARTS = ("cached_tokens", "cache_write_tokens", "reasoning_tokens")


class AssistantMessage(dict[str, Any]):
    """A message of the model, with the reply that it was.

    As data it is the message alone, with our ids: by that, requests are found in recordings and
    journals. Its wire looks at the reply to send the rest of it back.
    """

    __slots__ = ("reply",)

    def __init__(self, message: Message, reply: Reply) -> None:
        super().__init__(message)
        self.reply = reply


class ToolErrorMessage(dict[str, Any]):
    """The message with the outcome of a call that failed; as data it is one like any other."""

    __slots__ = ()


@runtime_checkable
class Provider(Protocol):
    """Anything that answers requests. The runtime calls it from several threads at once.

    It may also have `stream(request)`, which gives the text in pieces: an iterator of them, or a
    generator that returns the whole Reply at the end.
    """

    def complete(self, request: Request) -> Reply:
        """The reply, or a ProviderError."""
        ...


# Effects, and the pieces of the text of a streamed reply as they come; at its end the reply.
Replying: TypeAlias = Effects[Reply]
# The pieces that were given until now of a reply that is streamed; None of one that is not.
Heard: TypeAlias = list[str] | None


def ask_provider(provider: Provider, request: Request) -> Replying:
    """The reply of a provider; where it is streamed, and the provider can do that, in pieces."""
    if isinstance(provider, Streaming):
        return provider.replying(request, request.pieces)
    return _of_another(provider, request, request.pieces)


class Streaming:
    """A provider that says in one place how it answers: at once or in pieces, here or awaited."""

    __slots__ = ()

    def replying(self, request: Request, heard: Heard) -> Replying:
        """The waits, the pieces as far as it is streamed, and the reply."""
        raise NotImplementedError

    def retrying(self, request: Request, send: Callable[[Request], Replying]) -> Replying:
        """The reply that `send` gets, maybe in one of several tries, of which each sends anew."""
        return send(request)

    def complete(self, request: Request) -> Reply:
        """The reply."""
        return finish(self.retrying(request, partial(self.replying, heard=None)))

    def stream(self, request: Request) -> Generator[str, None, Reply]:
        """The pieces of the text, and the reply."""
        return iterate(self.retrying(request, partial(self.replying, heard=[])))


def _of_another(provider: Provider, request: Request, heard: Heard) -> Replying:
    """The reply of a provider that knows nothing of waits."""
    stream = getattr(provider, "stream", None) if heard is not None else None
    if heard is None or stream is None:
        return (yield Effect(partial(_in_exchange, provider.complete, request)))
    pieces = _Pieces((yield Effect(partial(stream, request))))
    return (yield from close_after(_pieces_of(pieces, heard), Effect(pieces.close)))


def is_in_exchange() -> bool:
    """Whether a provider of somebody's own is at work around this: a prompt there is part of it."""
    return context_here().is_in_exchange


def _in_exchange(function: Callable[..., Any], *arguments: Any) -> Any:
    with Block(is_in_exchange=True):
        return function(*arguments)


class _Pieces:
    """Those of a provider that knows nothing of waits; a thread may have been left in there."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._busy = threading.Lock()

    def next(self) -> tuple[str | None, Any]:
        """The next piece; None at the end, with the result."""
        try:
            with self._busy:
                return _in_exchange(next, self._pieces), None
        except StopIteration as end:
            return None, end.value
        finally:
            if is_abandoned():
                self.close()

    def close(self) -> None:
        """Closes the iterator, if it can be; a thread that is in there does so when it is out."""
        close = getattr(self._pieces, "close", None)
        if close is not None and self._busy.acquire(blocking=False):
            try:
                close()
            finally:
                self._busy.release()


def _pieces_of(pieces: _Pieces, heard: list[str]) -> Replying:
    while True:
        piece, reply = yield Effect(pieces.next)
        if piece is None:
            return reply if isinstance(reply, Reply) else Reply("".join(heard))
        heard.append(piece)
        yield piece
