"""The tree that is emitted is the tree that Python reads: nothing binds otherwise, and no text of a
plan becomes code (those of scripts are in test_text_is_no_code.py).

The reader is libcst's own parser, in which the constructors of `codegen/python.py` have no part.
"""

import ast
import inspect
import io
import json
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TypeAlias, cast

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saftc.cli.commands.build_plan import PlanProblem, compile_plan
from saftc.codegen import python as py
from saftc.codegen.python import Expression
from saftc.driver import Compiled

pytestmark = [
    pytest.mark.one_python,
    # Of strategies that hold each other.
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),
]

_LAYOUT = (
    *("whitespace", "comma", "semicolon", "lpar", "rpar", "equal"),
    *("lines", "header", "footer", "indent", "newline"),
)
_Shape: TypeAlias = tuple[object, ...]


def _shape(node: cst.CSTNode) -> _Shape:
    """A tree without its layout: no spaces, parentheses, commas and comments."""
    match node:
        case cst.SimpleString() | cst.ConcatenatedString() if node.evaluated_value is not None:
            return ("string", _text(node))
        case cst.Integer() | cst.Float():
            return ("number", node.evaluated_value)
        case cst.FormattedString():
            return ("formatted", *_flat(node.parts))
        case cst.FormattedStringText(value=value):
            # The quotes around it do not matter, nor which of those inside are escaped for them.
            return ("text", ast.literal_eval(f'"""{value} """'))
        case _:
            return (type(node).__name__, *_parts(node))


def _parts(node: cst.CSTNode) -> Iterator[object]:
    for field in fields(node):
        if not any(word in field.name for word in _LAYOUT):
            yield from _flat(getattr(node, field.name))


def _flat(value: object) -> Iterator[object]:
    match value:
        case cst.CSTNode():
            yield _shape(value)
        case list() | tuple():
            items = cast("Sequence[object]", value)
            yield len(items)
            for item in items:
                yield from _flat(item)
        case str() if value:
            yield value
        case _:
            pass


def _text(node: cst.SimpleString | cst.ConcatenatedString) -> str:
    """The text of a string; one of several lines stands as deep as its place."""
    value = node.evaluated_value
    assert isinstance(value, str)
    return inspect.cleandoc(value).strip() if "\n" in value else value


def _is_same(built: object, read: object) -> bool:
    """Whether the shapes are the same, but for the prompts' texts, for which marks stand."""
    if isinstance(built, tuple) and isinstance(read, tuple):
        one, other = cast("_Shape", built), cast("_Shape", read)
        if one[0] == "string" == other[0] and "\x01" in str(one[1]):
            return True
        return len(one) == len(other) and all(map(_is_same, one, other))
    return built == read


_NAMES = st.sampled_from(["a", "b", "rows", "limit"]).map(py.name)
_LITERALS = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False), st.text(max_size=3)
).map(py.constant)
_BINARY = st.sampled_from("+-*/%|")
_COMPARING = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not"])
_LOGICAL = st.sampled_from(["and", "or"])


def _larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """Every kind of expression that is emitted, out of smaller ones."""
    items = st.lists(inner, max_size=3)
    ends = st.one_of(st.none(), inner)
    named = st.dictionaries(st.sampled_from(["x", "y"]), inner, max_size=2)
    entries = st.lists(st.tuples(st.text(max_size=3), inner), max_size=2)
    target = st.one_of(_NAMES, st.tuples(_NAMES, _NAMES).map(py.tuple_))
    clauses = st.lists(
        st.tuples(target, inner, st.lists(inner, max_size=2)), min_size=1, max_size=2
    )
    comprehensions = st.builds(py.comprehension, inner, clauses)
    calls = st.builds(_call, inner, items, named)
    return st.one_of(
        st.builds(py.binary, inner, _BINARY, inner),
        st.builds(py.comparison, inner, _COMPARING, inner),
        st.builds(py.both, inner, _LOGICAL, inner),
        st.builds(py.negated, inner),
        st.builds(py.negation, inner),
        st.builds(py.conditional, inner, inner, inner),
        st.builds(py.attribute, inner, st.sampled_from(["name", "value"])),
        calls,
        calls.filter(lambda made: bool(made.args)).map(py.spread),
        st.builds(py.with_rest, calls, st.just(0), inner),
        comprehensions.map(lambda made: py.call(py.name("tuple"), [py.generator(made)])),
        st.builds(py.subscript, inner, inner),
        st.builds(py.subscript, inner, inner, inner),
        st.builds(py.slice_, inner, ends, ends),
        st.builds(py.list_, items),
        st.builds(py.tuple_, items),
        st.builds(py.dict_, entries),
        comprehensions,
        st.builds(py.lambda_, inner),
        st.builds(py.awaited, calls),
        st.lists(st.text(max_size=3), min_size=2, max_size=3).map(py.joined),
    )


def _call(
    function: Expression, given: Sequence[Expression], named: Mapping[str, Expression]
) -> cst.Call:
    return py.call(function, given, named.items())


_EXPRESSIONS = st.recursive(st.one_of(_NAMES, _LITERALS), _larger, max_leaves=8)


@pytest.mark.heavy
@given(_EXPRESSIONS)
@settings(deadline=None, max_examples=300)
def test_an_expression_reads_back(tree: Expression) -> None:
    code = cst.Module([]).code_for_node(tree)
    assert _shape(cst.parse_expression(code)) == _shape(tree), code


_PASS = py.block([py.line(cst.Pass())])

# What an expression can stand in.
_STATEMENTS: list[Callable[[Expression], py.Statement]] = [
    lambda tree: py.line(py.assignment(py.name("x"), tree)),
    lambda tree: py.line(py.annotated(py.name("x"), tree)),
    lambda tree: py.line(py.annotated(py.name("x"), py.name("T"), tree)),
    lambda tree: py.line(cst.Expr(tree)),
    lambda tree: py.line(py.returned(tree)),
    lambda tree: py.line(cst.Assert(tree, tree)),
    lambda tree: cst.If(tree, _PASS, cst.If(tree, _PASS, cst.Else(_PASS))),
    lambda tree: cst.While(tree, _PASS),
    lambda tree: cst.With([cst.WithItem(py.call(py.name("suppress"), [tree]))], _PASS),
    lambda tree: cst.For(py.name("x"), py.bare(tree), _PASS),
    lambda tree: py.function("x", py.parameters([("y", tree, tree)]), tree, _PASS),
    lambda tree: py.function("x", py.parameters([("y", None, tree)]), None, _PASS),
    lambda tree: py.class_("x", [tree], [cst.Pass()], [tree]),
]


@pytest.mark.parametrize("statement", _STATEMENTS)
@given(tree=_EXPRESSIONS)
@settings(deadline=None, max_examples=25)
def test_a_statement_reads_back(
    statement: Callable[[Expression], py.Statement], tree: Expression
) -> None:
    module = cst.Module([statement(tree)])
    assert _shape(cst.parse_module(module.code)) == _shape(module), module.code


@pytest.mark.heavy
def test_modules_read_back(modules: Mapping[str, Compiled]) -> None:
    for name, compiled in modules.items():
        assert compiled.module is not None
        read = cst.parse_module(compiled.module.text)
        assert _is_same(_shape(compiled.module.origins.module), _shape(read)), name


# Texts that have broken out somewhere, in pieces.
_HOSTILE = st.lists(
    st.sampled_from(
        [
            *("\n", "\r", "\r\n", "\x00", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\udc80"),
            *('"', '"""', "'", "\\", "#", "{", "}", "$", "//", ";", ":", " ", "\x01" + "0", "é"),
            *("coding: utf-7", "coding=latin-1", "# fmt: off", "fmt: skip", "open('M', 'w')"),
        ]
    ),
    max_size=5,
).map("".join)


@given(name=_HOSTILE, text=_HOSTILE)
@settings(deadline=None, max_examples=50)
def test_no_text_of_a_plan_becomes_code(
    name: str, text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("plan")
    (folder / "tools.saft").write_text("f say(words: any) -> any:\n    ret words\n")
    plan = folder / (name.replace("/", "").replace("\x00", "") + ".json")
    plan.write_text(json.dumps({"say": {"words": {"$object": {text: [text], "b": 1}}}}))
    try:
        written = compile_plan(str(plan), "tools", [folder]).text.encode()
    except PlanProblem:
        return
    assert tokenize.detect_encoding(io.BytesIO(written).readline)[0] == "utf-8"
    *_, function, run = cst.parse_module(written).body
    assert [type(function), type(run)] == [cst.FunctionDef, cst.If]
    assert isinstance(function, cst.FunctionDef) and len(function.body.body) == 1
