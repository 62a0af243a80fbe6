"""What a model sees of a dataframe: the shape of the summary, its bounds, and where it stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from runtime_support import _tables as limits
from runtime_support import program, prompt
from runtime_support._tables import summary
from runtime_support.ops import to_json
from runtime_support.testing import Scripted, tool_request

# Nothing that a table holds makes its summary longer than this many characters of JSON.
MOST_JSON = 60_000


def test_the_shape_of_the_summary() -> None:
    table = pl.DataFrame({"name": ["Ada", "Grace", None], "goals": [3, 6, 3], "rating": [7.5] * 3})
    assert summary(table) == {
        "kind": "dataframe",
        "shape": [3, 3],
        "columns": {"name": "String", "goals": "Int64", "rating": "Float64"},
        "sample": [
            {"name": "Ada", "goals": 3, "rating": 7.5},
            {"name": "Grace", "goals": 6, "rating": 7.5},
            {"name": None, "goals": 3, "rating": 7.5},
        ],
        "profile": {
            "goals": {"count": 3, "mean": 4.0, "min": 3, "max": 6},
            "rating": {"count": 3, "mean": 7.5, "min": 7.5, "max": 7.5},
        },
        "left_out": {"columns": 0, "rows": 0, "profiles": 0},
    }
    assert json.loads(to_json(table)) == summary(table)


def test_rows_are_sampled() -> None:
    found = summary(pl.DataFrame({"n": range(1000)}))
    assert found["shape"] == [1000, 1]
    assert found["sample"] == [{"n": n} for n in range(8)]
    assert found["profile"] == {"n": {"count": 1000, "mean": 499.5, "min": 0, "max": 999}}
    assert found["left_out"] == {"columns": 0, "rows": 992, "profiles": 0}


def test_two_hundred_columns() -> None:
    columns: dict[str, Any] = {f"c{n}": [n, None] if n % 2 else ["a", "b"] for n in range(200)}
    found = summary(pl.DataFrame(columns))
    names = [f"c{n}" for n in range(32)]
    assert found["shape"] == [2, 200]
    assert list(found["columns"]) == list(found["sample"][0]) == names
    assert list(found["profile"]) == [f"c{n}" for n in range(1, 24, 2)]
    assert found["profile"]["c1"] == {"count": 1, "mean": 1.0, "min": 1, "max": 1}
    assert found["left_out"] == {"columns": 168, "rows": 0, "profiles": 88}


def test_columns_of_long_names() -> None:
    found = summary(pl.DataFrame({f"{n}{'x' * 399}": [n] for n in range(5)}))
    assert [name[0] for name in found["columns"]] == ["0", "1"]
    assert found["left_out"] == {"columns": 3, "rows": 0, "profiles": 3}
    assert summary(pl.DataFrame({"x" * 2000: [1]}))["columns"] == {}


def test_values_without_a_form_in_json_are_text() -> None:
    table = pl.DataFrame(
        {
            "day": [date(2024, 5, 6)],
            "time": [datetime(2024, 5, 6, 7, 8)],
            "price": [Decimal("1.50")],
            "tags": [["a", "b"]],
            "data": [b"\x00\x01"],
            "text": ["x" * 100],
            "is_new": [True],
        }
    )
    found = summary(table)
    assert found["sample"] == [
        {
            "day": "2024-05-06",
            "time": "2024-05-06 07:08:00",
            "price": 1.5,
            "tags": "['a', 'b']",
            "data": "b'\\x00\\x01'",
            "text": "x" * 59 + "…",
            "is_new": True,
        }
    ]
    assert found["profile"] == {"price": {"count": 1, "mean": 1.5, "min": 1.5, "max": 1.5}}
    assert json.loads(to_json(table)) == found


def test_numbers_that_are_not_finite_are_null_and_not_counted() -> None:
    found = summary(pl.DataFrame({"x": [1.0, float("nan"), float("inf"), None, 4.0]}))
    assert [row["x"] for row in found["sample"]] == [1.0, None, None, None, 4.0]
    assert found["profile"] == {"x": {"count": 2, "mean": 2.5, "min": 1.0, "max": 4.0}}


def test_means_are_rounded_so_that_a_request_stays_the_same() -> None:
    assert summary(pl.DataFrame({"x": [1, 2, 2]}))["profile"]["x"]["mean"] == 1.66667
    assert summary(pl.DataFrame({"x": [123456789, 123456790]}))["profile"]["x"]["mean"] == 123457000


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame(),
        pl.DataFrame({"a": []}),
        pl.DataFrame({"a": [], "b": []}, schema={"a": pl.Int64, "b": pl.Float64}),
        pl.DataFrame({"a": [None, None]}, schema={"a": pl.Float64}),
    ],
)
def test_tables_without_values(table: pl.DataFrame) -> None:
    found = json.loads(to_json(table))
    assert found["shape"] == list(table.shape)
    for profile in found["profile"].values():
        assert profile == {"count": 0, "mean": None, "min": None, "max": None}


@pytest.mark.parametrize("value", ["x" * 10_000, '\n"\\' * 1000, "\N{GRINNING FACE}" * 500])
def test_the_summary_is_bounded_whatever_is_in_the_table(value: str) -> None:
    table = pl.DataFrame({f"{n}{'c' * 25}": [value] * 20 for n in range(150)})
    assert len(to_json(table)) < MOST_JSON


def test_the_limits_are_those_of_the_page() -> None:
    most = (limits.MOST_COLUMNS, limits.MOST_NAME_CHARACTERS, limits.MOST_ROWS)
    assert most == (32, 1000, 8)
    assert (limits.MOST_PROFILES, limits.MOST_TEXT, limits.DIGITS_OF_MEAN) == (12, 60, 6)


# Where it stands

TABLE = pl.DataFrame({"n": range(500)})
SUMMARY = to_json(TABLE)


def test_a_prompt_has_the_summary(scripted: Callable[..., Scripted]) -> None:
    model = scripted("fine", "fine")
    prompt("see {table} and {0}", {"tables": [TABLE]}, table=TABLE)
    text = model.requests[0].messages[0]["content"]
    assert text == f'see {SUMMARY} and {{"tables":[{SUMMARY}]}}'
    assert "499" in text and '"n":8' not in text


def test_a_tool_that_gives_a_table_gives_the_summary(scripted: Callable[..., Scripted]) -> None:
    def whole() -> pl.DataFrame:
        return TABLE

    def parts() -> dict[str, Any]:
        return {"first": TABLE, "count": 1}

    model = scripted([tool_request("whole"), tool_request("parts")], "done")
    result = prompt("use {whole} and {parts}", whole=whole, parts=parts)
    answers = [message["content"] for message in model.requests[1].messages[-2:]]
    assert answers == [SUMMARY, f'{{"first":{SUMMARY},"count":1}}']
    assert [call.result for call in result.tool_calls] == answers


def test_a_tool_that_fails_on_a_column_tells_the_model(scripted: Callable[..., Scripted]) -> None:
    from runtime_support.ops import mean

    def average(column: str) -> float:
        return mean(TABLE, column)

    model = scripted(tool_request("average", column="m"), "done")
    prompt("use {average}", average=average)
    told = model.requests[1].messages[-1]["content"]
    assert told == "error: no column `m`: the dataframe has n"
    model = scripted(tool_request("average", column="nn"), "done")
    prompt("use {average}", average=average)
    assert model.requests[1].messages[-1]["content"].endswith("did you mean `n`?")


def test_polars_own_errors_reach_the_model_with_the_nearest_name(
    scripted: Callable[..., Scripted],
) -> None:
    def part(names: list[str]) -> pl.DataFrame:
        return TABLE.rename({"n": "goals"}).select(names)

    model = scripted(tool_request("part", names=["gaols"]), "done")
    prompt("use {part}", part=part)
    told = model.requests[1].messages[-1]["content"]
    assert told.startswith("error: ColumnNotFoundError") and '"goals"' in told


def test_a_tool_cannot_take_a_table(scripted: Callable[..., Scripted]) -> None:
    def average(table: pl.DataFrame, column: str) -> float:
        return 1.0

    scripted()
    with pytest.raises(Exception, match="`average` cannot be a tool: a value of type dataframe"):
        prompt("use {average}", average=average)


def test_in_a_program_one_call_gives_a_table_to_another(scripted: Callable[..., Scripted]) -> None:
    def load(name: str) -> pl.DataFrame:
        return TABLE

    def largest(table: pl.DataFrame, column: str) -> int:
        return table[column].max()

    call = '{"largest": {"table": {"load": {"name": "a"}}, "column": "n"}}'
    model = scripted(call, '{"load": {"name": "a"}}')
    result = program("{load} {largest}", load=load, largest=largest, returns=int)
    assert result.value == 499
    assert [made.result for made in result.tool_calls] == [SUMMARY, "499"]
    assert program("{load}", load=load, returns=pl.DataFrame).value is TABLE
    assert "load(name: string) -> dataframe" in model.requests[0].messages[0]["content"]
