"""Expressions in the notation of a script, whose parameters can be replaced by arguments.

SymbolicExpression(("split(", text, ', "\\n")'))      split(text, "\\n")
.replaced({text: ...})                                split(mail.body, "\\n")
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from saftc.check.names import Symbol
from saftc.source import Source
from saftc.syntax import nodes as n

# Longer expressions are shown in part.
WIDEST = 48


@dataclass(frozen=True, slots=True)
class Opaque:
    """Why an expression has no meaning outside its function, and the node that causes it."""

    node: n.Node
    source: Source
    words: str


Part = str | Symbol


@dataclass(frozen=True)
class SymbolicExpression:
    """An expression as a sequence of strings and symbols.

    If `is_tight`, the expression needs no parentheses inside another expression.
    """

    parts: tuple[Part, ...]
    made: Opaque | None = field(default=None, compare=False)
    is_tight: bool = field(default=True, compare=False)

    @cached_property
    def text(self) -> str:
        """The expression on one line."""
        return "".join(map(_text, self.parts))

    @property
    def shown(self) -> str:
        """The text, shortened if it is very long."""
        return self.text if len(self.text) <= WIDEST else self.text[: WIDEST - 1] + "…"

    @property
    def symbols(self) -> list[Symbol]:
        """The symbols in the expression, in order."""
        return [one for one in self.parts if isinstance(one, Symbol)]

    def replaced(self, meaning: Mapping[Symbol, "SymbolicExpression"]) -> "SymbolicExpression":
        """The expression with its symbols replaced by the expressions in `meaning`."""
        found: list[Part] = []
        made = self.made
        for before, part, behind in zip(
            ("(", *self.parts), self.parts, (*self.parts[1:], ")"), strict=False
        ):
            new = meaning.get(part) if isinstance(part, Symbol) else None
            if new is None:
                found.append(part)
                continue
            made = made or new.made
            is_alone = _text(before).rstrip()[-1:] in "([{,:" and _text(behind)[:1] in ")]},"
            found += new.parts if new.is_tight or is_alone else ("(", *new.parts, ")")
        return SymbolicExpression(joined(found), made, self.is_tight)


def joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts of an expression, with adjacent strings joined."""
    found: list[Part] = []
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part != "":
            found.append(part)
    return tuple(found)


def _text(part: Part) -> str:
    return part if isinstance(part, str) else part.name
