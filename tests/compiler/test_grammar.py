"""The parser is kept, and whatever happens to what was kept, it is the same parser."""

import os
import pickle
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from saftc.diagnostics.model import Collector
from saftc.source import Source
from saftc.syntax.grammar import load_parser
from saftc.syntax.lexer import lex
from tests.compiler.support import ROOT

_SCRIPT = 'for a, b in [(1, "x")]:\n    print($ {a} of {b:raw} $, -a * 2)\n'


def _tree(folder: Path) -> str:
    parser: Any = load_parser(folder)
    return repr(parser.parse(lex(Source.from_text("in.saft", _SCRIPT), Collector()).tokens))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A tree by a parser that was just made, which takes long, and the parser as it was kept."""
    folder = tmp_path_factory.mktemp("made")
    tree = _tree(folder)
    (kept,) = folder.iterdir()
    return tree, kept


@pytest.fixture
def expected(made: tuple[str, Path]) -> str:
    return made[0]


@pytest.fixture
def kept(made: tuple[str, Path], tmp_path: Path) -> Path:
    """The parser that was kept, in a folder of the test's own."""
    return Path(shutil.copy2(made[1], tmp_path))


def test_what_was_kept_is_the_same_parser(
    tmp_path: Path, expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _tree(tmp_path / "a" / "b") == expected
    (kept,) = (tmp_path / "a" / "b").iterdir()
    state = kept.stat()
    assert _tree(tmp_path / "a" / "b") == expected
    assert (kept.stat().st_mtime_ns, kept.stat().st_ino) == (state.st_mtime_ns, state.st_ino)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "other", "folder"])
def test_what_is_damaged_is_made_anew(
    damage: str, kept: Path, tmp_path: Path, expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = kept.read_bytes()
    match damage:
        case "empty":
            kept.write_bytes(b"")
        case "cut":
            kept.write_bytes(whole[: len(whole) // 2])
        case "changed":
            # The same parser with the names of two operators exchanged.
            kept.write_bytes(whole.replace(b"PLUS", b"____").replace(b"STAR", b"PLUS"))
        case "folder":
            kept.unlink()
            kept.mkdir()
        case _:
            kept.write_text("something else")
    assert _tree(tmp_path) == expected
    # It was kept again, and nothing else was left there.
    assert list(tmp_path.iterdir()) == [kept]
    assert kept.is_dir() if damage == "folder" else len(kept.read_bytes()) > len(whole) * 0.9
    assert capfd.readouterr() == ("", "")


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert _tree(tmp_path / "file" / "parser") == expected
    assert capfd.readouterr() == ("", "")


@pytest.mark.heavy
@pytest.mark.one_python
def test_processes_that_begin_together(tmp_path: Path, expected: str) -> None:
    program = (
        "from pathlib import Path\n"
        "from tests.compiler.test_grammar import _tree\n"
        f"print(_tree(Path({str(tmp_path)!r})), end='')\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert {process.communicate()[0].decode() for process in processes} == {expected}
    assert len(list(tmp_path.iterdir())) == 1


def test_the_folder_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "in.saft").write_text("x = 1\nprint(x)\n")
    done = subprocess.run(
        [sys.executable, "-m", "saftc", "check", "in.saft"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SAFT_CACHE_DIR": str(tmp_path / "kept")},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "kept" / "parser").iterdir())) == 1


class _Runs:
    """What a pickle can do to whoever reads it."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('the pickle ran')",)


def test_nothing_that_is_kept_is_run(kept: Path, tmp_path: Path, expected: str) -> None:
    content = pickle.dumps(_Runs())
    kept.write_bytes(sha256(kept.name.encode() + content).digest() + content)
    assert _tree(tmp_path) == expected
