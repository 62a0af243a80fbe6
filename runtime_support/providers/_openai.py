"""The provider for HTTP servers, through OpenAI's or Anthropic's client package.

    OpenAIProvider(settings, server).complete(request)          its reply
    OpenAIProvider(settings, server).stream(request)            its chunks, and the reply

A `Wire` (`_wires`) translates the request for the server's API. The package's client sends it and
returns the raw response: the package's typed models would take longer than the rest of the call.
Only this module and `_refusals` handle the package's exceptions. The client never retries:
`_backoff` and `_retries` retry requests, for all threads together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import httpx2

from runtime_support._core.messages import (
    Message,
    Origin,
    ReceivedChunks,
    ReplyStream,
    Request,
    StreamingProvider,
)
from runtime_support._core.settings import Settings
from runtime_support._core.spending import tokens_in
from runtime_support._core.tasks.waits import Steps, Wait, close_after
from runtime_support._values.kinds import counted, without_halves
from runtime_support.errors import ProviderError, SaftError
from runtime_support.providers._clients import NETWORK_ERRORS, Body
from runtime_support.providers._server import Server
from runtime_support.providers._wires import (
    Rejected,
    RequestForm,
    Waited,
    Wire,
    drop_unsupported,
    request_id_of,
)

if TYPE_CHECKING:
    from runtime_support.providers import _chat, _messages, _responses
    from runtime_support.providers._backoff import Backoff
    from runtime_support.providers._bodies import ReplyReader

    _ALL: tuple[Wire, ...] = (_chat, _responses, _messages)  # so that checkers hold each to it

WIRES = ("chat", "responses", "messages")
DEFAULT_MODEL = "gpt-4o-mini"
LONGEST = 1e6  # seconds; the system limits time-outs

_DONE = b"[DONE]"

_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class OpenAIProvider(StreamingProvider):
    """Sends the requests of one prompt to a server.

    `waited` has the seconds that the prompt has waited for the server.
    """

    settings: Settings
    server: Server
    default_model: str = DEFAULT_MODEL
    wire: Wire | None = None  # None selects the wire by server and request
    cache_key: str = ""
    waited: Waited = field(default_factory=Waited, compare=False, repr=False)

    @property
    def address(self) -> str:
        """The address of the server, without secrets."""
        return self.server.address

    @property
    def _backoff(self) -> Backoff:
        model, others = self.settings.model, self.settings.fallback or ()
        return self.server.backoff_of(model if model in others else None)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the API key: another process reads the key from its own environment.
        from runtime_support.providers import live_provider

        return live_provider, (self.settings,)

    def stream_with_retries(
        self, request: Request, send: Callable[[Request], ReplyStream]
    ) -> ReplyStream:
        """Returns the reply of the first successful attempt; the backoff decides when to retry."""

        def attempt(number: int) -> ReplyStream:
            return (yield from send(replace(request, tries=number) if number else request))

        tokens = 0 if self.settings.tokens_per_minute is None else tokens_in(request)
        return self._backoff.ask(self.settings, self.waited, attempt, tokens)

    def stream_reply(self, request: Request, chunks: ReceivedChunks) -> ReplyStream:
        """Returns the server's reply to one attempt; raises ProviderError if there is no reply."""
        model = request.model or self.default_model
        wire = self.wire or suitable_wire(self.server, request)
        chat = 'or set `api` to "chat"'
        request = drop_unsupported(wire.LACKS, f"the API `{wire.NAME}`", request, hint=chat)
        form = RequestForm(
            # Replies and journals store the origin.
            Origin(wire.NAME, self.server.name, model),
            self.server.is_openai,
            enforced=request.schema is not None,
            streamed=chunks is not None,
            cache_key=self.cache_key if self.server.is_openai else "",
            has_new_limit=self.server.is_openai,
        )
        lacks = self.server.lacks
        begun = form = form if lacks is None else lacks.form_for(request, form)
        while True:
            try:
                reply = yield from self._send(wire, request, form, chunks)
            except Rejected as rejected:
                from runtime_support.providers._forms import UnsupportedFeatures

                lacks = self.server.lacks = self.server.lacks or UnsupportedFeatures()
                form = lacks.milder_form(wire, request, form, rejected)
            else:
                if lacks is not None and form is not begun:
                    lacks.remember(request, begun, form)
                return reply

    def _send(
        self, wire: Wire, request: Request, form: RequestForm, chunks: ReceivedChunks
    ) -> ReplyStream:
        path, content = _sendable(wire, request, form)
        server = self.server
        sent: dict[str, Any] = {
            "path": server.address + path,  # absolute, as the client's joining is slow
            "cast_to": httpx2.Response,
            "content": content,
            "stream": True,  # the body is read in `_read`
        }
        headers = {"X-Stainless-Retry-Count": str(request.tries)} if request.tries else {}
        # Without this, the package would make an idempotency key for each request, and never send
        # it.
        times = _times_of(self.settings)
        options = {"timeout": times, "headers": headers, "idempotency_key": ""}

        def post() -> httpx2.Response:
            kind = server.package.Stream[object]
            return server.client().post(**sent, options=options, stream_cls=kind)

        async def post_async() -> httpx2.Response:
            kind, client = server.package.AsyncStream[object], await server.async_client()
            return await client.post(**sent, options=options, stream_cls=kind)

        try:
            response: httpx2.Response = yield Wait(post, post_async)
        except (server.error, *NETWORK_ERRORS, ProviderError) as error:
            raise self._failure(error) from None
        body = Body(response, self.settings.max_reply_bytes)
        reader = wire.READER(request, form, request_id_of(response))
        reading = self._read(form, body, reader, chunks)
        return (yield from close_after(reading, body.closing))

    def _read(
        self, form: RequestForm, body: Body, reader: ReplyReader, chunks: ReceivedChunks
    ) -> ReplyStream:
        """Yields the chunks of a response and returns the reply.

        After the first text, errors are not retryable. A complete reply is returned even if the
        connection breaks at its end.
        """
        problem: Exception = ValueError("it has no end")
        try:
            if not (form.streamed and (yield from body.has_events())):
                content = yield from body.read()
                with _of_server():
                    return reader.read(content)
            yield from self._pieces(body, reader, chunks)
        except (*NETWORK_ERRORS, httpx2.DecodingError, ValueError, ProviderError) as error:
            problem = error
        if reader.is_whole:
            try:
                with _of_server():
                    return reader.reply()
            except (ValueError, ProviderError) as error:
                problem = error
        failure = self._failure(problem)
        if reader.text and isinstance(failure, ProviderError):
            failure.another_try, failure.text = None, reader.text
            length = counted(len(failure.text), "character")
            failure.message += f"; {length} of the reply had come"
        raise failure from problem.__cause__

    def _pieces(self, body: Body, reader: ReplyReader, chunks: ReceivedChunks) -> Steps[None]:
        while not reader.is_over and (data := (yield from body.next_event())) is not None:
            with _of_server():
                if data.startswith(_DONE):
                    if not reader.is_whole:
                        reader.end()
                    break
                piece = reader.add(json.loads(data))
            if piece and chunks is not None:
                chunks.append(piece)
                with self._backoff.aside(), body.resting():
                    yield piece
        if reader.is_whole:
            yield from body.drain()

    def _failure(self, error: Exception) -> Exception:
        """Converts an error of an attempt to an error of the runtime."""
        from runtime_support.providers._refusals import failure_of

        return failure_of(error, self.server, self.settings)


def _times_of(settings: Settings) -> float | httpx2.Timeout:
    """Returns the time-out of a request.

    If the setting `silence` is set, it becomes the time-out of each read.
    """
    whole = min(settings.timeout, LONGEST)
    silence = settings.silence
    return whole if silence is None else httpx2.Timeout(whole, read=min(silence, whole))


@contextmanager
def _of_server() -> Generator[None]:
    """Turns unexpected errors in the block into a ValueError.

    Malformed data of the server is taken as the cause. So only code that reads such data may be in
    the block; errors of other code would be hidden.
    """
    try:
        yield
    except (SaftError, ValueError):
        raise
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def suitable_wire(server: Server, request: Request) -> Wire:
    """Returns the wire for a request, for settings without `api`.

    The wire is `chat` for all servers but OpenAI's. At OpenAI, it is `responses`, or `chat` if the
    request needs a field that only `chat` has. A request with both tools and `reasoning_effort`
    always uses `responses` there.
    """
    if not server.is_openai:
        return wire_named("chat")
    from runtime_support.providers import _responses

    wants_both = bool(request.tools) and "reasoning_effort" in request.options
    is_for_chat = _responses.is_for_chat(request) and not wants_both
    return wire_named("chat" if is_for_chat else "responses")


def wire_named(name: str) -> Wire:
    """Returns the wire of this name; imports its module at the first use."""
    wire: Any = import_module(f"runtime_support.providers._{name}")
    return wire


def _sendable(wire: Wire, request: Request, form: RequestForm) -> tuple[str, bytes]:
    """Returns the path and the JSON body of a request.

    Raises ProviderError if the user's text cannot be encoded.
    """
    path, body = wire.render(request, form)
    try:
        return path, _encoded(body).encode()
    except UnicodeEncodeError:
        pass
    # Text of the model, also if a reminder quotes it, may contain half of a surrogate pair.
    said = enumerate(request.messages)
    others = [one for number, one in said if not _is_of_model(one, number > request.begins)]
    given = [others, request.model, request.tools, request.schema, dict(request.options)]
    try:
        _encoded(given).encode()
    except UnicodeEncodeError as error:
        half = f"U+{ord(error.object[error.start]):04X}"
        raise ProviderError(
            f"the request cannot be sent: there is half of a surrogate pair ({half}) in it",
            hint="look for text that was cut inside of a character, or decoded wrongly",
        ) from None
    return path, without_halves(_encoded(body)).encode()


def _is_of_model(message: Message, is_behind: bool) -> bool:
    """True if a model wrote the message, or if the message is a reminder, which may quote a model.

    A user message is a reminder if it comes after the prompt, so that `is_behind` is true.
    """
    return message["role"] == "assistant" or (is_behind and message["role"] == "user")
