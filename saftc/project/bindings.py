"""What the names of a Python module, or of a class in it, are bound to; nothing of it is run.

    from lib import Item as Thing       Thing: Imported("lib", "Item")
    class Order: ...                    Order: the ClassDef
    def total() -> int: ...             total: the FunctionDef

A name that is bound more than once is bound to nothing that can be told; but for a function with
overloads, which is all of these.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Imported:
    """A name of another module, or with None the module itself."""

    module: str
    name: str | None


@dataclass(frozen=True, slots=True)
class Overloads:
    """A function: each way to call it."""

    nodes: tuple[ast.FunctionDef, ...]


Bound = Imported | Overloads | ast.ClassDef | ast.AnnAssign | ast.Assign | None


@dataclass(frozen=True, slots=True)
class Bindings:
    """By name what it is bound to, None where that cannot be told, and the modules of which all
    names are taken in."""

    names: Mapping[str, Bound]
    stars: tuple[str, ...] = ()


def bindings_of(
    statements: Sequence[ast.stmt], module: str = "", *, is_package: bool = False
) -> Bindings:
    """What the statements of a module, or those of a class in it, bind."""
    package = module if is_package else module.rpartition(".")[0]
    counts = Counter(_names_bound(statements))
    names: dict[str, Bound] = dict.fromkeys(counts)
    stars: list[str] = []
    for statement in _plain(statements):
        match statement:
            case ast.ImportFrom(names=imported):
                origin = _absolute(statement, package)
                for one in imported:
                    if one.name == "*":
                        stars.append(origin)
                    else:
                        names[one.asname or one.name] = Imported(origin, one.name)
            case ast.Import(names=imported):
                for one in imported:
                    whole = one.name if one.asname else one.name.split(".")[0]
                    names[one.asname or whole] = Imported(whole, None)
            case ast.FunctionDef(name=name):
                names[name] = Overloads((statement,))
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                names[name] = statement
            case ast.Assign(targets=[ast.Name(id=name)]):
                names[name] = statement
            case _:
                pass
    overloaded = _overloaded(statements)
    for name, count in counts.items():
        if count > 1:
            found = overloaded.get(name, ())
            is_whole = len(found) in (count, count - 1) or _is_property(found)
            names[name] = Overloads(found) if found and is_whole else None
    return Bindings(names, tuple(stars))


def _plain(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, with those that only type checkers see."""
    for statement in statements:
        match statement:
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                yield from statement.body
            case _:
                yield statement


def _overloaded(statements: Iterable[ast.stmt]) -> dict[str, tuple[ast.FunctionDef, ...]]:
    """The functions that have overloads with these, and properties before their setters."""
    found: dict[str, tuple[ast.FunctionDef, ...]] = {}
    for statement in statements:
        match statement:
            case ast.FunctionDef(name=name) if _is(statement, "overload"):
                found[name] = (*found.get(name, ()), statement)
            case ast.FunctionDef(name=name) if _is(statement, "property"):
                found.setdefault(name, (statement,))
            case _:
                pass
    return found


def _is_property(nodes: Sequence[ast.FunctionDef]) -> bool:
    return len(nodes) == 1 and _is(nodes[0], "property")


def _is(node: ast.FunctionDef, decorator: str) -> bool:
    return any(ast.unparse(one).split(".")[-1] == decorator for one in node.decorator_list)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """The whole name of the module that is imported from."""
    parts = package.split(".") if node.level else []
    parts = parts[: len(parts) - (node.level - 1)] if node.level > 1 else parts
    return ".".join([*parts, *([node.module] if node.module else [])])


def _names_bound(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that statements bind, each as often as they do."""
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.alias():
                yield node.asname or node.name.split(".")[0]
            case ast.Global():
                yield from node.names
            case ast.Lambda():
                continue
            case _:
                pass
        pending += ast.iter_child_nodes(node)
