"""`ops`: the semantics table, row by row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from runtime_support import CheckError, MissingError, ZeroError, ops
from runtime_support._core.results import Result, Usage


@dataclass(frozen=True)
class City:
    name: str
    size: float = 1.0


def result(value: Any) -> Result[Any]:
    return Result(
        value, text=str(value), tool_calls=[], usage=Usage(), model="m", repairs=[], fields=()
    )


@pytest.mark.parametrize("value", [0, "", [], {}, (), 0.0, 1, "a", True])
def test_everything_but_false_and_nil_is_true(value: Any) -> None:
    assert ops.truthy(value)
    assert not ops.truthy(False)
    assert not ops.truthy(None)
    assert not ops.truthy(result(False))


def test_arithmetic() -> None:
    assert ops.add(1, 2.5) == 3.5
    assert ops.add("a", "b") == "ab"
    assert ops.add([1], [2]) == [1, 2]
    assert ops.sub(3, 1) == 2
    assert ops.mul(3, 2) == 6
    assert repr(ops.div(4, 2)) == "2.0"
    assert ops.mod(-7, 3) == 2
    assert ops.neg(2) == -2


@pytest.mark.parametrize(
    ("operation", "left", "right"),
    [
        (ops.add, 1, "a"),
        (ops.add, True, 1),
        (ops.add, (1,), (2,)),
        (ops.add, None, None),
        (ops.sub, "a", "b"),
        (ops.mul, "a", 3),
        (ops.mul, [1], 2),
        (ops.div, True, 1),
        (ops.mod, 7.0, 2),
        (ops.lt, 1, "a"),
        (ops.ge, [1], [2]),
        (ops.lt, True, False),
    ],
)
def test_other_operands_are_errors(operation: Callable[..., Any], left: Any, right: Any) -> None:
    with pytest.raises(CheckError, match="takes"):
        operation(left, right)


@pytest.mark.parametrize("operation", [ops.div, ops.mod])
def test_division_by_zero(operation: Callable[..., Any]) -> None:
    with pytest.raises(ZeroError) as caught:
        operation(1, 0)
    assert isinstance(caught.value, ZeroDivisionError)


def test_numbers_too_large_for_a_float() -> None:
    with pytest.raises(CheckError, match="too large"):
        ops.div(10**400, 3)


def test_order() -> None:
    assert ops.lt(1, 1.5)
    assert ops.le("a", "a")
    assert ops.gt("b", "a")
    assert ops.ge(2, 2)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, 0, False),
        ([1, [2.0]], [1.0, [2]], True),
        ([True], [1], False),
        ([1], (1,), False),
        ({"a": True}, {"a": 1}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        (None, None, True),
        (None, False, False),
        ("1", 1, False),
        (City("Oslo"), City("Oslo", 1), True),
        (City("Oslo"), {"name": "Oslo", "size": 1.0}, False),
        (len, len, True),
    ],
)
def test_equality_is_deep(left: Any, right: Any, equal: bool) -> None:
    assert ops.eq(left, right) is equal
    assert ops.ne(left, right) is not equal


def test_in() -> None:
    assert ops.is_in(1.0, [1])
    assert not ops.is_in(True, [1])
    assert ops.is_in("a", ("a",))
    assert ops.is_in("a", {"a": 1})
    assert ops.is_in("ell", "hello")
    with pytest.raises(CheckError, match="takes a string"):
        ops.is_in(1, "123")
    with pytest.raises(CheckError, match="list, tuple, object or string"):
        ops.is_in(1, 123)


def test_members() -> None:
    assert ops.member({"price": 3}, "price") == 3
    assert ops.member(City("Oslo"), "name") == "Oslo"
    assert ops.member([1, 2], "length") == 2
    assert ops.member("abc", "length") == 3
    assert ops.member({}, "length") == 0
    assert ops.member({"length": "long"}, "length") == "long"
    assert ops.member(math, "pi") == math.pi


@pytest.mark.parametrize(
    ("value", "name", "said"),
    [
        ({"price": 1, "id": 2}, "prise", "its fields are price, id; did you mean `price`?"),
        (City("Oslo"), "nam", "no field `nam` in City"),
        (City("Oslo"), "__class__", "no field"),
        (math, "__name__", "no field"),
    ],
)
def test_a_missing_member_names_those_that_exist(value: Any, name: str, said: str) -> None:
    with pytest.raises(MissingError) as caught:
        ops.member(value, name)
    assert said in str(caught.value)
    assert isinstance(caught.value, LookupError)


def test_a_plain_value_has_no_history() -> None:
    with pytest.raises(CheckError, match="it is a plain value; annotate it as a whole result"):
        ops.member("text", "toolCalls")


def test_indexes_and_slices() -> None:
    assert ops.index([1, 2, 3], -1) == 3
    assert ops.index("abc", 1) == "b"
    assert ops.index({"two words": 2}, "two words") == 2
    assert ops.slice([1, 2, 3], 1, None) == [2, 3]
    assert ops.slice("abc", None, 2) == "ab"
    with pytest.raises(MissingError, match="the list has 1 item"):
        ops.index([1], 1)
    with pytest.raises(MissingError, match="did you mean `name`"):
        ops.index({"name": 1}, "nam")
    with pytest.raises(CheckError, match="an index into list is an int"):
        ops.index([1], True)
    with pytest.raises(CheckError, match="a key of an object is a string or a date"):
        ops.index({"1": 1}, 1)
    with pytest.raises(CheckError, match="cannot index"):
        ops.index(3, 0)
    with pytest.raises(CheckError, match="a slice takes ints"):
        ops.slice([1], "a", None)


def test_for_goes_over_lists_and_tuples_alone() -> None:
    assert list(ops.each([1, 2])) == [1, 2]
    assert list(ops.each((1, 2))) == [1, 2]
    with pytest.raises(CheckError, match="keys"):
        ops.each({"a": 1})
    with pytest.raises(CheckError, match="a list or a tuple"):
        ops.each("abc")


def test_a_pattern_is_checked_when_the_turn_of_an_element_comes() -> None:
    assert list(ops.each_of([(1, 2), [3, 4]], 2)) == [(1, 2), [3, 4]]
    with pytest.raises(CheckError, match="needs a list or a tuple"):
        ops.each_of("ab", 2)
    turns = ops.each_of([(1, 2), (1,)], 2)
    assert next(turns) == (1, 2)
    with pytest.raises(CheckError, match="element 1 of the `for` has to be a list or tuple of 2"):
        next(turns)


def test_a_nested_pattern_unpacks_lists_and_tuples_alone() -> None:
    shape = ("a", ("b", ("c",)))
    ((a, (b, (c,))),) = ops.each_of([(1, [2, (3,)])], shape)
    assert (a, b, c) == (1, 2, 3)
    for element in ("xy", {"x": 1, "y": 2}, (1, 2, 3), 5):
        with pytest.raises(CheckError) as caught:
            list(ops.each_of([(1, element)], ("a", ("b", "c"))))
        assert "`(b, c)` in element 0 of the `for` has to be a list or tuple of 2" in str(
            caught.value
        )


def test_items_of_tuples() -> None:
    assert ops.item((1, 2), 0) == 1
    with pytest.raises(CheckError, match=r"`.0` takes a tuple, got list \[1\]; write `\[0\]`"):
        ops.item([1], 0)
    with pytest.raises(CheckError, match="write"):
        ops.item("ab", 0)
    with pytest.raises(CheckError, match=r"`\.0` takes a tuple, got nil"):
        ops.item(None, 0)
    with pytest.raises(MissingError, match="index 2 is out of range: the tuple has 2 items"):
        ops.item((1, 2), 2)


def test_nothing_equals_not_a_number() -> None:
    nan = float("nan")
    for one, other in ((nan, nan), ([nan], [nan]), ((nan,), (nan,)), ({"a": nan}, {"a": nan})):
        assert not ops.eq(one, other)
        assert ops.ne(one, one)
    assert not ops.is_in(nan, [nan])
    assert not ops.contains([nan], nan)


def test_calls_are_checked() -> None:
    def greet(name: str, times: int = 1) -> str:
        return name * times

    assert ops.call(greet, "a", times=2) == "aa"
    assert ops.call(City, "Oslo", 2) == City("Oslo", 2.0)
    assert ops.call(math.sqrt, 4) == 2
    assert ops.call(max, 1, 2) == 2
    for arguments, named, said in [
        ((), {}, "`greet` needs name"),
        (("a", 1, 2), {}, "takes 2 arguments (name, times), got 3"),
        (("a",), {"tims": 2}, "no parameter `tims`; did you mean `times`?"),
        (("a",), {"name": "b"}, "got `name` twice"),
        ((1,), {}, "greet(name): expected string, got int 1"),
    ]:
        with pytest.raises(CheckError) as caught:
            ops.call(greet, *arguments, **named)
        assert said in str(caught.value)
    with pytest.raises(CheckError, match="cannot call int 3"):
        ops.call(3)


def test_a_result_stands_for_its_value() -> None:
    assert ops.add(result("a"), "b") == "ab"
    assert ops.eq(result(4), 4)
    assert ops.member(result({"name": "x"}), "name") == "x"
    assert ops.member(result('{"name": "x"}'), "name") == "x"
    assert ops.member(result('{"name": "x"}'), "value") == {"name": "x"}
    assert ops.index(result([1, 2]), 0) == 1
    assert list(ops.each(result([1]))) == [1]
    assert ops.member(result("a"), "toolCalls") == []
    with pytest.raises(CheckError, match=r"cannot iterate over a result; use \.toolCalls or \.val"):
        ops.each(result("abc"))


def test_a_method_is_called_as_its_member_would_be() -> None:
    def greet(name: str, times: int = 1) -> str:
        return name * times

    assert ops.send(b"text", "decode", "utf-8") == "text"
    assert ops.send({"say": greet}, "say", "a", times=2) == "aa"
    with pytest.raises(MissingError, match="no field `shout` in object"):
        ops.send({"say": greet}, "shout", "a")
    with pytest.raises(CheckError, match="cannot call int 1"):
        ops.send({"say": 1}, "say", "a")
    with pytest.raises(CheckError, match="has no parameter `tims`"):
        ops.send({"say": greet}, "say", "a", tims=2)
    with pytest.raises(CheckError, match="has no field `upper`"):
        ops.send("text", "upper")


def test_format() -> None:
    assert ops.format(1234, ",") == "1,234"
    assert ops.format("a", ">3") == "  a"
    with pytest.raises(CheckError, match="`,` cannot format string"):
        ops.format("a", ",")
    with pytest.raises(CheckError, match="a datetime or a time, got bool true"):
        ops.format(True, ">5")


def test_unpack() -> None:
    assert ops.unpack((1, [2]), 2) == (1, [2])
    assert ops.unpack([1, (2, 3)], ("a", ("b", "c"))) == [1, [2, 3]]
    with pytest.raises(CheckError, match="has to be a list or tuple of 2, got list"):
        ops.unpack([1], 2)


def test_slice_with_a_step() -> None:
    assert ops.slice([1, 2, 3], None, None, -1) == [3, 2, 1]
    with pytest.raises(CheckError, match="cannot be zero"):
        ops.slice("abc", None, None, 0)
