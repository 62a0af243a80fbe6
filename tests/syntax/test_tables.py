"""The tables of the grammar are those that lark makes of it now, in whatever order it does."""

from pathlib import Path

import saftc.syntax
from saftc.syntax.tables import Tables, load_tables, make_tables, write_tables


def test_the_tables_are_those_of_the_grammar() -> None:
    again = "run `python -m saftc.syntax.tables` after a change of grammar.lark"
    assert load_tables() == make_tables(), again


def test_tables_are_written_as_they_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "tables.json"
    write_tables(make_tables(), file)
    kept = Path(saftc.syntax.__file__).with_name("tables.json")
    assert file.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")


def test_each_action_leads_somewhere() -> None:
    tables: Tables = load_tables()
    for actions in tables.states:
        for action in actions.values():
            target = tables.states if action >= 0 else tables.rules
            assert 0 <= (action if action >= 0 else ~action) < len(target)
