"""Shows the first request of a prompt as its server would receive it, without sending it.

    preview_request(question, "triage.urgent", is_streamed=False).body   '{"model":"gpt-4o-mini"}'

The client builds the request as usual, and stops before it connects. Keys and passwords appear as
`***`. No API key needs to be set.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NoReturn

import httpx2

from runtime_support._core.question import Question, first_request, settings_where_known
from runtime_support._core.redaction import REDACTED, redacted
from runtime_support._core.templates import Unknown
from runtime_support.errors import ConfigError
from runtime_support.providers import PRESETS, provider_and_model
from runtime_support.providers._clients import client_over
from runtime_support.providers._openai import OpenAIProvider
from runtime_support.providers._server import OPENAI_ADDRESS, Server, package_of
from runtime_support.providers._wires import wire_named

HIDDEN = "***"
_SECRET_HEADERS = ("authorization", "x-api-key")
# Settings without which the server is not known.
_DECIDING = ("provider", "base_url", "api_key_env", "api")


@dataclass(frozen=True, slots=True)
class Sent:
    """The HTTP request that a prompt would send."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: str


def preview_request(question: Question, cache_key: str, *, is_streamed: bool) -> Sent:
    """Returns the first HTTP request of a prompt.

    Raises ConfigError if the prompt sends no request, or if only the running script knows the
    server.
    """
    for name in _DECIDING:
        if isinstance((question.options or {}).get(name), Unknown):
            raise ConfigError(f"where it is sent to is known when it runs, as `{name}` is")
    settings = settings_where_known(question.options)
    chosen, _ = provider_and_model(settings)
    preset = PRESETS.get(chosen)
    if preset is None:
        raise ConfigError(
            f"the provider {chosen} does not send to a server",
            setting="provider",
            hint="set SAFT_PROVIDER to one that does, such as openai",
        )
    model = preset.checked_model(chosen, settings)
    own = preset.address or os.environ.get("OPENAI_BASE_URL") or OPENAI_ADDRESS
    wire = settings.api or preset.wire
    server = _Unconnected(settings.base_url or own, HIDDEN, package=package_of(wire))
    spoken = None if wire is None else wire_named(wire)
    provider = OpenAIProvider(settings, server, model, spoken, cache_key)
    request = first_request(question)
    try:
        if is_streamed and (request.must_answer or not request.tools):
            list(provider.stream(request))
        else:
            provider.complete(request)
    except _AboutToConnect as stopped:
        return _shown(stopped.request)
    raise AssertionError("the client has a connection")


class _AboutToConnect(BaseException):
    """Raised by the transport instead of connecting; carries the HTTP request."""

    def __init__(self, request: httpx2.Request) -> None:
        super().__init__()
        self.request = request


class _Unconnected(Server):
    """A server whose client raises `_AboutToConnect` instead of connecting."""

    def _connected(self) -> Any:
        connections = client_over(_Stopping(), self.url)
        return self.package.Client(http_client=connections, **self.client_options())


class _Stopping(httpx2.BaseTransport):
    def handle_request(self, request: httpx2.Request) -> NoReturn:
        raise _AboutToConnect(request)


def _shown(request: httpx2.Request) -> Sent:
    headers = tuple((name, _hidden(name, one)) for name, one in request.headers.multi_items())
    url = redacted(str(request.url)).replace(REDACTED, HIDDEN)
    return Sent(request.method, url, headers, request.read().decode(errors="replace"))


def _hidden(name: str, value: str) -> str:
    """Returns the value of a header, with `***` in place of a key."""
    if name.lower() not in _SECRET_HEADERS:
        return value
    scheme, _, key = value.partition(" ")
    return f"{scheme} {HIDDEN}" if key else HIDDEN
