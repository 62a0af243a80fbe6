"""Emits plain calls of functions, records and imported Python, and calls of `ops` for other values.

go(a, n: 2)     go(a, n=2)      or  ops.call(go, a, n=2)
x.go(a)         ops.send(x, "go", a), if the type of x is unknown
change(n)       change(n), or await maybe_await(change(n)), if change has a function type
ask(mail)       ask(mail).value, if ask keeps the history of its prompt
"""

from typing import assert_never

import libcst as cst

from saftc.check.forms import BuiltinCall, DirectCall, Form
from saftc.codegen import python as py
from saftc.codegen.comments import one_a_line
from saftc.codegen.context import Context
from saftc.codegen.expressions.builtins import arguments, emit_builtin_call
from saftc.codegen.python import Expression
from saftc.effects.awaits import Wait
from saftc.syntax import nodes as n


def emit_call(context: Context, node: n.Call) -> Expression:
    """Emits a call. If it returns a prompt's whole result, `.value` is added."""
    form = context.facts.forms.calls[node]
    match form:
        case BuiltinCall():
            return emit_builtin_call(context, node, form)
        case DirectCall():
            positional, named = arguments(context, node, _parameter_names(context, form))
            function = context.emit(node.function)
            made = py.call(function, positional, [*named, *_left_out(node, form)])
            made = _waiting(context, node, one_a_line(context, node, made, node.arguments))
            if form.definition not in context.facts.history.does:
                return made
            context.note(made, node.span)
            return py.attribute(made, "value")
        case Form.SEND:
            assert isinstance(node.function, n.Member)
            positional, named = arguments(context, node)
            owner, name = node.function.value, node.function.name.text
            sent = [context.emit(owner), py.constant(name), *positional]
            made = py.call(context.operator("send"), sent, named)
            items = (owner, node.function.name, *node.arguments)
            return _waiting(context, node, one_a_line(context, node, made, items))
        case Form.NATIVE:
            positional, named = arguments(context, node)
            made = py.call(context.emit(node.function), positional, named)
            return _waiting(context, node, one_a_line(context, node, made, node.arguments))
        case Form.OPS:
            positional, named = arguments(context, node)
            function = context.emit(node.function)
            is_awaited = context.wait(node) == Wait.VALUE
            operation = context.operator("acall" if is_awaited else "call")
            made = py.call(operation, [function, *positional], named)
            made = context.note(
                one_a_line(context, node, made, (node.function, *node.arguments)), node.span
            )
            return py.awaited(made) if is_awaited else made
        case _:
            assert_never(form)


def _waiting(context: Context, node: n.Call, made: Expression) -> Expression:
    """Adds `await` to a call that must be awaited, with a helper such as `in_thread` if needed.

    In plain form, `in_loop(...)` is put around a call of an `async` function of Python.
    """
    wait = context.wait(node)
    if wait is None:
        form = context.facts.forms.calls[node]
        if isinstance(form, DirectCall) and form.waits != "no" and not context.is_async:
            return py.call(context.global_("in_loop"), [made])
        return made
    assert isinstance(made, cst.Call)
    match wait:
        case Wait.AWAITED:
            return context.awaited(made, node.span)
        case Wait.VALUE if context.facts.forms.calls[node] == Form.NATIVE:
            return context.awaited(py.call(context.global_("maybe_await"), [made]), node.span)
        case Wait.VALUE:
            return context.awaited(py.passed_to(context.operator("acall"), made), node.span)
        case Wait.THREAD:
            return context.in_thread(made, node.span)
        case _:
            assert_never(wait)


def _left_out(node: n.Call, form: DirectCall) -> list[tuple[str, Expression]]:
    """Returns `field=None` for each omitted optional field that has no default in Python."""
    if not isinstance(form.definition, n.RecordDef):
        return []
    record = form.definition
    by_name = {argument.name.text for argument in node.arguments if argument.name is not None}
    rest = record.fields[len(node.arguments) - len(by_name) :]
    return [
        (py.field_name(field.name.text), py.constant(None))
        for field in rest
        if field.name.text not in by_name
        and field in record.optional
        and field not in record.nil_by_default
    ]


def _parameter_names(context: Context, form: DirectCall) -> dict[str, str]:
    """Maps the parameters of a function to their Python names.

    The mapping is empty if the script does not define the function.
    """
    if not isinstance(form.definition, n.FunctionDef):
        return {}
    symbols = context.facts.names.symbols
    return {
        parameter.name.text: context.names[symbols[parameter.name]]
        for parameter in form.definition.parameters
        if parameter.name in symbols
    }
