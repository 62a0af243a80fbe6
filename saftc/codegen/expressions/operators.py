"""Emits operators, tests and conditions as plain Python if the types prove Saft's meaning.

a + b       a + b               or  ops.add(a, b)
a == nil    a is None
if x:       if x is not None:   or  if x: (a bool)        or  if ops.truthy(x):
"""

from typing import assert_never

import libcst as cst

from saftc.check.forms import Form, IsTest, KindTest, Test
from saftc.codegen import python as py
from saftc.codegen.annotations import class_of_date, dataframe_class
from saftc.codegen.context import Context
from saftc.codegen.python import Expression
from saftc.syntax import nodes as n
from saftc.types.types import DATES

_OPERATIONS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "mod",
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "in": "is_in",
    "not in": "is_in",
}

# `type(x) == "string"` as a test that Python's type checkers understand.
_CLASSES = {
    "int": "int",
    "string": "str",
    "float": "float",
    "bool": "bool",
    "list": "list",
    "tuple": "tuple",
    "object": "dict",
}
_OPPOSITES = {"==": "!=", "!=": "==", "in": "not in", "not in": "in"}
# Not for floats: NaN is neither less than a number nor not less.
_OPPOSITE_ORDERS = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}


# Arithmetic and comparisons


def emit_unary(context: Context, node: n.Unary) -> Expression:
    """Emits `-x` or `not x`."""
    if node.operator == "not":
        return emit_negated(context, node.operand)
    operand = context.emit(node.operand)
    if context.facts.forms.operators[node] == Form.NATIVE:
        return py.negation(operand)
    return context.operation("neg", operand)


def emit_binary(context: Context, node: n.Binary) -> Expression:
    """Emits `left + right` and other arithmetic."""
    left, right = context.emit(node.left), context.emit(node.right)
    if context.facts.forms.operators[node] != Form.NATIVE:
        return context.operation(_OPERATIONS[node.operator], left, right)
    # If the types of the items differ, type checkers infer more from a sum.
    if node.operator == "+" and context.type_of(node.left) == context.type_of(node.right):
        return _joined(left, right) or py.binary(left, "+", right)
    return py.binary(left, node.operator, right)


def _joined(left: Expression, right: Expression) -> Expression | None:
    """Emits `log + [entry]` as `[*log, entry]`. Returns None if neither operand is a list literal.

    It also returns None if both are list literals and the second one begins with a comment.
    Comments between the items are kept. One item per line stays one item per line.
    """
    match left, right:
        case cst.List(), cst.List() if not _opens_with_comment(right):
            joined = left.with_changes(elements=[*left.elements, *right.elements])
        case cst.List(), cst.List():
            return None
        case cst.List(), _:
            joined = left.with_changes(elements=[*left.elements, py.starred(right)])
        case _, cst.List():
            joined = right.with_changes(elements=[py.starred(left), *right.elements])
        case _:
            return None
    is_spread = any(isinstance(one, cst.List) and py.is_spread(one) for one in (left, right))
    return py.spread(joined) if is_spread and not py.is_spread(joined) else joined


def _opens_with_comment(made: cst.List) -> bool:
    space = made.lbracket.whitespace_after
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return False
    return space.first_line.comment is not None or bool(space.empty_lines)


def emit_comparison(context: Context, node: n.Comparison) -> Expression:
    """Emits `left < right` and other comparisons."""
    return _comparison(context, node, node.operator)


def _comparison(context: Context, node: n.Comparison, operator: str) -> Expression:
    """Emits a comparison with `operator`, which is the operator of the node or its opposite."""
    form = context.facts.forms.operators[node]
    is_negative = operator in ("!=", "not in")
    match form:
        case KindTest() if form.by != "text":
            made = _kind_test(context, form)
            return py.negated(made) if is_negative else made
        case IsTest():
            tested, word = context.emit(form.tested), "is not" if is_negative else "is"
            return py.comparison(tested, word, context.emit(form.constant))
        case Form.NATIVE | KindTest():
            left, right = context.emit(node.left), context.emit(node.right)
            return py.comparison(left, operator, right)
        case Form.OPS:
            left, right = context.emit(node.left), context.emit(node.right)
            made = context.note(context.operation(_OPERATIONS[operator], left, right), node.span)
            return py.negated(made) if operator == "not in" else made
        case _:
            assert_never(form)


def _kind_test(context: Context, test: KindTest) -> Expression:
    """Emits `type(x) == "string"` as `isinstance(x, str)`, and other tests of kinds."""
    value = context.emit(test.tested)
    if test.by == "none":
        return py.comparison(value, "is", py.constant(None))
    if test.by == "exact":
        kind = py.call(context.global_("type"), [value])
        return py.comparison(kind, "is", _class_of_kind(context, test.word))
    return py.call(context.global_("isinstance"), [value, _class_of_kind(context, test.word)])


def _class_of_kind(context: Context, word: str) -> Expression:
    record = context.facts.record_of_kind(word)
    if record is not None:
        return context.type_(record)
    if word in DATES:
        return class_of_date(context, DATES[word])
    return dataframe_class(context) if word == "dataframe" else context.global_(_CLASSES[word])


# Truth


def emit_condition(context: Context, node: n.Expression) -> Expression:
    """An expression that is true in Python exactly when `node` is true in Saft."""
    match node:
        case n.Logical():
            left, right = emit_condition(context, node.left), emit_condition(context, node.right)
            return py.both(left, node.operator, right)
        case n.Unary(operator="not"):
            return emit_negated(context, node.operand)
        case _:
            if context.facts.forms.tests[node] in (Test.BOOL, Test.BOOL_OR_NIL):
                return context.emit(node)
            return emit_truth(context, node)


def emit_truth(context: Context, node: n.Expression) -> Expression:
    """An expression that is `True` if `node` is true in Saft, and `False` otherwise."""
    match node:
        case n.Logical():
            left, right = emit_truth(context, node.left), emit_truth(context, node.right)
            return py.both(left, node.operator, right)
        case n.Unary(operator="not"):
            return emit_negated(context, node.operand)
        case _:
            pass
    value, test = context.emit(node), context.facts.forms.tests[node]
    match test:
        case Test.BOOL:
            return value
        case Test.BOOL_OR_NIL:
            return py.comparison(value, "is", py.constant(True))
        case Test.NOT_NIL:
            return py.comparison(value, "is not", py.constant(None))
        case Test.TRUTHY:
            return context.operation("truthy", value)
        case _:
            assert_never(test)


def emit_negated(context: Context, operand: n.Expression) -> Expression:
    """Emits `not operand`, or the opposite comparison.

    If the operand is a bool or nil, `not` needs no truth test of the operand.
    """
    if isinstance(operand, n.Unary) and operand.operator == "not":
        return emit_truth(context, operand.operand)
    if isinstance(operand, n.Comparison) and operand.operator in _OPPOSITES:
        return context.note(
            _comparison(context, operand, _OPPOSITES[operand.operator]), operand.span
        )
    if context.facts.forms.tests.get(operand) == Test.BOOL_OR_NIL:
        return py.negated(context.emit(operand))
    return py.negated(emit_truth(context, operand))


def emit_failing_condition(context: Context, condition: n.Expression) -> Expression:
    """Emits the condition under which an `assert` fails."""
    match condition:
        case n.Comparison(operator="<" | "<=" | ">" | ">=") if (
            context.choices.has_opposite(condition)
        ):
            return context.note(
                _comparison(context, condition, _OPPOSITE_ORDERS[condition.operator]),
                condition.span,
            )
        case _:
            return emit_negated(context, condition)
