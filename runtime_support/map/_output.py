"""Writes the output files of a job: rows in the order of the input, and errors in separate files.

    part-000017.parquet     `row`, the copied columns, the columns of the result
    errors-000017.jsonl     {"row": 3412, "error": "ContractError", "message": ..., "input": ...}

Each part is written from the rows in the job's store, in one step, and with the same bytes every
time.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Literal, TypeAlias

from runtime_support._journal.json_lines import Entry
from runtime_support._language.files import replace_file
from runtime_support._schema import model as m
from runtime_support._tables import polars
from runtime_support.errors import JournalError
from runtime_support.map._binding import ROW
from runtime_support.map._columns import data_type, json_value
from runtime_support.map._store import Outcome

Format: TypeAlias = Literal["parquet", "jsonl", "csv"]
PART_ROWS = 200


class OutputFolder:
    """The output folder; `kept` maps the columns copied from the input to their types."""

    def __init__(
        self, folder: str, format: Format, kept: Mapping[str, Any], columns: Mapping[str, m.Schema]
    ) -> None:
        self.folder = folder
        self.format: Format = format
        self.kept = kept
        self.columns = columns

    def is_final(self, number: int) -> bool:
        """True if the output file was written and cannot change any more.

        A file with failed rows can change, because these rows may be retried.
        """
        return os.path.exists(self._part(number)) and not os.path.exists(self._errors(number))

    def write(
        self, number: int, first: int, kept: list[Entry], ended: Iterable[tuple[int, Outcome]]
    ) -> None:
        """Writes an output file and the file of its errors; raises JournalError if that fails."""
        done, failed = list[Entry](), list[Entry]()
        for row, outcome in ended:
            if outcome.status == "done":
                done.append({ROW: row, **self._shown(kept[row - first]), **outcome.data})
            else:
                failed.append(outcome.data)
        errors = self._errors(number)
        if failed:
            _write_whole(errors, _json_lines(failed))
        _write_whole(self._part(number), self._encoded(done))
        if not failed:
            with suppress(FileNotFoundError):
                os.unlink(errors)

    def _shown(self, kept: Entry) -> Entry:
        if self.format != "parquet":
            return {name: json_value(value) for name, value in kept.items()}
        # Columns of CSV and JSON lines have no types: values that are not strings are written as
        # JSON.
        return {
            name: value if self.kept[name] is not None or value is None else _as_text(value)
            for name, value in kept.items()
        }

    def _encoded(self, rows: list[Entry]) -> bytes:
        match self.format:
            case "jsonl":
                return _json_lines(rows)
            case "csv":
                text = io.StringIO(newline="")
                writer = csv.writer(text, lineterminator="\n")
                names = [ROW, *self.kept, *self.columns]
                writer.writerow(names)
                writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
                return text.getvalue().encode("utf-8", "backslashreplace")
            case "parquet":
                buffer = io.BytesIO()
                frame = polars().DataFrame(rows, schema=self._schema(), orient="row")
                frame.write_parquet(buffer)
                return buffer.getvalue()

    def _schema(self) -> dict[str, Any]:
        library = polars()
        kept = {name: type_ or library.String for name, type_ in self.kept.items()}
        columns = {name: data_type(form) for name, form in self.columns.items()}
        return {ROW: library.Int64, **kept, **columns}

    def _part(self, number: int) -> str:
        return os.path.join(self.folder, f"part-{number:06d}.{self.format}")

    def _errors(self, number: int) -> str:
        return os.path.join(self.folder, f"errors-{number:06d}.jsonl")


def _json_lines(rows: Iterable[Entry]) -> bytes:
    lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    return "".join(lines).encode("utf-8", "backslashreplace")


def _write_whole(path: str, data: bytes) -> None:
    """Writes a file in one step and syncs it to the disk; raises JournalError if that fails."""
    try:
        replace_file(path, data, synced=True, permissions=0o600)
    except OSError as error:  # for example because the disk is full
        said = f"cannot write {path}: {error.strerror or error}"
        hint = "the kept answers are intact: run the same command again"
        raise JournalError(said, hint=hint) from None


def _cell(value: Any) -> str:
    """A value in CSV: "" for nil, and JSON for any other value that is not a string."""
    return "" if value is None else _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
