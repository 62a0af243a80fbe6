"""The server and the peers' processes, as the benchmark sees them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from peers import HERE, Peer


def environment(*paths: object) -> dict[str, str]:
    """The environment of a measured process: nothing of the caller's that slows it down."""
    slowing = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if name not in slowing}
    settings = {name: value for name, value in kept.items() if not name.startswith("SAFT_")}
    return {**settings, "PYTHONPATH": os.pathsep.join(map(str, paths))}


@contextmanager
def fake_server() -> Iterator[str]:
    """A running server; gives its address."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "fake_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None and server.stdin is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


class Worker:
    """A peer's process; see `worker.py`."""

    def __init__(self, peer: Peer, url: str) -> None:
        self.name = peer.name
        self.process = subprocess.Popen(
            [peer.python, str(HERE / "implementations" / peer.script), url],
            env=environment(HERE, *peer.paths),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.cases = self._line().split()

    def ask(self, *words: object) -> None:
        """Gives a command; `answer` waits for what it gives."""
        assert self.process.stdin is not None
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self) -> float:
        """The number that the oldest open command gave."""
        return float(self._line())

    def close(self) -> float:
        """Ends the process; gives its peak memory in MB."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        peak = float(self._line())
        self.process.wait()
        return peak / 1024

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended before its time")
        return line
