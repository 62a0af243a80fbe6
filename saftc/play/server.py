"""Serves the page of `saftc play`: the script, a language server, runs, and saving.

    GET  /                the page; its scripts and styles have further paths
    GET  /state           the script with its version, the folder's other scripts, lessons, examples
    GET  /python          the compiled module of the script, until the language server is ready
    GET  /script?name=    another script of the folder, with its version
    GET  /who             the current provider and model, and the alternatives
    GET  /explain?code=   the page of a diagnostic
    GET  /timeline        the page of the last run's timeline, also during the run
    WS   /language        the language server protocol
    WS   /run             {"run": text}, {"stop": true}, {"input": line}, {"again": key} or
                          {"save": text}; the server answers with news (`runs`)

A message to `/run` runs or saves the page's script. If it has the key `name`, it runs or saves the
script with this name in the same folder. The page sends the `version` of the script that it has, so
that a file with another version is not overwritten. With `"new": true`, the script is saved only if
it does not exist. `choice` selects the provider and model. If `line` is null, the script's input
ends.
"""

import asyncio
import hashlib
import json
import os
import re
import secrets
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
from html import escape
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from saftc.diagnostics.explanations import UnknownCode
from saftc.diagnostics.explanations import page as page_of_code
from saftc.play.guard import Guard
from saftc.play.language_server import receive, speak
from saftc.play.runs import Choice, News, Run, ask_again, provider_and_model
from saftc.project.files import FileProblem, read_script, write_module
from saftc.project.finder import Roots

HOST = "127.0.0.1"
# `/python` compiles no longer scripts: then the page waits for the language server, or the module
# is in the cache.
MOST_LINES_AT_ONCE = 200
# The most other scripts in the list, and the most requests sent again at the same time.
MOST_FILES = 200
MOST_AT_ONCE = 8
# The examples shown on the page: those that need no other file.
EXAMPLES = {
    "First steps": (
        *("hello", "longest_name", "add_numbers", "prompt_text"),
        *("map_list", "conditions", "guess", "story"),
    ),
    "Types and several values": ("user_info", "classify", "colours", "typed_values"),
    "Tools": (
        *("tools", "choose_tool", "alias", "greet_pair"),
        *("objects_from_tools", "tool_history", "options"),
    ),
    "Programs": ("refund_plan",),
}
_HERE = Path(__file__).parent
_TOUR = _HERE / "tour"
_PARTS = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "editor.js": "text/javascript",
}
# The content security policy of the timeline: its script can neither access this page nor send
# requests.
_OF_TIMELINE = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)


_LEADING = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={{address}}">
<title>saftc play</title>
<p>This leads to <a href="{{address}}">saftc play</a>.
"""


class Playground:
    """The server's state: the script of the page, and its runs."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path.absolute()
        self.root = root
        self.timeline: bytes | None = None

    def app(self, host: str, token: str) -> ASGIApp:
        """The ASGI application. It serves only requests for `host`, which need the token."""
        parts = [Route(f"/{name}", self._part) for name in _PARTS]
        routes = [
            Route("/", self._page),
            Route("/state", self._state),
            Route("/python", self._python),
            Route("/script", self._script),
            Route("/who", self._who),
            Route("/explain", self._explain),
            Route("/timeline", self._timeline),
            *parts,
            WebSocketRoute("/language", speak),
            WebSocketRoute("/run", self._run),
        ]
        known = {"/", *(f"/{name}" for name in _PARTS)}
        return Guard(Starlette(routes=routes), host, token, known)

    async def _page(self, _request: Request) -> Response:
        return HTMLResponse((_HERE / "page.html").read_text(encoding="utf-8"))

    async def _part(self, request: Request) -> Response:
        name = request.url.path[1:]
        data = await asyncio.to_thread((_HERE / name).read_bytes)
        return Response(data, media_type=_PARTS[name])

    async def _state(self, _request: Request) -> Response:
        lessons, examples = map(_scripts_of, (_TOUR, _HERE / "examples"))
        try:
            data = _data_of(self.path)
            text = None if data is None else _text_of(self.path, data)
        except FileProblem:
            # The page does not know this text: saving asks the user before the file is overwritten.
            data = text = None
        others = (path.name for path in self.path.parent.glob("*.saft") if path != self.path)
        return JSONResponse(
            {
                "name": self.path.name,
                "uri": self.path.as_uri(),
                "text": _first_text() if text is None else text,
                "saved": text is not None,
                "version": _version_of(data),
                "files": sorted(filter(_is_name, others))[:MOST_FILES],
                "tour": lessons,
                # By the headings of groups, in the order in which to learn.
                "examples": {
                    group: {name: examples[name] for name in names}
                    for group, names in EXAMPLES.items()
                },
            }
        )

    async def _python(self, _request: Request) -> Response:
        text = await asyncio.to_thread(self._compiled)
        return PlainTextResponse(text) if text is not None else PlainTextResponse("", 404)

    def _compiled(self) -> str | None:
        from saftc.project.workspace import open_workspace

        try:
            workspace = open_workspace(root=self.root)
            if not os.path.lexists(self.path):
                workspace.reads.give(str(self.path), _first_text().encode())
            path = str(self.path)
            is_long = workspace.reads.data(path).count(b"\n") > MOST_LINES_AT_ONCE
            # The language server compiles the script now: do not compile it twice.
            compiled = None
            if not is_long or workspace.is_cached(path):
                compiled = workspace.compile(path).text
            workspace.close()
        except FileProblem:
            return None
        return compiled

    async def _script(self, request: Request) -> Response:
        name = request.query_params.get("name", "")
        path = self.path.with_name(name) if _is_name(name) else self.path
        try:
            data = _data_of(path) if path.name == name else None
            if data is None:
                raise FileProblem(f"there is no script {name} beside {self.path.name}")
            told = {"text": _text_of(path, data), "version": _version_of(data)}
        except FileProblem as problem:
            return JSONResponse({"problem": str(problem)})
        return JSONResponse({"name": name, "uri": path.as_uri(), **told})

    async def _who(self, _request: Request) -> Response:
        return JSONResponse(await provider_and_model(self.path.parent))

    async def _explain(self, request: Request) -> Response:
        try:
            return PlainTextResponse(page_of_code(request.query_params.get("code", "")))
        except UnknownCode as problem:
            return PlainTextResponse(f"{problem}\n", 404)

    async def _timeline(self, _request: Request) -> Response:
        if self.timeline is None:
            return PlainTextResponse("There is no timeline yet.\n", 404)
        return HTMLResponse(self.timeline, headers={"Content-Security-Policy": _OF_TIMELINE})

    async def _run(self, page: WebSocket) -> None:
        """Handles the page's messages until the page is closed. Only one script runs at a time."""
        await page.accept()
        known = {self.path.name: page.query_params.get("version", "")}
        run: Run | None = None
        task: asyncio.Task[None] | None = None
        asking: set[asyncio.Task[None]] = set()
        try:
            while True:
                message = _message(await receive(page))
                name = str(message.get("name", self.path.name))
                choice = _choice(message.get("choice"))
                match message:
                    case {"run": str(text)} if task is None or task.done():
                        run = Run(text, self.path.parent, name, self.root, choice)
                        task = asyncio.create_task(self._publish(page, run))
                    case {"stop": True} if run is not None:
                        run.stop()
                    case {"input": str() | None as line} if run is not None:
                        run.answer(line)
                    case {"again": int(key)} if run is not None and run.requests.get(key):
                        if len(asking) < MOST_AT_ONCE:
                            again = self._again(page, key, run.requests[key], choice)
                            asking.add(one := asyncio.create_task(again))
                            one.add_done_callback(asking.discard)
                    case {"save": str(text)}:
                        if message.get("new") is True:
                            known.pop(name, None)
                        elif "version" in message:
                            known[name] = str(message["version"])
                        news = self._save(name, text, known.get(name))
                        if "version" in news:
                            known[name] = news["version"]
                        await _send(page, news)
                    case _:
                        pass
        except WebSocketDisconnect:
            pass
        finally:
            under_way = [*asking, *([] if task is None else [task])]
            for one in under_way:
                one.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _again(
        self, page: WebSocket, key: int, request: dict[str, Any], choice: Choice | None
    ) -> None:
        async for news in ask_again(request, self.path.parent, choice):
            await _send(page, {"kind": "again", "key": key, **news})

    async def _publish(self, page: WebSocket, run: Run) -> None:
        try:
            async for news in run.news():
                if news["kind"] in ("timeline", "ended"):
                    self.timeline = run.timeline
                await _send(page, news)
        except (OSError, ExceptionGroup) as problem:
            if isinstance(problem, OSError):
                text = f"the run did not start: {problem.strerror or problem}\n"
            else:
                text = f"the run has ended: its events cannot be read: {problem.exceptions[0]}\n"
            await _send(page, {"kind": "output", "stream": "stderr", "text": text})
            how = {"code": 1, "seconds": 0.0, "start": 0.0, "stopped": False, "timeline": False}
            await _send(page, {"kind": "ended", **how})

    def _save(self, name: str, text: str, known: str | None) -> News:
        """Writes a script, unless the file has changed since the version `known`.

        If `known` is None, the file must not exist.
        """
        path = self.path.with_name(name) if _is_name(name) else self.path
        try:
            if path.name != name:
                raise FileProblem(f"`{name}` is not a name for a script; write one as in a.saft")
            data = _data_of(path)
            if known is None and data is not None:
                raise FileProblem(f"there is a file {name} already; choose another name")
            if (version := _version_of(data)) != (known or ""):
                problem = f"{name} has changed on disk; save again to write over it"
                return {"kind": "unsaved", "name": name, "problem": problem, "version": version}
            # The page sends LF line ends: keep those that the file has.
            first, _, _ = (data or b"").partition(b"\n")
            text = text.replace("\n", "\r\n") if first.endswith(b"\r") else text
            write_module(path.resolve(), text)
        except FileProblem as problem:
            return {"kind": "unsaved", "name": name, "problem": str(problem)}
        except UnicodeEncodeError as problem:
            line = text.count("\n", 0, problem.start) + 1
            said = f"line {line} has half of a character"
            return {"kind": "unsaved", "name": name, "problem": said}
        version = _version_of(text.encode())
        return {"kind": "saved", "name": name, "uri": path.as_uri(), "version": version}


def _message(text: str) -> dict[str, Any]:
    """Parses a message of the page. An invalid message becomes an empty dictionary."""
    try:
        message: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", message) if isinstance(message, dict) else {}


def _choice(said: object) -> Choice | None:
    """The provider that a message of the page chooses.

    If it chooses none, the result is None, and the environment's settings apply.
    """
    match said:
        case {"recording": str(lesson)} if lesson in _scripts_of(_TOUR):
            return Choice("mock", None, _TOUR / f"{lesson}.jsonl")
        case {"provider": str(provider), "model": str() | None as model}:
            return Choice(provider, model)
        case _:
            return None


def _scripts_of(folder: Path) -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.saft"))}


def _first_text() -> str:
    """The initial text of a script that does not exist yet."""
    return (_HERE / "examples" / "hello.saft").read_text(encoding="utf-8")


def _is_name(name: str) -> bool:
    """Whether `name` is a valid file name for a script in the folder of the page's script."""
    is_plain = Path(name).name == name and "\\" not in name and name.isprintable()
    return is_plain and name.endswith(".saft") and not name.startswith(".")


async def _send(page: WebSocket, news: News) -> None:
    """Sends news to the page as ASCII, as texts may contain surrogates that UTF-8 cannot encode."""
    await page.send_text(json.dumps(news))


def _data_of(path: Path) -> bytes | None:
    """The bytes of the file at a path, or None if there is no file.

    Raises:
        FileProblem: The file cannot be read.
    """
    return read_script(str(path)) if os.path.lexists(path) else None


def _text_of(path: Path, data: bytes) -> str:
    """The text of the script at a path.

    Raises:
        FileProblem: The data are not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FileProblem(f"{path} is not UTF-8, from byte {error.start} on") from None


def _version_of(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


# The part after `#` of a link to a shared script.
_SHARED = re.compile(r"script=[\w-]+&name=[\w.-]*", re.ASCII)


def play(path: Path, port: int, *, opens: bool, link: str | None = None) -> None:
    """Serves the page until Ctrl-C. If `opens` is true, shows the page in the browser.

    If there is a shared `link`, the page also opens the link's script, without running it.

    Raises:
        FileProblem: The link has no script; the script at `path` cannot be shown, or its folder is
            missing; or the project's settings cannot be read.
        OSError: The port is taken.
    """
    shared = "" if link is None else link.partition("#")[2]
    if link is not None and _SHARED.fullmatch(shared) is None:
        raise FileProblem("that link has no script in it: copy all of it, and put it in quotes")
    if not os.path.isdir(path.absolute().parent):
        raise FileProblem(f"there is no folder {path.parent}")
    _text_of(path, _data_of(path) or b"")
    root = Roots().of(str(path)).absolute()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        # From now on, connections are queued, so the browser may open the address.
        listening.listen()
        host = f"{HOST}:{listening.getsockname()[1]}"
        token = secrets.token_urlsafe(32)
        # Browsers do not send the part after `#`, so the token stays in the browser.
        address = f"http://{host}/#token={token}{shared and f'&{shared}'}"
        # No log of requests, as it would contain the token. No pings, as the page is local and may
        # be busy.
        settings: dict[str, Any] = {
            "log_level": "warning",
            "access_log": False,
            "lifespan": "off",
            "ws_ping_interval": None,
        }
        # Connections that are still open when the command ends are closed.
        app = Playground(path, root).app(host, token)
        server = uvicorn.Server(
            uvicorn.Config(app, timeout_graceful_shutdown=2, server_header=False, **settings)
        )
        print(f"{path} on {address}\nCtrl-C ends it", flush=True)
        leading = _leading_to(address) if opens else nullcontext()
        with _ended_by_signals(server), leading as file, suppress(KeyboardInterrupt):
            if file is not None:
                # In a thread: a text browser returns only after the server has answered.
                Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
            server.run(sockets=[listening])


@contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Generator[None]:
    """In the block, a signal ends the server. When all is closed, it also ends the process.

    The handlers raise no exception, as Python ignores exceptions in some callbacks. The server
    raises the signal again when it has ended.
    """
    ended_by: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        ended_by.append(number)
        server.handle_exit(number, frame)

    # Closing the terminal ends the server, too, unless nohup ignores the signal.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, server.handle_exit)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)
    yield
    if ended_by:
        sys.exit(128 + ended_by[0])


@contextmanager
def _leading_to(address: str) -> Generator[Path]:
    """Creates a temporary file that redirects a browser to the address, which has the token.

    Other users of the machine can see the browser's arguments, but not the contents of the file.
    """
    # `mkstemp` creates files that only their owner can read.
    number, name = tempfile.mkstemp(prefix="saftc-play-", suffix=".html")
    try:
        with open(number, "w", encoding="utf-8") as file:
            file.write(_LEADING.replace("{{address}}", escape(address)))
        yield Path(name)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)
