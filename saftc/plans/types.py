"""The types of programs as those of the compiler, which writes them as annotations.

number                   int | float
Point, Colour            a record that is imported: of a class of Python, only its name counts
[Point | null]           [Point?]
"""

from dataclasses import dataclass, field

from saftc.plans.tools import NotWritable, Tools
from saftc.runtime import program_types, schema_model
from saftc.semantics import types as t
from saftc.semantics.facts import RecordFacts
from saftc.source import Span
from saftc.syntax import nodes as n

NOWHERE = Span(0, 0)
# A tuple of any length, for which Saft has no type.
ANY_TUPLE = t.RecordType("tuple")
_DEEPEST = 30


@dataclass(frozen=True, slots=True)
class Types:
    """The types that a plan needs; `records` are the classes among them."""

    tools: Tools
    records: dict[type, RecordFacts] = field(default_factory=dict[type, RecordFacts])

    def of(self, type_: program_types.Type, levels: int = t.MOST_LEVELS) -> t.Type:
        """The type; any value where the compiler has none, and below so many levels."""
        if levels == 0:
            return t.ANY
        levels -= 1
        python = schema_model.class_of(type_)
        if python is not None:
            return self.record(python).type
        match type_:
            case schema_model.ReferenceSchema():
                return self.of(schema_model.resolved(type_), levels)
            case schema_model.ScalarSchema("number"):
                return t.NUMBER
            case schema_model.ScalarSchema(kind):
                return {**t.BUILT_IN, **t.DATES}[kind]
            case schema_model.LiteralSchema(value) if type_.member is schema_model.ABSENT:
                return t.literal_type(value)
            case schema_model.LiteralSchema():
                member: object = type_.member
                return self.record(type(member)).type
            case schema_model.ListSchema(item):
                return t.ListType(self.of(item, levels))
            case schema_model.TupleSchema(items, None):
                return t.TupleType(tuple(self.of(item, levels) for item in items))
            case schema_model.TupleSchema():
                return ANY_TUPLE
            case schema_model.MapSchema(value, key):
                kind = self.of(key, levels)
                if isinstance(kind, t.Scalar) and kind in t.KEYS:
                    return t.MapType(self.of(value, levels), kind)
                return t.ANY
            case schema_model.UnionSchema(members):
                return t.union(self.of(member, levels) for member in members)
            case schema_model.ObjectSchema(name, fields):
                declared = self.tools.namespace.get(name or "")
                if isinstance(declared, type):
                    return self.record(declared).type
                return t.MapType(t.union(self.of(one.schema, levels) for one in fields))
            case _:
                return t.ANY

    def exactly(self, type_: program_types.Type) -> t.Type:
        """The type where a value is made one of it; NotWritable if some of it would be lost."""
        made = self.of(type_, _DEEPEST)
        is_lost = (made == t.ANY) != (type_ == program_types.ANY)
        if is_lost or ANY_TUPLE in t.within(made) or t.levels(made) >= _DEEPEST:
            shown = program_types.type_notation(type_)
            raise NotWritable(
                f"only running the plan tells how a value becomes {shown}, and no annotation of "
                "the output says that: have the function that gives the value declare its type"
            )
        return made

    def record(self, python: type) -> RecordFacts:
        """A class as a record without fields."""
        if python not in self.records:
            module, name = self.tools.place_of(python)
            definition = n.RecordDef(NOWHERE, n.Identifier(NOWHERE, name), ())
            self.records[python] = RecordFacts(definition, {}, module=module)
        return self.records[python]
