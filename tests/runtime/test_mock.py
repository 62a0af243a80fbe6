"""The mock: what examples ask of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime_support import configure, image, prompt
from runtime_support.programs import ambiguous, option
from runtime_support.programs.prompting import Plan, program
from runtime_support.providers.mock.answering import value_for
from runtime_support.providers.mock.reading import Reading
from runtime_support.schema import json_schema, schema_of


class Person(TypedDict):
    name: str
    age: int
    email: str | None


@dataclass(frozen=True)
class Item:
    name: str
    price: float


class Line(TypedDict):
    item: str
    amount: float


class Product(TypedDict):
    name: str
    price: float


@dataclass(frozen=True)
class Tree:
    label: str
    children: list[Tree]
    parent: Tree | None = None


@dataclass(frozen=True)
class City:
    name: str


@dataclass(frozen=True)
class Point:
    lat: float
    lon: float


INVOICE = """\
ACME Tools Ltd
Invoice number: A-17
Date: 2025-01-17
Seller: ACME Tools Ltd, Oslo

  2 x hammer            24.00 NOK
  1 x toolbox           35.50 NOK

Total: 59.50 NOK"""

MAIL = """\
From: Nora Lind <nora@fjordbooks.example>
Subject: Charged twice

Hello, my card was charged twice. There is no hurry."""


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


def test_a_guess_is_the_middle() -> None:
    assert value("Guess a whole number from {a} up to {b}.", int, a=1, b=20) == 10


def test_numbers_are_compared() -> None:
    assert value("Is {a} greater than {b}?", bool, a=3, b=2.5) is True
    assert value("Is {a} less than {b}?", bool, a=3, b=2.5) is False


def test_a_raw_text_is_read_below_the_instruction() -> None:
    class Invoice(TypedDict):
        seller: str
        number: str
        date: str
        currency: Literal["EUR", "NOK"]
        lines: list[Line]
        total: float
        due: str | None

    read = value("Extract the seller, number and total:\n\n{text:raw}", Invoice, text=INVOICE)
    assert read == {
        "seller": "ACME Tools Ltd",
        "number": "A-17",
        "date": "2025-01-17",
        "currency": "NOK",
        "lines": [{"item": "hammer", "amount": 24.0}, {"item": "toolbox", "amount": 35.5}],
        "total": 59.5,
        "due": None,
    }
    assert value("Extract from {text}", Invoice, text=INVOICE) == read


def test_what_a_sentence_says_is_found() -> None:
    person = value("Who is it? {0}", Person, "Yesterday, Bob Smith, 41 years old, came by")
    assert person == {"name": "Bob Smith", "age": 41, "email": None}
    counted = value("count {0}", list[Product], "3 red marbles and 2 green ones")
    assert [(one["name"], one["price"]) for one in counted] == [("red", 3.0), ("green", 2.0)]
    assert value("Which colours are in {0}?", list[str], "a red boat on a blue sea") == [
        "red",
        "blue",
    ]


def test_a_mail_is_summed_up_by_its_subject() -> None:
    class Ticket(TypedDict):
        category: Literal["billing", "bug", "question"]
        urgent: bool
        summary: str

    assert value("Sort this mail. It is urgent when work has stopped. {0}", Ticket, MAIL) == {
        "category": "billing",
        "urgent": False,
        "summary": "Charged twice",
    }
    assert value("Summarise {0}", str, "The shop is down. Nobody can order.") == "The shop is down."


def test_a_diff_is_reviewed_at_its_line() -> None:
    class Finding(TypedDict):
        line: int
        severity: Literal["low", "medium", "high"]
        comment: str

    diff = "@@ -12,9 +14,2 @@\n+    query = f'select * from orders where id = {id}'"
    (finding,) = value("List at most two findings in this diff: {0}", list[Finding], diff)
    assert (finding["line"], finding["severity"]) == (14, "high")
    assert " " in finding["comment"]


def test_pictures_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(16))

    class Shown(TypedDict):
        description: str
        count: int

    shown = value("Describe {0}\n3 red dots", Shown, image(str(tmp_path / "dot.png")))
    assert shown == {"description": "A short description.", "count": 3}


def test_without_a_sign_the_plain_option_is_chosen() -> None:
    mood = Literal["positive", "negative", "neutral"]
    assert value("What mood is {0}?", mood, "I love it") == "positive"
    assert value("What mood is {0}?", mood, "The chair is here") == "neutral"


def test_a_pair_stays_whole_where_one_parameter_takes_it() -> None:
    def greet(pair: tuple[str, str]) -> str:
        return f"Hello {pair[0]} and {pair[1]}"

    def introduce(one: str, other: str) -> str:
        return f"{one}, this is {other}"

    pairs = [["Ada", "Grace"], ["Alan", "Kurt"]]
    for tool, expected in (
        (greet, ["Hello Ada and Grace", "Hello Alan and Kurt"]),
        (introduce, ["Ada, this is Grace", "Alan, this is Kurt"]),
    ):
        result = prompt(
            "Call {tool} for each pair in {pairs}", tool=tool, pairs=pairs, returns=list[str]
        )
        assert result.value == expected


def test_names_are_put_together_for_a_pair_or_a_list() -> None:
    def greet(pair: tuple[str, str]) -> str:
        return f"Hello {pair[0]} and {pair[1]}"

    def invite(people: list[str], place: str = "here") -> str:
        return f"{len(people)} {place}"

    text = "Introduce Ada and Grace with {tool}."
    assert value(text, str, tool=greet) == "Hello Ada and Grace"
    assert value(text, str, tool=invite) == "2 here"


def test_objects_of_tools_are_cut_to_the_fields_asked_for() -> None:
    def find(sku: str) -> dict[str, Any]:
        return {"sku": sku, "name": f"thing {sku}", "price": 2.5, "left": 4}

    asked = prompt(
        "Call {find} for each of {skus}", find=find, skus=["A", "B"], returns=list[Product]
    )
    assert asked.value == [
        {"name": "thing A", "price": 2.5},
        {"name": "thing B", "price": 2.5},
    ]


def test_outputs_of_tools_are_added_up_but_not_computed_again() -> None:
    def square(x: int) -> int:
        return x * x

    text = "Compute {square} for each of {n}"
    assert value(text, list[int], square=square, n=[2, 3]) == [4, 9]
    assert value(f"{text} and give the sum", int, square=square, n=[2, 3]) == 13


types = st.recursive(
    st.sampled_from([int, float, str, bool, Any, Tree, Literal["a", 2], Literal[1.5, True]]),
    lambda inner: st.one_of(
        inner.map(lambda one: list[one]),
        inner.map(lambda one: dict[str, one]),
        inner.map(lambda one: one | None if one is not Any else one),
        st.tuples(inner, inner).map(lambda pair: tuple[pair]),
        st.dictionaries(
            st.sampled_from(["name", "age", "lines", "is_urgent", "summary", "date", "words"]),
            inner,
            min_size=1,
            max_size=3,
        ).map(lambda fields: TypedDict("Made", fields)),  # pyright: ignore
    ),
    max_leaves=5,
)
prompts = st.lists(
    st.sampled_from(
        [
            *("add two numbers", "for each of", "Alice is 30 years old", "is it urgent?"),
            *('["a","b"]', "[1,2.5]", '{"name":"Bo","age":"x"}', '[{"name":"a"},{"name":"b"}]'),
            *("null", "\n\n", "name: x", "pen   2.00 EUR\n", "3 red", "guess 3 to 9", "[[1],[]]"),
        ]
    ),
    max_size=5,
).map(" ".join)


@given(types, prompts, st.sampled_from(["", "name", "lines"]))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_every_answer_has_its_type(type_: Any, text: str, name: str) -> None:
    schema = json_schema(schema_of(type_))
    jsonschema.validate(value_for(schema, Reading.of(text), name), schema)


def double(x: float) -> float:
    return 2 * x


def add(a: float, b: float) -> float:
    return a + b


def total(items: list[float]) -> float:
    return sum(items)


def upper(text: str) -> str:
    return text.upper()


def locate(city: City) -> Point:
    return Point(59.9, 10.7) if city.name == "Oslo" else Point(41.9, 12.5)


def gap(a: Point, b: Point) -> float:
    return abs(a.lat - b.lat) + abs(a.lon - b.lon)


def find_book(title: str, year: int | None = None) -> str:
    if year is None:
        ambiguous("two", [option(f"the {one} edition", year=one) for one in (1815, 1996)])
    return f"{title} ({year})"


def find_mode(mode: Literal["fast", "slow"], times: int = 1) -> str:
    return mode * times


@pytest.mark.parametrize(
    ("template", "arguments", "returns", "expected"),
    [
        ("double 5, then add 3: {double} {add}", {"double": double, "add": add}, float, 13.0),
        ("add 2, 3 and 4 with {add}", {"add": add}, float, 9.0),
        ("double 1, 2: {double}", {"double": double}, list[float], [2.0, 4.0]),
        ("{upper} each of {w}", {"upper": upper, "w": ["a", "b"]}, list[str], ["A", "B"]),
        (
            "{double} each of {n} and add them up with {total}",
            {"double": double, "total": total, "n": [1, 2, 3]},
            float,
            12.0,
        ),
        ("Which {find_mode} for a slow start?", {"find_mode": find_mode}, str, "slow"),
        ("What is 2 + 3?", {}, int, 5),
        ("Where is {city}?", {"city": {"name": "Oslo"}}, City, City("Oslo")),
    ],
)
def test_programs(template: str, arguments: dict[str, Any], returns: Any, expected: Any) -> None:
    result = program(template, **arguments, returns=returns)
    assert result.value == expected
    assert result.usage.requests == 1


def test_programs_with_conversions() -> None:
    asked = program(
        "How far is Oslo from Rome? Use {gap}.", gap=gap, conversions=[locate], returns=float
    )
    assert asked.value == pytest.approx(19.8)
    assert [call.tool for call in asked.tool_calls] == ["locate", "locate", "gap"]


def test_an_ambiguity_is_resolved_by_the_words_of_the_prompt() -> None:
    for said, expected in (("newest ", "Emma (1996)"), ("oldest ", "Emma (1815)")):
        text = f"Find the {said}edition of {{title}} with {{find_book}}"
        assert program(text, title="Emma", find_book=find_book, returns=str).value == expected
    text = "{find_book} {title}, that of 1996"
    asked = program(text, title="Emma", find_book=find_book, returns=str)
    assert asked.value == "Emma (1996)"


def test_a_plan_calls_what_the_text_names() -> None:
    def refund(customer: str, amount: float) -> None:
        raise AssertionError

    def notify(customer: str, text: str) -> None:
        raise AssertionError

    text = "Give {who} back 25 with {refund}, and tell her with {notify}."
    plan = program(text, who="Ada", refund=refund, notify=notify, returns=Plan).value
    first, second = plan.calls
    assert (first["tool"], first["args"]) == ("refund", {"customer": "Ada", "amount": 25})
    assert (second["tool"], second["args"]["customer"]) == ("notify", "Ada")


functions: list[Callable[..., Any]] = [double, add, total, upper, gap, find_book, find_mode]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["{double}", "{add}", "{total}", "{upper}", "{gap}", "{find_mode}"]),
            st.sampled_from(["3", "2.5", "Oslo", "[1,2]", '"a"', '["a","b"]', '{{"a": 1}}']),
        ),
        max_size=6,
    ),
    st.sampled_from([Any, int, float, str, bool, list[str], City, Point, tuple[int, str], Product]),
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_no_program_is_invalid(parts: list[str], returns: Any) -> None:
    configure(provider="mock")
    text = "do " + " and ".join(parts)
    named = {one.__name__: one for one in functions if f"{{{one.__name__}}}" in text}
    result = program(text, **named, conversions=[locate], returns=returns)
    assert not any("Invalid" in note for note in result.repairs)
