"""`saftc build` of what has not changed: nothing is compiled, and all is said as if it were."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, Ended

Script = Callable[[str, str], Path]

WARNED = 'if "x":\n    print(1)\n'
IMPORTING = "from b import x\nprint(x + 1)\n"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scripts that are compiled from here on."""
    from saftc import driver

    names: list[str] = []
    compile_checked = driver.compile_checked

    def watched(checked: Any) -> Any:
        names.append(checked.source.name)
        return compile_checked(checked)

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
    script("b.saft", "from c import x\n")
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


# The records


def _another_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saftc.records.__version__", "0.0.0")


def _another_black(monkeypatch: pytest.MonkeyPatch) -> None:
    state = "saftc.records._state"
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


def _with(data: Any) -> Callable[[Path], None]:
    """Changes the record of the module."""

    def change(path: Path) -> None:
        records = json.loads(path.read_text())
        (module,) = records["modules"]
        records["modules"][module] = data(records["modules"][module])
        path.write_text(json.dumps(records))

    return change


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff\x00"),
        lambda path: path.write_text(path.read_text()[:-10]),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_text("[]"),
        lambda path: path.write_text(path.read_text().replace('"modules"', '"other"')),
        lambda path: path.write_text(path.read_text().replace("{", "[").replace("}", "]")),
        lambda path: (path.unlink(), path.mkdir()),
        _with(lambda record: None),
        _with(lambda record: []),
        _with(lambda record: {**record, "imports": None}),
        _with(lambda record: {**record, "imports": {"b": 1}}),
        _with(lambda record: {**record, "module": 1}),
        _with(lambda record: {**record, "more": ""}),
        _with(lambda record: {"script": "a.saft"}),
    ],
)
def test_damaged_records_only_cost_time(
    saftc: Command,
    script: Script,
    cache: Path,
    compiled: list[str],
    damage: Callable[[Path], object],
) -> None:
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    damage(cache / "builds.json")
    compiled.clear()
    assert _build(saftc, "a.saft").err == "a.py is up to date\n"
    assert compiled == ["a.saft"]


def test_a_cache_that_cannot_be_written(
    saftc: Command, script: Script, cache: Path, compiled: list[str]
) -> None:
    cache.rmdir()
    cache.write_text("a file")
    script("a.saft", "x = 1\n")
    _build(saftc, "a.saft")
    assert _build(saftc, "a.saft").err == "a.py is up to date\n"
    assert compiled == ["a.saft", "a.saft"]


def test_records_of_other_builds_stay_while_their_modules_do(
    saftc: Command, script: Script, folder: Path, cache: Path, compiled: list[str]
) -> None:
    for name in "abc":
        script(f"{name}.saft", "x = 1\n")
        _build(saftc, f"{name}.saft")
    (folder / "b.py").unlink()
    script("c.saft", "x = 2\n")
    _build(saftc, "c.saft")
    records = json.loads((cache / "builds.json").read_text())["modules"]
    assert set(records) == {str(folder / "a.py"), str(folder / "c.py")}
    compiled.clear()
    _build(saftc, "a.saft", "c.saft")
    assert compiled == []


def test_the_compiler_is_not_loaded(folder: Path, script: Script, cache: Path) -> None:
    script("a.saft", IMPORTING)
    script("b.saft", WARNED + "x = 1\n")
    program = (
        "import sys, pathlib, saftc.records\n"
        f"saftc.records.user_cache_path = lambda *_, **__: pathlib.Path({str(cache)!r})\n"
        "sys.argv = ['saftc', 'build', 'a.saft']\n"
        "from saftc.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(*sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    ]
    assert "b.saft -> b.py\n" in ended[0].stderr and "b.py is up to date\n" in ended[1].stderr
    first, second = (set(one.stdout.split()) for one in ended)
    compiler = {"saftc.driver", "saftc.codegen.module"}
    assert compiler <= first
    assert not (compiler | {"lark", "black"}) & second
