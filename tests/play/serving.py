"""`saftc play` for tests: a process of its own, on a port that was free."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.compiler.support import EXAMPLES, ROOT


@dataclass(frozen=True, slots=True)
class Page:
    """Where it is."""

    port: int
    token: str
    folder: Path
    process: subprocess.Popen[str]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"http://{self.host}/#token={self.token}"


@contextmanager
def serving(file: Path, browser: str | None = None) -> Iterator[Page]:
    """Serves a script, whose prompts are answered from the recording of `hello`; a command may be
    the browser that shows it."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SAFT_REPLAY": str(EXAMPLES / "recordings" / "hello.jsonl"),
        "BROWSER": browser or "",
    }
    command = [sys.executable, "-m", "saftc", "play", str(file)]
    command += ["--no-open"] if browser is None else []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, cwd=file.parent
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#token=(\S+)", said)
        assert found is not None, said
        try:
            yield Page(int(found[1]), found[2], file.parent, process)
        finally:
            process.terminate()
            process.wait()
