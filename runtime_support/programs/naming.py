"""Names against declarations: what an object may be here, and what is wrong with its keys.

{"findBook": ...}             unknown function 'findBook', did you mean find_book?
{"repeat": {"time": 2}}       unknown parameter 'time' of repeat, ..., did you mean times?
{"lat": 1} for a Point        missing field 'lon' of Point
"""

from __future__ import annotations

from typing import Literal

from runtime_support.programs import syntax
from runtime_support.programs.coercion import judge
from runtime_support.programs.findings import Edit, Findings, rename, write
from runtime_support.programs.fitting import Slot
from runtime_support.programs.near import did_you_mean, near
from runtime_support.programs.patching import Place
from runtime_support.programs.paths import Path, at, is_object
from runtime_support.programs.registry import Definition, Parameter, Registry
from runtime_support.programs.tree import Never
from runtime_support.programs.types import (
    AnyType,
    Field,
    MapType,
    RecordType,
    Type,
    members_of,
    names_fit,
)

Shape = MapType | RecordType | Definition
"""What an object can be: one of any keys, a record, or an instance of a class."""

Word = Literal["parameter", "field"]


class Names:
    """The names that a registry declares, and the reports about names that it does not."""

    def __init__(self, registry: Registry, findings: Findings) -> None:
        self._registry = registry
        self._findings = findings

    def shapes(self, type_: Type) -> list[Shape]:
        """What an object may be where this type is expected: itself before an instance."""
        members = members_of(type_)
        shapes: list[Shape] = [one for one in members if isinstance(one, RecordType)]
        shapes += [one for one in members if isinstance(one, MapType)]
        constructors = map(self._registry.constructor_of, members)
        return shapes + [one for one in constructors if one is not None]

    def is_operator(self, name: str) -> bool:
        return name in syntax.FORMS or name in self._registry.definitions

    def unknown_function(self, expression: syntax.Apply, slot: Slot) -> None:
        name, path = expression.name, expression.path
        others = near(name, self._registry.definitions)
        edits = [rename((*path, name), other) for other in others]
        shapes = self.shapes(slot.type)
        for shape in shapes:
            fields = near(name, [field.name for field in fields_of(shape)])
            edits += [rename((*path, name), field) for field in fields]
        edits += self._as_records(expression, slot)
        message = f"unknown function '{name}'{did_you_mean(others)}"
        is_data = isinstance(slot.type, AnyType) and not is_object(expression.body)
        if any(isinstance(shape, MapType) for shape in shapes) or (is_data and not others):
            message += '; a record of one key is written {"$object": {...}}'
            written = {"$object": {name: expression.body}}
            edits.append(write("as a record", Place(path, slot.bare), written))
        self._findings.wrong(message, path, edits)

    def unknown_name(
        self, name: str, given: list[str], shape: RecordType | Definition, path: Path, word: Word
    ) -> None:
        declared = [field.name for field in fields_of(shape)]
        others = near(name, [one for one in declared if one not in given])
        edits: list[Edit] = [rename(path, other) for other in others]
        single = shape.single if isinstance(shape, Definition) else None
        if single is not None and self._stands_for(single, given):
            body = at(self._findings.program, path[:-1])
            edits.insert(0, write(f"under {single.name}", Place(path[:-1]), {single.name: body}))
        known = ", ".join(declared) or "nothing"
        message = f"unknown {word} '{name}'{owner(shape)}, which takes {known}"
        self._findings.wrong(message + did_you_mean(others), path, edits)

    def missing_names(
        self, given: list[str], shape: RecordType | Definition, path: Path, word: Word
    ) -> None:
        required = "required " if word == "parameter" else ""
        for field in fields_of(shape):
            if field.required and field.name not in given:
                message = f"missing {required}{word} '{field.name}'{owner(shape)}"
                self._findings.wrong(message, path)

    def _stands_for(self, single: Parameter, given: list[str]) -> bool:
        """Whether the arguments are really the one argument itself, a call or a record."""
        if len(given) == 1 and self.is_operator(given[0]):
            return True
        return any(names_fit(set(given), fields_of(shape)) for shape in self.shapes(single.type))

    def _as_records(self, expression: syntax.Apply, slot: Slot) -> list[Edit]:
        """The constructors of one such field whose instances can become what is expected."""
        if isinstance(slot.type, AnyType):
            return []
        place = Place(expression.path, slot.bare)
        return [
            write(f"as a {one.name}", place, {one.name: {expression.name: expression.body}})
            for one in self._registry.definitions.values()
            if one.kind == "type"
            and names_fit({expression.name}, one.parameters)
            and not isinstance(judge(one.result, slot.type, self._registry), Never)
        ]


def fields_of(shape: Shape) -> tuple[Field, ...]:
    if isinstance(shape, MapType):
        return ()
    return shape.parameters if isinstance(shape, Definition) else shape.fields


def owner(shape: RecordType | Definition) -> str:
    return f" of {shape.name}" if shape.name else ""
