"""Scripts as texts, without files: `saftc.check_source`, `compile_source` and `run_source`."""

from __future__ import annotations

import subprocess
import sys
import typing
from pathlib import Path

import pytest

import saftc
from runtime_support import ConfigError, ContractError
from runtime_support.testing import Scripted

ASKING = "x: int = $ add 2 and 3 $\nprint(x)\n"


def test_what_is_wrong_is_data() -> None:
    assert saftc.check_source(ASKING) == ()
    (found,) = saftc.check_source("x = 1\nprint(y)\n", name="a.saft")
    assert (found.code, found.severity, found.message) == (
        "SAFT0203",
        "error",
        "unknown name `y`",
    )
    assert (found.line, found.column, found.end_line, found.end_column) == (2, 7, 2, 8)
    assert str(found).startswith("error[SAFT0203]: unknown name `y`\n --> a.saft:2:7\n")
    kinds = [one.severity for one in saftc.check_source("import math\nprint(y)\nprint(z)\n")]
    assert kinds.count("error") == 2


def test_a_script_becomes_the_text_of_a_module() -> None:
    text = saftc.compile_source(ASKING, name="a.saft")
    assert text.startswith("# Compiled by saftc from a.saft;")
    assert 'x = prompt("add 2 and 3", returns=int).value\n' in text
    assert "async def main()" in saftc.compile_source(ASKING, is_async=True)


@pytest.mark.parametrize("use", [saftc.compile_source, saftc.run_source])
def test_a_script_with_errors_is_none(use: typing.Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(saftc.SourceError) as caught:
        use('import math\nprint("begun")\nprint(y)\nprint(z)\n')
    assert [one.line for one in caught.value.problems] == [3, 4]
    assert "unknown name `y`" in str(caught.value) and "unknown name `z`" in str(caught.value)
    assert isinstance(caught.value, SyntaxError)
    assert capsys.readouterr().out == ""


def test_a_run_gives_the_module(capsys: pytest.CaptureFixture[str]) -> None:
    module = saftc.run_source(
        """\
type City(name: string)

f twice(x: int) -> int:
    ret 2 * x

home: City = City("Oslo")
x: int = $ add 2 and 3 $

f main():
    print("main", twice(x))
""",
        provider="mock",
    )
    assert (module.x, module.home.name, module.twice(4)) == (5, "Oslo", 8)
    assert typing.get_type_hints(module.City) == {"name": str}
    assert capsys.readouterr().out == "main 10\n"
    assert "__main__" not in module.__name__


def test_settings_hold_for_the_run_alone() -> None:
    model = Scripted(["7"])
    assert saftc.run_source("x: int = $ how many? $", provider=model, max_repairs=0).x == 7
    with pytest.raises(ContractError):
        saftc.run_source("x: int = $ how many? $", provider=Scripted(["a", "7"]), max_repairs=0)
    for wrong in ({"provider": "nosuch"}, {"modle": "x"}):
        with pytest.raises(ConfigError):
            saftc.run_source('print("begun")', **wrong)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ('x = 1\nz: any = "a"\nprint(x + z)\n', "at a.saft:3:"),
        ("f g(x: int) -> int:\n    ret div(1, x)\n\nprint(g(0))\n", "at a.saft:2:"),
        ("x = 1\nassert x == 2\n", "at a.saft:2:"),
        ("import math\nprint(math.sqrt(-1))\n", "at a.saft:2:"),
        ("\nx: int = $ how many? $\n", "at a.saft:2:10"),
        ('f main():\n    fail "no"\n', "at a.saft:2:"),
    ],
)
def test_what_fails_says_where(source: str, place: str) -> None:
    with pytest.raises(Exception) as caught:
        saftc.run_source(source, name="a.saft", provider=Scripted(["many", "many"]))
    notes = caught.value.__notes__
    assert [note.startswith(place) for note in notes if note.startswith("at ")] == [True], notes


def test_the_package_is_light_until_they_are_used(tmp_path: Path) -> None:
    code = (
        "import sys, saftc\n"
        "parts = ('saftc.', 'runtime_support', 'lark')\n"
        "print(sorted(one for one in sys.modules if one.startswith(parts)))\n"
        "assert 'run_source' in dir(saftc)\n"
        "print(saftc.run_source('x = 1').x)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert run.stdout == "['saftc._version']\n1\n"
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(AttributeError):
        _ = saftc.nothing  # type: ignore[attr-defined]


def test_threads_compile_at_once() -> None:
    # In a new process, where the first to come loads what lays the text out.
    program = (
        "import sys, saftc\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "sys.setswitchinterval(1e-5)\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    texts = list(pool.map(saftc.compile_source, [f'x = {n}' for n in range(4)]))\n"
        "assert [text.splitlines()[-1] for text in texts] == [f'x = {n}' for n in range(4)]\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
