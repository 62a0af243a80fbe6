"""Files of a script that is run: relative paths begin in its folder, whatever imports it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command

Script = Callable[[str, str], Path]


def test_paths_begin_in_the_folder_of_the_script(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("inner/a.saft", 'print(read_text("note.txt"), list_files("*.txt"))\n')
    (folder / "note.txt").write_text("of the working directory")
    (folder / "inner" / "note.txt").write_text("of the script")
    ended = saftc("run", "inner/a.saft")
    assert (ended.code, ended.out) == (0, 'of the script ["note.txt"]\n')


def test_a_module_reads_from_the_working_directory(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("inner/a.saft", 'print(read_text("note.txt"))\n')
    (folder / "note.txt").write_text("of the working directory")
    assert saftc("build", "inner/a.saft").code == 0
    done = subprocess.run(
        [sys.executable, "inner/a.py"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout == "of the working directory\n"


def test_a_sibling_reads_from_the_same_folder(saftc: Command, script: Script, folder: Path) -> None:
    script("inner/notes.saft", "f note(name: string) -> string:\n    ret read_text(name)\n")
    script("inner/a.saft", 'from notes import note\nprint(note("note.txt"))\n')
    (folder / "inner" / "note.txt").write_text("found")
    assert saftc("run", "inner/a.saft").out == "found\n"


def test_standard_input_reads_from_the_working_directory(saftc: Command, folder: Path) -> None:
    (folder / "note.txt").write_text("found")
    assert saftc("run", "-", stdin='print(read_text("note.txt"))\n').out == "found\n"


def test_what_is_written_lies_beside_the_script(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("inner/a.saft", 'write_text("out.txt", "written")\n')
    assert saftc("run", "inner/a.saft").code == 0
    assert (folder / "inner" / "out.txt").read_text() == "written"


def test_errors_name_the_whole_path(saftc: Command, script: Script, folder: Path) -> None:
    script("inner/a.saft", 'print(read("data/none.csv"))\n')
    ended = saftc("run", "inner/a.saft")
    place = (folder / "inner" / "data" / "none.csv").resolve()
    assert ended.code == 1
    assert ended.err == (
        f"error: FileError: cannot read {place}: No such file or directory\n"
        " --> inner/a.saft:1:7\n"
        "  |\n"
        '1 | print(read("data/none.csv"))\n'
        "  |       ^^^^^^^^^^^^^^^^^^^^^\n"
    )


def test_a_column_that_is_not_there_is_told_with_the_nearest(
    saftc: Command, script: Script, folder: Path
) -> None:
    (folder / "a.csv").write_text("name,goals\nAda,3\n")
    for call in ('mean(df, "gaols")', 'select(df, ["gaols"])', 'select(df, "gaols")'):
        script("a.saft", f'df = read("a.csv")\nprint({call})\n')
        ended = saftc("run", "a.saft")
        assert (ended.code, ended.out) == (1, "")
        assert "gaols" in ended.err and "goals" in ended.err.partition(" --> ")[0]
        assert f"2 | print({call})" in ended.err


@pytest.mark.heavy
def test_without_polars_the_error_names_the_extra(script: Script, folder: Path) -> None:
    script(
        "a.saft", 'f rows(df: dataframe) -> int:\n    ret len(df)\n\nprint(rows(read("a.csv")))\n'
    )
    script("b.saft", 'print(read("a.csv"))\n')
    (folder / "a.csv").write_text("a\n1\n")
    for name in ("a.saft", "b.saft"):
        program = (
            "import sys; sys.modules['polars'] = None\n"
            f"sys.argv = ['saftc', 'run', '{name}']\n"
            "from saftc.cli.app import main; main()"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        words = "dataframes need the package polars; pip install polars"
        assert words in done.stderr.splitlines()[0]
        assert "Traceback" not in done.stderr
