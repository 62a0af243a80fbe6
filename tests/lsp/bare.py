"""A client that does nothing by itself: it sends what it is told to, well formed or not."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.compiler.support import ROOT


class Bare:
    """Messages to a server and from it, in order."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.asked = 0
        # What has come besides the answers that were waited for.
        self.news: list[dict[str, Any]] = []

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def notify(self, method: str, params: Any) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def begin(self, method: str, params: Any) -> int:
        """Asks; gives the id that the answer will have."""
        self.asked += 1
        message = {"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        return self.asked

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        return self.answer(self.begin(method, params))

    def answer(self, id_: Any) -> dict[str, Any]:
        """The answer with an id; what comes before it is kept."""
        while True:
            message = self.read()
            if "method" not in message and message.get("id") == id_:
                return message
            self.news.append(message)

    def until(self, method: str, uri: str, version: int | None = None) -> dict[str, Any]:
        """The parameters of the next notification or request about an address, and maybe about
        this version of its text.
        """
        while True:
            message = self.news.pop(0) if self.news else self.read()
            about = message.get("params", {})
            is_meant = message.get("method") == method and about.get("uri") == uri
            if is_meant and version in (None, about.get("version")):
                return about

    def read(self) -> dict[str, Any]:
        """The next message; what the server asks is answered by nothing."""
        output = self.process.stdout
        assert output is not None
        size = 0
        while line := output.readline().strip():
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        assert size, "the server has ended"
        message = json.loads(output.read(size))
        if "method" in message and "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": None}
            self.send(json.dumps(answer).encode())
        return message

    def open(self, name: str, text: str) -> None:
        item = {"uri": self.uri(name), "languageId": "saft", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, name: str, version: int, text: str) -> None:
        document = {"uri": self.uri(name), "version": version}
        params = {"textDocument": document, "contentChanges": [{"text": text}]}
        self.notify("textDocument/didChange", params)


@contextmanager
def connected(folder: Path, **workspace: Any) -> Iterator[Bare]:
    """A client of a server of its own, with these capabilities for its workspace."""
    with subprocess.Popen(
        [sys.executable, "-m", "saftc", "lsp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        made = Bare(process, folder)
        capabilities = {"workspace": workspace}
        made.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        made.notify("initialized", {})
        try:
            yield made
        finally:
            process.kill()
