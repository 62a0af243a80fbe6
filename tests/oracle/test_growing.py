"""Growth in place against the interpreter, which makes a new value every time.

Each rule of `saftc.lower.ownership` is switched off in turn, and the comparison must notice:
with a script that was written for the rule, and with one that was generated.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from saftc.lower import ownership
from saftc.syntax import nodes as n
from tests.oracle.aliasing import Aliasing
from tests.oracle.compare import Disagreement, compare
from tests.oracle.shrinking import shrunk
from tests.oracle.test_oracle import EXAMPLES, REPLIES

pytestmark = pytest.mark.one_python

# So many generated scripts are compared: each is as large as many of the usual ones.
COUNT = max(1, EXAMPLES // 15)
_TEXT = (Path(__file__).parent / "scripts" / "growing.saft").read_text(encoding="utf-8")
# What scripts were written for: it stands in their first lines.
_WRITTEN = {
    script.partition("\n")[0].removeprefix("// "): script.rstrip("\n") + "\n"
    for script in _TEXT.split("\n// ----\n")
}


def generated(seed: int) -> str:
    """The generated script of this number; every other one is about what is inside of objects."""
    return Aliasing(Random(seed // 2).randrange, is_inside=bool(seed % 2)).script()


# Each rule switched off: what stands in the place of what part of the analysis.
Off = dict[str, Any]
_FINDER: Any = vars(ownership)["_GrowthFinder"]
_CAPTURED: Any = vars(ownership)["_captured"]
_DROPS: Any = vars(ownership)["_DROPS"]


def _forgotten(*kinds: type[n.Node]) -> Off:
    """Expressions of these kinds hand nothing on."""
    handed_on = _FINDER._escaping

    def without(finder: Any, node: n.Node, *, is_kept: bool) -> Iterable[Any]:
        return () if isinstance(node, kinds) else handed_on(finder, node, is_kept=is_kept)

    return {"_GrowthFinder._escaping": without}


def _looked_at(is_it: Callable[[str | None, n.Argument], bool]) -> Off:
    """Such arguments, with the builtin they are given to, are only looked at."""
    is_looked_at = _FINDER._is_looked_at

    def more(finder: Any, node: n.Call, position: int) -> bool:
        form = finder._builtin(node)
        name = None if form is None else form.builtin.name
        is_one = is_it(name, node.arguments[position])
        return is_one or is_looked_at(finder, node, position)

    return {"_GrowthFinder._is_looked_at": more}


def _unseen(*kinds: type[n.Node]) -> Off:
    """A loop over such an expression goes over the value of no name."""
    viewed = _FINDER._viewed
    return {
        "_GrowthFinder._viewed": lambda self, node: (
            () if isinstance(node, kinds) else viewed(self, node)
        )
    }


def _captured_but_first_values(facts: Any) -> set[Any]:
    first = {s.starts_from for scope in facts.names.scopes.values() for s in scope.symbols.values()}
    return _CAPTURED(facts) - first


_JOIN: Any = _FINDER.join


def _joined_first(finder: Any, states: Any) -> Any:
    return {symbol: states[0][symbol] for symbol in _JOIN(finder, states)}


_BLOCK: Any = _FINDER.block


def _turned_once(finder: Any, statements: Any, state: Any) -> Any:
    below = _BLOCK(finder, statements, state)
    is_turn = finder.turns and finder.turns[-1].loop.body is statements
    return None if is_turn else below


def _unseen_way(kind: type[n.Node]) -> Off:
    """Nothing is known of the way that such a statement takes."""
    statement_of = _FINDER.statement

    def without(finder: Any, statement: n.Node, state: Any) -> Any:
        return None if isinstance(statement, kind) else statement_of(finder, statement, state)

    return {"_GrowthFinder.statement": without}


_BIND: Any = _FINDER.bind


def _bind_no_loop(finder: Any, statement: Any, state: Any) -> Any:
    return state if isinstance(statement, n.ForStmt) else _BIND(finder, statement, state)


_OFF: dict[str, Off] = {
    "only new values are owned": {"_GrowthFinder._is_new": lambda *_: True},
    "functions that read a name": {"_captured": lambda _: set()},
    "functions that begin with a name's value": {"_captured": _captured_but_first_values},
    "definitions": {"_DROPS": (*_DROPS, n.FunctionDef, n.RecordDef)},
    "names": _forgotten(n.Name),
    "items": _forgotten(n.ListLiteral, n.TupleLiteral),
    "fields": _forgotten(n.Field, n.ComputedField),
    "items of comprehensions": _forgotten(n.Comprehension),
    "both ways of a condition": _forgotten(n.Conditional),
    "arguments": _looked_at(lambda builtin, _: builtin is None),
    "what is chosen among several": _looked_at(lambda builtin, _: builtin in ("min", "max")),
    "the default of get": _looked_at(lambda builtin, _: builtin == "get"),
    "arguments with a name": _looked_at(lambda builtin, one: bool(builtin and one.name)),
    "what a `for` goes over": {"_GrowthFinder._viewed": lambda *_: ()},
    "what a `for` goes over by a builtin": _unseen(n.Call),
    "what a `for` goes over by a condition": _unseen(n.Conditional),
    "what it grows by": {"_GrowthFinder._viewed_by": lambda *_: set[Any]()},
    "the names of a `for`": {"_GrowthFinder.bind": _bind_no_loop},
    "where branches meet": {"_GrowthFinder.join": lambda _, states: states[0]},
    "what goes over a value where branches meet": {"_GrowthFinder.join": _joined_first},
    "the turns of a loop": {"_GrowthFinder.block": _turned_once},
    "where `break` leaves a loop": _unseen_way(n.BreakStmt),
    "where `continue` goes on": _unseen_way(n.ContinueStmt),
    "where a `try` is left": {"_GrowthFinder._passed": lambda _, state: state},
    "the order of key and value": {"_GrowthFinder._in_any_order": lambda *_: True},
    "only lists are added to lists": {"_GrowthFinder._is_native": lambda *_: True},
}
# The number of a generated script that shows each rule; it changes with the generator.
_NUMBERS = {
    "only new values are owned": 266,
    "functions that read a name": 108,
    "functions that begin with a name's value": 214,
    "definitions": 208,
    "names": 86,
    "items": 86,
    "fields": 158,
    "items of comprehensions": 162,
    "both ways of a condition": 404,
    "arguments": 18,
    "what is chosen among several": 124,
    "the default of get": 278,
    "arguments with a name": 278,
    "what a `for` goes over": 158,
    "what a `for` goes over by a builtin": 62,
    "what a `for` goes over by a condition": 158,
    "what it grows by": 62,
    "the names of a `for`": 160,
    "where branches meet": 208,
    "what goes over a value where branches meet": 208,
    "the turns of a loop": 62,
    "where `break` leaves a loop": 218,
    "where `continue` goes on": 162,
    "where a `try` is left": 252,
    "the order of key and value": 58,
    "only lists are added to lists": 270,
}


def _switch_off(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    for part, replacement in _OFF[rule].items():
        monkeypatch.setattr(f"{ownership.__name__}.{part}", replacement)


@pytest.mark.heavy
def test_generated_scripts_do_the_same_compiled_and_interpreted() -> None:
    for seed in range(COUNT):
        try:
            compare(generated(seed))
        except Disagreement as difference:
            small = shrunk(generated(seed), {})
            pytest.fail(f"{seed}: {difference}\n\n{small}", pytrace=False)


def test_each_rule_has_its_scripts() -> None:
    assert _OFF.keys() <= _WRITTEN.keys()
    assert _OFF.keys() == _NUMBERS.keys()


@pytest.mark.parametrize("rule", _OFF)
def test_a_rule_that_is_switched_off_is_noticed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _switch_off(monkeypatch, rule)
    with pytest.raises(Disagreement):
        compare(_WRITTEN[rule], REPLIES)


@pytest.mark.parametrize("rule", _OFF)
def test_generated_scripts_notice_it_too(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(generated(_NUMBERS[rule]))
    _switch_off(monkeypatch, rule)
    with pytest.raises(Disagreement):
        compare(generated(_NUMBERS[rule]))
