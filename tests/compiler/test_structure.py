"""Imports point one way, and a command loads only what it needs."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Set
from functools import cache
from pathlib import Path

import pytest

import runtime_support
import saftc
from saftc import runtime
from tests.compiler.support import ROOT

pytestmark = pytest.mark.one_python

# From the ground up; a part imports itself and what stands below it.
_FLOORS = [
    {"_version", "runtime", "source", "user_cache"},
    {"diagnostics", "looking"},
    {"syntax"},
    {"formatter"},
    {"flow"},
    {"semantics"},
    {"schedule"},
    {"choices"},
    {"bounds"},
    {"codegen"},
    {"driver"},
    {"project"},
    {"previews"},
    {"plans", "commands", "running", "lsp", "play"},
    {"api", "cli", "importing"},
    {"__main__", "notebook"},
]
# Stand beside the house: they use the parts of the compiler that they name, and nothing uses them.
_BESIDE = {"editors", "__init__"}


def _floor(part: str) -> int:
    for number, parts in enumerate(_FLOORS):
        if part in parts:
            return number
    raise LookupError(f"say in _FLOORS where saftc/{part} stands")


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _imported(file: Path) -> Set[str]:
    """The absolute names of the modules that a file imports."""
    found: set[str] = set()
    for node in ast.walk(_tree(file)):
        match node:
            case ast.Import():
                found.update(alias.name for alias in node.names)
            case ast.ImportFrom(module=str() as module, level=0):
                found.add(module)
                found.update(f"{module}.{alias.name}" for alias in node.names)
            case ast.ImportFrom():
                raise AssertionError(f"{file}: a relative import")
            case _:
                pass
    return found


def _files(package: object) -> list[Path]:
    return sorted(Path(str(package.__file__)).parent.rglob("*.py"))  # type: ignore[attr-defined]


@pytest.mark.parametrize("file", _files(saftc), ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_point_down(file: Path) -> None:
    part = file.relative_to(ROOT / "saftc").parts[0].removesuffix(".py")
    if part in _BESIDE:
        return
    for name in _imported(file):
        package, _, below = name.partition(".")
        if package == "saftc" and below:
            used = below.split(".")[0]
            assert used not in _BESIDE, name
            assert _floor(used) <= _floor(part), name


# These alone work with the runtime as compiled modules do: they show what it would send, check
# programs by its rules, run scripts, and show runs.
_KNOW_THE_RUNTIME = {
    *("api.py", "commands", "looking", "plans", "previews", "running.py", "runtime.py"),
}


def test_compiler_and_runtime_do_not_import_each_other() -> None:
    for file in _files(saftc):
        knows = file.relative_to(ROOT / "saftc").parts[0] in _KNOW_THE_RUNTIME
        assert knows or not any(_imports_runtime(name) for name in _imported(file)), file
    for file in _files(runtime_support):
        assert not any(name.split(".")[0] == "saftc" for name in _imported(file)), file


def test_what_the_runtime_may_change_is_used_in_one_place() -> None:
    for file in _files(saftc):
        own = [name for name in _imported(file) if _imports_runtime(name) and "._" in name]
        assert not own or file == ROOT / "saftc" / "runtime.py", (file, own)


def test_what_is_used_of_the_runtime_is_there_and_is_used() -> None:
    assert sorted(runtime.__all__) == dir(runtime)
    assert all(getattr(runtime, name) is not None for name in runtime.__all__)
    used = {name for file in _files(saftc) for name in _imported(file)}
    assert {f"saftc.runtime.{name}" for name in runtime.__all__} <= used


def _imports_runtime(name: str) -> bool:
    return name.split(".")[0] == "runtime_support"


# Of users, and of Python's own that only describe.
_IMPORT_BY_NAME = ("declarations.py", "run.py", "servers.py", "stand_ins.py")


def test_nothing_is_imported_by_name_but_the_modules_of_users() -> None:
    for file in _files(saftc):
        by_name = any(
            isinstance(node, ast.Attribute | ast.Name)
            and "import_module" in (getattr(node, "attr", ""), getattr(node, "id", ""))
            for node in ast.walk(_tree(file))
        )
        assert not by_name or file.name in _IMPORT_BY_NAME, file


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["check", "in.saft"], {"libcst", "black", "openai", "runtime_support"}),
        (["--help"], {"lark", "black", "openai", "runtime_support"}),
        (["--version"], {"lark", "black", "openai", "runtime_support"}),
        (["build", "in.saft", "-o", "-"], {"openai", "runtime_support", "pygls", "lsprotocol"}),
        (["prompts", "in.saft"], {"openai", "polars"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_loads_only_what_it_needs(
    arguments: list[str], unwanted: set[str], tmp_path: Path
) -> None:
    (tmp_path / "in.saft").write_text('x: int = $ how many? $\nprint(x, "one")\n')
    program = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*{n.split('.')[0] for n in sys.modules}, file=sys.stderr))\n"
        f"sys.argv = ['saftc', *{arguments!r}]\n"
        "from saftc.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines()[-1].split())
    assert loaded & unwanted == set()


def test_an_unchanged_script_runs_without_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "in.saft").write_text("print(1)\n")
    program = (
        "import sys, atexit, os\n"
        "sys.argv = ['saftc', 'run', 'in.saft']\n"
        "from saftc.commands.actions import at_once\n"
        "assert at_once(sys.argv[1:])() == 0\n"
        "print(*sys.modules)\n"
    )
    environment = {**os.environ, "SAFT_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "saftc.commands.run" in loaded
    compiler = ("saftc.syntax", "saftc.semantics", "saftc.codegen", "saftc.driver")
    assert loaded & {"typer", "lark", "libcst", "black", *compiler} == set()


def test_no_modules_import_each_other() -> None:
    names = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in _files(saftc)
    }
    imports = {name: _imported(file) & names.keys() - {name} for name, file in names.items()}
    while leaves := [name for name, imported in imports.items() if not imported & imports.keys()]:
        for name in leaves:
            del imports[name]
    assert not imports, "some of these import each other"


# The passes over a script, from the ground up; each uses only those above it in this list.
_SEMANTICS = [
    "types",
    "foreign relations",
    "operators builtins results dates",
    "forms names",
    "parts",
    "resolution bindings",
    "history",
    "facts",
    "constants imports schemas parameters shapes failure programs tools unproved prompt_hints",
    "ownership servers",
    "inference",
    "analysis",
]
_INFERENCE = [
    "environment",
    "context",
    "places conditions keys",
    "loops passing members literals",
    "calls",
    "prompts",
    "expressions",
    "statements",
    "units",
    "edits",
]


@pytest.mark.parametrize(
    ("folder", "floors"), [("semantics", _SEMANTICS), ("semantics.inference", _INFERENCE)]
)
def test_passes_use_only_earlier_ones(folder: str, floors: list[str]) -> None:
    height = {part: number for number, parts in enumerate(floors) for part in parts.split()}
    package = ROOT / "saftc" / Path(*folder.split("."))
    for file in sorted(package.rglob("*.py")):
        part = file.relative_to(package).parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        for name in _imported(file):
            used = name.removeprefix(f"saftc.{folder}.").split(".")[0]
            if name.startswith(f"saftc.{folder}.") and used != part:
                assert height[used] < height[part], f"{file}: {name}"


# What tells a decision: how one type is beside another, or whether something may fail.
_DECIDING = {
    *("is_only", "is_known", "is_none_of", "may_be", "members", "kind_word"),
    *("fit", "never_fails", "operate"),
}
# They write types.
_WRITING_TYPES = {"annotations.py", "classes.py"}


def test_the_places_that_answer_questions_are_there() -> None:
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    table = text.partition("| question | where in `saftc` |")[2].partition("\n\n")[0]
    places = re.findall(r"`([\w/]+\.py)`", table)
    assert len(places) > 15
    assert [one for one in places if not (ROOT / "saftc" / one).is_file()] == []


def test_the_emitter_decides_nothing_by_types() -> None:
    for file in sorted((ROOT / "saftc" / "codegen").glob("*.py")):
        facts = (name for name in _imported(file) if name.startswith("saftc.semantics."))
        names = {name.rpartition(".")[2] for name in facts}
        assert file.name in _WRITING_TYPES or not names & _DECIDING, (file, names & _DECIDING)


def test_inference_is_reached_through_analysis() -> None:
    for file in _files(saftc):
        is_inside = file.parent.name == "inference" or file.name == "analysis.py"
        inner = [name for name in _imported(file) if name.startswith("saftc.semantics.inference")]
        assert is_inside or not inner, file
