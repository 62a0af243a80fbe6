"""The builtins, as checked functions under `ops`, and the text of values."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runtime_support import CheckError, FileError, ops
from runtime_support._core.results import Result, Usage
from runtime_support._core.tasks.waits import finish
from runtime_support._core.tools import call_tool, function_tool
from runtime_support.ops import kind, parse, show, to_json

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class City:
    name: str
    country: str | None = None


def test_show_writes_saft_literals() -> None:
    value = [1, "a", None, True, 2.0, (1, "x"), {"a": 1, "two words": 2}]
    assert show(value) == '[1, "a", nil, true, 2.0, (1, "x"), {a: 1, "two words": 2}]'
    assert show("as it is") == "as it is"
    assert show((1,)) == "(1,)"
    assert show([]) == "[]"
    assert show(City("Oslo")) == 'City(name: "Oslo", country: nil)'
    assert show(['a"b\n\x07é']) == '["a\\"b\\n\\u0007é"]'
    assert show({"if": 1}) == '{"if": 1}'
    assert show(ops.range) == "<function range>"
    assert show(show) == "<function show>"


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (1, "int"),
        (1.0, "float"),
        (True, "bool"),
        ("", "string"),
        ([], "list"),
        ((), "tuple"),
        ({}, "object"),
        (None, "nil"),
        (len, "function"),
        (City("x"), "City"),
    ],
)
def test_kinds(value: Any, word: str) -> None:
    assert kind(value) == word == ops.type(value)


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda: ops.upper("a"), "A"),
        (lambda: ops.strip("\ta "), "a"),
        (lambda: ops.split("a b  c"), ["a", "b", "c"]),
        (lambda: ops.split("a,b", ","), ["a", "b"]),
        (lambda: ops.join(["a", "b"], "-"), "a-b"),
        (lambda: ops.join("-", ["a", "b"]), "a-b"),
        (lambda: ops.join([]), ""),
        (lambda: ops.replace("aba", "a", "c"), "cbc"),
        (lambda: ops.contains([1], 1.0), True),
        (lambda: ops.starts_with("abc", "ab"), True),
        (lambda: ops.ends_with("abc", "ab"), False),
        (lambda: ops.len({"a": 1}), 1),
        (lambda: ops.range(3), [0, 1, 2]),
        (lambda: ops.range(1, 3), [1, 2]),
        (lambda: ops.range(3, 0, -1), [3, 2, 1]),
        (lambda: ops.sorted([2, 1.5]), [1.5, 2]),
        (lambda: ops.sorted(["a", "b"], reverse=True), ["b", "a"]),
        (lambda: ops.reversed((1, 2)), [2, 1]),
        (lambda: ops.zip([1, 2], ["a"]), [(1, "a")]),
        (lambda: ops.enumerate(["a"], 1), [(1, "a")]),
        (lambda: ops.keys({"a": 1}), ["a"]),
        (lambda: ops.values({"a": 1}), [1]),
        (lambda: ops.sum([1, 2.5]), 3.5),
        (lambda: ops.min([2, 1]), 1),
        (lambda: ops.max("a", "b"), "b"),
        (lambda: ops.str([1]), "[1]"),
        (lambda: ops.int(" 1_000 "), 1000),
        (lambda: ops.int(-2.7), -2),
        (lambda: ops.float("1e3"), 1000.0),
        (lambda: ops.round(2.567, 2), 2.57),
        (lambda: ops.round(2.5), 2),
        (lambda: ops.abs(-3), 3),
        (lambda: ops.json((1, "é", {"a": City("x")})), '[1,"é",{"a":{"name":"x","country":null}}]'),
        (lambda: ops.parse('{"a": 1, "a": 2}'), {"a": 2}),
        (lambda: ops.any([False, True]), True),
        (lambda: ops.any(()), False),  # type: ignore[arg-type]
        (lambda: ops.all([False, True]), False),
        (lambda: ops.all([]), True),
        (lambda: ops.floordiv(7, 2), 3),
        (lambda: ops.floordiv(-7, 2), -4),
        (lambda: ops.floordiv(7.5, 2), 3),
        (lambda: ops.floordiv(10**30, 3), 10**30 // 3),
        (lambda: ops.sorted(["bb", "a", "cc"], by=len), ["a", "bb", "cc"]),
        (lambda: ops.sorted(["bb", "a", "cc"], True, by=len), ["bb", "cc", "a"]),
        (lambda: ops.min([3, -1, 1], by=ops.abs), -1),
        (lambda: ops.max("a", "bb", "cc", by=len), "bb"),
        (lambda: ops.sorted([[2], [1]], by=ops.sum), [[1], [2]]),
        (lambda: ops.sorted([], by=len), []),
        (lambda: ops.env("NOT_SET_ANYWHERE", "x"), "x"),
    ],
)
def test_builtins(call: Callable[[], Any], value: Any) -> None:
    assert call() == value
    assert type(call()) is type(value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ops.upper(3), "upper(text): expected string, got int 3"),
        (lambda: ops.split("a", ""), "empty"),
        (lambda: ops.join(["a", 1]), "join(items[1]): expected string, got int 1"),
        (lambda: ops.join("a", "b"), "join(items): expected list"),
        (lambda: ops.len(3), "len(value)"),
        (lambda: ops.range(1.5), "range(stop): expected int"),
        (lambda: ops.range(1, 2, 0), "zero"),
        (lambda: ops.sorted([1, "a"]), "all numbers or all strings, got int and string"),
        (lambda: ops.sorted([True]), "got bool"),
        (lambda: ops.sum(["a"]), "sum(items[0]): expected number"),
        (lambda: ops.min([]), "there are no items"),
        (lambda: ops.int("1.5"), "expected an integer"),
        (lambda: ops.int(True), "got bool true"),
        (lambda: ops.int(float("inf")), "no integer"),
        (lambda: ops.float("1,5"), "float(value): expected a number, got string"),
        (lambda: ops.float(10**400), "too large"),
        (lambda: ops.int("9" * 5000), "int(value): expected an integer"),
        (lambda: ops.int(float("nan")), "int(value): expected an integer, got float nan"),
        (lambda: ops.sorted([1], 1), "sorted(reverse): expected bool, got int 1"),
        (lambda: ops.keys([1]), "expected object"),
        (lambda: to_json({"a": [1, float("nan")]}), "value.a[1]: float nan has no JSON form"),
        (lambda: to_json({"f": len}), "value.f: function len has no JSON form"),
        (lambda: parse("[NaN]"), "NaN is not JSON"),
        (lambda: parse("{oops"), "line 1, column 2"),
        (lambda: parse("[" * 100_000), "nested too deeply"),
        (lambda: parse("1e999"), "1e999 is too large"),
        (lambda: parse("9" * 5000), "4300 digits"),
        (lambda: parse('"\\ud800"'), "surrogate"),
        (lambda: ops.any([True, 1]), "any(items[1]): expected bool, got int 1"),
        (lambda: ops.all("ab"), "all(items): expected list, got string"),  # type: ignore[arg-type]
        (lambda: ops.floordiv("7", 2), "div(a): expected number"),  # type: ignore[arg-type]
        (lambda: ops.floordiv(1, True), "div(b): expected number, got bool true"),
        (lambda: ops.floordiv(1e308, 1e-308), "div: no integer for float 1e+308 by float 1e-308"),
        (lambda: ops.floordiv(10**400, 0.5), "div: no integer for"),
        (lambda: ops.sorted([1], by=3), "sorted(by): expected function, got int 3"),  # type: ignore[arg-type]
        (lambda: ops.min([], by=len), "min(items): there are no items"),
        (
            lambda: ops.sorted([1, 2], by=lambda x: None if x > 1 else x),
            "sorted(by): expected a number, a string or a date, got nil for int 2",
        ),
        (
            lambda: ops.max([1, 2], by=lambda x: "a" if x > 1 else x),
            "max(by): expected all numbers or all strings, got int and string",
        ),
        (lambda: ops.input(3), "input(question): expected string, got int 3"),  # type: ignore[arg-type]
        (lambda: ops.upper(10**5000), "got a very large int"),
    ],
)
def test_builtins_check_what_they_get(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(CheckError) as caught:
        call()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text", [".5", "5.", "nan", "-inf", "1_0.5", "1e-3", "\u0663", " 7 ", "", "1__0", "0x1", "½"]
)
def test_text_is_a_number_as_python_reads_it(text: str) -> None:
    for ours, its in ((ops.int, int), (ops.float, float)):
        try:
            wanted = its(text)
        except ValueError:
            with pytest.raises(CheckError):
                ours(text)
        else:
            assert repr(ours(text)) == repr(wanted)


def test_builtins_as_values_keep_ints() -> None:
    shown = [repr(ops.call(function, 3)) for function in (ops.abs, ops.round, ops.int, ops.float)]
    assert shown == ["3", "3", "3", "3.0"]
    assert ops.call(ops.int, 12345678901234567890) == 12345678901234567890
    assert repr(ops.call(ops.sum, [1, 2])) == "3"
    assert repr(ops.call(ops.round, 1234, -2)) == "1200"
    tools = {name: function_tool(name, getattr(ops, name)) for name in ("abs", "sum", "int")}
    assert finish(call_tool(tools, "abs", '{"value": -3}')).result == "3"
    assert finish(call_tool(tools, "sum", '{"items": [1, 2]}')).result == "3"
    assert finish(call_tool(tools, "int", '{"value": "12"}')).result == "12"
    parameters = tools["abs"].description()["function"]["parameters"]
    assert parameters["properties"]["value"] == {"type": "number"}


def test_builtins_as_values_take_what_they_take_otherwise() -> None:
    assert ops.call(ops.join, "-", ["a", "b"]) == "a-b"
    assert ops.call(ops.sorted, [1, 2], reverse=True) == [2, 1]
    with pytest.raises(CheckError, match="expected string, got int 3"):
        ops.call(ops.upper, 3)
    with pytest.raises(CheckError, match="`upper` takes 1 arguments"):
        ops.call(ops.upper, "a", "b")


def test_builtins_take_results_for_their_values() -> None:
    result = Result("ab", text="ab", tool_calls=[], usage=Usage(), model="m", repairs=[])
    assert ops.upper(result) == "AB"  # type: ignore[arg-type]
    assert show([result]) == '["ab"]'
    assert to_json([result]) == '["ab"]'


def test_whole_division_by_zero_is_told() -> None:
    with pytest.raises(ZeroDivisionError, match=r"`div` by zero: div\(7, 0\)"):
        ops.floordiv(7, 0)


def test_what_is_compared_is_asked_once_for_each_item_and_checked_as_arguments_are() -> None:
    asked: list[float] = []

    def half(n: float) -> float:
        asked.append(n)
        return n / 2

    assert ops.sorted([3, 1, 2], by=half) == [1, 2, 3]
    assert repr(asked) == "[3.0, 1.0, 2.0]"
    with pytest.raises(CheckError, match=r"half\(n\): expected float, got string"):
        ops.sorted(["a"], by=half)
    assert ops.call(ops.sorted, ["bb", "a"], by=ops.len) == ["a", "bb"]


_ASKS = """
from runtime_support.ops import read_line, show
while True:
    line = read_line("name? ")
    print(show([line]))
    if line is None:
        break
"""


@pytest.mark.parametrize(
    ("given", "output"),
    [
        (b"", "name? [nil]\n"),
        ("Zo\u00eb\r\n\nlast".encode(), 'name? ["Zoë"]\nname? [""]\nname? ["last"]\nname? [nil]\n'),
    ],
)
def test_lines_are_read_up_to_the_end(given: bytes, output: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", _ASKS], input=given, capture_output=True, env=environment
    )
    assert (done.stdout.decode(), done.stderr) == (output, b"")


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_line_that_is_no_text(errors: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": f"utf-8:{errors}"}
    done = subprocess.run(
        [sys.executable, "-c", _ASKS], input=b"\xff\n", capture_output=True, env=environment
    )
    assert b"CheckError: input: the line is not UTF-8 text" in done.stderr


def test_without_standard_input_there_is_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert ops.input("name? ") is None


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    ops.write_text(str(path), "é\n")
    assert ops.read_text(str(path)) == "é\n"
    path.chmod(0o640)
    ops.write_text(str(path), "again")
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["note.txt"]


def test_file_errors_show_the_resolved_path(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        ops.read_text("missing.txt")
    assert str(tmp_path / "missing.txt") in str(caught.value)
    assert isinstance(caught.value, OSError)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(FileError, match="not UTF-8"):
        ops.read_text("binary")
    with pytest.raises(FileError, match="cannot write"):
        ops.write_text("no/such/folder.txt", "x")


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    ops.print("a", [None], 1)
    assert capsys.readouterr().out == "a [nil] 1\n"


# What `except` and `require` of a script compile to, and what takes a tool and gives one.
_NO_TOOLS = ("Failure", "approve", "failure", "require")


def test_every_builtin_can_be_a_tool() -> None:
    functions = {name: getattr(ops, name) for name in dir(ops) if name not in _NO_TOOLS}
    assert len(functions) > 70
    for name, function in functions.items():
        assert function.__doc__, name
        assert function_tool(name, function).description()["function"]["name"] == name
