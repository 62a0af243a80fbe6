"""A script that is checked after a change, with what was known of it before, is as checked anew."""

import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

from saftc.driver import Checked, check
from saftc.semantics.types import show
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


def _steps(dice: random.Random) -> Iterator[str]:
    """The texts that a script has one after the other."""
    texts = ["\n".join(dice.choice(_TEXTS) for _ in range(dice.randint(1, 3)))]
    for _ in range(dice.randint(3, 12)):
        yield texts[-1]
        is_undone = len(texts) > 1 and dice.random() < 0.1
        texts.append(texts[-2] if is_undone else _changed(texts[-1], dice))


def _data(value: object) -> object:
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
    """What an editor shows of names and values, in order of the text."""
    facts, found = checked.facts, list[object]()
    for node in walk(checked.module):
        type_, symbol = facts.types.get(node), facts.names.symbols.get(node)
        coercion = facts.coercions.get(node)
        where = None if symbol is None or symbol.node is None else symbol.node.span
        found.append(
            (
                node.span,
                None if type_ is None else show(type_),
                None if symbol is None else (symbol.name, symbol.kind, where),
                None if coercion is None else (coercion.fit, show(coercion.wanted)),
            )
        )
    return found


@pytest.mark.parametrize("seed", range(60))
def test_a_change_gives_what_the_whole_text_gives(seed: int) -> None:
    dice = random.Random(seed)
    most = dice.choice((None, 20))
    before: Checked | None = None
    for text in _steps(dice):
        source = Source.from_text("in.saft", text)
        anew, after = check(source, most=most), check(source, most=most, before=before)
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


def _statement_at(checked: Checked, line: int) -> n.Statement:
    starts = {checked.source.line_of(one.span.start): one for one in checked.module.statements}
    return starts[line]


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
    # What stands above is the same tree, what stands below the same at its new place.
    assert _statement_at(after, 3) is _statement_at(before, 3)
    assert _statement_at(after, 9).span.start == _statement_at(before, 9).span.start + 1


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
