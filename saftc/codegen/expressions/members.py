"""Emits members, items and slices: `row["price"]`, `row.price`, or `ops.member(...)`."""

from typing import assert_never

from saftc.check.forms import Attribute, Form, Getter, ResultAttribute
from saftc.codegen import python as py
from saftc.codegen.context import Context
from saftc.codegen.expressions.builtins import length
from saftc.codegen.expressions.prompts import emit_result
from saftc.codegen.python import Expression
from saftc.syntax import nodes as n


def emit_member(context: Context, node: n.Member) -> Expression:
    """Emits Saft's `value.name`."""
    form, field = context.facts.forms.members[node], node.name.text
    match form:
        case Attribute():
            return py.attribute(context.emit(node.value), py.field_name(form.name))
        case Getter():
            return py.call(py.attribute(context.emit(node.value), form.name))
        case ResultAttribute():
            return py.attribute(emit_result(context, node.value), form.attribute)
        case Form.STRUCTURE:
            return context.operation("member", _structure(context, node), py.constant(field))
        case Form.ITEM:
            return py.subscript(context.emit(node.value), py.constant(field))
        case Form.GET:
            return py.call(py.attribute(context.emit(node.value), "get"), [py.constant(field)])
        case Form.LENGTH:
            return length(context, context.emit(node.value))
        case Form.OPS:
            return context.operation("member", context.emit(node.value), py.constant(field))
        case _:
            assert_never(form)


def _structure(context: Context, node: n.Member | n.Index) -> Expression:
    """Emits `result.data`, which is the JSON in the text of a prompt's result."""
    return py.attribute(emit_result(context, node.value), "data")


def emit_tuple_member(context: Context, node: n.TupleMember) -> Expression:
    """Emits Saft's `value.0`."""
    value, position = context.emit(node.value), py.constant(node.position)
    if context.facts.forms.items[node] == Form.NATIVE:
        return py.subscript(value, position)
    return context.operation("item", value, position)


def emit_index(context: Context, node: n.Index) -> Expression:
    """Emits Saft's `value[key]`."""
    form = context.facts.forms.items[node]
    is_structure = form == Form.STRUCTURE
    value = _structure(context, node) if is_structure else context.emit(node.value)
    key = context.emit(node.key)
    if form == Form.NATIVE:
        return py.subscript(value, key)
    if form == Form.GET:
        return py.call(py.attribute(value, "get"), [key])
    return context.operation("index", value, key)


def emit_slice(context: Context, node: n.Slice) -> Expression:
    """Emits Saft's `value[start:stop:step]`."""
    value = context.emit(node.value)
    start, stop, step = (
        None if part is None else context.emit(part) for part in (node.start, node.stop, node.step)
    )
    if context.facts.forms.items[node] == Form.NATIVE:
        return py.slice_(value, start, stop, step)
    nothing = py.constant(None)
    ends = (start or nothing, stop or nothing)
    return context.operation("slice", value, *ends, *([] if step is None else [step]))
