"""The registry reads Python signatures; describe writes them for the model."""

# ruff: noqa: E501  (tables of cases, one a line)

import datetime
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, Optional, TypedDict

import pydantic
import pytest

from runtime_support import ops
from runtime_support.programs import (
    Registry,
    RegistryError,
    SerializationError,
    Success,
    describe,
    evaluate,
    schema,
    serialize,
)
from runtime_support.programs._types import BUILT_IN_NAMES
from saftc.infer import programs


@dataclass(frozen=True)
class Place:
    """a place
    on the map

    with more that is not for the model
    """

    name: Annotated[str, "as its people write it"]
    tags: list[str] = field(default_factory=list)
    size: tuple[float, float] | None = None


@dataclass(frozen=True)
class Tree:
    left: Optional["Tree"] = None
    right: Optional["Tree"] = None


class Person(NamedTuple):
    name: str
    age: int = 3


class Model(pydantic.BaseModel):
    """checked by pydantic"""

    number: int
    label: str | None = None


class Json(TypedDict, total=False):
    kids: list["Json"]
    name: str


class Plain:
    def __init__(self, size: int) -> None:
        self.size = size

    def __eq__(self, other):
        return isinstance(other, Plain) and other.size == self.size

    __hash__ = None


def line(function, **more):
    return describe(Registry({"it": function}, **more))


def test_signature_lines():
    def documented(
        a: int, b: Annotated[str, "the word"] = "x", *, c: bool | None = None
    ) -> list[float]:
        """what it does

        in detail
        """
        return []

    def shapes(
        a: Sequence[str], b: tuple[int, str], c: dict[str, int], d: dict, e: Json
    ) -> None: ...

    def loose(a, b=1, **rest): ...

    def words(level: Literal["low", "high", 3], *more: int) -> "Place | None": ...

    def calls(back: Callable[[int], int], kind: type[int]) -> object: ...

    assert line(documented) == (
        "it(a: integer, b?: string, c?: boolean) -> [number]  # what it does; b: the word"
    )
    assert line(shapes) == (
        "it(a: [string], b: (integer, string), c: object of integer, d: object, "
        "e: {kids?: [Json], name?: string}) -> null"
    )
    assert line(loose) == "it(a: any, b?: any) -> any"
    assert line(words) == 'it(level: "low" | "high" | 3, more?: [integer]) -> Place | null'
    assert line(calls) == "it(back: any, kind: any) -> any"
    assert line(partial(documented, c=True)).startswith("it(a: integer, b?: string")


def test_a_callable_may_be_described_as_data():
    described = {
        "name": "times",
        "doc": "how often",
        "takes": {"of": (list[str], None), "word": (str, "a")},
        "gives": int,
    }

    def operation(name, doc, takes, gives):
        def call(**given):
            return given["of"].count(given.get("word", "a"))

        parameters = [
            inspect.Parameter(
                key,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=type_,
                default=inspect.Parameter.empty if default is None else default,
            )
            for key, (type_, default) in takes.items()
        ]
        call.__name__, call.__doc__ = name, doc
        call.__signature__ = inspect.Signature(parameters, return_annotation=gives)
        return call

    registry = Registry([operation(**described)])
    assert describe(registry) == "times(of: [string], word?: string) -> integer  # how often"
    assert evaluate({"times": {"of": ["a", "b", "a"]}}, registry).value == 2
    assert evaluate({"times": {"of": [True]}}, registry).kind == "invalid"


def test_type_lines():
    assert describe(Registry(types=[Place, Tree, Person, Model, Plain])) == (
        "type Place(name: string, tags?: [string], size?: (number, number) | null)"
        "  # a place on the map; name: as its people write it\n"
        "type Tree(left?: Tree | null, right?: Tree | null)\n"
        "type Person(name: string, age?: integer)\n"
        "type Model(number: integer, label?: string | null)  # checked by pydantic\n"
        "type Plain(size: integer)"
    )


VALUES = [
    (Place("Oslo"), {"Place": {"name": "Oslo"}}),
    (Place("Oslo", ["a"], (1.0, 2.0)), {"Place": {"name": "Oslo", "tags": ["a"], "size": [1.0, 2.0]}}),
    (Tree(Tree(), None), {"Tree": {"left": {"Tree": {}}}}),
    (Person("Ann"), {"Person": {"name": "Ann"}}),
    ([Person("Ann", 4)], [{"Person": {"name": "Ann", "age": 4}}]),
    (Model(number=1, label="x"), {"Model": {"number": 1, "label": "x"}}),
    (Plain(3), {"Plain": {"size": 3}}),
    ({"a": Plain(3)}, {"$object": {"a": {"Plain": {"size": 3}}}}),
    ({"a": 1, "b": {}}, {"a": 1, "b": {}}),
    ({"$ref": "x", "b": 1}, {"$object": {"$ref": "x", "b": 1}}),
    ({"Place": 1}, {"$object": {"Place": 1}}),
    ([None, True, "x", 1.5, 10**30], [None, True, "x", 1.5, 10**30]),
]  # fmt: skip


@pytest.mark.parametrize(("value", "program"), VALUES)
def test_serialize(value, program):
    registry = Registry(types=[Place, Tree, Person, Model, Plain])
    assert serialize(value, registry) == program
    outcome = evaluate(program, registry)
    assert isinstance(outcome, Success), outcome
    assert outcome.value == value
    assert type(outcome.value) is type(value)


def test_registries_are_extended_and_merged():
    def size(of: str) -> int:
        return len(of)

    def place(text: str) -> Place:
        return Place(text)

    def where(it: Place) -> str:
        return it.name

    functions, types = Registry([size], pure=[size]), Registry(types=[Place])
    conversions = Registry(types=[Place], conversions=[place])
    merged = functions | types | conversions
    assert describe(merged) == describe(conversions | functions)
    assert sorted(merged.definitions) == ["Place", "place", "size"]
    assert [one.name for one in merged.definitions.values() if one.pure] == ["Place", "size"]
    extended = merged.extended([where, size], types=[Place], pure=["where"])
    assert evaluate({"size": {"of": {"where": "Oslo"}}}, extended).value == 4
    assert extended.definitions["where"].pure
    assert "where" not in merged.definitions
    named = merged.extended({"again": size}, pure=["place"])
    assert evaluate({"again": "abc"}, named).value == 3
    assert named.definitions["place"].pure and not merged.definitions["place"].pure


def test_a_name_of_two_registries_stands_for_one_thing():
    def size(of: int) -> int:
        return of

    def other(of: int) -> int:
        return of

    registry = Registry({"size": size})
    for make in (
        lambda: registry.extended({"size": other}),
        lambda: registry | Registry({"size": other}),
        lambda: registry | Registry(conversions={"size": size}),
        lambda: registry.extended(types={"size": Place}),
    ):
        with pytest.raises(RegistryError, match="'size' is registered twice"):
            make()
    with pytest.raises(TypeError):
        registry | {"size": size}
    with pytest.raises(RegistryError, match="nothing is pure but not registered"):
        registry.extended(pure=["nothing"])


@dataclass
class Either:
    it: list[int] | tuple[int, int]


def test_serialize_refuses():
    registry = Registry(types=[Place, Either])
    cycle: list[Any] = []
    cycle.append({"a": cycle, "b": 1})
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for value, reason in (
        (cycle, "contains itself"),
        (float("nan"), "nan"),
        ([float("inf")], r"value\[0\] is inf"),
        (object(), "object"),
        (Person("Ann"), "Person"),
        ({1, 2}, "set"),
        (Either((1, 2)), "tuple"),
        ({1: 2}, "key 1"),
        (Place("x", [Tree()]), r"value.tags\[0\] is a Tree"),
        (deep, "nested too deeply"),
    ):
        with pytest.raises(SerializationError, match=reason):
            serialize(value, registry)


def test_tuples_are_lists_that_their_places_make_tuples_again():
    def pair() -> tuple[int, tuple[str, ...]]:
        return 1, ("a", "b")

    def swapped(it: tuple[int, tuple[str, ...]]) -> tuple[tuple[str, ...], int]:
        return it[1], it[0]

    registry = Registry([pair, swapped])
    value = evaluate({"pair": {}}, registry).value
    assert value == (1, ("a", "b"))
    written = serialize(value, registry)
    assert written == [1, ["a", "b"]]
    assert serialize(evaluate(written, registry).value, registry) == written
    assert evaluate(written, registry, returns=tuple[int, tuple[str, ...]]).value == value
    given = evaluate({"swapped": {"it": written}}, registry)
    assert given.value == (("a", "b"), 1)
    assert serialize({"of": given.value}, registry) == {"$object": {"of": [["a", "b"], 1]}}
    assert serialize(((), [()]), registry) == [[], [[]]]


def test_shared_parts_are_no_cycle():
    part = [1]
    assert serialize([part, part], Registry()) == [[1], [1]]


def first(a): ...
def other(a: int) -> int: ...
def number(a): ...
def two(a: int, b: int) -> int: ...
def untyped(a) -> int: ...
def unknown(a: "Nowhere") -> int: ...  # noqa: F821


REFUSED = [
    ({"functions": [first, first]}, "registered twice"),
    ({"functions": {"Place": first}, "types": [Place]}, "registered twice"),
    ({"functions": [other], "conversions": [other]}, "registered twice"),
    ({"functions": [number]}, "built-in type"),
    ({"functions": {"string": first}}, "built-in type"),
    ({"functions": {"$let": first}}, "plain name"),
    ({"functions": {"a$b": first}}, "plain name"),
    ({"functions": {"a b": first}}, "plain name"),
    ({"functions": [lambda a: a]}, "plain name"),
    ({"functions": {"x": 5}}, "not callable"),
    ({"functions": [unknown]}, "cannot be resolved"),
    ({"conversions": [two]}, "exactly one parameter"),
    ({"conversions": [untyped]}, "types of both sides"),
    ({"conversions": [first]}, "types of both sides"),
    ({"functions": [first], "pure": [other]}, "other is pure but not registered"),
]


@pytest.mark.parametrize(("arguments", "reason"), REFUSED)
def test_refused(arguments, reason):
    with pytest.raises(RegistryError, match=reason):
        Registry(**arguments)


def test_names_of_classes_in_text_annotations():
    @dataclass
    class Local:
        size: "int"
        inner: "Local | None" = None

    def take(it: "Local") -> "list[Local]":
        return [it]

    registry = Registry([take], [Local])
    assert evaluate({"take": {"it": {"size": 1}}}, registry).value == [Local(1)]


def test_other_ways_to_pass_arguments():
    def positional(a: int, /, b: int) -> int:
        return a - b

    def spread(first: int, *rest: int, last: int = 0) -> list:
        return [first, *rest, last]

    class Adder:
        def __call__(self, a: int) -> int:
            return a + 1

    registry = Registry({"positional": positional, "spread": spread, "add": Adder(), "len": len})
    assert evaluate({"positional": {"b": 1, "a": 3}}, registry).value == 2
    assert evaluate({"spread": {"first": 1, "rest": ["2", 3], "last": 4}}, registry).value == [
        1,
        2,
        3,
        4,
    ]
    assert evaluate({"spread": 1}, registry).value == [1, 0]
    assert evaluate({"add": 1}, registry).value == 2
    assert evaluate({"len": {"obj": "abc"}}, registry).value == 3


def test_unregistered_classes_pass_through():
    def make() -> Plain:
        return Plain(3)

    def size(of: Plain) -> int:
        return of.size

    registry = Registry([make, size])
    assert evaluate({"size": {"of": {"make": {}}}}, registry).value == 3
    assert evaluate({"make": {}}, registry).value == Plain(3)
    assert evaluate({"size": {"of": 3}}, registry).kind == "invalid"
    assert evaluate({"Plain": {"size": 3}}, registry).kind == "invalid"


def test_no_attributes_are_in_reach():
    registry = Registry({"first": first}, [Place])
    for name in ("__class__", "Place.name", "first.__globals__", "eval", "__import__", "Registry"):
        assert evaluate({name: {}}, registry).kind == "invalid"
    assert evaluate({"first": {"a": 1, "__class__": 2}}, registry).kind == "invalid"


def test_builtins_of_the_language_can_be_registered():
    registry = Registry([ops.upper, ops.join, ops.sum, ops.range])
    assert evaluate({"upper": {"join": {}}}, registry).kind == "invalid"
    assert evaluate({"upper": "x"}, registry).value == "X"
    assert "upper" in describe(registry)
    assert schema(registry)


def test_the_compiler_knows_the_names_that_are_taken():
    assert programs.BUILT_IN_NAMES == BUILT_IN_NAMES


def test_a_model_is_told_in_which_form_it_writes_dates_and_decimals():
    def pay(amount: Decimal, on: datetime.date, wait: datetime.timedelta | None = None) -> str:
        return f"{amount} {on} {wait}"

    registry = Registry([pay])
    assert describe(registry) == (
        'pay(amount: string such as "12.30", on: string such as "2026-01-31", '
        'wait?: string such as "P1DT2H30M") -> string'
    )
    outcome = evaluate({"pay": {"amount": 1.5, "on": "tomorrow"}}, registry)
    assert [one.message for one in outcome.diagnostics] == [
        "parameter 'amount' of pay: expected string such as \"12.30\", got number 1.5",
        "parameter 'on' of pay: expected string such as \"2026-01-31\", got string \"tomorrow\"",
    ]
    written = {"pay": {"amount": "1.50", "on": "2026-01-31", "wait": "PT5M"}}
    assert evaluate(written, registry).value == "1.50 2026-01-31 0:05:00"
