"""Any server that speaks a wire (`_wires`), through the package that has a client for it.

    OpenAIProvider(settings, server).complete(request)          its reply
    OpenAIProvider(settings, server).stream(request)            its pieces, and the reply

The package's client sends, and gives its raw response: its typed models cost more than the rest of
a call together. Its exceptions are mapped to ours here, and nowhere else. It retries nothing: when
to ask again is for all threads together to know (`_backoff`, `_retries`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import httpx2

from runtime_support._effects import Effect, Effects, close_after
from runtime_support._exchange import (
    Heard,
    Message,
    Origin,
    Replying,
    Request,
    Said,
    Streaming,
)
from runtime_support._notes import note
from runtime_support._settings import Settings
from runtime_support._values import counted, without_halves
from runtime_support.errors import ProviderError, SaftError, ToolsUnsupported
from runtime_support.providers._bodies import Gathering
from runtime_support.providers._clients import Body
from runtime_support.providers._server import Server
from runtime_support.providers._wires import (
    Feature,
    Rejected,
    RequestForm,
    Unanswered,
    Waited,
    Wire,
    request_id_of,
    without_lacking,
)

if TYPE_CHECKING:
    from runtime_support.providers import _chat, _messages, _responses

    _ALL: tuple[Wire, ...] = (_chat, _responses, _messages)  # so that checkers hold each to it

WIRES = ("chat", "responses", "messages")
DEFAULT_MODEL = "gpt-4o-mini"
LONGEST = 1e6  # seconds; the system has a limit for what one can wait

# A number below is no limit, but a place or a version in the words of a server.
_LEAST_LIMIT = 256
# About as many bytes of a request make a token.
_BYTES_OF_TOKEN = 4

_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class OpenAIProvider(Streaming):
    """A server with the settings of one prompt, and how long that has waited."""

    settings: Settings
    server: Server
    default_model: str = DEFAULT_MODEL
    wire: Wire | None = None  # None takes the one that suits the server and the request
    cache_key: str = ""
    waited: Waited = field(default_factory=Waited, compare=False, repr=False)

    @property
    def address(self) -> str:
        """Where the server is, without what is secret of it."""
        return self.server.address

    def __reduce__(self) -> tuple[Any, ...]:
        # The key stays behind: another process finds its own in its environment.
        from runtime_support.providers import live_provider

        return live_provider, (self.settings,)

    def replying(self, request: Request, heard: Heard) -> Replying:
        """The reply of the server; a ProviderError when there is none."""
        model = request.model or self.default_model
        wire = self.wire or suitable_wire(self.server, request)
        chat = 'or set `wire` to "chat"'
        request = without_lacking(wire.LACKS, f"the wire `{wire.NAME}`", request, hint=chat)
        lacks = self.server.lacks
        if request.tools and ("tools", model) in lacks:
            raise ToolsUnsupported(f"{model} at {self.address} takes no tools")
        form = RequestForm(
            # As replies are marked with it, and journals keep it.
            Origin(wire.NAME, self.server.name, model),
            self.server.is_openai,
            enforced=request.schema is not None
            and (request.structured == "on" or not self._is_without_schema(model, request.schema)),
            streamed=heard is not None and ("stream", model) not in lacks,
            counted=("usage", model) not in lacks,
            thoughts=("thoughts", model) not in lacks,
            cache_key=self.cache_key if self.server.is_openai else "",
            has_new_limit=self.server.is_openai or ("max_tokens", model) in lacks,
        )
        if model in self.server.limits:
            request = _limited(request, self.server.limits[model])
        while True:
            try:
                return (yield from self._send(wire, request, form, heard))
            except Rejected as rejected:
                smaller = _smaller_limit(wire, request, rejected.words)
                if smaller is not None:
                    self.server.limits[model] = smaller
                    note(f"{model} gives at most {smaller} tokens: `max_tokens` is that")
                    request = _limited(request, smaller)
                else:
                    form = self._milder(wire, request, form, rejected)

    def _milder(
        self, wire: Wire, request: Request, form: RequestForm, rejected: Rejected
    ) -> RequestForm:
        """Another form in which the request may do; the error when there is none."""
        lacks, model, error = self.server.lacks, form.origin.model, rejected.error
        words = rejected.words

        def refuses(part: Feature) -> bool:
            return wire.refuses(part, words)

        has_limit = "max_tokens" in request.options
        if has_limit and not form.has_new_limit and "max_completion_tokens" in words:
            lacks.add("max_tokens", model)
            return replace(form, has_new_limit=True)
        if form.thoughts and refuses("thoughts"):
            lacks.add("thoughts", model)
            return replace(form, thoughts=False)
        if form.streamed and form.counted and refuses("usage"):
            lacks.add("usage", model)
            return replace(form, counted=False)
        if form.streamed and refuses("stream"):
            lacks.add("stream", model)
            return replace(form, streamed=False)
        if request.tools and refuses("tools") and not _has_tool_answers(request):
            lacks.add("tools", model)
            raise ToolsUnsupported(error.message, status=error.status) from None
        if not form.enforced or request.structured == "on":
            raise error from None
        if refuses("this schema"):
            lacks.add("schema", model, json.dumps(request.schema))
        elif refuses("schema"):
            lacks.add("schema", model)
        else:
            raise error from None
        return replace(form, enforced=False)

    def _is_without_schema(self, model: str, schema: dict[str, Any]) -> bool:
        lacks = self.server.lacks
        if not lacks:
            return False
        return ("schema", model) in lacks or ("schema", model, json.dumps(schema)) in lacks

    def _send(self, wire: Wire, request: Request, form: RequestForm, heard: Heard) -> Replying:
        path, content = _sendable(wire, request, form)

        def send(number: int) -> Replying:
            exchange = _Exchange(self, path, content, number)
            try:
                response: httpx2.Response = yield Effect(exchange.post, exchange.post_async)
                request_id = request_id_of(response)
                body = Body(response, self.settings.max_reply_bytes)
                is_streamed = form.streamed and (yield from body.has_events())
                reply = None if is_streamed else (yield from body.read())
            except (self.server.error, httpx2.RequestError) as error:
                raise self._failure(error) from None
            if reply is None:
                exchange.begin_events(body)
                gathered = wire.gather(request, form, request_id)
                return (yield from self._read(exchange, gathered, heard))
            try:
                with _of_server():
                    return wire.read(reply, request, form, request_id)
            except (ProviderError, ValueError) as error:
                raise self._failure(error) from error.__cause__

        tokens = len(content) // _BYTES_OF_TOKEN
        return (yield from self.server.backoff.ask(self.settings, self.waited, send, tokens))

    def _read(self, exchange: _Exchange, gathered: Gathering, heard: Heard) -> Replying:
        """The pieces of a response of events, and the reply; once there is text, no other try.

        A reply that is whole is one, however its connection ends.
        """
        problem: Exception = ValueError("it has no end")
        try:
            yield from close_after(self._pieces(exchange, gathered, heard), exchange.closing())
            if exchange.is_done and not gathered.is_whole:
                gathered.end()
        except (self.server.error, httpx2.RequestError, ValueError, ProviderError) as error:
            problem = error
        except RecursionError as error:
            problem = ValueError("it is nested too deep")
            problem.__cause__ = error
        if gathered.is_whole:
            try:
                with _of_server():
                    return gathered.reply()
            except (ValueError, ProviderError) as error:
                problem = error
        failure = self._failure(problem)
        if not gathered.text:
            raise failure from problem.__cause__
        broken = failure.error if isinstance(failure, Unanswered) else failure
        if isinstance(broken, ProviderError):
            broken.text = gathered.text
            broken.message += f"; {counted(len(broken.text), 'character')} of the reply had come"
        raise broken from problem.__cause__

    def _pieces(self, exchange: _Exchange, gathered: Gathering, heard: Heard) -> Effects[None]:
        while not gathered.is_over and (chunk := (yield exchange.next_chunk())) is not None:
            with _of_server():
                piece = gathered.add(chunk)
            if piece and heard is not None:
                heard.append(piece)
                with self.server.backoff.aside(), exchange.resting():
                    yield piece
        if gathered.is_over:
            exchange.end()

    def _failure(self, error: Exception) -> Exception:
        """The error as ours; Unanswered where another try may do."""
        from runtime_support.providers._refusals import failure_of

        return failure_of(error, self.server, self.settings)


def _times_of(settings: Settings) -> float | httpx2.Timeout:
    """How long a request may take, and for how long nothing of its reply may come."""
    whole = min(settings.timeout, LONGEST)
    silence = settings.silence
    return whole if silence is None else httpx2.Timeout(whole, read=min(silence, whole))


class _Exchange:
    """One try: what is sent, and of a response of events what has come; here or in a loop."""

    def __init__(self, provider: OpenAIProvider, path: str, content: bytes, number: int) -> None:
        server = self._server = provider.server
        self._sent: dict[str, Any] = {
            "path": server.address + path,  # whole: joining costs a tenth of a call
            "cast_to": httpx2.Response,
            "content": content,
            "options": {
                "timeout": _times_of(provider.settings),
                "headers": {"X-Stainless-Retry-Count": str(number)} if number else {},
                "idempotency_key": "",  # the package makes one for each request, and sends none
            },
            "stream": True,  # the body is read here
        }
        self._client: Any = None
        self._chunks: Any = None
        self._body: Any = None

    @property
    def is_done(self) -> bool:
        """Whether the events have ended with `[DONE]`."""
        return self._body.is_done

    def resting(self) -> AbstractContextManager[None]:
        """Does not count the time of the block, in which a script works with a piece."""
        return self._body.resting()

    def end(self) -> None:
        """Notes that the last event has come: what is behind it is not waited for."""
        self._body.has_ended = True

    def post(self) -> httpx2.Response:
        """The response, of which the body is still to be read."""
        self._client, kind = self._server.client(), self._server.package.Stream
        return self._client.post(**self._sent, stream_cls=kind[object])

    async def post_async(self) -> httpx2.Response:
        """The same, awaited."""
        self._client, kind = await self._server.async_client(), self._server.package.AsyncStream
        return await self._client.post(**self._sent, stream_cls=kind[object])

    def begin_events(self, body: Body) -> None:
        """From now on the events of this body are its chunks."""
        self._body = body
        package = self._server.package
        is_here = isinstance(self._client, package.Client)
        kind = package.Stream if is_here else package.AsyncStream
        self._chunks = kind(cast_to=object, response=body.events(), client=self._client)

    def next_chunk(self) -> Effect:
        """The next chunk of a stream, None at its end."""
        chunks = self._chunks
        return Effect(lambda: next(chunks, None), lambda: anext(chunks, None))

    def closing(self) -> Effect:
        """Closes the stream."""
        return Effect(lambda: self._chunks.close(), lambda: self._chunks.close())


@contextmanager
def _of_server() -> Generator[None]:
    """Makes what goes wrong with a server's data in the block a ValueError: the data is damaged.

    Only functions of the data alone are called in it.
    """
    try:
        yield
    except (SaftError, ValueError):
        raise
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def suitable_wire(server: Server, request: Request) -> Wire:
    """The wire for a request where none was chosen: at OpenAI, the one that takes all of it."""
    if not server.is_openai:
        return wire_named("chat")
    from runtime_support.providers import _responses

    wants_both = bool(request.tools) and "effort" in request.options
    is_for_chat = _responses.is_for_chat(request) and not wants_both
    return wire_named("chat" if is_for_chat else "responses")


def wire_named(name: str) -> Wire:
    """The wire of this name, which is loaded when it is first asked for."""
    wire: Any = import_module(f"runtime_support.providers._{name}")
    return wire


# A server that has named a limit of the tokens of a reply; other numbers stand beside.
_OF_LIMIT = re.compile(r"max[_ ]?(completion_|output_|new_)?tokens|completion tokens|output tokens")


def _smaller_limit(wire: Wire, request: Request, words: str) -> int | None:
    """The most tokens that a server gives, where it has refused more and says so."""
    sent: int | None = request.options.get("max_tokens", wire.MOST_TOKENS)
    if sent is None or not _OF_LIMIT.search(words):
        return None
    numbers = (int(one.replace(",", "")) for one in re.findall(r"\d[\d,]{0,11}", words))
    return max((one for one in numbers if _LEAST_LIMIT <= one < sent), default=None)


def _limited(request: Request, most: int) -> Request:
    sent = min(request.options.get("max_tokens", most), most)
    return replace(request, options={**request.options, "max_tokens": sent})


def _has_tool_answers(request: Request) -> bool:
    return any(message["role"] == "tool" for message in request.messages)


def _sendable(wire: Wire, request: Request, form: RequestForm) -> tuple[str, bytes]:
    """The path, and the request as JSON; ProviderError when there is no text in its place."""
    path, body = wire.render(request, form)
    try:
        return path, _encoded(body).encode()
    except UnicodeEncodeError:
        pass
    # Models see again what they wrote, which reminders quote, and may have written half of a pair.
    messages = tuple(
        _mended(message) if _is_of_model(message, number > request.begins) else message
        for number, message in enumerate(request.messages)
    )
    others = [message for message in messages if message["role"] != "assistant"]
    given = [others, request.model, request.tools, request.schema, dict(request.options)]
    try:
        _encoded(given).encode()
    except UnicodeEncodeError as error:
        half = f"U+{ord(error.object[error.start]):04X}"
        raise ProviderError(
            f"the request cannot be sent: there is half of a surrogate pair ({half}) in it",
            hint="look for text that was cut inside of a character, or decoded wrongly",
        ) from None
    path, body = wire.render(replace(request, messages=messages), form)
    # What is left of halves is opaque and goes back as it was: the escape is JSON as well.
    return path, _encoded(body).encode(errors="backslashreplace")


def _is_of_model(message: Message, is_behind: bool) -> bool:
    """Whether a model wrote a message, or is reminded by it, `is_behind` the prompt."""
    return message["role"] == "assistant" or (is_behind and message["role"] == "user")


def _mended(message: Message) -> Message:
    """What a model wrote, or is told of it, without halves of surrogate pairs."""
    mended = {**message, "content": message["content"] and without_halves(message["content"])}
    if "tool_calls" in message:
        mended["tool_calls"] = [
            {**call, "function": {n: without_halves(text) for n, text in call["function"].items()}}
            for call in message["tool_calls"]
        ]
    return Said(mended, message.reply) if isinstance(message, Said) else mended
