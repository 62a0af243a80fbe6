"""Any server that speaks OpenAI's chat completions, through the openai package.

    server = Server("http://127.0.0.1:8080/v1", key)            one address with one key
    OpenAIProvider(settings, server).complete(request)          its reply

The package's client sends, and gives its raw response: its typed models cost more than the rest of
a call together. Its exceptions are mapped to ours here, and nowhere else. It retries nothing: when
to ask again is for all threads together to know (`_pace`).
"""

from __future__ import annotations

import json
import os
import re
import threading
import weakref
from dataclasses import dataclass, field
from typing import Any

import httpx2
import openai

from runtime_support._config import Settings
from runtime_support._exchange import Message, Reply, Request
from runtime_support._jsontext import without_halves
from runtime_support._redaction import remember_secrets, shown
from runtime_support.errors import ConfigError, ProviderError, ProviderTimeout, ToolsUnsupported
from runtime_support.providers._completions import (
    NO_SCHEMA,
    NO_TOOLS,
    NOT_THIS_SCHEMA,
    SHOWN,
    Lacks,
    asked_wait,
    error_of,
    is_object_root,
    is_used_up,
    read_reply,
    response_format,
    words_of,
)
from runtime_support.providers._pace import Pace, Unanswered, Waited, patiently
from runtime_support.providers._transport import bounded_replies, transport_to

DEFAULT_MODEL = "gpt-4o-mini"
LONGEST = 1e6  # seconds; the system has a limit for what one can wait
OPENAI_HOST = "api.openai.com"
OPENAI_ADDRESS = f"https://{OPENAI_HOST}/v1"

# Parts of an address that are secrets when they have such a name.
_SECRET_PARAMETER = re.compile(r"key|token|secret|password|code|sig", re.IGNORECASE)

# What the machine is has no say in the answer; who pays is OpenAI's business alone.
_OF_THE_MACHINE = ("Arch", "Async", "Lang", "OS", "Package-Version", "Runtime", "Runtime-Version")
_OF_OPENAI = ("OpenAI-Organization", "OpenAI-Project")

_REFUSING = (400, 404, 422)
_BUSY = (429, 503, 529)
_BROKEN = (408, 409)

# About as many bytes of a request make a token.
_BYTES_OF_TOKEN = 4

_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class Server:
    """One address with one key: a client for all threads, and what is known of the server.

    A forked process makes itself a client anew: the connections are its parent's. The client is
    closed when the server is used no more, and when the process ends.
    """

    def __init__(
        self, address: str, key: str, *, setting: str = "base_url", is_embedded: bool = False
    ) -> None:
        url = _checked(address, setting)
        self.address = str(url.copy_with(userinfo=b"", query=None)).rstrip("/") + "/"
        self.key = key
        self.lacks = Lacks()
        self.is_openai = url.host == OPENAI_HOST
        self.is_embedded = is_embedded
        self._url = url
        self._closing: weakref.finalize[..., Server] | None = None
        self.forget_connections()
        secret_values = (v for k, v in url.params.multi_items() if _SECRET_PARAMETER.search(k))
        remember_secrets(key, *secret_values)
        remember_secrets(url.password, user=url.username)
        _all_servers.add(self)

    def forget_connections(self) -> None:
        """Leaves the connections to the process that this one was forked from."""
        if self._closing is not None:
            self._closing.detach()
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()
        self.pace = Pace()

    def client(self) -> openai.OpenAI:
        """The client, made at the first use."""
        if self._client is None:
            with self._lock:
                if self._client is None:
                    self._client = self._connected()
        return self._client

    def _connected(self) -> openai.OpenAI:
        url = self._url
        connections = httpx2.Client(
            transport=transport_to(url, is_embedded=self.is_embedded),
            # Beside the address and not in it, so that no log of the address has them.
            auth=(url.username, url.password) if url.userinfo else None,
            trust_env=False,  # the transport looks for proxies; `.netrc` has keys of other programs
            follow_redirects=True,  # those that the transport lets pass
            max_redirects=3,
        )
        self._closing = weakref.finalize(self, connections.close)
        left_out: list[str] = [f"X-Stainless-{name}" for name in _OF_THE_MACHINE]
        if not self.is_openai:
            left_out += _OF_OPENAI
        headers: Any = dict.fromkeys(left_out, openai.Omit())
        return openai.OpenAI(
            api_key=self.key,
            base_url=self.address,
            default_headers=headers,
            default_query=dict(url.params.multi_items()),
            http_client=connections,
            max_retries=0,
        )


_all_servers: weakref.WeakSet[Server] = weakref.WeakSet()


def _forget_all_connections() -> None:
    for server in tuple(_all_servers):
        server.forget_connections()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all_connections)


@dataclass(frozen=True, slots=True)
class OpenAIProvider:
    """A server with the settings of one prompt, and how long that has waited."""

    settings: Settings
    server: Server
    default_model: str = DEFAULT_MODEL
    waited: Waited = field(default_factory=Waited, compare=False, repr=False)

    @property
    def address(self) -> str:
        """Where the server is, without what is secret of it."""
        return self.server.address

    @property
    def limit_name(self) -> str:
        """What the server calls the longest reply."""
        return "max_completion_tokens" if self.server.is_openai else "max_tokens"

    def __reduce__(self) -> tuple[Any, ...]:
        # The key stays behind: another process finds its own in its environment.
        from runtime_support.providers import live_provider

        return live_provider, (self.settings,)

    def complete(self, request: Request) -> Reply:
        """The reply of the server; a ProviderError when there is none."""
        model = request.model or self.default_model
        lacks = self.server.lacks
        if request.tools and ("tools", model) in lacks:
            raise ToolsUnsupported(f"{model} at {self.address} takes no tools")
        enforced = request.schema is not None and (
            request.structured == "on" or not self._is_without_schema(model, request.schema)
        )
        try:
            return self._send(request, model, enforced)
        except _Rejected as rejected:
            error, words = rejected.error, rejected.words
        if request.tools and NO_TOOLS.search(words) and not _has_tool_answers(request):
            lacks.add("tools", model)
            raise ToolsUnsupported(error.message, status=error.status)
        if not enforced or request.structured == "on":
            raise error
        if NOT_THIS_SCHEMA.search(words):
            lacks.add("schema", model, json.dumps(request.schema))
        elif NO_SCHEMA.search(words):
            lacks.add("schema", model)
        else:
            raise error
        try:
            return self._send(request, model, enforced=False)
        except _Rejected as rejected:
            raise rejected.error from None

    def _is_without_schema(self, model: str, schema: dict[str, Any]) -> bool:
        lacks = self.server.lacks
        if not lacks:
            return False
        return ("schema", model) in lacks or ("schema", model, json.dumps(schema)) in lacks

    def _send(self, request: Request, model: str, enforced: bool) -> Reply:
        content = _sendable(self._body(request, model, enforced))
        is_wrapped = enforced and request.schema is not None and not is_object_root(request.schema)

        def send(number: int) -> Reply:
            response = self._post(content, number)
            request_id = response.headers.get("x-request-id")
            return read_reply(response.content, model, wrapped=is_wrapped, request_id=request_id)

        tokens = len(content) // _BYTES_OF_TOKEN
        return patiently(self.server.pace, self.settings, self.waited, send, tokens)

    def _post(self, content: bytes, number: int) -> httpx2.Response:
        """The response to a try; Unanswered where another one may do."""
        settings = self.settings
        try:
            with bounded_replies(settings.max_reply_bytes):
                return self.server.client().post(
                    f"{self.address}chat/completions",  # whole: joining costs a tenth of a call
                    cast_to=httpx2.Response,
                    content=content,
                    options={
                        "timeout": min(settings.timeout, LONGEST),
                        "headers": {"X-Stainless-Retry-Count": str(number)},
                    },
                )
        except openai.APIStatusError as error:
            raise _failure_of(error.response, self.address) from None
        except openai.APITimeoutError:
            late = ProviderTimeout(
                f"{self.address} did not answer within {settings.timeout} s",
                hint="raise `timeout`, or ask for less",
            )
            raise Unanswered(late, "broken") from None
        except openai.APIConnectionError as error:
            cause = shown(str(error.__cause__ or error), SHOWN)
            if isinstance(error.__cause__, httpx2.DecodingError | httpx2.RemoteProtocolError):
                said = f"the answer of {self.address} cannot be read: {cause}"
                broken = ProviderError(said, hint="ask again: it was cut off or damaged")
                raise Unanswered(broken, "broken") from None
            away = ProviderError(
                f"cannot reach {self.address}: {cause}", hint="check `base_url` and the network"
            )
            raise Unanswered(away, "away") from None
        except openai.OpenAIError as error:
            raise ProviderError(shown(str(error), SHOWN)) from None

    def _body(self, request: Request, model: str, enforced: bool) -> dict[str, Any]:
        options = dict(request.options)
        extra: dict[str, Any] = options.pop("extra", {})
        if "max_tokens" in options:
            options[self.limit_name] = options.pop("max_tokens")
        body: dict[str, Any] = {"model": model, "messages": list(request.messages), **options}
        if request.tools:
            body["tools"] = list(request.tools)
            if request.must_answer:
                body["tool_choice"] = "none"
        if enforced and request.schema is not None:
            body["response_format"] = response_format(request.schema, request.is_strict)
        return {**body, **extra}


class _Rejected(Exception):
    """The server refused a request that may do in another form."""

    def __init__(self, error: ProviderError, words: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.words = words


def configured_server(settings: Settings, own_address: str | None, key_variable: str) -> Server:
    """The server of these settings, else the one at its own address; ConfigError without a key."""
    variable = settings.api_key_env or key_variable
    key = os.environ.get(variable, "").strip()
    named = settings.base_url or (None if own_address else os.environ.get("OPENAI_BASE_URL"))
    # Servers of one's own often need no key; the client wants some.
    if not key and (settings.api_key_env or not named):
        raise ConfigError(f"the environment has no {variable}", setting="api_key_env")
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"what stands in {variable} is no key: it has characters that no header takes",
            setting="api_key_env",
        )
    setting = "base_url" if settings.base_url else "OPENAI_BASE_URL"
    return Server(named or own_address or OPENAI_ADDRESS, key or "none", setting=setting)


def _checked(address: str, setting: str) -> httpx2.URL:
    """The address as a URL; ConfigError when it is none."""
    try:
        url = httpx2.URL(address.strip())
    except (httpx2.InvalidURL, ValueError):
        url = httpx2.URL("")
    if url.scheme not in ("http", "https") or not url.host or "%" in url.host:
        # Without what may be a password.
        named = shown(re.sub(r"//.*@", "//", address).partition("?")[0], SHOWN)
        raise ConfigError(
            f"{setting}: {named} is no address of a server",
            setting="base_url",
            hint="it has the form http://127.0.0.1:8080/v1",
        )
    return url


def _failure_of(response: httpx2.Response, address: str) -> Exception:
    """What a response with the status of an error comes to: whether to ask again, and how."""
    error = error_of(response, address)
    status = response.status_code
    if status in _REFUSING:
        return _Rejected(error, words_of(response).lower())
    if is_used_up(response) or response.headers.get("x-should-retry") == "false":
        return error
    if status in _BUSY:
        return Unanswered(error, "busy", asked_wait(response))
    if status in _BROKEN or status >= 500:
        return Unanswered(error, "broken", asked_wait(response))
    return error


def _has_tool_answers(request: Request) -> bool:
    return any(message["role"] == "tool" for message in request.messages)


def _sendable(body: dict[str, Any]) -> bytes:
    """The request as JSON; ProviderError when there is no text in its place."""
    try:
        return _encoded(body).encode()
    except UnicodeEncodeError:
        pass
    # Models see again what they wrote, and they may have written half of a pair.
    body = {**body, "messages": [_mended(message) for message in body["messages"]]}
    try:
        return _encoded(body).encode()
    except UnicodeEncodeError as error:
        half = f"U+{ord(error.object[error.start]):04X}"
        raise ProviderError(
            f"the request cannot be sent: there is half of a surrogate pair ({half}) in it",
            hint="look for text that was cut inside of a character, or decoded wrongly",
        ) from None


def _mended(message: Message) -> Message:
    """What a model wrote, without halves of surrogate pairs; other messages as they are."""
    if message["role"] != "assistant":
        return message
    return json.loads(without_halves(json.dumps(message, ensure_ascii=False)))
