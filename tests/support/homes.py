"""A folder in which a user works, with the command, Python, notebooks, and a server with a model.

home.write("greet.saft", 'print($ greet {"Ada"} $)')
home.replies = lambda asked: "Hello!"
assert home.saftc("run", "greet.saft").out == "Hello!"
assert len(home.asked) == 1
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.fake_server import FakeServer, by_question
from tests.support.spawner import ROOT, Ended, Running, Spawner

# Runs the cells in a file, and ends with the first that fails.
_NOTEBOOK = """\
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance(colors="nocolor")
for cell in json.load(open("cells.json")):
    if not shell.run_cell(cell).success:
        sys.exit(1)
"""
_MCP_SERVER = ROOT / "tests" / "support" / "mcp_server.py"


class Home:
    """A user's folder; commands in it ask the server."""

    def __init__(self, folder: Path, spawner: Spawner, server: FakeServer) -> None:
        self.folder = folder
        self.server = server
        self._spawner = spawner
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder.parent),
            "SAFT_CACHE_DIR": str(folder.parent / "cache"),
            "XDG_CONFIG_HOME": str(folder.parent / "config"),
            "IPYTHONDIR": str(folder.parent / "ipython"),
            "PYTHONPATH": str(ROOT),
            "SAFT_PROVIDER": "openai",
            "SAFT_BASE_URL": server.url,
            "SAFT_MODEL": "fake",
            "SAFT_SERVE_TOKEN": "kV8wq2-Zr0p",
            "OPENAI_API_KEY": "sk-test-0123456789abcdefghij",
        }

    def write(self, name: str, text: str) -> Path:
        """Writes a file, and gives its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name: str) -> str:
        """The text of a file."""
        return (self.folder / name).read_text(encoding="utf-8")

    def rows(self, pattern: str) -> list[dict[str, Any]]:
        """The rows of all files of JSON lines of this name."""
        files = sorted(self.folder.glob(pattern))
        return [json.loads(line) for file in files for line in file.read_text().split("\n") if line]

    def reply(self, reply: Callable[[str], Any]) -> None:
        """Has the model answer by what it is asked."""
        self.server.responder = by_question(reply)

    @property
    def asked(self) -> list[str]:
        """The last message of each request, its first line, in order of time."""
        return [_first_line(body["messages"][-1]["content"]) for body in self.server.bodies]

    def start(self, *words: str, stdin: str = "", **environment: str) -> Running:
        """Starts `saftc ...` or `python FILE ...`."""
        together = {**self.environment, **environment}
        return self._spawner.start(list(words), self.folder, together, stdin)

    def saftc(self, *words: str, stdin: str = "", **environment: str) -> Ended:
        """Runs the command."""
        return self.start("saftc", *words, stdin=stdin, **environment).wait()

    def run(self, script: str, *words: str, **environment: str) -> Ended:
        """Runs a script, given as its text."""
        self.write("script.saft", script)
        return self.saftc("run", "script.saft", *words, **environment)

    def python(self, program: str, **environment: str) -> Ended:
        """Runs a program of Python, given as its text."""
        self.write("program.py", program)
        return self.start("python", "program.py", **environment).wait()

    def notebook(self, *cells: str, **environment: str) -> Ended:
        """Runs cells one after the other until one fails, in a notebook with the extension."""
        self.write("cells.json", json.dumps(["%load_ext saftc", *cells]))
        return self.python(_NOTEBOOK, **environment)

    def add_mcp_server(self, *arguments: str, name: str = "docs") -> None:
        """Configures a server of tools that the user trusts."""
        one = {"command": sys.executable, "args": ["-I", "-S", str(_MCP_SERVER), *arguments]}
        self.write(".mcp.json", json.dumps({"mcpServers": {name: one}}))
        trusting = self.folder.parent / "config" / "saft" / "config.toml"
        trusting.parent.mkdir(parents=True, exist_ok=True)
        trusting.write_text(f"trusted = [{json.dumps(str(self.folder))}]\n")


def _first_line(content: Any) -> str:
    text = content if isinstance(content, str) else content[0]["text"]
    return text.partition("\n")[0]
