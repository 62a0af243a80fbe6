"""What is known of a script is found in time that grows like the script."""

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType

import pytest

from saftc.driver import check
from saftc.source import Source
from saftc.types.types import FLOAT, INT, MOST_SHOWN, ListType, ObjectType, TupleType, members, show
from tests.compiler.support import compile_file, compile_text, diagnostics_of

pytestmark = pytest.mark.one_python

# Written out, a type so deep would be longer than any memory.
_LEVELS = 60


def _chain(name: str, first: str, *, is_object: bool) -> str:
    inside = "{{a: {0}, b: {0}}}" if is_object else "({0}, {0})"
    lines = [f"type {name}0 = {first}"]
    for level in range(1, _LEVELS + 1):
        lines.append(f"type {name}{level} = " + inside.format(f"{name}{level - 1}"))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("is_object", [True, False], ids=["object", "tuple"])
def test_a_type_that_stands_often_in_another_is_followed_once(is_object: bool) -> None:
    types = _chain("T", "{x: int}", is_object=is_object)
    types += _chain("U", "{x: float}", is_object=is_object)
    t, u = f"T{_LEVELS}", f"U{_LEVELS}"
    script = f"""{types}
f change(x: {t}, y: {u}) -> {u}:
    z: {u} = x
    if x == y or [x] == [y]:
        print(x, y)
    ret z

f same(x: {t}):
    ret x

pairs: [({t}, {u})] = $ what {{same}} or {{change}}? $
given: {t} = program $ what {{same}} or {{change}}? $
print(change(given, given), same(given), pairs)
"""
    compiled = compile_text(script)
    assert not compiled.checked.diagnostics
    assert compiled.text is not None
    assert len(compiled.text.splitlines()) < 20 * _LEVELS


def test_only_the_beginning_of_a_long_type_is_shown() -> None:
    script = _chain("T", "int", is_object=False)
    shown = diagnostics_of(script + f'x: T{_LEVELS} = "text"\n')
    assert "expected ((((" in shown
    assert len(shown) < MOST_SHOWN + 500


def test_equal_types_are_one_object() -> None:
    assert TupleType((INT, ListType(FLOAT))) is TupleType(items=(INT, ListType(item=FLOAT)))
    assert ObjectType((), is_declared=True) is not ObjectType((), is_declared=False)
    assert show(TupleType((INT,))) == "(int,)"


def _calls_to_check(script: str) -> int:
    """How many functions are called to check a script."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    source = Source.from_text("in.saft", script)
    sys.setprofile(note)
    try:
        check(source)
    finally:
        sys.setprofile(None)
    return count


def _nested_loops(depth: int) -> str:
    loops = [f"{'    ' * level}for x{level} in [0, 1]:\n" for level in range(depth)]
    return "".join(loops) + "    " * depth + "print(x0)\n"


def test_loops_in_loops_do_not_double_the_steps_with_each_level() -> None:
    check(Source.from_text("in.saft", _nested_loops(3)))
    assert _calls_to_check(_nested_loops(18)) < 8 * _calls_to_check(_nested_loops(9))


def _functions_that_call_the_next(count: int) -> str:
    functions = [f"f g{i}(x):\n    ret g{i + 1}(x)\n" for i in range(count)]
    return "".join(functions) + f"f g{count}(x):\n    ret x\nprint(g0(1))\n"


def _functions_that_call_the_one_before(count: int) -> str:
    functions = [f"f g{i}(x):\n    ret g{i - 1}(x)\n" for i in range(1, count)]
    return "f g0(x):\n    ret x\n" + "".join(functions) + f"print(g{count - 1}(1))\n"


def _names_that_are_bound_to_the_one_before(count: int) -> str:
    lines = [f"    x{i} = x{i - 1}\n" for i in range(1, count)]
    return "x0 = 1\nfor round in range(3):\n" + "".join(lines) + f"print(x{count - 1})\n"


@pytest.mark.parametrize(
    "script",
    [
        _functions_that_call_the_next,
        _functions_that_call_the_one_before,
        _names_that_are_bound_to_the_one_before,
    ],
)
def test_twice_the_script_takes_twice_the_steps(script: Callable[[int], str]) -> None:
    check(Source.from_text("in.saft", script(10)))
    assert _calls_to_check(script(200)) < 2.1 * _calls_to_check(script(100))


def test_a_type_that_travels_through_many_names_of_a_loop_arrives() -> None:
    names = [f"a{i}" for i in range(1, 21)]
    below = [f"    {one} = {before}" for before, one in pairwise(names)]
    lines = [f"{one} = 1" for one in names]
    lines += ["for n in range(30):", *below[::-1], '    a1 = "s"', "print(a20 * 2)"]
    compiled = compile_text("\n".join(lines) + "\n")
    assert "ops.mul(a20, 2)" in (compiled.text or "")


def test_nested_loops_do_not_give_up_either() -> None:
    loop = "for {0} in range(30):\n"
    names = [f"a{i}" for i in range(12)]
    lines = [f"{one} = 1\n" for one in names]
    lines += ["for i in range(3):\n", "    " + loop.format("j")]
    lines += [f"        {one} = {before}\n" for before, one in pairwise(names)][::-1]
    lines += ['    a0 = "s"\n', "print(a11 * 2)\n"]
    assert "ops.mul(a11, 2)" in (compile_text("".join(lines)).text or "")


@pytest.mark.parametrize("outer", ['x = "text"', "x = len", 'f x():\n    ret "a"', "x = [1]"])
def test_inner_functions_know_what_a_name_starts_from(outer: str) -> None:
    inner = "f g():\n    f inner():\n        ret x\n    a = inner()\n    x = 1\n    ret a * 2\n"
    script = f"{outer}\n{inner}print(g())\n"
    compiled = compile_text(script.replace("x", "len") if outer == "x = len" else script)
    assert "a * 2" not in (compiled.text or "")


@pytest.mark.parametrize("count", [30, 120, 300])
def test_functions_that_give_what_many_others_give_are_known_at_last(count: int) -> None:
    kinds = ["1", '"s"', "[1]", '["t"]', "1.5", "true", "nil", "(1, 2)"]
    functions = [
        f"f g{i}(n):\n    if n > {i}:\n        ret g{(i + 1) % count}(n)\n    ret {kinds[i % 8]}\n"
        for i in range(count)
    ]
    facts = compile_text("".join(functions) + "print(g0(1))\n").checked.facts
    given = {frozenset(members(one.returns)) for one in facts.functions.values()}
    assert len(given) == 1


@pytest.mark.parametrize(
    "script",
    [
        "x = [deep]\nfor i in range(30):\n    x = [x]\nprint(x)\n",
        "x = deep\nwhile len([x]) < 3:\n    x = [x, 1]\nprint(x)\n",
        "f g(x):\n    ret h([x])\nf h(x):\n    ret g([x])\nprint(g(deep))\n",
        "f g(n: int):\n    if n == 0:\n        ret deep\n    ret [g(n - 1), nil]\nprint(g(9))\n",
    ],
)
def test_what_grows_around_a_declared_type_comes_to_an_end(script: str) -> None:
    deep = "deep: [[[[[[[[{a: [[[[[[[[int?]]]]]]]]}]]]]]]]] = $ a $\n"
    checked = compile_text(deep + script).checked
    assert not checked.has_errors
    facts = checked.facts
    assert "[[[[[[[[int?]]]]]]]]" in show(facts.symbols[facts.own_names["deep"]])


_ORDER = """
from dataclasses import dataclass

@dataclass
class Order:
    note: int | str
    reply: str | None = None

    def turn(self) -> bool:
        self.note = "text"
        return True

    @property
    def label(self) -> int | str:
        return self.note
"""
_BEGIN = "from order import Order\no = Order(note: 1)\n"
_TURNS = "f turn(x: Order):\n    x.turn()\n"


@pytest.mark.parametrize(
    "script",
    [
        'if type(o.note) == "int":\n    o.turn()\n    print(o.note * 2)\n',
        _TURNS + 'if type(o.note) == "int":\n    for i in [1, 2]:\n        print(o.note * 2)\n'
        "        turn(o)\n",
        'if type(o.note) == "int" and o.turn():\n    print(o.note * 2)\n',
        'if type(o.note) == "int":\n    print([o.note * 2 for i in [1, 2] if o.turn()])\n',
        'if type(o.note) == "int":\n    try:\n        o.turn()\n        fail "x"\n    except:\n'
        "        print(o.note * 2)\n",
        'type Box(order: Order)\nbox = Box(order: o)\nif type(box.order.note) == "int":\n'
        "    o.turn()\n    print(box.order.note * 2)\n",
        'if type(o.label) == "int":\n    print(o.label * 2)\n',
        'if type(o.note) == "int":\n    while o.note * 2 < 9:\n        o.turn()\n',
        'if type(o.note) == "int":\n    told = $ use {o.turn} $\n    print(o.note * 2, told)\n',
    ],
)
def test_what_a_test_has_shown_of_an_object_of_python_may_change(
    script: str, tmp_path: Path
) -> None:
    (tmp_path / "order.py").write_text(_ORDER)
    (tmp_path / "in.saft").write_text(_BEGIN + script)
    compiled = compile_file(tmp_path / "in.saft")
    assert compiled.text is not None
    assert "ops.mul(" in compiled.text


@pytest.mark.parametrize(
    "script",
    [
        'if type(o.note) == "int":\n    print(o.note * 2)\n    print(o.note * 3)\n',
        'if o.reply != nil:\n    told = $ about {o.reply} $\n    print(o.reply + "!", told)\n',
        "type Own(note: int | string)\nown = Own(note: 1)\nf show(x: Own):\n    print(x.note)\n"
        'if type(own.note) == "int":\n    show(own)\n    print(own.note * 2)\n',
    ],
)
def test_what_nothing_can_change_stays_known(script: str, tmp_path: Path) -> None:
    (tmp_path / "order.py").write_text(_ORDER)
    (tmp_path / "in.saft").write_text(_BEGIN + script + "print(o.note)\n")
    compiled = compile_file(tmp_path / "in.saft")
    assert compiled.text is not None
    assert "ops." not in compiled.text


def test_nothing_is_equal_to_an_empty_list_but_another_one() -> None:
    script = "type P(x: float)\nps = [P(1.5)]\nprint(ps == [], [1.5] != [], ps == ps)\n"
    text = compile_text(script).text or ""
    assert "ps == []" in text
    assert "[1.5] != []" in text
    assert "ops.eq(ps, ps)" in text


def test_functions_that_nobody_calls_take_no_longer_than_others() -> None:
    def functions(count: int) -> str:
        return "".join(f"f ask{i}(x):\n    y = $ about {{x}} $\n    ret y\n" for i in range(count))

    check(Source.from_text("in.saft", functions(1)))
    assert _calls_to_check(functions(180)) < 3.3 * _calls_to_check(functions(60))
