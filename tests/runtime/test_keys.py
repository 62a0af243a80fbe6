"""Objects whose keys are dates, datetimes, or the members of an Enum: read, written and shown."""

import datetime as dt
import enum
import json
import operator
from typing import Any, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from runtime_support import CheckError, check, ops
from runtime_support._core.outputs.contracts import ValueOutput, contract_of
from runtime_support._core.reader.replies import read_reply
from runtime_support._language.failures import error_words
from runtime_support._schema.checking import decode, decode_for_model
from runtime_support._schema.reading import schema_of
from runtime_support._schema.writing import json_schema, short
from runtime_support._streaming.drafts import Drafts
from runtime_support.errors import MissingError
from tests.runtime.real_models import Calendar, Priority

DAY = dt.date(2026, 1, 31)
MOMENT = dt.datetime(2026, 1, 31, 9, 30, tzinfo=dt.timezone(dt.timedelta(hours=1)))


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Step(enum.IntEnum):
    FIRST = 1
    SECOND = 2


class Rate(enum.Enum):
    HALF = 0.5
    FULL = 1
    NONE = "none"


class Plan(BaseModel):
    days: dict[Step, int]
    rates: dict[Rate, str] = {}
    levels: dict[Literal[1, 2], Level] = {}


def read(type_: Any, reply: str) -> Any:
    return read_reply(reply, schema_of(type_))[0]


@pytest.mark.parametrize(
    ("type_", "told", "notation", "names"),
    [
        (dict[dt.date, int], "{any date: int}", "{[date]: int}", {"format": "date"}),
        (
            dict[dt.datetime, list[int]],
            "{any datetime: [int]}",
            "{[datetime]: [int]}",
            {"format": "date-time"},
        ),
        (
            dict[Level, int],
            '{any "low" | "high": int}',
            '{["low" | "high"]: int}',
            {"enum": ["low", "high"]},
        ),
        (
            dict[Step, int],
            '{any "1" | "2": int}',
            '{["1" | "2"]: int}',
            {"enum": ["1", "2"]},
        ),
        (
            dict[Literal["a", "b"], int],
            '{any "a" | "b": int}',
            '{["a" | "b"]: int}',
            {"enum": ["a", "b"]},
        ),
    ],
)
def test_a_model_is_told_what_the_keys_are(
    type_: Any, told: str, notation: str, names: dict[str, Any]
) -> None:
    contract = contract_of(type_)
    assert contract.text.endswith(told) and contract.losses == ("the value is a map",)
    document = json_schema(schema_of(type_))
    jsonschema.Draft202012Validator.check_schema(document)
    assert document["propertyNames"] == {"type": "string", **names}
    assert short(schema_of(type_)) == notation


@pytest.mark.parametrize(
    ("type_", "reply", "value"),
    [
        (dict[dt.date, int], '{"2026-01-31": 3}', {DAY: 3}),
        (dict[dt.date, int], '```json\n{"20260131": "3",}\n```', {DAY: 3}),
        (dict[dt.date, int], "{}", {}),
        (dict[dt.datetime, str], '{"2026-01-31T08:30:00Z": "a"}', {MOMENT: "a"}),
        (dict[str, dict[dt.date, int]], '{"x": {"2026-01-31": 3}}', {"x": {DAY: 3}}),
        (dict[dt.date, int] | dict[str, int], '{"2026-01-31": 3}', {DAY: 3}),
        (dict[dt.date, int] | dict[str, int], '{"2026-01-31": 3, "x": 4}', None),
        (dict[str, int] | dict[dt.date, int], '{"2026-01-31": 3}', {DAY: 3}),
        (dict[dt.date, int] | None, "null", None),
        (dict[Level, int], '{"low": 1, "HIGH": 2}', {Level.LOW: 1, Level.HIGH: 2}),
    ],
)
def test_replies_are_read_into_keys(type_: Any, reply: str, value: Any) -> None:
    expected = json.loads(reply) if value is None else value
    assert read(type_, reply) == expected
    assert list(map(type, read(type_, reply) or ())) == list(map(type, expected or ()))


@pytest.mark.parametrize(
    ("type_", "reply", "reason"),
    [
        (dict[dt.date, int], '{"2026-01-31": 1, "20260131": 2}', "the same as `2026-01-31`"),
        (
            dict[dt.datetime, int],
            '{"2026-01-31T09:30:00+01:00": 1, "2026-01-31T08:30:00Z": 2}',
            "the same as `2026-01-31T09:30:00",
        ),
        (dict[dt.datetime, int], '{"2026-01-31T09:30:00": 1}', "its key: expected datetime"),
        (dict[dt.date, int], '{"31 January 2026": 1}', "its key: expected date"),
        (dict[dt.date, int], '{"2026-02-30": 1}', "its key: expected date, such as 2026-01-31"),
        (dict[Level, int], '{"middle": 1}', 'its key: expected "low" | "high"'),
    ],
)
def test_what_would_lose_a_key_or_is_none_is_asked_again(
    type_: Any, reply: str, reason: str
) -> None:
    with pytest.raises(CheckError, match=reason.replace("|", r"\|").replace("+", r"\+")):
        read(type_, reply)


def test_all_that_is_wrong_is_told_once() -> None:
    with pytest.raises(CheckError) as caught:
        read(dict[dt.date, int], '{"x": 1, "2026-01-31": "many", "y": "z"}')
    told = str(caught.value).split("; ")
    assert sorted(one.partition(", ")[0] for one in told) == [
        "value.x: its key: expected date",
        "value.y: expected int",
        "value.y: its key: expected date",
        'value["2026-01-31"]: expected int',
    ]
    with pytest.raises(CheckError) as refused:
        decode_for_model({"x": 1, "y": "z"}, schema_of(dict[dt.date, int]))
    assert str(refused.value).count("; ") == 2


def test_keys_are_members_whose_values_are_numbers() -> None:
    assert read(dict[Step, int], '{"1": 3, "2": 4}') == {Step.FIRST: 3, Step.SECOND: 4}
    assert read(dict[Rate, int], '{"0.5": 1, "1": 2, "none": 3}') == {
        Rate.HALF: 1,
        Rate.FULL: 2,
        Rate.NONE: 3,
    }
    assert read(dict[Literal[1, 2], int], '{"2": 3}') == {2: 3}
    assert read(Plan, '{"days": {"1": 3}, "rates": {"0.5": "x"}, "levels": {"2": "low"}}') == Plan(
        days={Step.FIRST: 3}, rates={Rate.HALF: "x"}, levels={2: Level.LOW}
    )
    for type_ in (dict[Step, int], Plan):
        with pytest.raises(CheckError, match=r'its key: expected "1" \| "2"') as caught:
            read(type_, '{"3": 4}' if type_ is not Plan else '{"days": {"3": 4}}')
        assert str(caught.value).count("its key") == 1
    steps = {Step.FIRST: 3}
    assert check(steps, dict[Step, int]) is steps
    assert json.loads(ops.json(steps)) == {"1": 3}


def test_operations_take_members_as_keys() -> None:
    steps: Any = {Step.FIRST: 3, Level.LOW: 4}
    assert ops.index(steps, Step.FIRST) == 3 and ops.index(steps, Level.LOW) == 4
    assert ops.is_in(Level.LOW, steps) and not ops.is_in(Level.HIGH, steps)
    with pytest.raises(MissingError):
        ops.index(steps, Step.SECOND)


def test_values_are_held_against_the_type() -> None:
    days = {DAY: 3}
    assert check(days, dict[dt.date, int]) is days
    assert check({"2026-01-31": 3}, dict[dt.date, int]) == days
    for wrong in ({MOMENT: 3}, {3: 3}, {"x": 3}, {DAY: 3, "2026-01-31": 4}):
        with pytest.raises(CheckError, match="its key"):
            check(wrong, dict[dt.date, int])
    with pytest.raises(CheckError, match="its key: expected string, got date"):
        check(days, dict[str, int])
    with pytest.raises(CheckError, match="with an offset"):
        check({MOMENT.replace(tzinfo=None): 3}, dict[dt.datetime, int])


def test_operations_take_such_keys() -> None:
    days: Any = {DAY: 3}
    assert ops.index(days, DAY) == 3 and ops.is_in(DAY, days) and not ops.is_in("x", days)
    assert ops.get(days, DAY) == 3 and ops.get(days, dt.date(2020, 1, 1), 0) == 0
    assert ops.keys(days) == [DAY] and ops.items(days) == [(DAY, 3)]
    assert ops.str(days) == '{[date("2026-01-31")]: 3}' and ops.json(days) == '{"2026-01-31":3}'
    assert ops.json([{MOMENT: {Level.LOW: DAY}}]) == (
        '[{"2026-01-31T09:30:00+01:00":{"low":"2026-01-31"}}]'
    )
    with pytest.raises(MissingError, match=r'no key date\("2026-02-01"\): the object has 2026-01'):
        ops.index(days, dt.date(2026, 2, 1))
    for operation in (ops.index, ops.get):
        with pytest.raises(CheckError, match="string"):
            operation(days, 3)
    with pytest.raises(CheckError, match='two keys of an object have the text string "2026-01-31"'):
        ops.json({"2026-01-31": 1, DAY: 2})


def test_keys_of_an_object_are_of_one_kind() -> None:
    assert ops.key(DAY, dt.date) == DAY and ops.fields({DAY: 1}, dt.date) == {DAY: 1}
    assert ops.key("2026-01-31", dt.date) == DAY
    for taken, kind in ((DAY, str), ("x", dt.date), (MOMENT, dt.date), (3, dt.datetime)):
        with pytest.raises(CheckError, match="key"):
            ops.key(taken, kind)
        with pytest.raises(CheckError, match="key"):
            ops.fields({taken: 1}, kind)
    with pytest.raises(CheckError) as caught:
        ops.key(DAY)
    assert caught.value.hint == "`x: {[date]: T}` says that keys are of this type"


@given(st.dictionaries(st.dates(), st.integers(-9, 9)))
def test_json_and_back(days: dict[dt.date, int]) -> None:
    text = ops.json(days)
    assert read(dict[dt.date, int], text) == days == check(ops.parse(text), dict[dt.date, int])
    jsonschema.validate(json.loads(text), json_schema(schema_of(dict[dt.date, int])))


def test_a_draft_has_the_keys_that_are_whole() -> None:
    output = ValueOutput(contract_of(dict[dt.date, list[int]]))
    drafts = Drafts(output)
    pieces = ('{"2026-01-31": [1, 2], "2026-', "02-01", '": ')
    given = [list(drafts.feed(piece)) for piece in pieces]
    assert given[0][-1] == {DAY: [1, 2]}
    assert all(list(map(type, one)) == [dt.date] for many in given for one in many if one)


def test_a_model_says_what_is_wrong_with_its_keys() -> None:
    with pytest.raises(CheckError, match=r"value.closed.x: its key: Input should be a valid date"):
        read(Calendar, '{"codes": ["no"], "levels": {}, "closed": {"x": []}}')
    with pytest.raises(CheckError, match=r'value.levels.mid: its key: expected "low"'):
        read(Calendar, '{"codes": ["no"], "levels": {"mid": {}}}')
    calendar = read(Calendar, '{"codes": ["no"], "levels": {"low": {"2026-01-31": 3}}}')
    assert calendar.levels[Priority.low].root == {DAY: 3} and calendar.codes.root == ["no"]
    assert read(Calendar, ops.json(calendar)) == calendar


def test_a_key_of_python_stays_what_it_is_in_the_schema_of_others() -> None:
    with pytest.raises(CheckError):
        json_schema(schema_of(dict[int, str]))
    assert decode({"a": 1}, schema_of(dict[Any, int])) == {"a": 1}


def test_a_missing_key_is_named_as_a_script_writes_it() -> None:
    days, texts = {DAY: 3}, {"a": 1}
    for found, key, words in (
        (days, dt.date(2020, 1, 1), 'missing key date("2020-01-01")'),
        (texts, "x", 'missing key "x"'),
    ):
        with pytest.raises(KeyError) as caught:
            operator.getitem(found, key)
        assert error_words(caught.value) == words
