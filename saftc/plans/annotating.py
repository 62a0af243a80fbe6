"""Types of the language of programs as Python annotations.

[number]                 list[int | float]
Point | null             Point | None
{lat: number, ...}       the TypedDict of that name, where the tools have it
"""

from collections.abc import Iterable
from typing import assert_never

from runtime_support._schema.model import (
    ABSENT,
    AnySchema,
    ListSchema,
    LiteralSchema,
    MapSchema,
    ObjectSchema,
    OpaqueSchema,
    ReferenceSchema,
    ScalarKind,
    ScalarSchema,
    TupleSchema,
    UnionSchema,
    class_of,
    resolved,
)
from runtime_support.programs._types import FLOAT, INTEGER, NUMBER, Type, union_of
from saftc.codegen import python as py
from saftc.codegen.python import Expression
from saftc.plans.naming import PlanNames

_SCALARS: dict[ScalarKind, str] = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "string": "str",
}


def annotation(names: PlanNames, type_: Type) -> Expression:
    """The annotation, whose names are imported."""
    python = class_of(type_)
    if python is not None:
        return names.tool(python)
    match type_:
        case ReferenceSchema():
            return annotation(names, resolved(type_))
        case AnySchema() | OpaqueSchema():
            return names.built_in("Any")
        case ScalarSchema("nil"):
            return py.constant(None)
        case ScalarSchema("number"):
            return py.binary(names.built_in("int"), "|", names.built_in("float"))
        case ScalarSchema(kind):
            return names.built_in(_SCALARS[kind])
        case LiteralSchema() if type_.member is not ABSENT:
            return names.tool(_enum_of(type_))
        case LiteralSchema():
            return _literals(names, [type_])
        case ListSchema(item):
            return py.subscript(names.built_in("list"), annotation(names, item))
        case TupleSchema(items, rest):
            inside = [annotation(names, item) for item in items] or [py.tuple_([])]
            if rest is not None:
                inside = [annotation(names, rest), py.name("...")]
            return py.subscript(names.built_in("tuple"), *inside)
        case UnionSchema(members):
            return _union(names, members)
        case ObjectSchema(name, fields):
            declared = names.tools.namespace.get(name or "")
            if declared is not None:
                return names.tool(declared)
            return _map(names, union_of(field.schema for field in fields))
        case MapSchema(value):
            return _map(names, value)
        case _:
            assert_never(type_)


def _union(names: PlanNames, members: Iterable[Type]) -> Expression:
    """Enums first, the literals in one, None last."""
    members = [one for m in members for one in ((INTEGER, FLOAT) if m == NUMBER else (m,))]
    literals = [member for member in members if isinstance(member, LiteralSchema)]
    enums = [one for one in literals if one.member is not ABSENT]
    plain = [one for one in literals if one.member is ABSENT]
    parts = [names.tool(enum) for enum in dict.fromkeys(map(_enum_of, enums))]
    for member in members:
        if not isinstance(member, LiteralSchema):
            parts.append(annotation(names, member))
        elif plain and member is plain[0]:
            parts.append(_literals(names, plain))
    parts.sort(key=py.is_none)
    return py.union(parts)


def _enum_of(literal: LiteralSchema) -> type:
    member: object = literal.member
    return type(member)


def _literals(names: PlanNames, literals: Iterable[LiteralSchema]) -> Expression:
    values = (py.constant(literal.value) for literal in literals)
    return py.subscript(names.built_in("Literal"), *values)


def _map(names: PlanNames, value: Type) -> Expression:
    return py.subscript(names.built_in("dict"), names.built_in("str"), annotation(names, value))
