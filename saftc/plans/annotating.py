"""Types of the language of programs as Python annotations.

[number]                 list[int | float]
Point | null             Point | None
{lat: number, ...}       the TypedDict of that name, where the tools have it
"""

from collections.abc import Iterable
from typing import assert_never

from saftc.codegen import python as py
from saftc.codegen.python import Expression
from saftc.plans.naming import PlanNames
from saftc.runtime import program_types as types
from saftc.runtime import schema_model as model

_SCALARS: dict[model.ScalarKind, str] = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "string": "str",
}


def annotation(names: PlanNames, type_: types.Type) -> Expression:
    """The annotation, whose names are imported."""
    python = model.class_of(type_)
    if python is not None:
        return names.tool(python)
    match type_:
        case model.ReferenceSchema():
            return annotation(names, model.resolved(type_))
        case model.AnySchema() | model.OpaqueSchema():
            return names.own("Any")
        case model.ScalarSchema("nil"):
            return py.constant(None)
        case model.ScalarSchema("number"):
            return py.binary(names.own("int"), "|", names.own("float"))
        case model.ScalarSchema(kind):
            return names.own(_SCALARS[kind])
        case model.LiteralSchema() if type_.member is not model.ABSENT:
            return names.tool(_enum_of(type_))
        case model.LiteralSchema():
            return _literals(names, [type_])
        case model.ListSchema(item):
            return py.subscript(names.own("list"), annotation(names, item))
        case model.TupleSchema(items, rest):
            inside = [annotation(names, item) for item in items] or [py.tuple_([])]
            if rest is not None:
                inside = [annotation(names, rest), py.name("...")]
            return py.subscript(names.own("tuple"), *inside)
        case model.UnionSchema(members):
            return _union(names, members)
        case model.ObjectSchema(name, fields):
            declared = names.tools.namespace.get(name or "")
            if declared is not None:
                return names.tool(declared)
            return _map(names, types.union_of(field.schema for field in fields))
        case model.MapSchema(value):
            return _map(names, value)
        case _:
            assert_never(type_)


def _union(names: PlanNames, members: Iterable[types.Type]) -> Expression:
    """Enums first, the literals in one, None last."""
    members = [
        one
        for m in members
        for one in ((types.INTEGER, types.FLOAT) if m == types.NUMBER else (m,))
    ]
    literals = [member for member in members if isinstance(member, model.LiteralSchema)]
    enums = [one for one in literals if one.member is not model.ABSENT]
    plain = [one for one in literals if one.member is model.ABSENT]
    parts = [names.tool(enum) for enum in dict.fromkeys(map(_enum_of, enums))]
    for member in members:
        if not isinstance(member, model.LiteralSchema):
            parts.append(annotation(names, member))
        elif plain and member is plain[0]:
            parts.append(_literals(names, plain))
    parts.sort(key=py.is_none)
    return py.union(parts)


def _enum_of(literal: model.LiteralSchema) -> type:
    member: object = literal.member
    return type(member)


def _literals(names: PlanNames, literals: Iterable[model.LiteralSchema]) -> Expression:
    values = (py.constant(literal.value) for literal in literals)
    return py.subscript(names.own("Literal"), *values)


def _map(names: PlanNames, value: types.Type) -> Expression:
    return py.subscript(names.own("dict"), names.own("str"), annotation(names, value))
