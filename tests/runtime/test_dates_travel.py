"""Dates and decimals pass through prompts, tools, programs, journals, recordings, tables, and are
afterwards what they were: the same value of the same class, with all digits.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from runtime_support import _recordings as recordings
from runtime_support import check, ops, program, prompt
from runtime_support._schema.reading import schema_of
from runtime_support.map._columns import columns_of, data_type, fit_column, split_columns
from runtime_support.programs import Registry, Success, evaluate, serialize
from runtime_support.runs import journaled
from runtime_support.testing import Scripted, tool_request

Script = Callable[..., Scripted]

VALUES: dict[str, Any] = {
    "date": date(2026, 1, 31),
    "datetime": datetime(2026, 1, 31, 9, 30, 0, 250_000, timezone(timedelta(hours=1))),
    "time": time(9, 30, 15),
    "duration": timedelta(days=1, hours=2, microseconds=5),
    "decimal": Decimal("12.300"),
    "days": {date(2026, 1, 31): Decimal("12.300"), date(2024, 2, 29): Decimal(3)},
    "moments": {
        datetime(2026, 1, 31, 9, 30, tzinfo=timezone(timedelta(hours=1))): "a",
        datetime(2026, 1, 31, 9, 30, tzinfo=timezone(timedelta(hours=-5))): "b",
    },
}


def is_same(found: Any, value: Any) -> bool:
    return type(found) is type(value) and found == value and str(found) == str(value)


def type_of(value: Any) -> Any:
    if not isinstance(value, dict):
        return type(value)
    ((key, inner),) = {(type(key), type(one)) for key, one in value.items()}
    return dict[key, inner]


def data_of(value: Any) -> Any:
    """The value as a model sends it, in JSON."""
    return json.loads(ops.json(value))


def a_prompt(value: Any, script: Script, path: Path) -> Any:
    script(ops.json(value))
    return prompt("?", returns=type_of(value)).value


def several_fields(value: Any, script: Script, path: Path) -> Any:
    script(tool_request("__saft_return_it", value=data_of(value)))
    return prompt("?", fields={"it": type_of(value)}).value[0]


def a_number_of_json(value: Any, script: Script, path: Path) -> Any:
    """A decimal that the model has sent as a number keeps its digits."""
    script(f'{{"it": {value if isinstance(value, Decimal) else ops.json(value)}}}')
    return prompt("?", returns=dict[str, type_of(value)]).value["it"]


def a_tool(value: Any, script: Script, path: Path) -> Any:
    passed: list[Any] = []

    def keep(it: Any) -> Any:
        passed.append(it)
        return it

    keep.__annotations__ = {"it": type_of(value), "return": type_of(value)}
    script(tool_request("keep", it=data_of(value)), "done")
    result = prompt("{keep}", keep=keep)
    assert result.tool_calls[0].result in (ops.str(value), ops.json(value))
    return passed[0]


def a_call_of_anything(value: Any, script: Script, path: Path) -> Any:
    def same(it: Any) -> Any:
        return it

    same.__annotations__ = {"it": type_of(value)}
    return ops.call(same, data_of(value))


def registry_for(value: Any) -> Registry:
    def same(it: Any) -> Any:
        return it

    same.__annotations__ = {"it": type_of(value), "return": type_of(value)}
    return Registry([same])


def a_program(value: Any, script: Script, path: Path) -> Any:
    outcome = evaluate({"same": {"it": data_of(value)}}, registry_for(value))
    assert isinstance(outcome, Success), outcome
    return outcome.value


def a_program_of_a_prompt(value: Any, script: Script, path: Path) -> Any:
    def same(it: Any) -> Any:
        return it

    same.__annotations__ = {"it": type_of(value), "return": type_of(value)}
    script(ops.json({"same": {"it": value}}))
    return program("{same}", same=same, returns=type_of(value)).value


def its_own_program(value: Any, script: Script, path: Path) -> Any:
    registry = registry_for(value)
    outcome = evaluate({"same": {"it": serialize(value, registry)}}, registry)
    assert isinstance(outcome, Success), outcome
    return outcome.value


def a_journal(value: Any, script: Script, path: Path) -> Any:
    for replies in ([ops.json(value)], []):
        script(*replies)
        with journaled(str(path / "run.journal")):
            found = prompt("?", returns=type_of(value)).value
    return found


def a_journal_of_tools(value: Any, script: Script, path: Path) -> Any:
    def keep(it: Any) -> Any:
        return it

    keep.__annotations__ = {"it": type_of(value), "return": type_of(value)}
    for replies in ([tool_request("keep", it=data_of(value)), ops.json(value)], []):
        script(*replies)
        with journaled(str(path / "run.journal")):
            found = prompt("{keep}", keep=keep, returns=type_of(value)).value
    return found


def a_recording(value: Any, script: Script, path: Path) -> Any:
    file = str(path / "recorded.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        script(ops.json(value))
        patch.setenv("SAFT_RECORD", file)
        prompt("?", returns=type_of(value))
        recordings.close(file)
        patch.delenv("SAFT_RECORD")
        patch.setenv("SAFT_REPLAY", file)
        script()
        found = prompt("?", returns=type_of(value)).value
        recordings.close(file)
    return found


def a_table(value: Any, script: Script, path: Path) -> Any:
    """The rows of a dataframe hold such values; its datetimes are in the zone of the column."""
    if isinstance(value, datetime):
        column = pl.Series("it", [value]).dt.convert_time_zone("Europe/Oslo")
        (row,) = ops.rows(pl.DataFrame([column]))
        assert row["it"] == value
        return row["it"].astimezone(value.tzinfo)
    (row,) = ops.rows(pl.DataFrame({"it": [value]}))
    return row["it"]


def a_column_of_a_job(value: Any, script: Script, path: Path) -> Any:
    """`saftc map` writes a column of texts, and a row of it is read as the type again."""
    schema = schema_of(type_of(value))
    (name,) = columns = columns_of(schema)
    data = split_columns(ops.parse(ops.json(value)), schema)
    cell = fit_column(data[name], columns[name], name)
    table = pl.DataFrame({name: [cell]}, schema={name: data_type(columns[name])})
    table.write_parquet(path / "out.parquet")
    read = pl.read_parquet(path / "out.parquet")[name][0]
    return check(ops.parse(read) if isinstance(value, dict) else read, type_of(value))


def json_text(value: Any, script: Script, path: Path) -> Any:
    return check(ops.parse(ops.json([value])), list[type_of(value)])[0]


def a_pickle(value: Any, script: Script, path: Path) -> Any:
    return pickle.loads(pickle.dumps(value))


WAYS: tuple[Callable[[Any, Script, Path], Any], ...] = (
    *(a_prompt, several_fields, a_number_of_json, a_tool, a_call_of_anything, a_program),
    *(a_program_of_a_prompt, its_own_program, a_journal, a_journal_of_tools, a_recording),
    *(a_table, a_column_of_a_job, json_text, a_pickle),
)


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_value_is_what_it_was(
    way: Callable[[Any, Script, Path], Any], kind: str, scripted: Script, tmp_path: Path
) -> None:
    value = VALUES[kind]
    if way is a_table and isinstance(value, dict):
        return  # a table has no cells of objects with any keys
    found = way(value, scripted, tmp_path)
    assert is_same(found, value), (found, value)
