"""Imports compiled modules without running their statements, to get their declarations.

    class Point(TypedDict): ...                 executed
    Severity = Literal["low", "high"]           executed
    def gap(a: Point, b: Point) -> float:       executed
    data = read_text("data.txt")                left out

The declarations are enough to check a plan. Imports of modules that are not compiled scripts run as
usual. To find the functions that wait for approval, the text is searched for `approve(refund)` and
similar calls.
"""

import ast
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from runtime_support import approve
from runtime_support.programs._registry import Function

# Returns the text of a compiled module by its name; None for other modules.
TextOf = Callable[[str], str | None]


@contextmanager
def declaring(text_of: TextOf) -> Generator[list[Function]]:
    """In the block, imports of compiled modules execute only their declarations.

    The modules are removed from `sys.modules` after the block. `text_of` returns the text of a
    compiled module by its name. Yields a list, to which each import appends the module's functions
    that wait for approval.
    """
    finder = _Compiled(text_of)
    sys.meta_path.insert(0, finder)
    try:
        yield finder.approved
    finally:
        sys.meta_path.remove(finder)
        for name in finder.found:
            sys.modules.pop(name, None)


class _Compiled(MetaPathFinder, Loader):
    """Imports compiled modules. Executes only imports, classes, functions and type aliases."""

    def __init__(self, text_of: TextOf) -> None:
        self.text_of = text_of
        self.found: dict[str, str] = {}
        self.approved: list[Function] = []
        # The functions used as values, and whether `approve` is called with an unknown function.
        self.values: list[Function] = []
        self.is_open = False

    def find_spec(self, fullname: str, *_rest: object) -> ModuleSpec | None:
        text = self.text_of(fullname)
        if text is None:
            return None
        self.found[fullname] = text
        return ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        written = ast.parse(self.found[module.__name__])
        loaded = list(_loaded(written))
        declared = _Declared().visit(written)
        # Other names that are imported from this module are values, which no declaration needs.
        vars(module)["__getattr__"] = _nothing
        code = compile(ast.fix_missing_locations(declared), module.__name__, "exec")
        exec(code, vars(module))
        self._note_approved(loaded, vars(module))

    def _note_approved(
        self, loaded: Sequence[tuple[ast.expr, ast.Call | None]], names: Mapping[str, object]
    ) -> None:
        """Records the functions that are passed to `approve`.

        If an argument is not the name of a function, it could be any function that the modules use
        as a value, so all of these functions are recorded.
        """
        for node, call in loaded:
            meant = _named(node, names)
            if meant is approve:
                found = [_named(one, names) for one in call.args] if call is not None else [None]
                self.is_open = self.is_open or not all(map(callable, found))
                self.approved += [one for one in found if callable(one)]
            elif call is None and callable(meant) and not isinstance(meant, type):
                self.values.append(meant)
        if self.is_open:
            self.approved += self.values


def _loaded(module: ast.Module) -> Iterator[tuple[ast.expr, ast.Call | None]]:
    """The names and attributes that a module reads.

    Each comes with the call in which it is called, or with None if it is not called.
    """
    called = {node.func: node for node in ast.walk(module) if isinstance(node, ast.Call)}
    for node in ast.walk(module):
        if isinstance(node, ast.Name | ast.Attribute):
            yield node, called.get(node)


def _named(node: ast.expr, names: Mapping[str, object]) -> object:
    """The object that a name or a module's attribute refers to. None for other expressions."""
    match node:
        case ast.Name(name):
            return names.get(name)
        case ast.Attribute(value, name):
            owner = _named(value, names)
            return getattr(owner, name, None) if isinstance(owner, ModuleType) else None
        case _:
            return None


def _nothing(name: str) -> None:
    if name.startswith("__"):
        raise AttributeError(name)


class _Declared(ast.NodeTransformer):
    """Reduces a compiled module to declarations.

    Defaults that are no literals are replaced by a placeholder. The methods of classes are removed,
    because they only check the rules of records.
    """

    def __init__(self) -> None:
        self.types = {"bool", "dict", "float", "int", "list", "str", "tuple"}

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node.body = [self.visit(one) for one in node.body if self._declares(one)]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        kept = [one for one in node.body if not isinstance(one, ast.FunctionDef)]
        node.body = [self.visit(one) for one in kept] or [ast.Pass()]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.value = None if node.value is None else _undeclared(node.value)
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        node.defaults = list(map(_undeclared, node.defaults))
        return node

    def _declares(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                self.types.update(one.asname or one.name for one in names)
            case ast.ClassDef(name=name):
                self.types.add(name)
            case ast.Assign(targets=[ast.Name(name)], value=value) if self._is_type(value):
                self.types.add(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case _:
                return False
        return True

    def _is_type(self, node: ast.expr) -> bool:
        """Whether an assigned value is the compiled right side of a script's `type` statement."""
        match node:
            case ast.Name(name) | ast.Attribute(value=ast.Name(name)):
                return name in self.types
            case ast.Subscript(value=value) | ast.BinOp(left=value, op=ast.BitOr()):
                return self._is_type(value)
            case ast.Call(func=ast.Name("TypedDict")):
                return True
            case _:
                return False


def _undeclared(default: ast.expr) -> ast.expr:
    """The default if it is a literal, else a placeholder."""
    try:
        ast.literal_eval(default)
    except ValueError:
        return ast.Constant(...)
    return default
