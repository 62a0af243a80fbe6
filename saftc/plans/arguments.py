"""Calls with the arguments that a program gives by name, as Python takes them.

    {"repeat": {"text": "ab", "times": 3}}     repeat(text="ab", times=3)
    {"upper": "abc"}                           upper("abc")
    {"largest": {"numbers": [1, 2]}}           largest(1, 2)     for `def largest(*numbers)`

What the checker puts between an argument and its parameter becomes ordinary calls:

    a Book where a string is asked for    name_of(author_of(book))
    [Book] for [Author]                   [author_of(item) for item in books]
    true for a number                     int(flag)
    any for a number                      coerce(value, int | float)

Python's own functions are where they do just what the rule says. Where the value decides, it is
left to `runtime_support.programs.coerce`, which applies the same rules when the plan runs.
"""

import inspect
from collections.abc import Mapping
from enum import Enum
from typing import cast

import libcst as cst

from runtime_support.programs import Registry
from saftc.codegen import python as py
from saftc.codegen.python import Expression
from saftc.plans.naming import NotWritable, PlanNames, annotation
from saftc.runtime import MOST_CONVERSIONS, Definition, Function, Parameter, readings
from saftc.runtime import program_tree as tree
from saftc.runtime import program_types as types
from saftc.runtime import schema_model as model


def coerced_constant(node: tree.CoerceNode) -> object:
    """The value of a constant that is coerced when compiling, or raises LookupError.

    The checker has tried the same: it gives one value.
    """
    if not isinstance(node.operand, tree.ConstantNode):
        raise LookupError
    match node.coercion:
        case tree.Widens():
            value = types.conform(node.operand.value, node.type)
            if isinstance(value, Enum):  # has no literal: it is made when the plan runs
                raise LookupError
            return value
        case tree.Hops():
            return readings(node.operand.value, node.type)[0][1]
        case _:
            raise LookupError


def coerced(
    names: PlanNames, value: Expression, node: tree.CoerceNode, around: set[str]
) -> Expression:
    """The operand of `node`, whose expression is `value`, as its type.

    `around` are the variables that can be seen there.
    """
    source = types.widen(node.operand.type)
    native = _native(names, value, source, node.type, node.coercion, around)
    return _by_value(names, value, node.type) if native is None else native


def _native(
    names: PlanNames,
    value: Expression,
    source: types.Type,
    target: types.Type,
    coercion: tree.Coercion,
    around: set[str],
) -> Expression | None:
    """Ordinary Python that does the same for every value, if there is such."""
    match coercion:
        case tree.Fits():
            return value
        case tree.Converts(path):
            for conversion in path:
                value = _converted(names, conversion, value)
            return value
        case tree.Each(item):
            return _each(names, value, source, target, item, around)
        case tree.Widens():
            return _widened(names, value, source, target, around)
        case tree.Hops():
            return _hopped(names, value, source, target)
        case _:
            return None


def _converted(names: PlanNames, conversion: Definition, argument: Expression) -> Expression:
    made = py.call(names.tool(conversion.function), [argument])
    return py.awaited(made) if is_async(conversion.function) else made


def _each(
    names: PlanNames,
    value: Expression,
    source: types.Type,
    target: types.Type,
    coercion: tree.Coercion,
    around: set[str],
) -> Expression | None:
    lists = [member for member in types.members_of(target) if types.item_of(member) is not None]
    item = types.item_of(source)
    if item is None or len(lists) != 1 or not isinstance(lists[0], model.ListSchema):
        return None
    name = names.element("item", around)
    inside = {*around, name}
    made = _native(names, py.name(name), item, lists[0].item, coercion, inside)
    return None if made is None else comprehension(made, name, value)


def _widened(
    names: PlanNames, value: Expression, source: types.Type, target: types.Type, around: set[str]
) -> Expression | None:
    if target == types.FLOAT and source in types.NUMBERS:
        return py.call(names.own("float"), [value])
    item, wanted = types.item_of(source), types.item_of(target)
    if isinstance(target, model.TupleSchema) and wanted is None:
        return _as_tuple(names, value)
    if item is None or wanted is None:
        return None
    if isinstance(target, model.TupleSchema):
        return _as_tuple(names, value) if types.fits(item, wanted) else None
    return _each(names, value, source, target, tree.Widens(), around)


def _as_tuple(names: PlanNames, value: Expression) -> Expression:
    """A list as a tuple; one that is written out, as a tuple written out."""
    if isinstance(value, cst.List):
        return py.tuple_([element.value for element in value.elements])
    if isinstance(value, cst.ListComp) and not has_await(value):
        value = py.generator(value)
    return py.call(names.own("tuple"), [value])


def _hopped(
    names: PlanNames, value: Expression, source: types.Type, target: types.Type
) -> Expression | None:
    if source in types.NUMBERS and target == types.STRING:
        return py.call(names.own("str"), [value])
    if source == types.BOOLEAN and target in types.NUMBERS:
        return py.call(names.own("float" if target == types.FLOAT else "int"), [value])
    if source == model.ListSchema(types.STRING) and target == types.STRING:
        return py.call(py.attribute(py.constant(","), "join"), [value])
    return None


def _by_value(names: PlanNames, value: Expression, target: types.Type) -> Expression:
    arguments = [value, annotation(names, target)]
    conversions = _leading_to(target, names.tools.registry)
    if conversions:
        arguments.append(py.list_([names.tool(one.function) for one in conversions]))
    return py.call(names.own("coerce"), arguments)


def _leading_to(target: types.Type, registry: Registry) -> list[Definition]:
    """The conversions by which a value, or a part of it, may become a part of the target."""
    wanted = _parts(target, registry, [])
    leading: list[Definition] = []
    for _ in range(MOST_CONVERSIONS):
        further = [
            one
            for one in registry.conversions
            if one not in leading and any(types.fits(one.result, part) for part in wanted)
        ]
        leading += further
        wanted += [one.parameters[0].schema for one in further]
    return [one for one in registry.conversions if one in leading]


def _parts(type_: types.Type, registry: Registry, seen: list[types.Type]) -> list[types.Type]:
    """The type, and the types of its items and fields."""
    if type_ in seen or isinstance(type_, model.AnySchema):
        return seen
    seen.append(type_)
    constructor = registry.constructor_of(type_)
    if constructor is None:
        inside = model.parts_of(type_)
    else:
        inside = tuple(parameter.schema for parameter in constructor.parameters)
    for part in inside:
        _parts(part, registry, seen)
    return seen


def is_async(function: Function) -> bool:
    """Whether a call of the function has to be awaited."""
    plain = inspect.unwrap(function)
    return inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(type(plain).__call__)


def has_await(made: cst.CSTNode) -> bool:
    """Whether an expression can be in an async function alone."""
    return isinstance(made, cst.Await) or any(map(has_await, made.children))


def comprehension(
    item: Expression, variable: str, over: Expression, test: Expression | None = None
) -> cst.ListComp:
    """`[item for variable in over if test]`."""
    tests = [] if test is None else [test]
    return py.comprehension(item, [(py.name(variable), over, tests)])


# Calls


def called(
    function: Expression, node: tree.CallNode, given: Mapping[str, Expression]
) -> Expression:
    """The call that `node` means, with the expressions of its arguments."""
    definition, named = node.definition, dict(given)
    python = {one.name: one.python_name for one in definition.parameters}
    if node.form == "bare" and _takes_positions(definition, *(python[name] for name in named)):
        return py.call(function, list(named.values()))
    by_position, rest = _positional(definition, named)
    made = py.call(function, by_position, [(python[name], one) for name, one in named.items()])
    return made if rest is None else py.with_rest(made, len(by_position), rest)


def keeps_order(definition: Definition, given: list[str]) -> bool:
    """Whether Python evaluates the arguments in the order in which the program has them."""
    first = [
        one.name
        for one in definition.parameters
        if one.name in given and (one.by_position or one.takes_rest)
    ]
    return given[: len(first)] == first


def constant(value: object) -> Expression:
    """A JSON value, or a tuple of such, as a literal."""
    match value:
        case list():
            return py.list_([constant(item) for item in cast("list[object]", value)])
        case tuple():
            return py.tuple_([constant(item) for item in cast("tuple[object, ...]", value)])
        case bool() | int() | float() | str() | None:
            return py.constant(value)
        case _:
            raise AssertionError(f"{value!r} is not written as a literal")


def _takes_positions(definition: Definition, name: str) -> bool:
    parameter = inspect.signature(definition.function).parameters[name]
    return parameter.kind not in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)


def _positional(
    definition: Definition, named: dict[str, Expression]
) -> tuple[list[Expression], Expression | None]:
    """The arguments that Python takes by position alone, and a list of further ones.

    They are taken out of `named`.
    """
    by_position = [one for one in definition.parameters if one.by_position or one.takes_rest]
    while by_position and by_position[-1].name not in named:
        by_position.pop()
    positional: list[Expression] = []
    for one in by_position:
        if one.takes_rest:
            rest = named.pop(one.name)
            if not isinstance(rest, cst.List):
                return positional, rest
            positional += [element.value for element in rest.elements]
        elif one.name in named:
            positional.append(named.pop(one.name))
        else:
            positional.append(_default(definition, one))
    return positional, None


def _default(definition: Definition, parameter: Parameter) -> Expression:
    default = parameter.default_value()
    if default is None or isinstance(default, bool | int | float | str):
        return constant(default)
    raise NotWritable(
        f"{definition.name} takes '{parameter.name}' by position, before what the plan gives; its "
        "default cannot be written, so the plan has to give it"
    )
