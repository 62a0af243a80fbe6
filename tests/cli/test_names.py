"""Names of scripts that would do harm as names of modules."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command

pytestmark = pytest.mark.one_python

Script = Callable[[str, str], Path]

HIDES = "hides the one "
NAMES = {
    "email": HIDES + "of Python's own library",
    "types": HIDES + "of Python's own library",
    "runtime_support": HIDES + "that compiled modules need",
    "openai": HIDES + "that compiled modules need",
    "2nd": "cannot be imported; rename the script: `_2nd`",
    "class": "cannot be imported; rename the script: `class_`",
    "code-review": "cannot be imported; rename the script: `code_review`",
    "my.script": "cannot be imported; rename the script: `my_script`",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["build", "check"])
def test_a_name_that_does_harm(saftc: Command, script: Script, command: str, name: str) -> None:
    script(f"{name}.saft", "x = 1\n")
    ended = saftc(command, f"{name}.saft")
    assert ended.code == 0
    words = f"saftc: warning: {name}.saft: a module called `{name}` {NAMES[name]}"
    assert ended.err.startswith(words)
    assert saftc("run", f"{name}.saft").err == ""


def test_the_name_of_the_module_counts(saftc: Command, script: Script) -> None:
    script("email.saft", "x = 1\n")
    script("mail.saft", "x = 1\n")
    assert "warning" not in saftc("build", "email.saft", "-o", "mail.py").err
    assert "warning" in saftc("build", "mail.saft", "-o", "email.py").err
    assert "warning" not in saftc("build", "email.saft", "-o", "-").err
    script("lib/types.saft", "x = 1\n")
    script("main.saft", "from lib.types import x\nprint(x)\n")
    assert "warning" not in saftc("build", "main.saft").err
    assert "warning" not in saftc("check", "main.saft", "lib/types.saft").err


@pytest.mark.parametrize("name", ["types", "json", "runtime_support"])
@pytest.mark.parametrize("command", ["build", "check", "run"])
def test_importing_such_a_script(
    saftc: Command, script: Script, folder: Path, command: str, name: str
) -> None:
    script(f"{name}.saft", "type Doc(x: int)\n")
    script("app.saft", f"from {name} import Doc\nprint(Doc(1))\n")
    ended = saftc(command, "app.saft")
    assert ended.code == 1
    words = f"error[SAFT0502]: Python finds its own `{name}` instead of `{name}.saft`"
    assert words in ended.out + ended.err
    assert "rename the script" in ended.out + ended.err
    assert not list(folder.glob("*.py"))


def test_a_module_that_hides_one_of_the_client_ends(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("email.saft", "print($ hi $)\n")
    assert saftc("build", "email.saft").code == 0
    done = subprocess.run(
        [sys.executable, "email.py"],
        cwd=folder,
        env={**os.environ, "OPENAI_API_KEY": "k", "SAFT_BASE_URL": "http://127.0.0.1:9/v1"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
