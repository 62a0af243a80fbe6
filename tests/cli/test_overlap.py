"""Switching overlap off and on, what projects say of it, and where errors in it come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command

Script = Callable[[str, str], Path]

ASKING = """\
f ask(word: string) -> string:
    ret $ greet {word} $

for word in ["Ada", "Grace"]:
    answer = ask(word)
    print(word, answer)
"""
CALLING = """\
from geo import distance

for word in ["Ada", "Grace"]:
    print($ {distance(word)} $)
"""


def _project(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.saft]\n{text}\n")


def test_a_module_overlaps_unless_it_is_not_to(saftc: Command, script: Script) -> None:
    path = script("a.saft", ASKING)
    module = path.with_suffix(".py")
    assert saftc("build", "a.saft").code == 0
    assert "overlap(ask_word, " in module.read_text()
    # What the cache has of one is not taken for the other.
    assert saftc("build", "a.saft", "--no-overlap").code == 0
    assert 'for word in ["Ada", "Grace"]:\n    answer = ask(word)\n' in module.read_text()
    assert "overlap" not in module.read_text()
    assert saftc("build", "a.saft", "--check").code == 1
    assert saftc("build", "a.saft", "--check", "--no-overlap").code == 0


@pytest.mark.parametrize("options", [[], ["--no-overlap"]])
def test_a_script_runs_the_same(saftc: Command, script: Script, options: list[str]) -> None:
    script("a.saft", ASKING)
    ended = saftc("run", "a.saft", "--provider", "mock", *options)
    assert (ended.code, ended.out) == (0, "Ada Hello, Ada!\nGrace Hello, Grace!\n")


def test_a_project_switches_it_off(saftc: Command, script: Script) -> None:
    path = script("a.saft", ASKING)
    _project(path.parent, "overlap = false")
    assert saftc("build", "a.saft").code == 0
    assert "overlap" not in path.with_suffix(".py").read_text()
    assert "overlap" not in saftc("prompts", "a.saft").out
    # What it says is for the compiler alone.
    assert saftc("run", "a.saft", "--provider", "mock").code == 0


def test_a_project_declares_functions_of_python(saftc: Command, script: Script) -> None:
    path = script("a.saft", CALLING)
    (path.parent / "geo.py").write_text("def distance(word: str) -> str:\n    return word\n")
    assert saftc("build", "a.saft").code == 0
    assert "overlap" not in path.with_suffix(".py").read_text()
    reason = (
        "the effects of `distance` of Python are not known (line 4); if it has no effects and "
        'does not fail: pure = ["geo.distance"]'
    )
    assert reason in saftc("prompts", "a.saft").out
    _project(path.parent, 'pure = ["geo.*"]')
    assert saftc("build", "a.saft").code == 0
    assert "overlap(ask_word, " in path.with_suffix(".py").read_text()
    assert "asked ahead, for the next items of the loop (line 3)" in saftc("prompts", "a.saft").out


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("overlap = 1", "[tool.saft] overlap: expected true or false, got 1"),
        ('pure = "geo.*"', "[tool.saft] pure: expected a list of names of Python functions"),
        (
            'pure = ["geo.*", "a b"]',
            "[tool.saft] pure: expected a list of names of Python functions",
        ),
        ("overlap = ", "cannot read"),
        ("[tool.saft.overlap]", "[tool.saft] overlap: expected true or false"),
    ],
)
def test_what_a_project_cannot_say(saftc: Command, script: Script, text: str, problem: str) -> None:
    path = script("a.saft", ASKING)
    _project(path.parent, text)
    for command in (["build"], ["run"], ["prompts"], ["check"]):
        ended = saftc(*command, "a.saft")
        assert ended.code == 1
        assert problem in ended.err
        assert "pyproject.toml" in ended.err


def test_an_error_ahead_is_one_of_the_script(saftc: Command, script: Script) -> None:
    script(
        "a.saft",
        'for word in ["a", "b"]:\n    answer = $ What is\n        {word}? $\n    print(answer)\n',
    )
    ended = saftc("run", "a.saft", "--provider", "unset")
    assert ended.code == 1
    assert "a.saft:2:14" in ended.err
    assert saftc("run", "a.saft", "--provider", "unset", "--no-overlap").err == ended.err


HELPERS = "f ask(word: string) -> string:\n    {0}\n    ret $ greet {{word}} $\n"
IMPORTING = """\
from middle import ask

for word in [ask(word) for word in ["Ada"]]:
    print(word)
"""


def test_what_a_function_of_another_script_does_is_known(saftc: Command, script: Script) -> None:
    module = script("a.saft", IMPORTING).with_suffix(".py")
    script("middle.saft", "from helpers import ask\nprint(ask)\n")
    helpers = script("helpers.saft", HELPERS.format("print(word)")).with_suffix(".py")
    assert saftc("build", "a.saft").code == 0
    assert 'list(overlap(ask, ["Ada"]))' in module.read_text()
    # What is called ahead from elsewhere prints in its turn.
    assert "from runtime_support.ops import print" in helpers.read_text()
    # What was compiled before is not what it would be now.
    script("helpers.saft", HELPERS.format('assert word != ""'))
    assert saftc("build", "a.saft").code == 0
    assert '[ask(word) for word in ["Ada"]]' in module.read_text()
    assert "import prompt\n" in helpers.read_text()


def test_the_line_of_another_script_is_told(saftc: Command, script: Script) -> None:
    script("helpers.saft", 'f tidy(word: string) -> string:\n    assert word != ""\n    ret word\n')
    script(
        "a.saft",
        "from helpers import tidy\nfor word in [\"Ada\"]:\n    print($ greet {tidy(word)} $)\n",
    )
    reason = "in order, as `assert` may stop the script (line 2 of helpers.saft)"
    assert reason in saftc("prompts", "a.saft").out


def test_constants_of_a_python_module_are_gone_over(saftc: Command, script: Script) -> None:
    script("words.py", 'WORDS = ["Ada", "Bob"]\nTITLES = {"Ada": "Dr"}\nothers = ["Grace"]\n')
    head = "from words import WORDS, TITLES, others\n"
    body = "for word in {}:\n    print($ greet {{word}}, {} $)\n"
    script("a.saft", head + body.format("WORDS", 'a {get(TITLES, word, "person")}'))
    assert "asked ahead, for the next items" in saftc("prompts", "a.saft").out
    script("a.saft", head + body.format("others", "a person"))
    assert "in order, as `word` is of unknown type" in saftc("prompts", "a.saft").out


@pytest.mark.parametrize(("options", "most"), [([], "nil"), (["--no-overlap"], "1")])
def test_a_run_in_order_holds_what_programs_call_to_it(
    saftc: Command, script: Script, options: list[str], most: str
) -> None:
    script("a.saft", 'print(env("SAFT_MAX_IN_FLIGHT"))\n')
    assert saftc("run", "a.saft", *options).out == f"{most}\n"
