"""The parts of a result: rows in the order of the input, and beside them what went wrong.

    part-000017.parquet     `row`, the kept columns, the columns of the result
    errors-000017.jsonl     {"row": 3412, "error": "ContractError", "message": ..., "input": ...}

A chunk is done when its part is there. Files are written whole, and are on the disk before what
they make needless is removed.
"""

from __future__ import annotations

import base64
import io
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

from runtime_support._language.files import replace_file
from runtime_support._schema import model as m
from runtime_support._tables import polars
from runtime_support._values import is_list, is_object
from runtime_support.errors import JournalError
from runtime_support.runs._lines import Entry
from runtime_support.scale._binding import ROW
from runtime_support.scale._columns import data_type

_PART = re.compile(r"part-(\d{6,})\.(?:parquet|jsonl)")


class Output:
    """The folder; `kept` are the columns of the input, with their types where Parquet has them."""

    def __init__(
        self, folder: str, format: str, kept: Mapping[str, Any], columns: Mapping[str, m.Schema]
    ) -> None:
        self.folder = folder
        self.format = format
        self.kept = kept
        self.columns = columns

    def done(self) -> set[int]:
        """The chunks that are done."""
        found = map(_PART.fullmatch, os.listdir(self.folder))
        return {int(match[1]) for match in found if match is not None}

    def failed(self, number: int) -> dict[int, Entry]:
        """The rows of a chunk that have failed, as they were told; done ones are left out."""
        path = self._errors(number)
        if not os.path.exists(path):
            return {}
        with open(path, encoding="utf-8") as file:
            told: list[Entry] = [json.loads(line) for line in file]
        there = self._rows(number)
        return {one["row"]: one for one in told if one["row"] not in there}

    def write(
        self,
        number: int,
        kept: Mapping[int, Entry],
        values: Mapping[int, Entry],
        failed: Mapping[int, Entry],
    ) -> None:
        """Writes what has become of these rows; others of the chunk stay as they are."""
        rows = self._rows(number)
        for row, columns in values.items():
            rows[row] = {ROW: row, **self._shown(kept[row]), **columns}
        errors = self._errors(number)
        # Before the part, which says that the chunk is done; rows in both have succeeded since.
        if failed:
            _write_whole(errors, _json_lines(_json_value(failed[row]) for row in sorted(failed)))
        _write_whole(self._part(number), self._encoded([rows[row] for row in sorted(rows)]))
        if not failed:
            with suppress(FileNotFoundError):
                os.unlink(errors)

    def _shown(self, kept: Entry) -> Entry:
        if self.format == "jsonl":
            return {name: _json_value(value) for name, value in kept.items()}
        # Columns that come from text have no types: other values are written as JSON.
        return {
            name: value if self.kept[name] is not None or value is None else _as_text(value)
            for name, value in kept.items()
        }

    def _encoded(self, rows: list[Entry]) -> bytes:
        if self.format == "jsonl":
            return _json_lines(rows)
        buffer = io.BytesIO()
        polars().DataFrame(rows, schema=self._schema(), orient="row").write_parquet(buffer)
        return buffer.getvalue()

    def _schema(self) -> dict[str, Any]:
        library = polars()
        kept = {name: type_ or library.String for name, type_ in self.kept.items()}
        columns = {name: data_type(form) for name, form in self.columns.items()}
        return {ROW: library.Int64, **kept, **columns}

    def _rows(self, number: int) -> dict[int, Entry]:
        """The rows of a part; none when it is not there."""
        if not os.path.exists(self._part(number)):
            return {}
        if self.format == "parquet":
            rows: list[Entry] = polars().read_parquet(self._part(number)).to_dicts()
        else:
            with open(self._part(number), encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
        return {row[ROW]: row for row in rows}

    def _part(self, number: int) -> str:
        return os.path.join(self.folder, f"part-{number:06d}.{self.format}")

    def _errors(self, number: int) -> str:
        return os.path.join(self.folder, f"errors-{number:06d}.jsonl")


def _json_lines(rows: Iterable[Entry]) -> bytes:
    lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    return "".join(lines).encode("utf-8", "backslashreplace")


def _write_whole(path: str, data: bytes) -> None:
    """Writes a file, whole or not at all; JournalError when it is not on the disk then."""
    try:
        replace_file(path, data, synced=True, permissions=0o600)
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: str, error: OSError) -> JournalError:
    """The error when the disk is full, or the like."""
    said = f"cannot write {path}: {error.strerror or error}"
    return JournalError(said, hint="what was kept before is whole: run the same command again")


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json_value(value: Any) -> Any:
    """A value of a table as JSON: dates as ISO has them, bytes as base64, no number as null."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case datetime() | date() | time():
            return value.isoformat()
        case _ if is_list(value):
            return [_json_value(one) for one in value]
        case _ if is_object(value):
            return {name: _json_value(one) for name, one in value.items()}
        case _:
            return str(value)
