"""Types of the language of programs as Python annotations.

[number]                 list[int | float]
Point | null             Point | None
{lat: number, ...}       the TypedDict of that name, where the tools have it
"""

from typing import Any

from saftc.codegen import python as py
from saftc.codegen.python import Expression
from saftc.plans.naming import Names
from saftc.runtime import runtime

_SCALARS = {
    "null": "None",
    "boolean": "bool",
    "integer": "int",
    "float": "float",
    "string": "str",
}


class Annotations:
    """Writes annotations, and imports what they name."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.types: Any = runtime("programs.types")

    def of(self, type_: Any) -> Expression:
        """The annotation."""
        types = self.types
        match type_:
            case types.AnyType():
                return self.names.built_in("Any")
            case types.ScalarType(kind="null"):
                return py.constant(None)
            case types.ScalarType(kind="number"):
                return py.binary(self.names.built_in("int"), "|", self.names.built_in("float"))
            case types.ScalarType():
                return self.names.built_in(_SCALARS[type_.kind])
            case types.LiteralType():
                return py.subscript(self.names.built_in("Literal"), py.constant(type_.value))
            case types.ListType(as_tuple=False):
                return py.subscript(self.names.built_in("list"), self.of(type_.item))
            case types.ListType():
                rest = py.name("...")
                return py.subscript(self.names.built_in("tuple"), self.of(type_.item), rest)
            case types.TupleType():
                inner = [self.of(item) for item in type_.items] or [py.tuple_([])]
                return py.subscript(self.names.built_in("tuple"), *inner)
            case types.ClassType():
                return self.names.tool(type_.python)
            case types.UnionType():
                return self._union(type_.members)
            case types.RecordType():
                return self._record(type_)
            case _:
                return self._map(type_.value)

    def _union(self, members: Any) -> Expression:
        """The literals in one, None last."""
        types = self.types
        numbers = (types.INTEGER, types.FLOAT)
        members = [one for m in members for one in (numbers if m == types.NUMBER else (m,))]
        literals = [m for m in members if isinstance(m, types.LiteralType)]
        parts: list[Expression] = []
        for member in members:
            if member not in literals:
                parts.append(self.of(member))
            elif member is literals[0]:
                values = [py.constant(one.value) for one in literals]
                parts.append(py.subscript(self.names.built_in("Literal"), *values))
        parts.sort(key=py.is_none)
        return py.union(parts)

    def _record(self, type_: Any) -> Expression:
        declared = self.names.tools.namespace.get(type_.name or "")
        if declared is not None:
            return self.names.tool(declared)
        return self._map(self.types.union_of(field.type for field in type_.fields))

    def _map(self, value: Any) -> Expression:
        return py.subscript(self.names.built_in("dict"), self.names.built_in("str"), self.of(value))
