"""Operators, tests and conditions: Python's own where the types prove that they do what Saft means.

a + b       a + b               or  ops.add(a, b)
a == nil    a is None
if x:       if x is not None:   or  if x: (a bool)        or  if ops.truthy(x):
"""

from saftc.codegen import python as py
from saftc.codegen.annotations import dataframe_class
from saftc.codegen.context import Context
from saftc.codegen.python import Expression
from saftc.semantics.operators import negate, operate
from saftc.semantics.types import (
    ANY,
    BOOL,
    NIL,
    STRING,
    ListType,
    TupleType,
    Type,
    is_only,
    item_type,
    may_be,
    members,
    union,
    without,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

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


# Arithmetic and comparisons


def emit_unary(context: Context, node: n.Unary) -> Expression:
    """`-x`, `not x`."""
    if node.operator == "not":
        return _negated(context, node.operand)
    operand = context.emit(node.operand)
    if negate(context.type_of(node.operand)).is_proved:
        return py.negation(operand)
    return context.operation("neg", operand)


def emit_binary(context: Context, node: n.Binary) -> Expression:
    """`left + right` and the like."""
    left, right = context.emit(node.left), context.emit(node.right)
    if _is_proved(context, node):
        return py.binary(left, node.operator, right)
    return context.operation(_OPERATIONS[node.operator], left, right)


def emit_comparison(context: Context, node: n.Comparison) -> Expression:
    """`left < right` and the like."""
    match node.operator:
        case "==" | "!=":
            return _equality(context, node)
        case "in" | "not in":
            return _containment(context, node)
        case _:
            pass
    left, right = context.emit(node.left), context.emit(node.right)
    if _is_proved(context, node):
        return py.comparison(left, node.operator, right)
    return context.operation(_OPERATIONS[node.operator], left, right)


def _is_proved(context: Context, node: n.Binary | n.Comparison) -> bool:
    left, right = context.type_of(node.left), context.type_of(node.right)
    return operate(node.operator, left, right).is_proved


def _equality(context: Context, node: n.Comparison) -> Expression:
    is_equal = node.operator == "=="
    kind_test = _kind_test(context, node)
    if kind_test is not None:
        return kind_test if is_equal else py.negated(kind_test)
    left, right = context.emit(node.left), context.emit(node.right)
    for one, other, tested, known in (
        (left, right, node.left, node.right),
        (right, left, node.right, node.left),
    ):
        # Python warns of `is` with a number or a string that is written out.
        if _is_singleton(known) and not _is_written_out(tested):
            return py.comparison(one, "is" if is_equal else "is not", other)
    left_type, right_type = context.type_of(node.left), context.type_of(node.right)
    is_exact = context.facts.equals_as_python(left_type, right_type)
    if is_exact and not _is_singleton(node.left) and not _is_singleton(node.right):
        return py.comparison(left, node.operator, right)
    return context.operation(_OPERATIONS[node.operator], left, right)


def _kind_test(context: Context, node: n.Comparison) -> Expression | None:
    """`type(x) == "string"` as `isinstance(x, str)`."""
    match node:
        case n.Comparison(
            left=n.Call(
                function=n.Name() as function, arguments=(n.Argument(name=None, value=tested),)
            ),
            right=n.Literal(value=str() as word),
        ) if context.facts.names.of(function).kind == "builtin" and function.text == "type":
            pass
        case _:
            return None
    if _is_written_out(tested):
        return None
    value, type_ = context.emit(tested), context.type_of(tested)
    if word == "nil":
        return py.comparison(value, "is", py.constant(None))
    if word == "int" and may_be(type_, BOOL):
        of_value = py.call(context.global_("type"), [value])
        return py.comparison(of_value, "is", context.global_("int"))
    if word in context.facts.records:
        class_ = py.name(context.type_name(word))
    elif word == "dataframe" and type_ != ANY:
        class_ = dataframe_class(context)
    elif word in _CLASSES:
        class_ = context.global_(_CLASSES[word])
    else:
        return None
    return py.call(context.global_("isinstance"), [value, class_])


def _containment(context: Context, node: n.Comparison) -> Expression:
    left, right = context.emit(node.left), context.emit(node.right)
    if is_exact_in(context, context.type_of(node.left), context.type_of(node.right)):
        return py.comparison(left, node.operator, right)
    found = context.operation("is_in", left, right)
    return py.negated(found) if node.operator == "not in" else found


def is_exact_in(context: Context, item: Type, container: Type) -> bool:
    """Whether Python's `in` does what Saft's does."""
    if not operate("in", item, container).is_proved:
        return False
    for owner in members(container):
        items = item_type(owner) if isinstance(owner, ListType | TupleType) else STRING
        if not context.facts.equals_as_python(item, items):
            return False
    return True


def _is_written_out(node: n.Expression) -> bool:
    """Whether Python knows the value of `node`, other than None, True and False, beforehand.

    It warns of `is` beside such a value.
    """
    if _is_singleton(node):
        return False
    unknown = n.Name | n.Call | n.Prompt | n.Comprehension
    return not any(isinstance(inner, unknown) for inner in walk(node))


def _is_singleton(node: n.Expression) -> bool:
    """Whether `node` is `nil`, `true` or `false`, which Python compares with `is`."""
    return isinstance(node, n.Literal) and (node.value is None or isinstance(node.value, bool))


# Truth


def emit_condition(context: Context, node: n.Expression) -> Expression:
    """An expression that Python finds true exactly when Saft does."""
    match node:
        case n.Logical():
            left, right = emit_condition(context, node.left), emit_condition(context, node.right)
            return py.both(left, node.operator, right)
        case n.Unary(operator="not"):
            return _negated(context, node.operand)
        case _:
            if union((context.type_of(node), BOOL, NIL)) == union((BOOL, NIL)):
                return context.emit(node)
            return emit_truth(context, node)


def emit_truth(context: Context, node: n.Expression) -> Expression:
    """An expression that gives `True` or `False` as `node` is true or not in Saft."""
    match node:
        case n.Logical():
            left, right = emit_truth(context, node.left), emit_truth(context, node.right)
            return py.both(left, node.operator, right)
        case n.Unary(operator="not"):
            return _negated(context, node.operand)
        case _:
            pass
    type_ = context.type_of(node)
    value = context.emit(node)
    if is_only(type_, "bool"):
        return value
    if is_only(type_, "bool", "nil"):
        return py.comparison(value, "is", py.constant(True))
    if NIL in members(type_) and not may_be(without(type_, NIL), BOOL) and type_ != NIL:
        return py.comparison(value, "is not", py.constant(None))
    return context.operation("truthy", value)


def _negated(context: Context, operand: n.Expression) -> Expression:
    if is_only(context.type_of(operand), "bool", "nil") and not isinstance(
        operand, n.Logical | n.Unary
    ):
        return py.negated(context.emit(operand))
    return py.negated(emit_truth(context, operand))
