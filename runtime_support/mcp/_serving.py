"""Serves the functions of a module as the tools of an MCP server.

    serve(module, "triage")                        over standard input and output
    serve(module, "triage", port=8080)             over HTTP on this machine, with a token
    serve(module, "triage", journal="journals")    with a journal for each call, in this folder

Each public top-level function with a docstring is a tool, with schemas from its annotations. Two
kinds of functions are not served: those that were generated for tools of other servers, and those
named in the module's `__guarded__`. Functions in `__guarded__` need approval when a model calls
them, or call such a function, and a client's call would not wait for it.

The client gets the message of a function's error unchanged. A running call reports progress after
each reply to a prompt, and a cancelled call sends no more prompts.

This module uses the low-level `Server` of the package `mcp`, because `MCPServer` makes its own
schemas and messages.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout, suppress
from importlib.abc import Loader
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain, count
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime_support._core.notes import note
from runtime_support._core.redaction import remember_secrets
from runtime_support._core.tasks.loops import call_function, finish_async
from runtime_support._core.tools import (
    Tool,
    bind_arguments,
    failure_text,
    function_tool,
    read_for,
    result_text,
)
from runtime_support._journal.hook import journaled
from runtime_support._schema import model as m
from runtime_support._schema.reading import schema_of
from runtime_support._schema.writing import json_schema
from runtime_support._values.context import current_context, set_context
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import counted, plain
from runtime_support._values.names import did_you_mean, function_name, listed
from runtime_support.errors import (
    CheckError,
    ConfigError,
    JournalError,
    JournalInUse,
    ReplayMiss,
    RunWaiting,
)
from runtime_support.events import ReplyReceived, add_listener
from runtime_support.mcp._calls import server_of
from runtime_support.mcp._connections import ObservedStream, reply_to_unreadable

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp_types import CallToolResult
    from starlette.types import ASGIApp, Receive, Scope, Send

_GUARDED = "a client's call would not wait for approval, as it or what it calls does in prompts"
_SUFFIX = ".journal"
_TOKEN_VARIABLE = "SAFT_SERVE_TOKEN"
# The characters that a header allows in a token (RFC 6750).
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


class _Offer(NamedTuple):
    """A function that is offered as a tool; `output` is the schema of its result, or None.

    If `is_wrapped`, the result is not an object, and is sent as the field `result` of an object.
    """

    tool: Tool
    output: dict[str, Any] | None
    is_wrapped: bool


class _ServedCall(NamedTuple):
    """A call that a client waits for, with the function that reports progress to the client."""

    loop: asyncio.AbstractEventLoop
    report: Callable[..., Any]
    answered: Iterator[int]


def serve(
    module: ModuleType, title: str, port: int | None = None, journal: str | None = None
) -> None:
    """Serves the functions of a module until the client disconnects or the process is interrupted.

    Raises CheckError if the module has no function to offer, and ConfigError if the port is not
    free or the folder for journals cannot be used.
    """
    # Without the variable, as each call is a run with its own journal.
    journal = os.environ.pop("SAFT_JOURNAL", None) if journal is None else journal
    offers = offered(module)
    if not offers:
        raise CheckError(
            f"{title} has no function to offer",
            hint="it offers top-level functions with a `///` comment, if no prompt guards them",
        )
    server = _server(title, offers, None if journal is None else CallJournals(journal))
    remove = add_listener(_report)
    try:
        if port is None:
            asyncio.run(_serve_stdio(server))
        else:
            _serve_http(server, title, port)
    finally:
        remove()


def load_module(name: str, path: str, loader: Loader) -> ModuleType:
    """Executes a module from its file.

    The name should be no identifier: then no import finds the module, and it hides no other one.
    What the module prints goes to standard error, as standard output belongs to the client.
    """
    spec = spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    # Types resolve the names in their annotations in the module that defines them.
    module = sys.modules[name] = module_from_spec(spec)
    with redirect_stdout(sys.stderr):
        loader.exec_module(module)
    return module


def offered(module: ModuleType) -> dict[str, _Offer]:
    """The functions of a module that are offered as tools, by their names in the script.

    Other documented functions are left out with a note that says why.
    """
    found: dict[str, _Offer] = {}
    guarded: Collection[str] = getattr(module, "__guarded__", ())
    for one in vars(module).values():
        is_own = isinstance(one, FunctionType) and one.__module__ == module.__name__
        if not is_own or one.__name__[0] == "_" or not one.__doc__ or server_of(one) is not None:
            continue
        name = function_name(one)
        try:
            if one.__name__ in guarded:
                raise CheckError(_GUARDED, hint="a script that imports it may offer it")
            found[name] = _offer(function_tool(name, one))
        except CheckError as problem:
            note(f"`{name}` is not offered: {problem}")
    return found


def _offer(tool: Tool) -> _Offer:
    returns = getattr(tool.function, "__annotations__", {}).get("return", Any)
    if isinstance(returns, str):
        from typing import get_type_hints

        returns = get_type_hints(tool.function, include_extras=True).get("return", Any)
    if returns is Any or returns is None:
        return _Offer(tool, None, False)
    try:
        schema = schema_of(returns)
        output = json_schema(schema)
    except CheckError:  # such as a table or a picture: the result is sent as text
        return _Offer(tool, None, False)
    if isinstance(m.resolved(schema), m.ObjectSchema | m.MapSchema):
        return _Offer(tool, output, False)
    definitions = output.pop("$defs", None)
    wrapped: dict[str, Any] = {
        "type": "object",
        "properties": {"result": output},
        "required": ["result"],
    }
    return _Offer(tool, wrapped | ({"$defs": definitions} if definitions else {}), True)


class CallJournals:
    """A folder with a journal for each call that is running or waits for approval.

    If the same call is made again, its journal is resumed. The journal of a finished call is moved
    into the folder `ended`.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            os.makedirs(os.path.join(path, "ended"), mode=0o700, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"cannot keep journals in {path}: {error.strerror or error}",
                setting="journal",
                hint="name a folder: each call has its own journal",
            ) from None

    @contextmanager
    def run(self, tool: str, arguments: str) -> Generator[None]:
        """Runs the block with a journal for this call of a tool."""
        path, journal = self._open(f"{tool}-{hashlib.sha256(arguments.encode()).hexdigest()[:16]}-")
        try:
            with journal:
                yield
        except JournalError:
            raise  # the outcome of a call is unknown, so the journal stays
        except Exception:
            self._move(path)
            raise
        self._move(path)

    def _open(self, start: str) -> tuple[str, ExitStack]:
        """The path and the opened block of the first journal that no other call is using.

        Unfinished journals of the same call are resumed first; there may be several. Another server
        may use the same folder.
        """
        left = sorted(
            one for one in os.listdir(self.path) if one.startswith(start) and one.endswith(_SUFFIX)
        )
        for name in chain(left, (f"{start}{number}{_SUFFIX}" for number in count(1))):
            path, block = os.path.join(self.path, name), ExitStack()
            with suppress(JournalInUse):
                block.enter_context(journaled(path))
                return path, block
        raise AssertionError

    def _move(self, path: str) -> None:
        if os.path.isfile(path):  # a call that was rejected has no journal
            ended = f"{time.time():.6f}-{os.path.basename(path)}"
            os.replace(path, os.path.join(self.path, "ended", ended))


def _server(title: str, offers: dict[str, _Offer], journals: CallJournals | None) -> Server[Any]:
    import mcp_types as types
    from mcp.server import Server

    tools = [_described(one) for one in offers.values()]

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        report = context.session.report_progress
        set_context(served=_ServedCall(asyncio.get_running_loop(), report, count(1)))
        given: Any = params.arguments or {}
        try:
            offer = offers.get(params.name)
            if offer is None:
                hint = did_you_mean(params.name, offers) or f"the tools are {listed(offers)}"
                raise CheckError(f"there is no tool `{params.name}`", hint=hint)
            sent = json.dumps(given, sort_keys=True)
            with nullcontext() if journals is None else journals.run(params.name, sent):
                given = read_for(offer.tool, json.dumps(given))
                bound = bind_arguments(offer.tool, given)
                value = await finish_async(call_function(bound, offer.tool.function))
            return _result(offer, value)
        except Exception as failure:  # of the script, a model, or the client's arguments
            # The message of the script, without the name of the Python exception.
            told = failure_text(failure, params.name, given)
            return _failed(told.removeprefix("AssertionError: "))
        except RunWaiting as waiting:
            path = "the approver" if journals is None else f"`saftc approve {journals.path}`"
            return _failed(f"{waiting}; when {path} has decided, make the same call again")
        except ReplayMiss as end:  # ends the call, not the server
            return _failed(str(end))
        except SystemExit as end:  # ends this call, not the server
            return _failed(f"it has ended itself with {end.code!r}")

    return Server(title, on_list_tools=list_tools, on_call_tool=call)


def _described(offer: _Offer) -> Any:
    import mcp_types as types

    told = offer.tool.description()["function"]
    return types.Tool(
        name=told["name"],
        description=told.get("description"),
        input_schema=told["parameters"],
        output_schema=offer.output,
    )


def _result(offer: _Offer, value: Any) -> CallToolResult:
    """The result of a function for the client; raises CheckError if it cannot be sent."""
    import mcp_types as types

    content: Any = [types.TextContent(type="text", text=result_text(value))]
    result = types.CallToolResult(content=content)
    if offer.output is not None:
        # Not parsed from the text: a string has no quotes there, and may look like a number.
        data = json.loads(to_json(plain(value)))
        result.structured_content = {"result": data} if offer.is_wrapped else data
    try:
        result.model_dump_json()
    except ValueError as error:  # half of a surrogate pair, or nested too deep
        raise CheckError(f"the call was made, but its result cannot be sent: {error}") from None
    return result


def _failed(text: str) -> CallToolResult:
    """The result of a failed call, with a message."""
    import mcp_types as types

    told = types.TextContent(type="text", text=text.encode(errors="replace").decode())
    return types.CallToolResult(content=[told], is_error=True)


def _report(event: Any) -> None:
    """Reports progress to the client of a call: one more prompt of the call has a reply."""
    call: _ServedCall | None = current_context().served
    if call is None or not isinstance(event, ReplyReceived) or event.reply is None:
        return
    number = next(call.answered)
    words = counted(number, "prompt is answered", "prompts are answered")
    told = call.report(number, None, words)
    asyncio.run_coroutine_threadsafe(told, call.loop)


async def _serve_stdio(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage
    from pydantic import ValidationError

    async with stdio_server() as (reading, writing):

        async def answer(item: Any) -> Any:
            """Replies to a message that the package cannot parse, and returns the message.

            Otherwise the client would wait for ever.
            """
            if isinstance(item, ValidationError):
                await writing.send(SessionMessage(reply_to_unreadable(item)))
            return item

        # Functions must not print into the stream of the protocol.
        with redirect_stdout(sys.stderr):
            options = server.create_initialization_options()
            stream: Any = ObservedStream(reading, answer)
            await server.run(stream, writing, options)


def _serve_http(server: Server[Any], title: str, port: int) -> None:
    import socket

    import uvicorn

    token, shown = _token()
    app = _Guard(server.streamable_http_app(host="127.0.0.1"), token)
    config = uvicorn.Config(app, log_level="warning")
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise ConfigError(f"cannot serve on port {port}: {error.strerror or error}") from None
    with listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        note(f"{title} is at {address}, for clients with its token; in their .mcp.json:")
        headers = {"Authorization": f"Bearer {shown}"}
        entry = {"mcpServers": {title: {"type": "http", "url": address, "headers": headers}}}
        if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
            print(json.dumps(entry, ensure_ascii=False), file=sys.stderr, flush=True)
        remember_secrets(token)
        with suppress(KeyboardInterrupt):  # raised once uvicorn has ended its calls
            uvicorn.Server(config).run(sockets=[listening])


def _token() -> tuple[str, str]:
    """The token of the server, and the text to write for it in `.mcp.json`.

    The text is the token itself, or a reference to the environment variable that has the token.
    """
    given = os.environ.get(_TOKEN_VARIABLE)
    if not given:
        made = secrets.token_urlsafe(32)
        return made, made
    if not _TOKEN.fullmatch(given):
        raise ConfigError(
            f"{_TOKEN_VARIABLE} has characters that a token cannot have",
            hint="it takes letters, digits and -._~+/; without it, each start makes a new token",
        )
    return given, f"${{{_TOKEN_VARIABLE}}}"


class _Guard:
    """Passes a request to `app` only if the request has the token.

    The token is needed because every user of the machine can reach the port.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.responses import JSONResponse

        app: ASGIApp = self._app
        if scope["type"] != "lifespan" and not self._has_token(scope):
            # An error of the protocol, whose message clients show.
            told = "send the token that the server has printed, as `Authorization: Bearer TOKEN`"
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": told}}
            app = JSONResponse(error, 401, {"WWW-Authenticate": "Bearer"})
        await app(scope, receive, send)

    def _has_token(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        return kind.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)
