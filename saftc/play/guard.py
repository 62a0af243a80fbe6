"""Refuses all requests that do not come from the page of `saftc play`, as requests can run code.

Any web page in a browser can send requests to this machine. If the web page's host name is rebound
to this machine (DNS rebinding), the web page can also read the answers. So each request must name
this host, must not come from another page, and needs the token in the address of the page of
`saftc play`. Only this page itself is served without the token. It has no secrets: the token is in
the part of the address after `#`, which browsers do not send. No cookies are used, as a browser
would add them to requests of other pages.
"""

import hmac
from collections.abc import Collection
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The page loads nothing from other hosts, and no other page can frame it.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Guard:
    """Checks each request and connection before `app` handles it.

    `host` is the page's host, such as `127.0.0.1:8000`. `GET` requests of the paths in `known` need
    no token.
    """

    def __init__(self, app: ASGIApp, host: str, token: str, known: Collection[str] = ()) -> None:
        self.app = app
        self.host = host
        self.token = token
        self.known = known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request to `app`, or refuses it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif self._may_come_in(scope):
            await self.app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            refusal = PlainTextResponse(
                "Open the address that `saftc play` has printed, with its token.\n", 403
            )
            await refusal(scope, receive, send)

    def _may_come_in(self, scope: Scope) -> bool:
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        # Browsers send the origin of a websocket, but not of every plain request.
        is_own = origins == [f"http://{self.host}"]
        is_unnamed = scope["type"] == "http" and not origins
        is_got = scope["type"] == "http" and scope["method"] == "GET"
        is_known = is_got and scope["path"] in self.known
        has_token = len(tokens) == 1 and hmac.compare_digest(
            tokens[0].encode(), self.token.encode()
        )
        return hosts == [self.host] and (is_own or is_unnamed) and (is_known or has_token)


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
