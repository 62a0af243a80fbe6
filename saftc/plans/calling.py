"""A call with the arguments that the program gives by name, as Python takes them.

{"repeat": {"text": "ab", "times": 3}}     repeat(text="ab", times=3)
{"upper": "abc"}                           upper("abc")
{"largest": {"numbers": [1, 2]}}           largest(1, 2)     for `def largest(*numbers)`
"""

import inspect
from collections.abc import Mapping
from typing import cast

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.python import Expression
from saftc.plans.naming import NotWritable
from saftc.runtime import CallNode, Definition, Parameter


def called(function: Expression, node: CallNode, given: Mapping[str, Expression]) -> Expression:
    """The call that `node` means, with the expressions of its arguments."""
    definition, named = node.definition, dict(given)
    if node.form == "bare" and _takes_positions(definition, *named):
        return py.call(function, list(named.values()))
    by_position, rest = _positional(definition, named)
    made = py.call(function, by_position, named.items())
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
