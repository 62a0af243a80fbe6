"""The LALR tables of grammar.lark: lark makes them, and the user's cache keeps them.

Making them takes longer than compiling most scripts, and loading lark as long as checking one. So
all that `automaton` has to know is kept as JSON, and lark is loaded only when it is missing. It
holds for one grammar and one lark.
"""

import json
import os
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_path

_GRAMMAR = Path(__file__).parent / "grammar.lark"
_START = "statement"

# The kind of the token that stands behind the last one of a statement.
END = "$END"


class Rule(NamedTuple):
    """One alternative of a rule of the grammar, and how many parts it has.

    `method` names the one of `Builder` that makes its value. A repetition has none, its value is
    the list of its parts; nor has a rule that is just its only part.
    """

    origin: str
    size: int
    method: str | None
    has_repetition: bool

    @property
    def is_repetition(self) -> bool:
        """Whether it stands for a `*` or `+` of the grammar."""
        return _is_repetition(self.origin)


class Tables(NamedTuple):
    """What to do in each state for each kind of token, and where to go after each rule.

    A number from 0 on is the state to go to; a negative one, inverted (`~number`), is the rule that
    ends here. All is read when END comes in the state `end`.
    """

    start: int
    end: int
    states: list[dict[str, int]]
    rules: list[Rule]


@cache
def load_tables() -> Tables:
    """The tables of the grammar, from the cache if they are there."""
    made_from = _made_from()
    file = user_cache_path("saftc", appauthor=False) / "tables.json"
    tables = _read(file, made_from)
    if tables is None:
        tables = _make()
        _write(file, made_from, tables)
    return tables


def _made_from() -> str:
    """What tells these tables from those of another version."""
    lark = find_spec("lark")
    assert lark is not None and lark.origin is not None
    # The last one names the version of lark.
    files = (_GRAMMAR, Path(__file__), Path(lark.origin))
    return sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _read(file: Path, made_from: str) -> Tables | None:
    try:
        data: Any = json.loads(file.read_bytes())
        if data["made_from"] != made_from:
            return None
        start, end, states, rules = data["tables"]
        return Tables(start, end, states, [Rule(*rule) for rule in rules])
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None


def _write(file: Path, made_from: str, tables: Tables) -> None:
    """Keeps the tables; without a place to keep them, they are made every time."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps({"made_from": made_from, "tables": tables}))
        temporary.replace(file)
    except OSError:
        return


def _make() -> Tables:
    from lark import Lark
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

    grammar = _GRAMMAR.read_text(encoding="utf-8")
    lark: Any = Lark(grammar, parser="lalr", lexer="basic", start=_START, maybe_placeholders=False)
    # This is what lark writes into the parsers that stand alone: plain data.
    data, shared = lark.memo_serialize([TerminalDef, LarkRule])
    table = data["parser"]["parser"]
    kinds = table["tokens"]
    rules = {number: one for number, one in shared.items() if one["__type__"] == "Rule"}
    numbers = {number: position for position, number in enumerate(rules)}
    places = {state: position for position, state in enumerate(table["states"])}
    states = [
        {
            kinds[kind]: ~numbers[target["@"]] if is_end else places[target]
            for kind, (is_end, target) in actions.items()
        }
        for actions in table["states"].values()
    ]
    start, end = places[table["start_states"][_START]], places[table["end_states"][_START]]
    return Tables(start, end, states, [_rule(rule) for rule in rules.values()])


def _rule(rule: dict[str, Any]) -> Rule:
    origin, parts = rule["origin"]["name"], rule["expansion"]
    is_only_part = rule["options"]["expand1"] and rule["alias"] is None and len(parts) == 1
    return Rule(
        origin,
        len(parts),
        None if is_only_part or _is_repetition(origin) else rule["alias"] or origin,
        any(_is_repetition(part["name"]) for part in parts),
    )


def _is_repetition(name: str) -> bool:
    # lark makes a rule of its own for each.
    return name.startswith("__")
