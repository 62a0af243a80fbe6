"""Dates, datetimes, times, durations and decimals: replies, tools, JSON, operators."""

import datetime as dt
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime_support import CheckError, check, configure, ops, prompt
from runtime_support._core.outputs.contracts import contract_of
from runtime_support._core.reader.replies import read_reply
from runtime_support._schema.reading import schema_of
from runtime_support._schema.writing import json_schema
from runtime_support._values.dates import NotReadable, read, text_of, word_of
from runtime_support.testing import Scripted, tool_request


@dataclass(frozen=True)
class Order:
    placed: dt.date
    at: dt.datetime
    opens: dt.time
    every: dt.timedelta
    price: Decimal
    due: dt.date | None = None


ORDER = Order(
    dt.date(2026, 1, 31),
    dt.datetime(2026, 1, 31, 9, 30, tzinfo=dt.UTC),
    dt.time(9, 30),
    dt.timedelta(days=1, hours=2),
    Decimal("12.30"),
)


def understood(type_: Any, reply: str) -> Any:
    return read_reply(reply, schema_of(type_))[0]


@given(
    st.dates()
    | st.datetimes(timezones=st.just(dt.UTC))
    | st.times()
    | st.timedeltas()
    | st.decimals(allow_nan=False, allow_infinity=False, places=4)
)
def test_a_text_is_read_as_the_value_that_it_is_of(value: Any) -> None:
    word = word_of(value)
    assert word is not None
    found = read(word, text_of(value))
    assert found == value and text_of(found) == text_of(value)


@pytest.mark.parametrize(
    ("type_", "reply", "expected"),
    [
        (dt.date, '"2026-01-31"', dt.date(2026, 1, 31)),
        (dt.date, "2026-01-31.", dt.date(2026, 1, 31)),
        (dt.date, '"20260131"', dt.date(2026, 1, 31)),
        (dt.time, '"09:30:00.123456789"', dt.time(9, 30, 0, 123456)),
        (dt.timedelta, '"PT1.5H"', dt.timedelta(minutes=90)),
        (Decimal, "12.30", Decimal("12.30")),
        (Decimal, '"$1,234.50"', Decimal("1234.50")),
        (Decimal, "0.1000000000000000000000001", Decimal("0.1000000000000000000000001")),
        (list[Decimal], "[1, 2.50]", [Decimal(1), Decimal("2.50")]),
        (dt.date | str, '"2026-01-31"', dt.date(2026, 1, 31)),
        (dt.date | str, '"soon"', "soon"),
        (dt.date | None, "null", None),
    ],
)
def test_what_can_mean_one_value_is_read(type_: Any, reply: str, expected: Any) -> None:
    found = understood(type_, reply)
    assert found == expected and type(found) is type(expected)
    assert str(found) == str(expected)  # with all digits


@pytest.mark.parametrize(
    ("type_", "reply", "reason"),
    [
        (dt.date, '"31 January 2026"', "expected date, such as 2026-01-31"),
        (dt.date, '"03/04/2026"', "expected date"),
        (dt.date, '"2026-W05"', "a week is not a day"),
        (dt.date, '"2026-01-31T00:00:00"', "expected date"),
        (dt.time, '"9:30 pm"', "expected time"),
        (dt.timedelta, '"2 hours and 5 min"', "expected duration"),
        (dt.datetime, '"Fri, 31 Jan 2026 10:00:00 GMT"', "expected datetime"),
        (dt.date, '"2026-02-30"', "expected date"),
        (dt.date, "20260131", "expected date"),
        (dt.datetime, '"2026-01-31T09:30:00"', "a datetime has an offset"),
        (dt.timedelta, '"P1M"', "no months or years"),
        (Decimal, '"1/3"', "expected decimal"),
        (Decimal, '"NaN"', "expected decimal"),
        (dt.time, '"9"', "expected time"),
    ],
)
def test_what_cannot_is_asked_again(type_: Any, reply: str, reason: str) -> None:
    with pytest.raises(CheckError, match=reason):
        understood(type_, reply)


def test_schemas_say_the_form() -> None:
    fields = json_schema(schema_of(Order))["properties"]
    forms = {name: one.get("format") or one.get("pattern") for name, one in fields.items()}
    assert forms == {
        "placed": "date",
        "at": "date-time",
        "opens": "time",
        "every": "duration",
        "price": r"^-?[0-9]+(\.[0-9]+)?$",
        "due": None,
    }
    contract = contract_of(Order)
    assert contract.is_strict
    assert '`date` is "2026-01-31"' in contract.text


def test_json_and_back() -> None:
    text = ops.to_json(ORDER)
    assert json.loads(text)["price"] == "12.30"
    assert check(ops.parse(text), Order) == ORDER
    assert str(check(ops.parse('{"price": 12.30}')["price"], Decimal)) == "12.30"
    assert ops.show([ORDER.placed, ORDER.price]) == '[date("2026-01-31"), decimal("12.30")]'


def test_tools_take_and_give_them(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def pay(on: dt.date, amount: Decimal) -> Decimal:
        seen.extend((on, amount))
        return amount * 2

    model = Scripted([tool_request("pay", on="2026-01-31", amount=12.30), '"24.60"'])
    with configure(provider=model):
        result = prompt("Use {pay}.", pay=pay, returns=Decimal)
    assert seen == [dt.date(2026, 1, 31), Decimal("12.3")]
    assert str(result.value) == "24.60"
    assert result.tool_calls[0].result == "24.6"


def test_a_naive_datetime_is_refused_where_it_enters() -> None:
    naive = dt.datetime(2026, 1, 31, 9, 30)
    with pytest.raises(CheckError, match="with an offset"):
        check(naive, dt.datetime)
    with pytest.raises(CheckError, match="with an offset"):
        ops.sub(naive, naive)


def test_a_decimal_and_a_float_do_not_mix() -> None:
    assert ops.eq(Decimal("0.5"), 0.5) is False
    assert ops.eq(Decimal("2.0"), 2) is True
    for operation in (ops.add, ops.lt, ops.mul):
        with pytest.raises(CheckError, match="do not mix"):
            operation(Decimal("0.5"), 0.5)
    with pytest.raises(CheckError, match="a float is not exact"):
        check(0.5, Decimal)


def test_a_datetime_is_not_a_date() -> None:
    with pytest.raises(CheckError, match="expected date"):
        check(ORDER.at, dt.date)
    with pytest.raises(CheckError):
        ops.lt(ORDER.placed, ORDER.at)


def test_the_clock_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFT_NOW", "2026-01-31T09:30:00+01:00")
    assert ops.today() == dt.date(2026, 1, 31)
    assert ops.now().isoformat() == "2026-01-31T09:30:00+01:00"


def test_unreadable_texts_say_why() -> None:
    with pytest.raises(NotReadable, match="no months or years"):
        read("duration", "P1Y2D")
    with pytest.raises(CheckError, match="such as 12"):
        ops.decimal("12,30")
