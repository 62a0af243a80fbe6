"""A Python type means the same in a prompt, a check, a tool, a registry and a program."""

# ruff: noqa: E501  (tables of cases, one a line)

import datetime
import enum
import pickle
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple, NotRequired, Optional, TypedDict

import pydantic
import pytest

from runtime_support import CheckError, check, prompt
from runtime_support._core.tools import function_tool
from runtime_support._schema.checking import decode
from runtime_support._schema.model import ABSENT
from runtime_support._schema.reading import schema_of
from runtime_support._schema.writing import json_schema
from runtime_support.programs import (
    Limits,
    ProgramFailure,
    ProgramText,
    Registry,
    Success,
    describe,
    evaluate,
    schema,
    serialize,
)
from runtime_support.programs import check as check_program
from runtime_support.programs._prompting import Plan, program, run
from runtime_support.programs._types import type_notation
from runtime_support.testing import Scripted


@dataclass(frozen=True)
class Seat:
    class_: str
    note: str | None = None


@dataclass(frozen=True)
class Maybe:
    id: int
    note: str | None


class Row(TypedDict):
    id: int
    note: str | None


class Loose(TypedDict):
    id: int
    extra: NotRequired[int]


class XsItem(TypedDict):
    id: int


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Person(pydantic.BaseModel):
    name: str = pydantic.Field(alias="fullName", description="as in the passport")
    age: int = pydantic.Field(ge=0)
    born: datetime.date | None = None


class Family(pydantic.BaseModel):
    members: list[Person]


class Node(TypedDict):
    value: int
    next: Optional["Node"]


def prompted(type_: Any, reply: str) -> Any:
    options = {"provider": Scripted([reply]), "max_repairs": 0}
    return prompt("x", returns=type_, options=options).value


def programmed(type_: Any, reply: str) -> Any:
    options = {"provider": Scripted([reply]), "max_tool_rounds": 0}
    return program("x", returns=type_, options=options).value


ALIKE = [
    (Row, '{"$object": {"id": 1}}', '{"id": 1}', {"id": 1, "note": None}),
    (Row, '{"id": 1, "note": "n"}', '{"id": 1, "note": "n"}', {"id": 1, "note": "n"}),
    (Loose, '{"$object": {"id": 1}}', '{"id": 1}', {"id": 1}),
    (Seat, '{"class": "3b", "note": "n"}', '{"class": "3b", "note": "n"}', Seat("3b", "n")),
    (Seat, '{"Seat": {"class": "3b"}}', '{"class": "3b"}', Seat("3b")),
    (Maybe, '{"Maybe": {"id": 1}}', '{"id": 1}', Maybe(1, None)),
    (Point, '{"x": 1, "y": 2}', '{"x": 1, "y": 2}', Point(1, 2.0)),
    (Point, '{"Point": {"x": 1}}', '{"x": 1}', Point(1)),
    (Colour, '"red"', '"red"', Colour.RED),
    (list[Colour], '["red", "blue"]', '["red", "blue"]', [Colour.RED, Colour.BLUE]),
    (Literal[Colour.RED, "x"], '"red"', '"red"', Colour.RED),
    (Person, '{"fullName": "A", "age": 3}', '{"fullName": "A", "age": 3}', Person(fullName="A", age=3)),
    (Person, '{"fullName": "A", "age": 3, "born": "2026-01-02"}', '{"fullName": "A", "age": 3, "born": "2026-01-02"}',
     Person(fullName="A", age=3, born=datetime.date(2026, 1, 2))),
    (Family, '{"Family": {"members": [{"fullName": "A", "age": 3}]}}', '{"members": [{"fullName": "A", "age": 3}]}',
     Family(members=[Person(fullName="A", age=3)])),
    (dict[str, Row], '{"$object": {"a": {"$object": {"id": 1}}}}', '{"a": {"id": 1}}', {"a": {"id": 1, "note": None}}),
    (tuple[int, ...], "[1, 2]", "[1, 2]", (1, 2)),
    (Node, '{"value": 1, "next": {"$object": {"value": 2}}}', '{"value": 1, "next": {"value": 2}}',
     {"value": 1, "next": {"value": 2, "next": None}}),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "written", "reply", "value"), ALIKE)
def test_a_type_means_the_same_in_a_program(type_, written, reply, value):
    assert programmed(type_, written) == value
    assert prompted(type_, reply) == value
    assert type(programmed(type_, written)) is type(value)
    assert check(value, type_) == value
    assert decode(check(value, Any), schema_of(Any)) == value


def test_a_dynamic_value_takes_what_may_be_absent_too():
    def give(it: Row) -> Any:
        return it

    def loose(of: Any) -> Any:
        return of

    registry = Registry([give, loose])
    assert evaluate(
        {"give": {"it": {"loose": {"of": {"$object": {"id": 1}}}}}}, registry
    ).value == {
        "id": 1,
        "note": None,
    }


WITHOUT_JSON = [
    (set[int], "set[int]"),
    (frozenset[str], "frozenset[str]"),
    (dict[int, str], "dict[int, str]"),
    (bytes, "bytes"),
    (complex, "complex"),
    (list[set[int]], "set[int]"),
    (Row | bytes, "bytes"),
]


@pytest.mark.parametrize(("type_", "name"), WITHOUT_JSON)
def test_what_has_no_json_form_is_refused_in_the_same_words(type_, name):
    words = f"a value of type {name} has no JSON form".replace("[", r"\[").replace("]", r"\]")
    with pytest.raises(CheckError, match=words):
        prompted(type_, "[1]")
    with pytest.raises(CheckError, match=words):
        programmed(type_, "[1]")
    with pytest.raises(CheckError, match=words):
        json_schema(schema_of(type_))
    with pytest.raises(CheckError, match=words):
        evaluate([1], Registry(), returns=type_)

    def take(it): ...

    take.__annotations__ = {"it": type_}
    with pytest.raises(CheckError, match=words):
        function_tool("take", take)


def test_what_a_function_gives_may_be_the_result_all_the_same():
    def numbers() -> set[int]:
        return {1, 2}

    assert evaluate({"numbers": {}}, Registry([numbers]), returns=set[int]).value == {1, 2}
    assert evaluate([1], Registry([numbers]), returns=set[int]).kind == "invalid"


def test_a_field_with_a_name_of_python_is_shown_as_the_script_has_it():
    def find(class_: str, from_: int = 1) -> Seat:
        """finds a seat"""
        return Seat(f"{class_}{from_}")

    registry = Registry([find], [Seat])
    assert describe(registry) == (
        "type Seat(class: string, note?: string | null)\n"
        "find(class: string, from?: integer) -> Seat  # finds a seat"
    )
    assert "class_" not in str(schema(registry))
    outcome = evaluate({"find": {"class": "first"}}, registry)
    assert outcome.value == Seat("first1")
    assert serialize(outcome.value, registry) == {"Seat": {"class": "first1"}}
    wrong = evaluate({"find": {"clas": "first"}}, registry)
    assert "did you mean class?" in wrong.message
    assert "class_" not in wrong.message


def test_messages_do_not_name_the_class_of_an_object_type():
    def take(it: XsItem) -> XsItem:
        return it

    registry = Registry([take], [Seat])
    for given in (5, {"Seat": {"class": "3b"}}, {"id": 1, "name": 2}, {}, {"$object": {}}):
        assert "XsItem" not in str(evaluate({"take": {"it": given}}, registry))
    with pytest.raises(CheckError) as caught:
        check([5], list[XsItem])
    assert str(caught.value) == "value[0]: expected {id: int}, got int 5"
    with pytest.raises(CheckError, match=r"value: expected \[\{id: int\}\]|expected list"):
        check(5, list[XsItem])
    with pytest.raises(CheckError, match='value: expected Seat, got string "7"'):
        check("7", Seat)


def test_messages_show_the_value():
    def take(it: Seat, flag: bool = False) -> Any: ...

    registry = Registry([take], [Seat])
    assert 'expected Seat, got string "7"' in evaluate({"take": {"it": "7"}}, registry).message
    message = evaluate({"take": {"it": {"Seat": "a"}, "flag": "yes"}}, registry).message
    assert message == "parameter 'flag' of take: expected boolean, got string \"yes\""


def test_a_model_validates_itself_and_says_why_not():
    with pytest.raises(CheckError, match=r"value\.age: Input should be greater"):
        decode({"fullName": "A", "age": -1}, schema_of(Person))
    model = Scripted(['{"fullName": "A", "age": -1}', '{"fullName": "A", "age": 1}'])
    result = prompt("x", returns=Person, options={"provider": model, "max_repairs": 1})
    assert result.value == Person(fullName="A", age=1)
    assert "age: Input should be greater" in model.requests[1].messages[-1]["content"]
    document = json_schema(schema_of(Person))
    assert list(document["properties"]) == ["fullName", "age", "born"]
    assert document["properties"]["fullName"]["description"] == "as in the passport"
    outcome = evaluate({"Person": {"fullName": "A", "age": -1}}, Registry(types=[Person]))
    assert isinstance(outcome, ProgramFailure)
    assert check(Person(fullName="A", age=1), Person).age == 1


def test_models_are_told_without_importing_pydantic():
    import subprocess

    code = (
        "from runtime_support import check; import enum, sys\n"
        "E = enum.Enum('E', {'A': 'a'})\n"
        "check(E.A, E); check([1], list[int])\n"
        "print('pydantic' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_enums_pass_through_functions():
    def paint(colour: Colour) -> str:
        return colour.name

    def favourite() -> Colour:
        return Colour.BLUE

    registry = Registry([paint, favourite])
    assert describe(registry).splitlines()[0] == 'paint(colour: "red" | "blue") -> string'
    assert evaluate({"paint": "red"}, registry).value == "RED"
    assert evaluate({"paint": {"colour": {"favourite": {}}}}, registry).value == "BLUE"
    outcome = evaluate({"paint": "rde"}, registry)
    assert 'expected "red" | "blue", got "rde", did you mean red?' in outcome.message
    assert check("red", Colour) is Colour.RED
    with pytest.raises(CheckError, match=r'expected "red" \| "blue", got string "rde"'):
        check("rde", Colour)


def test_an_iterable_is_a_list_for_a_model():
    def total(of: Iterable[int]) -> int:
        return sum(of)

    assert describe(Registry([total])) == "total(of: [integer]) -> integer"
    assert json_schema(schema_of(Iterable[int])) == {"type": "array", "items": {"type": "integer"}}
    assert evaluate({"total": {"of": [1, "2"]}}, Registry([total])).value == 3
    assert check((1, 2), Iterable[int]) == (1, 2)


NO_TYPES = [Literal[b"a"], [], {}, 3, "int", [int]]


@pytest.mark.parametrize("type_", NO_TYPES, ids=repr)
def test_what_is_no_type_is_a_check_error(type_):
    for use in (
        lambda: check(1, type_),
        lambda: prompted(type_, "1"),
        lambda: programmed(type_, "1"),
        lambda: schema_of(type_),
    ):
        with pytest.raises(CheckError, match=r"is not a type|a literal is"):
            use()


def walk(to: Seat, row: Row, node: Node, colour: Colour, person: Person) -> Loose:
    return {"id": 1}


def as_seat(value: str) -> Seat:
    return Seat(value)


def test_plans_and_types_pickle():
    for type_ in (Row, Node, Seat, Colour, Person, Point, set[int], Iterable[int], Any, Family):
        read = schema_of(type_)
        assert pickle.loads(pickle.dumps(read)) == read
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT
    registry = Registry([walk], [Seat, Person], [as_seat], pure=[walk])
    written = {
        "walk": {
            "to": "3b",
            "row": {"$object": {"id": 1}},
            "node": {"value": 1, "next": {"$object": {"value": 2}}},
            "colour": "red",
            "person": {"fullName": "A", "age": 1},
        }
    }
    checked = check_program(written, registry)
    plan = pickle.loads(pickle.dumps(Plan(checked)))
    assert plan == Plan(checked)
    assert run(plan) == {"id": 1}
    outcome = evaluate(written, registry)
    assert pickle.loads(pickle.dumps(outcome)) == outcome
    assert run(Plan(pickle.loads(pickle.dumps(checked)))) == {"id": 1}


def test_caches_of_types_are_bounded():
    from runtime_support import _schema as checks
    from runtime_support._schema import reading
    from runtime_support._schema.reading import object_schema

    for number in range(1500):
        type_ = Literal[number]
        schema_of(type_)
        check(number, type_)
        object_schema({f"f{number}": int})
    for cache in (reading._cache, reading._objects, checks._compiled):
        assert len(cache) <= 1024


def test_types_that_recur_are_compared():
    class Other(TypedDict):
        value: int
        next: Optional["Other"]

    def make() -> Node:
        return {"value": 1, "next": None}

    def take(it: Other) -> int:
        return it["value"]

    registry = Registry([make, take], {"Other": Other})
    assert evaluate({"take": {"it": {"make": {}}}}, registry).value == 1
    assert type_notation(registry.read_type(Node)) == "{value: integer, next?: Node | null}"


# Conversions have effects unless they are named as pure.


def conversions_in_order(pure: bool) -> tuple[list[str], Registry]:
    written: list[str] = []

    @dataclass(frozen=True)
    class Town:
        name: str

    @dataclass(frozen=True)
    class Place:
        lat: float

    meeting = threading.Barrier(2 if pure else 1)

    def locate(town: Town) -> Place:
        meeting.wait(60)
        written.append(town.name)
        return Place(1.0)

    def gap(a: Place, b: Place) -> float:
        return a.lat - b.lat

    def same(of: Any) -> Any:
        return of

    names = {"Town": Town, "Place": Place}
    known = [locate] if pure else []
    return written, Registry([gap, same], names, [locate], pure=[gap, same, *known])


TOWNS = [
    {"gap": {"a": {"Town": "Oslo"}, "b": {"Town": "Rome"}}},
    {"gap": {"a": {"same": {"of": {"Town": "Oslo"}}}, "b": {"same": {"of": {"Town": "Rome"}}}}},
    {
        "$map": {
            "over": ["Oslo", "Rome"],
            "as": "n",
            "do": {"gap": {"a": {"Town": {"name": {"$ref": "n"}}}, "b": {"Place": 1}}},
        }
    },
    {
        "gap": {
            "a": {"locate": {"town": {"Town": "Oslo"}}},
            "b": {"locate": {"town": {"Town": "Rome"}}},
        }
    },
]


@pytest.mark.parametrize("program", TOWNS)
def test_conversions_run_in_the_order_of_the_program(program):
    written, registry = conversions_in_order(pure=False)
    outcome = evaluate(program, registry)
    assert isinstance(outcome, Success), outcome
    assert written == ["Oslo", "Rome"]
    assert [call.pure for call in outcome.calls if call.name == "locate"] == [False, False]


@pytest.mark.parametrize("program", TOWNS[:2])
def test_conversions_named_as_pure_run_together(program):
    written, registry = conversions_in_order(pure=True)
    assert isinstance(evaluate(program, registry), Success)
    assert sorted(written) == ["Oslo", "Rome"]


def test_effects_of_conversions_are_not_repeated():
    written, registry = conversions_in_order(pure=False)
    first = evaluate(TOWNS[0], registry)
    evaluate(TOWNS[0], registry, earlier=first.calls)
    assert written == ["Oslo", "Rome"]


# Values in between are bounded.


def replace(text: str, old: str, new: str) -> str:
    return text.replace(old, new)


def many(count: int) -> list[int]:
    return list(range(count))


@pytest.mark.heavy
def test_values_in_between_are_bounded():
    program: Any = "a"
    for _ in range(30):
        program = {"replace": {"text": program, "old": "a", "new": "aa"}}
    outcome = evaluate(program, Registry([replace, many, len]), limits=Limits(value_bytes=10_000))
    assert (outcome.kind, outcome.message) == ("limit", "replace returned more than 10000 bytes")
    assert len(outcome.calls) == 14
    assert (
        evaluate({"len": {"obj": {"many": 10**7}}}, Registry({"many": many, "len": len})).kind
        == "limit"
    )
    assert (
        evaluate({"len": {"obj": {"many": 10**5}}}, Registry({"many": many, "len": len})).value
        == 10**5
    )


def test_texts_that_are_joined_over_and_over_are_bounded():
    def same(text: str) -> str:
        return text

    names = [f"x{n}" for n in range(40)]
    bind: dict[str, Any] = {"x0": "a" * 100}
    for before, name in pairwise(names):
        both = [{"$ref": before}, {"$ref": before}]
        bind[name] = {"same": {"text": both}}
    outcome = evaluate(
        {"$let": {"bind": bind, "in": {"$ref": "x39"}}}, Registry([same], pure=[same])
    )
    assert outcome.kind == "limit"


def test_half_a_surrogate_pair_is_no_text():
    for written in ('"\\ud800"', '{"a": "\\udc00", "b": 1}', '{"\\ud800": 1, "b": 1}', ["\ud800"]):
        outcome = evaluate(
            ProgramText(written) if isinstance(written, str) else written, Registry()
        )
        assert isinstance(outcome, ProgramFailure), written
        assert outcome.kind == "invalid"
        assert "half of a surrogate pair" in outcome.message
        str(outcome).encode()
    assert evaluate(ProgramText('"\\ud83d\\ude00"'), Registry()).value == "\U0001f600"


def test_a_key_that_stands_twice_is_refused_in_tool_arguments():
    from runtime_support._core.tasks.waits import finish
    from runtime_support._core.tools import call_tool

    def note(text: str) -> str:
        return text

    tools = {"note": function_tool("note", note)}
    called = finish(call_tool(tools, "note", '{"text": "a", "text": "b"}'))
    assert called.result is None
    assert "the key `text` twice" in called.error


@dataclass
class Box:
    tags: list[str] = field(default_factory=list)


def test_a_default_that_is_made_anew_is_made_anew():
    registry = Registry(types=[Box])
    first, second = (evaluate({"Box": {}}, registry).value for _ in range(2))
    assert first == second
    assert first.tags is not second.tags
