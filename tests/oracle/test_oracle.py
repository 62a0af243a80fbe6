"""The compiler against the reference interpreter, over generated scripts.

`SAFT_ORACLE_EXAMPLES` says how many; a failure shows the script made small.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from saftc.driver import check
from saftc.source import Source
from tests.oracle.compare import Disagreement, compare
from tests.oracle.generate import Generated, scripts
from tests.oracle.interpreter import run
from tests.oracle.model import ToolUse
from tests.oracle.shrinking import shrunk

EXAMPLES = int(os.environ.get("SAFT_ORACLE_EXAMPLES", "150"))


# What the model says to the prompts of the written scripts, by the mark in the prompt.
REPLIES = {
    1: ("1", "2", "3"),
    2: ("yes please",),
    3: ("true",),
    4: ("[1, 2]",),
    5: ('{"name": "Oslo", "size": 1}',),
    6: ('{"name": "Oslo", "size": 1}', '{"name": "Oslo", "size": 0.5}'),
    20: ('{"end": {"name": "Oslo", "size": 1}, "cities": [{"name": "Bergen", "size": 0.5}]}',),
    21: ((ToolUse("add", {"a": 1}), ToolUse("add", {"a": 2})), "4"),
    7: ('{"day": "2026-02-30", "total": 1}', '{"day": "2026-01-31", "total": 12.30}'),
    8: ('"2026-01-31"',),
    9: ('{"2026-01-31": 1, "20260131": 2}', '{"2026-01-31": 1, "2026-02-01": 2}'),
    10: ('{"2026-01-31": 1}',),
    30: (
        (ToolUse("add", {"a": 1}), ToolUse("name", {"a": "x"}), ToolUse("add", {"a": "not one"})),
        "done",
    ),
    31: (tuple(ToolUse("add", {"a": one}) for one in range(12)), "done"),
    32: (tuple(ToolUse("careful", {"a": one}) for one in range(6)), "done"),
    33: ((ToolUse("careful", {"a": 5}), ToolUse("name", {"a": "y"})), "done"),
    34: ((ToolUse("careful", {"a": 6}), ToolUse("name", {"a": "z"})), "done"),
    35: ((ToolUse("one", {"a": 7}),), (ToolUse("one", {"a": 8}),), "done"),
    36: ((ToolUse("tool", {"a": 9}),), "done"),
    37: ((ToolUse("careful", {"a": 1}),), "done"),
}


def _scripts() -> list[Any]:
    """The scripts of `scripts/`, which a line of dashes separates."""
    found: list[Any] = []
    for path in sorted((Path(__file__).parent / "scripts").glob("*.saft")):
        texts = path.read_text(encoding="utf-8").split("\n// ----\n")
        for number, text in enumerate(texts, 1):
            found.append(pytest.param(text.rstrip("\n") + "\n", id=f"{path.stem}-{number}"))
    return found


@pytest.mark.heavy
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(scripts())
def test_generated_scripts_do_the_same_compiled_and_interpreted(generated: Generated) -> None:
    try:
        compare(generated.text, generated.replies)
    except Disagreement as difference:
        small = shrunk(generated.text, generated.replies)
        pytest.fail(f"{difference}\n\n{small}\n{generated.replies}", pytrace=False)


@pytest.mark.parametrize("script", _scripts())
def test_written_scripts_do_the_same_compiled_and_interpreted(script: str) -> None:
    compare(script, REPLIES)


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        ("x = 1\nf g():\n    y = x\n    x = 2\n    ret [y, x]\nprint(g(), x)\n", "[1, 2] 1"),
        ("f g():\n    ret x\nx = 1\na = g()\nx = 2\nprint(a, g())\n", "1 2"),
        ("print(1 == 1.0, true == 1, [1] == (1,))\n", "true false false"),
        ("x: [float] = [1, 2.5]\nprint(x)\n", "[1.0, 2.5]"),
        ("x: {a: int, b: string?} = {a: 1}\nprint(x)\n", "{a: 1, b: nil}"),
        ("print(0 or false, nil and 1, not 0)\n", "true false false"),
    ],
)
def test_interpreter_follows_the_reference(script: str, printed: str) -> None:
    checked = check(Source.from_text("case.saft", script))
    assert run(checked.module, {}).output == (printed,)


@pytest.mark.parametrize(
    ("script", "kind", "line"),
    [
        ("x = 1\nx + nil\n", "value", 2),
        ("x = [1]\nx[3]\n", "missing", 2),
        ("f g(a: int):\n    ret a\ng(\n    1.5,\n)\n", "value", 3),
        ("x = 0\nassert x == 1\n", "assert", 2),
        ("for a in 3:\n    a\n", "value", 1),
    ],
)
def test_a_fault_has_its_kind_and_line(script: str, kind: str, line: int) -> None:
    source = Source.from_text("case.saft", script)
    fault = run(check(source).module, {}).fault
    assert fault is not None
    assert (fault.kind, source.line_of(fault.span.start)) == (kind, line)


def test_a_difference_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.oracle.evaluation.negated", lambda value: value)
    with pytest.raises(Disagreement, match="output: expected"):
        compare("x = 1\nprint(-x)\n")
