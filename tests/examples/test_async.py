"""The examples and goldens in the async form: clean, and they do what the plain form does."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from runtime_support import _recordings as replay
from saftc.overlap.settings import Overlapping
from tests.compiler.support import EXAMPLES, GOLDENS, ROOT, compile_file, examples
from tests.examples.test_recordings import ANSWERED_BY, RECORDINGS

SCRIPTS = [*examples(), *sorted(GOLDENS.glob("*.saft"))]


def awaited(script: Path) -> str:
    """The text of the async form."""
    compiled = compile_file(script, Overlapping(is_async=True))
    assert compiled.text is not None, script
    return compiled.text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The modules; those of the goldens in a folder of their own."""
    result = tmp_path_factory.mktemp("async")
    (result / "goldens").mkdir()
    for script in SCRIPTS:
        place = result / "goldens" if script.parent == GOLDENS else result
        (place / f"{script.stem}.py").write_text(awaited(script), encoding="utf-8")
    return result


def checked(folder: Path, *command: str, **variables: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.replace(f"{folder}/", "") + done.stderr


@pytest.mark.one_python
@pytest.mark.parametrize("name", ANSWERED_BY)
def test_a_recording_gives_what_it_gives_the_plain_form(
    name: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recording, output = RECORDINGS / f"{name}.jsonl", RECORDINGS / f"{name}.txt"
    monkeypatch.chdir(EXAMPLES)
    for path in (EXAMPLES, folder):
        monkeypatch.syspath_prepend(path)
    for module in {one.stem for one in SCRIPTS} & sys.modules.keys():
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setenv("SAFT_REPLAY", str(recording))
    monkeypatch.setenv("SAFT_PROVIDER", "unset")
    runpy.run_path(str(folder / f"{name}.py"), run_name="__main__")
    assert replay.close(str(recording)) == []
    assert capsys.readouterr().out == output.read_text("utf-8")


def test_most_of_them_wait(folder: Path) -> None:
    waiting = [path for path in folder.rglob("*.py") if "asyncio.run(main())" in path.read_text()]
    assert len(waiting) > 30


@pytest.mark.one_python
def test_ruff_finds_nothing(folder: Path) -> None:
    options = ["--select", "ASYNC,E,F,I", "--ignore", "E501", "--target-version", "py311"]
    installed = 'lint.isort.known-third-party=["runtime_support"]'
    beside = [one.stem for one in EXAMPLES.iterdir() if one.suffix in (".saft", ".py")]
    ours = f"lint.isort.known-first-party={beside}"
    configured = ["--isolated", "--no-cache", "--config", installed, "--config", ours]
    checked(folder, "ruff", "check", *configured, *options, ".")


@pytest.mark.heavy
@pytest.mark.one_python
def test_pyright_finds_nothing(folder: Path) -> None:
    """Its strict mode, but for the goldens, some of which have no types.

    What an `assert` of a script asks for may be known to hold already.
    """
    settings: dict[str, object] = {"extraPaths": [str(ROOT), str(EXAMPLES)]}
    settings |= {"typeCheckingMode": "strict", "reportUnnecessaryIsInstance": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    for golden in (folder / "goldens").glob("*.py"):
        with golden.open("a", encoding="utf-8") as file:
            file.write("\n# pyright: standard\n")
    checked(folder, "pyright", "--pythonpath", sys.executable)


@pytest.mark.heavy
@pytest.mark.one_python
def test_mypy_finds_nothing_in_its_strict_mode(folder: Path) -> None:
    pytest.importorskip("mypy")
    configured = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", os.devnull]
    modules = sorted(one.name for one in folder.glob("*.py"))
    path = os.pathsep.join([str(ROOT), str(EXAMPLES)])
    checked(folder, "mypy", *configured, "--strict", *modules, MYPYPATH=path)
