"""What a loop goes over, and the names that its pattern binds."""

from typing import assert_never

from saftc.diagnostics import catalogue
from saftc.semantics.forms import (
    loop_form,
)
from saftc.semantics.inference.context import Inference
from saftc.semantics.inference.environment import Environment
from saftc.semantics.types import (
    ANY,
    NEVER,
    STRING,
    ListType,
    TupleType,
    Type,
    is_none_of,
    item_type,
    kind_word,
    members,
    opened,
    show,
    union,
)
from saftc.syntax import nodes as n

# What to go over instead of a value that has no items.
_ITEMS_OF = {
    "object": "go over `keys(x)` or `values(x)`",
    "string": "`split(x)` gives words",
    "int": "`range(n)` counts from 0",
}


def iterated(inference: Inference, loop: n.ForStmt | n.ComprehensionClause, iterable: Type) -> Type:
    """What going over `iterable` gives; a mistake when it is no list, tuple or dataframe."""
    node = loop.iterable
    inference.facts.forms.loops[loop] = loop_form(loop.pattern, iterable)
    if iterable == STRING and inference.facts.result_of(node):
        inference.report(catalogue.RESULT_NOT_ITERABLE.at(node.span))
        return ANY
    if is_none_of(iterable, "list", "tuple", "dataframe"):
        words = [kind_word(member) or "" for member in members(iterable)]
        hint = next((hint for word, hint in _ITEMS_OF.items() if word in words), None)
        inference.report(catalogue.NOT_ITERABLE.at(node.span, found=show(iterable), hint=hint))
        return ANY
    wrong = union(m for m in members(iterable) if is_none_of(m, "list", "tuple", "dataframe"))
    if wrong != NEVER:
        inference.may_fail(node, wrong, "`for` goes over a list or a tuple")
    return item_type(iterable)


def bind(inference: Inference, pattern: n.Pattern, type_: Type, env: Environment) -> None:
    """Assigns a value of `type_` to the names of a pattern."""
    match pattern:
        case n.NamePattern():
            inference.assign(inference.facts.names.of(pattern.name), opened(type_), env)
        case n.TuplePattern():
            _unpack(inference, pattern, type_, env)
        case _:
            assert_never(pattern)


def _unpack(inference: Inference, pattern: n.TuplePattern, type_: Type, env: Environment) -> None:
    count = len(pattern.items)
    has_other_length = isinstance(type_, TupleType) and len(type_.items) != count
    if has_other_length or is_none_of(type_, "list", "tuple"):
        inference.report(catalogue.UNPACK.at(pattern.span, found=show(type_), count=count))
    for position, item in enumerate(pattern.items):
        bind(inference, item, _unpacked(type_, position, count), env)


def _unpacked(type_: Type, position: int, count: int) -> Type:
    results: list[Type] = []
    for member in members(type_):
        match member:
            case TupleType() if len(member.items) == count:
                results.append(member.items[position])
            case ListType():
                results.append(item_type(member))
            case _:
                results.append(ANY)
    return union(results)
