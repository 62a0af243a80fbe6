"""What each name in a Python module or class is bound to, found without running code.

    from lib import Item as Thing       Thing: Imported("lib", "Item")
    class Order: ...                    Order: the ClassDef
    def total() -> int: ...             total: Overloads with one FunctionDef

If a name is bound more than once, its binding is None. But a function with overloads is bound to
all of them, and a property with a setter to its getter. In a stub, conditions on the version of
Python or the system are evaluated for the oldest supported Python and for Linux.
"""

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Imported:
    """A name imported from another module. If `name` is None, the module itself is imported."""

    module: str
    name: str | None


Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Overloads:
    """A function: the definitions of all its overloads, or its only definition."""

    nodes: tuple[Definition, ...]


# The syntax that binds a name.
Place = (
    ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Name | ast.alias | ast.Global
)

Bound = Imported | Overloads | ast.ClassDef | ast.AnnAssign | ast.Assign | None


@dataclass(frozen=True, slots=True)
class Bindings:
    """What the names of a module or a class are bound to.

    `names` maps each name to its binding, which is None if unknown. `places` maps each name to the
    first syntax node that binds it. `stars` are the modules of the star imports.
    """

    names: Mapping[str, Bound]
    places: Mapping[str, Place]
    stars: tuple[str, ...] = ()


# The values that stubs test, for the oldest Python that modules run with.
_ABOUT_PYTHON: dict[str, Any] = {
    "sys.version_info": (3, 11),
    "sys.platform": "linux",
    "sys.implementation.name": "cpython",
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.GtE: operator.ge,
    ast.Gt: operator.gt,
    ast.LtE: operator.le,
    ast.Lt: operator.lt,
}


def bindings_of(
    statements: Sequence[ast.stmt],
    module: str = "",
    *,
    is_package: bool = False,
    is_stub: bool = False,
) -> Bindings:
    """The bindings of the statements of a module, or of a class in it."""
    package = module if is_package else module.rpartition(".")[0]
    plain = list(_plain(statements, _ABOUT_PYTHON if is_stub else {}))
    counts = Counter(name for name, _ in _places(plain))
    places: dict[str, Place] = {}
    for name, place in sorted(_places(statements), key=lambda one: _order(one[1])):
        places.setdefault(name, place)
    names: dict[str, Bound] = dict.fromkeys(places)
    stars: list[str] = []
    for statement in plain:
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
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names[name] = Overloads((statement,))
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                names[name] = statement
            case ast.Assign(targets=[ast.Name(id=name)]):
                names[name] = statement
            case _:
                pass
    overloaded = _overloaded(plain)
    for name, count in counts.items():
        if count > 1:
            found = overloaded.get(name, ())
            is_whole = len(found) in (count, count - 1) or _is_property(found)
            names[name] = Overloads(found) if found and is_whole else None
    return Bindings(names, places, tuple(stars))


def _plain(statements: Iterable[ast.stmt], known: Mapping[str, Any]) -> Iterator[ast.stmt]:
    """Replaces each `if` with a decidable condition by the branch that type checkers see."""
    for statement in statements:
        holds = _holds(statement.test, known) if isinstance(statement, ast.If) else None
        if isinstance(statement, ast.If) and holds is not None:
            yield from _plain(statement.body if holds else statement.orelse, known)
        else:
            yield statement


def _holds(test: ast.expr, known: Mapping[str, Any]) -> bool | None:
    """Whether a condition holds for type checkers; None if `known` does not decide it."""
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case ast.BoolOp(op=op, values=values):
            found = [_holds(one, known) for one in values]
            is_all = isinstance(op, ast.And)
            return None if None in found else all(found) if is_all else any(found)
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant() | ast.Tuple() as right]):
            asked = known.get(ast.unparse(left))
            compare = None if asked is None else _COMPARISONS.get(type(op))
            return None if compare is None else compare(asked, ast.literal_eval(right))
        case _:
            return None


def _overloaded(statements: Iterable[ast.stmt]) -> dict[str, tuple[Definition, ...]]:
    """Maps each overloaded function to its overloads, and each property to its getter."""
    found: dict[str, tuple[Definition, ...]] = {}
    for statement in statements:
        match statement:
            case (ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name)) if _is(
                statement, "overload"
            ):
                found[name] = (*found.get(name, ()), statement)
            case ast.FunctionDef(name=name) if _is(statement, "property"):
                found.setdefault(name, (statement,))
            case _:
                pass
    return found


def _is_property(nodes: Sequence[Definition]) -> bool:
    return len(nodes) == 1 and _is(nodes[0], "property")


def _is(node: Definition, decorator: str) -> bool:
    return any(ast.unparse(one).split(".")[-1] == decorator for one in node.decorator_list)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """The absolute name of the module from which a statement imports."""
    parts = package.split(".") if node.level else []
    parts = parts[: len(parts) - (node.level - 1)] if node.level > 1 else parts
    return ".".join([*parts, *([node.module] if node.module else [])])


def _places(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, Place]]:
    """Yields each name that the statements bind, with the syntax node that binds it."""
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, node
            case ast.alias():
                yield node.asname or node.name.split(".")[0], node
            case ast.Global():
                yield from ((name, node) for name in node.names)
            case ast.Lambda():
                continue
            case _:
                pass
        pending += ast.iter_child_nodes(node)


def _order(place: Place) -> tuple[int, int]:
    return place.lineno, place.col_offset
