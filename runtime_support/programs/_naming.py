"""Names and types against declarations: what is at one place, and what is wrong with it.

{"findBook": ...}             unknown function 'findBook', did you mean find_book?
{"repeat": {"time": 2}}       unknown parameter 'time' of repeat, ..., did you mean times?
{"lat": 1} for a Point        missing field 'lon' of Point
{"add": {"a": "two", ...}}    parameter 'a' of add: expected number, got string: ...

A `Slot` is a place that expects a type, `Names` reports names that nothing declares, and
`CoercionPlacer` puts the coercion between the type of an expression and the expected one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from runtime_support._names import near
from runtime_support._schema import model as m
from runtime_support._values import is_object, is_tuple
from runtime_support.programs import _tree as n
from runtime_support.programs import _types
from runtime_support.programs._coercion import judge, known_texts, reachable, readings, why_not
from runtime_support.programs._outcomes import compact
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import FORMS, Path, at, offer_names
from runtime_support.programs._writing import (
    ExpressionPlace,
    Findings,
    route_sentence,
    spelled_for_each,
)

Shape = m.MapSchema | m.ObjectSchema | Definition
"""What an object can be: one of any keys, a record, or an instance of a class."""

Word = Literal["parameter", "field"]


class Names:
    """The names that a registry declares, and the reports about names that it does not."""

    def __init__(self, registry: Registry, findings: Findings) -> None:
        self._registry = registry
        self._findings = findings

    def shapes(self, type_: _types.Type) -> list[Shape]:
        """What an object may be where this type is expected: itself before an instance."""
        members = _types.members_of(type_)
        records = (one for one in members if isinstance(one, m.ObjectSchema))
        shapes: list[Shape] = [one for one in records if one.build is None]
        shapes += [one for one in members if isinstance(one, m.MapSchema)]
        constructors = map(self._registry.constructor_of, members)
        return shapes + [one for one in constructors if one is not None]

    def is_operator(self, name: str) -> bool:
        return name in FORMS or name in self._registry.definitions

    def unknown_function(self, name: str, body: Any, path: Path, slot: Slot) -> None:
        """An object of one key, in which no callable and no field is of this name."""
        others = near(name, self._registry.definitions)
        shapes = self.shapes(slot.type)
        others += [f for one in shapes for f in near(name, [x.name for x in fields_of(one)])]
        others += self._constructors_of({name}, slot.type)
        message = f"unknown function '{name}'{offer_names(others)}"
        is_data = isinstance(slot.type, m.AnySchema) and not is_object(body)
        if any(isinstance(shape, m.MapSchema) for shape in shapes) or (is_data and not others):
            message += '; a record of one key is written {"$object": {...}}'
        self._findings.wrong(message, path)

    def unknown_name(
        self,
        name: str,
        given: list[str],
        shape: m.ObjectSchema | Definition,
        path: Path,
        word: Word,
    ) -> None:
        declared = [field.name for field in fields_of(shape)]
        others = near(name, [one for one in declared if one not in given])
        known = ", ".join(declared) or "nothing"
        message = f"unknown {word} '{name}'{owner(shape)}, which takes {known}{offer_names(others)}"
        single = shape.single if isinstance(shape, Definition) else None
        if single is not None and len(given) == 1 and self.is_operator(name):
            message += f'; write {{"{single.name}": {{"{name}": ...}}}}'
        self._findings.wrong(message, path)

    def _constructors_of(self, names: set[str], wanted: _types.Type) -> list[str]:
        """The types with such fields whose instances can become what is expected."""
        return [
            one.name
            for one in self._registry.definitions.values()
            if one.kind == "type"
            and not isinstance(wanted, m.AnySchema)
            and _types.names_fit(names, one.parameters)
            and not isinstance(judge(one.result, wanted, self._registry), n.Never)
        ]

    def missing_names(
        self, given: list[str], shape: m.ObjectSchema | Definition, path: Path, word: Word
    ) -> None:
        required = "required " if word == "parameter" else ""
        for field in fields_of(shape):
            if field.required and field.name not in given:
                message = f"missing {required}{word} '{field.name}'{owner(shape)}"
                self._findings.wrong(message, path)


def fields_of(shape: Shape) -> tuple[m.Field, ...]:
    if isinstance(shape, m.MapSchema):
        return ()
    return shape.parameters if isinstance(shape, Definition) else shape.fields


def owner(shape: m.ObjectSchema | Definition) -> str:
    """What a field or parameter belongs to; the name of an object type is internal."""
    return f" of {shape.name}" if isinstance(shape, Definition) else ""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that expects a type: `label` names it in messages, `bare` as in `Place`."""

    type: _types.Type = _types.ANY
    label: str = ""
    bare: str | None = None

    def inside(self, type_: _types.Type) -> Slot:
        return Slot(type_, self.label)

    def says(self, message: str) -> str:
        return f"{self.label}: {message}" if self.label else message


def broken_node(path: Path) -> n.ConstantNode:
    """Stands for an expression that has been reported: it fits everywhere."""
    return n.ConstantNode(path, _types.ANY, pure=True, calls=False, value=None)


def coerce_node(
    node: n.Checked,
    type_: _types.Type,
    coercion: n.Coercion,
    registry: Registry,
    bare: str | None = None,
) -> n.CoerceNode:
    """The node with a coercion put over it, which has the effects of its conversions."""
    calls = node.calls or not isinstance(coercion, n.Fits | n.Widens | n.Hops)
    pure = node.pure and _is_pure(coercion, registry)
    return n.CoerceNode(node.path, type_, pure, calls, node, coercion, bare)


def _is_pure(coercion: n.Coercion, registry: Registry) -> bool:
    match coercion:
        case n.Converts(path):
            return all(one.pure for one in path)
        case n.Each(item):
            return _is_pure(item, registry)
        case n.Decides():
            return all(one.pure for one in registry.conversions)
        case n.Splits(paths):
            return all(one.pure for path in paths for one in path)
        case n.Fits() | n.Widens() | n.Hops() | n.Never():
            return True


class CoercionPlacer:
    """Puts coercions in place, and reports where there is none or more than one."""

    def __init__(self, registry: Registry, findings: Findings) -> None:
        self._registry = registry
        self._findings = findings

    def fit(self, node: n.Checked, slot: Slot) -> n.Checked:
        """The node as a value of the slot's type."""
        is_constant = isinstance(node.type, m.LiteralSchema)
        coercion = (
            self._constant(node, slot)
            if is_constant
            else judge(node.type, slot.type, self._registry)
        )
        if isinstance(coercion, n.Fits):
            return node
        if isinstance(coercion, n.Never):
            self._mismatch(node, slot)
            return broken_node(node.path)
        self._report_split(node, slot, coercion)
        return coerce_node(node, slot.type, coercion, self._registry, slot.bare)

    def _constant(self, node: n.Checked, slot: Slot) -> n.Coercion:
        assert isinstance(node.type, m.LiteralSchema)
        value = node.type.value
        if _types.conforms(value, slot.type):
            return n.Fits() if _types.fits(node.type, slot.type) else n.Widens()
        coercion = judge(_types.widen(node.type), slot.type, self._registry)
        if isinstance(coercion, n.Converts | n.Splits):
            return coercion
        found = readings(value, slot.type)
        if len(found) > 1:
            wanted = _types.type_notation(slot.type)
            message = f"{compact(value)} can become {wanted} in {len(found)} ways"
            place = ExpressionPlace(node.path, slot.bare)
            choices = [(sentence, _plain(one)) for sentence, one in found]
            self._findings.unclear(message, node.path, place, choices)
        return n.Hops() if found else n.Never()

    def _report_split(self, node: n.Checked, slot: Slot, coercion: n.Coercion) -> None:
        source, target, levels = node.type, slot.type, 0
        while isinstance(coercion, n.Each) and (item := _types.item_of(source)) is not None:
            coercion, source, levels = coercion.item, item, levels + 1
            items = map(_types.item_of, _types.members_of(target))
            target = next(one for one in items if one is not None)
        if not isinstance(coercion, n.Splits):
            return
        ways = len(coercion.paths)
        given, wanted = _types.found_notation(source), _types.type_notation(target)
        message = f"{given} can become {wanted} in {ways} ways"
        place, operand = (
            ExpressionPlace(node.path, slot.bare),
            at(self._findings.program, node.path),
        )
        choices = [
            (route_sentence(route), spelled_for_each(route, operand, levels))
            for route in coercion.paths
        ]
        self._findings.unclear(message, node.path, place, choices)

    def _mismatch(self, node: n.Checked, slot: Slot) -> None:
        message = (
            f"expected {_types.type_notation(slot.type)}, got {_types.found_notation(node.type)}"
        )
        if isinstance(node.type, m.LiteralSchema):
            value = node.type.value
            known = known_texts(slot.type)
            others = near(str(value), known)
            if known:
                message = f"expected {_types.type_notation(slot.type)}, got {compact(value)}"
                message += offer_names(others)
            elif reason := why_not(value, slot.type):
                message += f": {reason}"
            else:
                message = f"expected {_types.type_notation(slot.type)}, got {_types.got(value)}"
        others = reachable(node.type, self._registry)
        if others:
            message += f"; {_types.found_notation(node.type)} can become {', '.join(others)}"
        self._findings.wrong(slot.says(message), node.path)


def _plain(value: Any) -> Any:
    return list(value) if is_tuple(value) else value
