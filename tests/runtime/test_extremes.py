"""Values too large, too deep or not of this world: an error of ours, never one of Python's."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime_support import CheckError, MissingError, SaftError, ops
from runtime_support.ops import parse, show, to_json

HUGE = 10**400
DIGITS = 10**5000


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


DEEP = nested(100_000)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ops.add(HUGE, 1.5), "`+`: the number is too large for a float"),
        (lambda: ops.sub(HUGE, 1.5), "`-`: the number is too large for a float"),
        (lambda: ops.sum([HUGE, 1.5]), "sum(items): the number is too large for a float"),
        (lambda: ops.mean([HUGE, 1.5]), "mean(items): the number is too large for a float"),
        (lambda: ops.mean([HUGE, 1]), "`/`: the number is too large for a float"),
        (lambda: ops.round(1.7e308, -308), "round(value): no such number for float 1.7e+308"),
        (lambda: ops.range(10**20), "range: 100,000,000 numbers at most"),
        (lambda: ops.range(0, 10**10), "range: 100,000,000 numbers at most"),
        (lambda: ops.eq(DEEP, nested(100_000)), "`==`: the values are nested too deeply"),
        (lambda: ops.ne(DEEP, nested(100_000)), "`==`: the values are nested too deeply"),
        (lambda: ops.is_in(DEEP, [nested(100_000)]), "`==`: the values are nested too deeply"),
        (lambda: show(DIGITS), "the int has no text: Exceeds the limit"),
        (lambda: show([DIGITS]), "the list has no text: Exceeds the limit"),
        (lambda: ops.str(DIGITS), "the int has no text: Exceeds the limit"),
        (lambda: ops.print(DIGITS), "the int has no text: Exceeds the limit"),
        (lambda: show(DEEP), "the list is nested too deeply to be shown"),
        (lambda: to_json(DIGITS), "has no JSON form"),
        (lambda: to_json(DEEP), "has no JSON form"),
        (lambda: parse("[" * 100_000), "nested too deeply"),
        (lambda: ops.env("a\ud800"), "env(name): "),
    ],
)
def test_too_much_is_an_error_of_ours(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(CheckError) as caught:
        call()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.index([1, 2], DIGITS),
        lambda: ops.index("ab", 10**30),
        lambda: ops.item((1, 2), DIGITS),
    ],
)
def test_an_index_of_any_size(call: Callable[[], Any]) -> None:
    with pytest.raises(MissingError, match="is out of range"):
        call()


def test_what_has_an_answer_gets_it() -> None:
    assert ops.round(1234, -(10**12)) == 0
    assert ops.round(1.5, 10**30) == 1.5
    assert ops.round(1.5, -(10**30)) == 0.0
    assert ops.round(1250, -2) == 1200
    assert ops.lt(HUGE, 1.5) is False
    assert ops.sorted([HUGE, 1.5]) == [1.5, HUGE]
    assert ops.slice([1, 2], 10**30, None) == []
    assert ops.add(HUGE, HUGE) == 2 * HUGE
    assert len(ops.range(3)) == 3


def test_rows_of_a_table_by_a_number_of_any_size() -> None:
    import polars

    table = polars.DataFrame({"a": [1, 2, 3]})
    assert ops.head(table, 10**30).height == 3
    assert ops.head(table, -(10**30)).height == 0


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
@pytest.mark.parametrize(
    "call",
    [
        ops.read_text,
        lambda path: ops.write_text(path, "x"),
        lambda path: ops.append_text(path, "x"),
        ops.image,
        ops.file,
        ops.read,
        ops.list_files,
    ],
)
def test_what_can_be_no_path(call: Callable[[str], Any], path: str) -> None:
    with pytest.raises(SaftError, match="is not a valid path"):
        call(path)


def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    script = """
import os
from runtime_support import SaftError, ops, prompt
os.rmdir(os.getcwd())
for call in (lambda: ops.read_text("a"), lambda: ops.list_files("*")):
    try: call()
    except SaftError as error: print(error)
print(ops.list_files(os.__file__) == [os.__file__], ops.read_text(os.__file__) != "")
print(prompt("hi", options={"provider": "mock"}).text != "")
"""
    folder = tmp_path / "gone"
    folder.mkdir()
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
    )
    said = "the working directory no longer exists\n"
    assert (done.stdout, done.stderr) == (2 * said + "True True\nTrue\n", "")


@pytest.mark.parametrize(
    ("encoding", "text", "said"),
    [
        ("utf-8", "half \ud800", "print: half of a surrogate pair is not a character"),
        ("ascii", "caf\xe9", 'print: string "\xe9" cannot be written in ascii'),
    ],
)
def test_what_cannot_be_printed(
    monkeypatch: pytest.MonkeyPatch, encoding: str, text: str, said: str
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    with pytest.raises(CheckError) as caught:
        ops.print(text)
    assert str(caught.value) == said


def test_control_characters_are_shown_escaped() -> None:
    error = CheckError("got \x1b[2J and \x9b\x00\nas lines\tare", hint="mind \x07 \ud800 é")
    assert str(error) == "got \\x1b[2J and \\x9b\\x00\nas lines\tare\nmind \\x07 \\ud800 é"
    assert error.message.startswith("got \x1b")
    assert str(CheckError("a\u202eb\u2066")) == "a\\u202eb\\u2066"
    shown = show(["\x9b\u2028"])
    assert str(CheckError(f"got {shown}")) == 'got ["\\x9b\\u2028"]'
