"""The grammar for tree-sitter reads what saftc reads: its parser is compiled and tried."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from typing import Any

import pytest

from tests.compiler.support import ROOT

GRAMMAR = ROOT / "editors" / "tree-sitter-saft"
CASES = ROOT / "tests" / "cases"
# What the text of a script alone shows to be wrong; the others need to know what its words mean.
OF_THE_TEXT = tuple(f"SAFT01{number:02}" for number in range(1, 22))

tree_sitter: Any = pytest.importorskip("tree_sitter", reason="needs tree-sitter (extra dev)")
pytestmark = [
    pytest.mark.one_python,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
]


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Any:
    library, source = tmp_path_factory.mktemp("saft") / "saft.so", GRAMMAR / "src"
    parts = [str(source / name) for name in ("parser.c", "scanner.c")]
    options = ["-shared", "-fPIC", "-O0", "-Wall", "-Werror", "-I", str(source)]
    subprocess.run(["gcc", *options, *parts, "-o", str(library)], check=True)
    made = ctypes.CDLL(str(library)).tree_sitter_saft
    made.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return tree_sitter.Language(capsule(made(), b"tree_sitter.Language", None))


def parse(language: Any, text: bytes) -> Any:
    return tree_sitter.Parser(language).parse(text).root_node


def test_what_saftc_compiles_has_no_error(language: Any) -> None:
    scripts = [*(ROOT / "examples").rglob("*.saft"), *(ROOT / "saftc" / "play").rglob("*.saft")]
    scripts += [case.with_name("in.saft") for case in CASES.rglob("out.py")]
    assert len(scripts) > 500
    wrong = [path for path in scripts if parse(language, path.read_bytes()).has_error]
    assert wrong == []


def test_what_saftc_cannot_read_has_errors(language: Any) -> None:
    refused = [
        path.with_name("in.saft")
        for path in CASES.rglob("errors.txt")
        if any(f"error[{code}]" in path.read_text() for code in OF_THE_TEXT)
    ]
    found = [path for path in refused if parse(language, path.read_bytes()).has_error]
    assert len(found) > 0.8 * len(refused) > 20


def test_after_an_error_the_next_function_is_read(language: Any) -> None:
    root = parse(language, b"x = = 1\n\nf area(n: int) -> int:\n    ret n * n\n")
    assert root.has_error
    assert [one.type for one in root.children][-1] == "function_def"


def captures(language: Any, name: str, text: bytes) -> dict[str, list[str]]:
    query = tree_sitter.Query(language, (GRAMMAR / "queries" / f"{name}.scm").read_text())
    found = tree_sitter.QueryCursor(query).captures(parse(language, text))
    return {
        capture: [node.text.decode() for node in sorted(nodes, key=lambda one: one.start_byte)]
        for capture, nodes in found.items()
    }


def test_a_prompt_has_a_scope_of_its_own_and_its_holes_are_code(language: Any) -> None:
    text = b'/// Asks.\nanswer: int = $ how \\$ {len(names)} or {f"{a:>3}":raw} $ with {seed: 1}\n'
    found = captures(language, "highlights", text)
    assert found["string.special.prompt"] == [" how ", " ", " or ", " "]
    assert found["function.call"] == ["len"] and found["type.builtin"] == ["int"]
    assert found["string.escape"] == ["\\$"] and found["attribute"] == ["raw"]
    assert found["punctuation.special"].count("$") == 2 and found["string.special"] == [":>3"]
    assert found["comment.documentation"] == ["/// Asks."]


@pytest.mark.parametrize("name", [path.stem for path in (GRAMMAR / "queries").glob("*.scm")])
def test_the_queries_name_what_there_is(language: Any, name: str) -> None:
    text = (ROOT / "examples" / "support_desk.saft").read_bytes() + b"// note\n"
    assert captures(language, name, text)


def test_words_are_names_where_they_are(language: Any) -> None:
    text = b"f = 1\ntype = f\nfail(type)\ntry = fail\nwith = after\nstream = do + program\n"
    root = parse(language, text)
    assert not root.has_error
    assert all(one.type in ("assign_stmt", "expression_stmt") for one in root.children)


def test_the_parser_is_made_from_the_grammar() -> None:
    wanted = hashlib.sha256((GRAMMAR / "grammar.js").read_bytes()).hexdigest()
    last = (GRAMMAR / "src" / "parser.c").read_text().rstrip().rpartition("\n")[2]
    assert last == f"// made from {wanted}", "npm run generate in editors/tree-sitter-saft"
