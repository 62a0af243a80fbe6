"""A disk that is full, for databases of SQLite: they do not write by functions of Python."""

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest


def limit_pages(monkeypatch: pytest.MonkeyPatch, pages: int) -> None:
    """Has databases that are opened from now on grow to so many pages of 512 bytes."""
    connect = sqlite3.connect

    def connected(*arguments: Any, **named: Any) -> sqlite3.Connection:
        database = connect(*arguments, **named)
        database.execute("pragma page_size = 512")
        database.execute(f"pragma max_page_count = {pages}")
        return database

    monkeypatch.setattr(sqlite3, "connect", connected)


def fail_rows(monkeypatch: pytest.MonkeyPatch, is_full: Callable[[str], bool]) -> None:
    """Has a row not be added whose step is one of those for which the disk is full."""
    connect = sqlite3.connect

    class Full(sqlite3.Connection):
        def executemany(self, query: str, rows: Any, /) -> sqlite3.Cursor:
            rows = list(rows)
            if any(is_full(row[3]) for row in rows):
                raise sqlite3.OperationalError("database or disk is full")
            return super().executemany(query, rows)

    def connected(*arguments: Any, **named: Any) -> sqlite3.Connection:
        return connect(*arguments, **named, factory=Full)

    monkeypatch.setattr(sqlite3, "connect", connected)
