"""Python's functions: what a call gives, by the ways there are to call it."""

import ast
from collections.abc import Sequence

from saftc.project.python.annotations import Scope, admits, read, solve
from saftc.semantics.foreign import Function, Signature, Value
from saftc.semantics.types import Type


def function_of(
    nodes: Sequence[ast.FunctionDef], scope: Scope, *, is_bound: bool = False
) -> Function:
    """A function by its overloads; one that is bound has its first argument already."""
    return Function(tuple(_signature(node, scope, is_bound) for node in nodes))


def _signature(node: ast.FunctionDef, scope: Scope, is_bound: bool) -> Signature:
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
        """The parameters that arguments are for; None where they do not fit."""
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
        return read(node.returns, scope, variables)

    return Signature(takes, gives)
