"""Scripts in packages: the root that imports begin in, and imports by the place in a package."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command

Script = Callable[[str, str], Path]

SCHEMA = """\
type Sorted(label: string, why: string)

f text_of(sorted: Sorted) -> string:
    ret f"{sorted.label}: {sorted.why}"
"""
SORTING = """\
from .schema import Sorted, text_of
from . import schema
from shop.mail.schema import text_of as by_whole_name
from ..tax import rate

f main():
    sorted = Sorted("work", f"rate {rate}")
    print(text_of(sorted), schema.text_of(sorted), by_whole_name(sorted))
"""
SAID = "work: rate 7 work: rate 7 work: rate 7\n"
A = """\
from shop.schema import Sorted

print(Sorted("x", "y"))
"""
MADE = """\
from .schema import Sorted

f made() -> Sorted:
    ret Sorted("a", "b")
"""
AGAIN = """\
from .made import made

f again():
    x = made()
    ret x

print(again())
"""
FILES = {
    "src/shop/mail/schema.saft": SCHEMA,
    "src/shop/mail/sorting.saft": SORTING,
    "src/shop/tax.py": "rate: int = 7\n",
}
SETTINGS = '[tool.saft]\nroot = "src"\n'


def _python(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=["packages", "settings"])
def shop(request: pytest.FixtureRequest, script: Script) -> None:
    """A package: its root is known by its `__init__.py` files, or by the project's settings."""
    for path, text in FILES.items():
        script(path, text)
    if request.param == "settings":
        script("pyproject.toml", SETTINGS)
    else:
        script("src/shop/__init__.py", "")
        script("src/shop/mail/__init__.py", "")


@pytest.mark.usefixtures("shop")
def test_a_file_and_its_folder_are_checked_alike(
    saftc: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert saftc("check", "src").code == 0
    assert saftc("check", "src/shop/mail/sorting.saft").code == 0
    assert saftc("check", str(folder / "src/shop/mail/sorting.saft")).code == 0
    monkeypatch.chdir(folder / "src/shop/mail")
    assert saftc("check", "sorting.saft").code == 0
    assert saftc("check", ".").code == 0
    assert saftc("run", "sorting.saft").out == SAID


@pytest.mark.usefixtures("shop")
def test_modules_beside_their_scripts(saftc: Command, folder: Path) -> None:
    assert saftc("run", "src/shop/mail/sorting.saft").out == SAID
    assert saftc("build", "src", "--in-place").err == (
        "src/shop/mail/schema.saft -> src/shop/mail/schema.py\n"
        "src/shop/mail/sorting.saft -> src/shop/mail/sorting.py\n"
    )
    assert _python(folder / "src", "-m", "shop.mail.sorting") == SAID
    assert saftc("build", "src/shop/mail/sorting.saft", "--check").code == 0
    imports = (folder / "src/shop/mail/sorting.py").read_text().partition("\n\n\n")[0]
    assert imports == (
        "# Compiled by saftc from sorting.saft; edit that file instead.\n"
        "from shop.mail.schema import text_of as by_whole_name\n"
        "\n"
        "from ..tax import rate\n"
        "from . import schema\n"
        "from .schema import Sorted, text_of"
    )
    # What is compiled now stands in the place of the scripts, for Python and for `saftc run`.
    assert saftc("run", "src/shop/mail/sorting.saft").out == SAID


@pytest.mark.usefixtures("shop")
def test_modules_in_another_folder(saftc: Command, folder: Path) -> None:
    for names in (["src"], ["src/shop/mail"], ["src/shop/mail/sorting.saft"], ["."]):
        assert saftc("build", *names, "--out-dir", "out").code == 0
        found = sorted(str(one.relative_to(folder)) for one in (folder / "out").rglob("*.py"))
        assert found == ["out/shop/mail/schema.py", "out/shop/mail/sorting.py"]
    ended = saftc("build", "src/shop/mail/sorting.saft", "-o", "mail.py")
    assert ended.code == 0
    assert ended.err.splitlines()[-1] == "src/shop/mail/schema.saft -> schema.py"


def test_a_module_above_the_one_that_is_named(saftc: Command, script: Script, folder: Path) -> None:
    script("src/shop/__init__.py", "")
    script("src/shop/mail/__init__.py", "")
    script("src/shop/base.saft", "one = 1\n")
    script("src/shop/mail/x.saft", "from ..base import one\nprint(one)\n")
    ended = saftc("build", "src/shop/mail/x.saft", "-o", "x.py")
    assert ended.code == 1
    outside = "src/shop/base.saft would be written outside of the folder of x.py"
    assert f"{outside}: use --out-dir, and not -o" in ended.err
    (folder / "mail").mkdir()
    assert saftc("build", "src/shop/mail/x.saft", "-o", "mail/x.py").code == 0
    assert (folder / "base.py").exists()


def test_a_project_that_is_built_in_place(saftc: Command, script: Script, folder: Path) -> None:
    script("src/shop/__init__.py", "")
    script("src/shop/a.saft", "x = 1\n")
    ended = saftc("build")
    assert ended.code == 2 and "[tool.saft] in-place = true" in ended.err
    script("pyproject.toml", SETTINGS + "in-place = true\n")
    assert saftc("build").err == "src/shop/a.saft -> src/shop/a.py\n"
    assert saftc("build", "--check").code == 0
    script("pyproject.toml", SETTINGS + "in-place = 1\n")
    for command in (["build"], ["build", "src"], ["check", "src"]):
        ended = saftc(*command)
        assert ended.code == 1
        assert ended.err.endswith("[tool.saft] in-place: expected true or false, got 1\n")
    assert saftc("build", "src", "--in-place", "--out-dir", "out").code == 2


@pytest.mark.usefixtures("shop")
def test_a_root_that_the_command_names(saftc: Command, folder: Path) -> None:
    for one in folder.rglob("__init__.py"):
        one.unlink()
    (folder / "pyproject.toml").unlink(missing_ok=True)
    mail = folder / "src/shop/mail/sorting.saft"
    mail.write_text(SORTING.replace("shop.mail.schema", ".schema"))
    named = ("src/shop/mail/sorting.saft", "--root", "src")
    assert saftc("check", "src/shop/mail/sorting.saft").code == 1
    assert saftc("check", *named).code == 0
    assert saftc("run", *named).out == SAID
    assert saftc("prompts", *named).code == 0
    assert saftc("build", *named).code == 0
    assert _python(folder / "src", "-m", "shop.mail.sorting") == SAID
    (folder / "lib").mkdir()
    ended = saftc("check", "src/shop/mail/sorting.saft", "--root", "lib")
    assert ended.code == 1
    assert "sorting.saft is not below lib, which --root names\n" in ended.err
    assert saftc("check", "src/shop/mail/sorting.saft", "--root", "missing").code == 2


def test_a_root_that_is_no_folder(saftc: Command, script: Script) -> None:
    script("pyproject.toml", '[tool.saft]\nroot = "scr"\n')
    script("src/a.saft", "x = 1\n")
    ended = saftc("check", "src/a.saft")
    assert ended.code == 1
    assert '[tool.saft] root: expected a folder of the project, as in "src", ' in ended.err


def test_a_name_of_the_same_package(saftc: Command, script: Script) -> None:
    script("shop/__init__.py", "")
    script("shop/schema.saft", SCHEMA)
    script("shop/models.py", "n: int = 1\n")
    script("shop/a.saft", "from schema import Sorted\nimport models\nprint(Sorted, models.n)\n")
    ended = saftc("check", "shop/a.saft")
    assert ended.code == 1
    assert "to import one of the same package, write `from .schema import ...`" in ended.out
    assert "to import one of the same package, write `from . import models`" in ended.out


def test_too_many_dots(saftc: Command, script: Script) -> None:
    script("shop/__init__.py", "")
    script("shop/a.saft", "from ..schema import x\nprint(x)\n")
    ended = saftc("check", "shop/a.saft")
    assert "`..schema` leaves the top package of this script, which is `shop.a`" in ended.out


def test_a_folder_whose_scripts_import_each_other_from_above(
    saftc: Command, script: Script, folder: Path
) -> None:
    """Nothing says that `src` is the root, but the imports do."""
    script("pyproject.toml", "[tool.saft]\n")
    script("src/shop/schema.saft", SCHEMA)
    script("src/shop/a.saft", A)
    script("src/main.saft", "import shop.a\n")
    for names in (["src"], ["src/shop/a.saft"], ["src/main.saft"], ["."]):
        assert saftc("check", *names).code == 0, names
    assert saftc("run", "src/shop/a.saft").out == 'Sorted(label: "x", why: "y")\n'
    assert saftc("build", "src").code == 0
    assert _python(folder / "src", "main.py") == 'Sorted(label: "x", why: "y")\n'


def test_what_a_package_does_when_it_is_imported(saftc: Command, script: Script) -> None:
    script("shop/__init__.py", "from .base import one\nprint('shop', one)\n")
    script("shop/base.saft", "one = 1\n")
    script("shop/a.saft", "from shop import one\nprint(one)\n")
    ended = saftc("run", "shop/a.saft")
    assert (ended.out, ended.err) == ("shop 1\n1\n", "")
    script("shop/base.saft", "one = \n")
    ended = saftc("run", "shop/a.saft")
    assert ended.code == 1 and "shop/base.saft has errors" in ended.err


def test_a_class_that_comes_from_another_script_of_the_package(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("shop/__init__.py", "")
    script("shop/schema.saft", SCHEMA)
    script("shop/made.saft", MADE)
    script("shop/a.saft", AGAIN)
    assert saftc("build", "shop", "--in-place").code == 0
    text = (folder / "shop/a.py").read_text()
    assert "from shop.schema import Sorted\n\nfrom .made import made\n" in text
    assert _python(folder, "-m", "shop.a") == 'Sorted(label: "a", why: "b")\n'


def test_map_in_a_package(saftc: Command, script: Script, folder: Path) -> None:
    script("shop/__init__.py", "")
    script("shop/schema.saft", SCHEMA)
    script(
        "shop/a.saft",
        "from .schema import Sorted\nf sort(mail: string) -> Sorted:\n    ret $ Sort {mail} $\n",
    )
    script("rows.csv", "mail\nhello\n")
    ended = saftc(
        "map", "shop/a.saft:sort", "rows.csv", "out", "--provider", "mock", "--format", "jsonl"
    )
    assert ended.code == 0, ended.err
    assert "hello" in next((folder / "out").glob("*.jsonl")).read_text()
