"""Tokens to a tree: how operators group, where nodes stand, and reading on after a mistake."""

import pytest

from saftc.diagnostics.model import Collector
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.parser import parse
from tests.compiler.support import codes_of, diagnostics_of

pytestmark = pytest.mark.one_python


def _module(text: str) -> n.Module:
    found = Collector()
    module = parse(Source.from_text("in.saft", text), found)
    assert found.report() == ()
    return module


def _grouped(node: n.Node) -> str:
    """An expression with all its parentheses."""
    match node:
        case n.Name():
            return node.text
        case n.Literal():
            return repr(node.value)
        case n.Unary():
            return f"({node.operator} {_grouped(node.operand)})"
        case n.Binary() | n.Comparison() | n.Logical():
            return f"({_grouped(node.left)} {node.operator} {_grouped(node.right)})"
        case n.Conditional():
            then, condition, other = map(_grouped, (node.then, node.condition, node.other))
            return f"({then} if {condition} else {other})"
        case n.Index():
            return f"{_grouped(node.value)}[{_grouped(node.key)}]"
        case n.Member():
            return f"{_grouped(node.value)}.{node.name.text}"
        case n.TupleMember():
            return f"{_grouped(node.value)}.{node.position}"
        case n.Call():
            return f"{_grouped(node.function)}()"
        case _:
            raise AssertionError(type(node).__name__)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a * b + c", "((a * b) + c)"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b * c % d", "(((a / b) * c) % d)"),
        ("(a + b) * c", "((a + b) * c)"),
        ("-a * b", "((- a) * b)"),
        ("-a.b", "(- a.b)"),
        ("- -a", "(- (- a))"),
        ("a - -b", "(a - (- b))"),
        ("not a == b", "(not (a == b))"),
        ("not a and b", "((not a) and b)"),
        ("a and b or c and d", "((a and b) or (c and d))"),
        ("a or b or c", "((a or b) or c)"),
        ("not not a", "(not (not a))"),
        ("a + b < c * d", "((a + b) < (c * d))"),
        ("a not in b", "(a not in b)"),
        ("a in b and c", "((a in b) and c)"),
        ("a if b else c if d else e", "(a if b else (c if d else e))"),
        ("a or b if c or d else e", "((a or b) if (c or d) else e)"),
        ("a.b[c].d()", "a.b[c].d()"),
        ("a.0.1.b", "a.0.1.b"),
        ("a[0].1", "a[0].1"),
        ("a()()[1]", "a()()[1]"),
    ],
)
def test_grouping(text: str, expected: str) -> None:
    (statement,) = _module(text).statements
    assert isinstance(statement, n.ExpressionStmt)
    assert _grouped(statement.value) == expected


def test_nodes_stand_where_their_text_stands() -> None:
    text = "x: [int] = [a + 1, b(c, d: 2)]  // note\n"
    source = Source.from_text("in.saft", text)
    (statement,) = parse(source, Collector()).statements
    assert isinstance(statement, n.AssignStmt) and isinstance(statement.value, n.ListLiteral)
    first, second = statement.value.items
    assert isinstance(second, n.Call)
    assert source.at(statement.span) == "x: [int] = [a + 1, b(c, d: 2)]"
    assert [source.at(item.span) for item in (first, second)] == ["a + 1", "b(c, d: 2)"]
    assert [source.at(argument.span) for argument in second.arguments] == ["c", "d: 2"]
    assert statement.schema is not None and source.at(statement.schema.span) == "[int]"


def test_prompt_text_is_cleaned_and_unescaped() -> None:
    (statement,) = _module("x = $\n    a \\{b\\} {c}\n      d\\$\n$\n").statements
    assert isinstance(statement, n.AssignStmt) and isinstance(statement.value, n.Prompt)
    texts = [part.text for part in statement.value.parts if isinstance(part, n.PromptText)]
    assert texts == ["a {b} ", "\n  d$"]


def test_doc_comments_find_their_nodes() -> None:
    found = Collector()
    text = (
        "/// module\n\n/// function\n/// more\nf go(\n    /// above\n    a: int,\n"
        "    b: int, /// beside\n):\n    nil\n\n/// record\ntype T(x: int) /// not for x\n"
    )
    module = parse(Source.from_text("in.saft", text), found)
    assert [diagnostic.code for diagnostic in found.report()] == ["SAFT0612"]
    function, record = module.statements
    assert isinstance(function, n.FunctionDef) and isinstance(record, n.RecordDef)
    assert module.docs[function] == "function\nmore"
    assert [module.docs[parameter] for parameter in function.parameters] == ["above", "beside"]
    assert module.docs[record] == "record"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Three mistakes, three errors.
        ("x = = 1\ny = 2 +\nz = [1,,2]\n", ["SAFT0120"] * 3),
        # A mistake inside a block hides neither its neighbours nor the next statement.
        ("if true:\n    x = = 1\n    y = * 2\nz = / 3\n", ["SAFT0120"] * 3),
        # A broken head: its block is read all the same.
        ("if x = 1:\n    y = = 2\nelse:\n    z = unknown\n", ["SAFT0120", "SAFT0120", "SAFT0203"]),
        ("for in xs:\n    y = = 2\n", ["SAFT0120"] * 2),
        ("f go(:\n    ret 1\n", ["SAFT0109"]),
        # What a broken line may have defined is not unknown below it.
        ("x = 1 +\nprint(x)\n", ["SAFT0120"]),
        ("f go(a:\n    ret a\nprint(go(1))\n", ["SAFT0109"]),
        # Stray indentation is one mistake.
        ("x = 1\n    y = 2\n    z = 3\nprint(x, y, z)\n", ["SAFT0123"]),
        ("x = 1\n        y = 2\n    z = 3\n", ["SAFT0123", "SAFT0104"]),
        # Below an unclosed bracket the next lines are read as code.
        ("x = (1 + 2\ny = unknown\nz = = 1\n", ["SAFT0109", "SAFT0203", "SAFT0120"]),
        ("else:\n    x = 1\nprint(unknown)\n", ["SAFT0120", "SAFT0203"]),
        # Nothing is said about what was put in for a line.
        ("x = 3\nif x > 2:\nelse:\n", ["SAFT0121", "SAFT0121"]),
        ("if true:\n    nil\nelse:\n    nil\nelse:\n    y = = 2\n", ["SAFT0120"] * 2),
        ("if true:\n    nil\nelse = 3\n", ["SAFT0120"]),
        ("f a b():\n    ret 1\nf c d():\n    ret 2\n", ["SAFT0120"] * 2),
        ('if true:\n    "never\n(\nprint(1)\n', ["SAFT0105", "SAFT0109"]),
        # A line that cannot be read takes no other with it.
        ("print(unknown)\n# = 1\n", ["SAFT0203", "SAFT0102"]),
    ],
)
def test_reading_goes_on_after_a_mistake(text: str, expected: list[str]) -> None:
    assert sorted(codes_of(text)) == sorted(expected), diagnostics_of(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("if x = 1:\n    nil\n", "write `==` to compare"),
        ("def go(x):\n    nil\n", "a function begins with `f`"),
        ("return 1\n", "write `ret`"),
        ("let x = 1\n", "an assignment needs no word before it"),
        ("x = 2 ** 3\n", "there is no power operator"),
        ("if true:\n    nil\nelse if true:\n    nil\n", "write `elif`"),
        ("x = $ {} $\n", r"write `\{` for a brace in the text"),
        ("x = $ a $ b $\n", r"`\$` is a dollar sign"),
        ("x = ask $ a $\n", "only `do`, `program` and `stream` can precede a prompt"),
        ("x = 'a'\n", 'write strings in double quotes: `"..."`'),
        ("x = 1 # a\n", "a comment begins with `//`"),
        ("x = !y\n", "write `not`"),
        ("x = a && b\n", "write `and`"),
    ],
)
def test_hints_for_what_people_bring_along(text: str, words: str) -> None:
    assert words in diagnostics_of(text)
