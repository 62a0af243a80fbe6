"""Finds the values that a failed assert compared, for the error message.

    if sq(3) != xs[0]:              the Python of `assert sq(3) == xs[0]`
        raise AssertionError

The values are gone when the error is reported, so the compared expressions are evaluated again in
the frame. An expression is evaluated only if this has no effects: it may have names, members,
items, operators and lengths, but no other calls. So both values of `len(xs) != n` can be found,
but not the value of `sq(3)`.
"""

import ast
from contextlib import suppress
from types import FrameType
from typing import Any, TypeGuard

# The comparison functions of `runtime_support.ops`, as in `ops.lt(a, b)`.
_COMPARING = {"eq", "ne", "lt", "le", "gt", "ge", "is_in"}
# Expressions that can be evaluated again without effects.
_WITHOUT_EFFECTS = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant, ast.BinOp, ast.UnaryOp),
    *(ast.List, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context),
    *(ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop),
)
# The most characters of a value in the message; longer values are truncated.
_LONGEST = 500


def compared(frame: FrameType, text: str) -> str:
    """The values that a failed assert compared, as in `found 3 and 4`.

    `frame` is where the assert failed, and `text` the Python source of the frame's module. Literals
    are left out. The result is empty if one of the values cannot be evaluated again.
    """
    for node in ast.walk(ast.parse(text)):
        if _is_assert(node) and node.lineno <= frame.f_lineno <= (node.end_lineno or node.lineno):
            from runtime_support._values.kinds import literal

            parts = _decisive(node.test, frame, truth=True)
            values = [value for part in parts for value in evaluated_again(part, frame)]
            shown = [_short(literal(value)) for value in values]
            is_known = shown and len(values) == len(parts)
            return f"found {' and '.join(shown)}" if is_known else ""
    return ""


def evaluated_again(node: ast.expr, frame: FrameType) -> list[Any]:
    """The value of an expression in a frame, as a list of one item.

    The list is empty if the evaluation may have effects, or fails.
    """
    if all(isinstance(part, _WITHOUT_EFFECTS) or _is_length(part) for part in ast.walk(node)):
        with suppress(Exception):
            code = compile(ast.Expression(node), "", "eval")
            return [eval(code, frame.f_globals | frame.f_locals)]
    return []


def _is_length(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name("len"), keywords=[]):
            return True
        case _:
            return False


def _is_assert(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether a statement is the Python of an assert."""
    match node:
        case ast.If(
            body=[ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name)))], orelse=[]
        ):
            return name == "AssertionError"
        case _:
            return False


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _decisive(test: ast.expr, frame: FrameType, *, truth: bool) -> list[ast.expr]:
    """The compared expressions, except for literals, that made a condition evaluate to `truth`."""
    match test:
        case ast.BoolOp(op=op, values=parts):
            # One operand decides `or` if it is true, `and` if it is false: the first such one.
            if isinstance(op, ast.And) != truth:
                outcomes = [value for part in parts for value in evaluated_again(part, frame)]
                is_known = len(outcomes) == len(parts)
                parts = [parts[list(map(bool, outcomes)).index(truth)]] if is_known else []
            return [one for part in parts for one in _decisive(part, frame, truth=truth)]
        case ast.UnaryOp(op=ast.Not()):
            return _decisive(test.operand, frame, truth=not truth)
        case ast.Compare():
            found = [test.left, *test.comparators]
        case ast.Call(func=ast.Attribute(value=ast.Name("ops"), attr=name)) if name in _COMPARING:
            found = test.args
        case ast.Call(func=ast.Name("isinstance")):
            found = test.args[:1]
        case _:
            found = []
    return [one for one in found if not isinstance(one, ast.Constant)]
