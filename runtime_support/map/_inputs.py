"""Reads a table file row by row, never as a whole: Parquet, CSV with a header, or JSON lines.

    table = table_at("mails.csv", TextFormat(delimiter=";"))
    for row in table.rows(["id", "body"]): row.values          {"id": "17", "body": "..."}

Python's standard library reads CSV and JSON lines, one line at a time, in a few megabytes of
memory; polars would need 367 MB to slice a CSV file of a million rows. Polars reads Parquet, in
slices of fixed size, because its own batches would read ahead without a limit.
"""

from __future__ import annotations

import codecs
import hashlib
import itertools
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from runtime_support._language.files import check_regular
from runtime_support._tables import csv_records, polars
from runtime_support._values.json_text import parse_unambiguous
from runtime_support._values.kinds import brief, counted, is_object
from runtime_support._values.names import listed
from runtime_support.errors import CheckError, ConfigError, FileError

AT_ONCE = 10_000
# How many rows are read to find the columns of JSON lines, and to check the arguments.
LOOKED_AT = 100

FORMATS = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


class TableRow(NamedTuple):
    """A row of a table; `problem` says why the row cannot be read.

    `place` is the number of its line or, in Parquet, the number of the row.
    """

    place: int
    values: dict[str, Any]
    problem: str | None = None


class TextFormat(NamedTuple):
    """How the text of a table is decoded: the delimiter of CSV, and the encoding.

    Without an encoding, the byte order mark decides; without a mark, the encoding is UTF-8.
    """

    delimiter: str = ","
    encoding: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table file.

    `types` are the polars types of the columns in Parquet. `hint` suggests another delimiter if the
    file seems to have been read with the wrong one. `state` identifies the content of the file.
    """

    path: str
    format: str
    columns: tuple[str, ...]
    reading: TextFormat
    state: tuple[int, int]
    types: Mapping[str, Any] = field(default_factory=dict[str, Any])
    hint: str | None = None

    def rows(self, names: Sequence[str]) -> Iterator[TableRow]:
        """Yields the rows with the columns `names`; raises FileError if the file cannot be read."""
        read: Callable[..., Iterator[TableRow]] = {
            "parquet": _parquet_rows,
            "csv": _csv_rows,
            "jsonl": _json_rows,
        }[self.format]
        with _told(self.path, self.reading):
            yield from read(self.path, self.reading, names)

    def check_unchanged(self) -> None:
        """Raises FileError if the file has changed since this table was opened."""
        with _told(self.path, self.reading):
            if _state_of(self.path) != self.state:
                raise FileError(
                    f"{self.path} has changed since the job started",
                    path=self.path,
                    hint="restore it and run the same command again, or name another folder",
                )

    def count(self, limit: int | None) -> int:
        """The number of rows in the file, at most `limit`."""
        if self.format == "parquet":
            count = _count_rows(_scan(self.path))
        else:
            count = sum(1 for _ in self.rows(()))
        return count if limit is None else min(count, limit)

    def place(self, row: TableRow) -> str:
        """The position of a row, for messages: file and line, or file and row."""
        what = ", row " if self.format == "parquet" else ":"
        return f"{self.path}{what}{row.place}"

    def digest(self) -> str:
        """A hash of the content of the file."""
        with _told(self.path, self.reading), open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def table_at(path: str, reading: TextFormat) -> Table:
    """The table in the file at `path`.

    Raises ConfigError for an unknown format, delimiter or encoding, and FileError for an unreadable
    file.
    """
    format = FORMATS.get(os.path.splitext(path)[1].lower())
    if format is None:
        raise ConfigError(f"{path}: a table is a file that ends in {listed(FORMATS)}")
    delimiter = "\t" if reading.delimiter in ("\\t", "tab") else reading.delimiter
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ConfigError(f"delimiter: expected one character, got {reading.delimiter!r}")
    if format != "csv" and delimiter != ",":
        raise ConfigError(f"delimiter: {path} is not CSV, and has none")
    with _told(path, reading):
        check_regular(path)
        state = _state_of(path)
        reading = TextFormat(delimiter, _encoding_of(path, reading.encoding))
        match format:
            case "parquet":
                types: Mapping[str, Any] = _scan(path).collect_schema()
                return Table(path, format, tuple(types), reading, state, dict(types))
            case "csv":
                header = _header_of(path, reading)
                return Table(path, format, tuple(header), reading, state, hint=_parted_by(header))
            case _:
                return Table(path, format, _names_of(path, reading), reading, state)


def _state_of(path: str) -> tuple[int, int]:
    """The time of the last change of a file, and its size."""
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def _scan(path: str) -> Any:
    return polars().scan_parquet(path, glob=False)


def _count_rows(scan: Any) -> int:
    return scan.select(polars().len()).collect().item()


def _encoding_of(path: str, given: str) -> str:
    """The name of Python's codec for a file.

    The codecs for UTF-8 and UTF-16 skip a byte order mark. Raises ConfigError if Python has no
    codec for the encoding `given`.
    """
    if not given:
        with open(path, "rb") as file:
            is_wide = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        given = "utf-16" if is_wide else "utf-8"
    try:
        "".encode(given)
    except LookupError:
        raise ConfigError(f"encoding: there is no encoding {given!r}") from None
    name = codecs.lookup(given).name
    return "utf-8-sig" if name == "utf-8" else name


def _header_of(path: str, reading: TextFormat) -> list[str]:
    """The column names of a CSV file.

    Raises FileError if the file is empty, or if two columns have the same name.
    """
    _, header = next(csv_records(path, *reading), (1, list[str]()))
    twice = [name for name in header if header.count(name) > 1]
    if twice or not header:
        said = f"there are two columns `{twice[0]}`" if twice else "the file is empty"
        raise FileError(f"{path}:1: {said}", path=path)
    return header


def _names_of(path: str, reading: TextFormat) -> tuple[str, ...]:
    """The column names of a file of JSON lines, from its first rows.

    Raises FileError if none of these rows can be read, or if there are no rows.
    """
    first = list(itertools.islice(_json_rows(path, reading, None), LOOKED_AT))
    if all(row.problem for row in first):
        row = first[0] if first else TableRow(1, {}, "the file is empty")
        raise FileError(f"{path}:{row.place}: {row.problem}", path=path)
    return tuple(dict.fromkeys(name for row in first for name in row.values))


def _parted_by(header: list[str]) -> str | None:
    """A hint to set another delimiter, or None.

    There is a hint if a CSV file has only one column, and the column's name contains a character
    that may be the delimiter.
    """
    for one in ";\t|":
        if len(header) == 1 and one in header[0]:
            shown = one.replace("\t", "\\t")
            return f"its values are separated by `{shown}`: use --delimiter '{shown}'"
    return None


@contextmanager
def _told(path: str, reading: TextFormat) -> Generator[None]:
    """Turns errors of reading in the block into a FileError that names the file."""
    hint = None
    try:
        yield
        return
    except FileError:
        raise
    except UnicodeError:
        name = "UTF-8" if reading.encoding in ("", "utf-8-sig") else reading.encoding
        reason = f"it is not {name} text{_undecodable_line(path, reading.encoding or 'utf-8')}"
        hint = "--encoding names another encoding, such as cp1252"
    except OSError as error:
        reason = error.strerror or str(error).partition(" (os error")[0]
    except Exception as error:
        if not type(error).__module__.startswith("polars"):
            raise
        reason = " ".join(str(error).partition("\n\n")[0].split())[:200]
    raise FileError(f"cannot read {path}: {reason}", path=path, hint=hint)


def _undecodable_line(path: str, encoding: str) -> str:
    """The number of the first line that cannot be decoded, as text for a message.

    The text is empty for UTF-16 and UTF-32.
    """
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode(encoding)
            except UnicodeError:
                return "" if encoding.startswith(("utf-16", "utf-32")) else f" (line {number})"
    return ""


def _parquet_rows(path: str, _: TextFormat, names: Sequence[str]) -> Iterator[TableRow]:
    scan = _scan(path)
    for start in range(0, _count_rows(scan), AT_ONCE):
        block = scan.slice(start, AT_ONCE).select(names).collect()
        for place, values in enumerate(block.iter_rows(named=True), start):
            yield TableRow(place, values)


def _csv_rows(path: str, reading: TextFormat, names: Sequence[str]) -> Iterator[TableRow]:
    records = csv_records(path, *reading)
    _, header = next(records)
    wanted = [(name, header.index(name)) for name in names]
    for begins, cells in records:
        problem = None
        if len(cells) != len(header):
            problem = f"{counted(len(cells), 'value')} for {counted(len(header), 'column')}"
            cells += [""] * (len(header) - len(cells))
        yield TableRow(begins, {name: cells[at] for name, at in wanted}, problem)


def _json_rows(path: str, reading: TextFormat, names: Sequence[str] | None) -> Iterator[TableRow]:
    """Yields the rows of JSON lines with the columns `names`, or with all columns for None."""
    with open(path, encoding=reading.encoding) as file:
        for place, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                values = parse_unambiguous(line, keeps_digits=True)
                if not is_object(values):
                    raise CheckError(f"a row is an object, got {brief(values)}")
            except CheckError as error:
                yield TableRow(place, {}, error.message.removeprefix("parse(text): "))
                continue
            if names is not None:
                values = {name: values[name] for name in names if name in values}
            yield TableRow(place, values)
