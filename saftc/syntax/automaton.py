"""Tokens to what their rules build: a run of the LALR tables.

    a + b * c

is read token by token; whenever a rule ends, what its parts have become goes to the method of
`Builder` that bears its name. An operand goes up ten rules before it is an expression, one for each
level of operators: a rule that is just its only part changes the state and nothing else.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

from saftc.source import Span
from saftc.syntax.builder import Builder
from saftc.syntax.tables import END, Rule, Tables, load_tables
from saftc.syntax.tokens import Token


class Unexpected(Exception):
    """A token that cannot stand where it does, and the kinds of token that could."""

    def __init__(self, token: Token, expected: set[str]) -> None:
        super().__init__(token.kind)
        self.token = token
        self.expected = expected


def build_statement(tokens: Sequence[Token]) -> Any:
    """What the statement of `tokens` becomes.

    Raises `Unexpected`, with the kind `END` where more tokens were expected, and what the methods
    of the rules raise.
    """
    tables, rules = _automaton()
    table = tables.states
    states, values = [tables.start], list[Any]()
    for token in (*tokens, Token(END, "", Span(0, 0))):
        kind = token.kind
        while True:
            action = table[states[-1]].get(kind)
            if action is None:
                if kind == END and states[-1] == tables.end:
                    return values[0]
                raise Unexpected(token, {kind for kind in table[states[-1]] if kind.isupper()})
            if action >= 0:
                states.append(action)
                values.append(token)
                break
            origin, size, build = rules[~action]
            if build is None:
                states[-1] = table[states[-2]][origin]
                continue
            first = len(values) - size
            value = build(values[first:])
            del values[first:], states[first + 1 :]
            values.append(value)
            states.append(table[states[-1]][origin])
    raise AssertionError("the end of a statement is never shifted")


_Build = Callable[[list[Any]], Any]


@cache
def _automaton() -> tuple[Tables, list[tuple[str, int, _Build | None]]]:
    """The tables, and of each rule what builds its value; None for a rule's only part."""
    tables, builder = load_tables(), Builder()
    return tables, [(rule.origin, rule.size, _build_of(rule, builder)) for rule in tables.rules]


def _build_of(rule: Rule, builder: Builder) -> _Build | None:
    if rule.is_repetition:
        return _spread
    if rule.method is None:
        return None
    method: _Build = getattr(builder, rule.method)
    return (lambda parts: method(_spread(parts))) if rule.has_repetition else method


def _spread(parts: list[Any]) -> list[Any]:
    """The parts, with those of a repetition one by one."""
    first = parts[0]
    # The list of a repetition grows with it; making a new one each time would take n * n steps.
    spread = cast("list[Any]", first) if isinstance(first, list) else [first]
    for part in parts[1:]:
        if isinstance(part, list):
            spread += cast("list[Any]", part)
        else:
            spread.append(part)
    return spread
