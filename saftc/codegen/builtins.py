"""Calls of builtins: Python's own form where the types are proved, `ops` where they are not.

upper(verb)     verb.upper()            or  ops.upper(verb)
len(xs)         len(xs)                 or  ops.len(xs)
str(x)          str(x), x itself, or show(x)
"""

from collections.abc import Callable, Iterable, Sequence

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.comments import one_a_line
from saftc.codegen.context import Context
from saftc.codegen.dataframes import dataframe_call
from saftc.codegen.operators import is_exact_in
from saftc.codegen.python import Expression
from saftc.semantics.builtins import BUILTINS, ITEMS, Builtin, is_proved, meant
from saftc.semantics.calls import argument_names
from saftc.semantics.types import ObjectType, is_only, members
from saftc.syntax import nodes as n

# Builtins whose only form is a function of the runtime, under a name that Python leaves free.
_RUNTIME = {
    "json": "to_json",
    "parse": "parse",
    "read": "read",
    "read_text": "read_text",
    "list_files": "list_files",
    "mean": "mean",
    "image": "image",
    "file": "file",
    "write_text": "write_text",
    "type": "kind",
    "run": "run",
    "option": "option",
    "ambiguous": "ambiguous",
}
# Those that stand in the package itself also where they are not called but passed on.
_OWN_VALUES = {"run", "option", "ambiguous"}

# `upper(text)` as `text.upper()`.
_METHODS = {
    "upper": "upper",
    "lower": "lower",
    "strip": "strip",
    "split": "split",
    "replace": "replace",
    "starts_with": "startswith",
    "ends_with": "endswith",
}

# The same function in Python; some give an iterator there, which only a loop takes as it is.
_FUNCTIONS = {"len", "sum", "min", "max", "int", "float", "round", "abs"}
_ITERATORS = {"range", "reversed", "zip", "enumerate"}
# What takes an iterator as well as a list: always, or when it is all it is given.
_TAKE_ITERATORS = {"range", "zip", "enumerate"}
_TAKE_ONE_ITERATOR = {"sorted", "sum", "min", "max"}

_Given = Sequence[n.Expression]


def emit_builtin_call(context: Context, node: n.Call, name: str) -> Expression:
    """A call of the builtin `name`."""
    iterator = _iterator(context, node, name)
    if iterator is None:
        made = _call(context, node, name)
    else:
        made = py.call(context.global_("list"), [iterator])
    return _one_a_line(context, node, name, made)


def emit_iterable(context: Context, node: n.Expression) -> Expression:
    """What is only iterated over: an iterator does where a list is meant."""
    value = _iterator_of(context, node)
    if value is None:
        value = context.emit(node)
    if is_only(context.type_of(node), "int", "string", "bool", *ITEMS):
        return value
    made = context.operation("each", value)
    context.note(made, node.span)
    return made


def _iterator_of(context: Context, node: n.Expression) -> Expression | None:
    """A call of a builtin that gives an iterator, if `node` is one."""
    if not isinstance(node, n.Call) or not isinstance(node.function, n.Name):
        return None
    symbol = context.facts.names.of(node.function)
    if symbol.kind != "builtin" or node in context.facts.coercions:
        return None
    made = _iterator(context, node, symbol.name)
    return None if made is None else _one_a_line(context, node, symbol.name, made)


def builtin_value(context: Context, name: str) -> Expression:
    """A builtin that is not called but passed on."""
    return context.global_(name) if name in _OWN_VALUES else context.operator(name)


def _one_a_line(context: Context, node: n.Call, name: str, made: Expression) -> Expression:
    builtin = BUILTINS[name]
    if (
        isinstance(made, cst.Call)
        and len(made.args) == len(node.arguments)
        and (builtin.takes_names or _ascend(_places(node, builtin)))
    ):
        return one_a_line(context, node, made, node.arguments)
    return made


def _proved(context: Context, node: n.Call, name: str) -> tuple[Builtin, list[n.Expression] | None]:
    """The builtin that is meant, and its arguments in order where Python's own form is right."""
    types = [context.type_of(argument.value) for argument in node.arguments]
    form = meant(BUILTINS[name], list(zip(argument_names(node), types, strict=True)))
    ordered = _in_order(node, form)
    if ordered is None or not is_proved(form, [context.type_of(a) for a in ordered]):
        return form, None
    return form, ordered


def _iterator(context: Context, node: n.Call, name: str) -> Expression | None:
    """A call that gives an iterator in Python, and a list in Saft."""
    if name not in _ITERATORS | {"keys", "values"}:
        return None
    _, given = _proved(context, node, name)
    if given is None:
        return None
    match name:
        case "keys":
            return context.emit(given[0])
        case "values":
            owners = members(context.type_of(given[0]))
            if any(isinstance(one, ObjectType) and one.is_declared for one in owners):
                # Of a class of objects, Python's type checkers know nothing of the values.
                return None
            return py.call(py.attribute(context.emit(given[0]), "values"))
        case _:
            emit = emit_iterable if name in _TAKE_ITERATORS else Context.emit
            return py.call(context.global_(name), [emit(context, one) for one in given])


def _call(context: Context, node: n.Call, name: str) -> Expression:
    if BUILTINS[name].takes_names:
        return _as_written(context, context.global_(_RUNTIME[name]), node)
    form, given = _proved(context, node, name)
    if given is None:
        ordered = _in_order(node, form)
        if ordered is not None and form is not BUILTINS[name]:
            return context.operation(name, *map(context.emit, ordered))
        return _as_written(context, context.operator(name), node)
    made = dataframe_call(context, form, given) or _native(context, name, given)
    return made or _as_written(context, context.operator(name), node)


def _as_written(context: Context, function: Expression, node: n.Call) -> Expression:
    """A call with the arguments as they are written."""
    positional = [context.emit(a.value) for a in node.arguments if a.name is None]
    named = [(py.field_name(a.name.text), context.emit(a.value)) for a in node.arguments if a.name]
    return py.call(function, positional, named)


def _native(context: Context, name: str, given: _Given) -> Expression | None:
    """Python's own form of a proved call; None where there is none that does the same."""
    if name in _SPECIAL:
        return _SPECIAL[name](context, given)
    if name in _RUNTIME:
        return py.call(context.global_(_RUNTIME[name]), [context.emit(one) for one in given])
    emit = emit_iterable if name in _TAKE_ONE_ITERATOR and len(given) == 1 else Context.emit
    values = [emit(context, argument) for argument in given]
    if name in _METHODS:
        return py.call(py.attribute(values[0], _METHODS[name]), values[1:])
    if name == "sorted":
        # Python takes this one by name only.
        named = zip(("reverse",), values[1:], strict=False)
        return py.call(context.global_(name), values[:1], named)
    assert name in _FUNCTIONS, name
    return py.call(context.global_(name), values)


# The ones with a form of their own; None where Python's would not do the same.


def _print(context: Context, given: _Given) -> Expression:
    return py.call(context.global_("print"), [_printed(context, one) for one in given])


def _printed(context: Context, node: n.Expression) -> Expression:
    """What Python's `print` shows as Saft's does."""
    value = context.emit(node)
    is_plain = is_only(context.type_of(node), "string", "int", "float", "dataframe")
    return value if is_plain else shown(context, value)


def shown(context: Context, value: Expression) -> Expression:
    """`show(value)`: the text of any value."""
    return py.call(context.global_("show"), [value])


def _str(context: Context, given: _Given) -> Expression:
    value, type_ = context.emit(given[0]), context.type_of(given[0])
    if is_only(type_, "string"):
        return value
    if is_only(type_, "string", "int", "float", "dataframe"):
        return py.call(context.global_("str"), [value])
    return shown(context, value)


def _join(context: Context, given: _Given) -> Expression | None:
    if len(given) == 1:
        return py.call(py.attribute(py.constant(""), "join"), [emit_iterable(context, given[0])])
    if is_only(context.type_of(given[0]), *ITEMS):
        items, separator = given
        # Python evaluates the separator first: right only where that makes no difference.
        if not _is_settled(separator):
            return None
    else:
        separator, items = given
    join = py.attribute(context.emit(separator), "join")
    return py.call(join, [emit_iterable(context, items)])


def _contains(context: Context, given: _Given) -> Expression | None:
    container, item = given
    swaps_effects = not (_is_settled(container) or _is_settled(item))
    if swaps_effects or not is_exact_in(context, context.type_of(item), context.type_of(container)):
        return None
    return py.comparison(context.emit(item), "in", context.emit(container))


def _env(context: Context, given: _Given) -> Expression:
    environ = py.attribute(context.global_("os"), "environ")
    return py.call(py.attribute(environ, "get"), [context.emit(one) for one in given])


_SPECIAL: dict[str, Callable[[Context, _Given], Expression | None]] = {
    "print": _print,
    "str": _str,
    "join": _join,
    "contains": _contains,
    "env": _env,
    # Of a class of objects, see `_iterator`.
    "values": lambda _context, _given: None,
}


def length(context: Context, value: Expression) -> Expression:
    """`len(value)`."""
    return py.call(context.global_("len"), [value])


def to_float(context: Context, node: n.Expression, value: Expression) -> Expression:
    """A number as a float: a literal is written as one."""
    match node:
        case n.Literal(value=int() as number):
            pass
        case n.Unary(operator="-", operand=n.Literal(value=int() as operand)):
            number = -operand
        case _:
            number = None
    # Beyond this, a float cannot hold every integer: the conversion stays visible.
    if number is not None and abs(number) < 2**53:
        return py.floating(float(number))
    return py.call(context.global_("float"), [value])


# The order of arguments


def _places(node: n.Call, builtin: Builtin) -> dict[int, n.Expression]:
    """The arguments by the positions of their parameters."""
    names = [parameter.name for parameter in builtin.parameters]
    return {
        names.index(argument.name.text)
        if argument.name and argument.name.text in names
        else position: argument.value
        for position, argument in enumerate(node.arguments)
    }


def _ascend(places: Iterable[int]) -> bool:
    return list(places) == sorted(places)


def _in_order(node: n.Call, builtin: Builtin) -> list[n.Expression] | None:
    """The arguments in the order of the parameters; None where that would change the effects."""
    places = _places(node, builtin)
    if not _ascend(places) and not all(map(_is_settled, places.values())):
        return None
    ordered = [places[place] for place in sorted(places)]
    return ordered if sorted(places) == list(range(len(ordered))) else None


def _is_settled(node: n.Expression) -> bool:
    """Whether it does not matter when `node` is evaluated: it is a name or a literal."""
    return isinstance(node, n.Name | n.Literal)
