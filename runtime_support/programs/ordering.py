"""The order of the bindings of a `$let`: what a binding refers to comes before it.

{"b": {"$ref": "a"}, "a": 1}     order a, b
{"a": {"$ref": "b"}, "b": {"$ref": "a"}}     cycle a, b, a
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runtime_support.programs.paths import is_list, is_object


@dataclass(frozen=True, slots=True)
class Order:
    """The names in order of evaluation, and the cycles among them, each closed on its start."""

    names: tuple[str, ...]
    cycles: tuple[tuple[str, ...], ...]


def references(expression: Any) -> frozenset[str]:
    """The variables that the expression (as JSON data) refers to and does not bind itself."""
    if is_list(expression):
        return frozenset[str]().union(*map(references, expression))
    if not is_object(expression):
        return frozenset()
    if len(expression) == 1:
        ((name, body),) = expression.items()
        if name == "$ref":
            return frozenset([body]) if isinstance(body, str) else frozenset()
        if name == "$object" and is_object(body):
            return frozenset[str]().union(*map(references, body.values()))
        if name == "$let" and is_object(body) and is_object(body.get("bind")):
            bound = body["bind"]
            inside = references([*bound.values(), body.get("in")])
            return inside - bound.keys()
        if name == "$map" and is_object(body):
            own = {body.get("as")} if isinstance(body.get("as"), str) else set[Any]()
            inside = references([body.get("where"), body.get("do")]) - own
            return inside | references(body.get("over"))
    return frozenset[str]().union(*map(references, expression.values()))


def order_of(needs: Mapping[str, frozenset[str]]) -> Order:
    """Source order, but each name after those that it needs."""
    done: list[str] = []
    cycles: list[tuple[str, ...]] = []

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            cycles.append((*trail[trail.index(name) :], name))
        elif name not in done:
            for other in needs:
                if other in needs[name]:
                    visit(other, (*trail, name))
            if name not in done:
                done.append(name)

    for name in needs:
        visit(name, ())
    different = {frozenset(cycle): cycle for cycle in reversed(cycles)}
    return Order(tuple(done), tuple(reversed(different.values())))
