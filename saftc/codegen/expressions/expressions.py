"""Emits each expression as a libcst node, with the conversion or check that its context needs.

The node is plain Python if the types prove that it has Saft's meaning, and calls `ops` otherwise.
"""

import re
from typing import assert_never

from saftc.check.forms import Form
from saftc.codegen import python as py
from saftc.codegen.annotations import checked
from saftc.codegen.context import Context
from saftc.codegen.expressions.builtins import builtin_value, converted, printed
from saftc.codegen.expressions.calls import emit_call
from saftc.codegen.expressions.literals import emit_literal
from saftc.codegen.expressions.members import emit_index, emit_member, emit_slice, emit_tuple_member
from saftc.codegen.expressions.operators import (
    emit_binary,
    emit_comparison,
    emit_condition,
    emit_negated,
    emit_truth,
    emit_unary,
)
from saftc.codegen.expressions.prompts import emit_kept_program, emit_prompt, emit_result
from saftc.codegen.layout import code_of
from saftc.codegen.python import Expression
from saftc.codegen.statements.loops import emit_comprehension
from saftc.codegen.statements.overlaps import emit_mapped
from saftc.codegen.statements.servers import emit_server_call
from saftc.syntax import nodes as n
from saftc.types.relations import Assignability
from saftc.types.types import PROGRAM

_UNREADABLE = re.compile(r'[\\\n"#]')
_NUMBER = re.compile(r"[0-9][0-9_]*(\.[0-9_]+)?([eE][+-]?[0-9_]+)?")

# A text up to this length is one string; black would join its parts anyway.
_SHORT_TEXT = 80


def emit_expression(context: Context, node: n.Expression) -> Expression:
    """Emits an expression with the conversion or check that the code around it needs."""
    is_whole = node in context.facts.whole_results
    value = context.note(
        emit_result(context, node) if is_whole else _plain(context, node), node.span
    )
    coercion = context.facts.coercions.get(node)
    if coercion is None:
        wanted = context.facts.place_without_history(node)
        return value if wanted is None else checked(context, value, wanted)
    if coercion.fit == Assignability.CONVERT:
        value = converted(context, node, value, coercion.wanted)
    elif coercion.wanted == PROGRAM:
        value = emit_kept_program(context, node, value)
    else:
        value = checked(context, value, coercion.wanted)
    return context.note(value, node.span)


def _plain(context: Context, node: n.Expression) -> Expression:
    match node:
        case n.Literal():
            return _literal(context, node)
        case n.Name():
            return _name(context, node)
        case n.ListLiteral() | n.TupleLiteral() | n.ObjectLiteral():
            return emit_literal(context, node)
        case n.Call():
            return emit_call(context, node)
        case n.Index():
            return emit_index(context, node)
        case n.Slice():
            return emit_slice(context, node)
        case n.Member():
            return emit_member(context, node)
        case n.TupleMember():
            return emit_tuple_member(context, node)
        case n.Unary():
            return emit_unary(context, node)
        case n.Binary():
            return emit_binary(context, node)
        case n.Comparison():
            return emit_comparison(context, node)
        case n.Logical():
            return emit_truth(context, node)
        case n.Conditional():
            return _conditional(context, node)
        case n.Comprehension():
            mapped = context.plan.maps.get(node)
            if mapped is not None:
                return emit_mapped(context, node, mapped)
            return emit_comprehension(context, node)
        case n.FormattedString():
            return _formatted_string(context, node)
        case n.Prompt():
            return emit_prompt(context, node)
        case n.ServerCall():
            return emit_server_call(context, node)
        case _:
            assert_never(node)


def _conditional(context: Context, node: n.Conditional) -> Expression:
    """Emits `then if condition else other`.

    If the values are the literals true and false, only the condition or its negation is emitted.
    """
    match node:
        case n.Conditional(then=n.Literal(value=True), other=n.Literal(value=False)):
            return emit_truth(context, node.condition)
        case n.Conditional(then=n.Literal(value=False), other=n.Literal(value=True)):
            return emit_negated(context, node.condition)
        case _:
            then, condition = context.emit(node.then), emit_condition(context, node.condition)
            return py.conditional(then, condition, context.emit(node.other))


def _literal(context: Context, node: n.Literal) -> Expression:
    written = context.source.at(node.span)
    if isinstance(node.value, str) and written.startswith('"""'):
        return _block(node.value)
    if isinstance(node.value, int | float) and _NUMBER.fullmatch(written):
        # In the notation of the script, such as `1_000`; Python would normalise it.
        return py.as_written(written)
    return py.constant(node.value)


def _block(text: str) -> Expression:
    """The literal of a text with several lines. If the text is long, each line has a literal."""
    lines = text.splitlines(keepends=True)
    if len(repr(text)) <= _SHORT_TEXT or len(lines) == 1:
        return py.constant(text)
    return py.joined(lines)


def _name(context: Context, node: n.Name) -> Expression:
    symbol = context.facts.names.of(node)
    if symbol.kind == "builtin":
        return builtin_value(context, symbol.name)
    if symbol.kind == "field":
        # The rules of a record are emitted as a method of its class.
        return py.attribute(context.global_("self"), py.field_name(symbol.name))
    is_global = symbol.scope is context.facts.names.scopes[context.module]
    name = context.note((context.own if is_global else py.name)(context.name_of(node)), node.span)
    for caught in context.caught:
        if caught.is_failure and caught.name == name.value:
            caught.is_read = True
            return py.call(context.global_("failure"), [name])
    return py.attribute(name, "value") if context.facts.keeps_history(node) else name


def _formatted_string(context: Context, node: n.FormattedString) -> Expression:
    """Emits an f-string if Python 3.11 can parse it, else `"text {:spec}".format(value)`.

    Python 3.11 cannot parse it if a hole contains a backslash, a line end, a `#`, or the quote of
    the f-string. To avoid this quote, strings in a hole have single quotes.
    """
    parts = [_hole_or_text(context, part) for part in node.parts]
    if all(isinstance(part, str) for part in parts):
        return py.constant("".join(part for part in parts if isinstance(part, str)))
    holes = [part for part in parts if not isinstance(part, str)]
    if all(_is_readable(value) for value, _ in holes):
        return py.formatted(parts)
    return py.call(py.attribute(py.template(parts), "format"), [value for value, _ in holes])


def _hole_or_text(
    context: Context, part: n.FormatText | n.FormatHole
) -> str | tuple[Expression, str]:
    """Returns the text of a part of a formatted string, or the value of a hole with its format."""
    if isinstance(part, n.FormatText):
        return part.text
    spec = part.spec or ""
    if part.spec is None:
        made = printed(context, part.value)
    else:
        made = context.emit(part.value)
        if context.facts.forms.holes[part] == Form.OPS:
            made, spec = context.operation("format", made, py.constant(spec)), ""
            context.note(made, part.span)
    quoted = py.single_quoted(made)
    if quoted is not made:
        context.note(quoted, part.value.span)
    return quoted, spec


def _is_readable(made: Expression) -> bool:
    return not _UNREADABLE.search(code_of(made))
