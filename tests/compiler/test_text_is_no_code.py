"""No text of a script becomes code: the tree that was emitted is the tree that Python reads.

Texts that try to get out of their place stand in each place that takes one, and as the file's name.
What Python reads in the finished text must be what the emitter has built, without its comments.
"""

import ast
import inspect
import keyword
import re

import black
import libcst as cst
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from saftc.driver import Compiled
from saftc.syntax.tokens import KEYWORDS
from saftc.types.builtins import BUILTINS
from tests.compiler.support import compile_text

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

_TEXTS = '''/// COMMENT

//COMMENT
a = ["TEXT", // COMMENT
  //COMMENT
  "", //COMMENT
]  // COMMENT
// COMMENT

/// COMMENT
type Note(
    // COMMENT
    title: string,  /// COMMENT
    /// COMMENT
    text: {"TEXT": int, rest: string} = {"TEXT": 1, rest: "TEXT"}, // COMMENT
)
/// COMMENT
type Row = {id: int, "two words": string} // COMMENT
/// COMMENT
type Label = "TEXT" | "b"
f go(one: string, // COMMENT
    /// COMMENT
    two: string = "TEXT"  // COMMENT
    // COMMENT
): // COMMENT
    // COMMENT
    /// COMMENT
    ret one + """TEXT
  TEXT""" // COMMENT
    // COMMENT
/// COMMENT
f look(row: Row) -> string: // COMMENT
    // COMMENT
    if row.id > 1: // COMMENT
        ret $TEXT$ // COMMENT
        // COMMENT
    elif row.id == 0: // COMMENT
        ret do $ PROMPT {go} PROMPT $ with {system: "TEXT"} // COMMENT
    // COMMENT
    else: // COMMENT
        // COMMENT
        x: Row = $ PROMPT
           PROMPT $ with {stop: ["TEXT"]} // COMMENT
        ret x["two words"]
{count: int, word: string} = $ PROMPT {a} and {"TEXT":raw} $ // COMMENT
print(go("TEXT", "x", // COMMENT
), look({id: count, "two words": word}), Note("TEXT", {"TEXT": 1, rest: ""})) // COMMENT
// COMMENT
'''

_NAMES = """
type TypeN = {NAME: int}
type RecordN(NAME: TypeN, other: int = 1)

f go(NAME: RecordN, two = 2):
    {NAME2: string, word: [NAME3]} = $ {NAME} and {two} $
    NAME4 = NAME2
    for NAME2, NAME5 in [(1, 2)]:
        print(NAME.NAME.NAME, NAME2, NAME5)
    ret {NAME: NAME4, word: word}

type NAME3 = {id: string, NAME: int}
NAME = go(RecordN(NAME: {NAME: 1}))
print(NAME, program $ {go} $)
"""

_NASTY = [
    *("\n", "\r", "\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028", "\u2029", "\0", "\x01", "\x1a"),
    *('"', "'", '"""', "'''", "\\", "\\\\", "#", "/", "//", "{", "}", "{{", "$", "%s", ";", ":"),
    *(" ", "\t", "\u00a0", "\u200b", "\u202e", "\ufeff", "é", "字", "😀", "\ud800", "\udcff"),
    *("MARK()", "class A:", "import os", "\\N{BULLET}", "\\x41", "\\u0041", "{0}", "{a:raw}"),
    *("fmt: off", "fmt: on", "fmt:skip", "yapf: disable", "type: ignore", "noqa", "coding: utf-7"),
    *("-*- coding: utf-7 -*-", "+ACI-", "pylint: disable=all", "# fmt: skip", "!/bin/sh"),
    "\x010\x01",
]
_WORDS = sorted(
    {*keyword.kwlist, *keyword.softkwlist, *BUILTINS, "__name__", "__builtins__", "__debug__"}
    | {"_", "prompt", "ops", "self", "cls", "main", "dataclass", "Annotated", "Note", "list"}
    - KEYWORDS.keys()
)
# What stands for the text of a prompt until the module has been laid out.
_PROMPT_MARK = re.compile("\x01\\d+\x01")


def _filled(text: str) -> str:
    """The script with `text` in all its places, written as each of them asks for."""
    string = text.replace("\\", "\\\\").replace('"', '\\"')
    prompt = re.sub(r"([\\${}])", r"\\\1", text)
    return (
        _TEXTS.replace("$TEXT$", f"$ {prompt} $")
        .replace("PROMPT", prompt)
        .replace("COMMENT", text.replace("\n", " "))
        .replace('"TEXT"', '"' + string.replace("\n", "\\n") + '"')
        .replace("TEXT", string)
    )


class _WithoutComments(cst.CSTTransformer):
    def leave_Comment(self, original_node: cst.Comment, updated_node: cst.Comment) -> cst.Comment:
        return updated_node.with_changes(value="#")


class _Unified(ast.NodeTransformer):
    """Makes the same of all texts of prompts, and of docstrings as black indents them."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and ("\n" in node.value or _PROMPT_MARK.match(node.value)):
            node.value = ""
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            node.value.value = inspect.cleandoc(node.value.value).strip()
        return self.generic_visit(node)


def _tree(text: str | bytes) -> str:
    return ast.dump(_Unified().visit(ast.parse(text)), indent=1)


def _assert_is_what_was_emitted(compiled: Compiled) -> None:
    assert compiled.module is not None and compiled.text is not None
    emitted = compiled.module.origins.module.visit(_WithoutComments())
    assert _tree(compiled.text) == _tree(emitted.code)
    # What Python reads from a file is this text, and no directive to black stands in it.
    assert _tree(compiled.text) == _tree(compiled.text.encode())
    assert black.format_str(compiled.text, mode=black.Mode()) == compiled.text


def _texts() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(_NASTY) | st.text(max_size=3), max_size=6).map("".join)


def _check_text(text: str) -> None:
    compiled = compile_text(_filled(text), name=f"{text}.saft")
    if compiled.checked.has_errors:
        # Only what no text may hold is refused, and no text at all as a prompt or a literal.
        codes = {found.code for found in compiled.checked.diagnostics}
        assert re.search("[\0\r\ud800-\udfff]", text) or not text.strip() or "SAFT0202" in codes
        return
    _assert_is_what_was_emitted(compiled)


def test_nasty_texts() -> None:
    for nasty in _NASTY:
        _check_text(f"{nasty} MARK() {nasty}")


@settings(max_examples=20, deadline=None, derandomize=True)
@example("a\rMARK()\n")
@given(_texts())
def test_texts(text: str) -> None:
    _check_text(text)


def test_names() -> None:
    for word in _WORDS:
        compiled = compile_text(_NAMES.replace("NAME", word))
        if not compiled.checked.has_errors:
            _assert_is_what_was_emitted(compiled)
