"""A chat-completions server on loopback, fast enough not to be the limit.

    python benchmarks/fake_server.py        prints its address, and serves until standard input ends

The first part of the path says what is answered, and how late: `/text/v1`, `/object/v1`,
`/tools/v1` (a call of `temperature`, and after its result a text), `/late/v1` (100 ms late),
`/after-N/v1` (N ms late; a triaged mail where a structure is asked for),
`/stream/v1` (five pieces of a text, each the time in nanoseconds at which it was sent, 5 ms apart),
`/pieces/v1` (1,000 pieces at once), `/busy/v1` and `/telling/v1` (100 ms late, to 100 requests a
second; others are refused with 429, by the second with a `Retry-After` of one second).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

LATENCY = 0.1
A_SECOND = 100
AT_ONCE = 10

TICKET = {"category": "bug", "urgent": False, "summary": "The log-in page is empty."}
PERSON = {"name": "Ada Lovelace", "age": 36, "tags": ["mathematics", "poetry"], "email": None}


def completion(message: dict[str, object], finish: str = "stop") -> bytes:
    """A whole response with this message."""
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake-1",
        "choices": [{"index": 0, "finish_reason": finish, "message": message, "logprobs": None}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 20, "total_tokens": 60},
    }
    body = json.dumps(document).encode()
    head = (
        f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "temperature", "arguments": '{"city": "Oslo"}'},
}
TEXT = completion({"role": "assistant", "content": "Oslo is cold and bright."})
TRIAGED = completion({"role": "assistant", "content": json.dumps(TICKET)})
OBJECT = completion({"role": "assistant", "content": json.dumps(PERSON)})
TOOLS = completion({"role": "assistant", "content": None, "tool_calls": [CALL]}, "tool_calls")


EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST = b"data: [DONE]\n\n"
PIECES = 1000
TIMED_PIECES = 5
BETWEEN = 0.005


def event(delta: dict[str, object], finish: str | None = None) -> bytes:
    """A chunk of a completion as a server-sent event."""
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake-1",
        "choices": [{"index": 0, "finish_reason": finish, "delta": delta, "logprobs": None}],
    }
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def chunk(data: bytes) -> bytes:
    """Data as a chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


STREAMED = b"".join(
    [EVENTS, *[chunk(event({"content": "word "}))] * PIECES, chunk(event({}, "stop") + LAST)]
) + chunk(b"")


def refusal(headers: str = "") -> bytes:
    """A whole response that says that there are too many requests."""
    body = b'{"error": {"message": "Rate limit reached", "type": "requests"}}'
    head = f"HTTP/1.1 429 Too Many Requests\r\n{headers}content-length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Bucket:
    """Lets `A_SECOND` requests through, and as many as `AT_ONCE` at the same time."""

    def __init__(self) -> None:
        self.tokens = float(AT_ONCE)
        self.filled = time.monotonic()

    def takes(self) -> bool:
        now = time.monotonic()
        self.tokens = min(AT_ONCE, self.tokens + (now - self.filled) * A_SECOND)
        self.filled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


BUSY = {
    b"/busy/": (Bucket(), refusal()),
    b"/telling/": (Bucket(), refusal("retry-after: 1\r\n")),
}


class Connection(asyncio.Protocol):
    """One client; requests come one after the other."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        head_end = self.received.find(b"\r\n\r\n")
        if head_end < 0:
            return
        head = self.received[:head_end].lower()
        at = head.find(b"content-length:")
        length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        end = head_end + 4 + length
        if len(self.received) < end:
            return
        body, self.received = self.received[head_end + 4 : end], self.received[end:]
        path = head.split(b" ", 2)[1]
        bucket, refused = BUSY.get(path[: path.find(b"/", 1) + 1], (None, b""))
        if bucket is not None and not bucket.takes():
            self.answer(refused)
        elif path.startswith(b"/stream/"):
            self.answer(EVENTS)
            self.send_piece(TIMED_PIECES)
        elif path.startswith(b"/after-"):
            seconds = int(path[len(b"/after-") : path.index(b"/", 1)]) / 1000
            answer = TRIAGED if b'"response_format"' in body else TEXT
            asyncio.get_running_loop().call_later(seconds, self.answer, answer)
        elif bucket is not None or path.startswith(b"/late/"):
            loop = asyncio.get_running_loop()
            loop.call_later(LATENCY, self.answer, TEXT)
        else:
            self.answer(_answer(path, body))

    def send_piece(self, left: int) -> None:
        """Sends the time, and the other pieces later."""
        if not left:
            self.answer(chunk(event({}, "stop") + LAST) + chunk(b""))
            return
        asyncio.get_running_loop().call_later(BETWEEN, self.send_piece, left - 1)
        self.answer(chunk(event({"content": f"{time.monotonic_ns()} "})))

    def answer(self, response: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(response)


def _answer(path: bytes, body: bytes) -> bytes:
    if path.startswith(b"/object/"):
        return OBJECT
    if path.startswith(b"/pieces/"):
        return STREAMED
    if path.startswith(b"/tools/") and b'"tool_call_id"' not in body:
        return TOOLS
    return TEXT


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=1024)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
