"""What is said to those who write as in other languages: one mistake, one report, with a hint.

`habits.jsonl` has a script on each line and what is said of it; `--update-cases` writes that anew.
"""

import json
from pathlib import Path
from typing import TypedDict

import pytest

from saftc.diagnostics.model import Diagnostic
from saftc.driver import check
from saftc.source import Source

pytestmark = pytest.mark.one_python

_FILE = Path(__file__).parent / "habits.jsonl"


class Habit(TypedDict):
    script: str
    said: list[str]


def _habits() -> list[Habit]:
    return [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]


def _said(script: str) -> list[str]:
    source = Source.from_text("in.saft", script)
    return [_line(source, diagnostic) for diagnostic in check(source).diagnostics]


def _line(source: Source, found: Diagnostic) -> str:
    place = source.position(found.span.start)
    hint = f" ({found.hint})" if found.hint else ""
    return f"{place.line}:{place.column} {found.code}: {found.message}{hint}"


def test_each_habit_is_answered(updates_cases: bool) -> None:
    habits = _habits()
    if updates_cases:
        told = [Habit(script=habit["script"], said=_said(habit["script"])) for habit in habits]
        lines = [json.dumps(habit, ensure_ascii=False) for habit in told]
        _FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    wrong = {
        habit["script"]: said
        for habit in habits
        if (said := _said(habit["script"])) != habit["said"]
    }
    assert not wrong


# What is clear without a hint, or of which nobody can tell what is meant.
_CLEAR = (
    "unknown name",
    "is never closed",
    "needs a value for",
    "given",
    "out of range",
    "appears twice",
    "outside a loop",
    "division by zero",
    "`-` does not take bool",
)


@pytest.mark.parametrize("habit", _habits()[:193], ids=lambda habit: repr(habit["script"])[:40])
def test_what_is_said_has_a_hint(habit: Habit) -> None:
    for line in habit["said"]:
        assert line.endswith(")") or any(words in line for words in _CLEAR), line
