"""Models of pydantic: what they say of their fields is sent, and shown to who is asked."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any
from uuid import UUID

import annotated_types as at
import anthropic
import jsonschema
import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass

from runtime_support import CheckError, MissingError, check, configure, ops, prompt
from runtime_support._core.outputs.contracts import contract_of
from runtime_support._schema.reading import schema_of
from runtime_support._schema.writing import json_schema, notation, strict_json_schema
from runtime_support.programs import Registry, Success, describe, evaluate
from runtime_support.providers._wires.messages import in_dialect
from runtime_support.testing import Scripted, tool_request
from tests.runtime.real_models import (
    MODELS,
    Age,
    Codes,
    Event,
    Folder,
    Measurement,
    Order,
    Person,
    Ticket,
)

Document = dict[str, Any]
# What servers of strict schemas take; https://platform.openai.com/docs/guides/structured-outputs
STRICT = {
    *("type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "$ref"),
    *("$defs", "description", "pattern", "format", "minItems", "maxItems", "multipleOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}
STRICT_FORMATS = {
    *("date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"),
}
# What pydantic says that asks for nothing.
_SAYS_NOTHING = {
    "title",
    "$defs",
    "discriminator",
    "properties",
    "required",
    "items",
    "prefixItems",
}
_IN_WORDS = {
    "minLength": r"(at least|exactly) {}\b|\b{} to ",
    "maxLength": r"(at most|exactly) {}\b| to {} ",
    "minItems": r"(at least|exactly) {}\b|\b{} to ",
    "maxItems": r"(at most|exactly) {}\b| to {} ",
    "minimum": r">= {}",
    "maximum": r"<= {}",
    "exclusiveMinimum": r"> {}",
    "exclusiveMaximum": r"< {}",
    "multipleOf": r"a multiple of {}",
    "uniqueItems": r"no two alike",
    "format": r"\b{}\b",
    "pattern": r"matching {}",
}


def missing(wanted: Document, found: Document, path: str = "") -> list[str]:
    """What pydantic's document says and the other does not, neither by keyword nor in words."""
    return list(_Comparison(wanted, found).missing(wanted, found, path))


class _Comparison:
    def __init__(self, wanted: Document, found: Document) -> None:
        self.wanted, self.found = wanted, found
        self.seen: set[tuple[str, str]] = set()

    def resolved(self, part: Document, root: Document) -> Document:
        if "$ref" not in part:
            return part
        rest = {name: one for name, one in part.items() if name != "$ref"}
        name = part["$ref"].removeprefix("#/$defs/")
        target = root["$defs"][name] if name else root
        described = [one["description"] for one in (target, rest) if "description" in one]
        return {**target, **rest, **({"description": "; ".join(described)} if described else {})}

    def missing(self, wanted: Document, found: Document, path: str) -> Any:
        if (reference := wanted.get("$ref")) is not None:
            if (reference, path.rpartition(".")[2]) in self.seen:
                return
            self.seen.add((reference, path.rpartition(".")[2]))
        wanted = self.resolved(wanted, self.wanted)
        found = self.resolved(found, self.found)
        if len(found.get("anyOf", ())) == 1:
            (inner,) = found["anyOf"]
            found = {**self.resolved(inner, self.found), **found}
        told = str(found.get("description", ""))
        for keyword, value in wanted.items():
            if keyword in _SAYS_NOTHING or found.get(keyword) == value:
                continue
            yield from self.keyword(keyword, value, wanted, found, told, path)
        for name, part in wanted.get("properties", {}).items():
            if name not in found.get("properties", {}):
                yield f"{path}.{name}"
            else:
                yield from self.missing(part, found["properties"][name], f"{path}.{name}")
        yield from (
            f"{path} needs {one}"
            for one in wanted.get("required", ())
            if one not in found.get("required", ())
        )
        if "items" in wanted:
            yield from self.missing(wanted["items"], found.get("items", {}), f"{path}[]")
        for at_, part in enumerate(wanted.get("prefixItems", ())):
            yield from self.missing(part, found["prefixItems"][at_], f"{path}.{at_}")

    def keyword(
        self, keyword: str, value: Any, wanted: Document, found: Document, told: str, path: str
    ) -> Any:
        match keyword:
            case "description":
                if not all(line in told for line in value.split("; ")):
                    yield f"{path}: {keyword} {value!r}"
            case "default":
                if (
                    value is not None
                    and f"by default {json.dumps(value, separators=(',', ':'))}" not in told
                ):
                    yield f"{path}: {keyword} {value!r}"
            case "examples":
                if not all(_is_told(one, told) for one in value):
                    yield f"{path}: {keyword} {value!r}"
            case "const":
                if found.get("enum") != [value]:
                    yield f"{path}: {keyword} {value!r}"
            case "enum":
                if not {*found.get("enum", ())} <= {*value}:
                    yield f"{path}: {keyword} {value!r}"
            case "anyOf" | "oneOf":
                yield from self.members(value, found, path)
            case "additionalProperties":
                if isinstance(value, dict) and isinstance(found.get(keyword), dict):
                    yield from self.missing(value, found[keyword], f"{path}[...]")
                elif value is not True:
                    yield f"{path}: {keyword}"
            case "type":
                if value not in (found.get("type"), *found.get("type", ())):
                    yield f"{path}: type {value}, not {found.get('type')}"
            case "propertyNames":
                yield from self.missing(value, found.get(keyword, {}), f"{path}[name]")
            case _ if keyword in _IN_WORDS:
                text = re.escape(f"{value:g}" if isinstance(value, float) else str(value))
                if not re.search(_IN_WORDS[keyword].replace("{}", text), told):
                    yield f"{path}: {keyword} {value!r}"
            case _:
                yield f"{path}: {keyword} {value!r}"

    def members(self, members: list[Document], found: Document, path: str) -> Any:
        """Each member is one of the other's; a decimal is a text, and never a number."""
        members = [inner for one in members for inner in one.get("oneOf", [one])]
        others = found.get("anyOf") or [{**found, "type": one} for one in _types_of(found)]
        others = [{**one, "description": _described(found, one)} for one in others]
        kinds = [one.get("type") for one in members]
        if kinds[:2] == ["number", "string"] and any("pattern" in one for one in others):
            number = {name: one for name, one in members[0].items() if name != "type"}
            yield from _Comparison(self.wanted, self.found).missing(number, others[0], path)
            members = members[2:]
        for member in members:
            lacks = [
                list(_Comparison(self.wanted, self.found).missing(member, one, path))
                for one in others
            ]
            if all(lacks):
                yield from min(lacks, key=len)


def _is_told(example: Any, told: str) -> bool:
    """Whether an example stands in the description; the fields of one in any order."""
    if isinstance(example, dict):
        return all(f'"{name}":{json.dumps(one)}' in told for name, one in example.items())
    return json.dumps(example) in told


def _described(around: Document, inside: Document) -> str:
    return "; ".join(one["description"] for one in (around, inside) if "description" in one)


def _types_of(found: Document) -> list[Any]:
    kind = found.get("type")
    return kind if isinstance(kind, list) else [kind]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_schema_says_no_less_than_pydantics_own(model: type[BaseModel]) -> None:
    wanted = TypeAdapter(model).json_schema()
    document, losses = strict_json_schema(schema_of(model))
    jsonschema.Draft202012Validator.check_schema(document)
    assert missing(wanted, document) == []
    if not losses:
        assert list(beyond_strict(document)) == []
    loose = json_schema(schema_of(model))
    jsonschema.Draft202012Validator.check_schema(loose)


def beyond_strict(document: Any) -> Any:
    """The keywords and formats that a strict server refuses."""
    if isinstance(document, list):
        for part in document:
            yield from beyond_strict(part)
        return
    if not isinstance(document, dict):
        return
    yield from document.keys() - STRICT
    if "$ref" in document:
        yield from document.keys() - {"$ref", "$defs"}
    if document.get("format", "date") not in STRICT_FORMATS:
        yield document["format"]
    if document.get("type") == "object":
        yield from {*document["properties"]} - {*document["required"]}
        if document["additionalProperties"] is not False:
            yield "additionalProperties"
    for name in ("properties", "$defs"):
        for part in document.get(name, {}).values():
            yield from beyond_strict(part)
    for name in ("items", "anyOf"):
        yield from beyond_strict(document.get(name))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_wire_of_messages_is_sent_what_it_knows(model: type[BaseModel]) -> None:
    document, losses = strict_json_schema(schema_of(model))
    if losses:
        return
    sent = in_dialect(document)
    # What the package itself finds no keyword for, it puts into descriptions, in braces.
    judged = json.dumps(anthropic.transform_schema(json.loads(json.dumps(sent))))
    words = r"\{(m\w+imum|exclusive\w+|multipleOf|\w+Items|\w+Length|format|default|examples)"
    assert re.search(words, judged) is None
    assert missing(TypeAdapter(model).json_schema(), sent) == []


def test_what_a_schema_lacks_is_found() -> None:
    wanted = TypeAdapter(Ticket).json_schema()
    document, _ = strict_json_schema(schema_of(Ticket))
    del document["properties"]["score"]["exclusiveMaximum"]
    del document["properties"]["labels"]
    document["properties"]["step"]["description"] = "a number"
    found = missing(wanted, document)
    assert {".score: exclusiveMaximum 1", ".step: default 5", ".labels"} <= {*found}


def test_the_contract_says_it_in_short() -> None:
    assert notation(schema_of(Person)) == (
        "{\n"
        "  age: int, >= 0, <= 150,\n"
        "  height: float?, > 0,\n"
        "  phones: [string], each 3 to 20 characters,\n"
        '  employer: string, 1 to 80 characters, by default "none", // Where they work\n'
        "}"
    )
    text = contract_of(Order).text
    assert 'number: string, // As printed, such as "A-7" or "B-12"' in text
    assert "placed_at: datetime," in text
    assert '`datetime` is "2026-01-31T09:30:00+01:00"' in text
    assert 'priority: "low" | "normal" | "high", by default "normal",' in text


def test_a_model_validates_its_fields_itself(scripted: Any) -> None:
    wrong = '{"age": 200, "height": null, "phones": ["1"], "employer": ""}'
    right = '{"age": 20, "height": 1.8, "phones": ["123"], "employer": "x"}'
    model: Scripted = scripted(wrong, right)
    assert prompt("who?", returns=Person).value == Person(
        age=20, height=1.8, phones=["123"], employer="x"
    )
    again = model.requests[1].messages[-1]["content"]
    assert all(part in again for part in ("age", "phones[0]", "employer")), again


def test_texts_of_dates_are_read_by_the_model(scripted: Any) -> None:
    scripted('{"starts": "2026-01-31T09:30:00", "lasts": "PT90M", "doors": "09:00", "remind": []}')
    event = prompt("when?", returns=Event).value
    assert event.starts.tzinfo is None
    assert event.lasts.total_seconds() == 5_400


@dataclass
class Reading:
    """A class that checks nothing itself."""

    value: Annotated[float, at.Gt(0), at.MultipleOf(0.1)]
    names: Annotated[list[Annotated[str, Field(pattern="^[a-z]+$")]], at.Len(1, 2)]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"value": 0, "names": ["a"]}, "value.value: expected float, > 0, a multiple of 0.1, got"),
        ({"value": 0.25, "names": ["a"]}, "value.value: expected float, > 0, a multiple of 0.1"),
        ({"value": 0.3, "names": []}, "value.names: expected list, 1 to 2 items"),
        ({"value": 0.3, "names": ["A"]}, r"value.names[0]: expected string, matching ^[a-z]+$"),
    ],
)
def test_limits_of_other_classes_are_checked_by_us(value: Any, words: str) -> None:
    assert check({"value": 0.3, "names": ["a"]}, Reading) == Reading(0.3, ["a"])
    with pytest.raises(CheckError, match=re.escape(words)):
        check(value, Reading)


def test_a_tool_tells_the_limits_of_its_parameters(scripted: Any) -> None:
    def book(seats: Annotated[int, Field(gt=0, description="How many")]) -> str:
        return str(seats)

    model: Scripted = scripted("ok")
    prompt("{book}", book=book)
    assert model.requests[0].tools[0]["function"]["parameters"]["properties"] == {
        "seats": {"type": "integer", "exclusiveMinimum": 0, "description": "How many"}
    }


@pytest.mark.parametrize("model", [Event, Measurement, Person, Ticket])
def test_the_mock_keeps_what_a_model_asks_for(model: type[BaseModel]) -> None:
    with configure(provider="mock"):
        assert isinstance(prompt("Make one up", returns=model).value, model)


def test_a_root_model_is_what_its_root_is(scripted: Any) -> None:
    model: Scripted = scripted('["de", "A", {}]', '["de", "fr"]')
    assert prompt("which?", returns=Codes).value == Codes(["de", "fr"])
    form = "of this form: [string], each matching ^[a-z]+$"
    assert form in model.requests[0].messages[-1]["content"]
    again = model.requests[1].messages[-1]["content"]
    assert "value[1]: " in again and "value[2]: " in again


@pytest.mark.parametrize(
    ("type_", "reply", "value"),
    [
        (Age, "41", Age(41)),
        (Age | None, "null", None),
        (list[Age], "[41, 42]", [Age(41), Age(42)]),
        (dict[str, Codes], '{"EU": ["de"]}', {"EU": Codes(["de"])}),
        (tuple[Age, str], '[41, "x"]', (Age(41), "x")),
        (Folder, '{"a": {"b": "c"}}', Folder({"a": Folder({"b": "c"})})),
        (RootModel[list[int]], "```json\n[1, 2]\n```", RootModel[list[int]]([1, 2])),
    ],
)
def test_instances_of_root_models_come_back(
    scripted: Any, type_: Any, reply: str, value: Any
) -> None:
    scripted(reply)
    assert prompt("which?", returns=type_).value == value
    assert check(value, type_) == value


@pydantic_dataclass
class Seat:
    row: int = Field(gt=0)
    day: date = date(2026, 1, 31)
    tags: list[str] = Field(default_factory=list)


def test_a_dataclass_of_pydantic_is_read_like_its_models(scripted: Any) -> None:
    model: Scripted = scripted('{"row": 0}', '{"row": 1, "day": "2026-02-01"}')
    assert prompt("which?", returns=Seat).value == Seat(1, date(2026, 2, 1))
    assert "row: int, > 0,\n" in model.requests[0].messages[-1]["content"]
    assert "value.row: Input should be greater than 0" in str(model.requests[1].messages)
    assert check({"row": 2, "day": date(2026, 3, 1)}, Seat) == Seat(2, date(2026, 3, 1))
    assert ops.changed(Seat(1), day=date(2026, 4, 1)).day == date(2026, 4, 1)
    with pytest.raises(CheckError, match=r"^value\.row: missing field, expected int"):
        check({}, Seat)


class Renamed(BaseModel):
    first_name: str = Field(alias="firstName")


def test_the_drafts_of_a_model_have_the_names_that_were_asked_for(scripted: Any) -> None:
    scripted('{"firstName": "Ada"}')
    stream = prompt("who?", returns=Renamed, stream=True)
    assert list(stream.drafts())[-1] == {"firstName": "Ada"}
    assert stream.value == Renamed(firstName="Ada")


class Exact(BaseModel):
    """A model that refuses texts for dates, though JSON has no dates."""

    model_config = ConfigDict(strict=True)

    day: date
    ids: set[UUID]
    count: int


def test_a_strict_model_reads_what_json_has_as_text(scripted: Any) -> None:
    key = "7f0c3c1e-6b1b-4b7e-8f2e-0d8e6b7d2f11"
    scripted(f'{{"day": "2026-01-31", "ids": ["{key}"], "count": 1}}')
    found = prompt("which?", returns=Exact).value
    assert (found.day, found.ids) == (date(2026, 1, 31), {UUID(key)})
    with pytest.raises(CheckError, match=r"value\.count: expected int, got string"):
        check({"day": "2026-01-31", "ids": [], "count": "1"}, Exact)


def test_the_draft_of_a_root_model_is_that_of_its_root(scripted: Any) -> None:
    scripted('["de", "fr"]', '{"a": "b"}', "41")
    streams = [prompt("which?", returns=one, stream=True) for one in (Codes, Folder, Age)]
    drafts = [list(one.drafts())[-1] for one in streams]
    assert drafts == [["de", "fr"], {"a": "b"}, 41]
    assert [one.value for one in streams] == [Codes(["de", "fr"]), Folder({"a": "b"}), Age(41)]


def test_what_a_root_model_objects_to_is_told_all_at_once(scripted: Any) -> None:
    model: Scripted = scripted('[3, "B", "c", "D"]', '["a"]', "200", "20")
    prompt("which?", returns=RootModel[list[int] | Codes])
    prompt("how old?", returns=Age)
    assert "value: Input should be less than or equal to 150" in str(model.requests[3].messages)
    with pytest.raises(CheckError, match=r"value\[1\]: String should match"):
        check(["a", "B"], Codes)


def test_functions_take_and_give_root_models(scripted: Any) -> None:
    taken: list[Codes] = []

    def first(codes: Codes, age: Age = Age(1)) -> Age:  # noqa: B008
        taken.append(codes)
        return Age(age.root + len(codes.root))

    model: Scripted = scripted(
        tool_request("first", codes=["a", "B"]), tool_request("first", codes=["a"]), "done"
    )
    prompt("{first}", first=first)
    properties = model.requests[0].tools[0]["function"]["parameters"]["properties"]
    assert properties["codes"]["items"] == {"type": "string", "pattern": "^[a-z]+$"}
    assert (properties["age"]["maximum"], properties["age"]["description"]) == (150, "In years")
    assert "args.codes[1]: String should match pattern" in str(model.requests[1].messages)
    assert model.requests[2].messages[-1]["content"] == "2"
    assert taken == [Codes(["a"])]


def test_a_program_makes_root_models_as_it_makes_other_classes() -> None:
    def count(codes: Codes) -> int:
        return len(codes.root)

    registry = Registry(functions=[count], types=[Codes])
    assert describe(registry).splitlines()[0] == (
        "type Codes(root: [string])  # Short names of countries"
    )
    outcome = evaluate({"count": {"codes": {"Codes": ["a", "b"]}}}, registry)
    assert isinstance(outcome, Success) and outcome.value == 2


def test_a_changed_copy_of_a_root_model_has_another_root() -> None:
    assert ops.changed(Codes(["a"]), root=["b"]) == Codes(["b"])
    with pytest.raises(ValidationError):
        ops.changed(Codes(["a"]), root=["B"])


class Booking(BaseModel):
    model_config = ConfigDict(extra="allow")

    first_day: int = Field(alias="firstDay", ge=1)
    last_day: int = Field(validation_alias="lastDay")
    guests: list[Person] = []
    note: str = ""

    @model_validator(mode="after")
    def _ends_later(self) -> Booking:
        if self.last_day < self.first_day:
            raise ValueError("it ends before it begins")
        return self


def test_a_changed_copy_of_a_model_is_validated_as_a_whole() -> None:
    booking = Booking.model_validate({"firstDay": 1, "lastDay": 2, "colour": "red"})
    later = ops.changed(booking, first_day=8, last_day=9)
    assert (type(later), later.first_day, later.last_day) == (Booking, 8, 9)
    assert later.model_extra == {"colour": "red"}
    assert "note" not in later.model_fields_set, "what was never set still is not"
    assert "note" in ops.changed(booking, note="").model_fields_set
    assert (booking.first_day, booking.last_day) == (1, 2)
    with pytest.raises(ValidationError, match="it ends before it begins"):
        ops.changed(booking, first_day=8)
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        ops.changed(booking, first_day=0)


class Plain(BaseModel):
    name: str
    inner: Booking | None = None


def test_a_changed_copy_keeps_what_it_holds_and_knows_its_fields() -> None:
    inner = Booking.model_validate({"firstDay": 1, "lastDay": 2})
    plain = Plain(name="a", inner=inner)
    assert ops.changed(plain, {"name": "b"}).inner is inner
    with pytest.raises(MissingError, match="no field `nam` in Plain: its fields are name, inner"):
        ops.changed(plain, nam="b")
    with pytest.raises(CheckError, match="expected object or record, got int 3"):
        ops.changed(3, {"name": "b"})
