"""An OpenAI-compatible server on loopback that answers as it is told.

    with FakeServer() as server:
        server.answers = [completion("hello"), status(429, retry_after_ms=10), cut()]
        ... use server.url ...
        server.requests[0].body["messages"]

When the queue is empty, the last answer is given again, so that "for ever" needs no count.

When the server closes, the types of the package that speaks the wire judge all that it was sent: a
request that they refuse fails the test. `extra` names the options that a test has sent beside them.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.strict_history import refused_history
from tests.support.strict_types import mistakes


@dataclass(frozen=True)
class Answer:
    """What the server sends: `cut_after` bytes of the body, and then it hangs up.

    With `drip`, `body` is all that is sent, its head included, and then `drip` again and again.
    With `parts`, these are sent as they come, as chunks; `cut_after` is their number then.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    cut_after: int | None = None
    drip: bytes = b""
    pause: float = 0.02
    parts: Iterable[bytes] | None = None


@dataclass(frozen=True)
class Received:
    """A request as it came in, from a port of the client; names of headers are in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    port: int = 0
    content: bytes = b""


Responder = Callable[[dict[str, Any]], Answer]


def raw(body: bytes, **changes: Any) -> Answer:
    """A body as it is."""
    return Answer(body=body, headers={"content-type": "application/json"}, **changes)


def message(fields: dict[str, Any], finish: str | None = "stop", **changes: Any) -> Answer:
    """A chat completion with this message."""
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "fake-1",
        "choices": [{"index": 0, "finish_reason": finish, "message": fields}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
    return raw(json.dumps(document).encode(), **changes)


def completion(text: str | None, finish: str | None = "stop", **changes: Any) -> Answer:
    """A chat completion with this text."""
    return message({"role": "assistant", "content": text}, finish, **changes)


def calling(*calls: tuple[str, Any], **changes: Any) -> Answer:
    """A chat completion that calls tools; arguments that are text are sent as they are."""
    fields = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call for _, call in _calls(calls)],
    }
    return message(fields, "tool_calls", **changes)


def _calls(calls: Iterable[tuple[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, (name, arguments) in enumerate(calls):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": text}
        yield number, {"id": f"toolu_{number}", "type": "function", "function": function}


def status(
    code: int,
    said: str = "no",
    *,
    retry_after: str | None = None,
    retry_after_ms: int | None = None,
) -> Answer:
    """An error in OpenAI's form."""
    headers = {"content-type": "application/json", "x-request-id": "req-123"}
    if retry_after is not None:
        headers["retry-after"] = retry_after
    if retry_after_ms is not None:
        headers["retry-after-ms"] = str(retry_after_ms)
    body = json.dumps({"error": {"message": said, "type": "error", "code": None}}).encode()
    return Answer(code, body, headers)


def chunk(delta: dict[str, Any], finish: str | None = None, **fields: Any) -> bytes:
    """A chunk of a completion that is streamed, as an event."""
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "fake-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **fields,
    }
    return event(document)


def event(document: Any) -> bytes:
    """JSON data as a server-sent event."""
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def ending(finish: str = "stop") -> tuple[bytes, ...]:
    """The chunks that end a completion: why, its tokens, and that this is all."""
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return chunk({}, finish), event({"choices": [], "usage": usage}), b"data: [DONE]\n\n"


def streamed(*pieces: str, finish: str = "stop", **changes: Any) -> Answer:
    """A completion that comes in these pieces."""
    return events([*(chunk({"content": piece}) for piece in pieces), *ending(finish)], **changes)


def events(parts: Iterable[bytes], **changes: Any) -> Answer:
    """Events that are sent as they come."""
    return Answer(parts=parts, headers={"content-type": "text/event-stream"}, **changes)


def by_question(reply: Callable[[str], Any]) -> Responder:
    """Answers a chat by its last message: a text, calls as `[(name, arguments)]`, other data as
    JSON, or an answer; in pieces where these are asked for.
    """

    def respond(body: dict[str, Any]) -> Answer:
        content = body["messages"][-1]["content"]
        said = reply(content if isinstance(content, str) else content[0]["text"])
        if isinstance(said, Answer):
            return said
        calls = said if isinstance(said, list) and said and isinstance(said[0], tuple) else []
        text = said if isinstance(said, str) else json.dumps(said)
        if not body.get("stream"):
            return calling(*calls) if calls else completion(text)
        if not calls:
            return streamed(*re.findall(r"\S+\s*", text))
        return events(
            [
                chunk(
                    {"tool_calls": [{"index": number, **call} for number, call in _calls(calls)]}
                ),
                *ending("tool_calls"),
            ]
        )

    return respond


def cut(after: int = 20) -> Answer:
    """A completion of which the connection loses the end."""
    return completion("this never arrives", cut_after=after)


class FakeServer:
    """Answers from `answers`, in order; `responder` answers instead when it is set.

    With `tls` it speaks HTTPS.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.answers: list[Answer] = [completion("ok")]
        self.responder: Responder | None = None
        self.requests: list[Received] = []
        self.extra: set[str] = set()
        # Set when a client has closed the connection of an answer in parts before its end.
        self.was_left = threading.Event()
        self._lock = threading.Lock()
        self._has_received = threading.Condition(self._lock)
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one packet for head and body, else the client waits for the second
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                server._answer(self, self.rfile.read(length))

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            # Where more connect at once than may wait, the system has each try again after seconds.
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self._scheme = "http" if tls is None else "https"
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.daemon = True

    @property
    def url(self) -> str:
        """The base URL to configure."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}/v1"

    def wait_for_requests(self, count: int) -> None:
        """Returns when so many have come in."""
        with self._has_received:
            assert self._has_received.wait_for(lambda: len(self.requests) >= count, 60)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of the requests so far."""
        return [request.body for request in self.requests]

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        for request in self.requests if kind is None else ():
            wrong = mistakes(request.body, self.extra, wire=_wire_of(request.path))
            assert not wrong, f"the package of the wire would not send {request.body}: {wrong}"
            refused = refused_history(request.body, _wire_of(request.path))
            assert not refused, f"a server would refuse {request.body}: {refused}"

    def _next(self, body: dict[str, Any]) -> Answer:
        if self.responder is not None:
            return self.responder(body)
        with self._lock:
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def _send_parts(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        handler.wfile.flush()
        try:
            for number, part in enumerate(answer.parts or ()):
                if number == answer.cut_after:
                    handler.close_connection = True
                    handler.connection.shutdown(socket.SHUT_RDWR)
                    return
                if part == LEFT:
                    while not _is_closed(handler.connection):
                        time.sleep(0.005)
                    raise ConnectionError
                handler.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                handler.wfile.flush()
            handler.wfile.write(b"0\r\n\r\n")
        except OSError:
            handler.close_connection = True
            self.was_left.set()

    def _answer(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        body = json.loads(content)
        with self._lock:
            headers = {name.lower(): value for name, value in handler.headers.items()}
            port = handler.client_address[1]
            self.requests.append(Received(handler.path, headers, body, port, content))
            self._has_received.notify_all()
        answer = self._next(body)
        if answer.delay:
            time.sleep(answer.delay)
        if answer.drip:
            _drip(handler, answer)
            return
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        if answer.parts is not None:
            self._send_parts(handler, answer)
            return
        handler.send_header("content-length", str(len(answer.body)))
        handler.end_headers()
        handler.wfile.write(answer.body[: answer.cut_after])
        if answer.cut_after is not None:
            handler.wfile.flush()
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)


def _wire_of(path: str) -> str:
    """The wire that speaks at a path."""
    return next((wire for wire in ("responses", "messages") if path.endswith(f"/{wire}")), "chat")


LEFT = b"until the client has left"


def _is_closed(connection: socket.socket) -> bool:
    """Whether the client has closed the connection."""
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        connection.setblocking(True)


def _drip(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    handler.close_connection = True
    with suppress(OSError):  # until the client has had enough
        handler.wfile.write(answer.body)
        while True:
            handler.wfile.write(answer.drip)
            handler.wfile.flush()
            time.sleep(answer.pause)
