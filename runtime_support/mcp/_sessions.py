"""Sessions with MCP servers: opened when one is needed, shared by all threads, closed at exit.

    session = session_of("docs")
    yield session.checked({"search"})            ConfigError where the lock says otherwise
    data = yield session.call("search", {"query": "pipes"})

All sessions live in one event loop, in a thread of its own. What they say comes from the package
`mcp`, which speaks each revision of the protocol that a server knows.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import shutil
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from runtime_support._effects import LOOK_SECONDS, Effect
from runtime_support._order import check_cancelled
from runtime_support._process import after_fork
from runtime_support._redaction import REDACTED, redacted, redacted_data, shown
from runtime_support._settings import settings_to_show
from runtime_support._values import is_list, is_object
from runtime_support._version import __version__
from runtime_support.errors import ConfigError, Failed, SaftError
from runtime_support.mcp import _guard
from runtime_support.mcp._config import ServerConfig, check_trusted, config_of, project_folder
from runtime_support.mcp._lock import LockedServer, LockedTool, locked

if TYPE_CHECKING:
    import httpx2
    from mcp import Client
    from mcp.shared.message import SessionMessage
    from mcp_types import CallToolResult

T = TypeVar("T")

# A server that dies is started once more in a run.
MOST_STARTS = 2
MOST_PAGES = 100
_LAST_LINES = 5
_LONGEST_LINE = 300
_MOST_READ = 10_000
# We write this line behind what a server wrote to its errors, to know when all of it is read.
_END_OF_ERRORS = "\0\n"
_NOT_FOUND = 404
# At exit, nobody waits longer for servers to end.
_CLOSE_SECONDS = 6.0

# The messages that the call in this task has handed over to a server that is a command.
_sent: ContextVar[list[object]] = ContextVar("saft_mcp_sent")
# The statuses by which a server at an address has refused what the call in this task has sent.
_refused: ContextVar[list[int]] = ContextVar("saft_mcp_refused")


class _ServerLoop:
    """The event loop of all sessions, in its thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="saft mcp", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Has work be done in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)


_lock = threading.Lock()
_loop: _ServerLoop | None = None
_sessions: dict[tuple[str, str], Session] = {}


def session_of(server: str) -> Session:
    """The session with a server of the project; nothing is begun yet."""
    global _loop
    key = project_folder(), server
    with _lock:
        if _loop is None:
            _loop = _ServerLoop()
        found = _sessions.get(key)
        if found is None:
            found = _sessions[key] = Session(server, key[0], _loop)
        return found


def list_servers(names: Iterable[str]) -> dict[str, LockedServer | SaftError]:
    """What servers of the project have to offer now, or why they do not tell; all at once."""
    asked = {name: (one := session_of(name)).begin(one.listed()) for name in names}
    found: dict[str, LockedServer | SaftError] = {}
    for name, future in asked.items():
        try:
            found[name] = _here(future)
        except SaftError as error:
            found[name] = error
    return found


def _here(future: Future[T]) -> T:
    """What comes of work in the loop; this thread waits for it, and looks around meanwhile."""
    try:
        while not wait([future], LOOK_SECONDS).done:
            check_cancelled()
        return future.result()
    except BaseException:
        future.cancel()
        raise


class Session:
    """What is open with one server; all but `checked` and `call` runs in the loop."""

    def __init__(self, server: str, folder: str, loop: _ServerLoop) -> None:
        self.server = server
        self.folder = folder
        self._loop = loop
        self._open: _Connection | None = None
        self._opening = asyncio.Lock()
        self._starts = 0
        self._tools: LockedServer | None = None
        self._agreed: set[str] = set()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Has work be done in the loop of the session."""
        return self._loop.begin(work)

    def checked(self, tools: Iterable[str]) -> Effect:
        """Opens the session and compares these tools with the lock; ConfigError if one differs."""
        return self._effect(lambda: self._check(tools))

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Effect:
        """What a call of a tool gives, as the data of the protocol; Failed if there is nothing."""
        return self._effect(lambda: self._call(tool, dict(arguments)))

    def _effect(self, work: Any) -> Effect:
        async def awaited() -> Any:
            return await asyncio.wrap_future(self.begin(work()))

        return Effect(lambda: _here(self.begin(work())), awaited)

    async def _check(self, tools: Iterable[str]) -> None:
        wanted = set(tools)
        if wanted <= self._agreed and self._is_open:
            return
        known = locked(self.folder, self.server)
        there = await self.listed()
        for tool in sorted(wanted):
            self._compare(known.tools.get(tool), there.tools.get(tool), tool)
        self._agreed |= wanted

    def _compare(self, known: LockedTool | None, there: LockedTool | None, tool: str) -> None:
        name = f"`{tool}` of the MCP server `{self.server}`"
        if known is not None and there is not None and known.digest == there.digest:
            return
        if known is None:
            raise ConfigError(
                f"{name} is not in the lock", setting="mcp", hint="`saftc mcp lock` adds it"
            )
        what = "no longer exists" if there is None else "has changed since it was locked"
        raise ConfigError(f"{name} {what}", setting="mcp", hint="`saftc mcp lock` shows how")

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        await self._check([tool])
        sent: list[object] = []
        try:
            return await self._once(tool, arguments, sent)
        except _Ended as ended:
            if ended.was_sent:
                raise self._failure(
                    f"ended while `{tool}` ran: it may or may not have taken effect", ended.why
                ) from None
        await self._check([tool])  # it was not sent: the server is started once more
        try:
            return await self._once(tool, arguments, sent)
        except _Ended as ended:
            raise self._failure(f"ended before `{tool}` returned anything", ended.why) from None

    async def _once(
        self, tool: str, arguments: dict[str, Any], sent: list[object]
    ) -> dict[str, Any]:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
        from pydantic import ValidationError

        open_ = await self._connected()
        _sent.set(sent)
        statuses: list[int] = []
        _refused.set(statuses)
        timeout = settings_to_show().timeout
        try:
            # The package looks at the time of a server's answer; of all of the call, we do.
            async with asyncio.timeout(timeout + 1):
                result = await open_.client.call_tool(tool, arguments, read_timeout_seconds=timeout)
        except TimeoutError:
            raise self._late(tool, timeout, open_) from None
        except MCPError as error:
            # By this status a server says that it does not know the session any more, nor the call.
            has_expired = _NOT_FOUND in statuses and open_.has_session
            if error.code == CONNECTION_CLOSED or has_expired:
                await self._drop(open_)
                is_sent = not has_expired and open_.may_have_sent(sent)
                raise _Ended(is_sent, open_.why() or _words(error)) from None
            if error.code == REQUEST_TIMEOUT:
                raise self._late(tool, timeout, open_) from None
            raise self._failure(f"refused `{tool}`: {_words(error)}", open_.refusal) from None
        except (ValidationError, RuntimeError) as error:
            raise self._failure(
                f"gave for `{tool}` what is not as the protocol or its own schema has it: "
                f"{_words(error)}"
            ) from None
        return open_.without_secrets(_data_of(result))

    def _late(self, tool: str, seconds: float, open_: _Connection) -> Failed:
        return self._failure(f"has not answered `{tool}` within {seconds:g} s", open_.why())

    def _failure(self, what: str, why: str = "") -> Failed:
        return Failed(f"the MCP server `{self.server}` {what}" + (f"; {why}" if why else ""))

    # What is open

    @property
    def _is_open(self) -> bool:
        return self._open is not None and not self._open.has_changed

    async def listed(self) -> LockedServer:
        """The tools that the server has, asked for once in a connection."""
        for is_last in (False, True):
            open_ = await self._connected()
            if self._tools is not None and not open_.has_changed:
                return self._tools
            open_.has_changed = False
            self._agreed.clear()
            try:
                self._tools = await self._ask_for_tools(open_)
                return self._tools
            except _Ended as ended:
                if is_last:
                    raise self._failure("ended when asked for its tools", ended.why) from None
        raise AssertionError

    async def _ask_for_tools(self, open_: _Connection) -> LockedServer:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED
        from pydantic import ValidationError

        found: dict[str, LockedTool] = {}
        cursor = None
        try:
            async with asyncio.timeout(settings_to_show().timeout):
                for _ in range(MOST_PAGES):
                    page = await open_.client.list_tools(cursor=cursor, cache_mode="bypass")
                    found |= {one.name: _locked_tool(one) for one in page.tools}
                    cursor = page.next_cursor
                    if not cursor:
                        break
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await self._drop(open_)
                raise _Ended(False, open_.why()) from None
            raise self._failure(f"does not list its tools: {_words(error)}") from None
        except (TimeoutError, ValidationError) as error:
            raise self._failure(f"does not list its tools: {_words(error)}") from None
        about = open_.client.server_info
        title = "" if about is None else f"{about.name} {about.version}".strip()
        return LockedServer(redacted(title), found)

    async def _connected(self) -> _Connection:
        async with self._opening:
            if self._open is not None and not self._open.task.done():
                return self._open
            config = config_of(self.server, self.folder)
            check_trusted(config)
            _check_installed()
            if config.command and self._starts >= MOST_STARTS:
                why = self._open.why() if self._open is not None else ""
                raise self._failure(f"has ended {self._starts} times", why)
            self._starts += 1
            self._tools = None
            self._open = _Connection(config)
            await self._open.open()
            return self._open

    async def _drop(self, open_: _Connection) -> None:
        await open_.close()
        if self._open is open_:
            self._agreed.clear()

    async def close(self) -> None:
        """Ends the connection, and with it a server that was started for it."""
        if self._open is not None:
            await self._open.close()


class _Ended(Exception):
    """The connection ended; `was_sent`: the server may have begun with the call."""

    def __init__(self, was_sent: bool, why: str) -> None:
        super().__init__(why)
        self.was_sent = was_sent
        self.why = why


class _Connection:
    """One client of the package, in the task that opens and closes it."""

    client: Client
    task: asyncio.Task[None]

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self.has_changed = False
        self._opened = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._failure: BaseException | None = None
        self._said: deque[str] = deque(maxlen=_LAST_LINES)
        self._unreadable = 0
        self.has_session = False
        self.refusal = ""

    async def open(self) -> None:
        """Begins it; Failed or ConfigError when the server is not there."""
        self.task = asyncio.create_task(self._run())
        name, seconds = self._config.name, settings_to_show().timeout
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._opened)
        except SaftError:
            raise
        except TimeoutError:
            self.task.cancel()
            why = f"has not started within {seconds:g} s"
        except Exception as error:
            why = f"cannot be reached: {_words(error)}"
        else:
            return
        with suppress(BaseException):
            await self.task
        more = [part for part in self.why().split("; ") if part and not why.endswith(part)]
        raise Failed("; ".join([f"the MCP server `{name}` {why}", *more]))

    async def _run(self) -> None:
        try:
            from mcp import Client
            from mcp_types import Implementation

            async with Client(
                self._transport(),
                message_handler=self._hear,
                client_info=Implementation(name="saft", version=__version__),
                cache=None,
            ) as self.client:
                self._opened.set_result(None)
                await self._closing.wait()
        except BaseException as error:
            self._failure = error
            if not self._opened.done():
                self._opened.set_exception(error)
                self._opened.exception()  # looked at, should nobody wait any more

    async def close(self) -> None:
        """Ends it; a server that is a command gets the time to end by itself."""
        self._closing.set()
        await asyncio.shield(self.task)

    def may_have_sent(self, sent: list[object]) -> bool:
        """Whether the server may have begun with a call; these messages of it were taken over."""
        if self._config.command:
            return bool(sent)
        import httpx2

        never = (httpx2.ConnectError, httpx2.ConnectTimeout)
        return not any(isinstance(one, never) for one in _leaves(self._failure))

    def without_secrets(self, data: Any) -> Any:
        """JSON data without what the server was told and nobody else is to know."""
        if isinstance(data, str):
            for secret in self._config.secrets:
                data = data.replace(secret, REDACTED)
            return data
        if is_list(data):
            return [self.without_secrets(one) for one in data]
        if is_object(data):
            return {key: self.without_secrets(one) for key, one in data.items()}
        return data

    def why(self) -> str:
        """What is known of why it ended or does not answer, for a message."""
        said = " | ".join(shown(line, _LONGEST_LINE) for line in self._said)
        failures = ", ".join(map(_words, _leaves(self._failure))) if self._opened.done() else ""
        noise = f"{self._unreadable} of its lines are not JSON-RPC" if self._unreadable else ""
        parts = [failures, self.refusal, noise, f"it wrote: {said}" if said else ""]
        return "; ".join(filter(None, parts))

    async def _hear(self, message: Any) -> None:
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self.has_changed = True
        elif isinstance(message, Exception):
            self._unreadable += 1

    async def _note(self, response: httpx2.Response) -> None:
        """Keeps how a server at an address has answered; the package tells no status."""
        if response.request.method != "POST":
            return
        self.has_session = "mcp-session-id" in response.request.headers
        self.refusal = ""
        if response.is_error:
            self.refusal = f"it answered {response.status_code} {response.reason_phrase}".strip()
            _refused.get([]).append(response.status_code)

    def _transport(self) -> Any:
        return self._of_command() if self._config.command else self._of_address()

    @asynccontextmanager
    async def _of_command(self) -> AsyncGenerator[Any]:
        from mcp import StdioServerParameters, stdio_client
        from mcp.client.stdio import get_default_environment

        config = self._config
        folder = os.path.join(config.folder, config.cwd)
        path = (get_default_environment() | dict(config.env)).get("PATH")
        is_there = shutil.which(config.command, path=path) is not None
        if not is_there and not os.path.isfile(os.path.join(folder, config.command)):
            raise ConfigError(
                f"{config.origin}: there is no program `{config.command}` for the MCP server "
                f"`{config.name}`",
                setting="mcp",
                hint="install it, or correct `command`",
            )
        limit = settings_to_show().max_reply_bytes
        started = StdioServerParameters(
            command=sys.executable,
            args=["-I", "-S", _guard.__file__, str(limit), config.command, *config.args],
            env=dict(config.env),
            cwd=folder,
            encoding_error_handler="replace",
        )
        async with (
            _listening(self._said) as errors,
            stdio_client(started, errlog=errors) as (reading, writing),
        ):
            yield reading, _Writing(writing)

    @asynccontextmanager
    async def _of_address(self) -> AsyncGenerator[Any]:
        from mcp.client.sse import sse_client
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        config, limit = self._config, settings_to_show().max_reply_bytes
        headers = dict(config.headers)
        if config.is_sse:
            async with sse_client(config.url, headers=headers) as streams:
                yield streams
            return
        async with create_mcp_http_client(headers) as client:
            # What is compressed could not be bounded while it is read.
            client.headers["Accept-Encoding"] = "identity"
            client.event_hooks = {"response": [self._note, partial(_bound, limit)]}
            async with streamable_http_client(
                config.url, http_client=client, max_sse_event_size=limit
            ) as streams:
                yield streams


class _Writing:
    """What a client writes to, which notes what was taken over."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def send(self, item: SessionMessage, /) -> None:
        await self._stream.send(item)
        if getattr(item.message, "method", "") == "tools/call":
            _sent.get([]).append(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _Writing:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> bool | None:
        return await self._stream.__aexit__(*error)


@asynccontextmanager
async def _listening(said: deque[str]) -> AsyncGenerator[TextIO]:
    """What a server writes its errors to; the last lines are kept, and at the end all are read."""
    reading, writing = os.pipe()
    loop, has_read_all = asyncio.get_running_loop(), asyncio.Event()

    def listen() -> None:
        with open(reading, encoding="utf-8", errors="replace") as file:
            while line := file.readline(_MOST_READ):
                if line == _END_OF_ERRORS:
                    with suppress(RuntimeError):  # at exit, the loop may be closed
                        loop.call_soon_threadsafe(has_read_all.set)
                elif line.strip():
                    said.append(line.strip())

    threading.Thread(target=listen, name="saft mcp errors", daemon=True).start()
    with open(writing, "w") as file:
        try:
            yield file
        finally:
            # A process that the server left behind may keep the pipe open, so we mark the end.
            file.write(f"\n{_END_OF_ERRORS}")
            file.flush()
            await has_read_all.wait()


async def _bound(limit: int, response: httpx2.Response) -> None:
    """Has the body of a response end with an error when it is too long."""
    import httpx2

    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.StreamError("the response is compressed, which the client did not ask for")
    if "text/event-stream" in response.headers.get("content-type", ""):
        return  # its events are bounded one by one
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
    """ConfigError when the package that speaks the protocol is not there."""
    try:
        import_module("mcp")
    except ModuleNotFoundError as error:
        if error.name != "mcp":
            raise
        raise ConfigError(
            "tools of MCP servers need the package mcp",
            setting="mcp",
            hint='pip install "saftc[mcp]"',
        ) from None


def _leaves(error: BaseException | None) -> list[BaseException]:
    """The errors in a group, and in groups in it."""
    inner: Any = getattr(error, "exceptions", None) if error is not None else None
    if inner:
        return [leaf for one in inner for leaf in _leaves(one)]
    return [] if error is None else [error]


def _words(error: BaseException) -> str:
    """An error of the package in words, on one line and without secrets."""
    leaves = [one for one in _leaves(error) if not isinstance(one, asyncio.CancelledError)]
    told = [str(one) or type(one).__name__ for one in leaves]
    return shown(", ".join(dict.fromkeys(told)), _LONGEST_LINE)


def _locked_tool(tool: Any) -> LockedTool:
    annotations = tool.annotations
    told: Any = {}
    if annotations is not None:
        told = annotations.model_dump(by_alias=True, exclude_none=True)
    parts = redacted_data([tool.description or "", tool.input_schema, tool.output_schema, told])
    return LockedTool(tool.name, *parts)


def _data_of(result: CallToolResult) -> dict[str, Any]:
    """What a call gave, as JSON data: that is what journals and recordings keep."""
    return {
        "is_error": bool(result.is_error),
        "content": [
            one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in result.content
        ],
        **({} if result.structured_content is None else {"value": result.structured_content}),
    }


@atexit.register
def close_sessions() -> None:
    """Ends all sessions, and the servers that were started for them."""
    global _loop
    with _lock:
        loop, found = _loop, list(_sessions.values())
        _loop = None
        _sessions.clear()
    if loop is None:
        return
    closing = [loop.begin(one.close()) for one in found]
    with suppress(Exception):
        wait(closing, _CLOSE_SECONDS)
    loop.loop.call_soon_threadsafe(loop.loop.stop)


def _forget() -> None:
    """A forked process has not the thread of its parent's sessions, and opens its own."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None
    _sessions.clear()


after_fork(_forget)
# Where a program logs nothing, what the package says of lines that it cannot read stays with us.
logging.getLogger("mcp").addHandler(logging.NullHandler())
