"""What a model sees of a dataframe: a bounded summary, never the table.

    {"kind": "dataframe", "shape": [120, 3],
     "columns": {"name": "String", "goals": "Int64", "rating": "Float64"},
     "sample": [{"name": "Ada", "goals": 4, "rating": 7.5}, ... 8 rows],
     "profile": {"goals": {"count": 120, "mean": 4.25, "min": 0, "max": 19}, ...},
     "left_out": {"columns": 0, "rows": 112, "profiles": 0}}

A hundred million rows give no more than a hundred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polars import DataFrame

MOST_COLUMNS = 32
MOST_NAME_CHARACTERS = 1000
MOST_ROWS = 8
MOST_PROFILES = 12
MOST_TEXT = 60
DIGITS_OF_MEAN = 6


def summary(table: DataFrame) -> dict[str, Any]:
    """The summary as JSON data.

    Columns are listed until there are `MOST_COLUMNS`, or until their names have
    `MOST_NAME_CHARACTERS`; the sample has the first rows of these columns. In it, what has no form
    in JSON is text, texts are cut at `MOST_TEXT`, and a number that is not finite is null. A
    profile is of the finite values.
    """
    rows, width = table.shape
    columns = table.get_columns()
    listed = columns[: _listed(table.columns)]
    profiled = [column for column in listed if column.dtype.is_numeric()][:MOST_PROFILES]
    cells = [list(map(_json_value, column.head(MOST_ROWS).to_list())) for column in listed]
    names = [column.name for column in listed]
    sample = [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]
    return {
        "kind": "dataframe",
        "shape": [rows, width],
        "columns": {column.name: str(column.dtype) for column in listed},
        "sample": sample,
        "profile": {column.name: _profile(column) for column in profiled},
        "left_out": {
            "columns": width - len(listed),
            "rows": rows - len(sample),
            "profiles": sum(column.dtype.is_numeric() for column in columns) - len(profiled),
        },
    }


def _listed(names: Sequence[str]) -> int:
    """How many of the columns are listed."""
    characters = 0
    for position, name in enumerate(names[:MOST_COLUMNS]):
        characters += len(name)
        if characters > MOST_NAME_CHARACTERS:
            return position
    return min(len(names), MOST_COLUMNS)


def _profile(column: Any) -> dict[str, Any]:
    values = column.drop_nulls()
    if values.dtype.is_float():
        values = values.filter(values.is_finite())
    return {
        "count": len(values),
        "mean": _rounded(values.mean()),
        "min": _json_value(values.min()),
        "max": _json_value(values.max()),
    }


def _rounded(mean: Any) -> float | None:
    """The last digits depend on the order in which the threads of polars add."""
    return None if mean is None else float(f"{float(mean):.{DIGITS_OF_MEAN}g}")


def _json_value(value: Any) -> Any:
    from decimal import Decimal

    match value:
        case None | bool() | int():
            return value
        case float() | Decimal():
            number = float(value)
            return number if math.isfinite(number) else None
        case _:
            text = str(value)
            return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"
