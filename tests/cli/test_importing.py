"""Scripts as modules of Python, and in the cells of a notebook."""

import asyncio
import json
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import saftc.importing
from runtime_support import configure
from runtime_support._core import settings as _settings
from runtime_support.testing import Scripted, tool_request
from saftc.importing import ScriptFinder
from saftc.notebook import ScriptError, register
from tests.compiler.support import ROOT


@pytest.fixture(autouse=True)
def scripts(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of scripts that Python finds."""
    monkeypatch.setattr(_settings, "_configured", {})
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    saftc.importing.install(tmp_path)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(tmp_path) in str(getattr(module, "__spec__", None)):
            del sys.modules[name]
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, ScriptFinder)]


def test_a_script_is_a_module(scripts: Path) -> None:
    (scripts / "ours_lib.saft").write_text("f twice(n):\n    ret n * 2\n")
    (scripts / "ours.saft").write_text("from ours_lib import twice\nx = twice(21)\n")
    import ours  # type: ignore[import-not-found]

    assert ours.x == 42
    assert ours.__file__ == str(scripts / "ours.saft")


def test_a_script_in_a_package(scripts: Path) -> None:
    (scripts / "ours_pack").mkdir()
    (scripts / "ours_pack" / "__init__.py").write_text("")
    (scripts / "ours_pack" / "inner.saft").write_text("y = [n for n in range(3)]\n")
    from ours_pack import inner  # type: ignore[import-not-found]

    assert inner.y == [0, 1, 2]


def test_the_async_form_of_a_script(scripts: Path) -> None:
    (scripts / "ours_base.saft").write_text("f name(n: int) -> string:\n    ret $ Name {n} $\n")
    (scripts / "ours_asked.saft").write_text(
        "from ours_base import name\nf names(n: int) -> [string]:\n    ret [name(n), name(n + 1)]\n"
    )
    import ours_asked  # type: ignore[import-not-found]
    import ours_asked_async  # type: ignore[import-not-found]

    configure(provider=Scripted(["a", "b", "c", "d"]))
    assert ours_asked.names(1) == ["a", "b"]
    assert asyncio.run(ours_asked_async.names(1)) == ["c", "d"]
    assert "ours_base_async" in sys.modules


def test_both_forms_share_a_script_without_prompts(scripts: Path) -> None:
    (scripts / "ours_types.saft").write_text("type Named(text: string)\n")
    (scripts / "ours_making.saft").write_text(
        "from ours_types import Named\nf make(n: int) -> Named:\n    ret Named($ Name {n} $)\n"
    )
    import ours_making  # type: ignore[import-not-found]
    import ours_making_async  # type: ignore[import-not-found]
    import ours_types  # type: ignore[import-not-found]
    import ours_types_async  # type: ignore[import-not-found]

    configure(provider=Scripted(["a", "a"]))
    assert ours_making.make(1) == asyncio.run(ours_making_async.make(1)) == ours_types.Named("a")
    assert ours_types_async is ours_types


def test_modules_of_python_go_first(scripts: Path) -> None:
    (scripts / "ours_both.py").write_text("who = 'python'\n")
    (scripts / "ours_both.saft").write_text('who = "saft"\n')
    import ours_both  # type: ignore[import-not-found]

    assert ours_both.who == "python"


def test_errors_are_told(scripts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (scripts / "ours_wrong.saft").write_text("print(missing)\n")
    with pytest.raises(
        SyntaxError, match=r"(?s)ours_wrong.saft has errors.*unknown name `missing`"
    ):
        import ours_wrong  # type: ignore[import-not-found] # noqa: F401
    (scripts / "ours_warned.saft").write_text("if 1:\n    z = 1\n")
    import ours_warned  # type: ignore[import-not-found] # noqa: F401

    assert "warning[SAFT0601]" in capsys.readouterr().err


def test_the_cache_is_used(scripts: Path, cache: Path) -> None:
    (scripts / "ours_kept.saft").write_text("k = 1\n")
    import ours_kept  # type: ignore[import-not-found]

    assert ours_kept.k == 1
    assert any(one.is_file() and b"ours_kept" in one.read_bytes() for one in cache.rglob("*"))


def _imported(program: Path, *, cwd: Path, **environment: str) -> str:
    """What a program prints that imports scripts."""
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_scripts_of_other_folders_are_left_alone(tmp_path: Path, cache: Path) -> None:
    program, elsewhere = tmp_path / "program", tmp_path / "elsewhere"
    for folder in (program, program / "pack", elsewhere, elsewhere / "pack2"):
        folder.mkdir()
    for script in (
        program / "ours.saft",
        program / "pack" / "inner.saft",
        elsewhere / "tomlkit_.saft",
        elsewhere / "pack2" / "inner.saft",
    ):
        script.write_text(f'print("runs {script.stem}")\n')
    (program / "use.py").write_text(
        "import saftc.importing, ours, pack.inner\n"
        "for name in ('tomlkit_', 'pack2.inner'):\n"
        "    try:\n"
        "        __import__(name)\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
        f"saftc.importing.install({str(elsewhere)!r})\n"
        "import tomlkit_\n"
    )
    # Python finds modules there, and the program has not named it.
    told = _imported(program / "use.py", cwd=elsewhere, PYTHONPATH=f"{ROOT}{os.pathsep}{elsewhere}")
    assert told.splitlines() == [
        "runs ours",
        "runs inner",
        "No module named 'tomlkit_'",
        "No module named 'pack2.inner'",
        "runs tomlkit_",
    ]


def test_an_interactive_session_finds_scripts_in_its_folder(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "ours.saft").write_text('print("runs")\n')
    done = subprocess.run(
        [sys.executable, "-c", "import saftc.importing, ours"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "runs\n", done.stderr


# Notebooks


@pytest.fixture
def shell(scripts: Path) -> Iterator[Any]:
    from IPython.testing.globalipapp import start_ipython

    made: Any = start_ipython()
    if made is None:
        from IPython.core.getipython import get_ipython

        made = get_ipython()
    made.run_cell("%load_ext saftc")
    yield made
    made.reset()


def test_names_of_a_cell_are_names_of_the_notebook(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell("start = 20").raise_error()
    shell.run_cell("%%saft\nf plus(n):\n    ret n + start\nx = plus(1)").raise_error()
    shell.run_cell("assert plus(2) == 22 and x == 21").raise_error()
    shell.run_cell("%%saft\nprint(x, plus(x))").raise_error()
    assert "21 41" in capsys.readouterr().out


def test_show_prints_the_python_first(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell('%%saft --show\nword = "a"\nprint(upper(word))').raise_error()
    out = capsys.readouterr().out
    assert out.index('word = "a"') < out.rindex("A")


def test_a_wrong_cell_is_told_with_its_line(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    result = shell.run_cell("%%saft\na = 1\nprint(missing)")
    assert isinstance(result.error_in_exec, ScriptError)
    told = "\n".join(result.error_in_exec._render_traceback_())
    assert told.startswith("error[SAFT0203]: unknown name `missing`") and ":3:7" in told


def _cell(shell: Any, text: str, head: str = "%%saft") -> Any:
    """What a cell of a script shows."""
    ended = shell.run_cell(f"{head}\n{text}")
    ended.raise_error()
    return ended.result


def test_a_cell_goes_on_with_those_before_it(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Types, functions in the place of builtins, and what Python has defined."""
    _cell(shell, 'type Planet(name: string)\nf join(a: string) -> string:\n    ret "my " + a')
    _cell(shell, 'p: Planet = Planet("Mars")\nprint(join(p.name))')
    shell.run_cell("sum = 7\nplanets = ['a', 'b']").raise_error()
    assert _cell(shell, "print(sum)\n[upper(one) for one in planets]") == ["A", "B"]
    assert capsys.readouterr().out.startswith("my Mars\n7\n")
    assert _cell(shell, "f join(a: string) -> int:\n    ret len(a)\njoin(\"abc\") + 1") == 4
    assert _cell(shell, 'join("abcd")') == 4
    # What Python binds anew is that from then on.
    shell.run_cell("p = 5").raise_error()
    assert _cell(shell, "p + 1") == 6


def test_cells_hold_a_conversation(shell: Any) -> None:
    model = Scripted(["Hello, Ada!", "You are Ada.", tool_request("add", a=1, b=2), "<b>3</b>"])
    configure(provider=model)
    _cell(shell, "f add(a: int, b: int) -> int:\n    ret a + b\nchat = $ I am Ada. $")
    assert _cell(shell, "upper(chat)") == "HELLO, ADA!"
    shown = _cell(shell, "more = $ Who am I? $ after chat\nmore")
    assert [one["role"] for one in model.requests[1].messages] == ["user", "assistant", "user"]
    assert shown.value == "You are Ada." and shown.usage.requests == 1
    page = _cell(shell, "$ Use {add} on 1 and 2. $")._repr_html_()
    assert "&lt;b&gt;3&lt;/b&gt;" in page and "add({&quot;a&quot;: 1, &quot;b&quot;: 2})" in page
    assert "2 requests" in page
    assert shell.user_ns["chat"].value == "Hello, Ada!"


def test_loops_over_names_of_the_notebook_overlap(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(provider=Scripted(["x", "y"]))
    shell.run_cell("words = ['a', 'b']").raise_error()
    shown = shell.run_cell("%%saft --show\nfound = [$ say {word} $ for word in words]\nfound")
    assert shown.result == ["x", "y"]
    assert "overlap(" in capsys.readouterr().out


def test_what_a_cell_shows_is_only_its_own(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _cell(shell, "from math import floor\na = floor(2.5)\nprint(a)")
    capsys.readouterr()
    shell.run_cell("%%saft --show\n// twice\nb = a * 2\nb").raise_error()
    assert capsys.readouterr().out.startswith("# twice\nb = a * 2\nb\n")
    assert _cell(shell, "floor(3.5)") == 3


def test_mistakes_have_their_places_in_the_cell(shell: Any) -> None:
    _cell(shell, "type Planet(name: string)\nx = 1")
    ended = shell.run_cell("%%saft\ny = x\nx.length + missing")
    said = "\n".join(ended.error_in_exec._render_traceback_())
    assert "unknown name `missing`\n --> <cell " in said and ":3:12\n" in said
    assert "shown_" not in said


def test_a_failure_has_its_place_in_the_python_of_the_cell(shell: Any) -> None:
    """The lines of a cell and those of its Python are others, and so are the names before them."""
    for line in ("%%saft", "%%saft --async"):
        ended = shell.run_cell(f"{line}\nf first(words: [string]):\n    ret words[0]\n\nfirst([])")
        steps = traceback.extract_tb(ended.error_in_exec.__traceback__)
        assert re.fullmatch(r"<compiled cell [0-9]+>", steps[-1].filename)
        assert steps[-1].line == "return words[0]"


def test_a_cell_may_assign_what_it_reads(shell: Any) -> None:
    shell.run_cell("n = 1\nclass Thing:\n    size = 3\nthing = Thing()").raise_error()
    _cell(shell, "n = n + 1")
    _cell(shell, "n += 1\nfor n in [n, n + 1]:\n    m = n")
    shell.run_cell("assert (n, m) == (4, 4)").raise_error()
    _cell(shell, "n = str(n)\nthing = thing.size")
    shell.run_cell("assert (n, thing) == ('4', 3)").raise_error()


def test_names_of_python_that_earlier_cells_have_read(shell: Any) -> None:
    shell.run_cell("planets = ['Mars', 'Venus']").raise_error()
    _cell(shell, "long = [one + \"!\" for one in planets]\nf first():\n    ret planets[0]")
    assert _cell(shell, "long[0] + first()") == "Mars!Mars"
    # What was said of them then does not hold any more, and the values do.
    shell.run_cell("planets = [1, 2]").raise_error()
    assert _cell(shell, "long[1]") == "Venus!"
    assert _cell(shell, "first() + 1") == 2


def _awaited_cell(shell: Any, text: str) -> Any:
    return _cell(shell, text, "%%saft --async")


def test_a_cell_of_the_async_form_waits_in_the_loop(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(provider=Scripted(["A", "B", "Hello!", "You said hello.", "C", "D"]))
    shown = shell.run_cell(
        "%%saft --async --show\n"
        "f title(text: string) -> string:\n    ret $ A title for {text} $\n"
        'for text in ["a", "b"]:\n    print(title(text))'
    )
    shown.raise_error()
    assert capsys.readouterr().out.endswith('await _overlap.aio(ask_text, ["a", "b"])\n\nA\nB\n')
    assert _awaited_cell(shell, "chat = $ Hello $\nupper(chat)") == "HELLO!"
    assert _awaited_cell(shell, "$ What did I say? $ after chat").value == "You said hello."
    # In Python, and in a plain cell, with what asks no model.
    ended = shell.run_cell("await title('c')")
    assert ended.result == "C"
    assert _cell(shell, "len(chat)") == 6
    assert _awaited_cell(shell, "x = 1\nx + 1") == 2


WAITING = """import asyncio
started = []
ready = asyncio.Event()

async def later():
    while not started:
        await asyncio.sleep(0)
    ready.set()

async def wait_for_it():
    started.append(1)
    await ready.wait()
    return "it came"

task = asyncio.create_task(later())
await asyncio.sleep(0)
"""


def test_other_tasks_go_on_while_a_cell_waits(shell: Any) -> None:
    shell.run_cell(WAITING).raise_error()
    assert _awaited_cell(shell, "wait_for_it()") == "it came"
    # In the plain form it has a loop of its own.
    shell.run_cell("async def give(): return 3").raise_error()
    assert _cell(shell, "give() + 1") == 4


def test_functions_of_cells_keep_their_form(shell: Any) -> None:
    configure(provider=Scripted(["a"]))
    text = "f greet(name: string) -> string:\n    ret $ Greet {name} $\n"
    _cell(shell, text + "f plus(n: int) -> int:\n    ret n + 1")
    assert _awaited_cell(shell, "plus(1)") == 2
    ended = shell.run_cell("%%saft --async\ngreet(\"Ada\")")
    assert "`greet` sends prompts, and its cell has no --async: run" in str(
        ended.error_in_exec
    )
    _awaited_cell(shell, text)
    ended = shell.run_cell("%%saft\ngreet(\"Ada\")")
    assert "`greet` is from a cell with --async: begin" in str(ended.error_in_exec)
    assert _awaited_cell(shell, 'greet("Ada")') == "a"
    ended = shell.run_cell("%%saft --fast\n1")
    assert "%%saft takes --show and --async, not --fast" in str(ended.error_in_exec)


LABEL = "f label(text: string) -> string:\n    ret $ Label {text} $"


def test_a_cell_that_defines_can_be_run_again(shell: Any) -> None:
    """Unchanged and changed, after another cell has used what it defines."""
    configure(provider=Scripted(["A", "B"]))
    _cell(shell, LABEL)
    _cell(shell, 'x = label("a")')
    _cell(shell, LABEL)
    assert _cell(shell, "upper(x) + x") == "AA"
    assert _cell(shell, f"{LABEL}\nlower(x)") == "a"
    _cell(shell, LABEL.replace("Label", "Title"))
    assert _cell(shell, 'label("b") + x') == "BA"
    _cell(shell, "from math import floor")
    _cell(shell, "y = floor(2.5)")
    _cell(shell, "from math import floor")
    assert _cell(shell, "floor(2.5) + y") == 4


def test_a_cell_that_defines_a_type_can_be_run_again(shell: Any) -> None:
    _cell(shell, "type P(name: string)\ntype Q(p: P)")
    _cell(shell, 'm = P("a")\nmore = [Q(m)]')
    shown = "type P(name: string)\ntype Q(p: P)\nf show(p: P) -> string:\n    ret p.name\n"
    assert _cell(shell, shown + "show(m) + show(more[0].p)") == "aa"
    assert _cell(shell, "show(m) + show(more[0].p)") == "aa"
    _cell(shell, "type P(name: string, size: int)")
    assert _cell(shell, 'P("b", 2).size + len(m.name)') == 3
    ended = shell.run_cell('%%saft\nP("b")')
    assert "`P` needs a value for `size`" in str(ended.error_in_exec)


def test_what_a_cell_defines_anew_leaves_the_values_there_were(shell: Any) -> None:
    """They are of the types that they had, and a result keeps its conversation."""
    model = Scripted(["A", "B", "C"])
    configure(provider=model)
    _cell(shell, "f size(n: int) -> int:\n    ret n\nf twice(n: int):\n    ret size(n) * 2")
    _cell(shell, "z = twice(2)")
    _cell(shell, "f size(n: int) -> float:\n    ret n + 0.5")
    assert _cell(shell, "items = [1, 2, 3, 4, 5]\nitems[z]") == 5
    assert _cell(shell, "twice(2)") == 5.0
    _cell(shell, "f size(text: string) -> int:\n    ret len(text)")
    assert _cell(shell, "items[z]") == 5

    ask = "f ask(text: string):\n    ret $ Ask {text} $\n"
    _cell(shell, ask)
    _cell(shell, 'chat = ask("a")')
    assert _cell(shell, f"{ask}more = $ and now? $ after chat\nupper(chat) + more") == "AB"
    assert [one["role"] for one in model.requests[1].messages] == ["user", "assistant", "user"]
    assert _cell(shell, "$ and then? $ after chat").value == "C"


def test_a_name_of_the_cell_is_never_one_of_the_notebook(shell: Any) -> None:
    """A function of a cell takes the place of one that Python has, also after it was used."""
    shell.run_cell("def size(n): return n").raise_error()
    _cell(shell, "x = size(3)")
    assert _cell(shell, "f size(n: int) -> int:\n    ret n * 2\nsize(x)") == 6


@pytest.mark.parametrize("sign", list("\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e"))
def test_no_sign_ends_a_line_but_a_new_line(shell: Any, sign: str) -> None:
    text = f'// a{sign}b\nword = "c{sign}d"\nn = len(word)\nn'
    assert _cell(shell, text) == 3
    assert shell.user_ns["word"] == f"c{sign}d"
    _cell(shell, f"/// Says{sign}it.\nf say() -> int:\n    ret 7")
    assert _cell(shell, "say()") == 7


def test_a_notebook_finds_the_scripts_beside_it_and_edited_ones_again(shell: Any) -> None:
    # As in a new session: what the test has installed is left out.
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, ScriptFinder)]
    register(shell)
    script = Path("ours_beside.saft")
    above = "from ours_beside import ask\nf both():\n    ret ask(1) * 2\n"
    Path("ours_above.saft").write_text(above)
    script.write_text("f ask(n: int) -> int:\n    ret n + 1\n")
    assert _cell(shell, "from ours_beside import ask\nfrom ours_above import both\nask(1)") == 2
    script.write_text("f ask(n: int, by: int = 5) -> int:\n    ret n + by\n")
    again = "from ours_beside import ask\nfrom ours_above import both\nask(1, by: 7) + both()"
    assert _cell(shell, again) == 8 + 12
    module = sys.modules["ours_beside"]
    assert _cell(shell, "from ours_beside import ask\nask(2)") == 7
    assert sys.modules["ours_beside"] is module


# Cells that are run again, and in another order


def test_types_that_a_cell_defines_again_are_the_new_ones_everywhere(shell: Any) -> None:
    """In types, unions, functions, tools and prompts of earlier cells."""
    call = tool_request("area", c={"radius": 2, "name": "b"})
    model = Scripted(['{"radius": 1, "name": "a"}', '{"kind": "c"}', call, "4"])
    configure(provider=model)
    _cell(shell, 'type C(radius: int)\ntype R(w: int)\ntype Kind = "a" | "b"')
    _cell(shell, "type Shape = C | R\ntype Box(inside: C)\ntype Boxes = [Box]\ntype Of(kind: Kind)")
    _cell(shell, "f draw() -> Shape:\n    ret $ Draw $\nf pack(c: C) -> Box:\n    ret Box(c)")
    _cell(shell, "f kind() -> Of:\n    ret $ Which? $\nf area(c: C) -> int:\n    ret c.radius * 2")
    _cell(shell, "old = pack(C(5))")
    _cell(shell, 'type C(radius: int, name: string)\nb: Boxes = [Box(C(1, "x"))]')
    _cell(shell, 'type Kind = "a" | "b" | "c"')
    assert _cell(shell, 's = draw()\ns.name if type(s) == "C" else ""') == "a"
    assert _cell(shell, "kind().kind") == "c"
    assert _cell(shell, 'pack(C(1, "x")).inside.name + b[0].inside.name') == "xx"
    assert _cell(shell, "$ What is the area? Use {area}. $").value == "4"
    assert '"name"' in json.dumps(model.requests[2].tools)
    # Values stay what they were.
    assert _cell(shell, "old.inside.radius") == 5
    assert isinstance(shell.user_ns["b"][0], shell.user_ns["Box"])


def test_a_cell_runs_again_in_any_order(shell: Any) -> None:
    configure(provider=Scripted(list("ABCDEFGH")))
    words = 'words = ["a", "b"]'
    used = "out = [label(word) for word in words]\nout"
    ended = shell.run_cell(f"%%saft\n{used}")
    assert "unknown name `label`" in str(ended.error_in_exec)
    _cell(shell, LABEL)
    _cell(shell, words)
    assert _cell(shell, used) == ["A", "B"]
    _cell(shell, words)
    _cell(shell, LABEL)
    assert _cell(shell, used) == ["C", "D"]
    _cell(shell, "words = [1]")
    ended = shell.run_cell(f"%%saft\n{used}")
    assert "expected string, found int" in str(ended.error_in_exec)
    _cell(shell, "f label(text: int) -> int:\n    ret text + 1")
    assert _cell(shell, used) == [2]
    assert _cell(shell, "out[0] + 1") == 3
    chat, more = "chat = $ Hello $", "chat = $ And? $ after chat\nchat"
    model = Scripted(list("ABCDE"))
    configure(provider=model)
    _cell(shell, chat)
    for _ in range(2):
        _cell(shell, more)
    _cell(shell, chat)
    assert _cell(shell, more).value == "E"
    assert [len(one.messages) for one in model.requests] == [1, 3, 5, 1, 3]


def test_streams_of_cells(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    configure(provider=Scripted(["one two", "three", "four", "five"]))
    cell = "for piece in stream $ Talk $:\n    print(piece)"
    _cell(shell, cell)
    _cell(shell, cell)
    _cell(shell, "f tell(topic: string):\n    ret stream $ Tell {topic} $")
    _cell(shell, 'told = tell("a")\nfor piece in told:\n    print(piece)')
    assert _cell(shell, "upper(told)") == "FOUR"
    _cell(shell, cell, "%%saft --async")
    assert capsys.readouterr().out == "one two\nthree\nfour\nOut[0]: 'FOUR'\nfive\n"


def test_cells_know_dataframes_of_the_notebook(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("polars")
    configure(provider=Scripted(["A", "B", "C"]))
    python = "import polars as pl\ndf = pl.DataFrame({'text': ['a', 'b'], 'n': [1, 2]})"
    shell.run_cell(python).raise_error()
    _cell(shell, LABEL)
    capsys.readouterr()
    shown = _cell(shell, "out = [label(row.text) for row in df]\nout", "%%saft --show")
    assert shown == ["A", "B"]
    assert "ops" not in capsys.readouterr().out
    assert _cell(shell, 'head(df, 1)["n"]') == [1]
    assert _cell(shell, "first = head(df, 1)\nlen(first)") == 1
    shell.run_cell("df = [{'text': 'c'}]").raise_error()
    assert _cell(shell, "[label(row.text) for row in df]") == ["C"]


@pytest.mark.parametrize("head", ["%%saft", "%%saft --async"])
def test_names_of_the_notebook_are_left_alone(shell: Any, head: str) -> None:
    """What a cell imports for itself has other names, whenever Python binds the same."""
    configure(provider=Scripted(list("ABCD")))
    shell.run_cell("prompt, ops, str_ = 'p', 1, 2").raise_error()
    _cell(shell, LABEL + "\ntype P(name: string)", head)
    assert _cell(shell, 'label(prompt) + "!"', head) == "A!"
    _cell(shell, "check = 5\nfound: int = parse(\"1\")", head)
    _cell(shell, "f show(p: P) -> string:\n    ret p.name", head)
    _cell(shell, 'f str(n: int) -> string:\n    ret "s"', head)
    _cell(shell, 'print(P("a"), {a: 1})\nboth = [$ One $, $ Two $]', head)
    assert _cell(shell, 'show(P("b")) + str(check + found)', head) == "bs"
    shell.run_cell("assert (prompt, ops, check) == ('p', 1, 5)").raise_error()
    shell.run_cell("overlap = together = later = prompt = check = 3").raise_error()
    assert _cell(shell, 'label("x")', head) == "D"


def test_what_a_cell_makes_for_itself_leaves_the_notebook_alone(shell: Any) -> None:
    """Functions that run its loops ahead and classes of its types have names of their own, the same
    ones however often it is run."""
    configure(provider=Scripted(["x", "y", '{"n": 1}'] * 4))
    shell.run_cell("ask_word, Found, words = 1, 2, ['a', 'b']").raise_error()
    loop = "for word in words:\n    said = $ Say {word} $\n    print(word, said)\n"
    names: list[set[str]] = []
    for _ in range(3):
        _cell(shell, loop + "found: {n: int} = $ Find $")
        names.append(set(shell.user_ns))
    shell.run_cell("assert (ask_word, Found) == (1, 2) and found.value['n'] == 1").raise_error()
    assert names[1] == names[2]
    shell.run_cell("ask_word_2 = Found2 = 5").raise_error()
    _cell(shell, loop + "found: {n: int} = $ Find $\nfound.n")
    shell.run_cell("assert ask_word_2 == Found2 == 5").raise_error()


def test_a_cell_that_fails_has_bound_what_it_has_run(shell: Any) -> None:
    ended = shell.run_cell('%%saft\ntype T(n: int)\nx = T(1)\nfail "no"\ny = 2')
    assert str(ended.error_in_exec) == "no"
    assert _cell(shell, "t: T = T(2)\nt.n + x.n") == 3
    ended = shell.run_cell("%%saft\ny")
    assert "unknown name `y`" in str(ended.error_in_exec)


def test_scripts_that_have_changed_are_imported_again(shell: Any) -> None:
    """Also by cells that import them no more, and by functions and types of other cells."""
    configure(provider=Scripted(['{"name": "a"}', '{"name": "a", "n": 2}']))
    script = Path("ours_edited.saft")
    text = "type P(name: string)\nf make(name: string) -> P:\n    ret P(name)\n"
    script.write_text(text + "f ask() -> P:\n    ret $ Give one $\n")
    _cell(shell, "from ours_edited import P, make, ask\nimport ours_edited")
    _cell(shell, "type Box(p: P)\nf pack(p: P) -> Box:\n    ret Box(p)")
    _cell(shell, 'old = make("o")')
    assert _cell(shell, "pack(ask()).p.name") == "a"
    text = "type P(name: string, n: int = 1)\nf make(name: string) -> P:\n    ret P(name, 4)\n"
    script.write_text(text + "f ask() -> P:\n    ret $ Give one $\n")
    assert _cell(shell, 'make("b").n + ours_edited.make("c").n') == 8
    assert _cell(shell, "pack(ask()).p.n") == 2
    assert _cell(shell, "pack(old).p.name") == "o"
    module = sys.modules["ours_edited"]
    assert _cell(shell, 'make("b").n') == 4
    assert sys.modules["ours_edited"] is module
    # While the script has errors, what needs it is refused, and all else goes on.
    script.write_text("f broken(:\n")
    assert _cell(shell, "1 + 1") == 2
    ended = shell.run_cell('%%saft\nmake("b")')
    assert "`ours_edited.saft` has errors" in str(ended.error_in_exec)
    script.write_text(text.replace("4", "5"))
    assert _cell(shell, 'make("b").n') == 5


def test_importing_a_name_again_leaves_the_others_of_that_import(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Path("ours_kinds.saft")
    script.write_text('type K = "a" | "b"\nf k() -> K:\n    ret "a"\nf two() -> int:\n    ret 2\n')
    _cell(shell, "from ours_kinds import K, k as kind, two")
    _cell(shell, "from ours_kinds import two", "%%saft --show")
    assert capsys.readouterr().out.strip() == "from ours_kinds import two"
    assert _cell(shell, "z: K = kind()\nz") == "a"
    shell.run_cell("two = 3").raise_error()
    assert _cell(shell, "y: K = kind()\ntwo") == 3


def test_a_use_of_a_name_that_an_edited_script_has_no_more(shell: Any) -> None:
    """It is refused with its place, also in functions of earlier cells; all else goes on."""
    script = Path("ours_greetings.saft")
    script.write_text("f ask(x: string) -> string:\n    ret x\nf one() -> int:\n    ret 1\n")
    _cell(shell, "from ours_greetings import ask, one")
    _cell(shell, "f twice(x: string) -> string:\n    ret ask(ask(x))")
    script.write_text("f one() -> int:\n    ret 2\n")
    assert _cell(shell, "f same(ask: int) -> int:\n    ret ask\nsame(one())") == 2
    assert _cell(shell, "same(3)") == 3
    for text, column in (('print(ask("b"))', 7), ('one()\ntwice("b")', 1)):
        said = str(shell.run_cell(f"%%saft\n{text}").error_in_exec)
        assert "`ours_greetings.saft` has no `ask` any more" in said
        line = text.count("\n") + 2
        assert f":{line}:{column}\n" in said
        assert text.splitlines()[-1] in said
    script.unlink()
    said = str(shell.run_cell('%%saft\nask("b")').error_in_exec)
    assert "ours_greetings" in said and ":2:1\n" in said


def test_functions_that_a_new_type_breaks_are_told_and_refused(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    _cell(shell, "type P(name: string)\nf make(a: string) -> P:\n    ret P(a)")
    _cell(shell, 'f again() -> P:\n    ret make("a")')
    capsys.readouterr()
    _cell(shell, "type P(name: string, age: int)")
    said = capsys.readouterr().err
    problem = "`make` no longer fits: `P` needs a value for `age`"
    assert problem in said and ":2:6\n" in said
    assert re.search(r"<cell [0-9]+>:4:9\b", said)  # the place in the earlier cell
    assert "`again`" not in said
    assert _cell(shell, "1 + 1") == 2
    for text in ('make("b")', "again()"):
        refused = str(shell.run_cell(f"%%saft\n{text}").error_in_exec)
        assert problem in refused and ":2:1\n" in refused
    assert capsys.readouterr().err == ""
    _cell(shell, "f make(a: string) -> P:\n    ret P(a, 1)")
    assert _cell(shell, "again().age") == 1
    # What was only defined in another order fits.
    _cell(shell, "from math import floor")
    _cell(shell, "f low(x: float, least: int = floor(2.5)) -> int:\n    ret floor(x) + least")
    _cell(shell, "from math import floor")
    assert _cell(shell, "low(1.5)") == 3
    assert capsys.readouterr().err == ""
    _cell(shell, 'type K = "a" | "b"\nf kind() -> K:\n    ret "a"')
    capsys.readouterr()
    _cell(shell, 'type K = "b" | "c"')
    assert "`kind` no longer fits" in capsys.readouterr().err


@pytest.mark.heavy
def test_a_notebook_is_executed_by_a_kernel(scripts: Path) -> None:
    """With its own event loop, and with what Jupyter shows of a cell."""
    nbformat: Any = pytest.importorskip("nbformat")
    client: Any = pytest.importorskip("nbclient")
    (scripts / "ours_in_kernel.saft").write_text("f twice(n: int) -> int:\n    ret n * 2\n")
    edit = "text = open('ours_in_kernel.saft').read().replace('2', '20')\n"
    cells = {
        "%load_ext saftc": None,
        "from runtime_support import configure\nfrom runtime_support.testing import Scripted\n"
        "_ = configure(provider=Scripted(list('ABCD')))": None,
        "%%saft\nfrom ours_in_kernel import twice\ntype P(name: string)\ntwice(4)": "8",
        f"{edit}_ = open('ours_in_kernel.saft', 'w').write(text)": None,
        "%%saft\ntwice(4)": "80",
        f"%%saft --async\n{LABEL}\nchat = $ Hello $\nP(label(\"a\"))": "P(name='B')",
        "await label('b')": "'C'",
        "%%saft --async\n$ And? $ after chat": "Result('D')",
        "%%saft\nmissing": "unknown name `missing`",
    }
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    client.NotebookClient(notebook, timeout=60, allow_errors=True).execute(cwd=str(scripts))
    for cell, shown in zip(notebook.cells, cells.values(), strict=True):
        told = "".join(
            one["data"]["text/plain"] if "data" in one else one.get("text") or one["evalue"]
            for one in cell.outputs
        )
        assert told == (shown or "") or (cell.source.endswith("missing") and shown in told), told
