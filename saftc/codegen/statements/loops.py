"""Emits the iterables and targets of loops and comprehensions."""

from typing import assert_never

from saftc.check.forms import IN_PARTS, Form
from saftc.codegen import python as py
from saftc.codegen.context import Context
from saftc.codegen.expressions.builtins import emit_iterable
from saftc.codegen.expressions.literals import emit_computed
from saftc.codegen.expressions.operators import emit_condition
from saftc.codegen.expressions.prompts import emit_parts
from saftc.codegen.python import Expression
from saftc.syntax import nodes as n


def emit_comprehension(context: Context, node: n.Comprehension) -> Expression:
    """Emits `[item for x in xs if c]` or `{key: value for x in xs if c}`."""
    inside = context.within(context.facts.names.scopes[node])
    clauses: list[py.Clause] = []
    for clause in node.clauses:
        iterable = loop_over(inside, clause)
        conditions = [emit_condition(inside, condition) for condition in clause.conditions]
        clauses.append((emit_pattern(inside, clause.pattern), iterable, conditions))
    awaiting = [waits_for_parts(context, clause) for clause in node.clauses]
    if isinstance(node.item, n.ComputedField):
        return py.dict_comprehension(*emit_computed(inside, node.item), clauses, awaiting)
    return py.comprehension(inside.emit(node.item), clauses, awaiting)


def waits_for_parts(context: Context, loop: n.ForStmt | n.ComprehensionClause) -> bool:
    """True if the loop must be `async for`, since it reads a streamed reply in an async module."""
    return context.is_async and context.facts.forms.loops[loop] in IN_PARTS


def loop_over(context: Context, loop: n.ForStmt | n.ComprehensionClause) -> Expression:
    """Emits the iterable of a loop. Its items are checked unless the types prove that they fit."""
    form = context.facts.forms.loops[loop]
    match form:
        case Form.NATIVE:
            return emit_iterable(context, loop.iterable)
        case Form.PIECES:
            made = emit_parts(context, loop.iterable, "pieces")
        case Form.ITEMS | Form.GROWING:
            made = emit_parts(context, loop.iterable, "items")
        case Form.DRAFTS:
            made = emit_parts(context, loop.iterable, "drafts")
        case Form.ROWS:
            each_row = py.attribute(context.emit(loop.iterable), "iter_rows")
            made = py.call(each_row, named=[("named", py.constant(True))])
        case Form.EACH:
            made = context.operation("each", context.emit(loop.iterable))
        case Form.EACH_OF:
            made = context.operation(
                "each_of", context.emit(loop.iterable), shape(loop.pattern)
            )
        case _:
            assert_never(form)
    return context.note(made, loop.iterable.span)


def shape(pattern: n.Pattern) -> Expression:
    """The number of values that a pattern unpacks, as a constant.

    For a nested pattern, it is a tuple of the same structure, such as `("a", ("b", "c"))`.
    """
    assert isinstance(pattern, n.TuplePattern)
    is_flat = all(isinstance(item, n.NamePattern) for item in pattern.items)
    return py.constant(len(pattern.items)) if is_flat else _mirrored(pattern)


def _mirrored(pattern: n.Pattern) -> Expression:
    """A pattern as a constant, such as `("a", ("b", "c"))`."""
    match pattern:
        case n.NamePattern():
            return py.constant(pattern.name.text)
        case n.TuplePattern():
            return py.tuple_([_mirrored(item) for item in pattern.items])
        case _:
            assert_never(pattern)


def emit_pattern(context: Context, pattern: n.Pattern) -> Expression:
    """Emits the target of a loop or of an unpacking."""
    match pattern:
        case n.NamePattern():
            return py.name(context.name_of(pattern.name))
        case n.TuplePattern():
            return py.tuple_([emit_pattern(context, item) for item in pattern.items])
        case _:
            assert_never(pattern)
