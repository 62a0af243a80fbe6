"""No name of a class that saftc made up reaches people or models: they read Saft's types."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from runtime_support import CheckError
from runtime_support._core.messages import Reply
from runtime_support.testing import Scripted, tool_request
from saftc.syntax import nodes as n
from tests.compiler.support import compile_text

Script = Callable[..., Scripted]


def _run(script: str, monkeypatch: pytest.MonkeyPatch) -> tuple[set[str], str]:
    """The names of the classes that the script does not have, and the error that it ended with."""
    compiled = compile_text(script)
    assert compiled.text is not None, compiled.checked.diagnostics
    module = ModuleType("class_names")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    classes = {
        node.name for node in ast.parse(compiled.text).body if isinstance(node, ast.ClassDef)
    }
    records = (one for one in compiled.checked.module.statements if isinstance(one, n.RecordDef))
    made_up = classes - {record.name.text for record in records}
    assert made_up, compiled.text
    try:
        exec(compile(compiled.text, "in.py", "exec"), module.__dict__)
    except CheckError as error:
        return made_up, str(error)
    return made_up, ""


def _named(names: set[str], text: str) -> list[str]:
    """Those of the names that stand in a text, as words."""
    return [name for name in names if re.search(rf"\b{name}\b", text)]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("data: any = 5\nx: {p: {a: int}} = data\n", "value: expected {p: {a: int}}, got int 5"),
        (
            "data: any = {p: 5}\nx: {p: {a: int}} = data\n",
            "value.p: expected {a: int}, got int 5",
        ),
        (
            "f g(data: any) -> {a: int}:\n    ret data\nprint(g(5))\n",
            "value: expected {a: int}, got int 5",
        ),
        ("data: any = [5]\nxs: [{a: int}] = data\n", "value[0]: expected {a: int}, got int 5"),
        ("data: any = [5]\nxs: [{a: int}?] = data\n", "value[0]: expected {a: int}?, got int 5"),
        (
            "data: any = true\nx: {a: int} | [{b: string}] = data\n",
            "value: expected {a: int} | [{b: string}], got bool true",
        ),
        (
            "data: any = 5\nf g(p: {a: int}):\n    ret p.a\nprint(g(data))\n",
            "value: expected {a: int}, got int 5",
        ),
        (
            "data: any = {}\ntype Box(of: {a: int})\nprint(Box(data))\n",
            "value.a: missing field, expected int",
        ),
        ("f g() -> {a: int}:\n    ret {a: 1}\nx: any = g()\nprint(x + 1)\n", None),
        ("f g() -> {a: int}:\n    ret {a: 1}\nx: any = g()\nprint(upper(x))\n", None),
        ("f g() -> {a: int}:\n    ret {a: 1}\nx: any = g()\nprint(x(1))\n", None),
    ],
)
def test_errors_name_types_as_the_script_does(
    script: str, message: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up, said = _run(script, monkeypatch)
    assert said and not _named(made_up, said), said
    assert message is None or message in said


def test_values_are_shown_without_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "f g() -> {a: int}:\n    ret {a: 1}\nx = g()\nprint(x, type(x), [x], {in_it: x})\n"
    made_up, said = _run(script, monkeypatch)
    shown = capsys.readouterr().out
    assert not said and shown == "{a: 1} object [{a: 1}] {in_it: {a: 1}}\n", made_up


@pytest.mark.parametrize(
    "given",
    [
        {"row": 5, "rows": []},
        {"row": {"a": "x"}, "rows": []},
        {"row": {"a": 1}, "rows": [5]},
        {"row": {"a": 1}, "rows": {}},
        {"row": {"a": 1, "error": 2}, "rows": []},
        {"row": {"a": 1}},
    ],
)
def test_models_do_not_read_them_in_answers_of_tools(
    given: dict[str, object], scripted: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "f act(row: {a: int}, rows: [{b: string}]) -> {c: int}:\n    ret {c: row.a}\n"
        "x: {d: {e: int}} = $ Use {act}. $\n"
    )
    model = scripted(Reply("", tool_calls=(tool_request("act", **given),)), '{"d": {"e": 1}}')
    made_up, said = _run(script, monkeypatch)
    first, second = map(repr, model.requests)
    assert not said and "error: args" in second
    assert _named(made_up, first + second) == [], second


def test_contracts_and_repairs_do_not_name_them(
    scripted: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted('{"p": {"a": "x"}, "q": []}', '{"p": {"a": 1}, "q": []}')
    script = "x: {p: {a: int}, q: [{b: string}]} = $ Give it. $\nprint(x)\n"
    made_up, said = _run(script, monkeypatch)
    requests = repr(model.requests)
    assert not said and len(model.requests) == 2 and "{a: int}" in requests
    assert _named(made_up, requests) == [], requests


_FORCED = """type class(a: int)
type prompt(b: int)
type __x__(c: int)
type class_(d: int)
one = class(1)
print(one, type(one), type(one) == "class", [k for k in ["class", "class_"] if k == type(one)])
print(prompt(2), type(prompt(2)), __x__(3), type(class_(4)), type(class_(4)) == "class_")
print(class, prompt, f"{one}", str([one]))
f take(x: any) -> class:
    ret x
try:
    print(take({a: "x"}))
except error:
    print(error.message)
try:
    print(take(3))
except error:
    print(error.message)
f look(x):
    ret x.b
try:
    print(look(one))
except error:
    print(error.message)
f make(x: class) -> prompt:
    ret prompt(x.a)
text = $ $
made: prompt = program $ {make} $
print(made)
"""


def test_a_record_has_the_name_of_the_script_where_python_forces_another_one_on_it(
    scripted: Script, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = scripted("text", '{"make": {"x": {"class": {"a": 5}}}}')
    made_up, said = _run(_FORCED, monkeypatch)
    assert not said
    assert capsys.readouterr().out == """class(a: 1) class true ["class"]
prompt(b: 2) prompt __x__(c: 3) class_ true
<function class> <function prompt> class(a: 1) [class(a: 1)]
value.a: expected int, got string "x"
value: expected class, got int 3
no field `b` in class: its fields are a
prompt(b: 5)
"""
    assert made_up == {"class__", "prompt_", "x_"}
    assert _named(made_up, repr(model.requests)) == []
