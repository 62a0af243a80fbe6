"""The edits of hints: what they make of a script has nothing more to report."""

import pytest

from saftc.diagnostics.model import Edit
from saftc.driver import check
from saftc.source import Source

pytestmark = pytest.mark.one_python


def _edited(text: str, edits: tuple[Edit, ...]) -> str:
    for edit in sorted(edits, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("people = [1]\nprint(pepole)", "people = [1]\nprint(people)"),
        ("print(True)", "print(true)"),
        ("x = None\nprint(x)", "x = nil\nprint(x)"),
        ("x: flaot = 1.5\nprint(x)", "x: float = 1.5\nprint(x)"),
        ("p = {name: 1}\nprint(p.nmae)", "p = {name: 1}\nprint(p.name)"),
        ('type L = "low" | "high"\nx: L = "hihg"\nprint(x)', None),
        ('type P(name: string)\nprint(P(nmae: "a"))', None),
        ("f g(size):\n    ret size\nprint(g(sise: 1))", None),
        ('x = $ a $ with {modle: "m"}\nprint(x)', None),
        ("x = $ a $\nprint(x.toolcalls)", "x = $ a $\nprint(x.toolCalls)"),
        ("import math\nprint(1)", "\nprint(1)"),
        ("from math import pi, tau\nprint(pi)", "from math import pi\nprint(pi)"),
        ("from math import pi, tau\nprint(tau)", "from math import tau\nprint(tau)"),
        ('n = 1\nprint("{n}")', 'n = 1\nprint(f"{n}")'),
        (
            "type Label = string\nf label(x):\n    ret x\nprint(lable(1))",
            "type Label = string\nf label(x):\n    ret x\nprint(label(1))",
        ),
        ('f g():\n    raise ValueError("no")\ng()', 'f g():\n    fail "no"\ng()'),
        ('f g():\n    throw "no"\ng()', 'f g():\n    fail "no"\ng()'),
        ("def g(x):\n    ret x\nprint(g(1))", "f g(x):\n    ret x\nprint(g(1))"),
        ("f g(x):\n    return x\nprint(g(1))", "f g(x):\n    ret x\nprint(g(1))"),
        ("let x = 1\nprint(x)", "x = 1\nprint(x)"),
        ("x = 1\nif x = 1:\n    print(x)", "x = 1\nif x == 1:\n    print(x)"),
        ("x = 1\nif x === 1:\n    print(x)", "x = 1\nif x == 1:\n    print(x)"),
        ("x = 1\nif x !== 2:\n    print(x)", "x = 1\nif x != 2:\n    print(x)"),
        ("x = 1\nif x is 1:\n    print(x)", "x = 1\nif x == 1:\n    print(x)"),
        ("x = 1\nif x is not 2:\n    print(x)", "x = 1\nif x != 2:\n    print(x)"),
        ("x = true\nif x || false:\n    print(x)", "x = true\nif x or false:\n    print(x)"),
        ("x = true\nif x && x:\n    print(x)", "x = true\nif x and x:\n    print(x)"),
        ("x = true\nif !x:\n    print(x)", "x = true\nif not x:\n    print(x)"),
        ("x = 1\nx++\nprint(x)", "x = 1\nx += 1\nprint(x)"),
        ("x := 1\nprint(x)", None),
        ("print(1 2)", "print(1, 2)"),
        ("x = 1\nif x == 1\n    print(x)", "x = 1\nif x == 1:\n    print(x)"),
        ("f g(int x):\n    ret x\nprint(g(1))", "f g(x: int):\n    ret x\nprint(g(1))"),
        ("f g(a: int[]):\n    ret a\nprint(g([1]))", "f g(a: [int]):\n    ret a\nprint(g([1]))"),
        ("f g(a):\n    ret a\nprint(g(a=1))", "f g(a):\n    ret a\nprint(g(a: 1))"),
        ("x = {a = 1}\nprint(x)", "x = {a: 1}\nprint(x)"),
        ("print(.5)", "print(0.5)"),
        ("print(0x10)", "print(16)"),
        ("# a note\nprint(1)", "// a note\nprint(1)"),
        ("print(2 \u2212 1)", "print(2 - 1)"),
        (
            "x = 1\nif x == 1:\n    print(1)\nelse if x == 2:\n    print(2)",
            "x = 1\nif x == 1:\n    print(1)\nelif x == 2:\n    print(2)",
        ),
    ],
)
def test_edits_do_what_the_hint_says(wrong: str, right: str | None) -> None:
    found = check(Source.from_text("in.saft", wrong + "\n")).diagnostics
    edits = [one.edits for one in found if one.edits]
    assert len(edits) == 1, found
    edited = _edited(wrong + "\n", edits[0])
    if right is not None:
        assert edited == right + "\n"
    left = [one.code for one in check(Source.from_text("in.saft", edited)).diagnostics]
    assert len(left) < len(found), edited


@pytest.mark.parametrize(
    "raised", ['RuntimeError("x") from e', 'RuntimeError("x", 3)', "RuntimeError(text)"]
)
def test_what_a_failure_cannot_take_over_is_not_edited(raised: str) -> None:
    (mistake,) = check(Source.from_text("in.saft", f"raise {raised}\n")).diagnostics
    assert "write `fail" in str(mistake.hint)
    assert not mistake.edits
