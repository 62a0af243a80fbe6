"""What a client may count on: every request is answered, views are never old, edits leave nothing
behind, and no script keeps the server from others."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from saftc.lsp.diagnostics import MOST_TOLD
from saftc.lsp.session import MOST_BYTES, MOST_LINES, Session, TooLarge
from saftc.syntax import nodes as n
from tests.lsp.bare import Bare, connected

pytestmark = pytest.mark.one_python

REFRESH = "workspace/textDocumentContent/refresh"
DIAGNOSTICS = "textDocument/publishDiagnostics"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    with connected(tmp_path_factory.mktemp("bare").resolve()) as client:
        yield client


# Requests


def place(uri: Any, line: Any = 0, character: Any = 0) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/hover", place("file:///there/is/none.saft")),
        ("textDocument/hover", place("file:///a%00b.saft")),
        ("workspace/textDocumentContent", {"uri": "saft-none:/a"}),
        ("saft/lines", {}),
        ("saft/lines", None),
        ("saft/lines", [1]),
        ("saft/lines", {"view": 5, "line": 1}),
        ("saft/lines", {"view": "saft-python:/a.saft.py", "line": "1"}),
    ],
)
def test_what_cannot_be_answered_is_told(bare: Bare, method: str, params: Any) -> None:
    answer = bare.ask(method, params)
    assert answer["error"]["code"] == -32602 and answer["error"]["message"]


# Views


def views(bare: Bare, name: str) -> tuple[str, str]:
    path = bare.uri(name).removeprefix("file:")
    return f"saft-python:{path}.py", f"saft-request:{path}.txt"


def content(bare: Bare, uri: str) -> str:
    return bare.ask("workspace/textDocumentContent", {"uri": uri})["result"]["text"]


def test_views_are_refreshed_whoever_has_looked_before(bare: Bare) -> None:
    bare.open("stale.saft", "people = 1\nprint($ who of {people}? $)\n")
    shown = views(bare, "stale.saft")
    assert all("people" in content(bare, uri) for uri in shown)
    bare.change("stale.saft", 2, "names = 1\nprint($ who of {names}? $)\n")
    # As an editor does at each movement of the cursor.
    for uri in shown:
        bare.ask("saft/lines", {"view": uri, "line": 1})
    for uri in shown:
        bare.until(REFRESH, uri)
        assert "people" not in content(bare, uri) and "names" in content(bare, uri)


def test_a_view_is_made_again_only_when_it_is_fetched(bare: Bare) -> None:
    bare.open("hidden.saft", "first = 1\nprint(first)\n")
    python, _ = views(bare, "hidden.saft")
    assert "first" in content(bare, python)
    bare.change("hidden.saft", 2, "second = 1\nprint(second)\n")
    bare.until(REFRESH, python)
    bare.change("hidden.saft", 3, "third = 1\nprint(third)\n")
    bare.until("textDocument/publishDiagnostics", bare.uri("hidden.saft"), 3)
    # Nobody has looked at the second text, so that there is nothing to say of the third.
    assert "third" in content(bare, python)
    assert REFRESH not in [one.get("method") for one in bare.news]


def test_both_views_are_of_the_last_text_without_errors(bare: Bare) -> None:
    bare.open("last.saft", "first = 1\nprint($ is it {first}? $)\n")
    python, request = views(bare, "last.saft")
    assert "first" in content(bare, python)
    bare.change("last.saft", 2, "second = 1\nprint($ is it {second}? $)\n")
    bare.ask("textDocument/documentSymbol", {"textDocument": {"uri": bare.uri("last.saft")}})
    bare.change("last.saft", 3, "third = 1\nprint($ is it {third}? $)\nprint(\n")
    # The one that is looked at for the first time, too.
    assert "second" in content(bare, python) and "second" in content(bare, request)


@pytest.mark.parametrize("text", ["print(\n", "x = y\n"])
def test_without_a_text_to_show_a_comment_says_so(bare: Bare, text: str) -> None:
    name = f"none{len(text)}.saft"
    bare.open(name, text)
    for uri in views(bare, name):
        assert content(bare, uri) == "# This is shown when the script has no errors.\n"


# Memory


def _functions() -> int:
    return sum(isinstance(one, n.FunctionDef) for one in gc.get_objects())


@pytest.mark.heavy
def test_earlier_texts_are_given_back(tmp_path: Path) -> None:
    session, path = Session(), str(tmp_path / "one.saft")
    gc.collect()
    before = _functions()
    for number in range(200):
        name = f"add{number}"
        session.change(path, f"f {name}(a: int, b):\n    ret a + b\n\nx = {name}(1, 2)\nprint(x)\n")
        assert not session.script(path).checked.diagnostics
    session.rest()
    # A few texts are kept, whatever came before them.
    assert _functions() - before < 10


@pytest.mark.heavy
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_the_server_does_not_grow_with_its_edits(tmp_path: Path) -> None:
    def text(number: int) -> str:
        name = f"f{number}"
        return f"f {name}(a{number}: int):\n    ret a{number} + 1\n\nprint({name}({number}))\n"

    def pages() -> int:
        return int(Path(f"/proc/{client.process.pid}/statm").read_text().split()[1])

    with connected(tmp_path) as client:
        client.open("a.saft", text(0))
        sizes: list[int] = []
        for number in range(1, 1501):
            client.change("a.saft", number + 1, text(number))
            # No rest is left to it.
            client.ask("textDocument/hover", place(client.uri("a.saft")))
            client.news.clear()
            if number in (500, 1500):
                sizes.append(pages())
        # In kB: it was more than 7 for each edit.
        assert (sizes[1] - sizes[0]) * 4 / 1000 < 1


# Size


@pytest.mark.heavy
@pytest.mark.parametrize("text", ["print(1)\n" * 200_000, f'print("{"a" * MOST_BYTES}")\n'])
def test_a_very_long_script_keeps_nobody_waiting(tmp_path: Path, text: str) -> None:
    with connected(tmp_path) as client:
        client.open("long.saft", text)
        client.open("short.saft", "x = 1\nprint(x)\n")
        document = {"textDocument": {"uri": client.uri("long.saft")}}
        asked = {
            "textDocument/documentSymbol": document,
            "textDocument/semanticTokens/full": document,
            "textDocument/codeLens": document,
            "textDocument/formatting": {
                **document,
                "options": {"tabSize": 4, "insertSpaces": True},
            },
            "textDocument/completion": place(client.uri("long.saft")),
            "textDocument/hover": place(client.uri("long.saft")),
            "textDocument/rename": {**place(client.uri("long.saft")), "newName": "y"},
        }
        for method, params in asked.items():
            assert client.ask(method, params)["result"] is None
        hover = client.ask("textDocument/hover", place(client.uri("short.saft"), 1))
        assert "print" in hover["result"]["contents"]["value"]
        (told,) = client.until(DIAGNOSTICS, client.uri("long.saft"))["diagnostics"]
        assert f"{MOST_LINES:,} lines" in told["message"] and "saftc check" in told["message"]
        for uri in views(client, "long.saft"):
            assert content(client, uri).startswith("# ") and "lines" in content(client, uri)
        # Made short, it is like any other.
        client.change("long.saft", 2, "x = 1\nprint(y)\n")
        (told,) = client.until(DIAGNOSTICS, client.uri("long.saft"), version=2)["diagnostics"]
        assert told["message"] == "unknown name `y`"


def test_who_imports_a_very_long_script_is_told(bare: Bare) -> None:
    (bare.folder / "huge.saft").write_text("name = 1\n" * (MOST_LINES + 1))
    bare.open("importing.saft", "from huge import name\nprint(name)\n")
    (told,) = bare.until(DIAGNOSTICS, bare.uri("importing.saft"))["diagnostics"]
    assert "huge.saft has more than" in told["message"]
    (bare.folder / "huge.saft").write_text("name = 1\n")
    bare.notify("workspace/didChangeWatchedFiles", {"changes": []})
    assert bare.until(DIAGNOSTICS, bare.uri("importing.saft"))["diagnostics"] == []


def test_all_files_that_a_script_depends_on_are_watched(tmp_path: Path) -> None:
    files = ["a.saft", "a.py", "a.pyi", "mcp.lock.json", "pyproject.toml"]
    with connected(tmp_path, didChangeWatchedFiles={"dynamicRegistration": True}) as client:
        while (message := client.read()).get("method") != "client/registerCapability":
            pass
        (registered,) = message["params"]["registrations"]
        patterns = [one["globPattern"] for one in registered["registerOptions"]["watchers"]]
        assert all(any(Path("shop", file).match(one) for one in patterns) for file in files)


@pytest.mark.heavy
def test_no_rename_leaves_a_script_out(tmp_path: Path) -> None:
    with connected(tmp_path) as client:
        (tmp_path / "huge.saft").write_text("other = 1\n" * (MOST_LINES + 1) + "print(greet)\n")
        client.open("given.saft", "f greet():\n    ret 1\n\nprint(greet())\n")
        params = {**place(client.uri("given.saft"), 0, 3), "newName": "meet"}
        answer = client.ask("textDocument/rename", params)
        assert "huge.saft has more than" in answer["error"]["message"]


@pytest.mark.heavy
def test_a_script_of_the_longest_length_is_checked(tmp_path: Path) -> None:
    session, path = Session(), str(tmp_path / "one.saft")
    session.change(path, "// a\n" * MOST_LINES)
    assert not session.script(path).checked.diagnostics
    session.change(path, "// a\n" * (MOST_LINES + 1))
    with pytest.raises(TooLarge):
        session.script(path)


@pytest.mark.heavy
def test_of_very_many_mistakes_the_first_are_told(bare: Bare) -> None:
    bare.open("many.saft", "".join(f"print(missing_{one})\n" for one in range(MOST_TOLD + 5)))
    told = bare.until(DIAGNOSTICS, bare.uri("many.saft"))["diagnostics"]
    assert len(told) == MOST_TOLD + 1
    assert told[-1]["message"] == "5 more from here on are not shown"
    assert told[-1]["range"]["start"]["line"] == MOST_TOLD
