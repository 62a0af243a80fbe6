"""Each rule of overlap is needed: without it, some random script comes out differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runtime_support import _tasks as tasks
from runtime_support import _turns as turns
from saftc.driver import Checked
from saftc.schedule.certainty import Certainty, Reason
from saftc.schedule.effects import Effects
from saftc.schedule.plan import (
    _Planner,  # pyright: ignore[reportPrivateUsage]
    plan,
)
from saftc.syntax import nodes as n
from tests.overlap.comparing import Difference, Unsuitable, checked, compare
from tests.overlap.scripts import script

MOST = 600

_statement = Certainty._statement  # pyright: ignore[reportPrivateUsage]
_added_to = _Planner._added_to  # pyright: ignore[reportPrivateUsage]
_cut = _Planner._cut  # pyright: ignore[reportPrivateUsage]


def _certain(kind: type[n.Statement]) -> Callable[..., Iterator[Reason]]:
    def statement(self: Certainty, node: n.Statement, is_loop: bool) -> Iterator[Reason]:
        if not isinstance(node, kind):
            yield from _statement(self, node, is_loop)

    return statement


def _nothing(*_: object) -> None:
    return None


def _none(*_: object) -> set[object]:
    return set()


def _no(*_: object) -> bool:
    return False


def _none_carried(self: _Planner, first: Any, certain: set[Any], _changed: object) -> set[Any]:
    self.flow.early_reads(first, certain)
    return set()


def _all_growing(self: _Planner, loop: n.ForStmt) -> list[Any]:
    return [s for one in loop.body if (s := _added_to(self, one)) is not None]


def _no_reasons(*_: object) -> Iterator[Reason]:
    return iter(())


def _at_once(action: Callable[[], object]) -> None:
    action()


# What is switched off: the owner of a function, its name, what stands in its place, and the first
# script to try, since the one that notices may be far down the row.
_RULES: dict[str, tuple[object, str, Callable[..., object], int]] = {
    "assert may stop": (Certainty, "_statement", _certain(n.AssertStmt), 0),
    "fail may stop": (Certainty, "_statement", _certain(n.FailStmt), 0),
    "break may end": (Certainty, "_statement", _certain(n.BreakStmt), 0),
    "an item may be missing": (Certainty, "_index", _no_reasons, 0),
    "effects that others see": (Effects, "first_unknown", _nothing, 0),
    "names of the item before": (_Planner, "_carried", _none_carried, 0),
    "names in functions": (_Planner, "_read_in_functions", _none, 0),
    "names without a value": (_Planner, "_without_value", _nothing, 0),
    "lists that are read": (_Planner, "_growing", _all_growing, 0),
    "names needed by the rest": (_Planner, "_needed", _none, 0),
    "names needed later": (_Planner, "_needed_later", _none, 0),
    "names where a failure is caught": (_Planner, "_read_after_failure", _nothing, 0),
    "members of groups": (_Planner, "_depends", _no, 0),
    "prints wait": (turns, "in_turn", _at_once, 0),
    "writes wait": (turns, "await_turn", _nothing, 160),
    "stale reads": (turns, "note_write", _nothing, 0),
    "behind a failure": (tasks.Task, "is_held", tasks.Task.is_unwanted, 160),
}


@pytest.mark.one_python
@pytest.mark.parametrize("rule", _RULES)
def test_each_rule_is_needed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, instead, first = _RULES[rule]
    for seed in range(first, first + MOST):
        try:
            found = checked(script(seed))
            decided = _decisions(found)
            with monkeypatch.context() as patch:
                patch.setattr(owner, name, instead)
                for module in ("_files", "_tasks", "_overlap", "_builtins", "_tracing"):
                    if owner is turns:
                        place = f"runtime_support.{module}.{name}"
                        patch.setattr(place, instead, raising=False)
                # A rule of the analysis that changes no decision here is not tried out.
                if not isinstance(owner, type) or owner is tasks.Task or (
                    _decisions(found) != decided
                ):
                    compare(found, seed, 8 if seed % 2 else 0)
        except Difference:
            return
        except Unsuitable:
            continue
    pytest.fail(f"nothing notices that this is switched off: {rule}")


def _decisions(script: Checked) -> object:
    found = plan(script.facts)
    return found.loops, found.ends, found.maps, found.groups
