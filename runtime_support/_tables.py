"""The builtins for dataframes, implemented with polars, which is imported at the first use.

    >>> players = polars().DataFrame({"name": ["Ada", "Grace"], "goals": [3, 6]})
    >>> mean(players, "goals")
    4.5
    >>> mean(players, "gaols")      # doctest: +ELLIPSIS
    Traceback (most recent call last):
    runtime_support.errors.MissingError: no column `gaols`: ...; did you mean `goals`?

If the compiler knows that a value is a dataframe, the compiled code calls polars itself:
`df.select(names)`. The functions here decide what depends on the data, such as whether a column
holds numbers.

Models see a bounded summary of a dataframe, never the table, however many rows it has:

    {"kind": "dataframe", "shape": [120, 3],
     "columns": {"name": "String", "goals": "Int64", "rating": "Float64"},
     "sample": [{"name": "Ada", "goals": 4, "rating": 7.5}, ... 8 rows],
     "profile": {"goals": {"count": 120, "mean": 4.25, "min": 0, "max": 19}, ...},
     "left_out": {"columns": 0, "rows": 112, "profiles": 0}}
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from runtime_support._core.tasks.file_order import note_read
from runtime_support._language.arguments import as_integer, as_number, as_text, each_as
from runtime_support._language.files import check_regular, resolve_path
from runtime_support._language.operators import div
from runtime_support._values.kinds import (
    brief,
    counted,
    expected_error,
    is_dataframe,
    is_list,
    is_tuple,
    plain,
)
from runtime_support._values.names import did_you_mean, listed
from runtime_support.errors import CheckError, ConfigError, FileError, MissingError

# In this module, dataframes and columns are Any: polars' types need numpy, which may be missing.
if TYPE_CHECKING:
    from decimal import Decimal

    from polars import DataFrame
else:
    DataFrame = Any  # for the annotations, which describe tools


MOST_COLUMNS = 32
MOST_NAME_CHARACTERS = 1000
MOST_ROWS = 8
MOST_PROFILES = 12
MOST_TEXT = 60
DIGITS_OF_MEAN = 6

MOST_INT64 = 2**63 - 1
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def polars() -> Any:
    """Imports polars; raises ConfigError with an installation hint if it is missing."""
    try:
        return importlib.import_module("polars")
    except ModuleNotFoundError as error:
        if error.name != "polars":
            raise
        raise ConfigError("dataframes need the package polars", hint="pip install polars") from None


def read(path: str) -> DataFrame:
    """The table in a CSV file, whose first line names the columns.

    The type of a column is integer, float, bool or string: one that fits all its values. An empty
    value is null. Raises a FileError if the file has no table.
    """
    place = resolve_path(as_text("read(path)", path))
    note_read(place)
    library = polars()
    try:
        check_regular(place)
        try:
            table = library.read_csv(place, glob=False)
        except library.exceptions.ComputeError:
            # The first rows were not enough to find the type of a column.
            table = library.read_csv(place, glob=False, infer_schema_length=None)
    except OSError as error:
        # polars sets no `strerror`; its message has the same text.
        reason = error.strerror or str(error).partition(" (os error")[0]
        raise FileError(f"cannot read {place}: {reason}", path=place) from error
    except library.exceptions.NoDataError as error:
        raise FileError(f"cannot read {place}: the file is empty", path=place) from error
    except library.exceptions.PolarsError as error:
        reason, hint = _explained(str(error), place)
        raise FileError(f"cannot read {place}: {reason}", path=place, hint=hint) from error
    if any(REPLACEMENT in name for name in table.columns):
        # polars replaces invalid bytes in column names by this character.
        raise FileError(f"cannot read {place}: it is not UTF-8 text", path=place)
    if any("\n" in name for name in table.columns):
        # If a quote is not closed, polars reads all rows as part of a column name; this raises the
        # error.
        next(csv_records(place))
    return table


def shape(table: DataFrame) -> tuple[int, int]:
    """The numbers of rows and of columns."""
    return _table("shape", table).shape


def columns(table: DataFrame) -> list[str]:
    """The names of the columns, in order."""
    return _table("columns", table).columns


def rows(table: DataFrame) -> list[dict[str, Any]]:
    """The rows as objects, whose fields are the columns."""
    return _table("rows", table).to_dicts()


def column(table: DataFrame, name: Any) -> list[Any]:
    """`table[name]`: the values of a column; nulls are None."""
    frame, wanted = _table("column", table), plain(name)
    if not isinstance(wanted, str):
        hint = "`rows(x)` returns the rows as a list"
        raise CheckError(f"a column is named by a string, got {brief(wanted)}", hint=hint)
    if wanted not in frame.columns:
        raise _no_column(frame, wanted)
    return frame.get_column(wanted).to_list()


def head(table: DataFrame, count: int = 5) -> DataFrame:
    """The first rows; with a negative count, all but that many at the end."""
    frame, rows = _table("head", table), as_integer("head(count)", count)
    return frame.head(max(-frame.height, min(rows, frame.height)))


def select(table: DataFrame, names: Sequence[str] | str) -> DataFrame:
    """The table with only the columns of these names, in their order."""
    frame, given = _table("select", table), plain(names)
    wanted: Any = [given] if isinstance(given, str) else given
    if not (is_list(wanted) or is_tuple(wanted)):
        raise expected_error("select(names)", "a name or a list of names", wanted)
    for position, name in enumerate(wanted):
        if not isinstance(name, str):
            raise expected_error(f"select(names[{position}])", "string", name)
        if name not in frame.columns:
            raise _no_column(frame, name)
        if name in wanted[:position]:
            raise CheckError(f"select(names): column `{name}` is there twice")
    return frame[list(wanted)]


def mean(items: Any, column: str | None = None) -> float:
    """The average of a list of numbers, or of a column of a dataframe; nulls do not count."""
    items = plain(items)
    if not is_dataframe(items):
        return _mean_of_list(items, column)
    values = _filled_column("mean", items, column)
    if not values.dtype.is_numeric():
        raise _wrong_kind("mean", values, "numbers")
    return float(values.mean())


def sum_of_column(table: DataFrame, column: Any) -> int | float | Decimal:
    """Returns the sum of a column of numbers, or 0 if the column has no values. Nulls are skipped.

    Decimals are added exactly.
    """
    from decimal import Decimal

    values = _column("sum", table, column)
    if values.dtype.is_decimal():
        return sum(values.drop_nulls().to_list(), Decimal(0))
    if values.null_count() == len(values):
        return 0
    if not values.dtype.is_numeric():
        raise _wrong_kind("sum", values, "numbers")
    if not values.dtype.is_integer():
        return float(values.sum())
    if max(-values.min(), values.max()) * len(values) > MOST_INT64:
        return sum(values.drop_nulls().to_list())  # polars would overflow silently
    return int(values.sum())


def extreme_of_column(name: str, table: DataFrame, column: Any = None) -> Any:
    """Returns the `min` or `max` of a column of numbers, strings, dates or the like, without nulls.

    Raises CheckError for datetimes without an offset.
    """
    values, pl = _filled_column(name, table, column), polars()
    kinds = (pl.String, pl.Date, pl.Time, pl.Duration)
    has_offset = values.dtype == pl.Datetime and values.dtype.time_zone is not None
    if not (values.dtype.is_numeric() or values.dtype in kinds or has_offset):
        wanted = "numbers, strings, dates, times, durations or datetimes with an offset"
        raise _wrong_kind(name, values, wanted)
    return values.min() if name == "min" else values.max()


def summary(table: DataFrame) -> dict[str, Any]:
    """Returns the summary of a dataframe for models, as JSON data.

    It lists columns up to `MOST_COLUMNS`, or until their names exceed `MOST_NAME_CHARACTERS`. The
    sample has the first rows of these columns. In the sample, values without a JSON form become
    text, texts are cut to `MOST_TEXT` characters, and non-finite numbers become null. Profiles
    cover the finite values of numeric columns.
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


def _table(name: str, value: Any) -> Any:
    value = plain(value)
    if is_dataframe(value):
        return value
    raise expected_error(f"{name}(table)", "dataframe", value)


def _column(name: str, frame: Any, column: Any) -> Any:
    wanted = plain(column)
    path = f"{name}(column)"
    if wanted is None:
        raise CheckError(f"{path}: a dataframe needs the name of a column", path=path)
    if as_text(path, wanted) not in frame.columns:
        raise _no_column(frame, wanted)
    return frame.get_column(wanted)


def _filled_column(name: str, frame: Any, column: Any) -> Any:
    values = _column(name, frame, column)
    if values.null_count() == len(values):
        path = f"{name}(column)"
        raise CheckError(f"{path}: column `{values.name}` has no values", path=path)
    return values


def _no_column(frame: Any, name: str) -> MissingError:
    found = f"the dataframe has {listed(frame.columns)}"
    hint = did_you_mean(name, frame.columns)
    return MissingError(f"no column `{name}`: {found}", name=name, hint=hint)


def _wrong_kind(name: str, values: Any, wanted: str) -> CheckError:
    path = f"{name}(column)"
    found = f"column `{values.name}` is of {values.dtype}"
    return CheckError(f"{path}: expected {wanted}, but {found}", path=path)


def _mean_of_list(items: Any, column: Any) -> float:
    if column is not None:
        raise expected_error("mean(table)", "dataframe with a column", items)
    numbers = each_as(as_number, "mean", items, frozenset((int, float)))
    if not numbers:
        raise CheckError("mean(items): there are no items")
    try:
        total = sum(numbers)
    except OverflowError:
        raise CheckError("mean(items): the number is too large for a float") from None
    return div(total, len(numbers))


def csv_records(
    path: str, delimiter: str = ",", encoding: str = "utf-8-sig"
) -> Iterator[tuple[int, list[str]]]:
    """Yields the records of a CSV file, each with the number of its first line.

    Empty lines are skipped.
    Raises FileError if double quotes do not match, since a value would then include later rows.
    """
    import csv

    csv.field_size_limit(2**31 - 1)  # e-mails exceed Python's default
    with open(path, encoding=encoding, newline="") as file:
        reader = csv.reader(file, strict=True, delimiter=delimiter)
        begins = 1
        try:
            for cells in reader:
                if cells:
                    yield begins, cells
                begins = reader.line_num + 1
        except csv.Error as error:
            raise FileError(
                f"{path}:{begins}: the double quotes of this row do not match (line "
                f"{reader.line_num}: {error})",
                path=path,
                hint='close each value that begins with ", and write "" for a " inside of it',
            ) from None


def _explained(message: str, path: str) -> tuple[str, str | None]:
    """Returns one line on why polars could not read the file, and a hint, which may be None."""
    if "utf-8" in message.lower():
        return "it is not UTF-8 text", None
    if "more fields" in message:
        row = _first_long_row(path)
        if row is not None:
            return row, "put a value that has commas in it in double quotes"
    return " ".join(message.partition("\n\n")[0].split())[:200], None


def _first_long_row(path: str) -> str | None:
    """Describes the first row that has more values than the header has columns, if there is one."""
    try:
        records = csv_records(path)
        _, header = next(records)
        for line, row in records:
            if len(row) > len(header):
                wanted = counted(len(header), "column")
                return f"line {line} has {len(row)} values for {wanted}"
    except (FileError, StopIteration, UnicodeDecodeError):
        return None
    return None


def _listed(names: Sequence[str]) -> int:
    """Returns how many of these columns the summary lists."""
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
    """Rounds a mean, as its last digits depend on the order in which polars' threads add."""
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
