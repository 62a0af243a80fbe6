"""The package as a whole: its surface, its errors, what importing it costs."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import runtime_support
from runtime_support import errors, mcp, ops, programs, runs, testing

ROOT = Path(__file__).parents[2]

HEAVY = ("openai", "pydantic", "asyncio", "inspect", "dataclasses", "json", "typing_extensions")


def loaded_after(statement: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import runtime_support",
        "from runtime_support import check, ops, prompt; ops.add(1, 2); ops.show([1])",
        "from runtime_support.ops import kind, parse, read_text, to_json, write_text",
    ],
)
def test_importing_is_cheap(statement: str) -> None:
    assert loaded_after(statement).isdisjoint(HEAVY)


def test_openai_is_imported_at_the_first_prompt_that_needs_it() -> None:
    asked = "from runtime_support import prompt; prompt('hi', options={'provider': 'mock'})"
    assert "openai" not in loaded_after(asked)


def test_every_public_name_is_there() -> None:
    for name in runtime_support.__all__:
        assert getattr(runtime_support, name) is not None
    assert sorted(runtime_support.__all__) == runtime_support.__all__
    with pytest.raises(AttributeError):
        runtime_support.no_such_name  # noqa: B018


def test_a_module_of_a_later_version_fails_when_it_is_imported() -> None:
    module = "from runtime_support import not_yet, prompt\nprint(prompt('hi').value)\n"
    with pytest.raises(ImportError, match="cannot import name 'not_yet' from 'runtime_support'"):
        exec(module, {})


def test_the_top_has_what_a_python_program_expects() -> None:
    own = set(runtime_support.__all__) - set(errors.__all__)
    assert own == {
        *("prompt", "program", "Result", "AsyncResult", "ToolCall", "Usage", "check"),
        *("image", "file"),
        *("Image", "File", "configure", "defaults", "Settings", "current_settings", "Provider"),
        *("Request", "Reply", "ToolRequest"),
        *("overlap", "together", "later", "in_thread", "in_loop"),
        *("add_listener", "add_observer", "ops"),
        *("ReplyEvent", "TextPiece", "ToolStarted", "ToolEnded", "ReplyEnded"),
        *("approve", "Decision", "PendingCall"),
    }


def test_what_tests_of_users_need_has_a_home_of_its_own() -> None:
    assert all(getattr(testing, name) is not None for name in testing.__all__)


NO_FAILURES = (errors.RunWaiting, errors.ReplayMiss)


def test_the_errors_are_one_tree_that_is_drawn() -> None:
    drawn = errors.__doc__ or ""
    own = [value for value in vars(errors).values() if inspect.isclass(value)]
    own = [one for one in own if one.__module__ == errors.__name__ and one.__name__[0] != "_"]
    assert errors.SaftError in own
    for error in own:
        # What waits, and what was not recorded, is no failure: nothing that deals with failures is
        # to take it for one.
        assert issubclass(error, errors.SaftError) != (error in NO_FAILURES)
        assert error.__name__ in drawn
        assert error.__name__ in runtime_support.__all__


def test_nothing_of_the_compiler_is_imported() -> None:
    for path in (ROOT / "runtime_support").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import saftc" not in text and "from saftc" not in text, path


def test_errors_travel_between_processes() -> None:
    import pickle

    miss = pickle.loads(pickle.dumps(errors.ReplayMiss("none", nearest={"a": 1}, hint="record")))
    assert (str(miss), miss.nearest) == ("none; record", {"a": 1})
    error = errors.TruncatedReply("cut", text="[1, 2", hint="more")
    error.saft_position = "a.saft:1:1"
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.text, copy.saft_position) == (
        errors.TruncatedReply,
        "cut; more",
        "[1, 2",
        "a.saft:1:1",
    )


@pytest.mark.parametrize("module", ["ops", "programs", "runs"])
def test_each_public_name_of_a_part_is_there(module: str) -> None:
    part = importlib.import_module(f"runtime_support.{module}")
    assert all(getattr(part, name) is not None for name in dir(part))
    assert not set(getattr(part, "__all__", dir(part))) ^ set(dir(part))
    with pytest.raises(AttributeError, match="no_such_name"):
        part.no_such_name  # noqa: B018


@pytest.mark.parametrize("module", [runtime_support, ops, programs, runs, mcp])
def test_what_checkers_see_is_what_is_there(module: ModuleType) -> None:
    tree = ast.parse(Path(f"{module.__file__}i").read_text(encoding="utf-8"))
    seen: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            home = importlib.import_module(node.module or "")
            seen |= {one.asname or one.name: getattr(home, one.name) for one in node.names}
        elif isinstance(node, ast.Assign):
            seen[ast.unparse(node.targets[0])] = eval(ast.unparse(node.value), seen)
    public = {name: value for name, value in seen.items() if name[0] != "_"}
    assert public == {name: getattr(module, name) for name in module.__all__}


def test_a_plan_is_run_by_one_name() -> None:
    checked = programs.check({"$object": {"a": 1}}, programs.Registry())
    assert isinstance(checked, programs.CheckedProgram)
    assert programs.run(programs.Plan(checked)) == {"a": 1}
