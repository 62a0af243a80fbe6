"""Where the names of Python modules are written, and what stands there. Nothing is imported."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from saftc.project.finder import python_file
from saftc.source import Source, Span

# So often a name is followed from a module to the one that it is imported from.
_MOST_MODULES = 20


@dataclass(frozen=True, slots=True)
class Written:
    """A place in a Python module: that of a name, or of the module itself.

    `head` is what a function or class begins with, `doc` its docstring.
    """

    path: Path
    source: Source
    span: Span
    head: str = ""
    doc: str = ""


def written(module: str, name: str | None, folder: Path) -> Written | None:
    """Where Python finds `name` of a module, from a script in `folder`; None if it cannot be told.

    Without a name, where the module begins.
    """
    for _ in range(_MOST_MODULES):
        path = python_file(module, folder)
        if path is None:
            return None
        try:
            data = path.read_bytes()
            tree = ast.parse(data)
        except (OSError, SyntaxError, ValueError):
            return None
        source = Source.from_bytes(str(path), data)
        if name is None:
            return Written(path, source, Span(0, 0), doc=ast.get_docstring(tree) or "")
        bound = next((one for one in _statements(tree.body) if name in _binds(one)), None)
        match bound:
            case None:
                inner = python_file(f"{module}.{name}", folder)
                if inner is None:
                    return None
                module, name = f"{module}.{name}", None
            case ast.ImportFrom(module=origin, names=names, level=level):
                meant = next(one for one in names if name == (one.asname or one.name))
                package = module.split(".")
                # Of a package, its own name is the first level.
                drop = level - (path.name == "__init__.py")
                base = package[: len(package) - drop] if level else []
                module, name = ".".join([*base, *([origin] if origin else [])]), meant.name
            case ast.Import(names=names):
                meant = next(one for one in names if name == (one.asname or one.name.split(".")[0]))
                module, name = (meant.name if meant.asname else name), None
            case _:
                return _written(path, source, bound, name)
    return None


def _written(path: Path, source: Source, node: ast.stmt, name: str) -> Written:
    start = source.line_start(node.lineno)
    text = source.line_text(node.lineno)
    column = max(text.find(name, len(text.encode()[: node.col_offset].decode())), 0)
    span = Span(start + column, start + column + len(name))
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return Written(path, source, span, head=text.strip())
    doc = ast.get_docstring(node) or ""
    if isinstance(node, ast.ClassDef):
        return Written(path, source, span, f"class {name}", doc)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return Written(path, source, span, f"def {name}({ast.unparse(node.args)}){returns}", doc)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, also those in branches."""
    for one in body:
        yield one
        if isinstance(one, ast.If | ast.Try | ast.With):
            yield from _statements(one.body)
            yield from _statements(getattr(one, "orelse", []))
        if isinstance(one, ast.Try):
            yield from (inner for handler in one.handlers for inner in _statements(handler.body))


def _binds(node: ast.stmt) -> set[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            inner = (one for target in targets for one in ast.walk(target))
            return {one.id for one in inner if isinstance(one, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case ast.Import(names=names):
            return {one.asname or one.name.split(".")[0] for one in names}
        case ast.ImportFrom(names=names):
            return {one.asname or one.name for one in names}
        case _:
            return set()
