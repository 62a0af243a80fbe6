"""Where the output comes from: every statement is noted, and errors point into the script."""

import ast
import io
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from saftc.cli.commands.run import run_module
from saftc.codegen.positions import _read as _statements
from saftc.driver import Compiled
from saftc.project.cache import CompiledModule
from saftc.project.workspace import Workspace

pytestmark = pytest.mark.one_python

_Modules = Mapping[str, Compiled]


def _is_noted(node: ast.stmt) -> bool:
    """Whether a statement of the output comes from a place in the script."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return False
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return False
        case ast.Expr(value=ast.Call(func=ast.Name(id="defaults"))):
            return False  # of the project's settings
        case _:
            return True


def _noted_statements(text: str) -> list[ast.stmt]:
    tree = ast.parse(text)
    body = [node for node in tree.body if _is_noted(node)]
    if ast.get_docstring(tree) is not None:
        body = body[1:]
    return list(_statements(body))


@pytest.mark.heavy
def test_all_statements_and_expressions_are_paired(modules: _Modules) -> None:
    for name, compiled in modules.items():
        assert compiled.module is not None, name
        origins, text = compiled.module.origins, compiled.module.text
        found = {(m.line, m.column) for m in origins.map(text) if m.is_statement}
        for node in _noted_statements(text):
            assert (node.lineno, node.col_offset) in found, f"{name}: {ast.unparse(node)}"


def _called_ahead(loop: ast.For) -> str:
    """How a call of the function begins that `overlap` calls for the items of a loop."""
    match loop.iter:
        case ast.Call(ast.Name("overlap"), [ast.Name(function), _]):
            return f"{function}("
        case _:
            return "for"


@pytest.mark.heavy
def test_each_statement_maps_to_its_own_words(modules: _Modules) -> None:
    """The keyword that begins a statement begins its place in the script as well."""
    words = {
        ast.For: "for",
        ast.While: "while",
        ast.Assert: "assert",
        ast.Return: "ret",
        ast.Break: "break",
        ast.Continue: "continue",
    }
    for name, compiled in modules.items():
        assert compiled.module is not None
        text = compiled.module.text
        found = {
            (mapping.line, mapping.column): mapping.span
            for mapping in compiled.module.origins.map(text)
            if mapping.is_statement
        }
        # The functions that make the items of comprehensions end with these.
        items = {one.item.span for one in compiled.module.plan.maps}
        for node in _noted_statements(text):
            word = words.get(type(node))
            span = found[node.lineno, node.col_offset]
            if isinstance(node, ast.Return) and span in items:
                continue
            place = compiled.checked.source.at(span)
            if isinstance(node, ast.Return) and not place.startswith("ret"):
                # What a function does that ends without a `ret`: it points at the name.
                assert place.isidentifier(), f"{name}: {place}"
            elif isinstance(node, ast.For) and place.startswith("print(stream"):
                pass  # what prints a stream piece by piece
            elif isinstance(node, ast.For) and place.startswith(_called_ahead(node)):
                pass  # what fails there is the call of an item
            elif word is not None:
                assert place.startswith(word), f"{name}: {ast.unparse(node)} at {place!r}"


# Each script fails at the place between the guillemets.
FAILING = {
    "add": 'data = parse("1")\nx = «data + "a"»',
    "arithmetic": 'data = parse("\\"a\\"")\nx = 1 + «data * 2»',
    "remainder": "n = 0\nx = «5 % n»",
    "division": "f half(n: float) -> float:\n    ret 1 + «2 / n»\n\nprint(half(0))",
    "negation": 'data = parse("[]")\nx = [1, «-data»]',
    "order": 'data = parse("[]")\nif «data < 1»:\n    print(1)',
    "membership": 'data = parse("1")\nassert not «1 in data»',
    "member": 'data = parse("{}")\nprint(«data.name»)',
    "member in a prompt's hole": 'data = parse("{}")\nx = $ hello {«data.name»} $',
    "index": "xs = [1]\nprint(1, «xs[3]», 2)",
    "index unproved": 'data = parse("[]")\nprint(«data[0]»)',
    "key": 'data = parse("{}")\nx = «data["k"]»',
    "slice": 'data = parse("1")\nx = «data[1:]»',
    "tuple member": 'data = parse("[1]")\nx = «data.1»',
    "call of a value": 'data = parse("1")\n«data(2)»',
    "builtin": 'x = «int("seven")»',
    "builtin unproved": 'data = parse("1")\nx = [«upper(data)»]',
    "annotated assignment": 'x: int = «parse("\\"7\\"")»',
    "below an import of a call": (
        'f go():\n    import math\n    ret math.pi\n\ndata = parse("[]")\nprint(go(), «data + 1»)'
    ),
    "argument": 'f go(n: int):\n    ret n\n\ngo(«parse("[]")»)',
    "return": 'f go() -> int:\n    ret «parse("[]")»\n\ngo()',
    "falling through": "f «go»(n: int) -> int:\n    if n > 1:\n        ret 1\n\ngo(0)",
    "for": 'for x in «parse("1")»:\n    print(x)',
    "unpacking": 'for a, b in «parse("[1]")»:\n    print(a)',
    "comprehension": 'xs = [x for x in «parse("1")»]',
    "comprehension item": 'xs = [«x + 1» for x in parse("[\\"a\\"]")]',
    "comprehension condition": 'xs = [x for x in parse("[\\"a\\"]") if «x > 1»]',
    "while": 'data = parse("[]")\nwhile «data > 1»:\n    print(1)',
    "elif": 'data = parse("[]")\nif false:\n    print(1)\nelif «data > 1»:\n    print(2)',
    "else": 'data = parse("[]")\nif data == nil:\n    nil\nelse:\n    print(«data + 1»)',
    "assert": "n = 3\n«assert n == 4»",
    "assert with message": 'n = 3\n«assert n > 4, "too small"»',
    "assert of a long condition": (
        "first_of_the_names = 1\nsecond_of_the_names = 2\n"
        "«assert first_of_the_names == second_of_the_names and second_of_the_names > 3 or false»"
    ),
    "conditional": 'data = parse("[]")\nx = 1 if «data > 1» else 2',
    "logical": 'data = parse("[]")\nx = true and «data > 1»',
    "list item": 'data = parse("[]")\nxs = [\n    1,\n    «data + 1»,  // here\n]',
    "object field": 'data = parse("[]")\nrow = {a: 1, b: «data + 1»}',
    "named argument": 'f go(a: int, b: int):\n    ret a\n\nx = go(1, b: «parse("[]")»)',
    "in a function": 'f go(x):\n    // deep\n    ret 1 + len(«x.items»)\n\ngo(parse("{}"))',
    "after a class": 'row: {id: int} = {id: 1}\nx: int = «parse("[]")»',
    "below a docstring": '/// Text.\nf go(x):\n    ret «x[0]»\n\ngo(parse("[]"))',
    "prompt": "x = «$ hello $»",
    "prompt of several lines": "y = 1\nx: int = «$»\n    hello\n    {y}\n$",
    "record": 'type City(name: string)\nx = City(«parse("1")»)',
    "default": 'f go(x: int = «parse("[]")»):\n    ret x\n\ngo()',
    "name not bound": "f go():\n    ret [1, «later»]\n\ngo()\nlater = 2",
    "name not bound in a prompt's hole": (
        "f go():\n    ret $\n        text\n        {«later»}\n    $\n\ngo()\nlater = 2"
    ),
    "wide characters": 'print("日本語", «parse("[]") + 1»)',
}


@pytest.mark.parametrize("name", FAILING)
def test_error_points_into_the_script(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    marked = FAILING[name]
    script = marked.replace("«", "").replace("»", "")
    before = marked[: marked.index("«")]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    shown = marked[marked.index("«") + 1 : marked.index("»")]
    error = _run(script, capsys, monkeypatch, tmp_path)
    assert f" --> in.saft:{line}:{column}\n" in error, error
    carets = next(row for row in error.splitlines() if "^" in row)
    assert carets.count("^") == len(shown), error


def _run(
    script: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> str:
    """What a script that fails is reported with."""
    monkeypatch.setattr(sys, "argv", ["saftc"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setenv("SAFT_PROVIDER", "unset")
    monkeypatch.chdir(tmp_path)
    Path("in.saft").write_text(script + "\n", encoding="utf-8")
    workspace = Workspace(None)
    module = workspace.compile("in.saft")
    assert module.text is not None, module.said
    with redirect_stdout(io.StringIO()):
        assert run_module(module, workspace, []) == 1
    return capsys.readouterr().err


def test_callers_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = 'f inner(x):\n    ret x.name\n\nf outer(x):\n    ret inner(x)\n\nouter(parse("{}"))'
    error = _run(script, capsys, monkeypatch, tmp_path)
    assert " --> in.saft:2:9\n" in error
    assert error.index("called at in.saft:5:9: ret inner(x)") < error.index(
        'called at in.saft:7:1: outer(parse("{}"))'
    )


def test_callers_of_what_keeps_a_history_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = (
        "f ask(x):\n    ret $ hi {x.name} $\n\nf asked():\n    ret ask({name: 1}).toolCalls\n\n"
        'print(1, upper(ask(parse("{}"))))'
    )
    error = _run(script, capsys, monkeypatch, tmp_path)
    assert "called at in.saft:7:16: print(1, " in error


def test_compared_values_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    error = _run("row = {n: 3}\nassert row.n == 4\n", capsys, monkeypatch, tmp_path)
    assert "assertion failed" in error and "found 3" in error


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("sq(3) == xs[0]", "^^^^^^\n"),
        ("counted() == 2", "^^^^^^\n"),
        ("7 in xs", "found [1, 2]"),
        ("x not in [x]", 'found "a" and ["a"]'),
        ("not (xs[0] == 1)", "found 1"),
        ("xs[0] == 1 and xs[1] == 1", "found 2"),
        ("xs[0] == 2 or len(xs) == 3", "found 1 and 2"),
        ("counted() == 2 or xs[0] == 2", "^^^^^^\n"),
        ("unknown < 3", "found 5"),
        ("none == 3", "found nil"),
        ("[sq(n) for n in xs] == xs", "^^^^^^\n"),
        ("false", "^^^^^^\n"),
    ],
)
def test_what_is_still_known_of_a_comparison_is_shown(
    condition: str,
    found: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    script = (
        'x = "a"\nxs = [1, 2]\n\nf sq(n: int) -> int:\n    ret n * n\n\n'
        "f any_value(x: any) -> any:\n    ret x\n\n"
        "unknown = any_value(5)\nnone = any_value(nil)\n\n"
        "f counted() -> int:\n"
        '    print("called")\n    ret 1\n\n'
        f"f check_it():\n    assert {condition}\n\ncheck_it()\n"
    )
    (tmp_path / "in.saft").write_text(script)
    monkeypatch.chdir(tmp_path)
    workspace = Workspace(None)
    module = workspace.compile("in.saft")
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    assert run_module(module, workspace, []) == 1
    ended = capsys.readouterr()
    assert found in ended.err
    assert ended.out == ("called\n" if "counted" in condition else "")


def test_threads_ask_for_the_places_of_several_scripts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    workspace = Workspace(None)
    modules: list[CompiledModule] = []
    for name in ("a.saft", "b.saft"):
        Path(name).write_text(f'print("{name}")\n')
        modules.append(workspace.compile(name))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(workspace.origin, modules * 5))
    finally:
        sys.setswitchinterval(interval)


def test_endless_recursion_is_told_in_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = "f go(n: int) -> int:\n    ret go(n + 1)\n\ngo(0)\n"
    error = _run(script, capsys, monkeypatch, tmp_path)
    assert "does a function call itself for ever?" in error
    assert len(error.splitlines()) < 30
