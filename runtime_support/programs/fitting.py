"""One expression at one place: the coercion between its type and the expected one.

A constant is tried right here, since its value is known: `"two"` for a number is a mistake that
is found before anything runs, and `"a,b"` for a list is an ambiguity.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from runtime_support.programs.coercion import judge, reachable, readings, why_not
from runtime_support.programs.findings import Edit, Findings, write
from runtime_support.programs.near import did_you_mean, near
from runtime_support.programs.patching import Place, route_sentence, spelled_for_each
from runtime_support.programs.paths import Path, at, is_tuple
from runtime_support.programs.registry import Registry
from runtime_support.programs.tree import (
    Checked,
    CoerceNode,
    Coercion,
    ConstantNode,
    Converts,
    Each,
    Fits,
    Hops,
    Never,
    Splits,
    Widens,
)
from runtime_support.programs.types import (
    ANY,
    ListType,
    LiteralType,
    Type,
    fits,
    found_notation,
    members_of,
    notation,
    widened,
)
from runtime_support.programs.values import conforms


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that expects a type: `label` names it in messages, `bare` as in `Place`."""

    type: Type = ANY
    label: str = ""
    bare: str | None = None

    def inside(self, type_: Type) -> Slot:
        return Slot(type_, self.label)

    def says(self, message: str) -> str:
        return f"{self.label}: {message}" if self.label else message


def broken(path: Path) -> ConstantNode:
    """Stands for an expression that has been reported: it fits everywhere."""
    return ConstantNode(path, ANY, pure=True, calls=False, value=None)


def coerced(node: Checked, type_: Type, coercion: Coercion, bare: str | None = None) -> CoerceNode:
    calls = node.calls or not isinstance(coercion, Fits | Widens | Hops)
    return CoerceNode(node.path, type_, node.pure, calls, node, coercion, bare)


class Fitter:
    """Puts coercions in place, and reports where there is none or more than one."""

    def __init__(self, registry: Registry, findings: Findings) -> None:
        self._registry = registry
        self._findings = findings

    def fit(self, node: Checked, slot: Slot) -> Checked:
        """The node as a value of the slot's type."""
        is_constant = isinstance(node.type, LiteralType)
        coercion = (
            self._constant(node, slot)
            if is_constant
            else judge(node.type, slot.type, self._registry)
        )
        if isinstance(coercion, Fits):
            return node
        if isinstance(coercion, Never):
            self._mismatch(node, slot)
            return broken(node.path)
        self._report_split(node, slot, coercion)
        return coerced(node, slot.type, coercion, slot.bare)

    def _constant(self, node: Checked, slot: Slot) -> Coercion:
        assert isinstance(node.type, LiteralType)
        value = node.type.value
        if conforms(value, slot.type):
            return Fits() if fits(node.type, slot.type) else Widens()
        coercion = judge(widened(node.type), slot.type, self._registry)
        if isinstance(coercion, Converts | Splits):
            return coercion
        found = readings(value, slot.type)
        if len(found) > 1:
            message = f"{_json(value)} can become {notation(slot.type)} in {len(found)} ways"
            place = Place(node.path, slot.bare)
            edits = [write(sentence, place, _plain(one)) for sentence, one in found]
            self._findings.unclear(message, node.path, edits)
        return Hops() if found else Never()

    def _report_split(self, node: Checked, slot: Slot, coercion: Coercion) -> None:
        source, target, levels = node.type, slot.type, 0
        while isinstance(coercion, Each) and isinstance(source, ListType):
            coercion, source, levels = coercion.item, source.item, levels + 1
            target = next(m.item for m in members_of(target) if isinstance(m, ListType))
        if not isinstance(coercion, Splits):
            return
        ways = len(coercion.paths)
        message = f"{found_notation(source)} can become {notation(target)} in {ways} ways"
        place, operand = Place(node.path, slot.bare), at(self._findings.program, node.path)
        edits = [
            write(route_sentence(route), place, spelled_for_each(route, operand, levels))
            for route in coercion.paths
        ]
        self._findings.unclear(message, node.path, edits)

    def _mismatch(self, node: Checked, slot: Slot) -> None:
        message = f"expected {notation(slot.type)}, got {found_notation(node.type)}"
        edits: list[Edit] = []
        if isinstance(node.type, LiteralType):
            value = node.type.value
            known = [str(m.value) for m in members_of(slot.type) if isinstance(m, LiteralType)]
            others = near(str(value), known)
            if known:
                message = f"expected {notation(slot.type)}, got {_json(value)}"
                message += did_you_mean(others)
                place = Place(node.path, slot.bare)
                edits = [write(f"with {other}", place, other) for other in others]
            elif reason := why_not(value, slot.type):
                message += f": {reason}"
        others = reachable(node.type, self._registry)
        if others:
            message += f"; {found_notation(node.type)} can become {', '.join(others)}"
        self._findings.wrong(slot.says(message), node.path, edits)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> Any:
    return list(value) if is_tuple(value) else value
