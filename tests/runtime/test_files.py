"""Files of a script: whole writes, lists of files, and where relative paths begin."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime_support import FileError, ops
from runtime_support._language import files as files


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


# The two that write: what one refuses, the other refuses too.
writing = pytest.mark.parametrize("write", [ops.write_text, ops.append_text])
Write = Callable[[str, str], None]


def test_text_is_added_at_the_end(tmp_path: Path) -> None:
    ops.append_text("log.txt", "é\n")
    ops.append_text("log.txt", "")
    (tmp_path / "log.txt").chmod(0o640)
    ops.append_text("log.txt", "two\n")
    assert (tmp_path / "log.txt").read_bytes() == "é\ntwo\n".encode()
    assert stat.S_IMODE((tmp_path / "log.txt").stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["log.txt"]


def test_an_addition_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it would be kept torn
    make(tmp_path, "a.txt")
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most[1]))
    try:
        with pytest.raises(FileError, match="File too large"):
            ops.append_text("a.txt", "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
        signal.signal(signal.SIGXFSZ, before)
    assert (tmp_path / "a.txt").read_text() == "a.txt"


@writing
def test_a_folder_that_is_missing_is_told(write: Write, tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        write("no/such.txt", "x")
    assert str(caught.value) == (
        f"cannot write {tmp_path / 'no' / 'such.txt'}: No such file or directory; there is no "
        f"folder {tmp_path / 'no'}; `from os import makedirs` imports what makes one"
    )


@writing
def test_text_that_is_not_unicode_is_not_written(write: Write, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the text is not UTF-8"):
        write("a.txt", "\ud800")
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


# What is no regular file


@pytest.mark.parametrize("read", [ops.read_text, ops.image, ops.file, ops.read])
def test_pipes_and_devices_are_not_read(read: Callable[[str], Any], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("pipe", "/dev/zero", "/dev/null"):
        with pytest.raises(FileError, match="it is not a regular file"):
            read(path)


@writing
def test_pipes_and_devices_are_not_written(write: Write, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    with pytest.raises(FileError) as caught:
        write("pipe", "x")
    assert str(caught.value) == f"cannot write {tmp_path / 'pipe'}: it is not a regular file"
    with pytest.raises(FileError, match="not a regular file"):
        write("/dev/null", "x")
    with pytest.raises(FileError, match="in another folder"):
        write("null", "x")
    with pytest.raises(FileError, match="Is a directory"):
        write(".", "x")
    assert sorted(os.listdir(tmp_path)) == ["null", "pipe"]


@writing
def test_a_link_is_written_through_to_its_target_beside_it(write: Write, tmp_path: Path) -> None:
    make(tmp_path, "data/v1.txt")
    (tmp_path / "data" / "now.txt").symlink_to("v1.txt")
    (tmp_path / "new.txt").symlink_to("data/v2.txt")
    (tmp_path / "elsewhere").symlink_to("data")
    (tmp_path / "data" / "v1.txt").write_text("")
    write("data/now.txt", "one")
    write("new.txt", "two")
    write("elsewhere/v3.txt", "three")
    assert (tmp_path / "data" / "now.txt").is_symlink()
    texts = [(tmp_path / "data" / name).read_text() for name in ("v1.txt", "v2.txt", "v3.txt")]
    assert texts == ["one", "two", "three"]


@writing
def test_a_link_to_another_folder_is_told_and_not_followed(write: Write, tmp_path: Path) -> None:
    make(tmp_path, "secret.txt", "work/mine.txt")
    link = tmp_path / "work" / "notes.txt"
    link.symlink_to("../secret.txt")
    with pytest.raises(FileError) as caught:
        write("work/notes.txt", "x")
    target = tmp_path / "secret.txt"
    assert str(caught.value) == (
        f"cannot write {link}: it is a link to {target}, which is in another folder; "
        "name that path to write there"
    )
    assert target.read_text() == "secret.txt"


def test_permissions_are_kept_and_new_files_have_the_usual_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(tmp_path, "kept.txt")
    (tmp_path / "kept.txt").chmod(0o640)
    before = os.umask(0o027)
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("it is the whole process's"))
    try:
        ops.write_text("kept.txt", "x")
        ops.write_text("new.txt", "x")
    finally:
        monkeypatch.undo()
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("kept.txt", "new.txt")]
    assert modes == [0o640, 0o640]


def test_a_text_that_is_too_long_is_not_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(tmp_path, "a.txt")
    monkeypatch.setattr(files, "MOST_BYTES", 4)
    with pytest.raises(FileError, match="it has more than 4 bytes"):
        ops.read_text("a.txt")


def test_line_ends_are_read_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert ops.read_text("a.txt") == "a\nb\nc\n"


def test_links_in_circles_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "tree/a.txt", "tree/deep/b.txt", "beside/c.txt")
    for name in ("one", "two"):
        (tmp_path / "tree" / name).symlink_to(".")
    (tmp_path / "tree" / "out").symlink_to("../beside")
    (tmp_path / "tree" / "d.txt").symlink_to("a.txt")
    assert ops.list_files("tree/**") == ["tree/a.txt", "tree/d.txt", "tree/deep/b.txt"]
    assert ops.list_files("**/tree/**/b.txt") == ["tree/deep/b.txt"]
    assert ops.list_files("tree/out/**/*.txt") == ["tree/out/c.txt"]
    assert ops.list_files("tree/*/c.txt") == ["tree/out/c.txt"]
    assert ops.list_files("**/**/b.*") == ["tree/deep/b.txt"]
    assert ops.list_files("tree/**/") == []
