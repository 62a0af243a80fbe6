"""`saftc run` and its short form: output, exit codes, errors in terms of the script, settings."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from saftc.cli.failures import explain
from saftc.diagnostics.styled import plain
from tests.cli.conftest import Command
from tests.compiler.support import ROOT
from tests.support.fake_server import FakeServer

Script = Callable[[str, str], Path]


def test_runs_a_script(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", 'print("hello", 1 + 2)\n')
    ended = saftc("run", "a.saft")
    assert (ended.code, ended.out, ended.err) == (0, "hello 3\n", "")
    assert sorted(path.name for path in folder.iterdir()) == ["a.saft"]


@pytest.mark.parametrize("name", ["a.saft", "./a.saft", "plain", "inner/b"])
def test_short_form(saftc: Command, script: Script, name: str) -> None:
    script(name, 'print("hello")\n')
    assert saftc(name).out == "hello\n"


def test_short_form_of_a_missing_script(saftc: Command) -> None:
    ended = saftc("missing.saft")
    assert (ended.code, ended.err) == (1, "saftc: there is no file missing.saft\n")


def test_a_compiled_module_is_no_script(saftc: Command, script: Script) -> None:
    script("a.saft", "print(1)\n")
    assert saftc("build", "a.saft").code == 0
    said = "saftc: a.py is not a script: names of scripts end with .saft\n"
    for command in ("run", "prompts"):
        ended = saftc(command, "a.py")
        assert (ended.code, ended.out, ended.err) == (1, "", said)


def test_reads_standard_input(saftc: Command) -> None:
    assert saftc("run", "-", stdin="print(1)\n").out == "1\n"
    assert saftc("-", stdin="print(1)\n").out == "1\n"


def test_runs_main(saftc: Command, script: Script) -> None:
    script("a.saft", 'f main():\n    print("main")\n\nprint("first")\n')
    assert saftc("run", "a.saft").out == "first\nmain\n"


def test_arguments_after_two_dashes(saftc: Command, script: Script) -> None:
    script("a.saft", "import sys\nprint(sys.argv)\n")
    ended = saftc("run", "a.saft", "--", "one", "--two", "-h")
    assert ended.out == '["a.saft", "one", "--two", "-h"]\n'


def test_short_form_with_options_and_arguments(saftc: Command, script: Script) -> None:
    script("a.saft", 'import sys\nprint(sys.argv, env("SAFT_MODEL"))\n')
    ended = saftc("a.saft", "--model", "small", "--", "x")
    assert ended.out == '["a.saft", "x"] small\n'


def test_errors_of_the_script_keep_it_from_running(saftc: Command, script: Script) -> None:
    script("a.saft", "print(1)\nprint(x)\n")
    ended = saftc("run", "a.saft")
    assert (ended.code, ended.out) == (1, "")
    assert "error[SAFT0203]: unknown name `x`" in ended.err


def test_an_uncaught_error(saftc: Command, script: Script) -> None:
    script("a.saft", 'print("before")\nf go(x):\n    ret x.name\n\ngo(parse("{}"))\n')
    ended = saftc("run", "a.saft")
    assert (ended.code, ended.out) == (1, "before\n")
    assert " --> a.saft:3:9\n" in ended.err
    assert "3 |     ret x.name\n  |         ^^^^^^" in ended.err
    assert 'called at a.saft:5:1: go(parse("{}"))' in ended.err
    assert "Traceback" not in ended.err


def test_an_uncaught_error_of_prompts_that_overlap(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFT_PROVIDER", "unset")
    script("a.saft", 'x = "a"\na = $ one {x} $\nb = $ two {x} $\nprint(a, b)\n')
    ended = saftc("run", "a.saft")
    assert ended.code == 1
    assert " --> a.saft:2:5\n" in ended.err
    assert "called at" not in ended.err


def test_an_uncaught_error_in_a_sibling(saftc: Command, script: Script) -> None:
    script("a.saft", 'from b import go\n\ngo(parse("{}"))\n')
    script("b.saft", "f go(x):\n    ret x.name\n")
    ended = saftc("run", "a.saft")
    assert ended.code == 1
    assert " --> b.saft:2:9\n" in ended.err
    assert 'called at a.saft:3:1: go(parse("{}"))' in ended.err


def test_siblings_are_found_beside_the_script(saftc: Command, script: Script, folder: Path) -> None:
    script("inner/a.saft", "import b\nfrom c import y\nprint(b.x + y)\n")
    script("inner/b.saft", "x = 1\n")
    (folder / "inner/c.py").write_text("y: int = 2\n")
    ended = saftc("run", "inner/a.saft")
    assert (ended.code, ended.out) == (0, "3\n"), ended.err


def test_a_failed_assertion(saftc: Command, script: Script) -> None:
    script("a.saft", 'n = 3\nassert n == 4, "n is wrong"\n')
    ended = saftc("run", "a.saft")
    assert ended.code == 1
    assert ended.err.startswith("error: assertion failed: n is wrong\n --> a.saft:2:1\n")


RULES = """\
f pay(amount: decimal, kind: string?) -> string:
    assert kind
    assert amount > 0, "the amount is positive"
    ret f"paid {amount} for {upper(kind)}"

try:
    print(pay(decimal("-5"), "tea"))
except error:
    print(error.kind, error.message)
try:
    print(pay(decimal("5"), nil))
except error:
    print(error.kind, error.message)
assert pay(decimal("5"), "tea") == "nothing"
"""


def test_asserts_hold_where_python_takes_out_its_own(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("a.saft", RULES)
    assert saftc("build", "a.saft", "-o", "a.py").code == 0
    printed = "check the amount is positive\ncheck assertion failed\n"
    for options in ([], ["-O"], ["-OO"]):
        ended = subprocess.run(
            [sys.executable, *options, "a.py"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stdout) == (1, printed), options
        assert "AssertionError" in ended.stderr
    ended = saftc("run", "a.saft")
    assert (ended.code, ended.out) == (1, printed)


def test_a_rule_over_floats_holds_of_what_is_no_number(saftc: Command, script: Script) -> None:
    script("a.saft", 'f half(x: float):\n    assert x > 0\n    print(x)\nhalf(float("nan"))\n')
    assert saftc("run", "a.saft").code == 1


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ('int("it\'s")', '"it\'s" is not an int'),
        ('float("x")', '"x" is not a number'),
        ("xs[3]", "index 3 is out of range: the list has 1 item"),
        ('"a"[xs[0]]', "index 1 is out of range: the string has 1 character"),
        ("xs[-2 - 1]", "index -3 is out of range: the list has 1 item"),
        ("[xs, xs][xs[0] + 1][0]", "index 2 is out of range: the list has 2 items"),
        ("[1][xs[0] + len(xs)]", "index 2 is out of range: the list has 1 item"),
        ("[1][xs[0] + int(\"1\")]", "the list has no item there"),
        ("1 / (xs[0] - 1)", "division by zero"),
        ("max(xs[1:])", "the list has no item: `max` needs one"),
    ],
)
def test_errors_of_python_are_in_words_of_the_script(
    saftc: Command, script: Script, step: str, told: str
) -> None:
    script("a.saft", f"xs = [1]\nprint({step})\n")
    assert saftc("run", "a.saft").err.startswith(f"error: {told}\n --> a.saft:2:")


@pytest.mark.parametrize(("code", "expected"), [("0", 0), ("3", 3), ("", 0)])
def test_a_script_that_exits(saftc: Command, script: Script, code: str, expected: int) -> None:
    script("a.saft", f"import sys\nsys.exit({code})\n")
    assert saftc("run", "a.saft").code == expected


def test_options_set_the_environment(saftc: Command, script: Script) -> None:
    names = ["PROVIDER", "MODEL", "BASE_URL", "API_KEY_ENV", "TEMPERATURE", "MAX_TOOL_ROUNDS"]
    names += ["MAX_TOOL_CALLS", "RECORD", "REPLAY", "VERBOSE", "LOG"]
    script("a.saft", "".join(f'print(env("SAFT_{name}"))\n' for name in names))
    ended = saftc(
        *("run", "a.saft", "--provider", "mock", "--model", "m", "--base-url", "http://localhost"),
        *("--api-key-env", "KEY", "--temperature", "0.5", "--max-tool-rounds", "3"),
        *("--max-tool-calls", "4", "--record", "r", "--replay", "p", "--verbose", "--log", "l"),
    )
    expected = ["mock", "m", "http://localhost", "KEY", "0.5", "3", "4", "r", "p", "1", "l"]
    assert ended.out.split("\n")[:-1] == expected, ended.err


def test_of_a_quiet_run_nothing_is_told(saftc: Command, script: Script) -> None:
    script("a.saft", 'print(env("SAFT_USAGE", "unset"))\n')
    assert saftc("run", "a.saft").out == "unset\n"
    assert saftc("--quiet", "run", "a.saft").out == "0\n"
    assert saftc("-q", "run", "a.saft", "--usage").out == "1\n"


def test_a_prompt_answered_by_mock(saftc: Command, script: Script) -> None:
    script("a.saft", "n: int = $ how many? $\nprint(type(n))\n")
    ended = saftc("a.saft", "--provider", "mock")
    assert (ended.code, ended.out) == (0, "int\n")


def test_a_prompt_without_a_model(saftc: Command, script: Script) -> None:
    script("a.saft", "print(1)\nn: int = $ how many? $\n")
    ended = saftc("a.saft", "--provider", "unset")
    assert (ended.code, ended.out) == (1, "1\n")
    assert " --> a.saft:2:10\n" in ended.err


@pytest.mark.parametrize(
    "arguments", [["--temperature", "warm"], ["--max-tool-rounds", "x"], ["--colour"]]
)
def test_wrong_options(saftc: Command, script: Script, arguments: list[str]) -> None:
    script("a.saft", "print(1)\n")
    ended = saftc("run", "a.saft", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("saftc: ") and "Traceback" not in ended.err


# Python modules


def test_a_name_that_a_python_module_lacks(saftc: Command, script: Script) -> None:
    script("pm.py", "globals()['x'] = 1\n")
    script("a.saft", "y = 1\nfrom pm import nope\nprint(nope, y)\n")
    ended = saftc("a.saft")
    assert ended.code == 1
    assert ended.err.startswith("error: ImportError: cannot import name 'nope' from 'pm'")
    assert " --> a.saft:2:1\n  |\n2 | from pm import nope\n  | ^^^^" in ended.err
    assert "Traceback" not in ended.err and "saftc" not in ended.err


def test_an_error_while_a_python_module_is_imported(saftc: Command, script: Script) -> None:
    script("broken.py", "def f(:\n")
    script("failing.py", "def g():\n    return {}['k']\n\nx = g()\n")
    script("a.saft", "import broken\nprint(broken)\n")
    script("b.saft", "from c import x\nprint(x)\n")
    script("c.saft", "import failing\nx = failing.x\n")
    ended = saftc("a.saft")
    assert ended.code == 1 and "Traceback" not in ended.err
    assert ended.err.startswith("error: SyntaxError: ") and "broken.py, line 1" in ended.err
    assert " --> a.saft:1:1\n" in ended.err
    ended = saftc("b.saft")
    assert ended.err == (
        "error: KeyError: 'k'\n"
        " --> c.saft:1:1\n"
        "  |\n"
        "1 | import failing\n"
        "  | ^^^^^^^^^^^^^^\n"
        "  in failing.py:2, g: return {}['k']\n"
        "  in failing.py:4, <module>: x = g()\n"
        "  called at b.saft:1:1: from c import x\n"
    )


def test_an_error_in_a_python_module(saftc: Command, script: Script) -> None:
    script("pyerr.py", 'def f(): return g()\n\ndef g():\n    return {}["k"]\n')
    script("a.saft", "from pyerr import f\nprint(f())\n")
    assert saftc("a.saft").err == (
        "error: KeyError: 'k'\n"
        " --> a.saft:2:7\n"
        "  |\n"
        "2 | print(f())\n"
        "  |       ^^^\n"
        '  in pyerr.py:4, g: return {}["k"]\n'
        "  in pyerr.py:1, f: def f(): return g()\n"
    )


def test_a_python_module_that_calls_the_script(saftc: Command, script: Script) -> None:
    script("pyerr.py", "def each(f):\n    return [f(n) for n in range(2)]\n")
    script(
        "a.saft",
        'from pyerr import each\nf name(n: int):\n    ret parse("{}").k\n\nprint(each(name))\n',
    )
    ended = saftc("a.saft")
    assert ended.code == 1
    assert " --> a.saft:3:9\n" in ended.err
    assert "  in pyerr.py:2, each: return [f(n) for n in range(2)]\n  called at a.saft:5:7: " in (
        ended.err
    )
    assert ended.err.startswith("error: MissingError: no field `k` in object")


def test_library_code_is_left_out(saftc: Command, script: Script) -> None:
    script("a.saft", 'import json\nprint(json.loads("{"))\n')
    ended = saftc("a.saft")
    assert ended.code == 1 and " --> a.saft:2:7\n" in ended.err and "  in " not in ended.err


GOES_ELSEWHERE = """\
import os
import util
os.chdir("/")
print([1, 2][util.one(8)])
"""


def test_a_failure_is_told_when_the_script_has_gone_elsewhere(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("util.saft", "f one(n: int) -> int:\n    ret n + 1\n")
    script("main.saft", GOES_ELSEWHERE)
    for _ in range(2):
        ended = saftc("main.saft")
        os.chdir(folder)
        assert ended.code == 1
        assert ended.err.startswith("error: the list has no item there\n")
        assert " --> main.saft:4:7\n" in ended.err


def test_a_failure_is_told_when_a_script_it_imports_has_gone(
    saftc: Command, script: Script
) -> None:
    script("util.saft", "f one(n: int) -> int:\n    ret n + 1\n")
    script("main.saft", 'import os\nimport util\nos.remove("util.saft")\nprint([1][util.one(8)])\n')
    ended = saftc("main.saft")
    assert ended.code == 1 and ended.err.startswith("error: the list has no item there\n")


def test_a_mapping_of_python_has_keys(saftc: Command, script: Script) -> None:
    script("a.saft", 'from helper import towns\nprint(towns["a"])\n')
    helper = "from types import MappingProxyType\ntowns = MappingProxyType({})\n"
    script("helper.py", helper.format("{'a': 1}"))
    assert saftc("a.saft").out == "1\n"
    script("helper.py", helper.format("{'other': 'no'}"))
    ended = saftc("a.saft")
    assert ended.code == 1 and "'no'" not in ended.err and '"no"' not in ended.err


def test_an_error_outside_of_the_script_is_told_without_a_place() -> None:
    assert plain(explain(ValueError("odd"), {})).startswith("error: ValueError: odd\n")


@pytest.mark.heavy
def test_a_module_beside_the_script_is_for_the_script_alone(folder: Path, script: Script) -> None:
    """What the runtime loads late, it finds among the installed packages."""
    for name in ("openai", "httpx2", "jiter", "polars", "colorsys"):
        script(f"{name}.py", f"print('{name} beside the script')\nours = 1\n")
    script("a.saft", "print($ one $)\n")
    with FakeServer() as server:
        command = [sys.executable, "-P", "-m", "saftc", "run", "a.saft", "--base-url", server.url]
        settings = {"PYTHONPATH": str(ROOT), "SAFT_PROVIDER": "openai", "SAFT_MODEL": "fake"}
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True
        )
    assert (done.stdout, done.stderr) == ("ok\n", "")
    script("b.saft", "import colorsys\nfrom helper import also\nprint(colorsys.ours, also)\n")
    script("helper.py", "from colorsys import ours as also\n")
    command = [sys.executable, "-P", "-m", "saftc", "run", "b.saft"]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True
    )
    assert done.stdout == "colorsys beside the script\n1 1\n", done.stderr


# Imports


def test_imports_run_where_they_stand(saftc: Command, script: Script, folder: Path) -> None:
    script("effects.py", 'print("effects")\n')
    script("below.saft", 'print("below")\nx = 1\n')
    text = """import effects
print("before")
import below
print("between")
if true:
    from below import x
    print(x)
"""
    script("a.saft", text)
    expected = "effects\nbefore\nbelow\nbetween\n1\n"
    ended = saftc("run", "a.saft")
    assert (ended.code, ended.out, ended.err) == (0, expected, "")
    for form in ([], ["--async", "--force"]):
        assert saftc("build", "a.saft", *form).code == 0
        done = subprocess.run(
            [sys.executable, "a.py"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.stderr) == (expected, "")


def test_unused_imports_are_told_to_the_writer_alone(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("effects.py", "")
    script("rows.csv", "x\n1\n")
    function = "f g(x: any):\n    y = x\n    ret 1\n"
    script("a.saft", f"import effects\nimport effects as _meant\n{function}")
    for command in (["check", "a.saft"], ["build", "a.saft"]):
        ended = saftc(*command)
        assert (ended.out + ended.err).count("`effects` is never used") == 1
        assert "_meant" not in ended.err
    mapped = ["map", "a.saft:g", "rows.csv", "out", "--check"]
    for command in (["run", "a.saft"], ["prompts", "a.saft"], mapped):
        ended = saftc(*command)
        assert ended.code == 0, ended.err
        # What else is warned of, is.
        assert "`effects`" not in ended.err and "`y` is never used" in ended.err


def test_a_kept_program_calls_what_is_imported(saftc: Command, script: Script) -> None:
    script("g1.saft", "f add(a: int, b: int) -> int:\n    ret a + b\nf no() -> int:\n    ret 1\n")
    for read in (
        'plan: program = parse(text)\nprint(run(plan))\n',
        "f go(plan: program):\n    ret run(plan)\nprint(go(parse(text)))\n",
        "f read_it() -> program:\n    ret parse(text)\nprint(run(read_it()))\n",
    ):
        text = 'text = "{\\"add\\": {\\"a\\": 2, \\"b\\": 3}}"\n'
        script("g2.saft", f"from g1 import add, no\n{text}{read}")
        ended = saftc("run", "g2.saft")
        assert (ended.code, ended.out, ended.err) == (0, "5\n", "")


@pytest.mark.parametrize(
    "command", [["run", "a.saft"], ["a.saft"], ["map", "a.saft:ask", "t", "o"]]
)
@pytest.mark.parametrize("name", ["nosuch", "scripted", "mokc"])
def test_an_unknown_provider_is_told_before_the_script_begins(
    saftc: Command,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    name: str,
) -> None:
    script("a.saft", 'print("begin")\n\nf f(x: string):\n    ret $ greet {x} $\n')
    ended = saftc(*command, "--provider", name)
    assert (ended.code, ended.out) == (2, "")
    assert f"--provider: no provider `{name}`" in ended.err
    assert ", scripted" not in ended.err
    monkeypatch.setenv("SAFT_PROVIDER", name)
    ended = saftc(*command)
    assert (ended.code, ended.out) == (2, "")
    assert f"SAFT_PROVIDER: no provider `{name}`" in ended.err
