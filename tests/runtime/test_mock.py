"""The mock: its rules, and that its answers are always of the type that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import jsonschema
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime_support import ProgramError, configure, image, prompt
from runtime_support._core.messages import Request
from runtime_support._core.outputs.contracts import contract_of
from runtime_support._mock.provider import MockProvider
from runtime_support._mock.values import ParsedPrompt
from runtime_support._schema.reading import schema_of
from runtime_support._schema.writing import json_schema
from runtime_support.programs import ambiguous, option
from runtime_support.programs._outcomes import ProgramFailure
from runtime_support.programs._prompting import Plan, program


class Person(TypedDict):
    name: str
    age: int
    email: str | None


@dataclass(frozen=True)
class Item:
    name: str
    price: float


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


@pytest.fixture(autouse=True)
def mock() -> None:
    configure(provider="mock")


def value(template: str, type_: Any = str, *values: Any, **names: Any) -> Any:
    return prompt(template, *values, returns=type_, **names).value


def test_what_can_be_computed_is_computed() -> None:
    assert value("add {a} and {b}", int, a=2, b=3) == 5
    assert value("the sum of {0}", float, [1, 2.5]) == 3.5
    assert value("multiply {0} by 3", int, 4) == 12
    assert value("what's {0} + {1}", int, 2, 2) == 4
    assert value("compute the square of each in {0}", list[int], [1, 2, 3]) == [1, 4, 9]
    assert value("the largest of {0}", int, [3, 9, 4]) == 9
    assert value("who has the longest name in {0}?", str, ["Al", "Barbara", "Bo"]) == "Barbara"
    assert value("convert each item of {0} to uppercase", list[str], ["a", "b"]) == ["A", "B"]
    assert value("how many words are in {0}?", int, "one two three") == 3
    assert value("is {0} even?", bool, 4) is True
    assert value("is {0} > {1}?", bool, 5, 3) is True


def test_a_choice_is_what_the_text_names_or_the_first() -> None:
    kind = Literal["bug", "feature", "question"]
    assert value("classify {0}", kind, "a new feature, please") == "feature"
    assert value("classify {0}", kind, "it crashes") == "bug"


def test_objects_are_filled_from_the_prompt() -> None:
    person = value("Get user info for {0}", Person, "Alice")
    assert person["name"] == "Alice"
    assert isinstance(person["age"], int)
    assert value("extract {0}", Person, "Bob Smith is 41 years old") == {
        "name": "Bob Smith",
        "age": 41,
        "email": None,
    }
    given = {"price": 12.5, "name": "Desk Lamp", "sku": "A1"}
    assert value("extract {0}", Item, given) == Item("Desk Lamp", 12.5)
    assert value("extract each of {0}", list[Item], [("A", 1.5), ("B", 2.5)])[1].name == "B"
    assert len(value("make up three items", list[Item])) == 3


def test_an_ordinal_picks_the_row_of_a_table() -> None:
    class Row(TypedDict):
        id: int
        action: str

    table = [(7, "dance"), (8, "sing")]
    assert value("the 2nd of {0} in {1}", Row, [7, 8], table) == {"id": 8, "action": "sing"}


def test_json_that_is_asked_for_is_given_back() -> None:
    assert prompt("Give {0} as JSON.", {"name": "lamp"}).value == '{"name":"lamp"}'


def test_every_kind_of_type_gets_a_value() -> None:
    for type_ in (Any, dict[str, int], tuple[int, str], list[tuple[str, float]], int | None):
        value("anything", type_)


def test_fields() -> None:
    fields = {"name": str, "age": int}
    result = prompt("Get user info for {0}", "Alice", fields=fields, rounds=1)
    assert result.value[0] == "Alice"
    numbers = prompt("three of {0}", [5, 6], fields={"numbers": list[int], "first": int})
    assert numbers.value == ([1, 1, 1], 1)


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

    result = prompt("Is it warmer in Oslo or in Cairo? Use {weather}.", weather=weather)
    assert [call.args for call in result.tool_calls] == [{"city": "Oslo"}, {"city": "Cairo"}]
    result = prompt("Use {add} to add 2 and 3", add=add, returns=int)
    assert result.value == 5


def test_a_do_prompt_answers_after_its_round() -> None:
    def weather(city: str) -> str:
        return f"sunny in {city}"

    assert prompt("look up {weather} in Oslo", weather=weather, rounds=1).value == "sunny in Oslo"


def test_the_same_prompt_has_the_same_answer() -> None:
    assert len({str(value("make up three priced items as JSON", Any)) for _ in range(5)}) == 1


def test_numbers_are_compared() -> None:
    assert value("Is {a} greater than {b}?", bool, a=3, b=2.5) is True
    assert value("Is {a} less than {b}?", bool, a=3, b=2.5) is False


def test_a_question_of_yes_or_no_is_answered_in_a_field() -> None:
    asked = "Is {a} {sign:raw} {b}? Return valid (true/false) and reason"
    for a, sign, b, answer in (
        (5, ">", 3, True),
        (3, ">", 5, False),
        (3, "<=", 3, True),
        (3, "==", 4, False),
        (3, "!=", 4, True),
    ):
        named = {"a": a, "sign": sign, "b": b}
        assert value(asked, TypedDict("V", {"valid": bool, "reason": str}), **named) == {
            "valid": answer,
            "reason": "some reason",
        }
        assert prompt(asked, fields={"valid": bool, "reason": str}, **named).value[0] is answer
    assert value("is {0} even? Say whether and why", Parity, 4)["whether"] is True
    assert value("is the weather fine? Say whether and why", Parity)["whether"] is False


class Parity(TypedDict):
    whether: bool
    why: str


def test_what_a_table_says_of_its_columns_is_looked_up() -> None:
    table = pl.DataFrame(
        {"name": ["Ada", "Bob"], "age": [30, 25], "points": [80.0, 95.5], "none": [None, None]}
    )
    assert value("which column from {0} has highest average", str, table) == "points"
    assert value("Which column of {0} has the lowest mean?", str, table) == "age"
    assert value("which column of {0} has the largest value", str, table) == "points"
    assert value("which column of {0} is best", Literal["age", "points"], table) == "age"
    assert value("the mean of points in {0}", float, table) == 87.75
    assert value("the smallest age in {0}", int, table) == 25
    assert value("the largest name in {0}", str, table) == "A short answer to: the largest name in"


def test_pictures_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(16))

    class Shown(TypedDict):
        description: str
        count: int

    shown = value("Describe {0}\n3 red dots", Shown, image(str(tmp_path / "dot.png")))
    assert shown == {"description": "some description", "count": 3}


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


def test_members_of_tuples_and_objects_go_to_the_parameters() -> None:
    def make_row(id, verb):  # type: ignore[no-untyped-def]
        return {"verb": verb.upper(), "id": id}

    def label(id: int, verb: str) -> str:
        return f"{id}: {verb}"

    text = "For each of {items} call {make_row}, then {label} with what it gave."
    items = [(1, "build"), (2, "test")]
    result = prompt(text, items=items, make_row=make_row, label=label, returns=list[str])
    assert result.value == ["1: BUILD", "2: TEST"]


def test_a_tool_is_chosen_for_even_and_odd_numbers() -> None:
    def half(n: int) -> int:
        return n // 2

    def triple(n: int) -> int:
        return 3 * n

    text = "For each n in {ns}:\n- if n is odd, call {triple}\n- if n is even, call {half}"
    result = prompt(text, ns=[1, 2, 3, 8], half=half, triple=triple, returns=list[int])
    assert result.value == [3, 1, 9, 4]


def test_a_tool_is_chosen_for_one_number() -> None:
    def half(n: int) -> int:
        return n // 2

    def triple(n: int) -> int:
        return 3 * n

    text = "If {n} is even, call {half}; if it is odd, call {triple}."
    assert prompt(text, n=8, half=half, triple=triple, returns=int).value == 4
    assert prompt(text, n=5, half=half, triple=triple, returns=int).value == 15


def test_the_last_question_is_answered() -> None:
    earlier = ({"role": "user", "content": "add 1 and 1"}, {"role": "assistant", "content": "2"})
    asked = {"role": "user", "content": "add 2 and 3\n\nReply with JSON only."}
    request = Request((*earlier, asked), schema={"type": "integer"})
    assert MockProvider().complete(request).text == "5"


def test_numbers_that_json_has_not_are_text() -> None:
    assert prompt("what of 1e999 and {raw:raw}?", raw='[NaN] "7 + 1"').value.startswith("A short")


def test_those_whom_the_text_names_are_meant_in_its_order() -> None:
    def greet(x, y):  # type: ignore[no-untyped-def]
        return f"{x} greets {y}"

    text = "Of {people}, kim looks for jo. Can you {greet} them?"
    assert prompt(text, people=["jo", "ann", "kim"], greet=greet).value == "kim greets jo"


def test_a_tool_is_called_with_each_option_that_the_prompt_has() -> None:
    def average(figure: Literal["goals", "age", "height"]) -> float:
        return table[figure].mean()

    def top(figure: Literal["goals", "age", "height"]) -> int:
        return table[figure].max()

    table = pl.DataFrame({"goals": [1, 9], "age": [30, 20]})
    result = prompt("Report on {t} with {average} and {top}.", t=table, average=average, top=top)
    assert [(call.tool, call.args, call.result) for call in result.tool_calls] == [
        ("average", {"figure": "goals"}, "5.0"),
        ("average", {"figure": "age"}, "25.0"),
        ("top", {"figure": "goals"}, "9"),
        ("top", {"figure": "age"}, "30"),
    ]


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


@pytest.mark.one_python
@given(types, prompts, st.sampled_from(["", "name", "lines"]))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_every_answer_has_its_type(type_: Any, text: str, name: str) -> None:
    schema = json_schema(schema_of(type_))
    reading = ParsedPrompt.of(text, schema.get("$defs", {}))
    jsonschema.validate(reading.value(schema, name), schema)


@given(types)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_a_contract_is_one_paragraph(type_: Any) -> None:
    assert "\n\n" not in contract_of(type_).text


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


@pytest.mark.heavy
@pytest.mark.one_python
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
    try:
        result = program(text, **named, conversions=[locate], returns=returns)
    except ProgramError as failed:  # in the run: a number that is no bool, a year that is none
        assert isinstance(failed.outcome, ProgramFailure) and "Invalid" not in str(failed)
        return
    assert not any("Invalid" in note for note in result.repairs)
