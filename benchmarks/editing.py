"""An edit in a script: what it costs to check that, and how long an editor waits to be told.

An editor changes a line near the middle, so that a name in it is unknown, and waits until it is
told of that name; then it changes a line and asks at once what another name is. Each server is
asked by its protocol, over its standard input and output, as an editor does.
"""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from threading import Timer
from typing import Any

from efforts import Effort
from figures import Figure
from generated import script
from peers import REPOSITORY, Peers
from workers import environment

from saftc.driver import compile_source
from saftc.lsp.session import Session
from saftc.source import Source

GROUP = "editing"
MOST_MILLISECONDS = 100
# Of processor time, for a script as long as people write them.
LINES_CHECKED, MOST_CHECKING = 300, 50
# What is changed, in the script and in the Python that it becomes.
_LINE = "    seen = 0\n"
# Only a server that does not answer takes so long, in seconds.
_PATIENCE = 120
_BINARIES = Path(sys.executable).parent


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """The median milliseconds of edits, one after the other."""
    lines = effort.lines_of_edits
    is_alone = len(peers.found) == 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.saft").write_text(script(lines), encoding="utf-8")
        (folder / "in.py").write_text(_python(lines), encoding="utf-8")
        paths = {"extraPaths": [str(REPOSITORY), str(REPOSITORY / "runtime_support")]}
        (folder / "pyrightconfig.json").write_text(json.dumps(paths), encoding="utf-8")
        told, shown = _edits([sys.executable, "-m", "saftc", "lsp"], folder / "in.saft", effort)
        others: dict[str, float] = {}
        hovers: dict[str, float] = {}
        for peer, words in () if is_alone else _SERVERS.items():
            found = shutil.which(words[0], path=str(_BINARIES))
            if found is None:
                peers.notes.append(f"{peer} was left out: it is not installed")
                continue
            others[peer], hovers[peer] = _edits([found, *words[1:]], folder / "in.py", effort)
    # It knows nothing of names.
    hovers.pop("ruff", None)
    what = f"{LINES_CHECKED} lines checked after an edit, processor time"
    yield Figure(GROUP, what, "ms", _checked(effort), at_most=MOST_CHECKING)
    what = f"an edit in {lines} lines, until it is told"
    yield Figure(GROUP, what, "ms", told, others, at_most=MOST_MILLISECONDS)
    what = f"an edit in {lines} lines, and a hover at once"
    yield Figure(GROUP, what, "ms", shown, hovers, at_most=MOST_MILLISECONDS)


def _checked(effort: Effort) -> float:
    """The milliseconds of processor time to check a script of which one line has changed."""
    with tempfile.TemporaryDirectory() as folder:
        path, session, took = str(Path(folder, "in.saft")), Session(), list[float]()
        before, line, after = script(LINES_CHECKED).partition(_LINE)
        for turn in range(effort.edits + 2):
            session.change(path, f"{before}{line.rstrip()}  // {turn}\n{after}")
            gc.disable()  # as the server has it until it rests
            started = time.process_time()
            assert not session.script(path).checked.has_errors
            took.append(1000 * (time.process_time() - started))
            gc.enable()
            session.rest()
    # The first ones warm it up.
    return median(took[2:])


_SERVERS = {"pyright": ["pyright-langserver", "--stdio"], "ruff": ["ruff", "server"]}


def _python(lines: int) -> str:
    """A module of so many lines, as saftc writes it."""
    fewer = lines
    while True:
        text = compile_source(Source.from_text("in.saft", script(fewer))).text
        assert text is not None
        missing = lines - text.count("\n")
        if missing >= 0:
            return text + "".join(f"# end {number}\n" for number in range(missing))
        fewer = min(fewer * lines // text.count("\n"), fewer - 1)


def _edits(command: Sequence[str], path: Path, effort: Effort) -> tuple[float, float]:
    """The milliseconds until a mistake is told, and until a hover is answered."""
    text = path.read_text(encoding="utf-8")
    places = [at for at in range(len(text)) if text.startswith(_LINE, at)]
    before = text[: places[len(places) // 2]]
    line = before.count("\n")
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=path.parent,
        env=environment(REPOSITORY),
    ) as process:
        # Whoever waits for it is told that it has ended.
        patience = Timer(_PATIENCE, process.kill)
        patience.daemon = True
        patience.start()
        server = _Server(process, path)
        server.open(text)
        told: list[float] = []
        shown: list[float] = []
        for turn in range(effort.edits + 2):
            name = f"missing{turn}"
            seconds = server.time(
                lambda name=name: server.change(line, f"    seen = {name}"),
                lambda message, name=name: (
                    message.get("method") == "textDocument/publishDiagnostics"
                    and name in json.dumps(message)
                ),
            )
            asked = server.time(
                lambda: (server.change(line, "    seen = 0 "), server.hover(line)),
                lambda message: message.get("id") == server.last and "method" not in message,
            )
            # The first ones warm it up.
            told += [seconds * 1000] if turn > 1 else []
            shown += [asked * 1000] if turn > 1 else []
        server.close()
        patience.cancel()
    return median(told), median(shown)


class _Server:
    """A language server, and the one document that is open in it."""

    def __init__(self, process: subprocess.Popen[bytes], path: Path) -> None:
        self.process = process
        self.uri = path.as_uri()
        self.language = "saft" if path.suffix == ".saft" else "python"
        self.version = self.last = 0
        can = {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}
        started = {"processId": None, "rootUri": path.parent.as_uri(), "capabilities": can}
        self.ask("initialize", started)
        self.wait(lambda message: message.get("id") == self.last and "method" not in message)
        self.tell("initialized", {})

    def open(self, text: str) -> None:
        """Opens the document, and waits until something is said of it."""
        document = {"uri": self.uri, "languageId": self.language, "version": 0, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        self.wait(lambda message: message.get("method") == "textDocument/publishDiagnostics")

    def change(self, line: int, text: str) -> None:
        """Replaces a line."""
        self.version += 1
        ends = ({"line": line, "character": 0}, {"line": line + 1, "character": 0})
        edit = {"range": {"start": ends[0], "end": ends[1]}, "text": f"{text}\n"}
        document = {"uri": self.uri, "version": self.version}
        changed = {"textDocument": document, "contentChanges": [edit]}
        self.tell("textDocument/didChange", changed)

    def hover(self, line: int) -> None:
        """Asks for the name on a line."""
        place = {"line": line, "character": 5}
        self.ask("textDocument/hover", {"textDocument": {"uri": self.uri}, "position": place})

    def close(self) -> None:
        """Has it end."""
        self.ask("shutdown", None)
        self.wait(lambda message: message.get("id") == self.last and "method" not in message)
        self.tell("exit", None)

    def time(self, do: Callable[[], Any], is_it: Callable[[Any], bool]) -> float:
        """The seconds until the message comes that something is followed by."""
        # An editor writes faster than this, but not while its last letter is being answered.
        time.sleep(0.1)
        started = time.perf_counter()
        do()
        self.wait(is_it)
        return time.perf_counter() - started

    def ask(self, method: str, params: Any) -> None:
        """Sends a request; its answer has the number `last`."""
        self.last += 1
        self._send({"id": self.last, "method": method, "params": params})

    def tell(self, method: str, params: Any) -> None:
        """Sends a notification."""
        self._send({"method": method, "params": params})

    def wait(self, is_it: Callable[[Any], bool]) -> None:
        """Reads up to a message; what the server itself asks for is nothing that we have."""
        while not is_it(message := self._receive()):
            if "id" in message and "method" in message:
                items = (message.get("params") or {}).get("items")
                result = None if items is None else [None] * len(items)
                self._send({"id": message["id"], "result": result})

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def _receive(self) -> Any:
        output = self.process.stdout
        assert output is not None
        size = 0
        while line := output.readline().strip():
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        if not size:
            raise SystemExit(f"{self.process.args} ended")
        return json.loads(output.read(size))
