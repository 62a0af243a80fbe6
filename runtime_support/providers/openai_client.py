"""The openai package's client, with what all requests of a provider have in common built once.

    client = ChatClient(api_key="...", base_url="https://api.openai.com/v1")
    client.send(b'{"model": ...}')          httpx2's response; errors are the package's

For each request the package makes a model of its options, joins the address, and merges and checks
the headers: a third of the time of a call. Here the package does so for the first request, and
later ones take all but the content over from it. The retries, with the requests that they send,
the time-outs and the connections stay the package's.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx2
import openai


@dataclass(frozen=True, slots=True)
class _First:
    """The first request: its options as the package made them, and what it sent."""

    options: Any
    url: httpx2.URL
    headers: httpx2.Headers
    extensions: dict[str, Any]


class ChatClient(openai.OpenAI):
    """A client for chat completions alone."""

    _first: _First | None = None

    @property
    def user_agent(self) -> str:
        """The package's own, which it makes of the name of the class."""
        return f"OpenAI/Python {openai.__version__}"

    def platform_headers(self) -> dict[str, str]:
        """None: what machine this is has no say in the answer."""
        return {}

    def send(self, content: bytes) -> httpx2.Response:
        """The response to a request in JSON; an openai.OpenAIError when there is none."""
        first = self._first
        if first is None:
            return self.post("/chat/completions", cast_to=httpx2.Response, content=content)
        options = first.options.model_copy(update={"content": content})
        return self.request(httpx2.Response, options)

    def _build_request(self, options: Any, *, retries_taken: int = 0) -> httpx2.Request:
        """Called by the package for each attempt."""
        first = self._first
        if first is None or retries_taken:
            request = super()._build_request(options, retries_taken=retries_taken)
            if not retries_taken:
                shared = options.model_copy(update={"content": None, "idempotency_key": None})
                headers = request.headers.copy()
                headers.pop("cookie", None)
                self._first = _First(shared, request.url, headers, request.extensions)
            return request
        content: bytes = options.content
        request = httpx2.Request(
            "POST",
            first.url,
            headers=first.headers,
            cookies=self._client.cookies,
            stream=httpx2.ByteStream(content),
            extensions=first.extensions,
        )
        request.headers["content-length"] = str(len(content))
        return request


@cache
def certificates() -> ssl.SSLContext:
    """Those that the environment trusts: a megabyte, and the same for every address."""
    return httpx2.create_ssl_context()
