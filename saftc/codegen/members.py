"""Members, items and slices: `row["price"]`, `row.price` of a record, or `ops.member(...)`."""

from saftc.codegen import python as py
from saftc.codegen.builtins import length
from saftc.codegen.calls import is_imported
from saftc.codegen.context import Context
from saftc.codegen.prompts import emit_result
from saftc.codegen.python import Expression
from saftc.semantics.builtins import ITEMS
from saftc.semantics.history import MEMBERS
from saftc.semantics.tables import MEMBERS_OF_TABLE
from saftc.semantics.types import (
    ANY,
    DATAFRAME,
    NEVER,
    STRING,
    ObjectType,
    RecordType,
    TupleType,
    Type,
    is_only,
    members,
)
from saftc.syntax import nodes as n


def emit_member(context: Context, node: n.Member) -> Expression:
    """`value.name`."""
    type_ = context.type_of(node.value)
    field = node.name.text
    if type_ == ANY and is_imported(context, node.value):
        return py.attribute(context.emit(node.value), py.field_name(field))
    if context.facts.asks_history(node):
        is_structure = field == "value" and type_ == STRING
        name = "data" if is_structure else MEMBERS[field]
        return py.attribute(emit_result(context, node.value), name)
    if type_ == STRING and field != "length":
        structure = py.attribute(emit_result(context, node.value), "data")
        return context.operation("member", structure, py.constant(field))
    value = context.emit(node.value)
    if type_ == DATAFRAME and field in MEMBERS_OF_TABLE:
        return py.attribute(value, "height" if field == "length" else field)
    owners = members(type_)
    if type_ not in (ANY, NEVER):
        if all(isinstance(o, ObjectType) and o.field(field) for o in owners):
            return py.subscript(value, py.constant(field))
        if all(isinstance(o, RecordType) and field in context.facts.fields_of(o) for o in owners):
            return py.attribute(value, py.field_name(field))
        if field == "length" and is_only(type_, "string", "object", *ITEMS):
            has_field = any(isinstance(o, ObjectType) and o.field(field) for o in owners)
            if not has_field:
                return length(context, value)
    return context.operation("member", value, py.constant(field))


def emit_tuple_member(context: Context, node: n.TupleMember) -> Expression:
    """`value.0`."""
    value = context.emit(node.value)
    position = py.constant(node.position)
    owners = members(context.type_of(node.value))
    if all(_has_item(owner, node.position) for owner in owners):
        return py.subscript(value, position)
    return context.operation("item", value, position)


def _has_item(owner: Type, position: int) -> bool:
    return isinstance(owner, TupleType) and position < len(owner.items)


def emit_index(context: Context, node: n.Index) -> Expression:
    """`value[key]`."""
    owner, key_type = context.type_of(node.value), context.type_of(node.key)
    if owner == STRING and context.facts.result_of(node.value):
        structure = py.attribute(emit_result(context, node.value), "data")
        return context.operation("index", structure, context.emit(node.key))
    value, key = context.emit(node.value), context.emit(node.key)
    if is_only(owner, "string", *ITEMS) and is_only(key_type, "int"):
        return py.subscript(value, key)
    if is_only(owner, "object") and is_only(key_type, "string"):
        owners = [member for member in members(owner) if isinstance(member, ObjectType)]
        # A class of objects takes only keys that are written out.
        if isinstance(node.key, n.Literal):
            is_proved = all(one.field(str(node.key.value)) for one in owners)
        else:
            is_proved = not any(one.is_declared for one in owners)
        if is_proved:
            return py.subscript(value, key)
    return context.operation("index", value, key)


def emit_slice(context: Context, node: n.Slice) -> Expression:
    """`value[start:stop]`."""
    value = context.emit(node.value)
    start = context.emit(node.start) if node.start is not None else None
    stop = context.emit(node.stop) if node.stop is not None else None
    ends = [end for end in (node.start, node.stop) if end is not None]
    if is_only(context.type_of(node.value), "string", *ITEMS) and all(
        is_only(context.type_of(end), "int") for end in ends
    ):
        return py.slice_(value, start, stop)
    nothing = py.constant(None)
    return context.operation("slice", value, start or nothing, stop or nothing)
