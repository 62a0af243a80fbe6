"""Which prompts could be asked at the same time as others, and which line is why not."""

from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest

from saftc.check.facts import Facts
from saftc.check.names import Symbol
from saftc.driver import check
from saftc.effects.effects import Effects
from saftc.effects.variables import VariableFlow
from saftc.overlap.explanations import explanations_of
from saftc.overlap.plan import Plan, plan
from saftc.overlap.settings import Overlapping
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import children, walk
from saftc.types.types import STRING
from tests.compiler.support import ROOT, compile_file, compile_text

pytestmark = pytest.mark.one_python

# Each prompt below carries a line of its own: what is told of it, and of which line.
FUNCTIONS = """
f triage(mail: string) -> string:
    ret $ Triage {mail} $
f last() -> string:
    ret $ Which one? {latest} $
f noisy(mail: string) -> string:
    print(mail)
    ret $ Hear {mail} $
f strict(mail: string) -> string:
    assert mail != ""
    ret mail
mails = ["a", "b"]
latest = "x"
found: [string] = []
"""
AHEAD = "for the next items of the loop"
SEVERAL = "for several items at once"
BESIDE = "with those that are beside it"

CASES = {
    "a comprehension": ("all = [triage(mail) for mail in mails]", SEVERAL),
    "a condition": ('all = [$ {mail} $ for mail in mails if mail != "x"]', SEVERAL),
    "the condition sends prompts": (
        "all = [mail for mail in mails if $ {mail}? $ == mail]",
        "the condition sends prompts",
    ),
    "two clauses": (
        "all = [$ {a} {b} $ for a in mails for b in mails]",
        SEVERAL,
    ),
    "a loop": ("for mail in mails:\n    print($ {mail} $)", AHEAD),
    "prints and files": (
        "for mail in mails:\n    text = read_text(mail)\n    print(text)\n    found = found + "
        "[$ {text} $]\n    write_text(mail, text)",
        AHEAD,
    ),
    "a stream for each item": (
        "for mail in mails:\n    print(stream $ {mail} $)",
        "a stream delivers its pieces in order",
    ),
    "the pieces of a stream": (
        "for piece in stream $ all $:\n    print($ {piece} $)",
        "a stream delivers its pieces in order",
    ),
    "a value of the item before": (
        'story = ""\nfor mail in mails:\n    story = $ {mail} {story} $\nprint(story)',
        "it needs `story` of the item before",
    ),
    "a name that a function reads": (
        "for mail in mails:\n    latest = mail\n    print(last())",
        "it needs `latest` of the item before",
    ),
    "a list that is read": (
        "for mail in mails:\n    found = found + [$ {mail} {found} $]",
        "it needs `found` of the item before",
    ),
    "assert": (
        'for mail in mails:\n    verdict = $ {mail} $\n    assert verdict != ""',
        "`assert` may stop the script",
    ),
    "assert in a function": (
        "for mail in mails:\n    print($ {strict(mail)} $)",
        "`assert` may stop the script",
    ),
    "break": (
        'for mail in mails:\n    if $ {mail} $ == "":\n        break',
        "`break` may end the loop",
    ),
    "ret": (
        "f first() -> string:\n    for mail in mails:\n        verdict = $ {mail} $\n        "
        'if verdict != "":\n            ret verdict\n    ret ""\nprint(first())',
        "`ret` may end the loop",
    ),
    "an index": (
        "for mail in mails:\n    print($ {mails[1]} $)",
        "`mails` may not have such an item",
    ),
    "a division": (
        "for mail in mails:\n    print($ {1 / len(mail)} $)",
        "it may be a division by zero",
    ),
    "a conversion": ("for mail in mails:\n    print($ {int(mail)} $)", "`int` may fail"),
    "while": (
        "for mail in mails:\n    while $ go on? $ == mail:\n        print(mail)",
        "`while` may never end",
    ),
    "a file that is written above": (
        "for mail in mails:\n    write_text(mail, mail)\n    print($ {mail} $)",
        "`write_text` must wait for everything before it",
    ),
    "the user is asked": (
        "for mail in mails:\n    answer = input(mail)\n    print($ {answer} $)",
        "`input` waits for the user",
    ),
    "imported Python": (
        "from random import choice\nfor mail in mails:\n    print($ {choice([mail])} $)",
        "the result of `choice` is of unknown type, and might be a function, and so a tool",
    ),
    "what is not known": (
        "f go(mails):\n    for mail in mails:\n        print($ {mail.name} $)\ngo([])",
        "`mail.name` is of unknown type, and might be a function, and so a tool",
    ),
    "a value of unknown type": (
        "f go(most):\n    for mail in mails:\n        print($ {mail} $, upper(most))\ngo(nil)",
        "`most` is of unknown type: it may not be a value that `upper` takes",
    ),
    "a condition that prints": (
        "all = [$ {mail} $ for mail in mails if print(mail)]",
        "the condition prints",
    ),
    "a tool that prints": ("all = [$ {mail} {noisy} $ for mail in mails]", SEVERAL),
    "continue before the rest": (
        'for mail in mails:\n    if mail == "x":\n        continue\n    verdict = $ {mail} $\n'
        "    write_text(mail, verdict)",
        AHEAD,
    ),
    "a value on some paths": (
        'verdict = ""\nfor mail in mails:\n    if mail == "x":\n        verdict = $ {mail} $\n'
        "    found = found + [mail]\nprint(verdict)",
        "`verdict` is assigned on some paths only",
    ),
    "a formatted string": ('for mail in mails:\n    print($ {f"{mail}: {len(mail):,}"} $)', AHEAD),
    "a format for any number": ('for mail in mails:\n    print($ {f"{len(mail):.1f}"} $)', AHEAD),
    "what fails is caught": (
        "for mail in mails:\n    n = 0\n    try:\n        n = int($ {mail} $)\n    except:\n"
        "        n = 1\n    print(n)",
        AHEAD,
    ),
    "what does not end is not caught": (
        "for mail in mails:\n    try:\n        while $ {mail} $ == mail:\n            print(mail)\n"
        "    except:\n        print(mail)",
        "`while` may never end",
    ),
    "fail": (
        'for mail in mails:\n    if $ {mail} $ == "":\n        fail "empty"',
        "`fail` may stop the script",
    ),
    "a failure around a loop": (
        "try:\n    for mail in mails:\n        print($ {mail} $)\nexcept error:\n    print(error)",
        AHEAD,
    ),
    "what is read after a failure": (
        'had = ""\ntry:\n    for mail in mails:\n        had = $ {mail} $\nexcept:\n    print(had)',
        "`had` may be read when a prompt has failed",
    ),
    "spreads": ("for mail in mails:\n    found = [...found, mail, $ {mail} $]", AHEAD),
    "unpacking": ('for mail in mails:\n    a, b = (mail, "x")\n    print($ {a} {b} $)', AHEAD),
    "unpacking what may be too short": (
        "for mail in mails:\n    a, b = mails\n    print($ {a} {b} $)",
        AHEAD,
    ),
    "a computed key": (
        "for mail in mails:\n    row = {[mail]: 1}\n    print($ {row} $)",
        AHEAD,
    ),
    "going on with a conversation": (
        "for mail in mails:\n    one = $ {mail} $\n    print($ And? $ after one)",
        AHEAD,
    ),
    "side by side and read after a failure": (
        'one = ""\ntry:\n    one = $ a $\n    two = $ b $\n    print(two)\nexcept:\n    print(one)',
        None,
    ),
    "side by side": ("one = $ {latest} $\ntwo = triage(latest)\nprint(one, two)", BESIDE),
    "a value that a function may not have": (
        'f maybe(mail: string) -> string:\n    if mail == "x":\n        late = mail\n'
        "    ret $ Hear {mail} {late} $\nall = [maybe(mail) for mail in mails]",
        "`late` may have no value",
    ),
    "one needs the other": ("one = $ {latest} $\ntwo = $ {one} $\nprint(one, two)", None),
    "a print between": ("one = $ {latest} $\nprint(one)\ntwo = $ {latest} $\nprint(two)", None),
}


# What Python's library says of its functions is read.
WITH_LIBRARY = {
    "the day": (
        "from datetime import date\nfor mail in mails:\n    print($ {mail} {date.today()} $)",
        AHEAD,
    ),
    "the clock": (
        'import time\nfor mail in mails:\n    print($ {mail} {time.strftime("%d")} $)',
        AHEAD,
    ),
    "what measures": (
        "import time\nfor mail in mails:\n    start = time.time()\n    print($ {mail} $, start)",
        "the effects of `time` of Python are not known",
    ),
    "what Python calculates": (
        'import re\nfor mail in mails:\n    print($ {re.sub("a", "b", mail)} $)',
        "`re.sub` of Python may fail",
    ),
}


@pytest.mark.parametrize("name", [*CASES, *WITH_LIBRARY])
def test_what_is_told(name: str) -> None:
    text, expected = {**CASES, **WITH_LIBRARY}[name]
    folder = ROOT if name in WITH_LIBRARY else None
    compiled = compile_text(FUNCTIONS + text + "\n", folder=folder)
    errors = [one for one in compiled.checked.diagnostics if one.severity == "error"]
    assert not errors
    facts = compiled.checked.facts
    found = explanations_of(plan(facts))
    prompts = [node for node in walk(facts.module) if isinstance(node, n.Prompt)]
    # Those of the functions are told of where they are called.
    words = {found[prompt].words for prompt in prompts if prompt in found}
    assert words == ({expected} if expected is not None else set())
    assert all(one.may_overlap or one.way_out for one in found.values())


def test_a_function_of_a_class_is_declared_by_its_whole_name() -> None:
    text = FUNCTIONS + "from datetime import datetime\nfor mail in mails:\n"
    text += "    day: any = datetime.fromisoformat(mail)\n    print($ {mail} $)\n"
    facts = compile_text(text).checked.facts
    assert not plan(facts).loops
    assert plan(facts, Overlapping(pure=("datetime.datetime.fromisoformat",))).loops


def test_the_line_is_the_one_that_prevents_it() -> None:
    compiled = compile_text(FUNCTIONS + CASES["assert in a function"][0] + "\n")
    (one,) = explanations_of(plan(compiled.checked.facts)).values()
    source = compiled.checked.source
    assert source.at(one.place.span) == 'assert mail != ""'
    assert not one.may_overlap


def test_a_loop_without_prompts_is_not_looked_at() -> None:
    compiled = compile_text("for x in [1]:\n    print(x)\n")
    assert plan(compiled.checked.facts).notes == []


def _plan_of(tmp_path: Path, text: str, pure: tuple[str, ...] = ()) -> Plan:
    (tmp_path / "lib.py").write_text(_LIBRARY)
    (tmp_path / "in.saft").write_text(text)
    compiled = compile_file(tmp_path / "in.saft", Overlapping(pure=pure))
    assert compiled.text is not None, compiled.checked.diagnostics
    return plan(compiled.checked.facts, Overlapping(pure=pure))


_LIBRARY = """
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Annotated, Literal, NamedTuple, Optional

import pydantic
from annotated_types import Gt
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic import field_validator


class Color(Enum):
    RED = "red"


@dataclass
class Plain:
    name: str
    tags: list[str] = field(default_factory=list)

    def shout(self) -> str:
        return self.name.upper()

    @property
    def label(self) -> str:
        return self.name


class Point(NamedTuple):
    x: int


@dataclass
class Strict:
    name: str

    def __post_init__(self) -> None:
        print(self.name)


@dataclass
class Heir(Strict):
    size: int = 0


@dataclass
class Compared:
    name: str

    def __eq__(self, other: object) -> bool:
        return True


def made() -> list[str]:
    print("made")
    return []


@dataclass
class Filled:
    name: str
    tags: list[str] = field(default_factory=made)


class Model(BaseModel):
    name: str


Short = Annotated[str, StringConstraints(max_length=80, pattern="^[A-Z]")]


class Bounded(BaseModel):
    "All that is said of its fields is data."

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: str = Field(min_length=1, description="who it is", examples=["Ada"])
    age: Annotated[int, Gt(0), Field(lt=150)]
    share: Annotated[float | None, pydantic.Field(ge=-0.5)] = None
    price: pydantic.condecimal(gt=Decimal("0")) = Decimal("1.5")
    day: "date" = Field(default=date(2026, 1, 1), ge=date(2020, 1, 1))
    kind: Literal["a", "b"] = "a"
    titles: Optional[list[Short]] = Field(default_factory=list, max_length=3)
    inner: dict[str, Model] = {}


class Bounds(BaseModel, frozen=True):
    count: pydantic.PositiveInt


def upper(text: str) -> str:
    return text.upper()


class Called(BaseModel):
    name: Annotated[str, AfterValidator(upper)]


class Generated(BaseModel):
    name: str = Field(default_factory=made)


class Renamed(BaseModel):
    model_config = ConfigDict(alias_generator=upper)

    name: str


class Other(BaseModel):
    name: Annotated[str, upper]


class Valid(BaseModel):
    name: str

    @field_validator("name")
    @classmethod
    def check(cls, value: str) -> str:
        return value


def strict() -> Strict: ...
def plain() -> Plain: ...
def compared() -> Compared: ...
def anything(): ...
"""
_IMPORTS = "from lib import {0}\nnames = [\"a\", \"b\"]\n"
_LOOP = "for name in names:\n    one = $ first {{name}} $\n    print({0}, $ {{one}} $)\n"
_IN_ORDER = {
    "a constructor": ("Strict", "Strict(name).name"),
    "an inherited constructor": ("Heir", "Heir(name).name"),
    "a model": ("Model", "Model(name: name).name"),
    "a validator": ("Valid", "Valid(name: name).name"),
    "an Enum": ("Color", "Color(name).value"),
    "a default": ("Filled", "Filled(name).name"),
    "a property": ("Plain", "Plain(name).label"),
    "a method": ("Plain", "Plain(name).shout()"),
    "a conversion": ("Strict\nf g(x: any) -> Strict:\n    ret x", "g({name: name}).name"),
    "what is ordered by": (
        "anything\nkey = anything()\nf g(xs: [string]):\n    try:\n"
        "        ret sorted(xs, by: key)\n    except:\n        ret xs",
        "g(names)",
    ),
    "what is called back": (
        "anything\nimport re\nkey = anything()\nf g(x: string):\n    try:\n"
        '        ret re.sub("a", key, x)\n    except:\n        ret x',
        "g(name)",
    ),
    "an import inside": (
        "anything\nx = anything()\nf g():\n    from lib import plain\n    ret plain",
        "type(g())",
    ),
}
_TOGETHER = {
    "a plain class": ("Plain", "Plain(name).name"),
    "a tuple with names": ("Point", "Point(1).x"),
    "a member of an Enum": ("Color", "Color.RED.value"),
    "the name of a member": ("Color", "Color.RED.name"),
    "a field": ("plain\nx = plain()", "x.name"),
    "a comparison of a plain class": ("plain\nx = plain()", "x == x"),
    "the text of a plain class": ("plain\nx = plain()", "str(x)"),
    "a comparison": ("compared\nx = compared()", "x == x"),
    "a comparison inside": ("compared\nx = compared()", "[x] != [x]"),
    "the text of an unknown value": ("anything\nx = anything()", "str(x)"),
    "a typed prompt": ("Plain\nf g(name: string) -> Plain:\n    ret $ {name} $", "g(name).name"),
    "with a constructor": (
        "Strict\nf g(name: string) -> Strict:\n    ret $ {name} $",
        "g(name).name",
    ),
    **{
        f"a typed prompt of a model: {one}": (
            f"{one}\nf g(name: string) -> {one}:\n    ret $ {{name}} $",
            "g(name)",
        )
        for one in (
            *("Model", "Bounded", "Bounds", "Valid"),
            *("Called", "Generated", "Renamed", "Other"),
        )
    },
}


@pytest.mark.parametrize("name", _IN_ORDER)
def test_code_of_python_stays_in_order(name: str, tmp_path: Path) -> None:
    imported, expression = _IN_ORDER[name]
    found = _plan_of(tmp_path, _IMPORTS.format(imported) + _LOOP.format(expression))
    assert not found.loops


@pytest.mark.parametrize("name", _TOGETHER)
def test_what_runs_no_code_of_python_runs_ahead(name: str, tmp_path: Path) -> None:
    imported, expression = _TOGETHER[name]
    found = _plan_of(tmp_path, _IMPORTS.format(imported) + _LOOP.format(expression))
    assert found.loops


@pytest.mark.parametrize("name", ["a constructor", "a validator"])
def test_what_is_declared_pure_runs_ahead(name: str, tmp_path: Path) -> None:
    imported, expression = _IN_ORDER[name]
    text = _IMPORTS.format(imported) + _LOOP.format(expression)
    assert _plan_of(tmp_path, text, ("lib.*",)).loops


@dataclass(slots=True, eq=False)
class _New(n.Node):
    """A node of which no rule has heard, with something in it."""

    value: n.Node


def _renew(module: n.Module, facts: Facts, text: str) -> None:
    """Puts such a node in the place of the call that is written so, or of its statement."""
    for parent in [*walk(module)]:
        for field in fields(parent):
            value = getattr(parent, field.name)
            parts = value if isinstance(value, tuple) else (value,)
            found = [one for one in parts if isinstance(one, n.Node) and _is(one, text)]
            if found and not any(_is(parent, text) for _ in found):
                new = [_New(one.span, one) if one in found else one for one in parts]
                facts.types |= {one: STRING for one in new if isinstance(one, _New)}
                object.__setattr__(parent, field.name, tuple(new) if value is parts else new[0])


def _is(node: n.Node, name: str) -> bool:
    if isinstance(node, n.ExpressionStmt):
        return _is(node.value, name)
    is_call = isinstance(node, n.Call) and isinstance(node.function, n.Name)
    return is_call and node.function.text == name


@pytest.mark.parametrize(
    "text",
    [
        "for mail in mails:\n    one = $ {mail} $\n    print(upper(mail), one)\n",
        "for mail in mails:\n    one = $ {mail} $\n    upper(mail)\n    print(one)\n",
        "for mail in mails:\n    one = $ {mail} $\n    if mail == latest:\n        upper(mail)\n"
        "    print(one)\n",
        "all = [$ {mail} {upper(mail)} $ for mail in mails]\n",
        "all = [$ {mail} $ for mail in mails if upper(mail) != mail]\n",
        "one = $ a {latest} $\ntwo = $ b {upper(latest)} $\n",
        "f g(mail: string) -> string:\n    one = $ {mail} $\n    print(upper(mail))\n    ret one\n"
        "all = [g(mail) for mail in mails]\n",
        "f g(mail: string) -> string:\n    upper(mail)\n    ret $ {mail} $\n"
        "one = g(latest)\ntwo = g(latest)\n",
        "f g(mail: string) -> string:\n    try:\n        upper(mail)\n    except:\n"
        "        print(mail)\n    ret $ {mail} $\nall = [g(mail) for mail in mails]\n",
    ],
)
def test_a_node_that_no_rule_names_stays_in_order(text: str) -> None:
    facts = compile_text(FUNCTIONS + text).checked.facts
    found = plan(facts)
    assert found.loops or found.maps or found.groups
    _renew(facts.module, facts, "upper")
    found = plan(facts)
    assert not (found.loops or found.maps or found.groups)


def test_what_effects_and_certainty_know_of_each_kind_of_node() -> None:
    facts = compile_text("x = 1\n").checked.facts
    effects = Effects(facts)
    new = _New(Span(0, 0), facts.module)
    assert effects.of_node(new) == {"unknown"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "f a(n: int) -> string:\n    first = $ {n} $\n    assert n != 3\n    if n > 5:\n"
            "        ret b(n - 1)\n    ret first\nf b(n: int) -> string:\n    if n > 2:\n"
            "        ret a(n)\n    ret $ b {n} $\nfor n in [1]:\n    print(a(n))\n"
            "for n in [1, 3, 2]:\n    print(b(n))\n",
            "calls itself",
        ),
        (
            "f a(n: int) -> string:\n    if n > 0:\n        ret a(n - 1)\n    ret $ {n} $\n"
            "all = [a(n) for n in [1, 2]]\n",
            "calls itself",
        ),
        (
            "f a(n: int) -> string:\n    if n > 0:\n        ret a(n - 1)\n    ret $ {n} $\n"
            "for n in [1, 2]:\n    try:\n        print(a(n))\n    except:\n        print(n)\n",
            "calls itself",
        ),
        (
            "f a() -> string:\n    for mail in mails:\n        for one in mails:\n"
            "            if one == latest:\n                ret one\n        print($ {mail} $)\n"
            '    ret ""\nprint(a())\n',
            "`ret` may end the loop",
        ),
        (
            "f a(mail: string) -> bool:\n    while mail == latest:\n        print(mail)\n"
            "    ret true\nfor mail in mails:\n    one = $ {mail} $\n    try:\n"
            "        assert a(one)\n    except:\n        print(one)\n",
            "may never end",
        ),
        ("all = [$ {mail} $ for mail in mails if read_text(mail) != latest]\n", "reads"),
    ],
)
def test_what_may_be_seen_stays_in_order(text: str, expected: str) -> None:
    facts = compile_text(FUNCTIONS + text).checked.facts
    found = plan(facts)
    assert not (found.loops or found.maps)
    assert all(expected in one.words for one in explanations_of(found).values())


@pytest.mark.parametrize(
    "second",
    [
        '$ b {read_text("x")} $',
        '$ b {file("x")} $',
        'triage(read_text("x"))',
        "$ b $ with {model: read_text(latest)}",
    ],
)
def test_what_comes_first_in_a_later_prompt_waits_for_the_one_above(second: str) -> None:
    facts = compile_text(FUNCTIONS + f"one = $ a {{latest}} $\ntwo = {second}\n").checked.facts
    assert not plan(facts).groups


@pytest.mark.parametrize("second", ["triage(str(len(latest)))", "$ b {len(latest) + 0.5} $"])
def test_that_a_number_may_be_too_large_keeps_nothing_in_order(second: str) -> None:
    facts = compile_text(FUNCTIONS + f"one = $ a {{latest}} $\ntwo = {second}\n").checked.facts
    assert plan(facts).groups


def test_the_first_of_a_group_may_read() -> None:
    text = FUNCTIONS + 'one = $ a {read_text("x")} $\ntwo = $ b {latest} $\n'
    assert plan(compile_text(text).checked.facts).groups


@pytest.mark.parametrize("is_async", [False, True])
def test_long_chains_of_calls_are_planned(is_async: bool) -> None:
    calls = "".join(f"f f{i}(x: string) -> string:\n    ret f{i + 1}(x)\n\n" for i in range(250))
    text = f"{calls}f f250(x: string) -> string:\n    ret $ {{x}} $\n\n"
    text += 'for x in ["a", "b"]:\n    print(f0(x))\n'
    facts = check(Source.from_text("chain.saft", text)).facts
    planned = plan(facts, Overlapping(is_async=is_async))
    assert len(planned.loops) == 1
    assert planned.awaits is None or len(planned.awaits.functions) == 251


def test_each_of_many_loops_takes_as_long_to_be_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    read = VariableFlow.read

    def counted(self: VariableFlow, *nodes: n.Node) -> set[Symbol]:
        nonlocal looked
        looked += 1
        return read(self, *nodes)

    monkeypatch.setattr(VariableFlow, "read", counted)
    counts: list[int] = []
    for loops in (20, 40):
        text = "try:\n    " + "".join(
            f"for mail in mails:\n        one{i} = $ {{mail}} $\n        print(mail, one{i})\n    "
            for i in range(loops)
        )
        facts = compile_text(FUNCTIONS + text + "\nexcept:\n    print(latest)\n").checked.facts
        looked = 0
        assert len(plan(facts).loops) == loops
        counts.append(looked)
    assert counts[1] < counts[0] * 2.1


_JOB = """
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Job:
    run: Callable[[str], str]

    def __post_init__(self) -> None:
        self.told = self.run("x")
"""


def test_a_class_that_may_call_what_it_is_given_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(_JOB)
    asking = "f ask(x: string) -> string:\n    ret $ about {x} $\n"
    (tmp_path / "in.saft").write_text(f"from job import Job\n{asking}print(Job(ask).told)\n")
    compiled = compile_file(tmp_path / "in.saft", Overlapping(is_async=True))
    assert "await in_thread(Job, ask)" in (compiled.text or "")


_ORDER = """
from dataclasses import dataclass


@dataclass
class Order:
    status: str

    def __post_init__(self) -> None:
        assert self.status
"""
_COPIES = """
from shop import Order
for order in [Order("a"), Order("b")]:
    told = $ Tell {order.status} $
    print({...order, status: told})
"""


@pytest.mark.parametrize(("pure", "loops"), [((), 0), (("shop.Order",), 1)])
def test_a_copy_of_a_python_class_may_be_refused(
    tmp_path: Path, pure: tuple[str, ...], loops: int
) -> None:
    (tmp_path / "shop.py").write_text(_ORDER)
    (tmp_path / "in.saft").write_text(_COPIES)
    facts = compile_file(tmp_path / "in.saft", Overlapping(is_on=False)).checked.facts
    planned = plan(facts, Overlapping(pure=pure))
    assert len(planned.loops) == loops
    assert {one.way_out for one in explanations_of(planned).values()} == {
        None if loops else 'if it has no effects and does not fail: pure = ["shop.Order"]'
    }


def test_a_default_that_may_fail_stays_below_what_is_asked_above_it(tmp_path: Path) -> None:
    text = "type Even(n: int):\n    assert n % 2 == 0\nprint($ one $)\n"
    text += "f half(x = Even(3)):\n    ret x.n\nprint(half())\n"
    (tmp_path / "in.saft").write_text(text)
    compiled = compile_file(tmp_path / "in.saft", Overlapping(is_async=True))
    assert "    def half(" in (compiled.text or "")


def test_each_of_many_scripts_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = 10
    (tmp_path / "s0.saft").write_text(
        "import math\nf g0(x: string) -> string:\n    print(x)\n    ret $ {x} $\n"
    )
    for i in range(1, scripts):
        imports = "".join(f"from s{j} import g{j}\n" for j in range(i))
        calls = " + ".join(f"g{j}(x)" for j in range(i))
        text = f"{imports}f g{i}(x: string) -> string:\n    print(x)\n    ret {calls}\n"
        (tmp_path / f"s{i}.saft").write_text(text)
    (tmp_path / "in.saft").write_text(
        f'from s{scripts - 1} import g{scripts - 1} as g\nfor x in ["a", "b"]:\n    print(g(x))\n'
    )
    asked = list[n.Node]()

    def counted(node: n.Node) -> object:
        asked.append(node)
        return children(node)

    facts = compile_file(tmp_path / "in.saft").checked.facts
    monkeypatch.setattr("saftc.effects.effects.children", counted)
    for is_async in (False, True):
        asked.clear()
        assert plan(facts, Overlapping(is_async=is_async)).loops
        modules = (facts.module, *(one.module for one in facts.scripts))
        assert len(asked) <= 2 * sum(len([*walk(one)]) for one in modules)


_RINGS = """
latest = "x"
f leaf(n: int) -> string:
    ret read_text(str(n))
f even(n: int) -> string:
    if n > 0:
        ret odd(n - 1)
    ret leaf(n)
f odd(n: int) -> string:
    print(latest)
    ret even(n - 1) + inner(n)
f inner(n: int) -> string:
    if n > 9:
        ret inner(n - 1) + even(n)
    ret $ {n} $
f above(n: int) -> string:
    ret odd(n) + leaf(n)
f alone(n: int) -> string:
    ret alone(n)
f model() -> string:
    ret $ Use {leaf}. $
"""


def test_functions_that_call_each_other_share_what_they_do() -> None:
    facts = compile_text(_RINGS).checked.facts
    found = {
        one.name.text: Effects(facts).summary(one)
        for one in facts.module.statements
        if isinstance(one, n.FunctionDef)
    }
    ring = {"asks", "prints", "reads"}
    assert {name: one.effects for name, one in found.items()} == {
        **{"leaf": {"reads"}, "even": ring, "odd": ring, "inner": ring, "above": ring},
        **{"alone": set(), "model": {"asks", "reads"}},
    }
    ring_of_three = [replace(found[name], reasons=()) for name in ("even", "odd", "inner")]
    assert ring_of_three == ring_of_three[:1] * 3
    assert [name for name, one in found.items() if one.calls_itself] == [
        *("even", "odd", "inner", "alone"),
    ]
    latest = {"latest"}
    reads = {name: {symbol.name for symbol in one.reads} for name, one in found.items()}
    assert {name: names for name, names in reads.items() if names} == {
        "even": latest,
        "odd": latest,
        "inner": latest,
        "above": latest,
    }


_UNIT = """
f triage_{0}(mails: [string]) -> [string]:
    found: [string] = []
    for mail in mails:
        if len(mail) == 0:
            continue
        title = $ A title for {{mail}} $
        print(title)
        found += [title]
    names = [$ Sum up {{one}} $ for one in found if one != ""]
    one = $ First of {{names}} $
    two = $ Second of {{names}} $
    print(one, two)
    ret names
"""


def test_a_plan_asks_once_what_each_node_does(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[n.Node]()

    def counted(node: n.Node) -> object:
        asked.append(node)
        return children(node)

    monkeypatch.setattr("saftc.effects.effects.children", counted)
    for size in (5, 20):
        text = "".join(_UNIT.format(number) for number in range(size))
        facts = compile_text(text).checked.facts
        asked.clear()
        plan(facts)
        assert len(asked) <= len([*walk(facts.module)])


_HELD = """
f first(n: int) -> string:
    ret held.keep(chosen, n)

f second(n: int) -> string:
    ret "" if n == 0 else first(n - 1)

chosen = second
held: any = parse("{}")
print(first(2))
"""


def test_functions_that_are_held_by_names_wait_as_those_that_are_called() -> None:
    facts = compile_text(_HELD).checked.facts
    awaits = plan(facts, Overlapping(is_async=True)).awaits
    assert awaits is not None
    assert {one.name.text for one in awaits.functions} == {"first", "second"}
