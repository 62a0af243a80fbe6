"""Replies to types: cases as data, properties over generated schemas, sizes.

Each line of `reader_cases/*.jsonl` is a case: `schema` (a JSON Schema), `text`, `expected`. Null is
a reply that says nothing certain; one that is asked `again`, although it means `expected`, is in no
form that is read.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime_support import CheckError, prompt
from runtime_support._core import reader
from runtime_support._core.reader.around import without_thinking
from runtime_support._core.reader.replies import read_reply
from runtime_support._schema.model import (
    ABSENT,
    AnySchema,
    Field,
    ListSchema,
    LiteralSchema,
    MapSchema,
    ObjectSchema,
    ReferenceSchema,
    ScalarSchema,
    Schema,
    TupleSchema,
    UnionSchema,
)
from runtime_support._schema.reading import schema_of
from runtime_support.testing import Scripted

pytestmark = pytest.mark.one_python

CASES = Path(__file__).parent / "reader_cases"

KINDS: dict[str, Schema] = {
    "integer": ScalarSchema("int"),
    "number": ScalarSchema("float"),
    "boolean": ScalarSchema("bool"),
    "string": ScalarSchema("string"),
    "null": ScalarSchema("nil"),
}


def from_json_schema(document: dict[str, Any]) -> Schema:
    """The part of JSON Schema that the cases use; what is not required becomes null."""
    if "const" in document:
        return LiteralSchema(document["const"])
    if "enum" in document:
        return UnionSchema(tuple(map(LiteralSchema, document["enum"])))
    if "anyOf" in document:
        return UnionSchema(tuple(map(from_json_schema, document["anyOf"])))
    match document.get("type"):
        case None:
            return AnySchema()
        case list() as kinds:
            return UnionSchema(tuple(from_json_schema({**document, "type": k}) for k in kinds))
        case "array" if "prefixItems" in document:
            return TupleSchema(tuple(map(from_json_schema, document["prefixItems"])))
        case "array":
            return ListSchema(from_json_schema(document["items"]))
        case "object" if "properties" not in document:
            return MapSchema(from_json_schema(document["additionalProperties"]))
        case "object":
            required = document.get("required", [])
            return ObjectSchema(
                None,
                tuple(
                    Field(
                        name,
                        from_json_schema(schema),
                        required=name in required,
                        default=ABSENT if name in required else None,
                    )
                    for name, schema in document["properties"].items()
                ),
            )
        case str() as kind:
            return KINDS[kind]
        case other:
            raise ValueError(f"type {other!r}")


def load_cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}-{case['id']}")
        for path in sorted(CASES.glob("*.jsonl"))
        for case in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    ]


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON data; an int stands for a float of its size."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


class Again:
    """The reply is refused, so that the model is asked again."""

    def __repr__(self) -> str:
        return "again"


again: Any = Again()


def outcome(text: str, schema: Schema) -> Any:
    """The value, or `again`."""
    try:
        return read_reply(text, schema)[0]
    except CheckError as refused:
        assert str(refused)
        return again


@pytest.mark.parametrize("case", load_cases())
def test_case(case: dict[str, Any]) -> None:
    schema = from_json_schema(case["schema"])
    is_read = case["expected"] is not None and not case.get("again", False)
    try:
        value, repairs = read_reply(case["text"], schema)
    except CheckError as refused:
        assert not is_read, str(refused)
        assert str(refused)
        return
    assert is_read, value
    assert same(value, case["expected"])
    assert repairs or same(read_json(case["text"]), without_nulls(value))


def test_so_many_cases_are_read() -> None:
    """A reader that asks again always is none."""
    cases = [param.values[0] for param in load_cases()]
    assert sum(one["expected"] is not None and not one.get("again") for one in cases) >= 150


def read_json(text: str) -> Any:
    """The JSON that the text is, or itself, which is no recovered value."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return value


PERSON = from_json_schema(
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
    }
)


def test_every_repair_is_told() -> None:
    text = "Sure:\n```js\n{Name: 'Ada', age: '36', x: 1,} // done\n```"
    assert read_reply(text, PERSON) == (
        {"name": "Ada", "age": 36},
        (
            "text around the value left out",
            "unquoted keys",
            "other quotes for double quotes",
            "stray commas removed",
            "comments removed",
            "value: key `Name` as `name`",
            "value.age: read `36` as 36",
            "value: dropped key `x`",
        ),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the reply is empty"),
        ("<think>It is Ada.</think>", "the reply is only thinking"),
        ("I cannot help with that.", "the reply holds no JSON"),
        ('{"name": "Ada", "age": "36%"}', 'value.age: expected int, got string "36%"'),
        ('{"name": "Ada"}', "value.age: missing field, expected int"),
        ('{"name": "Ada", "age": 3', "the reply ends in the middle"),
        ("{name: Ada, age: 3}", "no value at `Ada, age: 3}`"),
        ('[{"name": "Ada", "age": 36}, ...]', "data left out at `...]`"),
        (
            '{"name": "Ada", "age": 3} {"name": "Bob", "age": 3}',
            "the reply holds several values and does not say which one is meant",
        ),
    ],
)
def test_a_refusal_says_why(text: str, reason: str) -> None:
    with pytest.raises(CheckError) as refused:
        read_reply(text, PERSON)
    assert str(refused.value) == reason


def test_a_recursive_schema() -> None:
    tree = ObjectSchema(
        "Tree",
        (
            Field("label", ScalarSchema("string")),
            Field("parts", ListSchema(ReferenceSchema("Tree", lambda: tree))),
        ),
    )
    text = "{label: 'a', parts: [{label: 'b', parts: []},]}"
    expected = {"label": "a", "parts": [{"label": "b", "parts": []}]}
    assert read_reply(text, tree)[0] == expected


def test_a_default_that_is_not_null_is_left_to_the_record() -> None:
    schema = ObjectSchema("P", (Field("n", ScalarSchema("int"), required=False, default=7),))
    assert read_reply("{}", schema)[0] == {"n": 7}


HALVES = ['["\\ud83d"]', '["\ud83d"]', "['a', '\ud83d']", "['a', '\\ud83d']"]


@pytest.mark.parametrize("text", HALVES)
def test_half_of_a_surrogate_pair_is_refused(text: str) -> None:
    assert outcome(text, ListSchema(ScalarSchema("string"))) is again


def test_half_of_a_surrogate_pair_is_asked_again(scripted: Callable[..., Scripted]) -> None:
    scripted('["\ud83d"]', '["😀"]')
    assert prompt("?", returns=list[str]).value == ["😀"]


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert outcome("['\\ud83d\\ude00']", ListSchema(AnySchema())) == ["😀"]


def test_what_stands_in_a_string_is_no_thinking() -> None:
    text = '<think>[1]</think>{"name": "<think>", "age": 3}'
    assert without_thinking(text) == '{"name": "<think>", "age": 3}'
    assert without_thinking("Hm. </think>{}") == "{}"
    for kept in ('{"a": "<think>b</think>"}', '["</think>"]', '"</think>"', "Yes."):
        assert without_thinking(kept) == kept
    assert without_thinking("A text with </think> in it", is_text=True).startswith("A text")


def test_notes_do_not_grow_without_end() -> None:
    value, repairs = read_reply(json.dumps(["7"] * 1000), ListSchema(ScalarSchema("int")))
    assert value == [7] * 1000
    assert len(repairs) == 21
    assert repairs[-1] == "and 980 more"


# Properties.

NAMES = st.sampled_from(["id", "name", "schema_id", "tags", "note", "isDone", "Title"])
TEXTS = st.text(max_size=12) | st.sampled_from(
    [
        "",
        "...",
        "<think>",
        "```",
        'a "b" c',
        "// x",
        "https://a.b/c",
        "null",
        "7",
        "[1]",
        '{"a": 1}',
        "don't",
        "{a}",
        "é😀",
    ]
)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)

SCALARS: dict[Schema, st.SearchStrategy[Any]] = {
    ScalarSchema("int"): st.integers(),
    ScalarSchema("float"): FINITE,
    ScalarSchema("bool"): st.booleans(),
    ScalarSchema("string"): TEXTS,
    ScalarSchema("nil"): st.none(),
    LiteralSchema("only"): st.just("only"),
    UnionSchema((LiteralSchema("RED"), LiteralSchema("REDDISH"), LiteralSchema(3))): (
        st.sampled_from(["RED", "REDDISH", 3])
    ),
    UnionSchema((ScalarSchema("int"), ScalarSchema("string"))): st.integers() | TEXTS,
    AnySchema(): JSON,
}


def optional(schema: Schema) -> Schema:
    return UnionSchema((schema, ScalarSchema("nil")))


@st.composite
def objects(draw: Callable[..., Any], inner: st.SearchStrategy[Schema]) -> Schema:
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=4))
    fields: list[Field] = []
    for name in names:
        schema = draw(inner)
        if draw(st.booleans()):
            fields.append(Field(name, optional(schema), required=False, default=None))
        else:
            fields.append(Field(name, schema))
    return ObjectSchema(None, tuple(fields))


SCALAR_SCHEMAS = st.sampled_from(list(SCALARS))


def containers(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return (
        st.builds(ListSchema, inner)
        | st.builds(MapSchema, inner)
        | st.builds(TupleSchema, st.lists(inner, min_size=1, max_size=3).map(tuple))
        | objects(inner)
    )


SCHEMAS = st.recursive(SCALAR_SCHEMAS, containers, max_leaves=5)
CONTAINERS = containers(SCHEMAS)


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """JSON data that satisfies the schema, with optional fields present."""
    if schema in SCALARS:
        return SCALARS[schema]
    match schema:
        case ListSchema(item):
            return st.lists(values(item), max_size=3)
        case MapSchema(value):
            return st.dictionaries(TEXTS, values(value), max_size=3)
        case TupleSchema(items):
            return st.tuples(*map(values, items)).map(list)
        case ObjectSchema(fields=fields):
            return st.fixed_dictionaries({field.name: values(field.schema) for field in fields})
        case UnionSchema(members):
            return st.one_of(*map(values, members))
        case _:
            raise AssertionError(schema)


def with_value(schemas: st.SearchStrategy[Schema]) -> st.SearchStrategy[tuple[Schema, Any]]:
    return schemas.flatmap(lambda schema: st.tuples(st.just(schema), values(schema)))


def written(value: Any, *, indent: int | None, ascii_only: bool) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=ascii_only)


STYLES = st.tuples(st.sampled_from([None, 2]), st.booleans())
quickly = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@quickly
@given(with_value(SCHEMAS), STYLES)
def test_strict_json_comes_back_as_it_is(pair: tuple[Schema, Any], style: tuple[Any, bool]) -> None:
    schema, value = pair
    text = written(value, indent=style[0], ascii_only=style[1])
    found, repairs = read_reply(text, schema)
    assert same(found, value)
    assert repairs == ()


WRAPPINGS = [
    "```json\n{}\n```",
    "~~~\n{}\n~~~\n",
    "```\n{}",
    "Here is what you asked for:\n\n```json\n{}\n```\nI hope that it helps!",
    "Here is what you asked for: {}. I hope that it helps!",
    '<think>Maybe [1] or {{"a": 2}}?</think>\n{}',
]


@quickly
@given(with_value(CONTAINERS), STYLES, st.sampled_from(WRAPPINGS))
def test_what_stands_around_json_changes_nothing(
    pair: tuple[Schema, Any], style: tuple[Any, bool], wrapping: str
) -> None:
    schema, value = pair
    text = wrapping.format(written(value, indent=style[0], ascii_only=style[1]))
    found, repairs = read_reply(text, schema)
    assert same(found, value)
    assert repairs


@quickly
@given(with_value(CONTAINERS | st.just(ScalarSchema("string"))), STYLES, st.data())
def test_a_cut_reply_never_gives_a_value(
    pair: tuple[Schema, Any], style: tuple[Any, bool], data: st.DataObject
) -> None:
    schema, value = pair
    text = written(value, indent=style[0], ascii_only=style[1])
    for _ in range(8):
        cut = data.draw(st.integers(0, max(len(text) - 1, 0)))
        assert outcome(text[:cut], schema) is again, text[:cut]


@pytest.mark.heavy
@quickly
@given(with_value(CONTAINERS))
def test_python_notation_gives_the_same_value(pair: tuple[Schema, Any]) -> None:
    schema, value = pair
    found = outcome(repr(value), schema)
    assert found is again or same(found, value)


@quickly
@given(SCHEMAS, st.text(alphabet="{}[]()\"'`:,.#/\\ \nab1-|<>=*think", max_size=60))
def test_any_text_gives_data_of_the_schema_or_a_refusal(schema: Schema, text: str) -> None:
    found = outcome(text, schema)
    if found is not again:
        assert same(read_reply(json.dumps(found), schema)[0], found)


# Sizes.

ROW = '{"name": "Ada", "age": 36}'
PEOPLE = ListSchema(PERSON)


MEGABYTES = {
    "a comma too many": "[" + ",".join([ROW] * 40_000) + ",]",
    "JSON lines": "\n".join([ROW] * 40_000),
    "lists": "[" * 1_000_000,
    "objects": "{" * 1_000_000,
    "keys": '{"a":' * 200_000,
    "numbers": "[1," * 300_000,
    "many numbers": "[" + "1," * 500_000 + "x]",
    "quotes": '"' * 1_000_000,
    "words": "[a " * 300_000,
    "rounds": "{a: " + "(" * 1_000_000,
    "quotes inside": '{"name": "' + 'say "hi" ' * 100_000 + '", "age": 36,}',
    "keys inside": '{"name": "' + '", "x": ' * 120_000 + '", "age": 36,}',
    "closers inside": '{"name": "' + '"}}} ' * 200_000 + '", "age": 36,}',
    "blanks inside": '{"name": "' + ('"' + " " * 1000) * 1_000 + '", "age": 36,}',
    "comments": '{"name": "a" ' + "// x\n" * 200_000,
    "open comments": "{" + "/*" * 500_000,
    "quotes and comments": '{"name": "' + '" //' * 250_000,
    "backslashes": '{"name": "' + "\\" * 1_000_000,
    "thinking": "<think>" * 150_000,
    "thoughts": "<think></think>" * 60_000 + ROW,
    "fences": "```a\n" * 200_000,
    "brackets in words": "text [1] {name} [sic] " * 45_000,
    "objects in words": f"text {ROW} " * 30_000,
    "tags": "<a>" * 300_000,
    "bullets": "- a\n" * 250_000,
    "pairs": "a: b\n" * 200_000,
    "prose": "The quick brown fox. " * 47_000,
    "encoded": json.dumps(json.dumps([ROW] * 25_000)),
}


@pytest.mark.parametrize("kind", MEGABYTES)
def test_a_reply_of_a_megabyte_is_read_to_its_end(kind: str) -> None:
    outcome(MEGABYTES[kind], PEOPLE)  # what is quadratic would take hours


@pytest.mark.parametrize("kind", MEGABYTES)
def test_the_work_grows_as_the_reply(kind: str) -> None:
    """Counted in calls and lines of Python, so that the speed of the machine does not matter."""
    text = MEGABYTES[kind]
    small, large = (work_of(f"{text[:size]}{text[-30:]}") for size in (12_000, 48_000))
    assert large <= 4 * small + 5_000


def work_of(text: str) -> int:
    """How many calls and lines of Python it takes to read the text."""
    count = 0

    def step(*_: object) -> Any:
        nonlocal count
        count += 1
        return step

    tracing = sys.gettrace()
    sys.settrace(step)
    try:
        outcome(text, PEOPLE)
    finally:
        sys.settrace(tracing)
    return count


def test_no_pattern_goes_back_over_its_text() -> None:
    """Each quantifier of the reader's patterns is possessive, or counts to a small number."""
    folder = Path(reader.__file__).parent
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            is_call = isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
            if is_call and isinstance(node.args[0], ast.Constant):
                pattern = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "x", str(node.args[0].value))
                assert not re.search(r"[x.)][*+](?![+])", pattern), (file.name, node.lineno)


def test_of_many_values_none_is_chosen() -> None:
    text = 'text {"name": "Ada", "age": 36} ' * 1_001
    with pytest.raises(CheckError, match=r"^the reply holds several values and does not say"):
        read_reply(text, PERSON)
    rows = read_reply(f"{ROW}\n" * 1_001, PEOPLE)[0]
    assert rows == [{"name": "Ada", "age": 36}] * 1_001
    assert outcome("[1] " * 1_001, PEOPLE) is again


@pytest.mark.heavy
def test_a_reply_above_a_megabyte_is_json_or_refused() -> None:
    rows = ",".join([ROW] * 40_000)
    assert len(read_reply(f"[{rows}]", PEOPLE)[0]) == 40_000
    assert len(read_reply(f"```json\n[{rows}]\n```", PEOPLE)[0]) == 40_000
    for text in (f"[{rows},]", f"Here: [{rows}]", "- a\n" * 260_000, '{"a": "b", ' * 100_000):
        with pytest.raises(CheckError, match=r"^the reply is not JSON, and longer than"):
            read_reply(text, PEOPLE)


@pytest.mark.parametrize("text", ["[" * 200 + "]" * 200, "[" * 200 + ",]" * 200, "[" * 100_000])
def test_deep_nesting_is_no_crash(text: str) -> None:
    found = outcome(text, ListSchema(AnySchema()))
    assert found is again or text.startswith("[" * 200 + "]")


def test_messages_write_types_as_all_messages_do():
    @dataclass
    class City:
        name: str
        rivers: list[str]

    with pytest.raises(CheckError, match=r"^value\[0\]: expected City, got int 12$"):
        read_reply("[12]", schema_of(list[City]))
