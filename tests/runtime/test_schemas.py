"""Schemas: Python types as data, their notation, their JSON Schema, JSON read by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from typing import Annotated, Any, Literal, TypedDict

import annotated_types as at
import jsonschema
import pytest
import typing_extensions

from runtime_support import CheckError, check, prompt
from runtime_support._schema.checking import decode
from runtime_support._schema.documents import fits
from runtime_support._schema.model import ListSchema, ScalarSchema, UnionSchema
from runtime_support._schema.reading import object_schema, schema_of
from runtime_support._schema.writing import json_schema, notation, short, strict_json_schema
from runtime_support.testing import Scripted, tool_request


@dataclass(frozen=True)
class City:
    """A city."""

    name: Annotated[str, "as in English"]
    at: tuple[float, float]
    country: str | None = None


class Pair(TypedDict):
    left: int
    right: int | None


class Tree(TypedDict):
    value: int
    children: list[Tree]


@dataclass
class Bare:
    count: int = 3


@pytest.mark.parametrize(
    ("type_", "written"),
    [
        (int, "int"),
        (Any, "any"),
        (list[str], "[string]"),
        (tuple[int, str], "(int, string)"),
        (dict[str, float], "{any name: float}"),
        (str | None, "string?"),
        (int | str, "int | string"),
        (int | str | None, "int | string | nil"),
        (Literal["low", "high"], '"low" | "high"'),
        (Pair, "{left: int, right: int?}"),
        (list[Pair], "[{left: int, right: int?}]"),
        (
            City,
            "{\n  name: string, // as in English\n  at: (float, float),\n  country: string?,\n}",
        ),
        (Tree, "{value: int, children: [Tree]}\nTree = {value: int, children: [Tree]}"),
    ],
)
def test_the_notation_is_the_scripts(type_: Any, written: str) -> None:
    assert notation(schema_of(type_)) == written


def test_the_notation_says_when_each_record_of_a_union_is_meant() -> None:
    @dataclass
    class Found:
        """A flight."""

        number: str

    @dataclass
    class Nothing:
        """When no flight
        is found."""

    written = "{number: string} /* A flight. */ | {} /* When no flight is found. */"
    assert notation(schema_of(Found | Nothing)) == written
    assert notation(schema_of(list[Found])) == "[{number: string}]"
    assert "flight" not in short(schema_of(Found | Nothing))


def test_the_notation_tells_classes_of_one_name_apart() -> None:
    def node(value: type) -> Any:
        made = make_dataclass("Node", [("value", value), ("next", "Node | None")])
        made.__module__ = "nowhere"
        return schema_of(made, {"Node": made})

    written = notation(UnionSchema((node(int), node(str)))).splitlines()[1:]
    assert written == [
        "Node = {value: int, next: Node?}",
        "Node2 = {value: string, next: Node2?}",
    ]


class Alias:
    """What Python makes of `type Data = int | list[Data]`, from 3.12 on."""

    __name__ = "Data"
    __value__: Any


def test_an_alias_may_contain_itself() -> None:
    alias: Any = Alias()
    alias.__value__ = int | list[alias]
    assert notation(schema_of(alias)) == "int | [Data]\nData = int | [Data]"
    assert decode([1, [2]], schema_of(alias)) == [1, [2]]
    with pytest.raises(CheckError, match=r"^value\[1\]\[0\]: expected int | \[Data\], got string"):
        decode([1, ["x"]], schema_of(alias))


def test_types_that_are_equal_but_read_otherwise_keep_their_order() -> None:
    assert notation(schema_of(int | str)) == "int | string"
    assert notation(schema_of(str | int)) == "string | int"


@pytest.mark.parametrize(
    ("type_", "valid", "invalid"),
    [
        (int, 1, "1"),
        (float, 1, "1"),
        (list[bool], [True], [1]),
        (tuple[int, str], [1, "a"], [1]),
        (dict[str, int], {"a": 1}, {"a": "b"}),
        (Literal["a", 3, None], None, 4),
        (int | None, None, "x"),
        (Pair, {"left": 1}, {"left": 1, "other": 2}),
        (City, {"name": "Oslo", "at": [1, 2]}, {"name": "Oslo"}),
        (Tree, {"value": 1, "children": [{"value": 2, "children": []}]}, {"value": 1}),
        (list[City] | None, None, [1]),
        (Bare, {}, {"count": "x"}),
        (Annotated[str, at.Len(2, 3)], "ab", "a"),
        (Annotated[str, at.Len(2, 3)], "abc", "abcd"),
        (Annotated[dict[str, int], at.MinLen(1)], {"a": 1}, {}),
    ],
)
def test_json_schema_and_decode_agree(type_: Any, valid: Any, invalid: Any) -> None:
    schema = schema_of(type_)
    document = json_schema(schema)
    jsonschema.Draft202012Validator.check_schema(document)
    jsonschema.validate(valid, document)
    assert fits(document, valid, document.get("$defs", {}))
    assert not fits(document, invalid, document.get("$defs", {}))
    decode(valid, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(invalid, document)
    with pytest.raises(CheckError):
        decode(invalid, schema)


def test_docs_reach_the_json_schema() -> None:
    document = json_schema(schema_of(City))
    assert document["description"] == "A city."
    assert document["properties"]["name"]["description"] == "as in English"
    assert "description" not in json_schema(schema_of(Bare))


def test_decode_builds_records_and_tuples() -> None:
    assert decode({"name": "Oslo", "at": [1, 2]}, schema_of(City)) == City("Oslo", (1.0, 2.0))
    assert decode([{"count": 4}, {}], schema_of(list[Bare])) == [Bare(4), Bare(3)]


def test_a_record_that_refuses_its_fields_is_a_check_error() -> None:
    @dataclass
    class Positive:
        n: int

        def __post_init__(self) -> None:
            if self.n < 0:
                raise ValueError("negative")

    with pytest.raises(CheckError, match=r"value\[0\]: Positive refused its fields: negative"):
        decode([{"n": -1}], schema_of(list[Positive]))


def test_the_strict_form_requires_every_field_and_knows_its_limits() -> None:
    document, losses = strict_json_schema(schema_of(Pair))
    assert document["required"] == ["left", "right"]
    assert losses == ()


class Loose(TypedDict):
    extra: dict[str, float]
    pair: tuple[int, str]
    inner: list[Free]


class Free(TypedDict):
    what: Any
    more: dict[str, int]
    word: str


@pytest.mark.parametrize(
    ("type_", "losses"),
    [
        (dict[str, int], ["the value is a map"]),
        (list[Any], ["the value may be anything"]),
        (tuple[int, str], ["the value is a tuple"]),
        (tuple[int, ...], []),
        (
            Loose,
            [
                '"extra" is a map', '"pair" is a tuple', '"inner.what" may be anything',
                '"inner.more" is a map',
            ],
        ),
        (Literal[tuple(map(str, range(1_001)))], ["it has 1,001 choices, more than 1,000"]),
        (
            list[list[list[list[list[list[list[list[list[list[list[int]]]]]]]]]]],
            ["it has 11 levels, more than 10"],
        ),
    ],
)  # fmt: skip
def test_what_a_server_cannot_enforce(type_: Any, losses: list[str]) -> None:
    assert list(strict_json_schema(schema_of(type_))[1]) == losses


def test_schemas_are_cached_by_type() -> None:
    assert schema_of(list[City]) is schema_of(list[City])
    assert object_schema({"a": int}) is object_schema({"a": int})
    assert schema_of(list[int]) == ListSchema(ScalarSchema("int"))


def test_a_function_has_no_json_form() -> None:
    from collections.abc import Callable

    with pytest.raises(CheckError, match="no JSON form"):
        json_schema(schema_of(list[Callable[[], int]]))


class Extended(typing_extensions.TypedDict):
    """One of those that pydantic asks for before Python 3.12."""

    id: int
    note: typing_extensions.NotRequired[str]
    tags: list[Extended]


def test_a_typed_dict_of_typing_extensions_is_one(scripted: Callable[..., Scripted]) -> None:
    row = {"id": 1, "tags": [{"id": 2, "note": "x", "tags": []}]}
    assert check(row, Extended) == row
    with pytest.raises(CheckError, match=r"^value\.more: unexpected field"):
        check({"id": 1, "tags": [], "more": 1}, Extended)
    with pytest.raises(CheckError, match=r'^value\.id: expected int, got string "nonsense"'):
        check({"id": "nonsense", "tags": []}, Extended)
    assert notation(schema_of(Extended)).startswith("{id: int, note: string, tags: [Extended]}")
    model = scripted('{"id": 1, "tags": []}', tool_request("look", row=row), "found")
    assert prompt("?", returns=Extended).value == {"id": 1, "tags": []}

    def look(row: Extended) -> str:
        return row["tags"][0]["note"]

    assert prompt("{look}", look=look).tool_calls[0].result == "x"
    parameters = model.requests[1].tools[0]["function"]["parameters"]
    assert parameters["properties"]["row"]["required"] == ["id", "tags"]


def test_a_web_of_classes_is_read_once() -> None:
    # Each of them has all of the others: the ways through them are too many to go.
    names = [f"Class{number}" for number in range(20)]
    web: dict[str, Any] = {}
    fields = {name.lower(): f"{name} | None" for name in names}
    for name in names:
        web[name] = make_dataclass(name, [(field, hint, None) for field, hint in fields.items()])
    schema = schema_of(web["Class0"], web)
    reply: Any = decode({"class1": {"class2": {"class1": {}}}}, schema)
    assert reply.class1.class2.class1 == web["Class1"]()
    with pytest.raises(CheckError, match="class2"):
        decode({"class1": {"class2": 3}}, schema)
