"""The core imports no part, nothing imports in a circle, a prompt loads what it uses.

The numbers change on purpose alone: who raises one says in the commit what for.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import runtime_support
from runtime_support import _seams
from tests.support.fake_server import FakeServer, calling, completion

pytestmark = pytest.mark.one_python

PACKAGE = Path(runtime_support.__file__).parent

# What a compiled module with prompts needs, from the ground up.
CORE = {
    *("_version", "_lazy", "_process", "errors", "_names", "_values", "_dates_decimals"),
    *("_redaction", "_notes"),
    *("_seams", "_jsontext", "_positions", "_order", "_ambiguity", "_effects", "_schema"),
    *("_results", "_exchange", "_settings", "_templates", "_targets", "_conversation"),
    *("providers", "_tally", "_asking", "_prompting"),
    # Where a prompt is typed, has fields, or has tools.
    *("_contracts", "_fields", "_tools"),
    # Where there is a project file, a source map, an error that nothing has caught, a coroutine.
    *("_projects", "_source_maps", "_uncaught", "_loop"),
}
# Saft's own operations: they know values, files and errors, and nothing of prompts.
LANGUAGE = {"ops", "_language"}
PARTS = {
    *("_local", "_media", "_mock", "_observe", "_overlap", "_recovery", "_streaming", "_tables"),
    *("_approval", "_beside", "_transcripts"),
    *("mcp", "programs", "runs", "scale"),
    *("testing", "pytest_plugin"),
}


def _modules() -> dict[str, Path]:
    """The files of the package by their names, without the name of the package."""
    found = {file.relative_to(PACKAGE).with_suffix(""): file for file in PACKAGE.rglob("*.py")}
    return {".".join(path.parts).removesuffix(".__init__"): file for path, file in found.items()}


MODULES = _modules()


def _imports(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """All import statements, also those of functions, but not those for checkers alone."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from _imports(node.orelse)
        else:
            for name in ("body", "orelse", "finalbody"):
                yield from _imports(getattr(node, name, []))
            for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from _imports(inner.body)


def _imported(file: Path) -> set[str]:
    """The modules of the package that a file imports."""
    found: set[str] = set()
    for node in _imports(ast.parse(file.read_text(encoding="utf-8")).body):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        for name in names:
            package, _, inner = name.partition(".")
            if package == "runtime_support":
                found.add(inner if inner in MODULES else inner.rpartition(".")[0])
    return found - {""}


def _room(module: str) -> str:
    return module.partition(".")[0]


def test_each_module_has_a_room() -> None:
    rooms = {_room(name) for name in MODULES} - {"__init__"}
    assert rooms == CORE | LANGUAGE | PARTS


@pytest.mark.parametrize("module", sorted(name for name in MODULES if _room(name) in CORE))
def test_the_core_imports_no_part(module: str) -> None:
    assert {_room(name) for name in _imported(MODULES[module])} <= CORE


@pytest.mark.parametrize("module", sorted(name for name in MODULES if _room(name) in LANGUAGE))
def test_the_language_knows_no_prompts(module: str) -> None:
    ground = {"_lazy", "errors", "_names", "_values", "_dates_decimals", "_jsontext", "_order"}
    ground |= {"_positions", "_uncaught"}
    # How a function is called whose parameters are not known, and what a model is told by one.
    known = LANGUAGE | ground | {"_seams", "_ambiguity", "_schema", "_effects", "_loop"}
    assert {_room(name) for name in _imported(MODULES[module])} <= known


def test_no_modules_import_each_other() -> None:
    imports = {name: _imported(file) - {name} for name, file in MODULES.items()}
    while leaves := [name for name, imported in imports.items() if not imported & imports.keys()]:
        for name in leaves:
            del imports[name]
    assert not imports, "some of these import each other"


def test_the_seams_name_what_is_there() -> None:
    assert set(_seams.PARTS.values()) <= MODULES.keys()
    assert len((PACKAGE / "_seams.py").read_text(encoding="utf-8").splitlines()) < 240


def test_no_two_classes_have_the_same_name() -> None:
    places: dict[str, list[str]] = {}
    for name, file in MODULES.items():
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.removeprefix("_"), []).append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


PROMPTS = {
    "plain": """
prompt("How are you?").value
""",
    "typed": """
prompt("How many are {people}?", people=["Al", "Bo"], returns=int).value
""",
    "tools": """
def double(number: int) -> int:
    return 2 * number

prompt("What is twice 4? Use {double}.", double=double).value
""",
}
# The modules of ours that it loads, and how many lines they have.
LOADED = {"plain": (31, 7_650), "typed": (38, 10_520), "tools": (39, 10_700)}


@pytest.mark.parametrize("kind", PROMPTS)
def test_a_prompt_loads_only_what_it_uses(kind: str, tmp_path: Path) -> None:
    loaded = _loaded_by(kind, tmp_path)
    assert {_room(name) for name in loaded} <= CORE | {"__init__"}
    lines = sum(len(MODULES[name].read_text(encoding="utf-8").splitlines()) for name in loaded)
    modules, most = LOADED[kind]
    assert len(loaded) == modules
    assert lines <= most, f"{lines} lines"


def _loaded_by(kind: str, folder: Path) -> set[str]:
    program = (
        "from runtime_support import prompt\nimport sys\n"
        f"{PROMPTS[kind]}\n"
        "print(*(name for name in sys.modules if name.startswith('runtime_support')))"
    )
    with FakeServer() as server:
        server.answers = [completion("4")]
        if kind == "tools":
            server.answers = [calling(("double", {"number": 4})), completion("8")]
        environment = {
            **{name: one for name, one in os.environ.items() if not name.startswith("SAFT_")},
            "SAFT_BASE_URL": server.url,
            "SAFT_MODEL": "fake",
            "OPENAI_API_KEY": "sk-test-0123456789abcdefghij",
        }
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    names = {name.partition(".")[2] or "__init__" for name in done.stdout.split()}
    return names
