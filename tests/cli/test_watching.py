"""`--watch` of `saftc build` and `saftc check`: what changes is built again, and nothing else."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from saftc import driver
from tests.cli.conftest import Command

Script = Callable[[str, str], Path]
Step = Callable[[], object]


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[list[str]]]:
    """Has the next `build --watch` take steps, one before each look at the files.

    What comes back is filled with the scripts that are compiled at first, and after each step.
    """

    def prepare(*steps: Step) -> list[list[str]]:
        compiled: list[list[str]] = [[]]
        left = iter(steps)
        compile_checked = driver.compile_checked

        def watched(checked: Any, *settings: Any) -> Any:
            if checked.source.name != "start.saft":  # by which the compiler is loaded
                compiled[-1].append(Path(checked.source.name).name)
            return compile_checked(checked, *settings)

        def sleep(_seconds: float) -> None:
            step = next(left, None)
            if step is None:
                raise KeyboardInterrupt
            compiled.append([])
            step()

        monkeypatch.setattr(driver, "compile_checked", watched)
        # And nobody else's: a thread of another test may sleep meanwhile.
        monkeypatch.setattr("saftc.cli.watching.time", SimpleNamespace(sleep=sleep))
        return compiled

    return prepare


def test_only_what_has_changed_is_compiled(
    saftc: Command, script: Script, folder: Path, rounds: Callable[..., list[list[str]]]
) -> None:
    script("a.saft", "x = 1\n")
    script("b.saft", "y = 2\n")
    compiled = rounds(
        lambda: script("a.saft", "x = 10\n"),
        lambda: None,
        lambda: script("b.saft", "y = 200\n"),
    )
    ended = saftc("build", "--watch", "a.saft", "b.saft")
    assert compiled == [["a.saft", "b.saft"], ["a.saft"], [], ["b.saft"]]
    assert ended.err.splitlines() == [
        "a.saft -> a.py",
        "b.saft -> b.py",
        "watching for changes; Ctrl-C ends it",
        "a.saft -> a.py",
        "b.saft -> b.py",
        "saftc: interrupted",
    ]
    assert (ended.code, ended.out) == (130, "")
    assert (folder / "a.py").read_text().endswith("x = 10\n")
    assert (folder / "b.py").read_text().endswith("y = 200\n")


def test_a_script_that_imports_what_has_changed(
    saftc: Command, script: Script, folder: Path, rounds: Callable[..., list[list[str]]]
) -> None:
    script("lib/low.saft", "f one(): ret 1\n")
    script("lib/mid.saft", "from lib.low import one\nf two(): ret one() + 1\n")
    script("a.saft", "from lib.mid import two\nprint(two() * 2)\n")
    script("b.saft", "print(5)\n")
    compiled = rounds(
        lambda: script("lib/low.saft", 'f one(): ret "x"\n'),
        lambda: script("lib/low.saft", "f one(): ret 12\n"),
    )
    ended = saftc("build", "--watch", "a.saft", "b.saft")
    assert sorted(compiled[0]) == ["a.saft", "b.saft", "low.saft", "mid.saft"]
    assert "error" in ended.err and "mid.saft" in ended.err
    assert sorted(compiled[2]) == ["a.saft", "low.saft", "mid.saft"]
    assert "return 12" in (folder / "lib" / "low.py").read_text()
    assert "-> int" in (folder / "lib" / "mid.py").read_text()


def test_a_mistake_is_told_once_and_can_be_mended(
    saftc: Command, script: Script, folder: Path, rounds: Callable[..., list[list[str]]]
) -> None:
    script("a.saft", "print(x)\n")
    script("b.saft", "y = 1\n")
    rounds(
        lambda: script("b.saft", "y = 10\n"),
        lambda: script("a.saft", "x = 1\nprint(x)\n"),
    )
    ended = saftc("build", "--watch", ".")
    assert ended.err.count("error[SAFT0203]") == 1
    assert "print(x)" in (folder / "a.py").read_text()


@pytest.mark.parametrize(
    ("first", "name", "then"),
    [
        ("from shop import price\n", "shop.py", "def price() -> int: ...\n"),
        ("from shop import price\n", "shop.saft", "f price(): ret 1\n"),
        ("from lib.shop import price\n", "lib/shop.saft", "f price(): ret 1\n"),
        ("from lib.shop import price\n", "lib/shop.py", "def price() -> int: ...\n"),
    ],
)
def test_an_import_that_appears(
    saftc: Command,
    script: Script,
    folder: Path,
    rounds: Callable[..., list[list[str]]],
    first: str,
    name: str,
    then: str,
) -> None:
    script("a.saft", f"{first}print(price())\n")
    rounds(lambda: script(name, then))
    saftc("build", "--watch", "a.saft")
    assert "price()" in (folder / "a.py").read_text()


def test_a_module_of_python_that_changes(
    saftc: Command, script: Script, folder: Path, rounds: Callable[..., list[list[str]]]
) -> None:
    script("shop.py", "def price() -> int: return 1\n")
    script("a.saft", "from shop import price\nx = price() * 2\nprint(x)\n")
    compiled = rounds(
        lambda: script("shop.py", "from typing import Any\ndef price() -> Any: return 1\n")
    )
    saftc("build", "--watch", "a.saft")
    assert compiled == [["a.saft"], ["a.saft"]]
    assert "ops.mul" in (folder / "a.py").read_text()


def test_scripts_that_come_and_go(
    saftc: Command, script: Script, folder: Path, rounds: Callable[..., list[list[str]]]
) -> None:
    script("in/a.saft", "x = 1\n")
    compiled = rounds(
        lambda: script("in/deep/b.saft", "y = 2\n"),
        lambda: (folder / "in" / "a.saft").unlink(),
        lambda: script("in/deep/b.saft", "y = 20\n"),
    )
    ended = saftc("build", "--watch", "in", "--out-dir", "out")
    assert compiled == [["a.saft"], ["b.saft"], [], ["b.saft"]]
    assert (folder / "out" / "deep" / "b.py").read_text().endswith("y = 20\n")
    assert ended.err.count("->") == 3


def test_a_script_that_is_away_for_a_moment(
    saftc: Command, script: Script, folder: Path, rounds: Callable[..., list[list[str]]]
) -> None:
    path = script("a.saft", "x = 1\n")
    rounds(path.unlink, lambda: script("a.saft", "x = 30\n"))
    ended = saftc("build", "--watch", "a.saft")
    assert "saftc: there is no file a.saft" in ended.err
    assert (folder / "a.py").read_text().endswith("x = 30\n")


def test_settings_that_change(
    saftc: Command, script: Script, folder: Path, rounds: Callable[..., list[list[str]]]
) -> None:
    script("a.saft", "a = $ one $\nb = $ two $\nprint(a, b)\n")
    rounds(lambda: script("pyproject.toml", "[tool.saft]\noverlap = false\n"))
    saftc("build", "a.saft")
    together = (folder / "a.py").read_text()
    saftc("build", "--watch", "a.saft")
    assert "together" in together or "overlap" in together or "later" in together
    assert (folder / "a.py").read_text() != together


def test_a_setting_that_becomes_wrong(
    saftc: Command, script: Script, folder: Path, rounds: Callable[..., list[list[str]]]
) -> None:
    script("a.saft", "print(1)\n")
    rounds(
        lambda: script("pyproject.toml", '[tool.saft]\nmodle = "x"\n'),
        lambda: script("a.saft", "print(2)\n"),
        lambda: (folder / "pyproject.toml").unlink(),
    )
    ended = saftc("build", "--watch", "a.saft")
    assert "no option `modle`; did you mean `model`?" in ended.err
    assert ended.err.splitlines()[-2:] == ["a.saft -> a.py", "saftc: interrupted"]
    assert (folder / "a.py").read_text().endswith("print(2)\n")


def test_a_folder_that_becomes_a_package(
    saftc: Command, script: Script, rounds: Callable[..., list[list[str]]]
) -> None:
    script("lib/a.saft", "from b import x\nprint(x)\n")
    script("lib/b.saft", "x = 1\n")
    rounds(lambda: script("lib/__init__.py", ""))
    ended = saftc("build", "--watch", "lib/a.saft", "--out-dir", "out")
    assert "lib/a.saft -> out/a.py" in ended.err
    # Python finds `lib.b` by then.
    assert "error[SAFT0501]" in ended.err


def test_a_lock_of_servers_that_changes(
    saftc: Command, script: Script, rounds: Callable[..., list[list[str]]]
) -> None:
    script("a.saft", "from mcp(\"docs\") import search\nprint($ look it up with {search} $)\n")
    tools = {"search": {"description": "Search.", "inputSchema": {"type": "object"}}}
    lock = {"version": 1, "servers": {"docs": {"tools": tools}}}
    rounds(lambda: script("mcp.lock.json", json.dumps(lock)))
    ended = saftc("build", "--watch", "a.saft")
    assert "error[SAFT0504]" in ended.err and "a.saft -> a.py" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.saft", "--check"], "leave --check out"),
        (["a.saft", "--diff"], "leave --diff out"),
        (["plan.json", "--tools", "geo"], "leave --tools out"),
        (["-"], "scripts in files"),
        (["plan.json"], "is a plan"),
    ],
)
def test_what_cannot_be_watched(
    saftc: Command, script: Script, words: list[str], said: str
) -> None:
    script("a.saft", "x = 1\n")
    script("plan.json", "{}")
    ended = saftc("build", "--watch", *words)
    assert ended.code == 2 and said in ended.err


def test_mistakes_are_reported_again(
    saftc: Command, script: Script, folder: Path, rounds: Callable[..., list[list[str]]]
) -> None:
    script("lib.saft", "f one(): ret 1\n")
    script("a.saft", "from lib import one\nprint(one())\n")
    rounds(
        lambda: script("lib.saft", "f two(): ret 2\n"),
        lambda: None,
        lambda: script("lib.saft", "f one(): ret 2\n"),
        lambda: script("a.saft", "print(x)\n"),
    )
    ended = saftc("check", "--watch", "a.saft")
    assert ended.err.splitlines() == [
        "1 file checked, nothing to report",
        "watching for changes; Ctrl-C ends it",
        "",
        "1 file checked: 1 error",
        "",
        "1 file checked, nothing to report",
        "",
        "1 file checked: 1 error",
        "saftc: interrupted",
    ]
    assert ended.code == 130
    assert [ended.out.count(f"unknown name `{name}`") for name in ("one", "x")] == [1, 1]


def test_scripts_of_a_folder_are_checked_when_they_appear(
    saftc: Command, script: Script, folder: Path, rounds: Callable[..., list[list[str]]]
) -> None:
    script("in/a.saft", "print(1)\n")
    rounds(lambda: script("in/b.saft", "print(x)\n"), lambda: (folder / "in/b.saft").unlink())
    ended = saftc("check", "--watch", "in", "--strict")
    assert [line for line in ended.err.splitlines() if "checked" in line] == [
        "1 file checked, nothing to report",
        "2 files checked: 1 error",
        "1 file checked, nothing to report",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.saft", "--fix"], "leave --fix out"),
        (["a.saft", "--diff"], "leave --diff out"),
        (["a.saft", "--format", "json"], "leave --format out"),
        (["-"], "scripts in files"),
    ],
)
def test_what_check_cannot_watch(
    saftc: Command, script: Script, words: list[str], said: str
) -> None:
    script("a.saft", "x = 1\n")
    ended = saftc("check", "--watch", *words)
    assert ended.code == 2 and said in ended.err
