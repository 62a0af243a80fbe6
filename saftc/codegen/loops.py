"""What loops and comprehensions iterate over, and the names they bind."""

from typing import assert_never

from saftc.codegen import python as py
from saftc.codegen.builtins import emit_iterable
from saftc.codegen.context import Context
from saftc.codegen.operators import emit_condition
from saftc.codegen.python import Expression
from saftc.semantics.types import NEVER, TupleType, Type, item_type, members
from saftc.syntax import nodes as n


def emit_comprehension(context: Context, node: n.Comprehension) -> Expression:
    """`[item for x in xs if c]`."""
    inside = context.within(context.facts.names.scopes[node])
    clauses: list[py.Clause] = []
    for clause in node.clauses:
        iterable = loop_over(inside, clause.pattern, clause.iterable)
        conditions = [emit_condition(inside, condition) for condition in clause.conditions]
        clauses.append((emit_pattern(inside, clause.pattern), iterable, conditions))
    return py.comprehension(inside.emit(node.item), clauses)


def loop_over(context: Context, pattern: n.Pattern, node: n.Expression) -> Expression:
    """What a loop with `pattern` iterates over: unpacking is checked where it is not proved."""
    if isinstance(pattern, n.NamePattern) or _unpacks(pattern, item_type(context.type_of(node))):
        return emit_iterable(context, node)
    is_flat = all(isinstance(item, n.NamePattern) for item in pattern.items)
    shape = py.constant(len(pattern.items)) if is_flat else _shape(pattern)
    made = context.operation("each_of", context.emit(node), shape)
    context.note(made, node.span)
    return made


def _unpacks(pattern: n.Pattern, type_: Type) -> bool:
    if isinstance(pattern, n.NamePattern) or type_ == NEVER:
        return True
    return all(
        isinstance(member, TupleType)
        and len(member.items) == len(pattern.items)
        and all(map(_unpacks, pattern.items, member.items))
        for member in members(type_)
    )


def _shape(pattern: n.Pattern) -> Expression:
    """A nested pattern as a value that mirrors it: `("a", ("b", "c"))`."""
    match pattern:
        case n.NamePattern():
            return py.constant(pattern.name.text)
        case n.TuplePattern():
            return py.tuple_([_shape(item) for item in pattern.items])
        case _:
            assert_never(pattern)


def emit_pattern(context: Context, pattern: n.Pattern) -> Expression:
    """The names that a loop binds."""
    match pattern:
        case n.NamePattern():
            return py.name(context.name_of(pattern.name))
        case n.TuplePattern():
            return py.tuple_([emit_pattern(context, item) for item in pattern.items])
        case _:
            assert_never(pattern)
