"""Journals, recordings and budgets that the environment sets, for programs that are no command."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.meet.scripts import SCRIPTS, settle
from tests.meet.table import TRIED, pair
from tests.meet.test_hosts import calls
from tests.support.homes import Home

SCRIPT = SCRIPTS["overlap"]
VALUE, REQUESTS = SCRIPT.value, SCRIPT.requests
Program = Callable[..., str]


def _python(home: Home, program: str, **environment: str) -> str:
    ended = home.python(program, **environment)
    return ended.out if ended.code == 0 else f"failed: {ended.out}{ended.err}"


def _in_loop(home: Home, **environment: str) -> str:
    settle(home, SCRIPT)
    assert home.saftc("build", "--async", "part.saft").code == 0
    program = "import asyncio, part\nprint(asyncio.run(part.go('a')))\n"
    return _python(home, program, **environment)


def _of_package(home: Home, **environment: str) -> str:
    home.write("src/desk/__init__.py", "")
    home.write("pyproject.toml", '[tool.saft]\nroot = "src"\nin-place = true\n')
    settle(home, SCRIPT, "src/desk/")
    assert home.saftc("build").code == 0
    program = "import sys\nsys.path.insert(0, 'src')\nfrom desk.part import go\nprint(go('a'))\n"
    return _python(home, program, **environment)


def _in_thread(home: Home, **environment: str) -> str:
    settle(home, SCRIPT)
    assert home.saftc("build", "part.saft").code == 0
    program = (
        "import contextvars, part\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(1) as threads:\n"
        "    print(threads.submit(contextvars.copy_context().run, part.go, 'a').result())\n"
    )
    return _python(home, program, **environment)


def _in_cells(home: Home, **environment: str) -> str:
    settle(home, SCRIPT)
    ended = home.notebook(f"%%saft\n{SCRIPT.text}", '%%saft\nprint(go("a"))', **environment)
    return ended.out if ended.code == 0 else f"failed: {ended.out}{ended.err}"


def _served(home: Home, **environment: str) -> str:
    settle(home, SCRIPT)
    [found] = calls(home, "go", "a", **environment)
    is_error, said = found
    return f"failed: {said}" if is_error else f"{said['result']}\n"


HOSTS: dict[str, Program] = {
    "async": _in_loop,
    "package": _of_package,
    "fork": _in_thread,
    "notebook": _in_cells,
    "serve": _served,
}


def each_host(part: str, but: str = "", **fails: str) -> pytest.MarkDecorator:
    """The hosts with a part, and the reasons why some of them fail with it; `but` for one."""
    cases: list[object] = []
    for name, program in HOSTS.items():
        if name == but:
            continue
        TRIED.setdefault(pair(part, name), []).append(f"{__name__}::{part}[{name}]")
        why = fails.get(name)
        marks = [pytest.mark.xfail(strict=True, reason=why)] if why else []
        cases.append(pytest.param(program, id=name, marks=marks))
    return pytest.mark.parametrize("program", cases)


# Each call of a served function is a run: test_pairs.py has these.
@each_host("journal", but="serve")
def test_a_journal_pays_once(home: Home, program: Program) -> None:
    for _ in range(2):
        assert program(home, SAFT_JOURNAL="a.journal") == f"{VALUE}\n"
    assert len(home.asked) == REQUESTS


@each_host("replay")
def test_a_recording_answers_all(home: Home, program: Program) -> None:
    assert program(home, SAFT_RECORD="a.jsonl") == f"{VALUE}\n"
    assert program(home, SAFT_REPLAY="a.jsonl", SAFT_PROVIDER="unset") == f"{VALUE}\n"
    assert len(home.asked) == REQUESTS


@each_host("budget")
def test_a_budget_is_never_passed(home: Home, program: Program) -> None:
    said = program(home, SAFT_BUDGET_REQUESTS="2")
    assert said.startswith("failed: ") and "the budget of 2 requests" in said
    assert len(home.asked) == 2
