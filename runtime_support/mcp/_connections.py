"""A connection with an MCP server, through the client of the package `mcp`.

    connection = Connection(config)
    await connection.open()                       Failed or ConfigError if the server is not there
    await connection.client.list_tools()
    await connection.close()

The package starts and ends the process of a server that is given by a command, and speaks each
revision of the protocol that the server knows. This module adds what the package does not report:
unreadable messages, malformed tools in a list, and the HTTP status of error responses.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO

from runtime_support._core.redaction import REDACTED, shown, with_texts
from runtime_support._core.settings import settings_to_show
from runtime_support._values.kinds import is_list, is_object
from runtime_support._version import __version__
from runtime_support.errors import ConfigError, Failed, SaftError

if TYPE_CHECKING:
    import httpx2
    from mcp import Client
    from mcp_types import JSONRPCError
    from pydantic import ValidationError

    from runtime_support.mcp._config import ServerConfig

_LAST_LINES = 5
LONGEST_LINE = 300
_MOST_READ = 10_000


class ObservedStream:
    """A stream of messages that passes each message to `see` before the package reads it.

    The package reads what `see` returns. At the end of the stream, `see` gets None.
    """

    def __init__(self, stream: Any, see: Callable[[Any], Awaitable[Any]]) -> None:
        self._stream = stream
        self._see = see

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> ObservedStream:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stream.aclose()

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for item in self._stream:
            yield await self._see(item)
        await self._see(None)


class Connection:
    """A connection to a server: a client of the package `mcp`, opened and closed in one task.

    `left_out` maps the names of unusable tools to the reasons.
    """

    client: Client
    task: asyncio.Task[None]

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self.has_changed = self.has_expired = False
        self.left_out: dict[str, str] = {}
        self._opened = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._failure: BaseException | None = None
        self._refusal = self._said = ""
        self._errors: TextIO | None = None
        self._unreadable = 0

    @property
    def has_ended(self) -> bool:
        """True if the connection cannot send any more."""
        return self._closing.is_set() or self.task.done()

    @property
    def was_unreachable(self) -> bool:
        """True if the connection ended because the server could not be reached."""
        import httpx2

        never = (httpx2.ConnectError, httpx2.ConnectTimeout)
        return any(isinstance(one, never) for one in _leaves(self._failure))

    async def open(self) -> None:
        """Opens the connection; raises Failed or ConfigError if the server cannot be reached."""
        _check_installed()
        self.task = asyncio.create_task(self._run())
        name, seconds = self._config.name, settings_to_show().timeout
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._opened)
        except SaftError:
            raise
        except TimeoutError:
            self.task.cancel()
            why = f"has not started {within(seconds)}"
        except Exception as error:
            if any(isinstance(one, FileNotFoundError) for one in _leaves(error)):
                raise ConfigError(
                    f"{self._config.origin}: there is no program `{self._config.command}` for the "
                    f"MCP server `{name}`",
                    setting="mcp",
                    hint="install it, or correct `command`",
                ) from None
            why = f"cannot be reached: {words(error)}"
        else:
            return
        with suppress(BaseException):
            await self.task
        more = [part for part in self.why().split("; ") if part and not why.endswith(part)]
        raise Failed("; ".join([f"the MCP server `{name}` {why}", *more]))

    async def _run(self) -> None:
        from mcp import Client
        from mcp_types import Implementation

        about = Implementation(name="saft", version=__version__)
        try:
            with tempfile.TemporaryFile("a+", encoding="utf-8", errors="replace") as self._errors:
                try:
                    async with Client(self._streams(), client_info=about, cache=None) as client:
                        self.client = client
                        self._opened.set_result(None)
                        await self._closing.wait()
                finally:
                    self._said, self._errors = _last_lines(self._errors), None
        except BaseException as error:
            self._failure = error
            if not self._opened.done():
                self._opened.set_exception(error)
                self._opened.exception()  # in case nobody awaits the future any more

    async def close(self) -> None:
        """Closes the connection; a server process gets time to exit by itself."""
        self._closing.set()
        await asyncio.shield(self.task)

    def why(self) -> str:
        """The reason why the connection ended or the server does not reply, for a message."""
        said = self._said if self._errors is None else _last_lines(self._errors)
        failures = ", ".join(map(words, _leaves(self._failure))) if self._opened.done() else ""
        noise = f"{self._unreadable} of its lines are not JSON-RPC" if self._unreadable else ""
        parts = [failures, self._refusal, noise, f"it wrote: {said}" if said else ""]
        return "; ".join(filter(None, parts))

    def without_secrets(self, data: Any) -> Any:
        """The JSON data with the secrets of the server's settings redacted."""
        for secret in self._config.secrets:
            data = with_texts(data, lambda text, secret=secret: text.replace(secret, REDACTED))
        return data

    @asynccontextmanager
    async def _streams(self) -> AsyncGenerator[Any]:
        async with self._transport() as (reading, writing):
            yield ObservedStream(reading, self._see), writing

    def _transport(self) -> Any:
        from mcp import StdioServerParameters, stdio_client
        from mcp.client.sse import sse_client

        config = self._config
        if config.is_sse:
            return sse_client(config.url, headers=dict(config.headers))
        if not config.command:
            return self._over_http()
        started = StdioServerParameters(
            command=config.command,
            args=list(config.args),
            env=dict(config.env),
            cwd=os.path.join(config.folder, config.cwd),
            encoding_error_handler="replace",
        )
        assert self._errors is not None
        return stdio_client(started, errlog=self._errors)

    @asynccontextmanager
    async def _over_http(self) -> AsyncGenerator[Any]:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        limit = settings_to_show().max_reply_bytes
        client = httpx2.AsyncClient(
            # The size of a compressed body could not be limited while it is read.
            headers={**self._config.headers, "Accept-Encoding": "identity"},
            # The package's own time-outs: the stream of an idle server may be silent for minutes.
            timeout=httpx2.Timeout(30.0, read=300.0),
            event_hooks={"response": [self._note, partial(_bound, limit)]},
        )
        transport = streamable_http_client(
            self._config.url, http_client=client, max_sse_event_size=limit
        )
        async with client, transport as streams:
            yield streams

    async def _note(self, response: httpx2.Response) -> None:
        """Records the status of an error response, which the package does not report."""
        if response.request.method != "POST":
            return
        self._refusal = ""
        if response.is_error:
            self._refusal = f"it answered {response.status_code} {response.reason_phrase}".strip()
        # 404 means that the server has forgotten the session.
        is_in_session = "mcp-session-id" in response.request.headers
        self.has_expired |= is_in_session and response.status_code == 404

    async def _see(self, item: Any) -> Any:
        """Records changes and errors that a message reports, and returns the message.

        Malformed tools are removed from a tool list. An unreadable reply becomes an error, as the
        caller would wait for a reply until the time-out.
        """
        from mcp.shared.message import SessionMessage
        from pydantic import ValidationError

        if item is None:
            self._closing.set()
            return None
        if isinstance(item, ValidationError):
            self._unreadable += 1
            told = reply_to_unreadable(item)
            return item if told.id is None else SessionMessage(told)
        message: Any = getattr(item, "message", None)
        self.has_changed |= getattr(message, "method", "") == "notifications/tools/list_changed"
        result = getattr(message, "result", None)
        if is_object(result) and is_list(result.get("tools")):
            result["tools"] = [one for one in result["tools"] if self._is_usable(one, result)]
        return item

    def _is_usable(self, tool: Any, listed: dict[str, Any]) -> bool:
        from mcp_types import methods
        from pydantic import ValidationError

        try:
            methods.parse_server_result(
                "tools/list", self.client.protocol_version, {**listed, "tools": [tool]}
            )
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            if problem["loc"][:1] != ("tools",):
                return True  # the list itself is malformed
            name = tool.get("name") if is_object(tool) else None
            path = ".".join(map(str, problem["loc"][2:]))
            reason = f"{path}: {problem['msg']}" if path else problem["msg"]
            self.left_out[name if isinstance(name, str) else "?"] = reason
            return False
        return True


def reply_to_unreadable(error: ValidationError) -> JSONRPCError:
    """The error that replies to a line that is no message, or replaces it, with its `id` if any."""
    from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

    problems: Any = error.errors(include_url=False)
    code, told = INVALID_REQUEST, "this is not a request"
    line: Any = None
    if problems[0]["type"] == "json_invalid":
        code, told = PARSE_ERROR, problems[0]["msg"]
        with suppress(ValueError, RecursionError):  # Python reads more than the package
            line = json.loads(problems[0]["input"])
    else:
        # An invalid message lacks a field that all kinds require; the input of that error is the
        # message.
        line = next((one["input"] for one in problems if one["type"] == "missing"), None)
    id_ = line.get("id") if is_object(line) else None
    id_ = id_ if isinstance(id_, str | int) else None
    return JSONRPCError(jsonrpc="2.0", id=id_, error=ErrorData(code=code, message=told))


def within(seconds: float) -> str:
    """A phrase for messages: the time limit that has passed, and the setting that defines it."""
    return f"within {seconds:g} s, as the setting `timeout` says"


def words(error: BaseException) -> str:
    """The message of an error of the package `mcp`, in one line without secrets."""
    leaves = [one for one in _leaves(error) if not isinstance(one, asyncio.CancelledError)]
    return shown(", ".join(dict.fromkeys(map(_told, leaves))), LONGEST_LINE)


def _told(error: BaseException) -> str:
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return str(error) or type(error).__name__
    problem = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"


def _leaves(error: BaseException | None) -> list[BaseException]:
    """The errors in an exception group, at any depth.

    For an error that is not a group, the list has only this error.
    """
    inner: Any = getattr(error, "exceptions", None) if error is not None else None
    if inner:
        return [leaf for one in inner for leaf in _leaves(one)]
    return [] if error is None else [error]


def _last_lines(file: TextIO) -> str:
    """The last lines that a server wrote to standard error, joined for a message."""
    file.seek(max(0, file.seek(0, 2) - _MOST_READ))
    lines = [line.strip() for line in file if line.strip()]
    return " | ".join(shown(line, LONGEST_LINE) for line in lines[-_LAST_LINES:])


async def _bound(limit: int, response: httpx2.Response) -> None:
    """Limits the body of a response: reading it fails after `limit` bytes."""
    import httpx2

    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.StreamError("the response is compressed, which the client did not ask for")
    if "text/event-stream" in response.headers.get("content-type", ""):
        return  # the package limits each event of a stream
    body: Any = response.stream

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            length = 0
            async for data in body:
                length += len(data)
                if length > limit:
                    raise httpx2.StreamError(f"it has more than {limit:,} bytes")
                yield data

        async def aclose(self) -> None:
            await body.aclose()

    response.stream = Bounded()


def _check_installed() -> None:
    """Raises ConfigError if the package `mcp` is not installed."""
    try:
        import_module("mcp")
    except ModuleNotFoundError as error:
        if error.name != "mcp":
            raise
        raise ConfigError(
            "tools of MCP servers need the package mcp",
            setting="mcp",
            hint="pip install mcp",
        ) from None


# The package logs unreadable lines. This hides them in programs that configure no logging.
logging.getLogger("mcp").addHandler(logging.NullHandler())
