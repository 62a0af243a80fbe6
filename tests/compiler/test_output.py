"""What holds for every module that saftc writes, whatever the script."""

import ast
import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import black
import pytest

from saftc.driver import Compiled, compile_checked
from saftc.overlap.settings import Overlapping
from saftc.project.settings import Project
from tests.compiler.support import (
    EXAMPLES,
    GOLDENS,
    ROOT,
    compile_file,
    compile_text,
    compiled_cases,
    examples,
)

pytestmark = pytest.mark.one_python

_Modules = Mapping[str, Compiled]

# Run in a process of its own: what the examples compile to, as one hash.
_HASH_EXAMPLES = """
import hashlib
from tests.compiler.support import compile_file, examples
texts = [str(compile_file(path).text) for path in examples()]
print(hashlib.sha256("\\n".join(texts).encode()).hexdigest())
"""


@pytest.fixture(scope="session")
def folder(modules: _Modules, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all modules, for the tools that read files."""
    result = tmp_path_factory.mktemp("modules")
    for name, compiled in modules.items():
        assert compiled.text is not None, name
        place = result / name
        if compiled.checked.source.name == "in.saft":
            # Siblings are imported from beside it.
            place = place / "in"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.with_suffix(".py").write_text(compiled.text, encoding="utf-8")
    for case in compiled_cases():
        for beside in set(case.folder.glob("*.py")) - {case.out}:
            (result / "cases" / case.name / beside.name).write_bytes(beside.read_bytes())
    return result


@pytest.mark.heavy
def test_each_parses_and_has_its_header(modules: _Modules) -> None:
    for name, compiled in modules.items():
        assert compiled.text is not None, name
        ast.parse(compiled.text)
        script = compiled.checked.source.name.rsplit("/", 1)[-1]
        first, _, rest = compiled.text.partition("\n")
        assert compiled.module is not None, name
        form = " This is the async form." if compiled.module.plan.awaits is not None else ""
        assert first == f"# Compiled by saftc from {script}; edit that file instead.{form}", name
        assert compiled.text.endswith("\n") and not rest.endswith("\n\n"), name


@pytest.mark.heavy
def test_compiling_twice_gives_the_same(modules: _Modules) -> None:
    cases = {f"cases/{case.name}": case.overlapping for case in compiled_cases()}
    of_examples = Overlapping(pure=Project(EXAMPLES).pure)
    for name, compiled in modules.items():
        # A sibling is compiled as its case is.
        folder = name.rpartition("/")[0]
        other = of_examples if folder == "examples" else Overlapping()
        asked = cases.get(name, cases.get(folder, other))
        assert compile_checked(compiled.checked, asked).text == compiled.text, name


@pytest.mark.heavy
def test_hash_seed_does_not_matter(modules: _Modules) -> None:
    """The long scripts, with one seed; the cases are compared with their files in each run, which
    has a random one."""
    texts = [str(modules[f"examples/{path.stem}"].text) for path in examples()]
    expected = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    done = subprocess.run(
        [sys.executable, "-c", _HASH_EXAMPLES],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == expected


@pytest.mark.heavy
def test_black_changes_nothing(modules: _Modules) -> None:
    mode = black.Mode()
    changed = {
        name: formatted
        for name, compiled in modules.items()
        if (formatted := black.format_str(compiled.text or "", mode=mode)) != compiled.text
    }
    assert changed == {}


@pytest.mark.heavy
def test_ruff_finds_nothing(folder: Path) -> None:
    """ruff's default rules, and the order of imports.

    A script that saftc has warned of may keep what it was warned of: a name that is never used.
    """
    beside = [path.stem for path in folder.glob("cases/**/*.py") if path.stem != "in"]
    beside += [path.stem for path in EXAMPLES.iterdir() if path.suffix in (".saft", ".py")]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache"),
            *("--select", "E4,E7,E9,F,I", "--target-version", "py311", "--line-length", "88"),
            *("--config", 'lint.isort.known-third-party=["runtime_support"]'),
            *("--config", f"lint.isort.known-first-party={beside}"),
            *("--per-file-ignores", f"{folder}/cases/diagnostics/unused_name/**:F841"),
            *("--output-format", "concise", str(folder)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_has_nothing_to_say_of_what_is_shown(tmp_path: Path) -> None:
    """The rules of a careful review, for the compiled examples and the goldens.

    Left out: A004, since `print` is shadowed where it may run ahead of its turn (see
    docs/overlap.md); B007, since a loop's variable that nothing reads has the script's own name.
    """
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache"),
            *("--select", "B,C4,SIM,RUF,A", "--ignore", "A004,B007"),
            *("--target-version", "py311", "--line-length", "88", "--output-format", "concise"),
            *(str(ROOT / "build"), str(GOLDENS)),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.heavy
def test_pyright_finds_nothing(folder: Path) -> None:
    """pyright's standard mode.

    Values that are written and not used are the scripts' own, and so is what saftc itself has
    warned of: a name that only some ways find bound, a value that may be nil.
    """
    configuration = """{"typeCheckingMode": "standard", "pythonVersion": "3.11",
        "reportUnusedExpression": "none", "extraPaths": ["%s", "%s"],
        "ignore": ["**/copy_on_some_paths", "**/maybe_unbound", "**/may_fail"]}"""
    (folder / "pyrightconfig.json").write_text(configuration % (ROOT, EXAMPLES), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.replace(f"{folder}/", "") + done.stderr


@pytest.fixture(scope="session")
def strict_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the modules of what people write without a thought for checkers."""
    result = tmp_path_factory.mktemp("strict")
    for script in sorted((Path(__file__).parent / "strict").glob("*.saft")):
        text = compile_file(script).text
        assert text is not None, script
        (result / f"{script.stem}.py").write_text(text, encoding="utf-8")
        if script.stem.startswith("again_"):
            text = compile_file(script, Overlapping(is_async=True)).text
            assert text is not None, script
            (result / f"async_{script.stem}.py").write_text(text, encoding="utf-8")
    return result


@pytest.mark.heavy
def test_pyright_finds_nothing_in_its_strict_mode(strict_folder: Path) -> None:
    configuration = '{"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": ["%s"]}'
    (strict_folder / "pyrightconfig.json").write_text(configuration % ROOT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(strict_folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.replace(f"{strict_folder}/", "") + done.stderr


@pytest.mark.heavy
def test_mypy_finds_nothing_in_its_strict_mode(strict_folder: Path) -> None:
    pytest.importorskip("mypy")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")),
            *("--strict", "--cache-dir", os.devnull, "."),
        ],
        cwd=strict_folder,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.heavy
def test_siblings_stand_apart_as_ruff_wants_it(strict_folder: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "I"),
            *("--config", 'lint.isort.known-third-party=["runtime_support"]', "."),
        ],
        cwd=strict_folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_untyped_function_that_is_given_any_stays_bare() -> None:
    script = "f price(row):\n    ret row.price\n\n{}: any = parse(\"[]\")\nprint(price({}))\n"
    bare = compile_text(script.replace("{}", "data")).text or ""
    assert "def price(row):\n" in bare
    known = compile_text(script.replace("({})", "({price: 1})").replace("{}", "data")).text or ""
    assert "def price(row: dict[str, int]) -> int:\n" in known
    both = compile_text(script.replace("{}", "data") + "print(price({price: 1}))\n").text or ""
    assert "def price(row):\n" in both
