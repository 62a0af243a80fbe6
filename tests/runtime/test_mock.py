"""The mock: what examples ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import pytest

from runtime_support import configure, prompt


class Person(TypedDict):
    name: str
    age: int
    email: str | None


@dataclass(frozen=True)
class Item:
    name: str
    price: float


@pytest.fixture(autouse=True)
def mock() -> None:
    configure(provider="mock")


def value(template: str, type_: Any = str, *values: Any, **names: Any) -> Any:
    return prompt(template, *values, returns=type_, **names).value


def test_what_can_be_computed_is_computed() -> None:
    assert value("add {a} and {b}", int, a=2, b=3) == 5
    assert value("the sum of {0}", float, [1, 2.5]) == 3.5
    assert value("multiply {0} by 3", int, 4) == 12
    assert value("compute the square of each in {0}", list[int], [1, 2, 3]) == [1, 4, 9]
    assert value("the largest of {0}", int, [3, 9, 4]) == 9
    assert value("who has the longest name in {0}?", str, ["Al", "Barbara", "Bo"]) == "Barbara"
    assert value("sort {0}", list[str], ["b", "a"]) == ["a", "b"]
    assert value("how many words are in {0}?", int, "one two three") == 3
    assert value("is {0} even?", bool, 4) is True
    assert value("keep the even numbers of {0}", list[int], [1, 2, 4]) == [2, 4]


def test_choices_follow_the_words() -> None:
    kind = Literal["bug", "feature", "question"]
    assert value("classify {0}", kind, "it crashes with an error") == "bug"
    assert value("classify {0}", kind, "please add dark mode") == "feature"
    assert value("is {0} about money?", bool, "My invoice is wrong") is True
    assert value("is {0} about money?", bool, "The server is on fire") is False


def test_objects_are_filled_from_the_prompt() -> None:
    person = value("Get user info for {0}", Person, "Alice")
    assert person["name"] == "Alice"
    assert isinstance(person["age"], int)
    text = "Invoice 7\nname: Desk Lamp\nprice: 12.5 EUR"
    assert value("extract {0}", Item, text) == Item("Desk Lamp", 12.5)
    assert value("extract each of {0}", list[Item], ["name: A", "name: B"])[1].name == "B"
    assert len(value("make up three items", list[Item])) == 3


def test_every_kind_of_type_gets_a_value() -> None:
    for type_ in (Any, dict[str, int], tuple[int, str], list[tuple[str, float]], int | None):
        value("anything", type_)


def test_fields() -> None:
    fields = {"name": str, "age": int}
    result = prompt("Get user info for {0}", "Alice", fields=fields, rounds=1)
    assert result.value[0] == "Alice"
    colours = prompt("three colours and their count", fields={"colours": list[str], "count": int})
    assert colours.value == (["red", "green", "blue"], 3)


def test_tools_are_chained_over_the_items() -> None:
    suffix = "_suffix"

    def to_upper(verb: str) -> str:
        return verb.upper()

    def add_suffix(s: str) -> str:
        return s + suffix

    result = prompt(
        "For each verb in {verbs}: 1) call {to_upper}(verb) 2) call {add_suffix}(output)",
        verbs=["build", "test"],
        to_upper=to_upper,
        add_suffix=add_suffix,
        returns=list[str],
    )
    assert result.value == ["BUILD_suffix", "TEST_suffix"]
    assert [call.tool for call in result.tool_calls] == ["to_upper"] * 2 + ["add_suffix"] * 2


def test_arguments_come_from_the_text() -> None:
    def weather(city: str) -> float:
        """The temperature in a city."""
        return 3.5 if city == "Oslo" else 30.0

    def add(a: int, b: int) -> int:
        """The sum of two numbers."""
        return a + b

    def multiply(a: int, b: int) -> int:
        """The product of two numbers."""
        return a * b

    result = prompt("Is it warmer in Oslo or in Cairo? Use {weather}.", weather=weather)
    assert [call.args for call in result.tool_calls] == [{"city": "Oslo"}, {"city": "Cairo"}]
    result = prompt("Use {add} to add 2 and 3", add=add, returns=int)
    assert result.value == 5
    chosen = prompt(
        "Use {add} or {multiply} for the product of 3 and 4",
        add=add,
        multiply=multiply,
        returns=int,
    )
    assert chosen.value == 12


def test_a_do_prompt_answers_after_its_round() -> None:
    def weather(city: str) -> str:
        return f"sunny in {city}"

    assert prompt("look up {weather} in Oslo", weather=weather, rounds=1).value == "sunny in Oslo"


def test_the_same_prompt_has_the_same_answer() -> None:
    assert len({str(value("make up three priced items as JSON", Any)) for _ in range(5)}) == 1
