"""What may fail, by cause; and that those who ask all have it from there."""

from dataclasses import dataclass
from typing import Any

import pytest

from saftc.check.facts import Facts
from saftc.infer.failures import Cause, failures_in, failures_of, never_fails
from saftc.lower.ownership import find_growth
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from saftc.types.types import STRING
from tests.compiler.support import compile_text

pytestmark = pytest.mark.one_python

_KNOWN = """
from math import sqrt
type Item(name: string, count: int)
type Even(n: int):
    assert n % 2 == 0
f same(x: int) -> int:
    ret x
f look(x):
    ret x
f run_all(n: int, x: float, text: string, xs: [int], item: Item, row: {a: int}, any_: any,
        pair: (int, string), key: "a" | "b", maybe: string?):
    late, teams = (true, {a: 1, b: 2})
    if text == "":
        early = 1
"""
_CASES = {
    # What cannot fail.
    "1": set[Cause](),
    "text": set[Cause](),
    'text + "x"': set[Cause](),
    "n + 1": set[Cause](),
    "n * 2 - n": set[Cause](),
    "n % 2": set[Cause](),
    "-x": set[Cause](),
    "not late": set[Cause](),
    "text if late else maybe": set[Cause](),
    "[n, ...xs]": set[Cause](),
    "{a: n, [text]: x}": set[Cause](),
    "item.name": set[Cause](),
    "row.a": set[Cause](),
    "pair.1": set[Cause](),
    "pair[1]": set[Cause](),
    "teams[key]": set[Cause](),
    "text[1:]": set[Cause](),
    "upper(text)": set[Cause](),
    "[one + 1 for one in xs if one > 2]": set[Cause](),
    'f"{text} {x:.2f} {n:,}"': set[Cause](),
    "Item(text, n)": set[Cause](),
    "type(any_)": set[Cause](),
    "round(n)": set[Cause](),
    'split(text, ",")': set[Cause](),
    "div(n, 2)": set[Cause](),
    # What values bring about.
    "xs[0]": {Cause.VALUE},
    "text[::n]": {Cause.VALUE},
    "row[text]": {Cause.VALUE},
    "any_.name": {Cause.VALUE},
    "any_ + 1": {Cause.VALUE},
    "any_ < 1": {Cause.VALUE},
    "any_(1)": {Cause.VALUE},
    "upper(any_)": {Cause.VALUE},
    "[...any_]": {Cause.VALUE},
    "[one for one in any_]": {Cause.VALUE},
    "[a for a, b in any_]": {Cause.VALUE},
    "n % n": {Cause.VALUE},
    "x / x": {Cause.VALUE},
    "int(text)": {Cause.VALUE},
    "div(n, n)": {Cause.VALUE},
    "split(text, text)": {Cause.VALUE},
    "max(xs)": {Cause.VALUE},
    "Even(n)": {Cause.VALUE},
    # That a number or a value is too large, or no finite number, is told when it happens.
    "n / 2": set[Cause](),
    "n + 0.5": set[Cause](),
    "range(n)": set[Cause](),
    "round(x)": set[Cause](),
    "round(x, n)": set[Cause](),
    'f"{n:.1f}"': set[Cause](),
    "str(n)": set[Cause](),
    "print(n)": set[Cause](),
    "item == item": set[Cause](),
    # The rest.
    "read_text(text)": {Cause.ACCIDENT},
    "env(text)": {Cause.ACCIDENT},
    "$ hello $": {Cause.ACCIDENT},
    "early + 1": {Cause.UNSET},
    "sqrt(x)": {Cause.PYTHON},
    "same(n)": {Cause.CALL},
    "same(xs[0])": {Cause.VALUE, Cause.CALL},
}


def _last(text: str) -> tuple[Facts, n.Expression]:
    """The expression that a function of everything at hand ends with."""
    checked = compile_text(f"{_KNOWN}    print({text})\n").checked
    assert not checked.has_errors, checked.diagnostics
    function = checked.module.statements[-1]
    assert isinstance(function, n.FunctionDef)
    last = function.body[-1]
    assert isinstance(last, n.ExpressionStmt) and isinstance(last.value, n.Call)
    return checked.facts, last.value.arguments[0].value


@pytest.mark.parametrize("text", _CASES)
def test_the_causes_for_which_an_expression_may_fail(text: str) -> None:
    facts, node = _last(text)
    found = list(failures_in(facts, node))
    assert {one.cause for one in found} == _CASES[text]
    assert never_fails(facts, node) is not bool(found)


@dataclass(slots=True, eq=False)
class _New(n.Node):
    """A node of which no rule has heard, with something in it."""

    value: n.Node


@pytest.mark.parametrize("text", ["{}", "upper({})", "text + {}", "[{}]", 'f"{{{}}}"'])
def test_a_node_that_no_rule_names_may_fail(text: str) -> None:
    facts, node = _last(text.format("lower(text)"))
    assert never_fails(facts, node)
    (inner,) = (one for one in walk(node) if _is_lower(one))
    new = _New(inner.span, inner)
    facts.types[new] = STRING
    found = [one.cause for one in failures_in(facts, _with(node, inner, new))]
    assert Cause.UNKNOWN in found


def _is_lower(node: n.Node) -> bool:
    return isinstance(node, n.Call) and getattr(node.function, "text", "") == "lower"


def _with(node: n.Node, old: n.Node, new: n.Node) -> n.Node:
    """The tree with another node in the place of `old`; it is changed in place."""
    for one in [*walk(node)]:
        for name in one.__slots__:
            value: Any = getattr(one, name)
            if value is old:
                object.__setattr__(one, name, new)
            elif type(value) is tuple and old in value:
                object.__setattr__(one, name, tuple(new if x is old else x for x in value))
    return new if node is old else node


def test_what_no_rule_names_is_unknown_by_itself() -> None:
    facts, node = _last("text")
    (found,) = failures_of(facts, _New(Span(0, 0), node))
    assert found.cause is Cause.UNKNOWN


# The value may print, and the key may then fail: so the key comes first, as in Saft.
_PUT = """
f told(word: string) -> int:
    print(word)
    ret len(word)
f count(words: [string], n: int) -> {{[string]: int}}:
    found = {{}}
    for word in words:
        found = {{...found, [{key}]: told(word)}}
    ret found
print(count(["a"], 1))
"""


@pytest.mark.parametrize(
    ("key", "moves"),
    [
        ("word", True),
        ("upper(word)", True),
        ('word + "x"', True),
        ('f"<{word}>"', True),
        ("str(0.5 + n)", True),
        ("str(n)", True),
        ("words[0]", False),
        ("read_text(word)", False),
        ("$ key of {word} $", False),
    ],
)
def test_a_key_that_may_fail_is_not_moved_behind_its_value(key: str, moves: bool) -> None:
    facts = compile_text(_PUT.format(key=key)).checked.facts
    (growth,) = find_growth(facts).values()
    assert getattr(growth, "is_item", None) is moves


_RULE = """
if env("X") == "3":
    unit = "cm"
type Box(size: int, sides: [int], label: string):
    assert size > 0, {message}
print(Box(1, [1], "x"))
"""


@pytest.mark.parametrize(
    ("message", "waits"),
    [
        ('"too small"', False),
        ('f"{size} is too small"', False),
        ('label + " is too small"', False),
        ('f"{sides[0]} is too small"', True),
        ('f"{size / 2} is too small"', True),
        ('f"{size} {unit} is too small"', True),
    ],
)
def test_a_message_that_may_fail_is_made_when_its_rule_does_not_hold(
    message: str, waits: bool
) -> None:
    text = compile_text(_RULE.format(message=message)).text or ""
    assert ("lambda" in text) is waits, text
