"""The extension for Visual Studio Code: its commands, and where it looks for saftc."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.one_python

FOLDER = Path(__file__).parents[2] / "editors" / "vscode"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
SOURCE = (FOLDER / "src" / "extension.js").read_text(encoding="utf-8")


def test_every_command_is_made_and_named() -> None:
    made = set(re.findall(r'"(saft\.\w+)":', SOURCE)) - {"saft.show"}
    commands = {command["command"] for command in MANIFEST["contributes"]["commands"]}
    assert made == commands
    used = {one["command"] for menu in MANIFEST["contributes"]["menus"].values() for one in menu}
    assert used <= commands


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, "/work/.venv/bin/saftc"),
        ({"folders": []}, "/env/bin/saftc"),
        ({"folders": [], "interpreter": None}, "/usr/bin/saftc"),
        ({"configured": ["/my/saftc", "lsp"]}, "/my/saftc"),
        ({"folders": [], "interpreter": None, "paths": ["/bin"]}, None),
    ],
)
def test_saftc_is_found(asked: dict[str, Any], found: str | None) -> None:
    everything = {
        "configured": None,
        "folders": ["/work"],
        "interpreter": "/env/bin/python",
        "paths": ["/usr/bin"],
        **asked,
    }
    there = ["/work/.venv/bin/saftc", "/env/bin/saftc", "/usr/bin/saftc"]
    program = (
        f"const {{ findSaftc }} = require({json.dumps(str(FOLDER / 'src' / 'saftc.js'))});"
        f"const there = {json.dumps(there)};"
        f"const found = findSaftc({json.dumps(everything)}, (file) => there.includes(file));"
        "console.log(JSON.stringify(found ?? null));"
    )
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == found
