"""Sessions with MCP servers: opened at the first use, shared by all threads, closed at exit.

    session = session_of("docs")
    yield session.checked({"search"})            ConfigError if the tool differs from the lock
    data = yield session.call("search", {"query": "pipes"})

One event loop, in its own thread, runs all sessions. The package `mcp` implements the protocol, in
each revision that a server knows.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from runtime_support._core.redaction import redacted, redacted_data, shown
from runtime_support._core.settings import settings_to_show
from runtime_support._core.tasks.turns import check_cancelled
from runtime_support._core.tasks.waits import LOOK_SECONDS, Wait
from runtime_support._values.context import after_fork
from runtime_support._values.json_text import parse
from runtime_support._values.kinds import is_object
from runtime_support.errors import CheckError, ConfigError, Failed, SaftError
from runtime_support.mcp._config import check_trusted, config_of, project_folder
from runtime_support.mcp._connections import LONGEST_LINE, Connection, within, words
from runtime_support.mcp._lock import LockedServer, LockedTool, locked

if TYPE_CHECKING:
    from mcp_types import CallToolResult

T = TypeVar("T")

# A server may be started twice in a run: once more if it dies.
MOST_STARTS = 2
MOST_PAGES = 100
TWO_OF_ONE_NAME = "there are two tools of this name"
# How long the process waits at exit for servers to end.
_CLOSE_SECONDS = 6.0


class _ServerLoop:
    """The event loop of all sessions, which runs in its own thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="saft mcp", daemon=True).start()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Schedules a coroutine in the loop, from any thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)


_lock = threading.Lock()
_loop: _ServerLoop | None = None
_sessions: dict[tuple[str, str], Session] = {}


def session_of(server: str) -> Session:
    """The session with a server of the project; it connects at the first use."""
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
    """Lists the tools of these servers concurrently.

    Returns the tools or the error of each server.
    """
    sessions = {name: session_of(name) for name in names}
    asked = {name: one.loop.begin(one.listed()) for name, one in sessions.items()}
    found: dict[str, LockedServer | SaftError] = {}
    for name, future in asked.items():
        try:
            found[name] = _here(future)
        except SaftError as error:
            found[name] = error
    return found


def _here(future: Future[T]) -> T:
    """Waits in this thread for a coroutine that runs in the loop, and returns its result.

    Raises Cancelled if the work in this thread was cancelled.
    """
    try:
        while not wait([future], LOOK_SECONDS).done:
            check_cancelled()
        return future.result()
    except BaseException:
        future.cancel()
        raise


class Session:
    """A session with one server; its coroutines run in the event loop of all sessions."""

    def __init__(self, server: str, folder: str, loop: _ServerLoop) -> None:
        self.server = server
        self.folder = folder
        self.loop = loop
        self._open: Connection | None = None
        self._opening = asyncio.Lock()
        self._starts = 0
        self._tools: LockedServer | None = None
        self._agreed: set[str] = set()

    def checked(self, tools: Iterable[str]) -> Wait:
        """Returns a step that connects to the server and compares these tools with the lock.

        The step raises ConfigError if a tool differs.
        """
        return self._effect(lambda: self._check(tools))

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Wait:
        """Returns a step that calls a tool and returns the outcome as JSON data.

        The step raises Failed if there is no outcome.
        """
        return self._effect(lambda: self._call(tool, dict(arguments)))

    def _effect(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Wait:
        async def awaited() -> Any:
            return await asyncio.wrap_future(self.loop.begin(work()))

        return Wait(lambda: _here(self.loop.begin(work())), awaited)

    async def _check(self, tools: Iterable[str]) -> None:
        there = await self.listed()
        for tool in sorted({*tools} - self._agreed):
            self._compare(locked(self.folder, self.server).tools.get(tool), there, tool)
            self._agreed.add(tool)

    def _compare(self, known: LockedTool | None, there: LockedServer, tool: str) -> None:
        name, now = f"`{tool}` of the MCP server `{self.server}`", there.tools.get(tool)
        if known is not None and now is not None and known.digest == now.digest:
            return
        if known is None:
            raise ConfigError(
                f"{name} is not in the lock", setting="mcp", hint="`saftc mcp lock` adds it"
            )
        what = "has changed since it was locked"
        if now is None:
            reason = there.left_out.get(tool)
            what = f"cannot be used any more: {reason}" if reason else "no longer exists"
        raise ConfigError(f"{name} {what}", setting="mcp", hint="`saftc mcp lock` shows how")

    async def listed(self) -> LockedServer:
        """The tools of the server, requested once per connection and after each reported change."""
        open_ = await self._connected()
        if self._tools is None or open_.has_changed:
            open_.has_changed = False
            self._agreed.clear()
            self._tools = await self._ask(open_, "listed its tools", partial(_list_tools, open_))
        return self._tools

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Calls a tool; repeats the call once if the server did not start it."""
        for is_last in (False, True):
            await self._check([tool])
            open_ = await self._connected()
            try:
                return await self._ask(
                    open_, f"answered `{tool}`", partial(self._outcome, open_, tool, arguments)
                )
            except _CallNotStarted:
                if is_last:
                    raise
        raise AssertionError

    async def _outcome(
        self, open_: Connection, tool: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """Calls a tool and returns the outcome as JSON data, for journals and recordings.

        A result that does not fit the tool's output schema is an error of the tool, since the call
        was made.
        """
        import mcp_types as types

        parameters = types.CallToolRequestParams(name=tool, arguments=arguments)
        request = types.CallToolRequest(params=parameters)
        result = await open_.client.session.send_request(request, types.CallToolResult)
        content = [
            one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in result.content
        ]
        data: dict[str, Any] = {"is_error": bool(result.is_error), "content": content}
        known = None if self._tools is None else self._tools.tools.get(tool)
        if known is not None and known.output is not None and not result.is_error:
            problem = await _unlike_schema(open_, known, result)
            if problem is not None:
                told = f"`{tool}` of the MCP server `{self.server}` gave {problem}"
                data = {"is_error": True, "content": [{"type": "text", "text": told}]}
        if result.structured_content is not None:
            data["value"] = result.structured_content
        return open_.without_secrets(data)

    async def _ask(self, open_: Connection, what: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Awaits a request; raises Failed if the server rejects it or does not reply in time."""
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED
        from pydantic import ValidationError

        seconds = settings_to_show().timeout
        try:
            async with asyncio.timeout(seconds):
                return await ask()
        except TimeoutError:
            raise self._failure(f"has not {what} {within(seconds)}", open_.why()) from None
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await open_.close()
                if open_.was_unreachable:
                    raise _CallNotStarted(
                        self._failure(f"has not {what}", open_.why()).message
                    ) from None
                before = f"ended before it had {what}: that may or may not have taken effect"
                raise self._failure(before, open_.why() or words(error)) from None
            told = f"has not {what}: {words(error)}"
            if open_.has_expired:
                await open_.close()
                raise _CallNotStarted(self._failure(told).message) from None
            raise self._failure(told, open_.why()) from None
        except (ValidationError, RuntimeError) as error:
            told = f"has not {what} as the protocol has it: {words(error)}"
            raise self._failure(told) from None

    def _failure(self, what: str, why: str = "") -> Failed:
        return Failed(f"the MCP server `{self.server}` {what}" + (f"; {why}" if why else ""))

    async def _connected(self) -> Connection:
        async with self._opening:
            if self._open is not None and not self._open.has_ended:
                return self._open
            config = config_of(self.server, self.folder)
            check_trusted(config)
            if config.command and self._starts >= MOST_STARTS:
                why = self._open.why() if self._open is not None else ""
                raise self._failure(f"has ended {self._starts} times", why)
            self._starts += 1
            self._tools = None
            self._open = Connection(config)
            await self._open.open()
            return self._open

    async def close(self) -> None:
        """Closes the connection, and ends the server process if one was started for it."""
        if self._open is not None:
            await self._open.close()


class _CallNotStarted(Failed):
    """Raised if the server did not start a call.

    The server has forgotten the session, or could not be reached.
    """


async def _list_tools(open_: Connection) -> LockedServer:
    """All tools of a server, page by page; tools with the same name are left out."""
    found: dict[str, LockedTool] = {}
    open_.left_out.clear()
    cursor = None
    for _ in range(MOST_PAGES):
        page = await open_.client.list_tools(cursor=cursor, cache_mode="bypass")
        for one in page.tools:
            if one.name in found:
                open_.left_out[one.name] = TWO_OF_ONE_NAME
            found[one.name] = _locked_tool(one)
        cursor = page.next_cursor
        if not cursor:
            break
    about = open_.client.server_info
    title = "" if about is None else f"{about.name} {about.version}".strip()
    tools = {name: one for name, one in found.items() if name not in open_.left_out}
    return LockedServer(redacted(title), tools, redacted_data(dict(open_.left_out)))


async def _unlike_schema(open_: Connection, tool: LockedTool, result: CallToolResult) -> str | None:
    """A message that says how a result breaks the tool's output schema; None if it does not.

    If the result has only text, the text is parsed as JSON if it is. An invalid schema is not
    compared.
    """
    from jsonschema import SchemaError, ValidationError
    from referencing.exceptions import Unresolvable

    text = "\n".join(one.text for one in result.content if one.type == "text")
    if result.structured_content is None:
        value: Any = text
        with suppress(CheckError):
            value = parse(text)
        result.structured_content = {"result": value} if tool.is_wrapped else value
        if not is_object(result.structured_content):
            return f"a text where its schema has data: {text}"
    try:
        await open_.client.session.validate_tool_result(tool.name, result)
    except RuntimeError as error:
        if isinstance(error.__context__, SchemaError | Unresolvable):
            return None
        cause = error.__cause__
        if isinstance(cause, ValidationError):
            told = shown(cause.message, LONGEST_LINE)
            return f"what is not as its schema says: {cause.json_path}: {told}"
        return f"what cannot be compared with its schema: {words(error)}"
    return None


def _locked_tool(tool: Any) -> LockedTool:
    hints = tool.annotations
    told: Any = hints.model_dump(by_alias=True, exclude_none=True) if hints else {}
    parts = redacted_data([tool.description or "", tool.input_schema, tool.output_schema, told])
    return LockedTool(tool.name, *parts)


@atexit.register
def close_sessions() -> None:
    """Closes all sessions, and ends the servers that were started for them."""
    global _loop
    with _lock:
        loop, found = _loop, list(_sessions.values())
        _loop = None
        _sessions.clear()
    if loop is None:
        return
    closing = [loop.begin(one.close()) for one in found]
    wait(closing, _CLOSE_SECONDS)
    loop.loop.call_soon_threadsafe(loop.loop.stop)


def _forget() -> None:
    """Forgets the sessions in a forked process, which lacks the thread that runs them."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None
    _sessions.clear()


after_fork(_forget)
