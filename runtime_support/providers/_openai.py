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
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import httpx2

from runtime_support._core.messages import (
    Origin,
    ReceivedChunks,
    ReplyStream,
    Request,
    StreamingProvider,
)
from runtime_support._core.settings import Settings
from runtime_support._core.spending import tokens_in
from runtime_support._core.tasks.waits import Wait, close_after
from runtime_support._values.predicates import without_halves
from runtime_support.errors import ConfigError, ProviderError
from runtime_support.providers._clients import BROKEN, NETWORK_ERRORS, Body
from runtime_support.providers._server import Server
from runtime_support.providers._wires import (
    Rejected,
    RequestForm,
    Waited,
    Wire,
    drop_unsupported,
    request_id_of,
    wire_named,
)
from runtime_support.providers._wires.bodies import of_server

if TYPE_CHECKING:
    from runtime_support.providers._backoff import Backoff
    from runtime_support.providers._wires.bodies import ReplyReader

DEFAULT_MODEL = "gpt-4o-mini"
LONGEST = 1e6  # seconds; the system limits time-outs

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
    name: str = "openai"  # of the provider
    waited: Waited = field(default_factory=Waited, compare=False, repr=False)

    @property
    def _backoff(self) -> Backoff:
        model, others = self.settings.model, self.settings.fallback or ()
        return self.server.backoff_of(model if model in others else None)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the API key: another process reads the key from its own environment.
        from runtime_support.providers import live_provider

        return live_provider, (replace(self.settings, provider=self.name),)

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
        request = drop_unsupported(wire.lacks, f"the API `{wire.name}`", request, hint=chat)
        form = RequestForm(
            # Replies and journals store the origin.
            Origin(wire.name, self.server.name, model),
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
            "stream": True,  # the body is read below
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
            from runtime_support.providers._async_clients import client_of_loop

            kind, client = server.package.AsyncStream[object], await client_of_loop(server)
            return await client.post(**sent, options=options, stream_cls=kind)

        try:
            response: httpx2.Response = yield Wait(post, post_async)
        except (server.package.APIError, *NETWORK_ERRORS, ProviderError) as error:
            raise self._failure(error) from None
        body = Body(response, self.settings.max_reply_bytes)
        reader = wire.reader(request, form, request_id_of(response))
        if form.streamed:
            from runtime_support.providers._streams import read_stream

            aside = self._backoff.aside
            reading = read_stream(body, wire.name, reader, chunks, aside, self._failure)
        else:
            reading = self._read(body, reader)
        return (yield from close_after(reading, body.closing))

    def _read(self, body: Body, reader: ReplyReader) -> ReplyStream:
        """Returns the reply in the body of a response."""
        try:
            content = yield from body.read()
            with of_server():
                return reader.read(content)
        except BROKEN as error:
            raise self._failure(error) from error.__cause__

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


def suitable_wire(server: Server, request: Request) -> Wire:
    """Returns the wire for a request, for settings without `api`.

    The wire is `chat` for all servers but OpenAI's. At OpenAI, it is `responses`, or `chat` if the
    request needs a field that only `chat` has. A request with both tools and `reasoning_effort`
    always uses `responses` there.
    """
    if not server.is_openai:
        return wire_named("chat")
    from runtime_support.providers._wires import responses

    wants_both = bool(request.tools) and "reasoning_effort" in request.options
    is_for_chat = responses.is_for_chat(request) and not wants_both
    return wire_named("chat" if is_for_chat else "responses")


def _sendable(wire: Wire, request: Request, form: RequestForm) -> tuple[str, bytes]:
    """Returns the path and the JSON body of a request.

    Raises ProviderError if the user's text cannot be encoded, and ConfigError if a value cannot.
    """
    path, body = wire.render(request, form)
    try:
        return path, _encoded(body).encode()
    except UnicodeEncodeError as error:
        # A model may have written halves of surrogate pairs, or a reminder may quote them.
        if any(message["role"] == "assistant" for message in request.messages):
            return path, without_halves(_encoded(body)).encode()
        half = f"U+{ord(error.object[error.start]):04X}"
        raise ProviderError(
            f"the request cannot be sent: there is half of a surrogate pair ({half}) in it",
            hint="look for text that was cut inside of a character, or decoded wrongly",
        ) from None
    except (TypeError, ValueError) as error:
        raise ConfigError(f"`extra_body` is not JSON: {error}", setting="extra_body") from None
