"""Emits list, tuple and object literals, and their items.

[a, ...xs]      [a, *xs]
{n: 1, ...o}    {"n": 1, **o}
{...r, n: 1}    dataclasses.replace(r, n=1), if `r` is a record
"""

from collections.abc import Sequence
from typing import assert_never

from saftc.check.forms import Form
from saftc.codegen import python as py
from saftc.codegen.annotations import annotation
from saftc.codegen.comments import one_a_line
from saftc.codegen.context import Context
from saftc.codegen.expressions.builtins import emit_iterable
from saftc.codegen.python import Expression
from saftc.syntax import nodes as n
from saftc.types.types import ObjectType


def emit_literal(
    context: Context, node: n.ListLiteral | n.TupleLiteral | n.ObjectLiteral
) -> Expression:
    """Emits a list, tuple or object literal."""
    match node:
        case n.ListLiteral():
            items = py.list_([emit_item(context, item) for item in node.items])
            return one_a_line(context, node, items, node.items)
        case n.TupleLiteral():
            parts = py.tuple_([context.emit(item) for item in node.items])
            return one_a_line(context, node, parts, node.items)
        case n.ObjectLiteral() if node in context.facts.forms.copies:
            return _emit_copy(context, node)
        case n.ObjectLiteral():
            return emit_object(context, node, node.fields)
        case _:
            assert_never(node)


def emit_item(context: Context, node: n.Expression | n.Spread) -> Expression:
    """Emits an item of a list literal. `...value` becomes `*value`."""
    if isinstance(node, n.Spread):
        return py.starred(emit_spread(context, node))
    return context.emit(node)


def emit_spread(context: Context, node: n.Spread) -> Expression:
    """Emits the iterable whose items `...value` inserts in a list."""
    value = emit_iterable(context, node.value)
    if context.facts.forms.spreads[node] == Form.OPS:
        value = context.note(context.operation("spread", value), node.span)
    return value


def _emit_copy(context: Context, node: n.ObjectLiteral) -> Expression:
    """Emits a changed copy of a record, such as `dataclasses.replace(record, field=value)`.

    If the original may be a record or a plain object, `ops.changed(value, {"field": 1})` is
    emitted. All these functions check the rules of the record for the copy.
    """
    copy, record = context.facts.forms.copies[node], context.emit(node.fields[0].value)
    if copy.is_open:
        changed = emit_object(context, node, node.fields[1:])
        return context.note(py.call(context.operator("changed"), [record, changed]), node.span)
    changes = [(py.field_name(one.key.text), context.emit(one.value)) for one in node.named]
    match copy.by:
        case "replace":
            replace = py.attribute(context.global_("dataclasses"), "replace")
            made = py.call(replace, [record], changes)
        case "_replace":
            made = context.note(py.call(py.attribute(record, "_replace"), [], changes), node.span)
            return one_a_line(context, node, made, node.fields[1:])
        case "changed":
            made = py.call(context.global_("changed"), [record], changes)
    context.note(made, node.span)
    return one_a_line(context, node, made, node.fields)


def emit_object(context: Context, node: n.ObjectLiteral, fields: Sequence[n.Entry]) -> Expression:
    """Emits an object with the entries `fields` as a dict. Missing optional fields become None."""
    entries = [emit_entry(context, entry) for entry in fields]
    wanted = context.facts.types.get(node)
    if isinstance(wanted, ObjectType) and len(node.named) == len(node.fields):
        # Optional fields that are missing become nil.
        given = {field.key.text for field in node.named}
        absent = (f.name for f in wanted.fields if f.name not in given and not f.may_lack)
        entries += [(name, py.constant(None)) for name in absent]
    return one_a_line(context, node, py.dict_(entries), fields)


def emit_entry(context: Context, node: n.Entry) -> py.Entry:
    """Returns the key and the value of an entry in a dict. For `...value`, the key is None."""
    forms = context.facts.forms
    match node:
        case n.Field():
            return node.key.text, context.emit(node.value)
        case n.ComputedField():
            return emit_computed(context, node)
        case n.Spread():
            value = context.emit(node.value)
            if forms.spreads[node] == Form.OPS:
                value = context.note(
                    context.operation("fields", value, *_kind_of_keys(context, node)), node.span
                )
            return None, value
        case _:
            assert_never(node)


def emit_computed(context: Context, node: n.ComputedField) -> tuple[Expression, Expression]:
    """Returns the key and the value of `[key]: value`.

    The key is checked unless the types prove that it is valid.
    """
    key = context.emit(node.key)
    if context.facts.forms.keys[node.key] == Form.OPS:
        key = context.note(
            context.operation("key", key, *_kind_of_keys(context, node.key)), node.key.span
        )
    return key, context.emit(node.value)


def _kind_of_keys(context: Context, node: n.Expression | n.Spread) -> list[Expression]:
    """The class that a checked key must have, in a list. The list is empty if keys are strings."""
    kind = context.facts.forms.dated.get(node)
    return [] if kind is None else [annotation(context, kind)]
