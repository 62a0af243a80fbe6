"""The page of `saftc play`, and what it may ask for: a language server, runs, and saving.

    GET  /                the page, and beside it its parts
    GET  /state           the script with its version, and the examples
    GET  /timeline        the page of the last run's timeline
    WS   /language        the language server protocol
    WS   /run             {"run": text}, {"stop": true} or {"save": text}, answered by news; a page
                          names the version of the file that it knows, and no other is written over
"""

import asyncio
import hashlib
import json
import os
import secrets
import signal
import socket
import webbrowser
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from saftc.play.guard import Guard
from saftc.play.languages import speak
from saftc.play.runs import News, Run
from saftc.project.files import FileProblem, read_script, write_module

HOST = "127.0.0.1"
_HERE = Path(__file__).parent
_PARTS = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "editor.js": "text/javascript",
}
# The timeline draws itself, and neither sees this page nor sends anything.
_OF_TIMELINE = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)


class Playground:
    """One script that is written and run on a page."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.timeline: bytes | None = None

    def app(self, host: str, token: str) -> ASGIApp:
        """What answers the requests for a host that have the token."""
        parts = [Route(f"/{name}", self._part) for name in _PARTS]
        routes = [
            Route("/", self._page),
            Route("/state", self._state),
            Route("/timeline", self._timeline),
            *parts,
            WebSocketRoute("/language", speak),
            WebSocketRoute("/run", self._run),
        ]
        return Guard(Starlette(routes=routes), host, token)

    async def _page(self, request: Request) -> Response:
        text = (_HERE / "page.html").read_text(encoding="utf-8")
        # The guard has compared it, so it is one of ours.
        return HTMLResponse(text.replace("{{token}}", request.query_params["token"]))

    async def _part(self, request: Request) -> Response:
        name = request.url.path[1:]
        data = await asyncio.to_thread((_HERE / name).read_bytes)
        return Response(data, media_type=_PARTS[name])

    async def _state(self, _request: Request) -> Response:
        examples = {
            path.stem: path.read_text(encoding="utf-8")
            for path in sorted((_HERE / "examples").glob("*.saft"))
        }
        try:
            data = _data_of(self.path)
            text = None if data is None else _text_of(self.path, data)
        except FileProblem:
            # What is there is not on the page: it is asked before it is written over.
            data = text = None
        return JSONResponse(
            {
                "name": self.path.name,
                "uri": self.path.as_uri(),
                "text": examples["hello"] if text is None else text,
                "saved": text is not None,
                "version": _version_of(data),
                "examples": examples,
            }
        )

    async def _timeline(self, _request: Request) -> Response:
        if self.timeline is None:
            return PlainTextResponse("There is no timeline yet.\n", 404)
        return HTMLResponse(self.timeline, headers={"Content-Security-Policy": _OF_TIMELINE})

    async def _run(self, page: WebSocket) -> None:
        """Runs, stops and saves, one script at a time, until the page is closed."""
        await page.accept()
        known = page.query_params.get("version", "")
        run: Run | None = None
        task: asyncio.Task[None] | None = None
        try:
            while True:
                match await page.receive_json():
                    case {"run": str(text)} if task is None or task.done():
                        run = Run(text, self.path.parent)
                        task = asyncio.create_task(self._tell(page, run))
                    case {"stop": True} if run is not None:
                        run.stop()
                    case {"save": str(text)}:
                        news = self._save(text, known)
                        known = news.get("version", known)
                        await _send(page, news)
                    case _:
                        pass
        except WebSocketDisconnect:
            pass
        finally:
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _tell(self, page: WebSocket, run: Run) -> None:
        try:
            async for news in run.news():
                if news["kind"] == "ended":
                    self.timeline = run.timeline
                await _send(page, news)
        except OSError as problem:
            text = f"the run did not begin: {problem.strerror or problem}\n"
            await _send(page, {"kind": "output", "stream": "stderr", "text": text})
            how = {"code": 1, "seconds": 0.0, "stopped": False, "timeline": False}
            await _send(page, {"kind": "ended", **how})

    def _save(self, text: str, known: str) -> News:
        """Writes the script, unless somebody else has done so since its version was `known`."""
        try:
            data = _data_of(self.path)
            if (version := _version_of(data)) != known:
                problem = f"{self.path.name} has changed on disk; save again to write over it"
                return {"kind": "unsaved", "problem": problem, "version": version}
            # The page has lines, not what stands at their ends.
            first, _, _ = (data or b"").partition(b"\n")
            text = text.replace("\n", "\r\n") if first.endswith(b"\r") else text
            write_module(self.path.resolve(), text)
        except FileProblem as problem:
            return {"kind": "unsaved", "problem": str(problem)}
        except UnicodeEncodeError as problem:
            line = text.count("\n", 0, problem.start) + 1
            return {"kind": "unsaved", "problem": f"half of a character stands in line {line}"}
        return {"kind": "saved", "name": self.path.name, "version": _version_of(text.encode())}


async def _send(page: WebSocket, news: News) -> None:
    """Tells the page; as ASCII, since a reply may have half of a character in it."""
    await page.send_text(json.dumps(news))


def _data_of(path: Path) -> bytes | None:
    """What is at a path; None where there is nothing.

    Raises:
        FileProblem: It cannot be read.
    """
    return read_script(str(path)) if os.path.lexists(path) else None


def _text_of(path: Path, data: bytes) -> str:
    """The script that is at a path.

    Raises:
        FileProblem: It cannot be shown as it is.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FileProblem(f"{path} is not UTF-8, from byte {error.start} on") from None


def _version_of(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def play(path: Path, port: int, *, opens: bool) -> None:
    """Serves the page until Ctrl-C; shows it in the browser when that is wanted.

    Raises:
        FileProblem: The script cannot be shown, or has no folder to stand in.
        OSError: The port is taken.
    """
    if not os.path.isdir(path.absolute().parent):
        raise FileProblem(f"there is no folder {path.parent}")
    _text_of(path, _data_of(path) or b"")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        # Whoever is told the address may come at once.
        listening.listen()
        host = f"{HOST}:{listening.getsockname()[1]}"
        token = secrets.token_urlsafe(32)
        address = f"http://{host}/?token={token}"
        # The log of requests would have the token in it.
        settings: dict[str, Any] = {"log_level": "warning", "access_log": False, "lifespan": "off"}
        # Without more than it needs: what is open when it ends is ended.
        app = Playground(path).app(host, token)
        server = uvicorn.Server(
            uvicorn.Config(app, timeout_graceful_shutdown=2, server_header=False, **settings)
        )
        # As SIGINT and SIGTERM do, a terminal that is closed ends the run, too; unless under nohup.
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
            signal.signal(signal.SIGHUP, server.handle_exit)
        print(f"{path} on {address}\nCtrl-C ends it", flush=True)
        if opens:
            # One in the terminal ends only after it was answered.
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
