"""The extension in the extension host of VS Code, which code-server has, in a browser.

SAFT_CODE_SERVER is the command of a code-server; `npm install` in editors/vscode has been done.
"""

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import ARGUMENTS, CHROMIUM, sync_api
from tests.compiler.support import ROOT

COMMAND = os.environ.get("SAFT_CODE_SERVER") or shutil.which("code-server")
EXTENSION = ROOT / "editors" / "vscode"
DATA = Path(__file__).parent / "data"
# In seconds; only a defect takes so long.
PATIENCE = 300

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.one_python,
    pytest.mark.skipif(COMMAND is None, reason="needs code-server (SAFT_CODE_SERVER=COMMAND)"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt install chromium)"),
    pytest.mark.skipif(
        not (EXTENSION / "node_modules").exists(), reason="needs npm install in editors/vscode"
    ),
]

SCRIPT = """people = ["Ann", "Bo"]
print(pepole)
answer = $ who is the eldest of {people}? $
print( answer )
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with a script, and with saftc in its environment."""
    folder = tmp_path / "ws"
    saftc = folder / ".venv" / "bin" / "saftc"
    saftc.parent.mkdir(parents=True)
    saftc.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m saftc "$@"\n')
    saftc.chmod(0o700)
    (folder / "a.saft").write_text(SCRIPT)
    return folder


@contextmanager
def code_server(tmp_path: Path, workspace: Path) -> Iterator[str]:
    """The address of a code-server with the extension, and one that looks on."""
    extensions = tmp_path / "extensions"
    own, looking = extensions / "saftc.saft-0.1.0", extensions / "saftc.look-0.0.1"
    subprocess.run(["npm", "run", "build"], cwd=EXTENSION, check=True, capture_output=True)
    own.mkdir(parents=True)
    for name in ("package.json", "language-configuration.json", "dist", "syntaxes"):
        (own / name).symlink_to(EXTENSION / name)
    looking.mkdir()
    shutil.copy(DATA / "look.js", looking / "look.js")
    manifest = {
        **{"name": "look", "publisher": "saftc", "version": "0.0.1", "main": "./look.js"},
        **{"engines": {"vscode": "^1.91.0"}, "activationEvents": ["onStartupFinished"]},
    }
    (looking / "package.json").write_text(json.dumps(manifest))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "SAFT_SCRIPT": str(workspace / "a.saft"),
        "SAFT_SEEN": str(tmp_path / "seen.json"),
        "SAFT_PROVIDER": "mock",
    }
    assert COMMAND is not None
    options = ["--auth=none", f"--bind-addr=127.0.0.1:{port}", "--disable-telemetry"]
    options += ["--disable-update-check", "--disable-workspace-trust"]
    options += [f"--extensions-dir={extensions}", f"--user-data-dir={tmp_path / 'user'}"]
    with (
        (tmp_path / "server.log").open("w") as log,
        subprocess.Popen(
            [*shlex.split(COMMAND), *options],
            env=environment,
            cwd=tmp_path,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        try:
            until(lambda: is_open(port), "code-server")
            yield f"http://127.0.0.1:{port}/?folder={workspace}"
        finally:
            process.terminate()
            process.wait()


def is_open(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def until(holds: Any, what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.1)


def shows_timeline(frame: Any) -> bool:
    """Whether a frame of the page has drawn the run, in the panel."""
    try:
        return "Timeline of a" in frame.evaluate("document.body.innerText")
    except sync_api.Error:  # it is being replaced
        return False


def test_a_session(tmp_path: Path, workspace: Path) -> None:
    seen_path = tmp_path / "seen.json"
    with code_server(tmp_path, workspace) as address, sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        browser.new_page(viewport={"width": 1400, "height": 900}).goto(address)
        until(seen_path.exists, "what the extension has seen")
        page = browser.contexts[0].pages[0]
        until(lambda: any(shows_timeline(one) for one in page.frames), "the page of the timeline")
        browser.close()
    seen = json.loads(seen_path.read_text(encoding="utf-8"))
    assert "error" not in seen, seen
    assert seen["language"] == "saft"
    assert seen["diagnostics"] == ["unknown name `pepole`\ndid you mean `people`?"]
    assert seen["fix"] == "Write `people`" and "print(people)" in seen["fixed"]
    assert "people: [string]" in seen["hover"] and seen["restarted"] == seen["hover"]
    assert {"people", "print"} <= set(seen["completions"])
    assert len(seen["lenses"]) == 2
    assert 'prompt("who is the eldest of {people}?"' in seen["python"]
    assert "who is the eldest of" in seen["request"]
    assert seen["formatted"].endswith("print(answer)\n")
    assert seen["exitCode"] == 0
    assert seen["typed"] == "$ Tell about {per}$"
    assert seen["panel"] == "Timeline"
    manifest = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    named = {one["command"] for one in manifest["contributes"]["commands"]}
    assert named <= set(seen["commands"])
