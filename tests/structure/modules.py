"""What the modules of both packages consist of: one parse and one walk of each file."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("runtime_support", "saftc")

_HAS_DOCSTRING = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# Functions that import a part of the runtime by its name.
_LOADERS = {"load_part", "loaded_part", "want"}
_REGISTRY = "runtime_support._core.hooks"
MOST_KINDS = 5


@dataclass
class Module:
    """A module of the product, and what the tests of the structure ask about it."""

    name: str
    file: Path
    lines: int
    statements: int = 0
    # What it imports, `a.b` for `from a import b`, and what it reads of that, as `os._exit`.
    imports: set[str] = field(default_factory=set[str])
    reads: set[str] = field(default_factory=set[str])
    # What only checkers import.
    for_checkers: set[str] = field(default_factory=set[str])
    # What it may import by name: parts of the runtime, and modules of its own package.
    parts: set[str] = field(default_factory=set[str])
    texts: set[str] = field(default_factory=set[str])
    classes: set[str] = field(default_factory=set[str])
    functions: dict[str, int] = field(default_factory=dict[str, int])
    # The public classes and functions, and whether each has a docstring.
    public: dict[str, bool] = field(default_factory=dict[str, bool])
    splits_lines: int = 0
    # Tuples, sets and unions of more kinds of nodes than `MOST_KINDS`.
    lists_of_kinds: int = 0

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]


@cache
def modules() -> dict[str, Module]:
    files = (
        file
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py*"))
        if file.suffix in (".py", ".pyi")
    )
    found = [read_module(file, file.read_text(encoding="utf-8")) for file in files]
    return {module.name: module for module in found}


@cache
def registry() -> dict[str, str]:
    """The module of each part that is loaded by its name."""
    for node in ast.parse(modules()[_REGISTRY].file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if [ast.unparse(target) for target in targets] == ["PARTS"]:
                named: dict[str, str] = ast.literal_eval(node.value)
                return {name: f"runtime_support.{home}" for name, home in named.items()}
    raise LookupError(f"{_REGISTRY} has no PARTS")


def imported(module: Module) -> set[str]:
    """The modules of both packages that a module imports, also by name."""
    found = modules_of(module.imports | module.for_checkers) | module.texts & modules().keys()
    if module.name != _REGISTRY:
        found |= loaded_parts(module)
    return found - {module.name}


def loaded_parts(module: Module) -> set[str]:
    """The parts of the runtime that a module loads by the registry, when it needs them."""
    return {registry()[name] for name in module.parts & registry().keys()}


def modules_of(names: set[str]) -> set[str]:
    """The modules of both packages among imported names, each itself or where it is defined."""
    known = modules().keys()
    return {name if name in known else name.rpartition(".")[0] for name in names} & known


def private_of_dependencies(module: Module) -> set[str]:
    """The underscored names of packages of others that a module uses."""
    return {
        name
        for name in module.imports | module.for_checkers | module.reads
        if (top := name.partition(".")[0]) not in PACKAGES
        and top not in sys.stdlib_module_names
        and any(part.startswith("_") and not part.endswith("__") for part in name.split("."))
    }


def read_module(file: Path, text: str) -> Module:
    """What a text would be as the module of a file."""
    name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    name += ".pyi" if file.suffix == ".pyi" else ""
    module = Module(name, file, text.count("\n"))
    tree = ast.parse(text)
    aliases: dict[str, str] = {}
    for_checkers: set[ast.AST] = set()
    for inside, node in _walk(tree, ""):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for_checkers.update(inner for one in node.body for inner in ast.walk(one))
        if isinstance(node, ast.stmt):
            module.statements += 1
        if isinstance(node, _HAS_DOCSTRING):
            has_docstring = ast.get_docstring(node, clean=False) is not None
            module.statements -= has_docstring
            if not isinstance(node, ast.Module):
                _note_definition(module, inside, node, has_docstring)
        _note_use(module, node, aliases, node in for_checkers)
    module.lists_of_kinds = sum(_lists_of_kinds(tree, aliases))
    return module


def _walk(node: ast.AST, inside: str) -> Iterator[tuple[str, ast.AST]]:
    """All nodes with the names of what they are in, in the order of the text."""
    yield inside, node
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        between = "." if isinstance(node, ast.ClassDef) else ".<locals>."
        inside = f"{inside}{node.name}{between}"
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, inside)


def _note_definition(
    module: Module,
    inside: str,
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
    has_docstring: bool,
) -> None:
    name = inside + node.name
    if isinstance(node, ast.ClassDef):
        module.classes.add(name)
    else:
        # Without its docstring: what is said about a function does not make it longer.
        first = node.body[0]
        said = (first.end_lineno or first.lineno) - first.lineno + 1 if has_docstring else 0
        module.functions[name] = (node.end_lineno or node.lineno) - node.lineno + 1 - said
    if not re.search(r"(^|\.)_|<locals>", name):
        module.public[name] = has_docstring


def _note_use(
    module: Module, node: ast.AST, aliases: dict[str, str], is_for_checkers: bool
) -> None:
    imports = module.for_checkers if is_for_checkers else module.imports
    match node:
        case ast.Import():
            for alias in node.names:
                imports.add(alias.name)
                top = alias.name.partition(".")[0]
                aliases[alias.asname or top] = alias.name if alias.asname else top
        case ast.ImportFrom(module=str() as home, level=0):
            for alias in node.names:
                imports.add(f"{home}.{alias.name}")
                aliases[alias.asname or alias.name] = f"{home}.{alias.name}"
        case ast.ImportFrom():
            raise AssertionError(f"{module.file}: a relative import")
        case ast.Attribute() if read := _read(node, aliases):
            module.reads.add(read)
        case ast.Call(func=called, args=[ast.Constant(value=str() as part)]):
            match called:
                case ast.Name(id=name) | ast.Attribute(attr=name) if name in _LOADERS:
                    module.parts.add(part)
                case _:
                    pass
        case ast.Constant(value=str() as text) if text.startswith(f"{module.package}."):
            module.texts.add(text)
        case _:
            pass
    if isinstance(node, ast.Attribute) and node.attr == "splitlines":
        module.splits_lines += 1


def _lists_of_kinds(node: ast.AST, aliases: dict[str, str]) -> Iterator[bool]:
    """Yields for each tuple, set or union whether it has too many kinds of nodes."""
    listed = [*_elements(node)] if isinstance(node, ast.expr) else [node]
    read = [_read(one, aliases) for one in listed if isinstance(one, ast.expr)]
    yield sum(one.startswith("saftc.syntax.nodes.") for one in read) > MOST_KINDS
    for child in (child for one in listed for child in ast.iter_child_nodes(one)):
        yield from _lists_of_kinds(child, aliases)


def _elements(node: ast.expr) -> Iterator[ast.expr]:
    """What a tuple, a set or a union has, with what those in it have."""
    match node:
        case ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.List(elts=parts):
            pass
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.Starred(value=value):
            parts = [value]
        case _:
            yield node
            return
    for part in parts:
        yield from _elements(part)


def _read(node: ast.expr, aliases: dict[str, str]) -> str:
    """What is read of an imported name, in full: `os.path.join`; empty for anything else."""
    match node:
        case ast.Name(id=name):
            return aliases.get(name, "")
        case ast.Attribute(value=value, attr=attribute) if above := _read(value, aliases):
            return f"{above}.{attribute}"
        case _:
            return ""
