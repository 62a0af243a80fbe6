"""The registry for the model: one signature line per callable.

type Point(lat: number, lon: number, label?: string | null)  # latitude and longitude
find_book(title: string, year?: number) -> Book  # a book by title, narrowed by year
conv author_of(value: Book) -> Author  # the author of the book
"""

from __future__ import annotations

from runtime_support.programs.registry import Definition, Parameter, Registry
from runtime_support.programs.types import NULL, UnionType, notation, union_of

_ORDER = ("type", "function", "conversion")
_PREFIX = {"type": "type ", "function": "", "conversion": "conv "}


def describe(registry: Registry) -> str:
    """The signature lines: types, then functions, then conversions."""
    definitions = sorted(registry.definitions.values(), key=lambda one: _ORDER.index(one.kind))
    return "\n".join(map(signature_line, definitions))


def signature_line(definition: Definition) -> str:
    """One callable with its parameters, its result and what its documentation says."""
    written = ", ".join(_parameter(one, definition) for one in definition.parameters)
    result = "" if definition.kind == "type" else f" -> {notation(definition.result)}"
    notes = [definition.doc] if definition.doc else []
    notes += [f"{one.name}: {one.doc}" for one in definition.parameters if one.doc]
    comment = f"  # {'; '.join(notes)}" if notes else ""
    return f"{_PREFIX[definition.kind]}{definition.name}({written}){result}{comment}"


def _parameter(parameter: Parameter, definition: Definition) -> str:
    type_ = parameter.type
    # For a function, None as the default means "not given"; for a record, null is a value.
    not_given = definition.kind != "type" and parameter.default is None
    if not_given and isinstance(type_, UnionType):
        type_ = union_of(member for member in type_.members if member != NULL)
    return f"{parameter.name}{'' if parameter.required else '?'}: {notation(type_)}"
