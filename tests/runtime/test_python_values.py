"""Values of classes from Python print and are inserted into prompts as their data."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pydantic
import pytest

from runtime_support import CheckError, check, prompt
from runtime_support.ops import show, to_json
from runtime_support.testing import Scripted


class Colour(enum.Enum):
    RED = "red"
    SECOND = 2


class Word(enum.StrEnum):
    A = "a"


class Number(enum.IntEnum):
    ONE = 1


class Spot(NamedTuple):
    x: int
    colour: Colour
    class_: str = "b"


class Person(pydantic.BaseModel):
    name: str
    born: datetime.date = pydantic.Field(alias="bornOn")


@dataclass(frozen=True)
class Mixed:
    spot: Spot
    words: tuple[Word, ...]


SPOT = Spot(1, Colour.RED)
PERSON = Person(name="é", bornOn=datetime.date(2024, 1, 2))

VALUES: list[tuple[Any, str, str]] = [
    (Colour.RED, "red", '"red"'),
    (Colour.SECOND, "2", "2"),
    (Word.A, "a", '"a"'),
    (Number.ONE, "1", "1"),
    ([Colour.RED, Word.A, 1], '["red", "a", 1]', '["red","a",1]'),
    (SPOT, '{x: 1, colour: "red", class: "b"}', '{"x":1,"colour":"red","class":"b"}'),
    ({"at": (SPOT,)}, None, '{"at":[{"x":1,"colour":"red","class":"b"}]}'),
    (PERSON, '{name: "é", bornOn: "2024-01-02"}', '{"name":"é","bornOn":"2024-01-02"}'),
    (
        Mixed(SPOT, (Word.A,)),
        'Mixed(spot: {x: 1, colour: "red", class: "b"}, words: ("a",))',
        '{"spot":{"x":1,"colour":"red","class":"b"},"words":["a"]}',
    ),
]


@pytest.mark.parametrize(("value", "shown", "text"), VALUES)
def test_they_print_and_interpolate_as_data(
    scripted: Callable[..., Scripted], value: Any, shown: str | None, text: str
) -> None:
    assert shown is None or show(value) == shown
    assert to_json(value) == text
    model = scripted("fine")
    prompt("{value}", value=value)
    assert model.requests[0].messages[0]["content"] == text


def test_messages_name_the_class() -> None:
    with pytest.raises(CheckError, match=r"expected int, got Spot \{x: 1, colour: "):
        check(SPOT, int)
    with pytest.raises(CheckError, match='expected int, got Colour "red"'):
        check(Colour.RED, int)


def test_what_is_in_them_may_have_no_json_form() -> None:
    with pytest.raises(CheckError, match=r"value\[0\].x: float inf has no JSON form"):
        to_json([SPOT._replace(x=float("inf"))])


def test_a_list_of_functions_is_told_how_tools_are_given() -> None:
    with pytest.raises(CheckError, match="write each tool in its own braces"):
        to_json([test_messages_name_the_class])
