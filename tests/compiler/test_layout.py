"""A module is laid out statement by statement just as black lays it out as a whole."""

from collections.abc import Mapping

import black
import libcst as cst
import pytest
from black.mode import TargetVersion
from hypothesis import given, settings
from hypothesis import strategies as st

from saftc.codegen import python as py
from saftc.codegen.layout import formatted
from saftc.driver import Compiled

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

_MODE = black.Mode({TargetVersion.PY311})


def _whole(module: cst.Module) -> str:
    return black.format_str(module.code, mode=_MODE)


def test_modules(modules: Mapping[str, Compiled]) -> None:
    # Every third is as many statements as a property test would make, in far more forms.
    for name, compiled in list(modules.items())[::3]:
        assert compiled.module is not None
        tree = compiled.module.origins.module
        assert formatted(tree) == _whole(tree), name


_STATEMENTS = [
    *("x = 1", "x", "pass", "f'a'", "x: int = 2", "assert x", "'text'", '"""several\nlines"""'),
    *("import a", "from a import b", "x = [\n    1,\n]", "x = 1  # beside"),
    "class A: x: int",
    "@a\n@b\nclass A:\n    '''Doc.'''",
    "class A:\n\n    '''Doc.'''\n    x: int",
    "def f(a, b): return a",
    "def f():  # head\n    '''Doc.'''",
    "def f():\n\n    def g():\n        pass",
    "def f():\n    x\n    def g(): pass\n    # below",
    "def f():\n    import a\n    x\n\n    # below\n\n    # below",
    "if x: y",
    "if x:\n    def f(): pass",
    "if x:\n    y\nelif z:\n    def f(): pass\n    y\nelse:\n    class A: x: int",
    "if x:\n    y\nelif z:\n    def f(): pass",
    "for x in y:\n    while z:\n        def f(): pass\n    # below",
    "for x in y:\n    if x: continue\n    break",
    "with a(b):\n    x = y",
    "if __name__ == '__main__':\n    main()",
]
_LINES = st.lists(
    st.sampled_from([*["", "#"] * 2, "# a note", "#: a note", "#!a note"]), max_size=5
)


def _body(text: str) -> py.Statement:
    # Every block is on lines of its own.
    statement = cst.parse_module(black.format_str(text, mode=_MODE)).body[0]
    assert isinstance(statement, py.Statement)
    return statement


@given(
    st.lists(st.tuples(_LINES, st.sampled_from(_STATEMENTS)), max_size=6),
    _LINES,
    _LINES,
)
@settings(deadline=None, max_examples=300)
def test_any_statements(
    body: list[tuple[list[str], str]], header: list[str], footer: list[str]
) -> None:
    module = cst.Module(
        [_body(text).with_changes(leading_lines=_empty_lines(lines)) for lines, text in body],
        header=_empty_lines(["# Compiled", *header]),
        footer=_empty_lines(footer),
    )
    assert formatted(module) == _whole(module)


def _empty_lines(lines: list[str]) -> list[cst.EmptyLine]:
    return [cst.EmptyLine(comment=cst.Comment(text) if text else None) for text in lines]
