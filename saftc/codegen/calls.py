"""Calls: of functions, records and imported Python as they are, of what is not known by `ops`.

go(a, n: 2)     go(a, n=2)      or  ops.call(go, a, n=2)
ask(mail)       ask(mail).value, of a function that keeps the history of its prompt
"""

from saftc.codegen import python as py
from saftc.codegen.builtins import emit_builtin_call
from saftc.codegen.comments import one_a_line
from saftc.codegen.context import Context
from saftc.codegen.python import Expression
from saftc.semantics.types import FunctionType, Type
from saftc.syntax import nodes as n


def emit_call(context: Context, node: n.Call) -> Expression:
    """A call with its value."""
    function = context.type_of(node.function)
    symbol = None
    if isinstance(node.function, n.Name):
        symbol = context.facts.names.of(node.function)
        if symbol.kind == "builtin":
            return emit_builtin_call(context, node, symbol.name)
    is_record = symbol is not None and context.facts.meaning_of(symbol).kind == "record"
    positional = [context.emit(a.value) for a in node.arguments if a.name is None]
    names = _parameter_names(context, node, function)
    named = [
        (names.get(a.name.text, py.field_name(a.name.text)), context.emit(a.value))
        for a in node.arguments
        if a.name is not None
    ]
    called = context.emit(node.function)
    if not (isinstance(function, FunctionType) or is_record or is_imported(context, node.function)):
        made = py.call(context.operator("call"), [called, *positional], named)
        return one_a_line(context, node, made, (node.function, *node.arguments))
    made = py.call(called, positional, named)
    if isinstance(function, FunctionType) and function.definition in context.facts.history.does:
        context.note(made, node.span)
        return py.attribute(one_a_line(context, node, made, node.arguments), "value")
    return one_a_line(context, node, made, node.arguments)


def _parameter_names(context: Context, node: n.Call, function: Type) -> dict[str, str]:
    """The Python names of a function's parameters by their Saft names."""
    if not isinstance(function, FunctionType):
        return {}
    return {
        parameter.name.text: _parameter_name(context, parameter)
        for parameter in function.definition.parameters
    }


def _parameter_name(context: Context, parameter: n.Parameter) -> str:
    symbol = context.facts.names.symbols.get(parameter.name)
    return py.field_name(parameter.name.text) if symbol is None else context.names[symbol]


def is_imported(context: Context, node: n.Expression) -> bool:
    """Whether `node` is an imported name, or a member of one: Python's own to call."""
    while isinstance(node, n.Member):
        node = node.value
    return isinstance(node, n.Name) and context.facts.names.of(node).kind == "import"
