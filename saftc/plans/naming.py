"""The names of a compiled plan: what it imports, its variables, and types as annotations.

A name of the plan is kept, with an underscore after it only where it is taken: by a function that
the plan calls, by a name that such modules need themselves (`float`), or by another variable.

    [number]                 list[int | float]
    Point | null             Point | None
    {lat: number, ...}       the TypedDict of that name, where the tools have it
"""

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from saftc.codegen import python as py
from saftc.codegen.imports import Imports, is_imported
from saftc.codegen.python import Expression
from saftc.plans.tools import Tools
from saftc.runtime import program_types as types
from saftc.runtime import schema_model as model

# The names that are in the output for what they are everywhere.
_IMPORTED = ("Any", "Literal", "asyncio", "coerce", "show")
OWN = frozenset(
    (*_IMPORTED, "bool", "dict", "float", "int", "list", "main", "print", "str", "tuple")
)

_SCALARS: dict[model.ScalarKind, str] = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "string": "str",
}


class NotWritable(Exception):
    """What the plan means has no Python form; the text says why."""


@dataclass(slots=True)
class PlanNames:
    """The names of one writing; variables cannot have those that are `taken`."""

    tools: Tools
    taken: frozenset[str]
    imports: Imports = field(default_factory=Imports)
    called: set[str] = field(default_factory=set[str])
    variables: set[str] = field(default_factory=set[str])

    def own(self, name: str) -> Expression:
        """One of the output's own names: of Python, or imported."""
        assert name in OWN, name
        if name == "coerce":
            self.imports.own.add(("runtime_support.programs", name, name))
        elif is_imported(name):
            self.imports.names.add(name)
        return py.name(name)

    def tool(self, thing: object) -> Expression:
        """A function or class that the plan uses."""
        try:
            module, name = self.tools.place_of(thing)
        except LookupError as unknown:
            raise NotWritable(f"{unknown} is in no module, and cannot be imported") from None
        alias = name
        while alias in OWN:
            alias += "_"
        self.called.add(alias)
        self.imports.own.add((module, name, alias))
        return py.name(alias)

    def variable(self, text: str) -> str:
        """A new variable of the function."""
        name = self.element(text, self.variables)
        self.variables.add(name)
        return name

    def element(self, text: str, visible: set[str]) -> str:
        """The variable of a comprehension; those that are `visible` in it are not hidden."""
        name = re.sub(r"\W", "_", text)
        name = name if name.isidentifier() else f"_{name}"
        while keyword.iskeyword(name) or name in self.taken or name in visible:
            name += "_"
        return name


# Types


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
