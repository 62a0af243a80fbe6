"""The LALR tables of grammar.lark, made by lark beforehand and kept beside it.

    python -m saftc.syntax.tables       writes tables.json after a change of the grammar

Making them takes longer than compiling most scripts, and loading lark as long as checking one: only
all that `automaton` has to know is kept, as JSON.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_GRAMMAR = Path(__file__).parent / "grammar.lark"
_FILE = Path(__file__).parent / "tables.json"
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
    """The tables of the grammar."""
    start, end, states, rules = json.loads(_FILE.read_bytes())
    return Tables(start, end, states, [Rule(*rule) for rule in rules])


def make_tables() -> Tables:
    """The tables of the grammar as lark makes them; needs lark."""
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
    return _in_order(Tables(start, end, states, [_rule(rule) for rule in rules.values()]))


def _in_order(tables: Tables) -> Tables:
    """The same tables with states and rules in an order that does not change from run to run."""
    rules = sorted(set(tables.rules), key=repr)
    new_rule = [rules.index(rule) for rule in tables.rules]
    new_state = {tables.start: 0}
    reached = [tables.start]
    for state in reached:
        for _, action in sorted(tables.states[state].items()):
            if action >= 0 and action not in new_state:
                new_state[action] = len(reached)
                reached.append(action)
    states = [
        {
            kind: new_state[action] if action >= 0 else ~new_rule[~action]
            for kind, action in sorted(tables.states[state].items())
        }
        for state in reached
    ]
    return Tables(0, new_state[tables.end], states, rules)


def write_tables(tables: Tables, file: Path = _FILE) -> None:
    """Writes the tables, a state and a rule a line, so that a change can be read."""
    states, rules = (
        "[\n" + ",\n".join(map(json.dumps, part)) + "\n]" for part in (tables.states, tables.rules)
    )
    file.write_text(f"[{tables.start}, {tables.end}, {states}, {rules}]\n", encoding="utf-8")


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


if __name__ == "__main__":
    write_tables(make_tables())
