"""What the compiler does beyond what is needed changes what people see.

Each such refinement is switched off here, and at least three of the scripts of `corpus/`, which
were not written for it, must compile to something else. What changes fewer is taken away, or it has
its reason in `REASONS`. A new refinement is a row of `REFINEMENTS`.

    python -m tests.ablation.test_refinements [WORD]

shows how many scripts each refinement changes, and the first of them.
"""

import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from tests.ablation.corpus import CORPUS, Outcome, Path, changed, compiled, scripts
from tests.compiler.support import without_black

pytestmark = pytest.mark.one_python

ENOUGH = 3


def _nothing(*_: object, **__: object) -> None:
    return None


def _no(*_: object, **__: object) -> bool:
    return False


def _yes(*_: object, **__: object) -> bool:
    return True


def _empty(*_: object, **__: object) -> dict[Any, Any]:
    return {}


def _none(*_: object, **__: object) -> set[Any]:
    return set()


def _no_list(*_: object, **__: object) -> list[Any]:
    return []


def _no_head(*_: object) -> tuple[int]:
    return (0,)


def _first(given: Any, *_: object, **__: object) -> Any:
    return given


def _second(_: object, given: Any, *__: object) -> Any:
    return given


_RULES = "saftc.infer.rules"
_EFFECTS = "saftc.effects.effects.Effects"
_CERTAINTY = "saftc.effects.certainty.Certainty"
_PLAN = "saftc.overlap.plan"
_CHOICES = "saftc.lower.choices.Choices"
_VALUES = "saftc.lower.values.Values"
_VARIABLES = "saftc.lower.variables"
_PREVIEWS = "saftc.previews.requests"
_COUNTED = "saftc.cost.variables.Variables"
# What is put in the place of what, so that a refinement is switched off.
REFINEMENTS: dict[str, dict[str, Any]] = {
    # types
    "unions leave out what they cover": {"saftc.types.types._is_covered": _no},
    "equality that is Python's is written so": {"saftc.check.facts.python_equality_is_exact": _no},
    "values that are never equal are told": {f"{_RULES}.expressions.is_constant": _no},
    # check
    "names bound again keep their histories": {"saftc.check.history.separate_bindings": _empty},
    "annotations hold below": {"saftc.infer.analysis.variable_annotations": _empty},
    "a literal with items has a turn": {"saftc.check.forward.ForwardAnalysis.certainly_turns": _no},
    # infer
    "parameters are what calls pass": {f"{_RULES}.units.only_called": _none},
    "parameters are what they are used as": {"saftc.infer.analysis.parameter_uses": _empty},
    "doubtful calls tell nothing": {f"{_RULES}.units.doubtful_of": _no_list},
    "conditions narrow": {
        f"{_RULES}.conditions.narrow": _nothing,
        f"{_RULES}.statements.narrow": _nothing,
        f"{_RULES}.expressions.narrow": _nothing,
    },
    "conditions narrow tagged unions": {f"{_RULES}.conditions._narrow_owner": _nothing},
    "conditions narrow by kind": {f"{_RULES}.conditions._narrow_kind": _nothing},
    "calls of Python forget narrowed members": {f"{_RULES}.conditions._may_change": _no},
    "conditions that are always true are told": {
        f"{_RULES}.conditions._warn_if_constant": _nothing
    },
    "keys are ordered as Python does": {f"{_RULES}.calls.is_proved_key": _no},
    "tests of kinds are Python's": {f"{_RULES}.expressions._kind_test": _nothing},
    "nil is tested by `is`": {f"{_RULES}.expressions.is_singleton": _no},
    "what is not nil is known after an assignment": {
        f"{_RULES}.statements._after_assignment": _second
    },
    "known functions fit function types": {f"{_RULES}.expected._fit_function": _nothing},
    "copies of records are made by `replace`": {f"{_RULES}.literals._changed_copy": _nothing},
    "values that may be wrong are told": {f"{_RULES}.context.Inference.may_fail": _nothing},
    # effects
    "Python's library calculates": {"saftc.effects.effects._CALCULATING": frozenset[str]()},
    "Python's library reads the clock": {f"{_EFFECTS}.is_standard": _no},
    "no Python, no code behind members": {f"{_EFFECTS}._meets_python": True},
    "printing functions of other scripts wait": {f"{_EFFECTS}.prints_in_turn": False},
    "functions that only ask are pure for programs": {f"{_EFFECTS}.only_waits": _no},
    "threads are for what may wait": {"saftc.effects.awaits.Awaits._may_wait": _yes},
    # overlap
    "prompts below each other are a group": {f"{_PLAN}.MOST_TOGETHER": 1},
    "loops have a head": {"saftc.overlap.prefixes.PrefixFinder.ends": _no_head},
    "loops add to variables": {f"{_PLAN}.growing": _no_list},
    "loops count": {"saftc.overlap.loop_values._counted": _no_list},
    "loops add up": {"saftc.overlap.loop_values._is_sum": _no},
    "comprehensions pass a function": {f"{_PLAN}.call_of_item": _nothing},
    "calls of other scripts are explained": {f"{_PREVIEWS}.calls_elsewhere": _no_list},
    # lower
    "lists change in place": {"saftc.lower.choices.find_growth": _empty},
    "objects change in place": {"saftc.lower.ownership._GrowthFinder._grown_object": _nothing},
    "items are taken while they are made": {f"{_CHOICES}.is_lazy": _no},
    "equal items are counted": {f"{_CHOICES}.counted": _nothing},
    "defaults are made in calls": {f"{_CHOICES}.made_in_calls": frozenset[Any]()},
    "tools run beside each other": {f"{_CHOICES}.combined_tools": _nothing},
    "functions without annotations": {f"{_CHOICES}.bare_functions": frozenset[Any]()},
    "comparisons have opposites": {f"{_CHOICES}.has_opposite": _no},
    "failures have a name of their own only where needed": {f"{_CHOICES}.keeps_failure": _yes},
    "holes are named by a last word": {f"{_CHOICES}._last_word": _nothing},
    "a key is a function of Python": {f"{_VALUES}.key": _nothing},
    "messages of rules are made late": {f"{_VALUES}.is_made_late": _yes},
    "what Python takes for any is checked": {f"{_VARIABLES}.Variables.reads_as_any": _no},
    "first values that say less have a line above": {f"{_VARIABLES}.says_less": _no},
    "what checkers read as another type is any": {f"{_VARIABLES}.is_known_to_checkers": _yes},
    "destructured names that are returned are declared": {
        f"{_VARIABLES}.Variables.returned_field": _nothing
    },
    "objects whose fields are read are annotated": {f"{_VARIABLES}.Variables._is_read": _no},
    # cost
    "turns of `while`": {f"{_COUNTED}._ended_by": _nothing},
    "what loops add is bounded": {f"{_COUNTED}._step": _nothing},
    "what runs ahead may run again": {"saftc.cost.script_bounds.ScriptBounds.runs_again": _no_list},
}
# Why a refinement stays that fewer scripts need.
REASONS = {
    "values that are never equal are told": "a mistake is found before the run",
    "conditions that are always true are told": "people from Python write `if x or 3`",
    "values that may be wrong are told": "a mistake is found before the run",
    "names bound again keep their histories": "`report.toolCalls` above `report = strip(report)`",
    "annotations hold below": "mistakes are found; what is right compiles to the same",
    "a literal with items has a turn": "`for x in [1, 2]` gives `x` a value below",
    "doubtful calls tell nothing": "no mistakes in functions that are right for other values",
    "conditions narrow tagged unions": "people write these: `if shape.kind == ...`",
    "calls of Python forget narrowed members": "sound: what Python changed is not what was tested",
    "what is not nil is known after an assignment": "checkers of Python know it, too",
    "copies of records are made by `replace`": "`{...ticket, severity: ...}` is in the reference",
    "Python's library calculates": "rules of records may call it, as docs/language.md says",
    "Python's library reads the clock": "docs/overlap.md promises `date.today()`",
    "no Python, no code behind members": "JSON without a type is data in a script without Python",
    "printing functions of other scripts wait": "docs/overlap.md promises it of libraries",
    "functions that only ask are pure for programs": "docs/programs.md promises it",
    "loops have a head": "every reason for an order names it as the way out",
    "loops count": "docs/overlap.md promises it: words are counted in every tutorial",
    "loops add up": "docs/overlap.md promises it of `total += ask(x)`",
    "calls of other scripts are explained": "every prompt has its line in `saftc prompts`",
    "equal items are counted": '`answers.count("spam")` is what a person writes',
    "defaults are made in calls": "callers in Python could change a default for all",
    "functions without annotations": "strict checkers: who writes `any` means it",
    "what Python takes for any is checked": "what the module declares holds, as mypy demands",
    "first values that say less have a line above": "strict mypy knows only an annotation beside",
    "what checkers read as another type is any": "strict checkers look where a list was made",
    "destructured names that are returned are declared": "mypy lets no function return Any",
    "turns of `while`": "docs/cost.md promises counters",
    "what runs ahead may run again": "sound: a file that is read too early is read again",
}


@cache
def _outcomes() -> dict[Path, Outcome]:
    return {path: compiled(path) for path in scripts()}


@contextmanager
def _off(switches: dict[str, Any]) -> Generator[None]:
    """Switches a refinement off. Fails if what a switch replaces is gone."""
    with pytest.MonkeyPatch.context() as patch:
        for target, instead in switches.items():
            owner, name = _found(target)
            before: object = vars(owner)[name]
            if not callable(before) and callable(instead):
                raise TypeError(f"{target} is not called")
            if callable(before) and not callable(instead):
                raise TypeError(f"{target} is called")
            patch.setattr(owner, name, instead)
        yield


def _found(target: str) -> tuple[Any, str]:
    """The module or class that has a name, and the name."""
    path, _, name = target.rpartition(".")
    home, _, last = path.rpartition(".")
    owner = getattr(importlib.import_module(home), last)
    if name not in vars(owner):
        raise AttributeError(f"{target} is gone: another switch is needed, or the row goes, too")
    return owner, name


def _scripts_changed(name: str, most: int | None = ENOUGH) -> list[Path]:
    known = _outcomes()
    with _off(REFINEMENTS[name]):
        return changed(known, most)


@pytest.mark.heavy
def test_every_refinement_changes_what_people_see() -> None:
    with without_black():
        found = {name: len(_scripts_changed(name)) for name in REFINEMENTS}
    few = {name: number for name, number in found.items() if number < ENOUGH}
    assert {name: number for name, number in few.items() if name not in REASONS} == {}
    assert REASONS.keys() - few.keys() == set(), "these change enough, and need no reason"


def test_reasons_are_given_for_what_there_is() -> None:
    assert REASONS.keys() <= REFINEMENTS.keys()


def test_switches_replace_what_there_is() -> None:
    for switches in REFINEMENTS.values():
        with _off(switches):
            pass


def show(word: str = "") -> None:
    """Prints the scripts that each refinement changes, those with the fewest first."""
    with without_black():
        _outcomes()
        for name in REFINEMENTS:
            if word in name:
                found = [str(one.relative_to(CORPUS)) for one in _scripts_changed(name, None)]
                print(f"{len(found):4} {name}: {', '.join(found[:4])}", flush=True)


if __name__ == "__main__":
    show(*sys.argv[1:])
