"""The language server, asked as editors ask it: over its standard input and output."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from saftc.lsp.outline import KINDS
from tests.compiler.support import ROOT
from tests.lsp.client import PATIENCE, Editor

pytestmark = pytest.mark.one_python

_LIBRARY = """/// Greets somebody.
f greet(name: string, loud = false) -> string:
    ret upper(name) if loud else name

type Point(x: int, y: int)
"""
_UNITS = '''def to_miles(km: float) -> float:
    """Kilometres as miles."""
    return km * 0.62
'''
_CELLS = """from dataclasses import dataclass

@dataclass
class Cell:
    row: int
    text: str
"""
_SCRIPT = """from lib import greet, Point
from units import to_miles

/// Adds two numbers.
f add(a: int, b):
    ret a + b

total = add(1, 2)
p = Point(x: 1, y: 2)
answer = $ what is {total} with {add}? $
print(answer, p.x, to_miles(2.0), greet("a", loud: true))
"""


@pytest.fixture(scope="module")
def script(server: Editor) -> Editor:
    server.write("lib.saft", _LIBRARY)
    server.write("units.py", _UNITS)
    assert server.open("main.saft", _SCRIPT) == []
    return server


# Diagnostics


def test_tells_what_is_wrong_while_a_script_is_written(server: Editor) -> None:
    text = "people = 1\nprint(pepole)\nx = (\nf g(a):\n    ret a\nf g(b):\n    ret b\n"
    found = server.open("wrong.saft", text)
    assert [one.code for one in found] == [
        "SAFT0203",
        "SAFT0109",
        "SAFT0201",
    ]
    unknown, _, twice = found
    assert server.text_at(unknown.range, "wrong.saft") == "pepole"
    assert unknown.severity == lsp.DiagnosticSeverity.Error
    assert unknown.message == "unknown name `pepole`\ndid you mean `people`?"
    assert unknown.code_description is not None
    assert unknown.code_description.href.endswith("/saftc/diagnostics/pages/SAFT0203.md")
    assert twice.related_information is not None
    (place,) = twice.related_information
    assert place.location.uri == server.uri("wrong.saft")
    assert server.text_at(place.location.range, "wrong.saft") == "g"
    assert server.change("wrong.saft", "people = 1\nprint(people)\n") == []


def test_a_misspelt_argument_of_a_tool_of_a_server_is_told(server: Editor) -> None:
    case = Path(__file__).parents[1] / "cases" / "server_import" / "tools" / "mcp.lock.json"
    (server.folder / "tools").mkdir()
    server.write("tools/mcp.lock.json", case.read_text())
    text = 'from mcp("docs") import search\nprint(search(qeury: "pipes"))\n'
    (found,) = server.open("tools/look.saft", text)
    assert found.code == "SAFT0309"
    assert found.message == "`search` has no parameter `qeury`\ndid you mean `query`?"
    assert server.change("tools/look.saft", text.replace("qeury", "query")) == []
    document, position = server.at("tools/look.saft", "print(sea|rch(")
    told = server.ask("text_document_hover", lsp.HoverParams(document, position))
    assert "f search(query: string, limit: int = 10) -> [{title: string" in told.contents.value
    assert "Searches the manual." in told.contents.value


def test_hints_at_what_no_server_enforces_or_caches(server: Editor) -> None:
    rules = "Be brief. " * 201
    text = f"f go(mail: string): ret $ {{mail}} {rules} $\nx: {{[string]: int}} = $ one $\n"
    found = server.open("hints.saft", f"{text}print(x, go('a'))\n".replace("'", '"'))
    assert [(one.code, one.severity) for one in found] == [
        ("SAFT0619", lsp.DiagnosticSeverity.Hint),
        ("SAFT0618", lsp.DiagnosticSeverity.Hint),
    ]


def test_all_mistakes_are_told(server: Editor) -> None:
    found = server.open("many.saft", "".join(f"print(missing_{n}_{'x' * n})\n" for n in range(30)))
    assert len(found) == 30


def test_a_request_that_comes_first_keeps_nothing_back(server: Editor) -> None:
    document = lsp.TextDocumentIdentifier(server.uri("first.saft"))
    asked: list[asyncio.Task[Any]] = []

    def ask() -> None:
        request = server.client.text_document_code_lens_async(lsp.CodeLensParams(document))
        asked.append(asyncio.get_running_loop().create_task(request))

    assert len(server.open("first.saft", "print(missing)\n", also=ask)) == 1


def test_places_count_utf_16_units(server: Editor) -> None:
    found = server.open("wide.saft", 'print("\U0001f600", missing)\n')
    assert [(one.range.start.character, one.range.end.character) for one in found] == [(12, 19)]


def test_editors_send_whole_texts(server: Editor) -> None:
    """pygls would make a change below a form feed or U+2028 in another line than the editor."""
    sync = server.capabilities.text_document_sync
    assert isinstance(sync, lsp.TextDocumentSyncOptions)
    assert sync.change == lsp.TextDocumentSyncKind.Full


def test_a_change_of_a_sibling_is_seen_by_those_that_import_it(server: Editor) -> None:
    server.open("given.saft", "f give():\n    ret 1\n")
    assert server.open("taking.saft", "from given import give\nprint(give())\n") == []
    server.change("given.saft", "f gives():\n    ret 1\n")
    found = server.change("taking.saft", "from given import give\nprint(give(), 1)\n")
    assert [one.message for one in found] == ["unknown name `give`\ndid you mean `gives`?"]
    server.change("given.saft", "f give():\n    ret 1\n")

    async def until_right() -> None:
        while server.told[server.uri("taking.saft")].diagnostics:
            server.news.clear()
            await server.news.wait()

    server.runner.run(asyncio.wait_for(until_right(), PATIENCE))


def test_hints_that_are_edits_are_quick_fixes(server: Editor) -> None:
    server.open("fix.saft", "people = 1\nprint(pepole)\nif people = 1:\n    print(1)\n")
    document = lsp.TextDocumentIdentifier(server.uri("fix.saft"))
    everything = lsp.Range(lsp.Position(0, 0), lsp.Position(9, 0))
    context = lsp.CodeActionContext(list(server.told[server.uri("fix.saft")].diagnostics))
    actions = server.ask(
        "text_document_code_action", lsp.CodeActionParams(document, everything, context)
    )
    assert [one.title for one in actions] == ["Write `people`", "Write `==`"]
    assert all(one.diagnostics for one in actions)
    edits = [edit for one in actions for edit in one.edit.changes[server.uri("fix.saft")]]
    fixed = server.edited("fix.saft", edits)
    assert fixed == "people = 1\nprint(people)\nif people == 1:\n    print(1)\n"


# The text


def test_formats(server: Editor) -> None:
    server.open("format.saft", "a=1\n\nprint( a )\n\n\n\nb   =  2\nprint(b)\n")
    document = lsp.TextDocumentIdentifier(server.uri("format.saft"))
    params = lsp.DocumentFormattingParams(document, lsp.FormattingOptions(4, True))
    edits = server.ask("text_document_formatting", params)
    formatted = server.edited("format.saft", edits)
    assert formatted == "a = 1\n\nprint(a)\n\n\nb = 2\nprint(b)\n"
    server.change("format.saft", formatted)
    assert server.ask("text_document_formatting", params) is None
    server.change("format.saft", "a = (\n")
    # On every save, perhaps; it is said once.
    for _ in range(2):
        assert server.ask("text_document_formatting", params) is None
    said = "format.saft is not formatted: it has mistakes, and saftc cannot read all of it"
    assert server.messages.count(said) == 1


def test_symbols_and_folds(script: Editor) -> None:
    document = lsp.TextDocumentIdentifier(script.uri("main.saft"))
    symbols = script.ask("text_document_document_symbol", lsp.DocumentSymbolParams(document))
    assert [(one.name, one.kind.name, one.detail) for one in symbols] == [
        ("add", "Function", "(a, b)"),
        ("total", "Variable", "int | float"),
        ("p", "Variable", "Point"),
        ("answer", "Variable", "string"),
    ]
    folds = script.ask("text_document_folding_range", lsp.FoldingRangeParams(document))
    assert [(one.start_line, one.end_line, one.kind) for one in folds] == [
        (0, 1, "imports"),
        (4, 5, "region"),
    ]


def test_colours_tell_tools_in_prompts(script: Editor) -> None:
    document = lsp.TextDocumentIdentifier(script.uri("main.saft"))
    data = script.ask("text_document_semantic_tokens_full", lsp.SemanticTokensParams(document)).data
    found: list[tuple[str, int, int]] = []
    line = column = 0
    lines = _SCRIPT.split("\n")
    for down, right, length, kind, modifiers in zip(*[iter(data)] * 5, strict=True):
        line, column = line + down, right if down else column + right
        found.append((lines[line][column : column + length], kind, modifiers))
    assert ("add", 0, 1) in found  # a function, where it is defined
    assert ("add", 0, 4) in found  # a tool
    assert ("print", 0, 2) in found  # a builtin
    assert ("total", 1, 0) in found  # a variable in a hole
    assert ("x", 5, 0) in found  # a property


def test_colours_of_words_and_texts(server: Editor) -> None:
    text = (
        'xs = """a\n  😀 b\n\n"""\nq = $\n    one {xs} two\n$ // no\n'
        'z = f"{xs:>4}c" if true else nil\n'
        "fail ret 1_0 = (\n"
    )
    server.open("words.saft", text)
    document = lsp.TextDocumentIdentifier(server.uri("words.saft"))
    data = server.ask("text_document_semantic_tokens_full", lsp.SemanticTokensParams(document)).data
    kinds = ("keyword", "string", "number", "comment")
    found: dict[str, list[str]] = {kind: [] for kind in kinds}
    line = column = 0
    lines = [one.encode("utf-16-le") for one in text.split("\n")]
    for down, right, length, kind, _ in zip(*[iter(data)] * 5, strict=True):
        line, column = line + down, right if down else column + right
        piece = lines[line][2 * column : 2 * (column + length)].decode("utf-16-le")
        if KINDS[kind] in kinds:
            found[KINDS[kind]].append(piece)
    assert found == {
        "keyword": [
            *("$", "{", "}", "$", "{", ":>4", "}", "if", "true", "else", "nil", "fail", "ret"),
        ],
        "string": ['"""a', "  😀 b", '"""', "    one ", " two", 'f"', "c", '"'],
        "number": ["1_0"],
        "comment": ["// no"],
    }


def test_inferred_types_of_parameters_when_asked_for(server: Editor) -> None:
    server.open("hints.saft", "f twice(n):\n    ret n * 2\n\nprint(twice(4))\n")
    document = lsp.TextDocumentIdentifier(server.uri("hints.saft"))
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(9, 0))
    ask = "text_document_inlay_hint"
    found = server.ask(ask, lsp.InlayHintParams(document, whole))
    assert [(one.label, one.position.character) for one in found] == [(": int | float", 9)]

    def settle(value: bool) -> None:
        settings = {"saft": {"parameterTypes": value}}
        params = lsp.DidChangeConfigurationParams(settings)
        server.client.workspace_did_change_configuration(params)

    settle(False)
    assert list(server.ask(ask, lsp.InlayHintParams(document, whole))) == []
    settle(True)


def test_how_many_requests_each_function_sends_at_most(server: Editor) -> None:
    text = """\
f ask(xs: [string]):
    for x in xs:
        print($ about {x} $)

f add(a: int):
    ret a

f again() -> string:
    ret again() + $ on $

ask([])
add(1)
again()
"""
    server.open("bounds.saft", text)
    document = lsp.TextDocumentIdentifier(server.uri("bounds.saft"))
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    ask = "text_document_inlay_hint"
    found = server.ask(ask, lsp.InlayHintParams(document, whole))
    assert [(one.label, one.position.line) for one in found] == [
        ("≤ 2 * len(xs) requests", 0),
        ("any number of requests", 7),
    ]
    assert "`again` may call itself" in found[1].tooltip
    at = server.at("bounds.saft", "f as|k")
    shown = server.ask("text_document_hover", lsp.HoverParams(*at)).contents.value
    assert "At most `2 * len(xs)` requests" in shown
    at = server.at("bounds.saft", "ab|out")
    shown = server.ask("text_document_hover", lsp.HoverParams(*at)).contents.value
    assert "requests: at most 2 (1 + 1 repair)" in shown
    settings = lsp.DidChangeConfigurationParams({"saft": {"requestBounds": False}})
    server.client.workspace_did_change_configuration(settings)
    assert list(server.ask(ask, lsp.InlayHintParams(document, whole))) == []
    settings = lsp.DidChangeConfigurationParams({"saft": {"parameterTypes": True}})
    server.client.workspace_did_change_configuration(settings)


# Names


def _hover(server: Editor, marked: str) -> str:
    found = server.ask("text_document_hover", lsp.HoverParams(*server.at("main.saft", marked)))
    return "" if found is None else found.contents.value


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ("tot|al = add", ["total: int"]),
        (
            "f a|dd",
            ["f add(a: int, b: int | float) -> int | float", '"description": "Adds two numbers."'],
        ),
        ("gre|et(", ["f greet(name: string, loud: bool = false) -> string", "Greets somebody."]),
        ("p.|x", ["x: int"]),
        ("Poi|nt(x", ["type Point(x: int, y: int)"]),
        ("lo|ud: true", ["loud: bool"]),
        ("pri|nt(", ["prints strings as they are"]),
        ("to_mi|les(", ["def to_miles(km: float) -> float", "Kilometres as miles."]),
        (
            "what| is",
            ["$ ... $: string", "Tools: `add`", "what is «total» with add?"],
        ),
    ],
)
def test_hover(script: Editor, marked: str, said: list[str]) -> None:
    shown = _hover(script, marked)
    for words in said:
        assert words in shown


def test_a_prompt_with_code_in_it_stays_in_its_hover(server: Editor) -> None:
    server.open("fenced.saft", "print($\n    Run this:\n    ````sh\n    ls\n    ````\n$)\n")
    at = server.at("fenced.saft", "Run| this")
    shown = server.ask("text_document_hover", lsp.HoverParams(*at)).contents.value
    assert "`````text\n" in shown and shown.endswith("\n`````")


def test_a_declared_type_is_shown_however_large_it_is(server: Editor) -> None:
    kinds = " | ".join(f'{{kind: "e{i}", n: int}}' for i in range(9))
    deep = "{a: {b: {c: {d: {e: {f: {g: int}}}}}}}"
    server.open("large.saft", f"one: {kinds} = $ a $\ntwo: {deep} = $ b $\nprint(one, two)\n")
    for marked, type_ in (("print(o|ne", kinds), (", t|wo)", deep)):
        at = server.at("large.saft", marked)
        shown = server.ask("text_document_hover", lsp.HoverParams(*at)).contents.value
        assert f": {type_}" in shown


def test_hover_on_drafts(server: Editor) -> None:
    server.open(
        "drafts.saft",
        "type Post(title: string, tags: [string])\n\n"
        "for draft: Post in stream $ a $:\n    print(draft.title)\n",
    )
    for marked, said in ("dra|ft: P", "draft: {title: string?, tags: [string]?}"), (
        "Po|st in",
        "type Post(",
    ):
        at = server.at("drafts.saft", marked)
        shown = server.ask("text_document_hover", lsp.HoverParams(*at)).contents.value
        assert said in shown


def test_the_hover_of_a_prompt_says_what_keeps_it_in_order(server: Editor) -> None:
    loop = 'for word in ["a"]:\n    print($ hello {word} $)\n    assert word != ""\n'
    server.open("ordered.saft", loop)
    at = server.at("ordered.saft", "hel|lo")
    shown = server.ask("text_document_hover", lsp.HoverParams(*at)).contents.value
    why = "overlap: in order, as `assert` may stop the script (line 3); move it to the head"
    assert why in shown


def _place(location: Any) -> tuple[str, int, int]:
    start = location.range.start
    return location.uri.rpartition("/")[2], start.line, start.character


@pytest.mark.parametrize(
    ("marked", "place"),
    [
        ("{ad|d}", ("main.saft", 4, 2)),
        ("{to|tal}", ("main.saft", 7, 0)),
        ("gre|et(", ("lib.saft", 1, 2)),
        ("Poi|nt(x", ("lib.saft", 4, 5)),
        ("p.|x", ("lib.saft", 4, 11)),
        ("lo|ud: true", ("lib.saft", 1, 22)),
        ("from li|b", ("lib.saft", 0, 0)),
        ("to_mi|les(", ("units.py", 0, 4)),
        ("from uni|ts", ("units.py", 0, 0)),
    ],
)
def test_definition(script: Editor, marked: str, place: tuple[str, int, int]) -> None:
    params = lsp.DefinitionParams(*script.at("main.saft", marked))
    assert _place(script.ask("text_document_definition", params)) == place


def test_references_go_through_all_scripts(script: Editor) -> None:
    document, position = script.at("main.saft", "gre|et(")
    params = lsp.ReferenceParams(lsp.ReferenceContext(True), document, position)
    found = script.ask("text_document_references", params)
    assert sorted(map(_place, found)) == [
        ("lib.saft", 1, 2),
        ("main.saft", 0, 16),
        ("main.saft", 10, 34),
    ]


def test_rename_goes_into_holes_and_siblings(script: Editor) -> None:
    document, position = script.at("main.saft", "{to|tal}")
    edit = script.ask("text_document_rename", lsp.RenameParams(document, position, "amount"))
    changed = script.edited("main.saft", list(edit.changes[script.uri("main.saft")]))
    assert changed == _SCRIPT.replace("total", "amount")
    document, position = script.at("main.saft", "gre|et(")
    edit = script.ask("text_document_rename", lsp.RenameParams(document, position, "hail"))
    assert {uri.rpartition("/")[2]: len(edits) for uri, edits in edit.changes.items()} == {
        "lib.saft": 1,
        "main.saft": 2,
    }


@pytest.mark.parametrize(
    ("marked", "name"),
    [
        ("{to|tal}", "add"),
        ("{to|tal}", "if"),
        ("{to|tal}", "print"),
        ("pri|nt(", "show"),
        ("p.|x", "z"),
    ],
)
def test_a_name_that_would_do_harm_is_refused(script: Editor, marked: str, name: str) -> None:
    document, position = script.at("main.saft", marked)
    with pytest.raises(JsonRpcException):
        script.ask("text_document_rename", lsp.RenameParams(document, position, name))


def test_a_local_name_that_starts_from_an_outer_one_is_renamed_with_it(server: Editor) -> None:
    text = "n = 1\nf g(go):\n    if go:\n        n = 2\n    ret n\nprint(n, g(true))\n"
    server.open("outer.saft", text)
    document, position = server.at("outer.saft", "ret |n")
    edit = server.ask("text_document_rename", lsp.RenameParams(document, position, "m"))
    changed = server.edited("outer.saft", list(edit.changes[server.uri("outer.saft")]))
    assert changed == "m = 1\nf g(go):\n    if go:\n        m = 2\n    ret m\nprint(m, g(true))\n"


# Writing


def _completed(server: Editor, name: str, text: str, marked: str) -> list[str]:
    server.open(name, text)
    params = lsp.CompletionParams(*server.at(name, marked))
    return [one.label for one in server.ask("text_document_completion", params).items]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("print(p.|", ["x", "y"]),
        ("zz = p.|", ["x", "y"]),
        ("if p.|", ["x", "y"]),
        ("q = $ a {p.|", ["x", "y"]),
        ("zz = points[0].|", ["x", "y"]),
        ("zz = make(1).|", ["x", "y"]),
        ("zz = mood.|", ["kind", "weight"]),
        ("zz = [row.| for row in points]", ["x", "y"]),
        ("zz = [row.x for row in points if row.|", ["x", "y"]),
        ("zz = [row.x for row in points if row.x > 1 if row.|]", ["x", "y"]),
        ("zz = [1 if row.| > 1 else 2 for row in points]", ["x", "y"]),
        ("zz = [[row.| for row in part] for part in [points]]", ["x", "y"]),
        ("zz = [n for row in points for n in range(row.|)]", ["x", "y"]),
        ("zz = [p.| for p in [mood]]", ["kind", "weight"]),
        ("zz = [r for r in p.|]", ["x", "y"]),
        ("zz = [$ a {row.|} $ for row in points]", ["x", "y"]),
        ("zz = [\n    row.|\n    for row in points\n]", ["x", "y"]),
        ("zz = {[str(row.x)]: row.| for row in points}", ["x", "y"]),
        ("zz = {[row.|]: row for row in points}", ["x", "y"]),
        ("q = $ a $ with {fall|", ["fallback"]),
        ("q = $ a $ with {chec|", ["check"]),
        ("q = $ a $ with {mod|", ["model"]),
        ('zz = f"a {p.|', ["x", "y"]),
        ('zz = f"a {p.|}"', ["x", "y"]),
        ('print(f"{p.x} {join("a", points[0].|', ["x", "y"]),
        ('zz = f"""\n{p.|', ["x", "y"]),
        ('q = $ a {f"{p.|', ["x", "y"]),
        ('zz = f"{make(|', ["n:", "make"]),
        ('zz = f"{mak|', ["make"]),
        ("f h(a: |", ["Point", "int", "string"]),
        ("f h(a) -> |", ["Point", "int"]),
        ("zz: |", ["Point", "int"]),
        ("for zz: |", ["Point", "int"]),
        ("for zz: Point in |", ["make", "points"]),
        ("from lib import |", ["greet", "Point"]),
        ("from units import |", ["to_miles"]),
        ("import |", ["lib", "units"]),
        ("zz = make(|", ["n:", "make"]),
        ("zz = pri|", ["print"]),
        ("zz = (|", ["make", "print"]),
        ("f inner(first):\n    second = 1\n    |", ["first", "second", "make"]),
        ("f inner(first):\n    second = 1\n    ret (|\n\nafter = 2\n", ["first", "second", "make"]),
        ("if p.|:\n    zz = 1\n", ["x", "y"]),
        ("if p.|\n    zz = 1\n", ["x", "y"]),
        ("if true: zz = 1\nelif p.|\n", ["x", "y"]),
        ("while p.| > 1:\n    zz = 1\n", ["x", "y"]),
        ("print(p.|\nzz = 2\nprint(zz)\n", ["x", "y"]),
        ("print(p.|)\nzz = 2\n", ["x", "y"]),
        ("print(1, p.| + 1, 2)", ["x", "y"]),
        ("for row in points:\n    print(row.|", ["x", "y"]),
        ("for row in points:\n    if row.x > 1:\n        ret_ = [row.|\n", ["x", "y"]),
        ("f inner(point: Point):\n    zz = 1\n    print(point.|\nzz = 3\n", ["x", "y"]),
        ("try:\n    zz = p.|\nexcept error:\n    zz = 1\n", ["x", "y"]),
        ("try:\n    zz = 1\nexcept error:\n    print(erro|", ["error"]),
        ("assert p.|", ["x", "y"]),
        ("zz = 1 if p.|", ["x", "y"]),
        ("zz = 1 |", ["make"]),
        ("zz = {a: p.|", ["x", "y"]),
        ("zz = make(n: p.|", ["x", "y"]),
        ("q = $ a {p:|", ["raw", "approve"]),
        ("q = $ a $ with {model: mak|", ["make"]),
        ("q = $ a $ with {max_repairs: 1, mod|}", ["model"]),
        ("type Pair(a: Poi|, b: int)", ["Point"]),
        ("type Pair(a: [Poi|", ["Point"]),
        ("type Several = [Poi|", ["Point"]),
        ("f h(a: int, b: {[string]: Poi|", ["Point"]),
        ("{zz: |} = $ a $", ["Point", "int"]),
        ("f h(a: Point = ma|", ["make"]),
        ("from lib import Point, gre|", ["greet"]),
        ("import lib\nzz = lib.|", ["greet", "Point"]),
        ("import lib\nzz: lib.|", ["greet", "Point"]),
    ],
)
def test_completion_in_a_line_that_is_not_finished(
    script: Editor, line: str, wanted: list[str]
) -> None:
    before = (
        "from lib import Point\n\nf make(n: int) -> Point:\n    ret Point(x: n, y: n)\n\n"
        'p = make(1)\npoints = [p]\nmood = {kind: "good", weight: 2}\n\n'
    )
    found = _completed(script, "writing.saft", before + line.replace("|", ""), line)
    first = found if "." not in line.rpartition(" ")[2] else found[: len(wanted)]
    assert [one for one in wanted if one not in first] == []


def test_tools_are_completed_as_an_option_and_functions_in_them(server: Editor) -> None:
    text = "f look(): ret 1\na = $ b $ with {tools: [lo"
    assert "tools" in _completed(server, "listing.saft", "a = $ b $ with {", "with {|")
    assert "look" in _completed(server, "listed.saft", text, "[lo|")


def test_the_history_of_a_result_is_completed(server: Editor) -> None:
    found = _completed(server, "asking.saft", "a = $ b $\nprint(a.toolCalls, a.", "toolCalls, a.|")
    assert found[:6] == ["value", "text", "toolCalls", "usage", "model", "finish"]


@pytest.mark.parametrize(
    "line",
    [
        *("q = $ some wo|", "// a no|", 'zz = "a te|', 'zz = """a\n te|', 'zz = f"te|'),
        *('x = 1\nzz = f"{x} te|', 'zz = f"""\n{1} te|', 'zz = f"{join("te|', "zz = [1, // no|"),
        *("q = $ a {1} wo|", 'q = $ a {"te|'),
    ],
)
def test_nothing_is_completed_in_texts(server: Editor, line: str) -> None:
    assert _completed(server, "texts.saft", line.replace("|", ""), line) == []


@pytest.mark.parametrize(
    ("line", "head", "active"),
    [
        ("zz = make(|", "f make(n: int, scale: int = 1) -> int", 0),
        ("zz = make(1, |", "f make(n: int, scale: int = 1) -> int", 1),
        ("zz = make(scale: 2, n: |", "f make(n: int, scale: int = 1) -> int", 0),
        ("zz = Box(|", "type Box(width: int)", 0),
        ("zz = replace(a, b, |", "replace(text, old, new)", 2),
        ("zz = to_miles(|", "def to_miles(km: float) -> float", 0),
        ("zz = make(1|, 2)", "f make(n: int, scale: int = 1) -> int", 0),
        ("zz = make(1, |)", "f make(n: int, scale: int = 1) -> int", 1),
        ("zz = make(1 |", "f make(n: int, scale: int = 1) -> int", 0),
        ("zz = [make(1, [2, |", "f make(n: int, scale: int = 1) -> int", 1),
        ('zz = replace("a, b", "te|', "replace(text, old, new)", 1),
        ('zz = replace(f"{1}, te|', "replace(text, old, new)", 0),
        ("q = $ a {make(|", "f make(n: int, scale: int = 1) -> int", 0),
        ("import units as u\nzz = u.to_miles(|", "def to_miles(km: float) -> float", 0),
        ("f inner():\n    ret make(1,|\nzz = 3\n", "f make(n: int, scale: int = 1) -> int", 1),
        ("g = make\nzz = g(1, |", "f make(n: int, scale: int = 1) -> int", 1),
        ("from lib import Point\nzz = Point(1, |", "type Point(x: int, y: int)", 1),
        ("import lib\nzz = lib.Point(|", "type Point(x: int, y: int)", 0),
        ("from cells import Cell\nzz = Cell(1, |", "Cell(row, text)", 1),
        ("import cells\nzz = cells.Cell(|", "Cell(row, text)", 0),
    ],
)
def test_signatures(script: Editor, line: str, head: str, active: int) -> None:
    text = (
        "from units import to_miles\n\n"
        "f make(n: int, scale: int = 1) -> int:\n    ret n * scale\n\n"
        "type Box(width: int)\n\nprint(make(1, 2), Box(1), to_miles(1.0))\n"
    )
    script.write("cells.py", _CELLS)
    script.open("calling.saft", text + line.replace("|", ""))
    params = lsp.SignatureHelpParams(*script.at("calling.saft", line))
    found = script.ask("text_document_signature_help", params)
    label = found.signatures[0].label
    assert label == head
    assert found.active_parameter == active


def test_the_signature_of_an_imported_function_has_its_doc(script: Editor) -> None:
    line = "from lib import greet\nzz = greet(|"
    script.open("greeting.saft", line.replace("|", ""))
    params = lsp.SignatureHelpParams(*script.at("greeting.saft", line))
    found = script.ask("text_document_signature_help", params)
    assert found.signatures[0].documentation == "Greets somebody."


def test_parameters_without_a_name_are_not_completed(script: Editor) -> None:
    script.write("several.py", "def fetch(*names: str, limit: int = 3) -> int:\n    return 1\n")
    script.write("apart.py", "def part(a: int, *, b: int) -> int:\n    return a\n")
    for line, wanted in (
        ("import several\nzz = several.fetch(|", ["limit:"]),
        ("import apart\nzz = apart.part(|", ["a:", "b:"]),
    ):
        found = _completed(script, "unnamed.saft", line.replace("|", ""), line)
        assert [one for one in found if one.endswith(":")] == wanted


# Views


def test_views_follow_the_script(server: Editor) -> None:
    text = "name = input()\nanswer = $ who is {name}? $\nprint(answer)\n"
    server.open("views.saft", text)
    document = lsp.TextDocumentIdentifier(server.uri("views.saft"))
    lenses = server.ask("text_document_code_lens", lsp.CodeLensParams(document))
    assert [(one.command.title, one.range.start.line) for one in lenses] == [
        ("▸ Show Python", 0),
        ("▸ Preview request", 1),
    ]
    python, request = (one.command.arguments[0] for one in lenses)

    def content(uri: str) -> str:
        params = lsp.TextDocumentContentParams(uri)
        return server.ask("workspace_text_document_content", params).text

    assert 'prompt("who is {name}?"' in content(python)
    assert "who is «name»?" in content(request)
    lines = content(python).split("\n")
    line = next(i for i, one in enumerate(lines) if one.startswith("answer ="))
    there = server.send("saft/lines", {"view": python, "line": 1})
    assert (there.first, there.last) == (line, line)
    back = server.send("saft/lines", {"view": python, "line": line, "back": True})
    assert (back.first, back.last) == (1, 1)
    server.refreshed.clear()
    server.change("views.saft", text.replace("who is", "where is"))

    async def refreshed() -> None:
        while not {python, request} <= set(server.refreshed):
            server.news.clear()
            await server.news.wait()

    server.runner.run(asyncio.wait_for(refreshed(), PATIENCE))
    assert 'prompt("where is {name}?"' in content(python)
    server.change("views.saft", text.replace("who is", "where is") + "print(\n")
    assert 'prompt("where is {name}?"' in content(python)


def test_the_reference_of_builtins_is_that_of_the_documentation() -> None:
    pages = (ROOT / "docs" / "language-modules.md").read_text(encoding="utf-8")
    assert (ROOT / "saftc" / "lsp" / "builtins.md").read_text(encoding="utf-8") in pages
