"""A script that is checked after a change, with what was known of it before, is as checked anew."""

import random
import re
from collections import ChainMap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from saftc.driver import Checked, check
from saftc.semantics.facts import Facts
from saftc.semantics.inference.context import Inference, Unit
from saftc.semantics.names import Symbol
from saftc.semantics.types import Type, show
from saftc.source import Source, common_ends
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from tests.compiler.support import ROOT

pytestmark = pytest.mark.one_python

_TEXTS = [
    path.read_text(encoding="utf-8", errors="surrogateescape")
    for folder in ("examples", "tests/cases", "tests/goldens")
    for path in sorted((ROOT / folder).rglob("*.saft"))
]
# What is written or removed in the middle of other things, and changes how far-off text is read.
_PIECES = (
    *("$", "(", ")", "[", "{", "}", '"', '"""', 'f"', "'''", "#", "`", "??", ":", ","),
    *("\n", "\n\n", "    ", " ", "else:\n", "if x:\n    ", "f g(a):\n    ret a\n", "x = 1\n"),
    *("$ a $", "// x", "// $\n", "\n// c\n", "/// doc\n", "tag", "missing", "é", "\t", "\\"),
)


_WORD = re.compile(r"[A-Za-z_]\w*|\d+")


def _changed(text: str, dice: random.Random) -> str:
    start = dice.randint(0, len(text))
    kind = dice.random()
    if kind < 0.4:
        return text[:start] + dice.choice(_PIECES) + text[start:]
    if kind < 0.6:
        return text[:start] + text[start + dice.randint(1, 3) :]
    if kind < 0.8:
        return text[:start] + dice.choice(("", *_PIECES)) + text[start + dice.randint(1, 200) :]
    other = dice.choice(_TEXTS)
    first = dice.randint(0, len(other))
    return text[:start] + other[first : first + dice.randint(1, 80)] + text[start:]


def _rewritten(text: str, dice: random.Random) -> str:
    """A text in which a word or a line is another one of it: most of it still means something."""
    lines, at = text.split("\n"), dice.randrange(text.count("\n") + 1)
    kind = dice.random()
    if kind < 0.2:
        return "\n".join([*lines[:at], *lines[at + 1 :]])
    if kind < 0.3:
        return "\n".join([*lines[:at], lines[at], *lines[at:]])
    words = list(_WORD.finditer(text))
    if not words:
        return text
    one = dice.choice(words)
    same = [each for each in words if each.group()[0].isdigit() == one.group()[0].isdigit()]
    other = dice.choice(same).group() if kind < 0.8 else dice.choice(("1", '"s"', "nil", "[]", "x"))
    return text[: one.start()] + other + text[one.end() :]


def _steps(dice: random.Random) -> Iterator[str]:
    """The texts that a script has one after the other."""
    texts = ["\n".join(dice.choice(_TEXTS) for _ in range(dice.randint(1, 3)))]
    change = dice.choice((_changed, _rewritten))
    for _ in range(dice.randint(3, 12)):
        yield texts[-1]
        is_undone = len(texts) > 1 and dice.random() < 0.1
        texts.append(texts[-2] if is_undone else change(texts[-1], dice))


def _data(value: Any) -> object:
    """A tree as data, with all its places."""
    if isinstance(value, n.Module):
        docs = sorted((node.span, text) for node, text in value.docs.items())
        documenting = [
            (comment, node and node.span) for comment, node in value.doc_comments.items()
        ]
        return (
            *(_data(value.statements), value.comments, docs, value.doc, documenting),
            sorted(value.guessed),
        )
    if is_dataclass(value):
        return type(value), *(_data(getattr(value, field.name)) for field in fields(value))
    if type(value) is tuple:
        return tuple(map(_data, value))
    return type(value), value


def _known(checked: Checked) -> list[object]:
    """What is known of names and values, in order of the text, as data."""
    facts, found = checked.facts, list[object]()
    for node in walk(checked.module):
        symbol, coercion = facts.names.symbols.get(node), facts.coercions.get(node)
        function = facts.functions.get(node) if isinstance(node, n.FunctionDef) else None
        found.append(
            (
                node.span,
                _shown(facts.types.get(node)),
                _shown(facts.prompts.get(node)) if isinstance(node, n.Prompt) else None,
                node in facts.whole_results,
                None if coercion is None else (coercion.fit, show(coercion.wanted)),
                None if symbol is None else _meant(symbol, facts),
                # Nothing is written of a script with errors.
                not checked.has_errors
                and [
                    _plain(getattr(facts.forms, one.name).get(node)) for one in fields(facts.forms)
                ],
                None
                if function is None
                else (
                    [*map(show, function.parameters), show(function.returns)],
                    function.can_lack_value,
                    {at: len(given) for at, given in function.from_calls.items()},
                    node in facts.history.does,
                ),
            )
        )
    shapes = (facts.read_shapes, facts.keyed_shapes)
    if not checked.has_errors:
        # A table that is not named here has at least as much in it.
        tables = [*_tables(facts), *_tables(facts.forms)]
        found += [(name, len(table)) for name, table in tables]
    return [*found, *(sorted(str([_plain(f) for f in one]) for one in each) for each in shapes)]


def _tables(facts: Any) -> list[tuple[str, Any]]:
    named = [(one.name, getattr(facts, one.name)) for one in fields(facts)]
    return [(name, table) for name, table in named if isinstance(table, dict | set | ChainMap)]


def _meant(symbol: Symbol | None, facts: Facts) -> object:
    """A symbol as data."""
    if symbol is None:
        return None
    return (
        *(symbol.name, symbol.kind, symbol.starts_late, symbol.is_captured, symbol.is_read),
        None if symbol.node is None else symbol.node.span,
        *(_meant(symbol.starts_from, facts), _meant(symbol.hides, facts)),
        *(_shown(facts.symbols.get(symbol)), symbol in facts.names.unset),
    )


def _shown(type_: Type | None) -> str | None:
    return None if type_ is None else show(type_)


def _plain(value: Any) -> object:
    """A form as data."""
    if isinstance(value, n.Node):
        return value.span
    if isinstance(value, Type):
        return show(value)
    if is_dataclass(value):
        return type(value), *(_plain(getattr(value, field.name)) for field in fields(value))
    if type(value) is tuple:
        return tuple(map(_plain, value))
    return value


@pytest.mark.parametrize("seed", range(60))
def test_a_change_gives_what_the_whole_text_gives(seed: int) -> None:
    dice = random.Random(seed)
    most = dice.choice((None, 20))
    before: Checked | None = None
    for text in _steps(dice):
        source = Source.from_text("in.saft", text)
        anew, like = check(source, most=most), check(source, most=most, like=before)
        assert _data(like.module) == _data(anew.module)
        after = check(source, most=most, before=before)
        assert after.parsed.lexed == anew.parsed.lexed
        assert _data(after.module) == _data(anew.module)
        assert after.diagnostics == anew.diagnostics
        assert _known(after) == _known(anew)
        before = after


@pytest.mark.parametrize(
    ("text", "later"),
    [
        # Whether the second `$` is a stray one, the line below tells.
        ("y = $\n  foo $ bar\nz = 3\n", "y = $\n  foo $ bar\nz = 3 $\n"),
        # What closes a bracket, or is a comment, may stand far below.
        ("x = (1,\ny = 2\nz = 3\n", "x = (1,\ny = 2\nz = 3)\n"),
        ("x = ''' a\ny = 2\nz = 3\n", "x = ''' a\ny = 2\nz = 3 '''\n"),
    ],
)
def test_what_text_far_below_tells(text: str, later: str) -> None:
    for one, other in ((text, later), (later, text)):
        before, source = check(Source.from_text("in.saft", one)), Source.from_text("in.saft", other)
        after, anew = check(source, before=before), check(source)
        assert after.parsed.lexed == anew.parsed.lexed
        assert after.diagnostics == anew.diagnostics


def test_what_did_not_change_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from saftc.syntax import parser

    read: list[str] = []
    parse = parser.parse_statement
    monkeypatch.setattr(
        parser,
        "parse_statement",
        lambda tokens: read.append(tokens[0].text) or parse(tokens),  # type: ignore[func-returns-value]
    )
    text = "".join(f"name{number} = {number}\n" for number in range(10))
    before = check(Source.from_text("in.saft", text))
    assert read == [f"name{number}" for number in range(10)]
    read.clear()
    after = check(Source.from_text("in.saft", text.replace("= 5", "= 55")), before=before)
    assert read == ["name5"]
    # What stands above and below is the same tree, at the place where it is now.
    at = 9 * len("name0 = 0\n")
    assert [one.span.start for one in after.module.statements[8:]] == [at + 1 - 10, at + 1]
    assert after.module.statements[9] is before.module.statements[9]


def _inferred_after(
    monkeypatch: pytest.MonkeyPatch, text: str, later: str
) -> tuple[list[str], Checked]:
    """The units that are inferred once a script has changed, by name, and what it is then."""
    from saftc.semantics.inference import units

    inferred: list[str] = []
    infer = units._infer  # pyright: ignore[reportPrivateUsage]

    def noting(inference: Inference, unit: Unit) -> None:
        inferred.append(unit.name.text if not isinstance(unit, n.Module) else "")
        infer(inference, unit)

    before = check(Source.from_text("in.saft", text))
    monkeypatch.setattr(units, "_infer", noting)
    after = check(Source.from_text("in.saft", later), before=before)
    monkeypatch.setattr(units, "_infer", infer)
    assert _known(after) == _known(check(Source.from_text("in.saft", later)))
    return list(dict.fromkeys(inferred)), after


_FUNCTIONS = """
limit = 3

f double(n: int):
    ret n * 2

f first(n: int):
    ret double(n) + 1

f second(n: int):
    ret str(first(n))

f most():
    ret limit

f shown(x):
    ret x

print(second(limit), most(), shown(limit))
"""


@pytest.mark.parametrize(
    ("old", "new", "inferred"),
    [
        # What a function gives has stayed the same: only who names it is inferred again.
        ("n * 2", "n * 20", ["double", "first"]),
        # It has not: nor has what those give that call it, up to the one that makes a text of it.
        ("n * 2", "n * 2.5", ["double", "first", "second"]),
        # `shown` takes what its calls pass, so it goes with them.
        ("limit = 3", "limit = 30", ["", "shown"]),
        ("limit = 3", "limit = 3.5", ["", "shown", "most"]),
        ("ret x", "ret [x]", ["", "shown"]),
    ],
)
def test_what_hears_nothing_new_is_not_inferred_again(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str, inferred: list[str]
) -> None:
    found, _ = _inferred_after(monkeypatch, _FUNCTIONS, _FUNCTIONS.replace(old, new))
    assert found == inferred


def test_a_function_with_a_mistake_is_told_of_until_it_is_mended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = _FUNCTIONS.replace("ret limit", "ret limit + nil")
    _, after = _inferred_after(monkeypatch, wrong, wrong.replace("n * 2", "n * 3"))
    assert [one.code for one in after.diagnostics] == ["SAFT0302"]


def test_a_statement_that_stands_twice_is_two_trees() -> None:
    before = check(Source.from_text("in.saft", "x = 1\nprint(x)\nprint(x)\n"))
    text = "x = 1\nprint(x)\nprint(x)\nprint(x)\n"
    after = check(Source.from_text("in.saft", text), before=before)
    assert len({id(one) for one in after.module.statements}) == 4
    assert [after.source.at(one.span) for one in after.module.statements] == text.split("\n")[:-1]


@pytest.mark.parametrize(
    ("one", "other", "ends"),
    [
        ("", "", (0, 0)),
        ("abc", "abc", (3, 0)),
        ("abc", "abxc", (2, 1)),
        ("aa", "aaa", (2, 0)),
        ("abc", "xyz", (0, 0)),
        ("xbc", "abc", (0, 2)),
    ],
)
def test_common_ends(one: str, other: str, ends: tuple[int, int]) -> None:
    assert common_ends(one, other) == ends
