"""Recovery of typed replies: cases as data, properties over generated schemas, sizes.

Each line of `recovery_cases/*.jsonl` is a case: `schema` (a JSON Schema), `text`, `expected`;
null is a reply that must be refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime_support import prompt
from runtime_support._recovery import (
    Recovered,
    RecoveryRefused,
    recover,
    without_thinking,
)
from runtime_support._schema.checking import decode
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

CASES = Path(__file__).parent / "recovery_cases"

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
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def outcome(text: str, schema: Schema) -> Any:
    """The value, or None for a refusal."""
    try:
        return recover(text, schema).value
    except RecoveryRefused:
        return None


@pytest.mark.parametrize("case", load_cases())
def test_case(case: dict[str, Any]) -> None:
    schema = from_json_schema(case["schema"])
    try:
        recovered = recover(case["text"], schema)
    except RecoveryRefused as refused:
        assert case["expected"] is None, str(refused)
        assert str(refused)
        return
    assert case["expected"] is not None, recovered
    assert same(recovered.value, case["expected"]), recovered
    decode(recovered.value, schema)
    assert recovered.repairs or same(read_json(case["text"]), without_nulls(recovered.value))


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
    text = "Sure:\n```js\n{Name: 'Ada', age: '36', x: 1,}\n```"
    assert recover(text, PERSON) == Recovered(
        {"name": "Ada", "age": 36},
        (
            "text around the value left out",
            "unquoted keys",
            "other quotes for double quotes",
            "stray commas removed",
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
        ('{"name": "Ada"}', "value: `age` is missing"),
        ('{"name": "Ada", "age": 3', "the reply ends in the middle of the data"),
        (
            '{"name": "Ada", "age": 3} {"name": "Bob", "age": 3}',
            "the reply holds several values and does not say which one is meant",
        ),
    ],
)
def test_a_refusal_says_why(text: str, reason: str) -> None:
    with pytest.raises(RecoveryRefused) as refused:
        recover(text, PERSON)
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
    assert recover(text, tree).value == expected


def test_a_default_that_is_not_null_is_left_to_the_record() -> None:
    schema = ObjectSchema("P", (Field("n", ScalarSchema("int"), required=False, default=7),))
    assert recover("{}", schema) == Recovered({}, ())


@pytest.mark.parametrize("text", ['["\\ud83d"]', '["\ud83d"]', "[a, '\ud83d']", "- a\n- \ud83d\n"])
def test_half_of_a_surrogate_pair_is_refused(text: str) -> None:
    with pytest.raises(RecoveryRefused, match="half of a surrogate pair"):
        recover(text, ListSchema(ScalarSchema("string")))


def test_half_of_a_surrogate_pair_is_asked_again(scripted: Callable[..., Scripted]) -> None:
    scripted('["\ud83d"]', '["😀"]')
    assert prompt("?", returns=list[str]).value == ["😀"]


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert recover("['\\ud83d\\ude00']", ListSchema(AnySchema())).value == ["😀"]


def test_what_stands_in_a_string_is_no_thinking() -> None:
    text = '<think>[1]</think>{"name": "<think>", "age": 3}<thought>[2]</thought>'
    assert without_thinking(text) == '{"name": "<think>", "age": 3}'
    assert without_thinking('{"a: [broken <think>b</think>') == '{"a: [broken <think>b</think>'


def test_notes_do_not_grow_without_end() -> None:
    recovered = recover(json.dumps(["7"] * 1000), ListSchema(ScalarSchema("int")))
    assert recovered.value == [7] * 1000
    assert len(recovered.repairs) == 21
    assert recovered.repairs[-1] == "and 980 more"


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
    recovered = recover(text, schema)
    assert same(recovered.value, value)
    assert recovered.repairs == ()
    assert decode(recovered.value, schema) is not None or value is None


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
    recovered = recover(text, schema)
    assert same(recovered.value, value)
    assert recovered.repairs


def is_beginning(value: Any, whole: Any) -> bool:
    """Whether the value is the whole, or the whole without the last items of lists left open.

    A cut reply cannot be told from one that only lacks its closing brackets, so the last list on
    the way to the cut may be shorter; nothing else may differ.
    """
    if isinstance(value, list) and isinstance(whole, list):
        shorter = len(value) <= len(whole)
        return (
            shorter
            and all(map(same, value[:-1], whole))
            and (not value or is_beginning(value[-1], whole[len(value) - 1]))
        )
    if isinstance(value, dict) and isinstance(whole, dict):
        keys = list(whole)
        return (
            value.keys() == whole.keys()
            and all(same(value[key], whole[key]) for key in keys[:-1])
            and (not keys or is_beginning(value[keys[-1]], whole[keys[-1]]))
        )
    return same(value, whole)


@quickly
@given(with_value(CONTAINERS | st.just(ScalarSchema("string"))), STYLES, st.data())
def test_a_cut_reply_never_gives_another_value(
    pair: tuple[Schema, Any], style: tuple[Any, bool], data: st.DataObject
) -> None:
    schema, value = pair
    text = written(value, indent=style[0], ascii_only=style[1])
    for _ in range(8):
        cut = data.draw(st.integers(0, max(len(text) - 1, 0)))
        try:
            found = recover(text[:cut], schema).value
        except RecoveryRefused:
            continue
        assert is_beginning(found, value), text[:cut]


@quickly
@given(with_value(CONTAINERS))
def test_python_notation_gives_the_same_value(pair: tuple[Schema, Any]) -> None:
    schema, value = pair
    found = outcome(repr(value), schema)
    assert found is None or same(found, value)


@quickly
@given(SCHEMAS, st.text(alphabet="{}[]()\"'`:,.#/\\ \nab1-|<>=*think", max_size=60))
def test_any_text_gives_data_of_the_schema_or_a_refusal(schema: Schema, text: str) -> None:
    try:
        recovered = recover(text, schema)
    except RecoveryRefused as refused:
        assert str(refused)
        return
    decode(recovered.value, schema)


# Sizes.

ROW = '{"name": "Ada", "age": 36}'
PEOPLE = ListSchema(PERSON)


@pytest.mark.parametrize(
    "text",
    [
        "[" + ",".join([ROW] * 40_000) + ",]",
        "\n".join([ROW] * 40_000),
        "[" * 1_000_000,
        "{" * 1_000_000,
        '{"a":' * 200_000,
        "[1," * 300_000,
        '"' * 1_000_000,
        "[a " * 300_000,
        "{a: " + "(" * 1_000_000,
        '{"name": "' + 'say "hi" ' * 100_000 + '", "age": 36,}',
        '{"name": "' + "\\" * 1_000_000,
        "<think>" * 150_000,
        "<think></think>" * 70_000 + ROW,
        "```a\n" * 200_000,
        "<a>" * 300_000,
        "- a\n" * 100_000,
        "a: b\n" * 100_000,
        "The quick brown fox. " * 50_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_reply_of_a_megabyte_is_read_to_its_end(text: str) -> None:
    outcome(text, PEOPLE)  # what is quadratic would take hours


def test_of_many_values_none_is_chosen() -> None:
    text = 'text {"name": "Ada"} ' * 1_001
    with pytest.raises(RecoveryRefused, match=r"^the reply holds too many values to tell which"):
        recover(text, PERSON)
    rows = recover(f"{ROW}\n" * 1_001, PEOPLE).value
    assert rows == [{"name": "Ada", "age": 36}] * 1_001
    with pytest.raises(RecoveryRefused, match=r"^the reply holds too many values"):
        recover("[1] " * 1_001, PEOPLE)


def test_a_reply_above_a_megabyte_is_json_or_refused() -> None:
    rows = ",".join([ROW] * 40_000)
    assert len(recover(f"[{rows}]", PEOPLE).value) == 40_000
    assert len(recover(f"```json\n[{rows}]\n```", PEOPLE).value) == 40_000
    for text in (f"[{rows},]", f"Here: [{rows}]", "- a\n" * 260_000, '{"a": "b", ' * 100_000):
        with pytest.raises(RecoveryRefused, match=r"^the reply is not JSON, and longer than"):
            recover(text, PEOPLE)


@pytest.mark.parametrize("text", ["[" * 200 + "]" * 200, "[" * 200 + ",]" * 200, "[" * 100_000])
def test_deep_nesting_is_no_crash(text: str) -> None:
    found = outcome(text, AnySchema())
    assert found is None or isinstance(found, list)


def test_messages_write_types_as_all_messages_do():
    @dataclass
    class City:
        name: str
        rivers: list[str]

    with pytest.raises(RecoveryRefused, match=r"^value\[0\]: expected City, got `12`$"):
        recover("[12]", schema_of(list[City]))
