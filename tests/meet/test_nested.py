"""Each part that a script may have, around each other one, in a script of the two alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import pytest

from tests.meet.scripts import CUSTOMERS, SCRIPTS, Script, settle
from tests.meet.table import TRIED, pair
from tests.support.homes import Home

IMPORT_OF_CUSTOMERS = "from customers import Customer\n"
IMPORT_OF_SEARCH = 'from mcp("docs") import search\n'


@dataclass(frozen=True)
class Around:
    """The body of a script around calls of `inner`, which is defined above it.

    `asked` are its own requests, `calls` those of `inner`; `value` takes what `inner` gives for a
    word, which is `a` first.
    """

    text: str
    asked: int
    calls: int
    value: Callable[[Callable[[str], str]], str]
    head: str = ""


AROUND = {
    "overlap": Around(
        """\
f go(word: string) -> string:
    found = [inner(one) for one in [word, "b"]]
    ret join(found, ", ")
""",
        0,
        2,
        lambda inner: f"{inner('a')}, {inner('b')}",
    ),
    "try": Around(
        """\
f go(word: string) -> string:
    try:
        first = inner(word)
        n: int = $ Count {word} $
        ret f"{first} {n}"
    except error:
        second = inner(word)
        ret f"{error.kind} {second}"
""",
        2,
        2,
        lambda inner: f"contract {inner('a')}",
    ),
    "import": Around(
        "from library import inner\n\nf go(word: string) -> string:\n    ret inner(word)\n",
        0,
        1,
        lambda inner: inner("a"),
    ),
    "stream": Around(
        """\
f go(word: string) -> string:
    story = ""
    found = ""
    for piece in stream $ Story of {word} $:
        if story == "": found = inner(word)
        story = story + piece
    ret f"{story} {found}"
""",
        1,
        1,
        lambda inner: f"Once there was A. {inner('a')}",
    ),
    "program": Around(
        """\
/// The size of what is found.
f size(text: string) -> int:
    ret len(inner(text))

f go(word: string) -> string:
    n: int = program $ Measure {word} with {size}. $
    ret f"size {n}"
""",
        1,
        1,
        lambda inner: f"size {len(inner('a'))}",
    ),
    "after": Around(
        """\
f go(word: string) -> string:
    chat = $ Title of {word} $
    found = inner(word)
    again = $ Say it again. $ after chat
    ret f"{found} {again}"
""",
        2,
        1,
        lambda inner: f"{inner('a')} A! again",
    ),
    "pydantic": Around(
        """\
f go(word: string) -> string:
    found: Customer = $ Customer {word} $
    other = inner(found.name)
    ret f"{found.age} {other}"
""",
        1,
        1,
        lambda inner: f"30 {inner('a')}",
        IMPORT_OF_CUSTOMERS,
    ),
    "mcp": Around(
        """\
f go(word: string) -> string:
    found = search(inner(word))[0].title
    said = $ Find {word} with {search}. $
    ret f"{found} {said}"
""",
        2,
        1,
        lambda inner: f"{inner('a')} found a",
        IMPORT_OF_SEARCH,
    ),
}
# What `go` of a script gives for a word.
INNER: dict[str, Callable[[str], str]] = {
    "overlap": lambda word: f"{word.upper()}! B! C!",
    "try": lambda word: f"contract {word.upper()}!",
    "import": lambda word: f"{word.upper()}!",
    "stream": lambda word: f"Once there was {word.upper()}.",
    "program": lambda word: f"size {len(word)}",
    "after": lambda word: "A! again",
    "pydantic": lambda word: f"{word} 30",
    "mcp": lambda word: f"{word} found a",
}


def _note(around: str, inside: str) -> str:
    name = f"{around} around {inside}"
    TRIED.setdefault(pair(around, inside), []).append(f"{__name__}::{name}")
    return name


def _combined(around: Around, inside: Script) -> Script:
    """The script that has the other one's function inside."""
    inner = inside.text.replace("f go(", "f inner(")
    imports = [line for line in inner.splitlines(keepends=True) if line.startswith("from ")]
    body = "".join(line for line in inner.splitlines(keepends=True) if line not in imports)
    files = {"customers.py": CUSTOMERS, **inside.files}
    if "library" in around.text:
        return Script(around.text, "", 0, {**files, "library.saft": inner})
    head = "".join(dict.fromkeys([*imports, *around.head.splitlines(keepends=True)]))
    if "f size(" in around.text:  # the other program has a tool of this name, too
        body = body.replace("size(", "length(").replace("{size}", "{length}")
    return Script(f"{head}\n{body}\n{around.text}", "", 0, files)


@pytest.mark.parametrize(
    ("around", "inside"), [pytest.param(*two, id=_note(*two)) for two in permutations(AROUND, 2)]
)
def test_a_part_around_another_one(around: str, inside: str, home: Home) -> None:
    outer, inner = AROUND[around], SCRIPTS[inside]
    script = _combined(outer, inner)
    settle(home, script)
    home.write("main.saft", 'from part import go\nprint(go("a"))\n')
    ended = home.saftc("run", "main.saft")
    assert (ended.code, ended.out) == (0, f"{outer.value(INNER[inside])}\n"), ended.err
    assert len(home.asked) == outer.asked + outer.calls * inner.requests
