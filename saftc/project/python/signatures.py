"""Signatures of Python functions: for each overload, the arguments that it takes and its result."""

import ast
from collections.abc import Sequence

from saftc.project.python.annotations import Scope, admits, read, solve
from saftc.project.python.bindings import Definition
from saftc.types.foreign import UNKNOWN, Declared, Function, Signature, Value, Waiting
from saftc.types.types import Type


def function_of(
    nodes: Sequence[Definition], scope: Scope, *, is_bound: bool = False
) -> Function:
    """The declaration of a function with these overloads.

    With `is_bound`, the first parameter is left out, as a bound method already has its argument. If
    the function returns an awaitable, the declared result type is that of the awaited value.
    """
    waits: set[Waiting] = {_waits(node, scope) for node in nodes}
    signatures = tuple(_signature(node, scope, is_bound) for node in nodes)
    return Function(signatures, waits.pop() if len(waits) == 1 else "perhaps")


def decorated(nodes: Sequence[Definition]) -> Declared:
    """The declaration of a function whose decorators make its signature unknown.

    An `async def` may still return an awaitable.
    """
    is_async = any(_is_coroutine(node) for node in nodes)
    return Function((), "perhaps") if is_async else UNKNOWN


def _waits(node: Definition, scope: Scope) -> Waiting:
    return "yes" if _is_coroutine(node) or _awaitable(node.returns, scope) is not None else "no"


def _is_coroutine(node: Definition) -> bool:
    """Whether the function is an `async def` and not a generator."""
    if isinstance(node, ast.FunctionDef):
        return False
    pending: list[ast.AST] = [*node.body]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Yield):
            return False
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            pending += ast.iter_child_nodes(part)
    return True


def _awaitable(annotation: ast.expr | None, scope: Scope) -> ast.expr | None:
    """The result type in an annotation of an awaitable; None for other annotations."""
    match annotation:
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[*_, given])) if (
            scope(value) == "typing.Coroutine"
        ):
            return given
        case ast.Subscript(value=value, slice=given) if scope(value) == "typing.Awaitable":
            return given
        case _:
            return None


def _signature(node: Definition, scope: Scope, is_bound: bool) -> Signature:
    arguments = node.args
    in_order = [*arguments.posonlyargs, *arguments.args]
    needed = len(in_order) - len(arguments.defaults)
    if is_bound:
        in_order, needed = in_order[1:], needed - 1
    by_name = {one.arg: one for one in (*in_order, *arguments.kwonlyargs)}
    for one in arguments.posonlyargs:
        by_name.pop(one.arg, None)
    must_be_named = {
        one.arg
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    }

    def meant(given: tuple[Type, ...], named: dict[str, Type]) -> list[tuple[ast.arg, Type]] | None:
        """Pairs each argument's type with its parameter; None if the arguments do not fit."""
        count = len(given)
        if count > len(in_order) and arguments.vararg is None:
            return None
        if not arguments.kwarg and not named.keys() <= by_name.keys():
            return None
        missing = {one.arg for one in in_order[count:needed]} | must_be_named
        if not missing <= named.keys():
            return None
        pairs = list(zip(in_order, given, strict=False))
        if arguments.vararg is not None:
            pairs += [(arguments.vararg, type_) for type_ in given[len(in_order) :]]
        return pairs + [(by_name[name], type_) for name, type_ in named.items() if name in by_name]

    def takes(given: tuple[Type, ...], named: dict[str, Type]) -> bool:
        pairs = meant(given, named)
        return pairs is not None and all(
            admits(one.annotation, scope, type_) for one, type_ in pairs
        )

    def gives(given: tuple[Type, ...], named: dict[str, Type]) -> Value:
        variables: dict[str, Type] = {}
        for one, type_ in meant(given, named) or ():
            solve(one.annotation, scope, type_, variables)
        return read(_awaitable(node.returns, scope) or node.returns, scope, variables)

    return Signature(takes, gives)
