"""The tables of the grammar: made once, kept for the grammar and the lark that they come from."""

import json
from pathlib import Path

import pytest

from saftc.syntax import tables
from saftc.syntax.tables import Tables


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the tables are kept; nothing is there yet."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(tables, "user_cache_path", lambda *_, **__: folder)
    return folder / "tables.json"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Tables]:
    """The tables that have been made."""
    found: list[Tables] = []
    make = tables._make  # pyright: ignore[reportPrivateUsage]

    def counted() -> Tables:
        found.append(make())
        return found[-1]

    monkeypatch.setattr(tables, "_make", counted)
    return found


def _loaded() -> Tables:
    """The tables, as another process would load them."""
    return tables.load_tables.__wrapped__()


def test_tables_are_made_once(cache: Path, made: list[Tables]) -> None:
    first, second = _loaded(), _loaded()
    assert len(made) == 1
    assert first == second == made[0]
    assert [path.name for path in cache.parent.iterdir()] == ["tables.json"]


def test_tables_of_another_grammar_are_not_used(
    cache: Path, made: list[Tables], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _loaded()
    grammar = tmp_path / "grammar.lark"
    grammar.write_text("statement: NAME NEWLINE\n%declare NAME NEWLINE\n")
    monkeypatch.setattr(tables, "_GRAMMAR", grammar)
    other = _loaded()
    assert len(made) == 2
    assert [(rule.origin, rule.size) for rule in other.rules] == [("statement", 2)]
    assert _loaded() == other
    assert len(made) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"made_from": 1}', "\udc80"])
def test_tables_that_cannot_be_read_are_made_again(
    cache: Path, made: list[Tables], text: str
) -> None:
    cache.parent.mkdir()
    cache.write_bytes(text.encode("utf-8", "surrogateescape"))
    _loaded()
    assert len(made) == 1
    assert "tables" in json.loads(cache.read_bytes())


def test_a_place_that_cannot_be_written_costs_only_time(cache: Path, made: list[Tables]) -> None:
    cache.parent.write_text("a file where the folder should be")
    assert [_loaded(), _loaded()] == made
