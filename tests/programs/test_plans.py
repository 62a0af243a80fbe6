"""Plans as source: what the compiled module gives is what evaluating the program gives.

In `plans/`, NAME.json is a plan and NAME.py its module; `--update-cases` rewrites the modules.
"""

import asyncio
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import black
import pytest
from hypothesis import given
from program_support import fixtures, load_cases, registry_of
from test_laws import FAST, ROOMY, kinds, programs

from runtime_support.programs import ProgramText, Registry, Success, check, evaluate
from saftc.cli.commands.build_plan import compile_plan
from saftc.plans.building import write_plan
from saftc.plans.tools import NotWritable, Tools, find_tools

ROOT = Path(__file__).parents[2]
PLANS = Path(__file__).parent / "plans"
NAMES = sorted(path.stem for path in PLANS.glob("*.json"))
SUCCEEDING = [case for case in load_cases() if case["outcome"] == "success"]

each_plan = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def _tools_are_imported_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "tools", raising=False)
    yield
    sys.modules.pop("tools", None)


def value_of(text: str) -> Any:
    """What `main` of the module gives."""
    names: dict[str, Any] = {"__name__": "plan"}
    exec(compile(text, "plan.py", "exec"), names)
    given = names["main"]()
    return asyncio.run(given) if inspect.isawaitable(given) else given


def tools_of(registry: Registry, *others: type) -> Tools:
    """The definitions of a registry as the tools of a module `tools`, which can be imported."""
    namespace = {one.name: one.function for one in registry.definitions.values()}
    namespace |= {other.__name__: other for other in others}
    sys.modules["tools"] = module = ModuleType("tools")
    vars(module).update(namespace)
    return Tools("tools", namespace, registry)


def compiled(program: Any, tools: Tools) -> str:
    checked = check(ProgramText(json.dumps(program)), tools.registry, limits=ROOMY)
    return write_plan("plan.json", checked.root, tools)


@pytest.mark.parametrize("case", SUCCEEDING, ids=lambda case: case["id"])
def test_the_cases_give_what_evaluating_gives(case):
    registry, notes = registry_of(*case["registry"]["fixtures"])
    outcome = evaluate(case["program"], registry)
    noted = [*notes]
    notes.clear()
    value = value_of(compiled(case["program"], tools_of(registry)))
    assert value == outcome.value and kinds(value) == kinds(outcome.value)
    assert notes == noted


@pytest.mark.heavy
@FAST
@given(program=programs())
def test_generated_programs_give_what_evaluating_gives(program):
    registry, _ = registry_of("calc", "text", "books", "places", "effects")
    outcome = evaluate(ProgramText(json.dumps(program)), registry, limits=ROOMY)
    if not isinstance(outcome, Success):
        return
    text = compiled(program, tools_of(registry, fixtures.LatLon, fixtures.Box))
    assert black.format_str(text, mode=black.Mode()) == text
    value = value_of(text)
    assert value == outcome.value and kinds(value) == kinds(outcome.value)


@each_plan
def test_a_plan_and_its_module(name, updates_cases):
    text = compile_plan(str(PLANS / f"{name}.json"), "tools", [PLANS]).text
    expected = PLANS / f"{name}.py"
    if updates_cases:
        expected.write_text(text, "utf-8")
    assert text == expected.read_text("utf-8")
    assert black.format_str(text, mode=black.Mode()) == text


@each_plan
def test_a_module_gives_what_evaluating_gives(name):
    program = (PLANS / f"{name}.json").read_text("utf-8")
    names: set[str] = set()
    json.loads(program, object_hook=names.update)
    tools = find_tools("tools", [PLANS], names)
    written = tools.namespace["written"]
    outcome = evaluate(ProgramText(program), tools.registry)
    noted = [*written]
    written.clear()
    assert repr(value_of((PLANS / f"{name}.py").read_text("utf-8"))) == repr(outcome.value)
    assert written == noted


def test_there_is_a_module_for_each_plan_and_no_other():
    assert sorted(path.stem for path in PLANS.glob("*.py")) == sorted([*NAMES, "tools"])


def test_each_level_of_a_deep_plan_is_written_once():
    program: Any = {"$let": {"bind": {"x": 1}, "in": {"$ref": "x"}}}
    for _ in range(15):
        chosen = {"$if": {"test": True, "then": program, "else": [1]}}
        program = {"$map": {"over": [1], "as": "n", "do": chosen}}
    assert len(compiled(program, tools_of(Registry())).splitlines()) < 400


def test_python_has_fewer_loops_in_each_other():
    program: Any = {"$let": {"bind": {"x": 1}, "in": {"$ref": "x"}}}
    for _ in range(20):
        program = {"$map": {"over": [1], "as": "n", "do": program}}
    assert (
        json.dumps(value_of(compiled(program, tools_of(Registry())))) == "[" * 20 + "1" + "]" * 20
    )
    program = {"$map": {"over": [1], "as": "n", "do": program}}
    with pytest.raises(NotWritable, match="more than 20 loops"):
        compiled(program, tools_of(Registry()))


def test_a_tuple_of_any_length_in_a_list():
    def any_() -> Any:
        return [[1, "2"]]

    def longest(pairs: list[tuple[int, ...]]) -> tuple[int, ...]:
        return max(pairs)

    tools = tools_of(Registry([any_, longest]))
    assert value_of(compiled({"longest": {"pairs": {"any_": {}}}}, tools)) == (1, 2)


def test_a_type_that_no_annotation_says():
    def any_() -> Any:
        return {"size": 1, "room": 2}

    def count(of: fixtures.Box) -> int:
        return len(of)

    tools = tools_of(Registry([any_, count]))
    with pytest.raises(NotWritable, match="have the function that gives the value declare its"):
        compiled({"count": {"of": {"any_": {}}}}, tools)


def test_ruff_finds_nothing():
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache"),
            *("--select", "E4,E7,E9,F,I", "--target-version", "py311", "--line-length", "88"),
            *("--config", 'lint.isort.known-third-party=["runtime_support", "tools"]'),
            *("--output-format", "concise", str(PLANS)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.one_python
def test_pyright_finds_nothing(tmp_path):
    settings = {
        "typeCheckingMode": "standard",
        "pythonVersion": "3.11",
        "include": [str(PLANS)],
        "extraPaths": [str(ROOT), str(PLANS)],
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.replace(f"{PLANS}/", "") + done.stderr
