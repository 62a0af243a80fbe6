"""Emits calls of builtins as plain Python if the types prove it correct, else as calls of `ops`.

upper(verb)             verb.upper()            or  ops.upper(verb)
len(xs)                 len(xs)                 or  ops.len(xs)
sorted(xs, by: f)       sorted(xs, key=f)       or  ops.sorted(xs, by=f)
str(x)                  str(x), x itself, or show(x)
"""

from collections.abc import Callable, Mapping, Sequence

import libcst as cst

from saftc.check.forms import BuiltinCall, Form, arguments_by_position
from saftc.codegen import python as py
from saftc.codegen.annotations import annotation, class_of_date
from saftc.codegen.comments import one_a_line
from saftc.codegen.context import Context
from saftc.codegen.expressions.dates import date_call, nothing_of
from saftc.codegen.python import Expression
from saftc.effects.awaits import Wait
from saftc.lower.values import Text
from saftc.syntax import nodes as n
from saftc.types.builtins import BUILTINS, PACKAGE, PROGRAMS, Builtin, PythonForm
from saftc.types.types import DECIMAL, Type

_Given = Sequence[n.Expression]


def emit_builtin_call(context: Context, node: n.Call, form: BuiltinCall) -> Expression:
    """Emits a call of a builtin by its name."""
    iterator = _iterator(context, form)
    if iterator is None:
        made = _call(context, node, form)
    else:
        made = py.call(context.global_("list"), [iterator])
    made = _one_a_line(context, node, form, made)
    wait = context.wait(node)
    if wait is None:
        return made
    assert isinstance(made, cst.Call)
    if wait == Wait.THREAD:
        return context.in_thread(made, node.span)
    return context.awaited(made, node.span)


def emit_iterable(context: Context, node: n.Expression) -> Expression:
    """Emits an expression that the code only iterates over.

    A call that returns a list in Saft may become a call that returns an iterator.
    """
    if isinstance(node, n.Call) and node not in context.facts.coercions:
        form = context.facts.forms.calls[node]
        if isinstance(form, BuiltinCall) and (made := _iterator(context, form)) is not None:
            return context.note(_one_a_line(context, node, form, made), node.span)
    return context.emit(node)


def builtin_value(context: Context, name: str) -> Expression:
    """Emits a builtin that is used as a value. In async form, `run` becomes `run.aio`."""
    if not _has_own_name(BUILTINS[name]):
        return context.operator(name_in_ops(name))
    value = context.global_(name)
    return py.attribute(value, "aio") if name == "run" and context.is_async else value


def _has_own_name(builtin: Builtin) -> bool:
    """True if the output imports the builtin itself, such as `approve`, instead of using `ops`."""
    return builtin.ways[0].python.module in (PACKAGE, PROGRAMS)


def name_in_ops(name: str) -> str:
    """The name of a builtin in `runtime_support.ops`."""
    return BUILTINS[name].in_ops or name


def arguments(
    context: Context, node: n.Call, names: Mapping[str, str] | None = None
) -> tuple[list[Expression], list[tuple[str, Expression]]]:
    """Returns the positional arguments of a call, and the named ones as pairs of name and value.

    `names` maps parameters to their Python names.
    """
    python = names or {}
    positional = [context.emit(a.value) for a in node.arguments if a.name is None]
    named = [
        (python.get(a.name.text, py.field_name(a.name.text)), context.emit(a.value))
        for a in node.arguments
        if a.name is not None
    ]
    return positional, named


def _one_a_line(context: Context, node: n.Call, form: BuiltinCall, made: Expression) -> Expression:
    places = list(arguments_by_position(node, form.way))
    is_in_order = form.by is None or node.arguments[0].value is not form.by
    if (
        isinstance(made, cst.Call)
        and sum(arg.keyword is None or arg.keyword.value != "strict" for arg in made.args)
        == len(node.arguments)
        and (form.builtin.takes_names or (places == sorted(places) and is_in_order))
    ):
        return one_a_line(context, node, made, node.arguments)
    return made


def _iterator(context: Context, form: BuiltinCall) -> Expression | None:
    """Emits a builtin call that returns an iterator in Python and a list in Saft.

    Returns None for other calls.
    """
    python, given = form.way.python, form.arguments
    if form.form == Form.OPS or given is None or not python.is_iterator:
        return None
    emit = Context.emit if form.builtin.goes_over is None else emit_iterable
    values = [emit(context, one) for one in given]
    if python.how == "itself":
        return values[0]
    # Saft's `zip` stops at the shortest list, too.
    ending = [("strict", py.constant(False))] if python.name == "zip" else []
    return py.call(_function(context, python, values), _behind(python, values), ending)


def _call(context: Context, node: n.Call, form: BuiltinCall) -> Expression:
    name, given = form.builtin.name, form.arguments
    if form.builtin.takes_names:
        return py.call(context.global_(form.way.python.name), *arguments(context, node))
    made = None
    if form.form == Form.NATIVE and (date := date_call(context, node, form.way)) is not None:
        return date
    if form.by is not None:
        made = _ordered_by(context, node, form, form.by)
    elif form.form == Form.NATIVE and given is not None:
        made = _native(context, form, given)
    elif given is not None:
        made = py.call(builtin_value(context, name), list(map(context.emit, given)))
    if made is not None:
        return made
    positional, named = arguments(context, node)
    if any(way.repeats for way in form.builtin.ways):
        # A parameter that takes several arguments has no name in Python.
        only = form.way.parameters[0].name
        positional += [value for text, value in named if text == only]
        named = [(text, value) for text, value in named if text != only]
    return py.call(builtin_value(context, name), positional, named)


def _native(context: Context, form: BuiltinCall, given: _Given) -> Expression:
    """Emits a builtin call as plain Python, which the types have proved to be correct."""
    builtin, python = form.builtin, form.way.python
    if python.how == "own":
        return _OWN[builtin.name](context, given)
    if builtin.goes_over is not None and len(given) == 1:
        values = [_taken(context, builtin, given[0])]
    else:
        values = [context.emit(argument) for argument in given]
    if python.how == "attribute":
        return py.attribute(values[0], python.name)
    if python.how == "operation":
        return context.operation(builtin.name, *values)
    if _has_own_name(builtin):
        return py.call(builtin_value(context, builtin.name), values)
    taken = list(zip(form.way.parameters, values, strict=False))
    named = [(one.name, value) for one, value in taken if one.is_keyword]
    values = values[: len(values) - len(named)]
    return py.call(_function(context, python, values), _behind(python, values), named)


def _function(context: Context, python: PythonForm, values: Sequence[Expression]) -> Expression:
    """The Python function to call, or the method of the first value."""
    if python.how == "method":
        return py.attribute(values[0], python.name)
    return context.global_(python.name)


def _behind(python: PythonForm, values: Sequence[Expression]) -> Sequence[Expression]:
    """The values between the parentheses of the call. The object of a method is not one of them."""
    return values[1:] if python.how == "method" else values


def _taken(context: Context, builtin: Builtin, node: n.Expression) -> Expression:
    """Emits the list whose items a Python function reads one by one.

    A comprehension becomes a generator if that makes no difference.
    """
    made = emit_iterable(context, node)
    if isinstance(made, cst.ListComp) and context.choices.is_lazy(builtin, node):
        return py.generator(made)
    return made


def _ordered_by(
    context: Context, node: n.Call, form: BuiltinCall, by: n.Expression
) -> Expression | None:
    """Emits a call such as `sorted(notes, key=words, reverse=True)`.

    Returns None if the call needs the function of the runtime.
    """
    given = form.arguments
    if given is None or not context.choices.values.is_ordered_by_python(form, by):
        return None
    values = given if form.way.repeats else given[:1]
    emit = emit_iterable if len(values) == 1 else Context.emit
    named = [
        ("key", _key(context, by, values))
        if argument.value is by
        else ("reverse", context.emit(argument.value))
        for argument in node.arguments
        if argument.value not in values
    ]
    made = [emit(context, one) for one in values]
    return py.call(context.global_(form.builtin.name), made, named)


def _key(context: Context, by: n.Expression, values: _Given) -> Expression:
    """The key function of Python's `sorted`, `min` or `max`.

    A builtin becomes a function of Python such as `len` or `str.upper` if the types allow it.
    """
    found = context.choices.values.key(by, values)
    if found is None:
        return context.emit(by)
    if found.owner is None:
        return context.global_(found.name)
    return py.attribute(context.global_(found.owner), found.name)


# Builtins with their own Python form.


def _print(context: Context, given: _Given) -> Expression:
    return py.call(context.global_("print"), [printed(context, one) for one in given])


def _write(context: Context, given: _Given) -> Expression:
    return written(context, printed(context, given[0]))


def written(context: Context, value: Expression) -> Expression:
    """The call `print(value, end="", flush=True)`."""
    named = [("end", py.constant("")), ("flush", py.constant(True))]
    return py.call(context.global_("print"), [value], named)


def printed(context: Context, node: n.Expression) -> Expression:
    """Emits a value so that Python's `print` writes it as Saft's `print` does."""
    value = context.emit(node)
    is_shown = context.choices.values.text(node) == Text.SHOW
    return shown(context, value) if is_shown else value


def shown(context: Context, value: Expression) -> Expression:
    """The call `show(value)`, which returns the text of any value."""
    return py.call(context.global_("show"), [value])


def _str(context: Context, given: _Given) -> Expression:
    value = context.emit(given[0])
    match context.choices.values.text(given[0]):
        case Text.ITSELF:
            return value
        case Text.STR:
            return py.call(context.global_("str"), [value])
        case Text.SHOW:
            return shown(context, value)


def _join(context: Context, given: _Given) -> Expression:
    separator, items = context.choices.values.joined(given)
    text = py.constant("") if separator is None else context.emit(separator)
    return py.call(py.attribute(text, "join"), [_taken(context, BUILTINS["join"], items)])


def _contains(context: Context, given: _Given) -> Expression:
    container, item = given
    return py.comparison(context.emit(item), "in", context.emit(container))


def _matches(context: Context, given: _Given) -> Expression:
    text, pattern = given
    match = py.attribute(context.global_("re"), "fullmatch")
    found = py.call(match, [context.emit(pattern), context.emit(text)])
    return py.comparison(found, "is not", py.constant(None))


def _env(context: Context, given: _Given) -> Expression:
    environ = py.attribute(context.global_("os"), "environ")
    return py.call(py.attribute(environ, "get"), [context.emit(one) for one in given])


def _div(context: Context, given: _Given) -> Expression:
    left, right = given
    made = py.binary(context.emit(left), "//", context.emit(right))
    if context.choices.values.are("int", left, right):
        return made
    return py.call(context.global_("int"), [made])


def _sum(context: Context, given: _Given) -> Expression:
    """Emits `sum(xs)`, with a start value for decimals and durations."""
    items = _taken(context, BUILTINS["sum"], given[0])
    none = context.choices.values.sum_of_none(given[0])
    if none is None:
        return py.call(context.global_("sum"), [items])
    if isinstance(items, cst.GeneratorExp):  # with a second argument, a generator needs parentheses
        items = py.parenthesized(items)
    return py.call(context.global_("sum"), [items, nothing_of(context, none)])


def _len(context: Context, given: _Given) -> Expression:
    found = context.choices.counted(given[0])
    if found is None:
        return length(context, context.emit(given[0]))
    count = py.attribute(context.emit(found.items), "count")
    return py.call(count, [context.emit(found.value)])


_OWN: dict[str, Callable[[Context, _Given], Expression]] = {
    "print": _print,
    "write": _write,
    "str": _str,
    "join": _join,
    "contains": _contains,
    "env": _env,
    "matches": _matches,
    "div": _div,
    "sum": _sum,
    "len": _len,
}


def length(context: Context, value: Expression) -> Expression:
    """The call `len(value)`."""
    return py.call(context.global_("len"), [value])


def converted(
    context: Context, node: n.Expression, value: Expression, wanted: Type
) -> Expression:
    """Emits the conversion of a value to another type, such as `float(value)`.

    An int literal becomes a float literal.
    """
    if wanted == DECIMAL:
        return py.call(class_of_date(context, DECIMAL), [value])
    match node:
        case n.Literal(value=int() as number):
            pass
        case n.Unary(operator="-", operand=n.Literal(value=int() as operand)):
            number = -operand
        case _:
            number = None
    # A float cannot store all larger integers, so their conversion stays visible.
    if number is not None and abs(number) < 2**53:
        return py.floating(float(number))
    if isinstance(value, cst.ListComp) and not context.is_async:
        value = py.generator(value)
    return py.call(annotation(context, wanted), [value])
