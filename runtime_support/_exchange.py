"""The exchange with a model as data: a request goes in, a reply comes out.

    Request(messages=({"role": "user", "content": "hello"},))  ->  Reply("Hello!")

A reply that is streamed is a generator of the pieces of its text, which comes to the reply.
Messages and tools have the form of OpenAI's chat completions. A request says nothing of keys,
addresses or headers; `canonical` is the part of it that decides the answer, which recordings use.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from runtime_support._media import abridged

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")

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
    """One reply; `finish` is "stop", "length", "tool_calls", "refusal" or the provider's word.

    "left" is that of a recorded reply of which nobody wanted the rest.
    """

    text: str
    tool_calls: tuple[ToolRequest, ...] = ()
    finish: str = "stop"
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


@runtime_checkable
class Provider(Protocol):
    """Whatever can answer a request; used from several threads at once.

    One that has `stream(request)` as well gives the text in pieces: a generator of them that
    returns the Reply, or an iterator when there is nothing to tell but the text.
    """

    def complete(self, request: Request) -> Reply:
        """The reply, or a ProviderError."""
        ...


# The pieces of a reply's text as they come, and at its end the reply.
Replying: TypeAlias = Generator[str, None, Reply]


def replying(provider: Provider, request: Request, is_streamed: bool) -> Replying:
    """The reply of a provider; where it is streamed, and the provider can do that, in pieces."""
    stream = getattr(provider, "stream", None) if is_streamed else None
    if stream is None:
        return provider.complete(request)
    pieces: list[str] = []
    reply = yield from noted(stream(request), pieces.append)
    return reply if isinstance(reply, Reply) else Reply("".join(pieces))


class Streaming:
    """A provider that says in one place how it answers, at once or in pieces."""

    __slots__ = ()

    def replying(self, request: Request, is_streamed: bool) -> Replying:
        """The pieces as far as it is streamed, and the reply."""
        raise NotImplementedError

    def complete(self, request: Request) -> Reply:
        """The reply."""
        return finish(self.replying(request, False))

    def stream(self, request: Request) -> Replying:
        """The pieces of the text, and the reply."""
        return self.replying(request, True)


def finish(work: Generator[Any, None, T]) -> T:
    """What a generator comes to, whatever it gives on the way."""
    try:
        while True:
            next(work)
    except StopIteration as end:
        return end.value


def passed_on(work: Iterator[A], each: Callable[[A], Iterable[B]]) -> Generator[B, None, Any]:
    """What is made of each that the work gives on the way, and at its end what it comes to."""
    try:
        while True:
            try:
                one = next(work)
            except StopIteration as end:
                return end.value
            yield from each(one)
    finally:
        close = getattr(work, "close", None)
        if close is not None:
            close()


def noted(work: Iterator[A], note: Callable[[A], object]) -> Generator[A, None, Any]:
    """The same with each as it is, which is noted before it is given."""

    def noting(one: A) -> tuple[A]:
        note(one)
        return (one,)

    return passed_on(work, noting)
