"""What the compiler does beyond what is needed changes what people see: each such refinement is
switched off here, and at least three of the scripts of the project must compile to something else.

A new refinement is a row of `_REFINEMENTS`. What changes fewer scripts is taken away, or it has its
reason in `_REASONS`.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from saftc.diagnostics.render import render_text
from saftc.driver import compile_source
from saftc.project.scripts import Modules
from saftc.source import Source
from tests.compiler.support import ROOT, without_black

pytestmark = pytest.mark.one_python

_FOLDERS = ("examples", "tests/goldens", "benchmarks/scripts", "saftc/play")
_BLOCK = re.compile(r"^```saft[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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


def _no_head(*_: object) -> tuple[int]:
    return (0,)


_CHOICES = "saftc.lower.choices"
_INFERENCE = "saftc.infer.rules"
# What is put in the place of what, so that a refinement is switched off.
_REFINEMENTS: dict[str, dict[str, Any]] = {
    "lists change in place": {f"{_CHOICES}.find_growth": _empty},
    "items are taken while they are made": {f"{_CHOICES}.Choices.is_lazy": _no},
    "equal items are counted": {f"{_CHOICES}.Choices.counted": _nothing},
    "defaults are made in calls": {f"{_CHOICES}.Choices.made_in_calls": frozenset[Any]()},
    "tools run beside each other": {f"{_CHOICES}.Choices.combined_tools": _nothing},
    "functions without annotations": {f"{_CHOICES}.Choices.bare_functions": frozenset[Any]()},
    "prompts below each other are a group": {"saftc.overlap.plan.MOST_TOGETHER": 1},
    "loops have a head": {"saftc.overlap.prefixes.Heads.ends": _no_head},
    "conditions narrow": {
        f"{_INFERENCE}.conditions.narrow": _nothing,
        f"{_INFERENCE}.statements.narrow": _nothing,
        f"{_INFERENCE}.expressions.narrow": _nothing,
    },
    "parameters are what calls pass": {f"{_INFERENCE}.units.only_called": _none},
    "parameters are what they are used as": {"saftc.infer.analysis.parameter_uses": _empty},
    "keys are ordered as Python does": {f"{_INFERENCE}.calls.is_proved_key": _no},
    "names bound again keep their histories": {"saftc.check.history.separate_bindings": _empty},
    "annotations hold below": {"saftc.infer.analysis.variable_annotations": _empty},
    "doubtful calls tell nothing": {f"{_INFERENCE}.units.doubtful_of": _none},
    "what Python takes for any is checked": {"saftc.lower.variables.Variables.reads_as_any": _no},
    "first values that say less have a line above": {"saftc.lower.variables.says_less": _no},
    "what checkers read as another type is any": {
        "saftc.lower.variables.is_known_to_checkers": _yes
    },
    "destructured names that are returned are declared": {
        "saftc.lower.variables.Variables.returned_field": _nothing
    },
}
_REASONS = {
    "loops have a head": "every reason for an order names it as the way out",
    "defaults are made in calls": "callers in Python could change a default for all",
    "functions without annotations": "strict checkers: who writes `any` means it",
    "tools run beside each other": "an order that others see is kept",
    "names bound again keep their histories": "`report.toolCalls` above `report = strip(report)`",
    "annotations hold below": "mistakes are found; what is right compiles to the same",
    "doubtful calls tell nothing": "no mistakes in functions that are right for other values",
    "what Python takes for any is checked": "what the module declares holds, as mypy demands",
    "first values that say less have a line above": "strict mypy knows only an annotation beside",
    "what checkers read as another type is any": "strict checkers look where a list was made",
    "destructured names that are returned are declared": "mypy lets no function return Any",
}


def _scripts() -> Iterator[tuple[Source, Path]]:
    """What people see: examples, goldens, benchmarks, the tour, and the blocks of the pages."""
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.saft")):
            yield Source.from_bytes(path.name, path.read_bytes()), path.parent
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            yield Source.from_text(page.name, block), page.parent


@cache
def _corpus() -> list[tuple[Source, Path]]:
    return list(_scripts())


def _outcome(source: Source, folder: Path) -> tuple[str | None, str]:
    compiled = compile_source(source, Modules(folder).load)
    return compiled.text, render_text(compiled.checked.diagnostics, source)


@cache
def _outcomes() -> list[tuple[str | None, str]]:
    return [_outcome(*one) for one in _corpus()]


def _changed(switches: dict[str, Any], most: int) -> int:
    """How many scripts compile to something else, counted up to `most`."""
    known, changed = _outcomes(), 0
    with pytest.MonkeyPatch.context() as patch:
        for target, instead in switches.items():
            patch.setattr(target, instead)
        for one, before in zip(_corpus(), known, strict=True):
            changed += _outcome(*one) != before
            if changed == most:
                break
    return changed


@pytest.mark.heavy
def test_every_refinement_changes_what_people_see() -> None:
    with without_black():
        found = {
            name: _changed(switches, ENOUGH)
            for name, switches in _REFINEMENTS.items()
            if name not in _REASONS
        }
    assert {name: number for name, number in found.items() if number < ENOUGH} == {}


def test_reasons_are_given_for_what_there_is() -> None:
    assert _REASONS.keys() < _REFINEMENTS.keys()
