"""Each rule of overlap is needed: without it, some random script comes out differently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from runtime_support._core.tasks import file_order, turns
from runtime_support._core.tasks import queue as tasks
from runtime_support._overlap import _Lookahead as Ahead  # pyright: ignore[reportPrivateUsage]
from saftc.check.statements import all_statements
from saftc.effects import certainty
from saftc.effects.certainty import Certainty, Reason
from saftc.effects.effects import Effects
from saftc.infer.failures import (
    Cause,
    Failure,
    _FailureFinder,  # pyright: ignore[reportPrivateUsage]
)
from saftc.overlap import loop_values
from saftc.overlap.plan import _Planner  # pyright: ignore[reportPrivateUsage]
from saftc.overlap.prefixes import PrefixFinder
from saftc.syntax import nodes as n
from tests.overlap.comparing import Difference, Unsuitable, checked, compare, decisions
from tests.overlap.interleavings import raised_at_once
from tests.overlap.scripts import Script, script

MOST = 600

_growth_of: Any = vars(loop_values)["_growth_of"]
_statement = Certainty._statement  # pyright: ignore[reportPrivateUsage]
_reasons = Certainty._reasons  # pyright: ignore[reportPrivateUsage]
_of_function = Certainty.of_function
_cut = _Planner._cut  # pyright: ignore[reportPrivateUsage]


def _certain(kind: type[n.Statement]) -> Callable[..., Iterator[Reason]]:
    def statement(self: Certainty, node: n.Statement, ending: Any) -> Iterator[Reason]:
        if not isinstance(node, kind):
            yield from _statement(self, node, ending)

    return statement


def _nothing(*_: object, **__: object) -> None:
    return None


def _none(*_: object) -> set[object]:
    return set()


def _no(*_: object) -> bool:
    return False


def _yes(*_: object) -> bool:
    return True


def _none_carried(self: _Planner, first: Any, certain: set[Any], _changed: object) -> set[Any]:
    self.flow.early_reads(first, certain)
    return set()


def _all_growing(self: _Planner, loop: n.ForStmt) -> list[Any]:
    return [g.symbol for one in loop.body if (g := _growth_of(self.flow, one)) is not None]


def _map_added_to(node: n.Statement) -> n.ObjectLiteral | None:
    """The object of `counts = {...counts, [key]: value}`, whatever else it holds."""
    match node:
        case n.AssignStmt(name=name, value=n.ObjectLiteral(fields=fields) as value):
            spread = (one.value for one in fields if isinstance(one, n.Spread))
            is_own = any(isinstance(one, n.Name) and one.text == name.text for one in spread)
            return value if is_own else None
        case _:
            return None


def _maps_growing(is_growth: Callable[[_Planner, n.Statement, n.ObjectLiteral], bool]) -> Any:
    """Beside what grows, the maps of which `is_growth` says so, whatever reads them."""

    def growing_too(self: _Planner, loop: n.ForStmt) -> list[Any]:
        found = [
            self.facts.names.of(one.name)
            for one in all_statements(loop.body)
            if isinstance(one, n.AssignStmt)
            and (value := _map_added_to(one)) is not None
            and is_growth(self, one, value)
        ]
        return list(dict.fromkeys([*loop_values.growing(self.flow, loop), *found]))

    return growing_too


def _adds(self: _Planner, node: n.Statement, _: n.ObjectLiteral) -> bool:
    return _growth_of(self.flow, node) is not None


def _adds_what_it_reads(self: _Planner, node: n.Statement, value: n.ObjectLiteral) -> bool:
    return isinstance(value.fields[0], n.Spread) and _growth_of(self.flow, node) is None


def _adds_in_front(_: _Planner, __: n.Statement, value: n.ObjectLiteral) -> bool:
    return isinstance(value.fields[-1], n.Spread)


def _no_reasons(*_: object) -> Iterator[Reason]:
    return iter(())


def _at_once(action: Callable[[], object]) -> None:
    action()


def _prints(self: _Planner, condition: n.Expression) -> bool:
    return "prints" in self.effects.of(condition)


def _by_accident(self: Certainty, node: n.TryStmt, ending: Any) -> Iterator[Reason]:
    """Whatever a handler fails with, an accident is taken to have come before it."""
    handler = self._block(node.handler, ending)
    yield from (one for one in self._block(node.body, ending) if not one.is_caught)
    yield from (one for one in handler if not one.is_caught)


def _looked_into(self: Certainty, definition: n.FunctionDef) -> Iterator[Reason]:
    """A function that calls itself is one like others."""
    return self._block(definition.body)


def _whatever_is_unset(self: Certainty, failures: Iterable[Failure]) -> Iterator[Reason]:
    return _reasons(self, (one for one in failures if one.cause != Cause.UNSET))


def _own_reasons(self: Certainty, definition: n.FunctionDef) -> tuple[Reason, ...]:
    return () if self.effects.is_imported else _of_function(self, definition)


# What is switched off: the owner of a function, its name, and what stands in its place.
_RULES: dict[str, tuple[object, str, Any]] = {
    "assert may stop": (Certainty, "_statement", _certain(n.AssertStmt)),
    "fail may stop": (Certainty, "_statement", _certain(n.FailStmt)),
    "a handler may stop": (Certainty, "_try", _by_accident),
    "break may end": (Certainty, "_statement", _certain(n.BreakStmt)),
    "an item may be missing": (_FailureFinder, "_part", _no_reasons),
    "effects that others see": (Effects, "first_unknown", _nothing),
    "names of the item before": (_Planner, "_carried", _none_carried),
    "names in functions": (_Planner, "_read_in_functions", _none),
    "names without a value": (Certainty, "_reasons", _whatever_is_unset),
    "lists that are read": (_Planner, "_growing", _all_growing),
    "maps that are read": (_Planner, "_growing", _maps_growing(_adds)),
    "maps made of what they hold": (_Planner, "_growing", _maps_growing(_adds_what_it_reads)),
    "maps that keep what they hold": (_Planner, "_growing", _maps_growing(_adds_in_front)),
    "names needed by the rest": (_Planner, "_needed", _none),
    "names needed later": (_Planner, "_needed_later", _none),
    "names where a failure is caught": (_Planner, "_read_after_failure", _nothing),
    "members of groups": (_Planner, "_depends", _no),
    "what stops other scripts": (Certainty, "of_function", _own_reasons),
    "classes of Python": (Effects, "is_pure", _yes),
    "conditions that read": (_Planner, "_is_told_by_tests", _prints),
    "reads in groups": (_Planner, "_shows_its_place", _no),
    "functions that call themselves": (Certainty, "_function", _looked_into),
    "ret in a loop in a loop": (certainty, "_ENDING_ALL", ()),
    "heads that others see": (PrefixFinder, "_is_observable", _no),
    "heads that end more than a loop": (Certainty, "unending", _nothing),
    "what heads need": (PrefixFinder, "_lost", _none),
    "heads that wait": (PrefixFinder, "_waits", _no),
    "items that fail": (Ahead, "look_ahead", raised_at_once),
    "sums of floats": (loop_values, "_is_sum", _yes),
    "prints wait": (turns, "in_turn", _at_once),
    "stale reads": (file_order, "note_write", _nothing),
    "behind a failure": (tasks.Task, "is_held", tasks.Task.is_cancelled),
}
# The first script to try: the one that notices, as the scripts are now.
_FIRST = {
    "assert may stop": 271,
    "fail may stop": 125,
    "a handler may stop": 343,
    "break may end": 55,
    "an item may be missing": 567,
    "effects that others see": 7,
    "names of the item before": 10,
    "names in functions": 66,
    "names without a value": 19,
    "lists that are read": 73,
    "names needed by the rest": 3,
    "names needed later": 20,
    "names where a failure is caught": 135,
    "members of groups": 58,
    "what stops other scripts": 685,
    "classes of Python": 2,
    "conditions that read": 28,
    "reads in groups": 33,
    "functions that call themselves": 108,
    "ret in a loop in a loop": 66,
    "heads that others see": 328,
    "heads that end more than a loop": 66,
    "heads that wait": 229,
    "items that fail": 490,
    "sums of floats": 104,
    "stale reads": 35,
    "behind a failure": 1,
}
# What is seldom in random scripts: many items behind one that fails, begun when the first is taken,
# or printing before it, and the forms of maps.
_MAP = """\
told: {[string]: string} = {}
for item in ["w1", "w2", "w1", "w3"]:
    one = $ first {item} $
    told = TOLD
    print($ then {one} $)
print(told)
"""
_SCRIPTS = {
    "maps that are read": Script(
        _MAP.replace("TOLD", "{...told, [item]: one}").replace("print($", "print(len(told), $")
    ),
    "maps made of what they hold": Script(
        _MAP.replace("TOLD", '{...told, [item]: get(told, item, "") + one}')
    ),
    "maps that keep what they hold": Script(_MAP.replace("TOLD", "{[item]: one, ...told}")),
    "behind a failure": Script(
        "for item in range(45):\n    one = $ first {item} $\n    print($ then {item} {one} $)\n"
    ),
    "what heads need": Script(
        "seen = 0\nfor item in range(5):\n    if item + seen > 3:\n        continue\n"
        "    one = $ first {item} $\n    print($ then {one} $)\n    seen += 1\nprint(seen)\n"
    ),
    "prints wait": Script(
        "f shout(item: int) -> string:\n    print(item)\n    ret $ {item} $\n"
        "for item in range(40):\n    print(shout(item))\n"
    ),
}


@pytest.mark.heavy
@pytest.mark.one_python
@pytest.mark.parametrize("rule", _RULES)
def test_each_rule_is_needed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, instead = _RULES[rule]
    first = _FIRST.get(rule, 0)
    for seed in range(first, first + MOST):
        try:
            found = checked(_SCRIPTS.get(rule) or script(seed))
            decided = decisions(found)
            with monkeypatch.context() as patch:
                patch.setattr(owner, name, instead)
                for module in (
                    "_language.files",
                    "_core.tasks.queue",
                    "_overlap",
                    "_language.builtins",
                    "_observability.tracing",
                ):
                    if owner in (turns, file_order):
                        place = f"runtime_support.{module}.{name}"
                        patch.setattr(place, instead, raising=False)
                # A rule of the analysis that changes no decision here is not tried out.
                if owner in (turns, file_order, tasks.Task, Ahead) or decisions(found) != decided:
                    compare(found, seed, 8 if seed % 2 else 0, (2, 3, 16))
        except (Difference, SyntaxError):
            return
        except Unsuitable:
            continue
    pytest.fail(f"nothing notices that this is switched off: {rule}")
