"""Scripts in several folders: imports go below the root, and so do the modules."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command

Script = Callable[[str, str], Path]

DOUBLE = "f double(n: int) -> int:\n    ret n * 2\n"


def _python(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "using",
    [
        "from lib.util import double\nprint(double(4))\n",
        "from lib import util\nprint(util.double(4))\n",
        "from lib import util as tools\nprint(tools.double(4))\n",
        "import lib.util\nprint(lib.util.double(4))\n",
        "import lib.util as tools\nprint(tools.double(4))\n",
    ],
)
@pytest.mark.parametrize("package", [False, True])
def test_a_script_in_a_folder(
    saftc: Command, script: Script, folder: Path, using: str, package: bool
) -> None:
    script("lib/util.saft", DOUBLE)
    script("main.saft", using)
    if package:
        script("lib/__init__.py", "")
    assert saftc("check", "main.saft").code == 0
    for _ in range(2):
        ended = saftc("main.saft")
        assert (ended.code, ended.out) == (0, "8\n"), ended.err
    assert saftc("build", "main.saft").err.splitlines() == [
        "main.saft -> main.py",
        "lib/util.saft -> lib/util.py",
    ]
    assert _python(folder, "main.py") == "8\n"


def test_folders_below_the_out_dir(saftc: Command, script: Script, folder: Path) -> None:
    script("src/lib/util.saft", DOUBLE)
    script("src/main.saft", "from lib.util import double\nprint(double(4))\n")
    for names in (["src/main.saft"], ["src"], ["src/main.saft", "src/lib/util.saft"]):
        assert saftc("build", *names, "--out-dir", "out").code == 0
        assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py")) == [
            "out/lib/util.py",
            "out/main.py",
        ]
    assert _python(folder, "out/main.py") == "8\n"


def test_scripts_of_one_name_in_two_folders(saftc: Command, script: Script, folder: Path) -> None:
    script("a/util.saft", "x = 1\n")
    script("b/util.saft", "x = 2\n")
    script("main.saft", "from a.util import x\nimport b.util as other\nprint(x, other.x)\n")
    assert saftc("main.saft").out == "1 2\n"
    assert saftc("build", "main.saft").code == 0
    assert _python(folder, "main.py") == "1 2\n"


def test_imports_go_from_the_root(saftc: Command, script: Script, folder: Path) -> None:
    script("main.saft", "from lib.util import double\nprint(double(4))\n")
    script("lib/util.saft", "from lib.deep.base import two\n" + DOUBLE.replace("2", "two"))
    script("lib/deep/base.saft", "from shared import one\ntwo = one + 1\n")
    script("shared.saft", "one = 1\n")
    ended = saftc("main.saft")
    assert ended.out == "8\n", ended.err
    for names in (["main.saft"], ["lib/util.saft", "main.saft"], ["."]):
        assert saftc("check", *names).code == 0
        assert saftc("build", *names).code == 0
        assert saftc("build", *names, "--check").code == 0
    assert _python(folder, "main.py") == "8\n"
    assert not (folder / "util.py").exists()
    script("shared.saft", "one = 2\n")
    assert saftc("main.saft").out == "12\n"
    script("shared.saft", 'one = "one"\n')
    assert saftc("main.saft").code == 1
    script("shared.saft", "one = 1\n")
    script("lib/deep/base.saft", "two = missing\n")
    ended = saftc("main.saft")
    assert ended.code == 1 and "`util.saft` has errors" in ended.err


def test_a_folder_that_another_module_hides(saftc: Command, script: Script) -> None:
    script("lib/util.saft", DOUBLE)
    script("main.saft", "from lib.util import double\nprint(double(4))\n")
    script("lib.py", "")
    for command in ("check", "run", "build"):
        ended = saftc(command, "main.saft")
        assert ended.code == 1
        assert "error[SAFT0502]: Python finds `" in ended.out + ended.err
        assert "lib.py` instead of `lib/util.saft`" in ended.out + ended.err


def test_a_script_that_hides_a_folder(saftc: Command, script: Script) -> None:
    script("lib/util.saft", DOUBLE)
    script("lib.saft", "x = 1\n")
    script("main.saft", "from lib.util import double\nprint(double(4))\n")
    ended = saftc("check", "main.saft")
    assert ended.code == 1
    assert "Python finds `lib.saft` instead of `lib/util.saft`" in ended.out
    assert "rename the script or its folder" in ended.out


def test_a_broken_script_of_a_folder(saftc: Command, script: Script) -> None:
    script("lib/util.saft", "x = missing\n")
    script("main.saft", "from lib import util\nprint(util.x)\n")
    ended = saftc("check", "main.saft")
    assert ended.code == 1
    assert "error[SAFT0502]: `util.saft` has errors\n --> main.saft:1:17\n" in ended.out


@pytest.mark.parametrize(
    ("using", "tool"),
    [("from lib.util import double", "double"), ("from lib import util", "util.double")],
)
def test_prompts_with_tools_of_a_folder(
    saftc: Command, script: Script, using: str, tool: str
) -> None:
    script("lib/util.saft", "/// Twice as much.\n" + DOUBLE)
    script("main.saft", f"{using}\nprint($ use {{{tool}}} on 3 $)\n")
    ended = saftc("prompts", "main.saft")
    assert (ended.code, ended.err) == (0, "")
    assert "Twice as much." in ended.out


def test_a_module_of_a_folder_that_becomes_a_script(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("lib/util.py", "x: int = 1\n")
    script("main.saft", "from lib import util\nprint(util.x)\n")
    assert saftc("main.saft").out == "1\n"
    script("lib/util.saft", "x = 2\n")
    assert saftc("main.saft").out == "2\n"
    (folder / "lib/util.saft").unlink()
    assert saftc("main.saft").out == "1\n"


# Folders as arguments


@pytest.fixture
def tree(script: Script) -> None:
    script("src/a.saft", "x  =  1\n")
    script("src/inner/b.saft", "y  =  2\n")
    script("src/.hidden/c.saft", "z  =  \n")
    script("src/__pycache__/d.saft", "z  =  \n")
    script("src/other.txt", "")


@pytest.mark.usefixtures("tree")
def test_check_of_a_folder(saftc: Command, script: Script) -> None:
    ended = saftc("check", "src")
    assert (ended.code, ended.err) == (0, "2 files checked, nothing to report\n")
    script("src/inner/b.saft", "y = x\n")
    ended = saftc("check", "src")
    assert ended.code == 1 and "--> src/inner/b.saft:1:5" in ended.out


@pytest.mark.usefixtures("tree")
def test_fmt_of_a_folder(saftc: Command, folder: Path) -> None:
    assert saftc("fmt", "--check", ".").code == 1
    ended = saftc("fmt", ".")
    assert (ended.code, ended.err) == (0, "src/a.saft formatted\nsrc/inner/b.saft formatted\n")
    assert (folder / "src/a.saft").read_text() == "x = 1\n"


@pytest.mark.usefixtures("tree")
def test_build_of_a_folder(saftc: Command, folder: Path) -> None:
    ended = saftc("build", "src")
    assert ended.err == "src/a.saft -> src/a.py\nsrc/inner/b.saft -> src/inner/b.py\n"
    assert saftc("build", "src", "--out-dir", "out").code == 0
    assert (folder / "out/inner/b.py").exists()
    assert saftc("build", "src", "-o", "one.py").code == 2


@pytest.mark.parametrize("command", ["check", "fmt", "build"])
def test_a_folder_without_scripts(saftc: Command, folder: Path, command: str) -> None:
    (folder / "empty").mkdir()
    ended = saftc(command, "empty")
    assert (ended.code, ended.err) == (1, "saftc: there are no scripts in empty\n")


@pytest.mark.parametrize("command", ["run", "prompts"])
def test_a_folder_is_no_script(saftc: Command, folder: Path, command: str) -> None:
    (folder / "src").mkdir()
    ended = saftc(command, "src")
    assert (ended.code, ended.err) == (1, "saftc: src is a folder; name a script in it\n")
    ended = saftc(command, ".")
    assert (ended.code, ended.err) == (1, "saftc: . is a folder; name a script in it\n")
