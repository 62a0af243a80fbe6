"""What is known of a script is found in time that grows like the script."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from saftc.driver import check
from saftc.semantics.types import FLOAT, INT, MOST_SHOWN, ListType, ObjectType, TupleType, show
from saftc.source import Source
from tests.compiler.support import compile_text, diagnostics_of

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
    assert _calls_to_check(script(200)) < 2.3 * _calls_to_check(script(100))
