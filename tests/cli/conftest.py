"""The command in this process: arguments and input in, exit code and output out."""

import functools
import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer.main

from runtime_support._core import spending
from saftc import __main__
from saftc.cli import app as cli


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command has ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the command stands in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("SAFT_CACHE_DIR", str(folder))
    return folder


@pytest.fixture(scope="session", autouse=True)
def commands() -> Iterator[None]:
    """The tree of commands, which typer makes anew for each process, is made once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture
def saftc(
    folder: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """Runs the command with `arguments`, and `stdin` as its input."""
    return _command(cli.main, folder, monkeypatch, capsys)


@pytest.fixture
def saftc_at_once(
    folder: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """The same as it is called, where a command without options is done without typer."""
    return _command(__main__.main, folder, monkeypatch, capsys)


def _command(
    main: Callable[[], None],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    def run(*arguments: str, stdin: str | bytes = b"") -> Ended:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["saftc", *arguments])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
            patch.setattr(sys, "path", list(sys.path))
            patch.setattr(sys, "meta_path", list(sys.meta_path))
            patch.setattr(os, "environ", os.environ.copy())
            patch.setattr(spending, "_of_process", spending.UsageMeter())
            known = dict(sys.modules)
            try:
                main()
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 1 if ended.code else 0
            else:
                code = 0
            finally:
                # A script that ran was `__main__`, and what it imported were modules.
                new = set(sys.modules) - set(known)
                for name in [name for name in new if _is_of(name, folder)]:
                    del sys.modules[name]
                sys.modules["__main__"] = known["__main__"]
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


def _is_of(name: str, folder: Path) -> bool:
    """Whether a module is a script's, or one of Python in the folder."""
    if name.startswith(("saftc", "runtime_support")):
        return False
    spec = getattr(sys.modules[name], "__spec__", None)
    if type(getattr(spec, "loader", None)).__module__ == "saftc.cli.commands.run":
        return True
    places: list[object] = [getattr(spec, "origin", None)]
    places += getattr(spec, "submodule_search_locations", None) or ()
    return any(str(place).startswith(str(folder)) for place in places)


@pytest.fixture
def script(folder: Path) -> Callable[[str, str], Path]:
    """Writes a script into the folder."""

    def write(name: str, text: str) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write
