"""The house gets no larger, and nothing in it gets worse.

Each number is today's. What got less lowers its number in the same change, which

    pytest tests/structure --update-budget

does. Who needs more raises a number by hand, and says beside it what for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.structure import measures
from tests.structure.modules import PACKAGES, modules, modules_of, registry

pytestmark = [pytest.mark.one_python, pytest.mark.heavy]


class Measure(NamedTuple):
    numbers: Callable[[], Mapping[str, int]]
    file: Path
    # What is allowed where no number is listed.
    limit: int = 0


MEASURES = {
    "statements": Measure(measures.statements, measures.BUDGET),
    "bytes": Measure(measures.data_bytes, measures.BUDGET),
    "wrong_arrows": Measure(measures.wrong_arrows, measures.HOUSE),
    "long_functions": Measure(measures.long_functions, measures.HOUSE, measures.MOST_LINES),
    "entries": Measure(measures.entries, measures.HOUSE, measures.MOST_ENTRIES),
    "small_modules": Measure(measures.small_modules, measures.HOUSE),
    "names_of_dependencies": Measure(measures.names_of_dependencies, measures.HOUSE),
    "split_lines": Measure(measures.split_lines, measures.HOUSE),
    "lists_of_kinds": Measure(measures.lists_of_kinds, measures.HOUSE),
    "private_imports": Measure(measures.private_imports, measures.HOUSE),
    "undocumented": Measure(measures.undocumented, measures.HOUSE),
}


@pytest.mark.parametrize("section", MEASURES)
def test_nothing_grows(section: str, updates_budget: bool) -> None:
    measure = MEASURES[section]
    measures.hold(section, measure.numbers(), measure.file, updates_budget, measure.limit)


def test_what_is_raised_says_what_for() -> None:
    assert measures.raised_without_reason(["statements", "bytes", "loaded"]) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_most_functions_are_short(package: str) -> None:
    assert measures.usual_length(package) <= 19


def test_each_module_has_a_room() -> None:
    rooms = {
        f"{package}/{name}"
        for package in PACKAGES
        for names in measures.house()[package]["floors"]
        for name in names
    }
    found = {measures.room(name) for name in modules()}
    assert {"/".join(room.split("/")[:2]) for room in found} - rooms == set()
    listed = {
        f"{package}.{name}".removesuffix(".")
        for package in PACKAGES
        for names in measures.house()[package]["rooms"].values()
        for name in names
    }
    assert listed - modules().keys() == set(), "house.toml lists modules that are gone"


def test_no_modules_import_each_other() -> None:
    """Not even inside of functions; what only checkers import is not counted."""
    imports = {name: modules_of(module.imports) - {name} for name, module in modules().items()}
    while leaves := [name for name, used in imports.items() if not used & imports.keys()]:
        for name in leaves:
            del imports[name]
    assert not imports, "some of these import each other"


def test_the_registry_names_what_is_there() -> None:
    assert set(registry().values()) <= modules().keys()


def test_no_two_classes_of_the_runtime_have_the_same_name() -> None:
    places: dict[str, list[str]] = {}
    for name, module in modules().items():
        for one in module.classes if module.package == "runtime_support" else ():
            if "." not in one:
                places.setdefault(one.removeprefix("_"), []).append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


# Of users, and of Python's own that only describe.
_IMPORT_BY_NAME = {
    "cli.commands.run",
    "cli.commands.servers",
    "importing",
    "previews.declarations",
    "previews.python_objects",
}


def test_saftc_imports_nothing_by_name_but_the_modules_of_users() -> None:
    by_name = {
        name.removeprefix("saftc.")
        for name, module in modules().items()
        if module.package == "saftc" and "importlib.import_module" in module.imports | module.reads
    }
    assert by_name == _IMPORT_BY_NAME


# What tells a decision: how one type is beside another, or whether something may fail.
_DECIDING = {
    *("is_only", "is_known", "is_none_of", "may_be", "members", "kind_word"),
    *("fit", "never_fails", "operate"),
}
_DECIDED_IN = ("saftc.types.", "saftc.check.", "saftc.infer.", "saftc.effects.")
# They write types.
_WRITING_TYPES = {"saftc.codegen.annotations", "saftc.codegen.statements.classes"}


def test_the_emitter_decides_nothing_by_types() -> None:
    for name, module in modules().items():
        if measures.room(name) == "saftc/codegen" and name not in _WRITING_TYPES:
            used = module.imports | module.for_checkers
            facts = {one for one in used if one.startswith(_DECIDED_IN)}
            assert {one.rpartition(".")[2] for one in facts} & _DECIDING == set(), name


def test_inference_is_reached_through_analysis() -> None:
    inside = "saftc.infer.rules"
    for name, module in modules().items():
        used = {one for one in module.imports | module.for_checkers if one.startswith(inside)}
        assert name.startswith((inside, "saftc.infer.analysis")) or not used, name
