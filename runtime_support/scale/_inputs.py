"""The rows of a table in a file, never all at once: Parquet, CSV with a header, or JSON lines.

    table = table_at("mails.csv")
    for row in table.rows(["id", "body"]): row.values          {"id": "17", "body": "..."}

CSV and JSON lines are read by Python's own library, a line at a time in a few megabytes: polars
needs 367 MB to give slices of a CSV file of a million rows. Parquet is read by polars, in slices:
its own batches are read ahead without bound.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from runtime_support._jsontext import parse_unambiguous
from runtime_support._language.files import check_regular
from runtime_support._names import listed
from runtime_support._tables import csv_records, polars
from runtime_support._values import brief, counted, is_object
from runtime_support.errors import CheckError, ConfigError, FileError

AT_ONCE = 10_000
# So many rows tell which columns JSON lines have, and whether the function takes them.
LOOKED_AT = 100

FORMATS = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


class Row(NamedTuple):
    """A row, and its line, or its number in Parquet; `problem` says why it cannot be read."""

    place: int
    values: dict[str, Any]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A file with rows; `types` are those of the columns of Parquet, of polars."""

    path: str
    format: str
    columns: tuple[str, ...]
    types: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def rows(self, names: Sequence[str]) -> Iterator[Row]:
        """The rows with these columns; FileError when the file cannot be read on."""
        read: Callable[..., Iterator[Row]] = {
            "parquet": _parquet_rows,
            "csv": _csv_rows,
            "jsonl": _json_rows,
        }[self.format]
        with _told(self.path):
            yield from read(self.path, names)

    def count(self) -> int:
        """How many rows there are."""
        if self.format == "parquet":
            library = polars()
            return int(library.scan_parquet(self.path).select(library.len()).collect().item())
        return sum(1 for _ in self.rows(()))

    def place(self, row: Row) -> str:
        """The place of a row, for messages."""
        what = ", row " if self.format == "parquet" else ":"
        return f"{self.path}{what}{row.place}"

    def digest(self) -> str:
        """What tells this content from another."""
        with _told(self.path), open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def table_at(path: str) -> Table:
    """The table; ConfigError when nothing here reads such a file, FileError when it cannot be."""
    format = FORMATS.get(os.path.splitext(path)[1].lower())
    if format is None:
        raise ConfigError(f"{path}: a table is a file that ends in {listed(FORMATS)}")
    with _told(path):
        check_regular(path)
        if format == "parquet":
            schema: Mapping[str, Any] = polars().scan_parquet(path).collect_schema()
            return Table(path, format, tuple(schema), dict(schema))
        if format == "csv":
            _, header = next(csv_records(path), (1, list[str]()))
            twice = [name for name in header if header.count(name) > 1]
            if twice or not header:
                said = f"there are two columns `{twice[0]}`" if twice else "the file is empty"
                raise FileError(f"{path}:1: {said}", path=path)
            return Table(path, format, tuple(header))
        first = itertools.islice(_json_rows(path, None), LOOKED_AT)
        names = dict.fromkeys(name for row in first for name in row.values)
        return Table(path, format, tuple(names))


@contextmanager
def _told(path: str) -> Generator[None]:
    """Raises what goes wrong in the block as a FileError that names the file."""
    try:
        yield
    except FileError:
        raise
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    except OSError as error:
        reason = error.strerror or str(error).partition(" (os error")[0]
    except Exception as error:
        if not isinstance(error, csv.Error) and not type(error).__module__.startswith("polars"):
            raise
        reason = " ".join(str(error).partition("\n\n")[0].split())[:200]
    else:
        return
    raise FileError(f"cannot read {path}: {reason}", path=path)


def _parquet_rows(path: str, names: Sequence[str]) -> Iterator[Row]:
    library = polars()
    scan = library.scan_parquet(path)
    total = scan.select(library.len()).collect().item()
    for start in range(0, total, AT_ONCE):
        block = scan.slice(start, AT_ONCE).select(names).collect()
        for place, values in enumerate(block.iter_rows(named=True), start):
            yield Row(place, values)


def _csv_rows(path: str, names: Sequence[str]) -> Iterator[Row]:
    records = csv_records(path)
    _, header = next(records)
    wanted = [(name, header.index(name)) for name in names]
    for begins, cells in records:
        if not cells:
            continue
        problem = None
        if len(cells) != len(header):
            problem = f"{counted(len(cells), 'value')} for {counted(len(header), 'column')}"
            cells += [""] * (len(header) - len(cells))
        yield Row(begins, {name: cells[at] for name, at in wanted}, problem)


def _json_rows(path: str, names: Sequence[str] | None) -> Iterator[Row]:
    """The rows of JSON lines; all of their columns where no names are given."""
    with open(path, encoding="utf-8-sig") as file:
        for place, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                values = parse_unambiguous(line, keeps_digits=True)
                if not is_object(values):
                    raise CheckError(f"a row is an object, got {brief(values)}")
            except CheckError as error:
                yield Row(place, {}, error.message.removeprefix("parse(text): "))
                continue
            if names is not None:
                values = {name: values[name] for name in names if name in values}
            yield Row(place, values)


# What a worker is given


class Batch(NamedTuple):
    """Some of the rows: their numbers, the arguments that they are, and what is kept of each."""

    number: int
    rows: dict[int, dict[str, Any]]
    kept: dict[int, dict[str, Any]]
    problems: dict[int, str]


def split_rows(
    rows: Iterator[Row],
    arguments: Callable[[dict[str, Any]], dict[str, Any]],
    kept: Callable[[dict[str, Any]], dict[str, Any]],
    most_rows: int,
    most_bytes: int,
) -> Iterator[Batch]:
    """The rows in batches, always the same ones, bounded in rows and roughly in bytes."""
    part, size = Batch(0, {}, {}, {}), 0
    for number, row in enumerate(rows):
        given = {} if row.problem else arguments(row.values)
        length = len(json.dumps(given, default=str))
        if part.kept and (len(part.kept) >= most_rows or size + length > most_bytes):
            yield part
            part, size = Batch(part.number + 1, {}, {}, {}), 0
        size += length
        part.kept[number] = kept(row.values)
        if row.problem:
            part.problems[number] = row.problem
        else:
            part.rows[number] = given
    if part.kept:
        yield part
