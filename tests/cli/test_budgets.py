"""`saftc run` with a budget."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from runtime_support._core import spending
from tests.cli.conftest import Command

Script = Callable[[str, str], Path]

LOOP = """\
done: [string] = []
try:
    for name in ["Ada", "Bo", "Cy"]:
        done += [$ greet {name} $]
        print(done[-1])
except error:
    print("caught", error.kind)
    if error.kind == "budget":
        fail error
"""


@pytest.fixture(autouse=True)
def nothing_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spending, "_of_process", spending.UsageMeter())


def test_a_run_ends_where_its_budget_does(saftc: Command, script: Script) -> None:
    script("greet.saft", LOOP)
    ended = saftc("run", "greet.saft", "--provider", "mock", "--budget-requests", "2")
    assert ended.code == 1
    assert ended.out == "Hello, Ada!\nHello, Bo!\ncaught budget\n"
    assert ended.err == (
        "error: BudgetSpent: the next request would pass the budget of 2 requests; spent so "
        "far: 2 requests, 10 tokens (greet.saft:4:18: 2 requests, 10 tokens); raise "
        "`budget_requests` to continue\n"
        " --> greet.saft:4:18\n"
        "  |\n"
        "4 |         done += [$ greet {name} $]\n"
        "  |                  ^^^^^^^^^^^^^^^^\n"
    )


def test_a_budget_that_is_none(saftc: Command, script: Script) -> None:
    script("greet.saft", LOOP)
    ended = saftc("run", "greet.saft", "--provider", "mock", "--budget-cost", "-1")
    assert (ended.code, ended.out) == (2, "")
    assert "--budget-cost: expected 0 or more, got float -1.0" in ended.err
