"""What the functions of a Python module give, by their annotations; nothing of it is run.

    def total(rows: list[int]) -> int: ...      {"total": INT}

They are believed, as Python's type checkers believe them. What says nothing that Saft has a type
for is any value, and so is what a decorator has changed, or a name that is bound more than once.
Where Python's checkers take a float, they take an int as well, so `float` is either.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from saftc.semantics.types import (
    ANY,
    BOOL,
    INT,
    NIL,
    NUMBER,
    STRING,
    ListType,
    TupleType,
    Type,
    literal_type,
    union,
)

_PLAIN: dict[str, Type] = {
    "bool": BOOL,
    "float": NUMBER,
    "int": INT,
    "list": ListType(ANY),
    "str": STRING,
}
_FORMS = ("List", "Literal", "Optional", "Tuple", "Union")


def returns_of(text: bytes) -> Mapping[str, Type]:
    """The types of what the functions of a module give, by name; none if it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    bound = Counter(_bound(tree.body))
    reader = _Reader(bound, tree.body)
    found = {
        node.name: reader.type_of(node.returns)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and not node.decorator_list
        and node.returns is not None
        and bound[node.name] == 1
    }
    return {name: type_ for name, type_ in found.items() if type_ != ANY}


def _bound(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that a module binds, each as often as it does."""
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


class _Reader:
    """Reads annotations in a module that binds the names `bound`."""

    def __init__(self, bound: Mapping[str, int], statements: Sequence[ast.stmt]) -> None:
        self.bound = bound
        # What a name of the module is in `typing`, and the names of `typing` itself.
        self.forms: dict[str, str] = {}
        self.typing: set[str] = set()
        for statement in statements:
            match statement:
                case ast.ImportFrom(module="typing", names=names):
                    self.forms |= {one.asname or one.name: one.name for one in names}
                case ast.Import(names=names):
                    self.typing |= {one.asname or one.name for one in names if one.name == "typing"}
                case _:
                    pass

    def type_of(self, node: ast.expr) -> Type:
        """The type that an annotation says; `ANY` where that is unknown."""
        match node:
            case ast.Constant(value=None):
                return NIL
            case ast.Constant(value=str() as text):
                return self._quoted(text)
            case ast.Name(id=name):
                known = _PLAIN.get(name)
                return ANY if known is None or self.bound.get(name) else known
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return union((self.type_of(left), self.type_of(right)))
            case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)):
                return self._generic(value, parts)
            case ast.Subscript(value=value, slice=part):
                return self._generic(value, [part])
            case _:
                return ANY

    def _quoted(self, text: str) -> Type:
        try:
            return self.type_of(ast.parse(text.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError):
            return ANY

    def _generic(self, value: ast.expr, parts: Sequence[ast.expr]) -> Type:
        match self._form(value), parts:
            case "list" | "List", [item]:
                return ListType(self.type_of(item))
            case "tuple" | "Tuple", [*items] if not any(map(_is_ellipsis, items)):
                return TupleType(tuple(map(self.type_of, items)))
            case "Optional", [item]:
                return union((self.type_of(item), NIL))
            case "Union", [*items]:
                return union(map(self.type_of, items))
            case "Literal", [*items]:
                return union(map(_literal, items))
            case _:
                return ANY

    def _form(self, value: ast.expr) -> str | None:
        match value:
            case ast.Name(id="list" | "tuple" as name) if not self.bound.get(name):
                return name
            case ast.Name(id=name) if self.forms.get(name) in _FORMS and self.bound[name] == 1:
                return self.forms[name]
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                return name if module in self.typing and self.bound[module] == 1 else None
            case _:
                return None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _literal(node: ast.expr) -> Type:
    match node:
        case ast.Constant(value=None | bool() | int() | str() as value):
            return literal_type(value)
        case _:
            return ANY
