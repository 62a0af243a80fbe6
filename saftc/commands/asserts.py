"""Asserts of a module that is run here: they keep what they compare, for the case that they fail.

    if sq(3) != xs[0]:
        raise AssertionError

runs with `if (kept_1 := sq(3)) != (kept_2 := xs[0]):`. So everything is evaluated once, as in the
module that `saftc build` writes, and when an assert fails, what it found is in its frame.
"""

import ast
from types import CodeType, FrameType
from typing import Literal, TypeGuard

# Comparisons that the runtime makes: `ops.lt(a, b)`.
_COMPARING = {"eq", "ne", "lt", "le", "gt", "ge", "is_in"}

# What is in the text of every module that has asserts.
RAISES = "raise AssertionError"
# Of a longer value the beginning is shown.
_LONGEST = 500


def compile_module(text: str, filename: str) -> CodeType:
    """The code of a module whose asserts keep what they compare."""
    if RAISES not in text:
        return compile(text, filename, "exec")
    tree = ast.parse(text, filename)
    for statement in ast.walk(tree):
        if _is_assert(statement):
            statement.test = _keeping(statement.test)
    return compile(tree, filename, "exec")


def _is_assert(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether a statement is what an assert becomes."""
    match node:
        case ast.If(
            body=[ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name)))], orelse=[]
        ):
            return name == "AssertionError"
        case _:
            return False


def compared(frame: FrameType, text: str) -> str:
    """`found 3 and 4`: the values that the failed assert of a frame of the module `text` compared.

    Those that are written out are left out, and the text is empty when nothing was compared.
    """
    for node in ast.walk(ast.parse(text)):
        if _is_assert(node) and node.lineno <= frame.f_lineno <= (node.end_lineno or node.lineno):
            from runtime_support._values import literal

            kept = frame.f_locals
            names = _decisive(node.test, frame, truth=True)
            shown = [_short(literal(kept[name])) for name in names if name in kept]
            return f"found {' and '.join(shown)}" if shown else ""
    return ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _keeping(test: ast.expr) -> ast.expr:
    """A condition that keeps what it compares, and of several conditions what each came to."""
    match test:
        case ast.BoolOp():
            test.values = [_kept(_keeping(value), "truth") for value in test.values]
        case ast.UnaryOp(op=ast.Not()):
            test.operand = _keeping(test.operand)
        case ast.Compare():
            test.left, *test.comparators = map(_kept, (test.left, *test.comparators))
        case ast.Call() if operands := _operands(test):
            test.args[: len(operands)] = map(_kept, operands)
        case _:
            pass
    return test


def _decisive(test: ast.expr, frame: FrameType, *, truth: bool) -> list[str]:
    """The names of the values that made a condition come to `truth`."""
    match test:
        case ast.BoolOp():
            is_all = isinstance(test.op, ast.And) == truth
            parts = [part for part in test.values if is_all or _came_to(part, frame) == truth]
            parts = parts if is_all else parts[:1]
            return [name for part in parts for name in _decisive(part, frame, truth=truth)]
        case ast.UnaryOp(op=ast.Not()):
            return _decisive(test.operand, frame, truth=not truth)
        case _:
            return [_name(one) for one in _operands(test) if not isinstance(one, ast.Constant)]


def _operands(test: ast.expr) -> list[ast.expr]:
    """What a comparison compares."""
    match test:
        case ast.Compare():
            return [test.left, *test.comparators]
        case ast.Call(func=ast.Attribute(value=ast.Name("ops"), attr=name)) if name in _COMPARING:
            return test.args
        case ast.Call(func=ast.Name("isinstance")):
            return test.args[:1]
        case _:
            return []


def _kept(node: ast.expr, what: Literal["value", "truth"] = "value") -> ast.expr:
    """An expression that also binds its value to a name, unless it is written out."""
    if isinstance(node, ast.Constant):
        return node
    target = ast.Name(_name(node, what), ast.Store())
    kept = ast.NamedExpr(ast.copy_location(target, node), node)
    return ast.copy_location(kept, node)


def _came_to(part: ast.expr, frame: FrameType) -> bool:
    """What one of several conditions came to, in order until the first that decided."""
    return bool(frame.f_locals.get(_name(part, "truth")))


def _name(node: ast.expr, what: Literal["value", "truth"] = "value") -> str:
    """The name for the value of a part of an assert: no script has such a one."""
    return f"__saft_{what}_{node.lineno}_{node.col_offset}_{node.end_col_offset}"
