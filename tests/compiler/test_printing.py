"""The emitted text is the emitted tree: Python reads it back, and black has nothing to change."""

import ast
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

import black
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saftc.codegen import layout
from saftc.codegen import python as py
from saftc.codegen.layout import lay_out, lay_out_listing, mark, needs_layout
from saftc.codegen.printing import Printer, quoted
from saftc.codegen.python import Expression
from saftc.driver import Compiled
from tests.compiler.support import compile_text
from tests.compiler.test_positions import _noted_statements

# Of strategies that hold each other.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

_BLOCKS = {"body", "orelse"}


def _is_same(emitted: object, read: object) -> bool:
    """Whether two trees mean the same; of statements with a block, whether their heads do."""
    match emitted, read:
        case ast.AST(), ast.AST():
            kind = ast.Constant if isinstance(emitted, py.Written) else type(emitted)
            names = set(read._fields) - {"ctx", "kind", "type_comment", "type_params"}
            if isinstance(read, ast.stmt):
                names -= _BLOCKS
            return kind is type(read) and all(
                _is_same(getattr(emitted, name, None), getattr(read, name)) for name in names
            )
        case list(), list():
            return len(emitted) == len(read) and all(map(_is_same, emitted, read))
        case str(), str():
            # A text of several lines stands as deep as its place.
            return inspect.cleandoc(emitted).strip() == inspect.cleandoc(read).strip()
        case _:
            return type(emitted) is type(read) and emitted == read


def test_modules_read_back_as_what_was_emitted(modules: Mapping[str, Compiled]) -> None:
    for name, compiled in modules.items():
        assert compiled.module is not None
        emitted = [statement for statement, _ in compiled.module.origins.lines]
        read = _noted_statements(compiled.module.text)
        for one, other in zip(emitted, read, strict=True):
            assert _is_same(one, other), f"{name}: {ast.unparse(other)}"


Named: TypeAlias = dict[str, Expression]

_NAMES = st.sampled_from(["a", "b", "rows", "limit"]).map(py.name)
_LITERALS = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False), st.text(max_size=3)
).map(py.constant)
_BINARY = st.sampled_from("+-*/%|")
_COMPARING = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not"])
_LOGICAL = st.sampled_from(["and", "or"])


def _larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """Every kind of expression that the emitter makes, out of smaller ones."""
    items = st.lists(inner, max_size=3)
    ends = st.one_of(st.none(), inner)
    named = st.lists(st.tuples(st.sampled_from(["x", "y"]), inner), max_size=2, unique_by=_first)
    entries = st.lists(st.tuples(st.text(max_size=3), inner), max_size=2)
    target = st.one_of(_NAMES, st.tuples(_NAMES, _NAMES).map(py.tuple_))
    clauses = st.builds(py.comprehension, target, inner, st.lists(inner, max_size=2))
    generators = st.lists(clauses, min_size=1, max_size=2)
    return st.one_of(
        st.builds(py.binary, inner, _BINARY, inner),
        st.builds(py.comparison, inner, _COMPARING, inner),
        st.builds(py.both, inner, _LOGICAL, inner),
        st.builds(py.negated, inner),
        st.builds(py.negation, inner),
        st.builds(py.conditional, inner, inner, inner),
        st.builds(py.attribute, inner, st.sampled_from(["name", "value"])),
        st.builds(py.call, inner, items, named),
        st.builds(py.call, inner, st.lists(st.builds(ast.Starred, inner), max_size=2)),
        st.builds(py.call, inner, st.tuples(st.builds(ast.GeneratorExp, inner, generators))),
        st.builds(py.subscript, inner, inner),
        st.builds(py.subscript, inner, inner, inner),
        st.builds(py.slice_, inner, ends, ends),
        st.builds(py.list_, items),
        st.builds(py.tuple_, items),
        st.builds(py.dict_, entries),
        st.builds(ast.ListComp, inner, generators),
        st.builds(lambda body: ast.Lambda(py.parameters([]), body), inner),
        st.builds(py.call, _NAMES, items).map(ast.Await),
    )


def _first(pair: tuple[str, Expression]) -> str:
    return pair[0]


_EXPRESSIONS = st.recursive(st.one_of(_NAMES, _LITERALS), _larger, max_leaves=8)


@given(_EXPRESSIONS)
@settings(deadline=None, max_examples=200)
def test_an_expression_reads_back(tree: Expression) -> None:
    assert _is_same(tree, ast.parse(Printer().expression(tree), mode="eval").body)


_PASS: list[ast.stmt] = [ast.Pass()]

# What an expression can stand in.
_STATEMENTS: list[Callable[[Expression], ast.stmt]] = [
    lambda tree: py.assignment(py.name("x"), tree),
    lambda tree: py.annotated(py.name("x"), tree),
    lambda tree: py.annotated(py.name("x"), py.name("T"), tree),
    ast.Expr,
    ast.Return,
    lambda tree: ast.Assert(tree, tree),
    lambda tree: ast.If(tree, _PASS, _PASS),
    lambda tree: ast.If(tree, _PASS, [ast.If(tree, _PASS, [])]),
    lambda tree: ast.While(tree, _PASS, []),
    lambda tree: ast.With([ast.withitem(py.call(py.name("suppress"), [tree]))], _PASS),
    lambda tree: ast.For(py.name("x"), tree, _PASS, []),
    lambda tree: ast.For(py.tuple_([py.name("x"), py.name("y")]), tree, _PASS, []),
    lambda tree: ast.FunctionDef("x", py.parameters([("y", tree, tree)]), _PASS, [], tree),
    lambda tree: ast.FunctionDef("x", py.parameters([("y", None, tree)]), _PASS, []),
]


@pytest.mark.parametrize("statement", _STATEMENTS)
@given(tree=_EXPRESSIONS)
@settings(deadline=None, max_examples=25)
def test_black_leaves_what_fits_on_a_line(
    statement: Callable[[Expression], ast.stmt], tree: Expression
) -> None:
    # The first line keeps the second from being a docstring; some characters take two columns.
    text = f"pass\n{Printer().statement(statement(tree))}\n"
    mode = black.Mode(line_length=2 * len(text))
    assert re.sub("\n+", "\n", black.format_str(text, mode=mode)) == text


_WIDE_NAMES = st.sampled_from(["n", "name" * 4, "name" * 12]).map(py.name)
_WIDE = st.recursive(st.one_of(_WIDE_NAMES, _LITERALS), _larger, max_leaves=3)
_ITEMS = st.lists(_WIDE, min_size=1, max_size=3)
_NAMED = st.dictionaries(st.sampled_from(["a", "rows", "limits"]), _WIDE)
_TEXT = 'first line of {x}\n  second, "quoted"\n\nlast'
_TEMPLATES = st.one_of(
    st.just(mark(_TEXT, 0)), st.integers(1, 20).map(lambda count: py.constant("word " * count))
)


def _prompt(template: Expression, positional: list[Expression], named: Named) -> ast.Call:
    return py.call(py.name("prompt"), [template, *positional], named.items())


def _called(positional: list[Expression], named: Named) -> ast.Call:
    return py.call(py.name("f"), positional, named.items())


_PROMPTS = st.builds(_prompt, _TEMPLATES, st.lists(_WIDE, max_size=2), _NAMED)
_LISTINGS = st.one_of(
    _ITEMS.map(py.list_),
    _ITEMS.filter(lambda items: len(items) > 1).map(py.tuple_),
    _NAMED.filter(bool).map(lambda named: py.dict_(list(named.items()))),
    st.builds(_called, _ITEMS, _NAMED),
)


@st.composite
def _statements(
    draw: st.DrawFn, listings: st.SearchStrategy[py.Listing]
) -> tuple[ast.stmt, py.Listing, dict[ast.AST, Sequence[str]]]:
    """A statement about a listing, that listing, and the lines of what is inside of it."""
    listing, target = draw(listings), draw(_WIDE_NAMES)
    value = draw(st.sampled_from([listing, py.attribute(listing, "value")]))
    made = [
        py.assignment(target, value),
        py.assignment(py.tuple_([target, py.name("b")]), value),
        py.annotated(target, draw(_WIDE), value),
        ast.Return(value),
        ast.Expr(value),
    ]
    inside = [node for node in ast.walk(listing) if isinstance(node, ast.List) and node.elts]
    with_comments = draw(st.sampled_from([None, *(node for node in inside if node is not listing)]))
    breaks: dict[ast.AST, Sequence[str]] = {}
    if isinstance(with_comments, ast.List):
        breaks[with_comments] = ["\n", *["  # comment\n"] * len(with_comments.elts)]
    return draw(st.sampled_from(made)), listing, breaks


def _assert_laid_out_as_black_does_it(
    statement: ast.stmt,
    depth: int,
    breaks: dict[ast.AST, Sequence[str]],
    prompts: Collection[Expression],
) -> None:
    code = Printer(breaks).simple(statement)
    if needs_layout(code, depth):
        laid_out = lay_out_listing(statement, depth, [_TEXT], breaks, prompts)
        assert laid_out in (None, lay_out(code, depth, [_TEXT]).rstrip("\n"))


@given(_statements(_PROMPTS), st.integers(0, 3))
@settings(deadline=None, max_examples=60)
def test_a_prompt_has_one_argument_a_line(
    about: tuple[ast.stmt, py.Listing, dict[ast.AST, Sequence[str]]], depth: int
) -> None:
    statement, prompt, breaks = about
    _assert_laid_out_as_black_does_it(statement, depth, breaks, [prompt])


@given(_statements(_LISTINGS), st.integers(0, 3))
@settings(deadline=None, max_examples=60)
def test_a_spread_listing_has_one_item_a_line(
    about: tuple[ast.stmt, py.Listing, dict[ast.AST, Sequence[str]]], depth: int
) -> None:
    statement, listing, breaks = about
    breaks = {**breaks, listing: [""] * (py.item_count(listing) + 1)}
    _assert_laid_out_as_black_does_it(statement, depth, breaks, [])


@given(_statements(_LISTINGS), st.integers(0, 3))
@settings(deadline=None, max_examples=60)
def test_a_long_list_or_dict_has_one_item_a_line(
    about: tuple[ast.stmt, py.Listing, dict[ast.AST, Sequence[str]]], depth: int
) -> None:
    statement, _, breaks = about
    _assert_laid_out_as_black_does_it(statement, depth, breaks, [])


@pytest.mark.parametrize(
    "script",
    [
        "x: int = $ a rather long prompt, which needs more than one line with all its {1 + 2} $",
        "a, b = 1, 2\nx = $\n  several\n  lines of {a}\n$",
        "xs = [\n    1,\n    2,\n]",
        'row = {\n    a: "one",\n    b: [1, 2],\n}',
        "f go(a: [int], b: [int]):\n"
        "    ret {first: a, second: b, third: [1, 2, 3], fourth: a[0] + b[0]}",
        "f go(a: int, b: int):\n    ret go(\n        a,\n        b - 1,\n    )",
    ],
)
def test_what_is_ours_to_lay_out_needs_no_black(
    script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = compile_text(script + "\n").text
    asked: list[str] = []
    monkeypatch.setattr(layout, "black_format", lambda code, _: asked.append(code) or code)
    assert compile_text(script + "\n").text == expected
    assert asked == []


@given(st.text())
def test_a_string_reads_back(text: str) -> None:
    assert ast.literal_eval(quoted(text)) == text
