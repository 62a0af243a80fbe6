"""Processes of a user, forked of one that has loaded what takes long, so that they start at once.

A command and a program begin as they do in a new process: nothing of the tests or of an earlier
command is there, and they end as Python ends. The loaded process is this file, run with a socket.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What takes long to load; no setting changes what these do when they are imported.
LOADED = (
    *("openai", "aiohttp", "httpx2", "httpcore2", "h11", "truststore", "pydantic", "typer"),
    *("mcp", "mcp.server.mcpserver", "uvicorn", "IPython.core.interactiveshell", "pytest"),
    *("runtime_support.testing", "saftc.cli.app", "saftc.cli.commands.run"),
)
# Compiling it loads the compiler, its grammar and what formats.
SCRIPT = """\
f go(word: string) -> string:
    ret $ Title of {word} $

print([go(word) for word in ["a"]])
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command has ended; the code is negative where a signal has ended it."""

    code: int
    out: str
    err: str


class Running:
    """A command that was started."""

    def __init__(self, process: int, status: int, written: tuple[Path, Path]) -> None:
        self.process = process
        self._status = status
        self.out, self.err = written

    def wait_for(self, text: str) -> str:
        """Returns what it has written on standard error when that has the text in it."""
        until = time.monotonic() + 60
        while text not in (said := self.err.read_text(encoding="utf-8")):
            assert time.monotonic() < until, f"it did not write {text!r}: {said}"
            time.sleep(0.01)
        return said

    def kill(self) -> None:
        """Ends it as a lost machine does, if it has not ended."""
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)

    def interrupt(self) -> None:
        """Ends it as Ctrl-C does."""
        os.kill(self.process, signal.SIGINT)

    def wait(self) -> Ended:
        """Returns when it has ended."""
        with os.fdopen(self._status) as file:
            code = int(file.read())
        return Ended(code, *(path.read_text(encoding="utf-8") for path in (self.out, self.err)))


class Spawner:
    """Starts processes; one is enough for all tests of a session."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            self._process = subprocess.Popen(
                command, env=environment, pass_fds=[theirs.fileno()], start_new_session=True
            )
        self._answers = self._socket.makefile()

    def start(
        self, words: list[str], folder: Path, environment: dict[str, str], stdin: str = ""
    ) -> Running:
        """Starts `saftc ...`, or a program of Python in `python FILE ...`, in the folder."""
        kept = Path(tempfile.mkdtemp(dir=folder.parent))
        given = kept / "in"
        given.write_text(stdin, encoding="utf-8")
        ours, theirs = os.pipe()
        files = [
            os.open(given, os.O_RDONLY),
            *(os.open(kept / name, os.O_WRONLY | os.O_CREAT) for name in ("out", "err")),
            theirs,
        ]
        job = {"words": words, "folder": str(folder), "environment": environment}
        socket.send_fds(self._socket, [json.dumps(job).encode()], files)
        for file in files:
            os.close(file)
        return Running(int(self._answers.readline()), ours, (kept / "out", kept / "err"))

    def close(self) -> None:
        """Ends the loaded process."""
        self._answers.close()
        self._socket.close()
        self._process.wait()


def _wait_for_jobs(control: socket.socket) -> list[str]:
    """The words of a job, in the process that is to do it; others do not return."""
    while True:
        data, files, _, _ = socket.recv_fds(control, 1 << 20, 4)
        if not data:
            os._exit(0)
        if os.fork():
            for file in files:
                os.close(file)
            os.wait()
            continue
        # The one that waits is left to the system, so that the next job need not wait.
        if os.fork():
            os._exit(0)
        process = os.fork()
        if process:
            control.send(b"%d\n" % process)
            for file in files[:3]:
                os.close(file)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            os.write(files[3], b"%d" % code)
            os._exit(0)
        os.close(files.pop())
        control.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        job = json.loads(data)
        os.environ.clear()
        os.environ.update(job["environment"])
        os.chdir(job["folder"])
        words: list[str] = job["words"]
        return words


def _main() -> None:
    import contextlib
    import gc
    import importlib

    for name in LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    importlib.import_module("saftc").compile_source(SCRIPT)
    gc.freeze()
    program, *words = _wait_for_jobs(socket.socket(fileno=int(sys.argv[1])))
    if program == "saftc":
        # As the command is: the folder of the command comes first, and not this one.
        sys.path[0] = str(ROOT)
        sys.argv = ["saftc", *words]
        importlib.import_module("saftc.__main__").main()
    else:
        sys.argv = words
        sys.path[0] = os.getcwd()
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    _main()
