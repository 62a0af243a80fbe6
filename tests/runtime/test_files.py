"""Files of a script: whole writes, lists of files, and where relative paths begin."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from runtime_support import FileError, ops


@pytest.fixture
def script_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of a script that is run by saftc, which is not the working directory."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    monkeypatch.setattr(sys.modules["__main__"], "__saft_folder__", str(folder), raising=False)
    return folder


def make(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)


def test_a_write_that_fails_leaves_the_file_as_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(tmp_path, "a.txt")

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(FileError) as caught:
        ops.write_text("a.txt", "new")
    assert str(caught.value) == f"cannot write {tmp_path / 'a.txt'}: No space left on device"
    assert (tmp_path / "a.txt").read_text() == "a.txt"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_text_that_is_not_unicode_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the text is not UTF-8"):
        ops.write_text("a.txt", "\ud800")
    assert os.listdir(tmp_path) == []


def test_a_folder_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        ops.read_text(".")
    assert str(caught.value) == f"cannot read {tmp_path}: Is a directory"


def test_files_are_listed_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.csv", "a.csv", "B.csv", "c.txt", "deep/er/a.csv", "deep/b.csv", ".hidden.csv")
    (tmp_path / "folder.csv").mkdir()
    assert ops.list_files("*.csv") == ["B.csv", "a.csv", "b.csv"]
    assert ops.list_files("**/*.csv") == ["B.csv", "a.csv", "b.csv", "deep/b.csv", "deep/er/a.csv"]
    assert ops.list_files("deep/*") == ["deep/b.csv"]
    assert ops.list_files("./*.txt") == ["./c.txt"]
    assert ops.list_files("a.csv") == ["a.csv"]
    assert ops.list_files(".h*") == [".hidden.csv"]
    assert ops.list_files(f"{tmp_path}/c*") == [f"{tmp_path}/c.txt"]
    assert ops.list_files("none/*.csv") == []


def test_a_pattern_is_a_text() -> None:
    with pytest.raises(TypeError, match=r"list_files\(pattern\): expected string, got nil"):
        ops.list_files(None)  # type: ignore[arg-type]


def test_without_a_script_paths_begin_in_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(tmp_path, "data/a.txt")
    assert ops.read_text("data/a.txt") == "data/a.txt"
    monkeypatch.chdir(tmp_path / "data")
    assert ops.read_text("a.txt") == "data/a.txt"


def test_paths_of_a_script_begin_in_its_folder(script_folder: Path, tmp_path: Path) -> None:
    make(script_folder, "a.txt", "b.csv")
    assert ops.read_text("a.txt") == "a.txt"
    assert ops.list_files("*") == ["a.txt", "b.csv"]
    assert ops.columns(ops.read("b.csv")) == ["b.csv"]
    ops.write_text("c.txt", "new")
    assert (script_folder / "c.txt").read_text() == "new"
    assert ops.read_text(str(script_folder / "c.txt")) == "new"
    with pytest.raises(FileError) as caught:
        ops.read_text("../none.txt")
    assert caught.value.path == str(tmp_path / "none.txt")
    assert ops.file("a.txt").data == b"a.txt"
