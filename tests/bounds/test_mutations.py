"""Each rule is needed: without it, the comparison finds scripts that ask for more, or for less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saftc.cost import bodies, lengths, rules, script_bounds, variables
from saftc.cost.bound import ONE, ZERO, Bound, CallSite, largest, least, number
from saftc.cost.rules import Fields, Settings
from saftc.syntax import nodes as n
from tests.bounds.test_differential import differences

pytestmark = pytest.mark.one_python

_MOST_SEEDS = 60
Patch = pytest.MonkeyPatch


def _without_rounds(patch: Patch) -> None:
    patch.setattr(rules, "rounds_of", lambda *_a, **_b: ZERO)


def _without_repairs(patch: Patch) -> None:
    kept = script_bounds.replies
    patch.setattr(
        script_bounds, "replies", lambda s, **more: kept(_with(s, max_repairs=ZERO), **more)
    )


def _with(settings: Settings, **changes: Bound) -> Settings:
    parts = {name: getattr(settings, name) for name in Settings.__slots__}
    return Settings(**(parts | changes))  # type: ignore[arg-type]


def _one_call_of_tools(patch: Patch) -> None:
    patch.setattr(script_bounds, "tool_calls", lambda _settings: ONE)


def _a_round_for_all_fields(patch: Patch) -> None:
    kept = rules.rounds_of

    def rounds(settings: Settings, *, fields: Fields | None, **more: Any) -> Bound:
        return kept(settings, fields=None if fields is None else Fields(1, False), **more)

    patch.setattr(rules, "rounds_of", rounds)


def _no_field_stays_away(patch: Patch) -> None:
    kept = rules.rounds_of

    def rounds(settings: Settings, *, fields: Fields | None, **more: Any) -> Bound:
        known = None if fields is None else Fields(fields.number, False)
        return kept(settings, fields=known, **more)

    patch.setattr(rules, "rounds_of", rounds)


def _do_like_others(patch: Patch) -> None:
    kept = script_bounds.replies
    patch.setattr(script_bounds, "replies", lambda s, **more: kept(s, **(more | {"is_do": False})))


def _one_program(patch: Patch) -> None:
    patch.setattr(script_bounds, "program_replies", lambda _settings: ONE)


def _calls_of_programs_for_nothing(patch: Patch) -> None:
    patch.setattr(script_bounds, "program_calls", lambda _settings: ZERO)


def _one_turn(patch: Patch) -> None:
    patch.setattr(Bound, "__mul__", lambda self, _factor: self)


def _the_first_way(patch: Patch) -> None:
    patch.setattr(bodies, "largest", lambda bounds: next(iter(list(bounds)), Bound()))


def _no_growth(patch: Patch) -> None:
    kept = variables.Variables._step

    def step(self: Any, value: Any, symbol: Any) -> Any:
        found = kept(self, value, symbol)
        return None if found is None else found._replace(added=ZERO)

    patch.setattr(variables.Variables, "_step", step)


def _nothing_is_assigned_in_blocks(patch: Patch) -> None:
    patch.setattr(variables.Variables, "after", lambda self, *_: dict(self.known))


def _turns_of_while_but_one(patch: Patch) -> None:
    kept = variables._steps
    patch.setattr(variables, "_steps", lambda high, low, step: kept(high, low + step, step))


def _steps_of_the_largest(patch: Patch) -> None:
    kept = variables._steps
    patch.setattr(variables, "_steps", lambda high, low, _step: kept(high, low, 2))


def _the_last_test_for_nothing(patch: Patch) -> None:
    kept = variables.Variables.turns

    def turns(*given: Any) -> Any:
        found = kept(*given)
        return found._replace(part=-1)

    patch.setattr(variables.Variables, "turns", turns)


def _the_least_of_two_is_the_larger(patch: Patch) -> None:
    patch.setattr(lengths, "least", lambda *ways: largest(ways))


def _arguments_of_one_item(patch: Patch) -> None:
    def with_arguments(_self: Any, called: Any, _node: Any, _known: Any) -> Bound:
        terms = called.bound.terms
        return number(sum(times for _, times in terms))

    patch.setattr(script_bounds.ScriptBounds, "_with_arguments", with_arguments)


def _asks_nothing(self: Any, node: Any, _known: Any) -> CallSite:
    return CallSite(node, self.source, ZERO, "")


def _calls_for_nothing(patch: Patch) -> None:
    patch.setattr(script_bounds.ScriptBounds, "call", _asks_nothing)


def _options_of_the_run(patch: Patch) -> None:
    patch.setattr(
        script_bounds.ScriptBounds,
        "settings",
        lambda self, *_: rules.settings_of(self.bounds.limits),
    )


def _conditions_for_nothing(patch: Patch) -> None:
    def bare(one: Any) -> Any:
        if not isinstance(one, n.IfStmt):
            return one
        true = n.Literal(one.span, True)
        return n.IfStmt(
            one.span, tuple(n.Branch(b.span, true, b.body) for b in one.branches), one.other
        )

    kept = bodies.BodyBounds.block
    patch.setattr(bodies.BodyBounds, "block", lambda self, some: kept(self, [*map(bare, some)]))


def _handlers_for_nothing(patch: Patch) -> None:
    kept = bodies.BodyBounds.block

    def block(self: Any, statements: Any) -> Any:
        bare = (
            type(one)(one.span, one.body, one.error, ()) if type(one).__name__ == "TryStmt" else one
            for one in statements
        )
        return kept(self, tuple(bare))

    patch.setattr(bodies.BodyBounds, "block", block)


_LOW: list[Callable[[Patch], None]] = [
    *(_without_rounds, _without_repairs, _one_call_of_tools, _a_round_for_all_fields),
    *(_no_field_stays_away, _one_program, _calls_of_programs_for_nothing, _one_turn),
    *(_the_first_way, _no_growth, _nothing_is_assigned_in_blocks, _arguments_of_one_item),
    _calls_for_nothing,
    *(_options_of_the_run, _conditions_for_nothing, _handlers_for_nothing),
]
_OF_WHILE: list[Callable[[Patch], None]] = [
    *(_turns_of_while_but_one, _steps_of_the_largest, _the_last_test_for_nothing),
    _the_least_of_two_is_the_larger,
]
# These make bounds larger than need be.
_HIGH: list[Callable[[Patch], None]] = [_do_like_others]


# It takes long until a script comes that notices these.
_RARE = {_arguments_of_one_item, _calls_of_programs_for_nothing, _one_program}


@pytest.mark.parametrize(
    "mutate",
    [
        pytest.param(one, id=one.__name__, marks=[pytest.mark.heavy] if one in _RARE else [])
        for one in (*_LOW, *_OF_WHILE, *_HIGH)
    ],
)
def test_a_rule_that_is_missing_is_noticed(
    mutate: Callable[[Patch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    for seed in range(_MOST_SEEDS):
        for plain in (True, False):
            if differences(seed, plain=plain, turning=mutate in _OF_WHILE)[1]:
                return
    raise AssertionError("nobody has noticed")


def test_nothing_is_noticed_where_no_rule_is_missing() -> None:
    assert largest([number(3), number(2)]).number == 3 and least(number(3), ONE) == ONE
    for seed in range(6):
        assert not differences(seed, plain=seed % 2 == 0)[1]
