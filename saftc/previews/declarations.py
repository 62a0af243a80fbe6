"""What a compiled module declares: its types, and its functions without their bodies.

    class Point(TypedDict): ...                 the class
    Severity = Literal["low", "high"]           the type
    def gap(a: Point, b: Point) -> float:       a function of this signature and docstring
    data = read_text("data.txt")                nothing

Nothing of the script runs, whatever the text: what is more than a declaration is left out, a
default that is no literal is left open, and of other modules only those are imported that the text
needs for its types.
"""

import ast
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

# Gives a module that the module imports, if it is to be known: a sibling's declarations, say.
FindModule = Callable[[str], ModuleType | None]

# Modules of declarations are called so, with the name of the module behind it.
PREFIX = "declarations of "

# Where the names in annotations come from.
_FOR_TYPES = {"dataclasses", "polars", "runtime_support", "typing"}
_TYPES = {"bool", "dict", "float", "int", "list", "str", "tuple"}
_OPEN = ast.Constant(...)


class Unread:
    """Stands for a Python module that is not imported, and for all that it has: any value."""

    # What the runtime takes such a type for.
    __value__ = Any

    def __getattr__(self, name: str) -> "Unread":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __or__(self, other: object) -> Any:
        return Any

    __ror__ = __or__

    def __call__(self) -> None:
        """Annotations that are text have to name what can be called."""


@dataclass(frozen=True, slots=True)
class Declarations:
    """The declarations of one module; `functions` are all of them, by the line of their `def`."""

    module: ModuleType
    functions: dict[int, FunctionType]

    def evaluated(self, code: str) -> Any:
        """The value of an expression that is made of what the module declares.

        Raises ValueError when it is made of more: of a call, say.
        """
        tree = ast.parse(code, mode="eval")
        if not _only_declares(tree):
            raise ValueError(f"{code} is more than a declaration")
        return eval(compile(tree, "<declarations>", "eval"), self.module.__dict__)

    def unread(self, code: str) -> list[str]:
        """What an expression names of modules that are not imported."""
        known = self.module.__dict__
        return [
            ast.unparse(node)
            for node in ast.walk(ast.parse(code, mode="eval"))
            if isinstance(node, ast.Name) and isinstance(known.get(node.id), Unread)
        ]


def nothing(_name: str) -> None:
    """Finds no module."""
    return


def imported_beside(folder: Path) -> FindModule:
    """Finds Python modules by importing them, from `folder` first as a script there would."""
    sys.path.insert(0, str(folder.absolute()))
    return import_module


def declarations_of(text: str, name: str, find: FindModule = nothing) -> Declarations:
    """The declarations of the compiled module `name`; what it imports, `find` gives."""
    module = ModuleType(PREFIX + name)
    # The names in annotations are looked for in the module that a class says it is from.
    sys.modules[module.__name__] = module
    tree = ast.parse(text)
    reader = _Reader(module, find)
    for statement in tree.body:
        reader.declare(statement)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.lineno not in reader.functions:
            reader.function(node, {})
    return Declarations(module, reader.functions)


class _Reader:
    def __init__(self, module: ModuleType, find: FindModule) -> None:
        self.names = module.__dict__
        self.find = find
        self.types = set(_TYPES)
        self.functions: dict[int, FunctionType] = {}

    def declare(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import(names=names):
                self.imports(names)
            case ast.ImportFrom(module=str() as module, names=names):
                if module in _FOR_TYPES:
                    self.run(statement)
                    self.types.update(alias.asname or alias.name for alias in names)
                elif (imported := self.find(module)) is not None:
                    self.take_over(imported, names)
                else:
                    self.names |= {alias.asname or alias.name: Unread() for alias in names}
            case ast.ClassDef(name=name):
                for line in statement.body:
                    if isinstance(line, ast.AnnAssign) and line.value is not None:
                        line.value = _without_code(line.value)
                # Rules are for values, of which there are none here.
                kept = [line for line in statement.body if not isinstance(line, ast.FunctionDef)]
                statement.body = kept or [ast.Pass()]
                self.run(statement)
                self.types.add(name)
            case ast.Assign(targets=[ast.Name(name)], value=value) if self.is_type(value):
                self.run(statement)
                self.types.add(name)
            case ast.FunctionDef(name=name):
                self.function(statement, self.names)
            case _:
                pass

    def imports(self, names: Iterable[ast.alias]) -> None:
        for alias in names:
            if alias.name in _FOR_TYPES:
                self.run(ast.Import([alias]))
                continue
            imported = self.find(alias.name)
            first, _, rest = alias.name.partition(".")
            if rest and alias.asname is None:
                imported = sys.modules.get(first)
            self.names[alias.asname or first] = Unread() if imported is None else imported

    def take_over(self, module: ModuleType, names: Iterable[ast.alias]) -> None:
        for alias in names:
            if hasattr(module, alias.name):
                self.names[alias.asname or alias.name] = getattr(module, alias.name)
                self.types.add(alias.asname or alias.name)

    def is_type(self, node: ast.expr) -> bool:
        """Whether an assigned value is the right side of a `type` statement of the script."""
        match node:
            case ast.Name(name):
                return name in self.types
            case ast.Attribute():
                return isinstance(self.part_of_module(node), type | Unread)
            case ast.Subscript(value=ast.Name(name)):
                return name in self.types
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                is_nil = isinstance(right, ast.Constant) and right.value is None
                return self.is_type(left) and (is_nil or self.is_type(right))
            case ast.Call(func=ast.Name("TypedDict")):
                return "TypedDict" in self.types
            case _:
                return False

    def part_of_module(self, node: ast.expr) -> object:
        """What a name with its module before it means; None when it is no such."""
        match node:
            case ast.Name(name):
                found = self.names.get(name)
                return found if isinstance(found, ModuleType | Unread) else None
            case ast.Attribute(value=value, attr=name):
                return getattr(self.part_of_module(value), name, None)
            case _:
                return None

    def function(self, node: ast.FunctionDef, into: dict[str, Any]) -> None:
        """The function without its body."""
        doc = node.body[:1] if ast.get_docstring(node) is not None else []
        arguments = node.args
        arguments.defaults = [_without_code(default) for default in arguments.defaults]
        stub = ast.FunctionDef(
            name=node.name,
            args=arguments,
            body=doc or [ast.Pass()],
            decorator_list=[],
            returns=node.returns,
        )
        defined: dict[str, Any] = {}
        self.run(ast.copy_location(stub, node), defined)
        if node.name in defined:
            self.functions[node.lineno] = into[node.name] = defined[node.name]

    def run(self, statement: ast.stmt, into: dict[str, Any] | None = None) -> None:
        if _only_declares(statement):
            tree = ast.fix_missing_locations(ast.Module([statement], []))
            exec(compile(tree, "<declarations>", "exec"), self.names, into)


# What a declaration is made of; of calls, those by which types and fields are made.
_INERT = (
    *(ast.AnnAssign, ast.Assign, ast.ClassDef, ast.Expr, ast.FunctionDef, ast.Pass),
    *(ast.Import, ast.ImportFrom, ast.alias, ast.arguments, ast.arg, ast.keyword, ast.Lambda),
    *(ast.Attribute, ast.Constant, ast.Dict, ast.List, ast.Name, ast.Subscript, ast.Tuple),
    *(ast.BinOp, ast.BitOr, ast.UnaryOp, ast.USub, ast.Load, ast.Store, ast.Expression),
)
_MAKERS = {"TypedDict", "dataclass", "field"}


def _only_declares(node: ast.AST) -> bool:
    """Whether nothing of a script could run with `node`, however it came into the text."""
    match node:
        case ast.Call(func=ast.Name(name)):
            is_inert = name in _MAKERS
        case ast.Lambda():
            return True
        case _:
            is_inert = isinstance(node, _INERT)
    return is_inert and all(map(_only_declares, ast.iter_child_nodes(node)))


def _without_code(default: ast.expr) -> ast.expr:
    """A default if it is a literal, or a factory that is called later; else an open one."""
    if isinstance(default, ast.Call) and isinstance(default.func, ast.Name):
        return default if default.func.id == "field" else _OPEN
    try:
        ast.literal_eval(default)
    except ValueError:
        return _OPEN
    return default
