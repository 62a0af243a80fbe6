"""What has not changed is not compiled again, and all is said and done as if it were."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, Ended

pytestmark = pytest.mark.one_python

Script = Callable[[str, str], Path]

WARNED = 'if "x":\n    print(1)\n'
IMPORTING = "from b import x\nprint(x + 1)\n"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scripts that are compiled from here on."""
    from saftc import driver

    names: list[str] = []
    compile_checked = driver.compile_checked

    def watched(checked: Any, *settings: Any) -> Any:
        names.append(checked.source.name)
        return compile_checked(checked, *settings)

    monkeypatch.setattr(driver, "compile_checked", watched)
    return names


def _build(saftc: Command, *arguments: str) -> Ended:
    ended = saftc("build", *arguments)
    assert ended.code == 0, ended.err
    return ended


def test_an_unchanged_script_is_not_compiled(
    saftc: Command, script: Script, compiled: list[str]
) -> None:
    script("a.saft", "x = 1\n")
    script("b.saft", "y = 2\n")
    _build(saftc, "a.saft", "b.saft")
    assert compiled == ["a.saft", "b.saft"]
    compiled.clear()
    ended = _build(saftc, "a.saft", "b.saft")
    assert (ended.out, ended.err) == ("", "a.py is up to date\nb.py is up to date\n")
    assert _build(saftc, "a.saft", "b.saft", "--force").err == ended.err
    for compares in (["--check"], ["--diff"], ["--check", "--diff"]):
        ended = _build(saftc, "a.saft", "b.saft", *compares)
        assert (ended.out, ended.err) == ("", "")
    assert compiled == []


def test_a_changed_script_is_compiled_alone(
    saftc: Command, script: Script, folder: Path, compiled: list[str]
) -> None:
    script("a.saft", "x = 1\n")
    script("b.saft", "y = 2\n")
    _build(saftc, "a.saft", "b.saft")
    script("b.saft", "y = 3\n")
    compiled.clear()
    ended = _build(saftc, "a.saft", "b.saft")
    assert compiled == ["b.saft"]
    assert ended.err == "a.py is up to date\nb.saft -> b.py\n"
    assert "y = 3" in (folder / "b.py").read_text()
    script("b.saft", "y = 2\n")
    _build(saftc, "a.saft", "b.saft")
    assert "y = 2" in (folder / "b.py").read_text()


def test_a_changed_module_is_written_again(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    text = (folder / "a.py").read_text()
    (folder / "a.py").write_text(text + "y = 2\n")
    ended = saftc("build", "a.saft", "--check")
    assert (ended.code, ended.err) == (1, "a.py is out of date: run `saftc build a.saft`\n")
    assert "-y = 2\n" in saftc("build", "a.saft", "--diff").out
    assert _build(saftc, "a.saft").err == "a.saft -> a.py\n"
    assert (folder / "a.py").read_text() == text


def test_a_missing_module_is_written_again(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    (folder / "a.py").unlink()
    assert saftc("build", "a.saft", "--check").code == 1
    assert _build(saftc, "a.saft").err == "a.saft -> a.py\n"


def test_a_module_that_another_made_is_not_taken_for_ours(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    (folder / "a.py").write_text("print('mine')\n")
    ended = saftc("build", "a.saft")
    assert ended.code == 1 and "was not written by saftc" in ended.err


def test_a_script_of_another_name_has_another_header(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("a.saft", "x = 1\n")
    script("b.saft", "x = 1\n")
    _build(saftc, "a.saft", "-o", "out.py")
    assert _build(saftc, "b.saft", "-o", "out.py").err == "b.saft -> out.py\n"
    assert (folder / "out.py").read_text().startswith("# Compiled by saftc from b.saft;")


def test_the_same_script_by_another_path(
    saftc: Command, script: Script, folder: Path, compiled: list[str]
) -> None:
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    compiled.clear()
    assert _build(saftc, "./a.saft").err == "a.py is up to date\n"
    assert _build(saftc, str(folder / "a.saft")).err == f"{folder / 'a.py'} is up to date\n"
    assert compiled == []


def test_warnings_are_told_each_time(
    saftc: Command, script: Script, folder: Path, compiled: list[str]
) -> None:
    script("a.saft", WARNED)
    first = _build(saftc, "a.saft")
    assert "warning[SAFT0601]" in first.err and "--> a.saft:1:4\n" in first.err
    compiled.clear()
    second = _build(saftc, "a.saft")
    assert second.err == first.err.replace("a.saft -> a.py", "a.py is up to date")
    assert _build(saftc, "a.saft", "--check").err == first.err.replace("a.saft -> a.py\n", "")
    assert _build(saftc, "./a.saft") == second
    assert compiled == []
    path = str(folder / "a.saft")
    assert f"--> {path}:1:4\n" in _build(saftc, path, "-o", "a.py").err


def test_errors_are_told_each_time(saftc: Command, script: Script) -> None:
    script("a.saft", "x: int = true\n")
    first = saftc("build", "a.saft")
    assert (first.code, saftc("build", "a.saft")) == (1, first)


# Imports


def test_siblings_are_unchanged_with_it(
    saftc: Command, script: Script, compiled: list[str]
) -> None:
    script("a.saft", IMPORTING)
    # What it did not use would be no name of `b`.
    script("b.saft", "from c import x\nprint(x)\n")
    script("c.saft", "x = 1\n")
    first = _build(saftc, "a.saft", "--out-dir", "out")
    assert first.err == "a.saft -> out/a.py\nc.saft -> out/c.py\nb.saft -> out/b.py\n"
    compiled.clear()
    second = _build(saftc, "a.saft", "c.saft", "--out-dir", "out")
    assert second.err == "".join(f"out/{name}.py is up to date\n" for name in "acb")
    assert compiled == []


def test_a_changed_sibling_changes_what_imports_it(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("a.saft", "from b import x\ny: int = x\n")
    script("b.saft", "from c import z\nx = z\n")
    script("c.saft", "z = 1\n")
    _build(saftc, "a.saft")
    script("c.saft", 'z = "one"\n')
    ended = saftc("build", "a.saft")
    assert ended.code == 1 and ended.err.startswith("error[")
    script("c.saft", "z = 2\n")
    assert _build(saftc, "a.saft").err == "a.py is up to date\nc.saft -> c.py\nb.py is up to date\n"
    assert "z = 2" in (folder / "c.py").read_text()


def test_a_siblings_module_is_written_again(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", IMPORTING)
    script("b.saft", "x = 1\n")
    _build(saftc, "a.saft")
    (folder / "b.py").unlink()
    assert _build(saftc, "a.saft").err == "a.py is up to date\nb.saft -> b.py\n"


def test_a_module_of_python_that_becomes_a_script(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("a.saft", "import b\nprint(b)\n")
    script("b.py", "x = 1\n")
    assert _build(saftc, "a.saft", "--out-dir", "out").err == "a.saft -> out/a.py\n"
    assert _build(saftc, "a.saft", "--out-dir", "out").err == "out/a.py is up to date\n"
    script("b.saft", "x = 1\n")
    assert "b.saft -> out/b.py\n" in saftc("build", "a.saft", "--out-dir", "out").err
    (folder / "b.saft").unlink()
    (folder / "b.py").unlink()
    ended = saftc("build", "a.saft", "--out-dir", "out")
    assert ended.code == 1 and "error[SAFT0501]" in ended.err


def test_what_a_function_of_python_gives_has_a_say(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("a.saft", "from b import go\nprint(go() + 1)\n")
    script("b.py", "def go() -> int: ...\n")
    _build(saftc, "a.saft")
    assert "print(go() + 1)" in (folder / "a.py").read_text()
    assert _build(saftc, "a.saft").err == "a.py is up to date\n"
    script("b.py", "def go(): ...\n")
    assert _build(saftc, "a.saft").err == "a.saft -> a.py\n"
    assert "ops.add(go(), 1)" in (folder / "a.py").read_text()


@pytest.mark.parametrize(
    ("files", "later", "written"),
    [
        # What hides a script from Python.
        (
            {"a.saft": "from lib.x import y\nprint(y)\n", "lib/x.saft": "y = 1\n"},
            {"lib.saft": "z = 1\n"},
            "error[SAFT0502]",
        ),
        (
            {"a.saft": "from lib.x import y\nprint(y)\n", "lib/x.saft": "y = 1\n"},
            {"lib.py": "z = 1\n"},
            "error[SAFT0502]",
        ),
        # What changes the block of an import: a module, or a folder, beside the script.
        (
            {"a.saft": "import elsewhere\nprint(elsewhere, parse(\"1\"))\n"},
            {"elsewhere.py": "x = 1\n"},
            "\n\nimport elsewhere\n",
        ),
        (
            {"a.saft": "import elsewhere\nprint(elsewhere, parse(\"1\"))\n"},
            {"elsewhere/notes.txt": "x = 1\n"},
            "\n\nimport elsewhere\n",
        ),
        # What a module is read with, and was not there before.
        (
            {"a.saft": "from b import go\nprint(go() + 1)\n",
             "b.py": "from c import Number\ndef go() -> Number: ...\n"},
            {"c.py": "Number = int | float\n"},
            "print(go() + 1)",
        ),
        # The same text means something else in a package.
        (
            {"a.saft": "from b import go\nprint(go() + 1)\n",
             "b.py": "from .c import Number\ndef go() -> Number: ...\n"},
            {"b.py": None, "b/__init__.py": "from .c import Number\ndef go() -> Number: ...\n",
             "b/c.py": "Number = int | float\n"},
            "print(go() + 1)",
        ),
        # A script that a Python module beside it is named like.
        (
            {"a.saft": "from b import go\nfrom c import x\nprint(go(), x)\n",
             "b.py": "from c import Number\ndef go() -> Number: ...\n",
             "c.saft": "x = 1\nNumber = 1\n", "c.py": "x = 1\n"},
            {"c.saft": "y = 1\n"},
            "error[SAFT0203]",
        ),
    ],
)
def test_what_decides_about_imports_has_a_say(
    saftc: Command,
    script: Script,
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    later: dict[str, str | None],
    written: str,
) -> None:
    path = tmp_path_factory.mktemp("path")
    (path / "elsewhere.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(path)
    for name, text in files.items():
        script(name, text)
    _build(saftc, "a.saft", "--out-dir", "out")
    for name, text in later.items():
        if text is None:
            (folder / name).unlink()
        else:
            script(name, text)
    found = saftc("build", "a.saft", "--out-dir", "out")
    text = (folder / "out/a.py").read_text() + found.err
    monkeypatch.setenv("SAFT_CACHE_DIR", str(path / "another"))
    anew = saftc("build", "a.saft", "--out-dir", "new")
    assert found.err.replace("out/", "new/") == anew.err
    if anew.code == 0:
        assert (folder / "new/a.py").read_text() == (folder / "out/a.py").read_text()
    assert written in text


def test_two_scripts_of_one_module(saftc: Command, script: Script, folder: Path) -> None:
    script("one/a.saft", IMPORTING)
    script("one/b.saft", "x = 1\n")
    script("two/b.saft", "x = 2\n")
    for _ in range(2):
        ended = saftc("build", "one/a.saft", "two/b.saft", "--out-dir", "out")
        assert ended.code == 1
        assert "saftc: one/b.saft and two/b.saft would both become out/b.py\n" in ended.err
        assert "x = 1" in (folder / "out/b.py").read_text()


# Source maps


def test_source_maps_are_unchanged_too(
    saftc: Command, script: Script, folder: Path, compiled: list[str]
) -> None:
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    _build(saftc, "a.saft", "--source-map")
    source_map = (folder / "a.py.map").read_text()
    compiled.clear()
    _build(saftc, "a.saft", "--source-map")
    _build(saftc, "a.saft")
    assert compiled == []
    (folder / "a.py.map").write_text("{}")
    _build(saftc, "a.saft")
    assert compiled == []
    _build(saftc, "a.saft", "--source-map")
    assert (folder / "a.py.map").read_text() == source_map
    (folder / "a.py.map").unlink()
    _build(saftc, "a.saft", "--source-map")
    assert (folder / "a.py.map").read_text() == source_map


# Standard input and output


def test_standard_input_is_compiled_each_time(saftc: Command, script: Script, folder: Path) -> None:
    for value in ("1", "2"):
        assert saftc("build", "-", "-o", "a.py", stdin=f"x = {value}\n").code == 0
        assert f"x = {value}" in (folder / "a.py").read_text()


def test_standard_output_gets_the_module_each_time(saftc: Command, script: Script) -> None:
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    assert _build(saftc, "a.saft", "-o", "-").out.endswith("\nx = 1\n")


# The cache


def _another_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saftc.project.cache.__version__", "0.0.0")


def _another_black(monkeypatch: pytest.MonkeyPatch) -> None:
    state = "saftc.project.cache._state"
    monkeypatch.setattr(state, lambda path: path + " changed" if "black" in path else path)


@pytest.mark.parametrize("change", [_another_compiler, _another_black])
def test_another_compiler_compiles_anew(
    saftc: Command,
    script: Script,
    compiled: list[str],
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[pytest.MonkeyPatch], None],
) -> None:
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    change(monkeypatch)
    compiled.clear()
    _build(saftc, "a.saft")
    assert compiled == ["a.saft"]


def _module(cache: Path) -> Path:
    """The one module in the cache."""
    (path,) = (cache / "modules").iterdir()
    return path


def _with(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    """Changes what is kept of a module."""

    def damage(path: Path) -> None:
        path.write_text(json.dumps(change(json.loads(path.read_text()))))

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff\x00"),
        lambda path: path.write_text(path.read_text()[:-10]),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_text("[]"),
        lambda path: path.write_text(path.read_text().replace("x = 1", "x = 2")),
        lambda path: path.write_text(path.read_text().replace("{", "[").replace("}", "]")),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: path.chmod(0),
        _with(lambda module: None),
        _with(lambda module: {**module, "imports": None}),
        _with(lambda module: {**module, "text": "x = 2"}),
        _with(lambda module: {**module, "more": ""}),
        _with(lambda module: {"script": "a.saft"}),
    ],
)
@pytest.mark.parametrize("command", ["build", "run"])
def test_a_damaged_cache_only_costs_time(
    saftc: Command,
    script: Script,
    folder: Path,
    cache: Path,
    command: str,
    damage: Callable[[Path], object],
) -> None:
    script("a.saft", "x = 1\nprint(x)\n")
    first = saftc(command, "a.saft")
    damage(_module(cache))
    second = saftc(command, "a.saft")
    assert (first.code, second.code) == (0, 0)
    if command == "run":
        assert (second.out, second.err) == ("1\n", "")
    else:
        assert second.err == "a.py is up to date\n"
        assert "x = 1\n" in (folder / "a.py").read_text()


def test_a_cache_that_cannot_be_written(
    saftc: Command, script: Script, cache: Path, compiled: list[str]
) -> None:
    cache.rmdir()
    cache.write_text("a file")
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    assert _build(saftc, "a.saft").err == "a.py is up to date\n"
    assert compiled == ["a.saft", "a.saft"]


def test_without_the_cache_nothing_is_read_or_kept(
    saftc: Command, script: Script, cache: Path, compiled: list[str]
) -> None:
    script("a.saft", "print(1)\n")
    assert saftc("a.saft").out == "1\n"
    kept = _module(cache).read_bytes()
    script("b.saft", "print(2)\n")
    for arguments in (["a.saft"], ["run", "a.saft"], ["run", "b.saft"], ["build", "b.saft"]):
        assert saftc("--no-cache", *arguments).code == 0
    assert compiled == ["a.saft", "a.saft", "a.saft", "b.saft", "b.saft"]
    assert _module(cache).read_bytes() == kept


def test_what_is_kept_is_told_and_removed(
    saftc: Command, script: Script, cache: Path, compiled: list[str]
) -> None:
    (cache / "mine.txt").write_text("not saftc's")
    assert saftc("cache").out == f"{cache}: 0 files, 0.0 MB\n"
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    assert saftc("cache").out.startswith(f"{cache}: 1 file, ")
    assert saftc("cache", "clear").err.startswith(f"{cache}: removed 1 file, ")
    assert saftc("cache", "clear").err == f"{cache}: removed 0 files, 0.0 MB\n"
    assert [path.name for path in cache.rglob("*") if path.is_file()] == ["mine.txt"]
    _build(saftc, "a.saft")
    assert compiled == ["a.saft", "a.saft"]


def test_the_oldest_modules_go_when_there_are_many(
    saftc: Command, script: Script, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saftc.project.cache._MOST_MODULES", 4)
    kept: list[Path] = []
    for number in range(5):
        script("a.saft", f"x = {number}\n")
        _build(saftc, "a.saft")
        (new,) = set((cache / "modules").iterdir()) - set(kept)
        os.utime(new, (number, number))
        kept.append(new)
    assert set((cache / "modules").iterdir()) == set(kept[1:])


@pytest.mark.heavy
def test_two_processes_share_a_cache(folder: Path, script: Script, cache: Path) -> None:
    names = [f"part{number}.saft" for number in range(8)]
    for name in names:
        script(name, f"print({name!r})\n".replace("'", '"'))
    both = [_start(cache, "build", *names, "--out-dir", out) for out in ("one", "two")]
    assert [process.wait() for process in both] == [0, 0]
    for name in names:
        module = name.replace(".saft", ".py")
        texts = {(folder / out / module).read_text() for out in ("one", "two")}
        assert len(texts) == 1 and f'print("{name}")' in texts.pop()


def _start(cache: Path, *arguments: str) -> subprocess.Popen[bytes]:
    settings = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SAFT_CACHE_DIR": str(cache),
    }
    return subprocess.Popen([sys.executable, "-m", "saftc", *arguments], env=settings)


# A script that runs


def test_a_script_runs_from_the_cache(
    saftc: Command, script: Script, compiled: list[str]
) -> None:
    script("a.saft", IMPORTING)
    script("b.saft", WARNED + "x = 1\n")
    first = saftc("a.saft")
    assert (first.code, first.out) == (0, "1\n2\n")
    compiled.clear()
    assert saftc("a.saft") == first
    assert compiled == []
    script("b.saft", "x = 2\n")
    assert saftc("a.saft").out == "3\n"
    assert compiled == ["a.saft", "b.saft"]


def test_an_error_has_its_place_when_the_script_came_from_the_cache(
    saftc: Command, script: Script
) -> None:
    script("a.saft", "from b import pick\nprint(pick([1]))\n")
    script("b.saft", "f pick(xs):\n    ret xs[1]\n")
    first = saftc("a.saft")
    assert first.code == 1 and " --> b.saft:2:9\n" in first.err
    assert "called at a.saft:2:7" in first.err
    assert saftc("a.saft") == first


def test_what_was_built_runs_without_compiling(
    saftc: Command, script: Script, compiled: list[str]
) -> None:
    script("a.saft", "print(1)\n")
    _build(saftc, "a.saft")
    assert saftc("a.saft").out == "1\n"
    assert compiled == ["a.saft"]


# Many scripts


def test_of_many_scripts_one_may_be_wrong(
    saftc: Command, script: Script, folder: Path
) -> None:
    names = [f"part{number}.saft" for number in range(8)]
    for number, name in enumerate(names):
        script(name, f"from shared import base\nprint(base + {number})\n")
    script("shared.saft", WARNED + "base = 1\n")
    script("part5.saft", "print(missing)\n")
    ended = saftc("build", *names, "missing.saft")
    assert ended.code == 1
    lines = ended.err.splitlines()
    assert lines[0] == "part0.saft -> part0.py" and lines[-1].endswith("no file missing.saft")
    assert [line for line in lines if line.startswith("error")] == [
        "error[SAFT0203]: unknown name `missing`"
    ]
    for number, name in enumerate(names):
        module = folder / name.replace(".saft", ".py")
        assert module.exists() == (number != 5)
        if number != 5:
            assert module.read_text() == saftc("build", name, "-o", "-").out


@pytest.mark.heavy
def test_the_compiler_is_not_loaded(folder: Path, script: Script, cache: Path) -> None:
    script("a.saft", IMPORTING)
    script("b.saft", WARNED + "x = 1\n")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SAFT_CACHE_DIR": str(cache),
    }
    compiler = {"saftc.driver", "lark", "libcst", "black"}
    for command in ("build", "run"):
        program = (
            "import sys\n"
            f"sys.argv = ['saftc', {command!r}, 'a.saft']\n"
            "from saftc.cli.app import main\n"
            "try:\n    main()\n"
            "finally:\n    print(*sys.modules)\n"
        )
        loaded = [
            set(
                subprocess.run(
                    [sys.executable, "-c", program],
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout.split()
            )
            for _ in range(2)
        ]
        if command == "build":
            assert compiler <= loaded[0]
        assert not compiler & loaded[1]


_as_root = pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 1)() != 0, reason="only root gives files to other users"
)


def _poison(cache: Path) -> Path:
    """Changes what is kept of the one module as whoever knows the form could, digest included."""
    path = _module(cache)
    data = json.loads(path.read_bytes())
    data.pop("digest")
    data["text"] = 'print("poisoned")\n'
    data["digest"] = sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(data))
    return path


def test_only_the_user_reads_and_writes_the_cache(
    saftc: Command, script: Script, cache: Path
) -> None:
    script("a.saft", "print(1)\n")
    old = os.umask(0)
    try:
        assert saftc("a.saft").out == "1\n"
    finally:
        os.umask(old)
    modes = {path.name: path.stat().st_mode & 0o777 for path in cache.iterdir()}
    assert set(modes.values()) == {0o700}, modes
    assert _module(cache).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "open_up",
    [
        lambda path: path.chmod(0o666),
        lambda path: path.chmod(0o620),
        lambda path: path.parent.chmod(0o777),
        lambda path: path.parent.chmod(0o770),
        lambda path: (path.rename(path.with_suffix(".away")), path.symlink_to(path.stem + ".away")),
        pytest.param(lambda path: os.chown(path, 65534, -1), marks=_as_root),
        pytest.param(lambda path: os.chown(path.parent, 65534, -1), marks=_as_root),
        lambda path: (
            path.parent.rename(path.parent.with_name("away")),
            path.parent.symlink_to("away"),
        ),
    ],
)
def test_what_others_may_have_written_is_not_run(
    saftc: Command, script: Script, cache: Path, open_up: Callable[[Path], object]
) -> None:
    script("a.saft", "print(1)\n")
    assert saftc("a.saft").out == "1\n"
    path = _poison(cache)
    assert saftc("a.saft").out == "poisoned\n"  # the change is one that is believed
    open_up(path)
    for _ in range(2):
        assert saftc("a.saft").out == "1\n"


@_as_root
def test_a_cache_of_another_user_is_told_of_and_left_alone(
    saftc: Command, script: Script, cache: Path
) -> None:
    (cache / "modules").mkdir(mode=0o755)
    os.chown(cache / "modules", 65534, -1)
    script("a.saft", "print(1)\n")
    done = saftc("a.saft")
    assert done.out == "1\n"
    assert done.err == (
        f"saftc: {cache}/modules belongs to another user, so saftc does not use it as its cache; "
        f"SAFT_CACHE_DIR names another folder\n"
    )
    assert list((cache / "modules").iterdir()) == []


def test_clearing_goes_through_no_link(
    saftc: Command, script: Script, cache: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    named = elsewhere / ("0" * 64 + ".json")
    named.write_text("mine")
    (cache / "modules").symlink_to(elsewhere)
    done = saftc("cache", "clear")
    assert "removed 0 files" in done.err
    assert named.read_text() == "mine"


def test_clearing_removes_only_what_saftc_has_written(
    saftc: Command, script: Script, cache: Path
) -> None:
    script("a.saft", "print(1)\n")
    saftc("a.saft")
    mine = [cache / "modules" / "notes.txt", cache / "modules" / "abc.json"]
    for path in mine:
        path.write_text("mine")
    assert "removed 1 file," in saftc("cache", "clear").err
    assert sorted((cache / "modules").iterdir()) == sorted(mine)
