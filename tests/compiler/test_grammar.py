"""The tables of the parser are kept, and whatever is kept, it is the same parser."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from saftc.diagnostics.model import Collector
from saftc.source import Source
from saftc.syntax.grammar import TABLES, load_parser
from saftc.syntax.lexer import lex
from tests.compiler.support import ROOT

_SCRIPT = 'for a, b in [(1, "x")]:\n    print($ {a} of {b:raw} $, -a * 2)\n'


def _tree(folder: Path) -> str:
    parser: Any = load_parser(folder)
    return repr(parser.parse(lex(Source.from_text("in.saft", _SCRIPT), Collector()).tokens))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """A tree by a parser that was just made, which takes long, and its tables."""
    folder = tmp_path_factory.mktemp("made")
    tree = _tree(folder)
    return tree, (folder / TABLES).read_bytes()


def test_what_was_kept_is_the_same_parser(tmp_path: Path, made: tuple[str, bytes]) -> None:
    tree, data = made
    tables = tmp_path / TABLES
    tables.write_bytes(data)
    state = tables.stat()
    assert _tree(tmp_path) == tree
    assert (tables.stat().st_mtime_ns, tables.stat().st_ino) == (state.st_mtime_ns, state.st_ino)


def test_tables_of_another_grammar_are_made_anew(tmp_path: Path, made: tuple[str, bytes]) -> None:
    tree, data = made
    (tmp_path / TABLES).write_bytes(b"another" + data)
    assert _tree(tmp_path) == tree
    # They were kept again, and nothing else was left there.
    assert [one.name for one in tmp_path.iterdir()] == [TABLES]
    assert (tmp_path / TABLES).read_bytes()[:32] == data[:32]


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, made: tuple[str, bytes], capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert _tree(tmp_path / "file") == made[0]
    assert capfd.readouterr() == ("", "")


@pytest.mark.heavy
@pytest.mark.one_python
def test_processes_that_begin_together(tmp_path: Path, made: tuple[str, bytes]) -> None:
    program = (
        "from pathlib import Path\n"
        "from tests.compiler.test_grammar import _tree\n"
        f"print(_tree(Path({str(tmp_path)!r})), end='')\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert {process.communicate()[0].decode() for process in processes} == {made[0]}
    assert [one.name for one in tmp_path.iterdir()] == [TABLES]


def test_a_checkout_has_its_tables_after_the_first_command(tmp_path: Path) -> None:
    (tmp_path / "in.saft").write_text("x = 1\nprint(x)\n")
    done = subprocess.run(
        [sys.executable, "-m", "saftc", "check", "in.saft"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (ROOT / "saftc" / "syntax" / TABLES).is_file()
