"""`check`: a value is what the type says, or the error says where it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from inspect import iscoroutinefunction
from types import FunctionType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    TypedDict,
    TypeVar,
)

import annotated_types as at
import pytest
from pydantic import Field

from runtime_support import CheckError, check
from runtime_support.ops import maybe_await, parse, require

T = TypeVar("T")


class Row(TypedDict):
    id: int
    note: str | None


class Table(TypedDict):
    rows: list[Row]


Functional = TypedDict("Functional", {"two words": int})


class Loose(TypedDict):
    id: int
    extra: NotRequired[int]


@dataclass(frozen=True)
class Point:
    lat: float
    lon: float = 0.0
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Circle:
    kind: Literal["round", "disc"]
    r: float


@dataclass(frozen=True)
class Square:
    kind: Literal["square"]
    side: float


@dataclass(frozen=True)
class Span:
    low: int
    high: int

    def __post_init__(self) -> None:
        require(self.low <= self.high, "the ends are in order")
        require(self.low >= 0, lambda: f"from 0 on, not {self.low}")


@dataclass(frozen=True)
class Nested:
    within: Span
    size: tuple[int, int] = (0, 0)


class Tree(TypedDict):
    value: int
    children: list[Tree]


class Partial(TypedDict, total=False):
    id: Required[int]
    note: str


class Rate(Enum):
    LOW = 0.5
    HIGH = 1.5


@dataclass(frozen=True)
class Place(Point):
    name: str = "nowhere"


class Size(NamedTuple):
    width: float


@dataclass
class Page(Generic[T]):
    items: list[T]
    next: Page[T] | None = None


@dataclass
class Chained:
    value: float
    next: Chained | None = None


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (1, int),
        (1.5, float),
        ("a", str),
        (True, bool),
        (None, None),
        (object, Any),
        ([1, "a"], list),
        ([1, 2], list[int]),
        ((1, "a"), tuple[int, str]),
        ((1, 2, 3), tuple),
        ((1, 2, 3), tuple[int, ...]),
        ({"a": 1}, dict),
        ({"a": 1}, dict[str, int]),
        (None, int | None),
        ("low", Literal["low", "high"]),
        (3, Literal["low", 3]),
        ({"two words": 1}, Functional),
        ({"id": 1}, Loose),
        ({"id": 1, "extra": 2}, Loose),
        (Point(1.0), Point),
        ("text", Annotated[str, "a description"]),
        (len, Callable[[str], Any]),
        (len, Callable),
        (check, FunctionType),
        ({"value": 1, "children": [{"value": 2, "children": []}]}, Tree),
    ],
)
def test_a_value_that_fits_is_given_back_itself(value: Any, type_: Any) -> None:
    assert check(value, type_) is value


@pytest.mark.parametrize(
    ("value", "type_", "converted"),
    [
        (3, float, 3.0),
        ([1, 2.5], list[float], [1.0, 2.5]),
        ((1, "a"), tuple[float, str], (1.0, "a")),
        ({"a": 1}, dict[str, float], {"a": 1.0}),
        ({"id": 1}, Row, {"id": 1, "note": None}),
        (Point(1, 2), Point, Point(1.0, 2.0)),
        ({"lat": 1, "lon": 2}, Point, Point(1.0, 2.0)),
        ([Point(1.0, 2.0), {"lat": 1}], list[Point], [Point(1.0, 2.0), Point(1.0)]),
        ({"a": {"lat": 1}}, dict[str, Point], {"a": Point(1.0)}),
        ({"kind": "square", "side": 1}, Circle | Square, Square("square", 1.0)),
        ({"within": {"low": 0, "high": 1}, "size": [1, 2]}, Nested, Nested(Span(0, 1), (1, 2))),
        (1, float | str, 1.0),
        (Place(1, 2, name="home"), Point, Place(1.0, 2.0, name="home")),
        (Chained(1, Chained(2)), Chained, Chained(1.0, Chained(2.0))),
        (Size(1), Size, Size(1.0)),
        (parse("1.5"), Rate, Rate.HIGH),
        ({"low": parse("0.5")}, dict[str, Literal[0.5, 1.5]], {"low": 0.5}),
        ({"items": [1]}, Page[float], Page([1.0])),
    ],
)
def test_only_ints_become_floats_and_absent_fields_nil(
    value: Any, type_: Any, converted: Any
) -> None:
    checked = check(value, type_)
    assert checked == converted
    assert repr(checked) == repr(converted)


def test_a_union_takes_the_exact_member_before_a_conversion() -> None:
    assert repr(check(1, float | int)) == "1"
    assert repr(check([1], list[float] | list[int])) == "[1]"


@pytest.mark.parametrize(
    ("value", "type_", "message"),
    [
        ("7", int, 'value: expected int, got string "7"'),
        (True, int, "value: expected int, got bool true"),
        (True, float, "value: expected float, got bool true"),
        (1, bool, "value: expected bool, got int 1"),
        (1.0, int, "value: expected int, got float 1.0"),
        (None, str, "value: expected string, got nil"),
        ({"rows": [{"id": 1}, {"id": 1}, {"id": "7"}]}, Table, None),
        ([1], tuple[int], "value: expected (int,), got list [1]"),
        ((1, 2), tuple[int, str], "value[1]: expected string, got int 2"),
        ((1,), tuple[int, str], "value: expected (int, string), got tuple (1,)"),
        ("x", Literal["a", "b"], 'value: expected "a" | "b", got string "x"'),
        (True, Literal[1], "value: expected 1, got bool true"),
        ({"id": 1, "nite": "x"}, Row, "value.nite: unexpected field; did you mean `note`?"),
        ({}, Row, "value.id: missing field, expected int"),
        ({"two words": "x"}, Functional, 'value["two words"]: expected int, got string "x"'),
        ({"lat": "x"}, Point, 'value.lat: expected float, got string "x"'),
        ({}, Point, "value.lat: missing field, expected float"),
        ({"latt": 1.0}, Point, "value.latt: unexpected field; did you mean `lat`?"),
        ([Point(1.0), 3], list[Point], "value[1]: expected Point, got int 3"),
        (
            {"kind": "oval"},
            Circle | Square,
            'value.kind: expected "round" | "disc" | "square", got string "oval"',
        ),
        (
            {"kind": "square", "r": 1},
            Circle | Square,
            "value.r: unexpected field; its fields are kind, side",
        ),
        ({"kind": "disc", "r": "x"}, Square | Circle, 'value.r: expected float, got string "x"'),
        (
            [{"low": 1, "high": 2}, {"low": 2, "high": 1}],
            list[Span],
            "value[1]: the ends are in order",
        ),
        ({"within": {"low": -1, "high": 2}}, Nested, "value.within: from 0 on, not -1"),
        (Point("x"), Point, 'value.lat: expected float, got string "x"'),  # type: ignore[arg-type]
        ("f", Callable[[], int], 'value: expected function, got string "f"'),
        ([["a"], [1]], list[list[str]] | None, "value[1][0]: expected string, got int 1"),
        ({"note": "x"}, Partial, "value.id: missing field, expected int"),
        ({"items": ["x"]}, Page[int], 'value.items[0]: expected int, got string "x"'),
        (
            {"items": [1], "next": {"items": ["x"]}},
            Page[int] | Page[bool],
            'value.next.items[0]: expected int, got string "x"',
        ),
        (
            Decimal("123.45"),
            Annotated[Decimal, Field(max_digits=4)],
            'value: expected decimal, at most 4 digits, got decimal("123.45")',
        ),
        (
            Decimal("0.125"),
            Annotated[Decimal, Field(decimal_places=2)],
            'value: expected decimal, at most 2 decimal places, got decimal("0.125")',
        ),
        (
            Decimal("0.12"),
            Annotated[Decimal, at.MultipleOf(0.05)],
            'value: expected decimal, a multiple of 0.05, got decimal("0.12")',
        ),
        (
            {"name": "Marianne"},
            dict[str, Annotated[str, at.MaxLen(3)] | None],
            'value.name: expected string, at most 3 characters, got string "Marianne"',
        ),
        (
            float("inf"),
            Annotated[float, at.MultipleOf(0.5)],
            "value: expected float, a multiple of 0.5, got float inf",
        ),
    ],
)
def test_an_error_says_path_expected_and_found(value: Any, type_: Any, message: str | None) -> None:
    with pytest.raises(CheckError) as caught:
        check(value, type_)
    assert str(caught.value) == (message or 'value.rows[2].id: expected int, got string "7"')
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (Decimal("1200"), Annotated[Decimal, Field(max_digits=4, decimal_places=0)]),
        (Decimal("12.30"), Annotated[Decimal, Field(max_digits=3, decimal_places=1)]),
        (Decimal("0.15"), Annotated[Decimal, at.MultipleOf(0.05)]),
        (3, Annotated[int, at.MultipleOf(0.1)]),
    ],
)
def test_a_value_within_its_limits_fits(value: Any, type_: Any) -> None:
    assert check(value, type_) is value


def test_a_value_that_contains_itself_does_not_fit() -> None:
    endless = Chained(1.0)
    endless.next = endless
    with pytest.raises(CheckError, match=r"^value: nested too deeply$"):
        check(endless, Chained)


def test_long_values_are_shown_in_part() -> None:
    with pytest.raises(CheckError) as caught:
        check(["x" * 500], int)
    assert len(str(caught.value)) < 120


def test_the_type_of_an_annotation_that_is_no_type_is_an_error() -> None:
    with pytest.raises(CheckError, match="not a type"):
        check(1, 3)  # type: ignore[call-overload]


def test_a_broken_rule_says_its_message_alone_where_a_call_makes_the_record() -> None:
    with pytest.raises(CheckError, match=r"^the ends are in order$"):
        Span(2, 1)
    with pytest.raises(CheckError, match=r"^from 0 on, not -1$"):
        Span(-1, 1)


def test_what_a_constructor_raises_besides_is_told_with_the_path() -> None:
    @dataclass
    class Halved:
        by: int

        def __post_init__(self) -> None:
            self.half = 1 / self.by

    with pytest.raises(CheckError, match=r"^value\[0\]: Halved refused its fields: division"):
        check([{"by": 0}], list[Halved])


def _half(number: float) -> Any:
    """Half of it."""
    return number / 2


async def _later(text: str) -> Any:
    return text


@pytest.mark.parametrize("type_", [Callable[[int], float], Callable[[int], float] | None])
def test_a_function_is_held_against_its_type_at_each_call(type_: Any) -> None:
    half = check(_half, type_)
    assert half(3) == 1.5
    assert (half.__name__, half.__doc__) == ("_half", "Half of it.")
    assert check(half, type_) is half, "it is held once"
    with pytest.raises(CheckError, match=r"_half\(number\): expected float, got string \"3\""):
        half("3")


def test_a_function_that_breaks_its_word_is_named() -> None:
    texts = check([_half], list[Callable[[float], str]])
    with pytest.raises(CheckError, match=r"_half\(\): expected string, got float 1.5"):
        texts[0](3)
    with pytest.raises(CheckError, match=r"value\[0\]: expected function, got int 3"):
        check([3], list[Callable[[float], str]])


def test_what_a_function_gives_is_converted_as_any_value_is() -> None:
    assert repr(check(abs, Callable[[int], float])(-3)) == "3.0"
    made = check(lambda lat: {"lat": lat}, Callable[[float], Point])
    assert made(1) == Point(1.0)


def test_a_coroutine_is_awaited_here_or_by_the_caller() -> None:
    assert check(_later, Callable[[str], str])("here") == "here"

    async def main() -> None:
        either = check(_later, Callable[[str], Awaitable[str] | str])
        assert iscoroutinefunction(either)
        assert await maybe_await(either("there")) == "there"
        plain = check(str.upper, Callable[[str], Awaitable[str] | str])
        assert await maybe_await(plain("plain")) == "PLAIN"
        wrong = check(_later, Callable[[str], Awaitable[int] | int])
        with pytest.raises(CheckError, match=r"_later\(\): expected int, got string"):
            await maybe_await(wrong("wrong"))

    asyncio.run(main())


def test_an_annotation_of_python_that_says_nothing_asks_for_nothing() -> None:
    held = check(_half, Callable[[T], T])
    assert held is _half
