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

_SCALARS = {"bool": "bool", "int": "int", "float": "float", "string": "str"}


class Annotations:
    """Writes annotations, and imports what they name."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.types: Any = runtime("programs._types")
        self.model: Any = runtime("_schema.model")

    def of(self, type_: Any) -> Expression:
        """The annotation."""
        model = self.model
        type_ = model.resolved(type_)
        python = model.class_of(type_)
        if python is not None:
            return self.names.tool(python)
        match type_:
            case model.AnySchema():
                return self.names.built_in("Any")
            case model.ScalarSchema(kind="nil"):
                return py.constant(None)
            case model.ScalarSchema(kind="number"):
                return py.binary(self.names.built_in("int"), "|", self.names.built_in("float"))
            case model.ScalarSchema():
                return self.names.built_in(_SCALARS[type_.kind])
            case model.LiteralSchema(member=model.ABSENT):
                return py.subscript(self.names.built_in("Literal"), py.constant(type_.value))
            case model.LiteralSchema():
                return self.names.tool(type(type_.member))
            case model.ListSchema():
                return py.subscript(self.names.built_in("list"), self.of(type_.item))
            case model.TupleSchema(rest=None):
                inner = [self.of(item) for item in type_.items] or [py.tuple_([])]
                return py.subscript(self.names.built_in("tuple"), *inner)
            case model.TupleSchema():
                rest = py.name("...")
                return py.subscript(self.names.built_in("tuple"), self.of(type_.rest), rest)
            case model.UnionSchema():
                return self._union(type_.members)
            case model.ObjectSchema():
                return self._record(type_)
            case _:
                return self._map(type_.value)

    def _union(self, members: Any) -> Expression:
        """The literals in one, None last."""
        types = self.types
        numbers = (types.INTEGER, types.FLOAT)
        members = [one for m in members for one in (numbers if m == types.NUMBER else (m,))]
        literals = [m for m in members if isinstance(m, self.model.LiteralSchema)]
        found: list[Any] = [m.member for m in literals if m.member is not self.model.ABSENT]
        classes: list[Any] = [member.__class__ for member in found]
        enums = dict.fromkeys(classes)
        literals = [m for m in literals if m.member is self.model.ABSENT]
        members = [m for m in members if type(getattr(m, "member", None)) not in enums]
        parts: list[Expression] = [self.names.tool(one) for one in enums]
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
        return self._map(self.types.union_of(field.schema for field in type_.fields))

    def _map(self, value: Any) -> Expression:
        return py.subscript(self.names.built_in("dict"), self.names.built_in("str"), self.of(value))
