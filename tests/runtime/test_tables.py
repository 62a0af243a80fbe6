"""Reading CSV files into dataframes, and the builtins of dataframes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from runtime_support import CheckError, ConfigError, FileError, MissingError, check, ops
from runtime_support._schema.reading import schema_of
from runtime_support.ops import kind, show

PLAYERS = pl.DataFrame(
    {
        "name": ["Ada", "Grace", None],
        "goals": [3, 6, None],
        "rating": [7.5, 8.25, 6.0],
        "is_home": [True, False, True],
        "price": [Decimal("1.50"), Decimal("2.50"), None],
        "born": [date(2001, 2, 3)] * 3,
        "note": [None, None, None],
    },
    schema_overrides={"note": pl.String},
)


def read(text: str | bytes) -> pl.DataFrame:
    Path("table.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return ops.read("table.csv")


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises((CheckError, FileError, MissingError)) as caught:
        call()
    return str(caught.value)


# Reading


def test_columns_have_the_type_that_all_values_allow() -> None:
    table = read("a,b,c,d\n1,1.5,true,x\n2,2,false,3\n")
    assert table.dtypes == [pl.Int64, pl.Float64, pl.Boolean, pl.String]
    assert table.row(1) == (2, 2.0, False, "3")


def test_a_word_late_among_numbers_makes_the_column_text() -> None:
    table = read("a\n" + "1\n" * 500 + "many\n")
    assert table["a"].dtype == pl.String
    assert table["a"].to_list()[-2:] == ["1", "many"]


def test_a_fraction_late_among_integers_makes_the_column_floats() -> None:
    assert read("a\n" + "1\n" * 500 + "2.5\n")["a"].sum() == 502.5


def test_empty_values_are_null() -> None:
    table = read("a,b\n1,\n,x\n")
    assert table.rows() == [(1, None), (None, "x")]


def test_a_row_that_ends_early_is_filled_with_nulls() -> None:
    assert read("a,b,c\n1,2,3\n4\n").rows() == [(1, 2, 3), (4, None, None)]
    assert read("a,b\n\n1,2\n").rows() == [(None, None), (1, 2)]


def test_a_row_with_too_many_values_is_named() -> None:
    message = refusal(lambda: read('a,b\n1,"two\nlines"\n3,4,5\n'))
    assert "table.csv: line 4 has 3 values for 2 columns; put a value" in message
    assert "line 2 has 2 values for 1 column; put" in refusal(lambda: read("a\n1,2\n"))


def test_a_table_of_two_hundred_columns() -> None:
    names = [f"c{number}" for number in range(200)]
    table = read(f"{','.join(names)}\n{','.join(map(str, range(200)))}\n")
    assert ops.shape(table) == (1, 200)
    assert ops.columns(table) == names
    assert ops.mean(table, "c199") == 199.0


def test_only_a_header() -> None:
    table = read("a,b\n")
    assert ops.shape(table) == (0, 2)
    assert ops.sum(table, "a") == 0
    assert "column `a` has no values" in refusal(lambda: ops.mean(table, "a"))


def test_a_byte_order_mark_and_crlf() -> None:
    assert read(b"\xef\xbb\xbfa,b\r\n1,2\r\n").to_dicts() == [{"a": 1, "b": 2}]


def test_what_looks_like_a_pattern_is_a_name() -> None:
    Path("[1]*.csv").write_text("a\n1\n")
    Path("1x.csv").write_text("b\n2\n")
    assert ops.columns(ops.read("[1]*.csv")) == ["a"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"a\ncaf\xe9\n", "it is not UTF-8 text"),
        (b"\x00\xff\xfe\x01\x02", "it is not UTF-8 text"),
        (b"n\xe4me,b\n1,2\n", "it is not UTF-8 text"),
    ],
)
def test_what_is_no_table(text: bytes, reason: str, tmp_path: Path) -> None:
    assert refusal(lambda: read(text)) == f"cannot read {tmp_path / 'table.csv'}: {reason}"


@pytest.mark.parametrize("text", ['id,"t\n1,a\n', 'id,t\n1,"a\n2,b\n', 'id,t\n1,"a"b\n2,c\n'])
def test_quotes_that_do_not_match(text: str, tmp_path: Path) -> None:
    assert str(tmp_path / "table.csv") in refusal(lambda: read(text))


def test_a_name_of_two_lines() -> None:
    assert ops.columns(read('id,"a\nb"\n1,2\n')) == ["id", "a\nb"]


def test_missing_files_and_folders(tmp_path: Path) -> None:
    missing = tmp_path / "data" / "none.csv"
    message = refusal(lambda: ops.read("data/none.csv"))
    assert message == f"cannot read {missing}: No such file or directory"
    assert refusal(lambda: ops.read(".")) == f"cannot read {tmp_path}: Is a directory"
    with pytest.raises(FileError) as caught:
        ops.read("data/none.csv")
    assert caught.value.path == str(missing)


def test_a_path_is_a_text() -> None:
    assert refusal(lambda: ops.read(3)) == "read(path): expected string, got int 3"  # type: ignore[arg-type]


def test_without_polars_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ConfigError) as caught:
        ops.read("table.csv")
    message = "dataframes need the package polars; pip install polars"
    assert str(caught.value) == message


# Of whole tables


def test_the_parts_of_a_table() -> None:
    assert ops.shape(PLAYERS) == (3, 7)
    assert ops.columns(PLAYERS)[:2] == ["name", "goals"]
    assert ops.len(PLAYERS) == ops.member(PLAYERS, "length") == 3
    assert ops.head(PLAYERS, 1).height == 1
    assert ops.head(PLAYERS).height == 3
    assert ops.head(PLAYERS, -1).height == 2
    assert ops.columns(ops.select(PLAYERS, ["goals", "name"])) == ["goals", "name"]
    assert ops.columns(ops.select(PLAYERS, "name")) == ["name"]
    assert ops.columns(ops.select(PLAYERS, ("name",))) == ["name"]  # type: ignore[arg-type]


def test_rows_are_objects_and_columns_lists() -> None:
    goals = ops.select(PLAYERS, ["name", "goals"])
    rows = [
        {"name": name, "goals": count} for name, count in PLAYERS.select("name", "goals").rows()
    ]
    assert ops.rows(goals) == list(ops.each(goals)) == rows
    assert ops.index(PLAYERS, "goals") == [3, 6, None]
    assert ops.sorted(ops.rows(PLAYERS.head(2)), by=lambda row: -row["goals"])[0]["name"] == "Grace"
    assert ops.rows(PLAYERS.head(0)) == list(ops.each(PLAYERS.head(0))) == []


def test_the_rest_of_polars_can_be_reached() -> None:
    rows = ops.send(ops.select(PLAYERS, ["goals"]), "to_dicts")
    assert rows == [{"goals": 3}, {"goals": 6}, {"goals": None}]


def test_names_are_not_patterns() -> None:
    table = pl.DataFrame({"*": [1], "^a.*$": [2], "ab": [3]})
    assert ops.columns(ops.select(table, "*")) == ["*"]
    assert ops.columns(ops.select(table, ["^a.*$"])) == ["^a.*$"]
    assert "no column `^.*$`" in refusal(lambda: ops.select(table, "^.*$"))


def test_a_table_as_a_value() -> None:
    assert kind(PLAYERS) == "dataframe"
    assert show(PLAYERS) == str(PLAYERS)
    assert "│ Ada" in show(PLAYERS)
    assert show([PLAYERS]) == "[dataframe(3 rows, 7 columns)]"
    assert ops.eq(PLAYERS, PLAYERS.clone()) is True
    assert ops.eq([PLAYERS], [PLAYERS.head(1)]) is False
    assert ops.eq(PLAYERS, "Ada") is False
    assert ops.is_in(PLAYERS, [1, PLAYERS.clone()]) is True
    assert ops.truthy(PLAYERS.head(0)) is True


def test_a_table_in_checked_places() -> None:
    assert check(PLAYERS, pl.DataFrame) is PLAYERS
    assert check([PLAYERS], list[pl.DataFrame] | None) == [PLAYERS]
    assert schema_of(pl.DataFrame).name == "dataframe"
    message = refusal(lambda: check({"rows": [1]}, dict[str, pl.DataFrame]))
    assert message == "value.rows: expected dataframe, got list [1]"
    message = refusal(lambda: check(PLAYERS, int))
    assert message == "value: expected int, got dataframe(3 rows, 7 columns)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.shape([1]), "shape(table): expected dataframe, got list [1]"),
        (lambda: ops.columns(None), "columns(table): expected dataframe, got nil"),
        (lambda: ops.head(PLAYERS, "2"), 'head(count): expected int, got string "2"'),
        (lambda: ops.head(PLAYERS, True), "head(count): expected int, got bool true"),
        (
            lambda: ops.select(PLAYERS, 3),
            "select(names): expected a name or a list of names, got int 3",
        ),
        (lambda: ops.select(PLAYERS, ["name", 3]), "select(names[1]): expected string, got int 3"),
        (
            lambda: ops.select(PLAYERS, ["name", "name"]),
            "select(names): column `name` is there twice",
        ),
        (lambda: ops.rows([1]), "rows(table): expected dataframe, got list [1]"),  # type: ignore[arg-type]
        (
            lambda: ops.index(PLAYERS, 0),
            "a column is named by a string, got int 0; `rows(x)` returns the rows as a list",
        ),
        (
            lambda: ops.slice(PLAYERS, 0, 1),
            "cannot slice dataframe(3 rows, 7 columns); `head(x, count)` returns the first rows",
        ),
        (
            lambda: ops.min(PLAYERS, by=ops.len),
            "min(items): expected list, got dataframe(3 rows, 7 columns)",
        ),
    ],
)
def test_wrong_arguments(call: Callable[[], Any], message: str) -> None:
    assert refusal(call) == message


# Of columns


def test_figures_of_a_column() -> None:
    assert ops.mean(PLAYERS, "goals") == 4.5
    assert show([ops.sum(PLAYERS, "goals"), ops.sum(PLAYERS, "rating")]) == "[9, 21.75]"
    assert (ops.min(PLAYERS, "goals"), ops.max(PLAYERS, "rating")) == (3, 8.25)
    assert (ops.min(PLAYERS, "name"), ops.max(PLAYERS, "name")) == ("Ada", "Grace")
    assert ops.mean(PLAYERS, "price") == 2.0


def test_figures_of_decimals_and_dates_are_of_their_kind() -> None:
    assert show([ops.sum(PLAYERS, "price"), ops.max(PLAYERS, "price")]) == (
        '[decimal("4.00"), decimal("2.50")]'
    )
    cents = pl.DataFrame({"price": [Decimal("0.10")] * 3, "born": [None] * 3})
    assert ops.sum(cents, "price") == Decimal("0.30")
    assert show(ops.sum(cents.head(0), "price")) == "0"
    day = date(2001, 2, 3)
    assert (ops.min(PLAYERS, "born"), ops.max(PLAYERS, "born")) == (day, day)
    at = datetime(2026, 1, 31, 9, 30)
    zone = pl.DataFrame({"at": [at]}, schema={"at": pl.Datetime(time_zone="UTC")})
    assert show(ops.max(zone, "at")) == "2026-01-31T09:30:00+00:00"
    assert "datetimes with an offset" in refusal(lambda: ops.max(pl.DataFrame({"at": [at]}), "at"))


@pytest.mark.parametrize("figure", [ops.mean, ops.min, ops.max])
def test_a_column_without_values(figure: Callable[..., Any]) -> None:
    assert ops.sum(PLAYERS, "note") == 0
    assert "column `note` has no values" in refusal(lambda: figure(PLAYERS, "note"))


@pytest.mark.parametrize("figure", [ops.mean, ops.sum, ops.min, ops.max, ops.index])
def test_a_column_that_is_not_there(figure: Callable[..., Any]) -> None:
    with pytest.raises(MissingError) as caught:
        figure(PLAYERS, "gaols")
    columns = "name, goals, rating, is_home, price, born, note"
    message = f"no column `gaols`: the dataframe has {columns}; did you mean `goals`?"
    assert str(caught.value) == message
    assert caught.value.name == "gaols"


def test_a_column_that_is_not_there_among_many() -> None:
    table = pl.DataFrame({f"column_{n}": [n] for n in range(200)})
    message = refusal(lambda: ops.select(table, ["column_7", "colum_199"]))
    assert "... (200 in all); did you mean `column_199`?" in message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.mean(PLAYERS, "name"), "expected numbers, but column `name` is of String"),
        (lambda: ops.sum(PLAYERS, "is_home"), "expected numbers, but column `is_home` is of Bool"),
        (lambda: ops.min(PLAYERS, "is_home"), "datetimes with an offset, but column `is_home` is"),
        (lambda: ops.mean(PLAYERS, 3), "mean(column): expected string, got int 3"),
        (lambda: ops.mean(PLAYERS), "mean(column): a dataframe needs the name of a column"),
        (lambda: ops.max(PLAYERS), "max(column): a dataframe needs the name of a column"),
        (lambda: ops.sum([1], "goals"), "sum(table): expected dataframe with a column, got list"),
        (lambda: ops.mean([1], "goals"), "mean(table): expected dataframe with a column, got list"),
    ],
)
def test_columns_of_the_wrong_kind(call: Callable[[], Any], message: str) -> None:
    assert message in refusal(call)


def test_sums_stay_exact_where_polars_wraps_around() -> None:
    large = pl.DataFrame({"n": [2**62, 2**62, None, 2**62]})
    assert ops.sum(large, "n") == 3 * 2**62
    assert ops.sum(pl.DataFrame({"n": [-(2**63), -1]}), "n") == -(2**63) - 1
    assert ops.sum(pl.DataFrame({"n": [200, 100]}, schema={"n": pl.UInt8}), "n") == 300


def test_the_mean_of_a_list() -> None:
    assert ops.mean([1, 2.5]) == 1.75
    assert ops.mean((1, 2)) == 1.5
    assert refusal(lambda: ops.mean([])) == "mean(items): there are no items"
    assert refusal(lambda: ops.mean([1, "a"])) == 'mean(items[1]): expected number, got string "a"'
    assert refusal(lambda: ops.mean(3)) == "mean(items): expected list, got int 3"


def test_the_functions_of_lists_are_as_they_were() -> None:
    assert (ops.sum([1, 2]), ops.min([2, 1]), ops.max(1, 2), ops.len([1])) == (3, 1, 2, 1)
