"""The package stands on its own, and costs nothing until it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import runtime_support.programs as programs

HERE = Path(programs.__file__).parent
BRIDGE = {"_prompting.py"}
# Below programs: types, settings, calls and what goes around them, whoever makes them, and plain
# helpers that ask no model and know no network.
BELOW = (
    "errors",
    "_values",
    "_schema",
    "_tables",
    "_core.hooks",
    "_core.results",
    "_core.scopes",
    "_core.settings",
    "_core.tasks",
)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_only_the_bridge_knows_prompts():
    for path in HERE.glob("*.py"):
        for name in imported(path):
            is_own = name.startswith("runtime_support.programs")
            is_below = name.startswith(tuple(f"runtime_support.{one}" for one in BELOW))
            is_standard = name.split(".")[0] in sys.stdlib_module_names
            assert is_own or is_below or is_standard or path.name in BRIDGE, (path.name, name)


def test_every_public_name_is_there():
    for name in programs.__all__:
        assert getattr(programs, name) is not None


def test_importing_and_running_load_little():
    code = """
import sys
from runtime_support.programs import Registry, describe, evaluate, schema, serialize
assert evaluate({"a": 1, "b": 2}, Registry()).value == {"a": 1, "b": 2}
heavy = {"asyncio", "pydantic", "openai", "typing_extensions", "jsonschema"}
print(sorted(heavy & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
