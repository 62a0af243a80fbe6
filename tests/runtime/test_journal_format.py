"""The page on the format of journals says what their files are."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from runtime_support import (
    ContractError,
    Reply,
    Request,
    RunWaiting,
    approve,
    configure,
    overlap,
    program,
    prompt,
)
from runtime_support.runs import journaled
from runtime_support.testing import Scripted, tool_request

PAGE = (Path(__file__).parents[2] / "docs/journal.md").read_text(encoding="utf-8")
Script = Callable[..., Scripted]


class Echo:
    def complete(self, request: Request) -> Reply:
        return Reply("again")


def double(x: int) -> int:
    """Twice as much."""
    return 2 * x


def test_the_table_is_that_of_the_page(scripted: Script) -> None:
    scripted("hello")
    with journaled("run.journal"):
        prompt("Say hello.")
    [table] = re.findall(r"```sql\n(.*?)\n```", PAGE, re.DOTALL)
    with closing(sqlite3.connect("run.journal")) as database:
        made = [sql for [sql] in database.execute("select sql from sqlite_master")]
        [identity] = database.execute("pragma application_id").fetchone()
        [version] = database.execute("pragma user_version").fetchone()
    assert table == "\n".join(made)
    assert f"`application_id` is {identity}" in PAGE and f"version {version} of the" in PAGE


def test_the_page_names_all_that_is_kept(scripted: Script) -> None:
    say = partial(prompt, "{text}", text="Again.")
    with configure(provider=Echo()):
        with journaled("run.journal"):
            list(overlap(lambda _: say(), [1]))
        with journaled("run.journal"):
            say()
    scripted(
        [tool_request("times", x=1)],
        "two",
        '{"double": {"x": 2}}',
        "no number",
        [tool_request("double", x=3)],
    )
    factor = 3

    def times(x: int) -> int:
        return factor * x

    with journaled("run.journal"):
        prompt("{times}", times=times)
        program("{double}", double=double)
        with pytest.raises(ContractError):
            prompt("?", returns=int, options={"max_repairs": 0})
        with pytest.raises(RunWaiting):
            prompt("{double}", double=approve(double))
    rows = re.findall(r"^\| `(\w+)` \| .+? \| .+? \| (.+) \|$", PAGE, re.MULTILINE)
    named = {word for _, data in rows for word in re.findall(r"`(\w+)`", data)}
    with closing(sqlite3.connect("run.journal")) as database:
        found = database.execute("select kind, step, data from entry").fetchall()
    assert {name for *_, data in found for name in json.loads(data)} <= named
    kinds = {kind for kind, _ in rows}
    assert {kind for kind, *_ in found} == kinds and len(kinds) == 6
    steps = {step for _, step, _ in found}
    assert steps == {"begun", "ended", "0", "1", "t1", "t1p1", "place"}
