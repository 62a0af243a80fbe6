"""What the tests of programs share: the acceptance cases and their registries."""

import importlib.util
import json
from pathlib import Path

from runtime_support import approve
from runtime_support.programs import Ambiguity, Registry, option

CASES = Path(__file__).parent / "cases"


def load_fixtures():
    path = CASES / "program_fixtures.py"
    spec = importlib.util.spec_from_file_location("program_fixtures", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fixtures = load_fixtures()


def registry_of(*names):
    """The registry of these fixtures, and the list that `note` writes to."""
    functions, types, conversions, pure, notes = fixtures.fixtures(names, Ambiguity, option)
    return Registry(functions, types, conversions, pure), notes


def registry_that_waits(*names):
    """The same, of which each second function waits for approval; none is pure."""
    functions, types, conversions, _, notes = fixtures.fixtures(names, Ambiguity, option)
    some = [approve(one) if number % 2 else one for number, one in enumerate(functions)]
    return Registry(some, types, conversions), notes


def load_cases():
    text = (CASES / "programs.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]
