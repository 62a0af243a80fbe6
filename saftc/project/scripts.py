"""The scripts that a command works on, with the siblings that they import.

`Modules(folder)` is the loader of the scripts in a folder and in those below it. It checks each
sibling once, keeps what it found (so that `build` can write the siblings too), and tells a cycle of
imports.
"""

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from saftc.diagnostics.model import LIMIT
from saftc.driver import Checked, check
from saftc.project.cache import digest
from saftc.project.files import UNNAMED, FileProblem, read_script, shown
from saftc.project.finder import (
    Read,
    Roots,
    absolute_name,
    hidden_by,
    is_beside,
    is_package,
    is_python_module,
    name_in,
    of_python,
    python_file,
    python_source,
    scripts_in,
    sibling,
    stub_of,
)
from saftc.project.python.bindings import bindings_of
from saftc.project.python.library import Library, Text
from saftc.project.servers import is_server, locked_server, state_of
from saftc.project.settings import Project
from saftc.semantics.imports import (
    BrokenModule,
    Loaded,
    MissingModule,
    PythonModule,
    SaftModule,
    outside,
)
from saftc.source import Source

# Gives the script that an import means, from a folder.
Find = Callable[[str, Path], Path | None]


class Scripts:
    """The scripts of one command, with one `Modules` for each folder.

    Of each, at most `most` mistakes are reported.
    """

    def __init__(
        self,
        read: Read = read_script,
        find: Find = sibling,
        *,
        most: int | None = LIMIT,
        roots: Roots | None = None,
    ) -> None:
        self.folders: dict[Path, Modules] = {}
        self.roots = Roots(read=read) if roots is None else roots
        self.read = read
        self.find = find
        self.most = most

    def of(self, file: str, root: Path | None = None) -> "Modules":
        """The modules that the script `file` can import, from its root."""
        folder = self._root_of(file) if root is None else root
        made = Modules(folder, self.read, self.find, most=self.most)
        return self.folders.setdefault(folder, made)

    def of_script(self, file: str, root: Path | None = None) -> "Modules":
        """The modules that a script was checked with, or would be."""
        return self.of(file, self._root_of(file) if root is None else root)

    def forget(self, path: Path) -> set[Path]:
        """Forgets what is known of a script and of those that import it, and gives them all."""
        return {path}.union(*(modules.forget(path) for modules in self.folders.values()))

    def check(self, file: str, root: Path | None = None) -> Checked:
        """The script `file`, checked with its imports; `-` is standard input.

        See `Roots` for the root; where it is not said, that of the script which has imported it
        comes first.
        """
        modules = self.of(file, root)
        if file in UNNAMED:
            return modules.check_input(file)
        path = Path(file)
        name = name_in(modules.folder, path)
        known = modules.siblings.get(name)
        if known is not None and known.source.name == file:
            return known
        return modules.check(path, name)

    def _root_of(self, file: str) -> Path:
        if not self.roots.is_said(file):
            path = Path(file)
            for folder, modules in self.folders.items():
                if modules.siblings.get(name_in(folder, path)) and path in modules.known:
                    return folder
        return self.roots.of(file)


@dataclass(frozen=True, slots=True)
class _Known:
    """A script that was read: its digest, and by name the scripts and other modules it imports."""

    digest: str
    imports: dict[str, Path | None] = field(default_factory=dict[str, Path | None])


class Modules:
    """The modules that the scripts with one root can import."""

    def __init__(
        self,
        folder: Path,
        read: Read = read_script,
        find: Find = sibling,
        *,
        most: int | None = LIMIT,
    ) -> None:
        self.folder = folder
        self.read = read
        self.find = find
        self.most = most
        # The siblings found so far, by name; None while one is being checked.
        self.siblings: dict[str, Checked | None] = {}
        # What Python modules declare: a class of theirs is the same in all scripts.
        self.library = Library(partial(_declared, self.folder))
        self.known: dict[Path, _Known] = {}
        # The scripts that are being checked, by name, each imported by the one before.
        self.open: dict[str, Path] = {}
        # The scripts that import each other, by the name of one that imports the next.
        self.circles: dict[tuple[str, str], list[str]] = {}

    @cached_property
    def pure(self) -> tuple[str, ...]:
        """The Python functions that the project says have no effects."""
        try:
            return Project(self.folder).pure
        except FileProblem:
            return ()  # who compiles is told

    def check(self, path: Path, name: str) -> Checked:
        """The script at `path`, which siblings import as `name`, checked with its imports."""
        return self._check(path, name, str(path))

    def check_text(self, source: Source) -> Checked:
        """A text that is not that of its script in the folder, checked with what that imports."""
        load = partial(self.load, importing=name_in(self.folder, Path(source.name)))
        return check(source, load, most=self.most, pure=self.pure)

    def forget(self, path: Path) -> set[Path]:
        """Forgets what is known of a script and of those that import it, and gives them."""
        outdated = {path}
        while more := {
            one
            for one, known in self.known.items()
            if one not in outdated and not outdated.isdisjoint(known.imports.values())
        }:
            outdated |= more
        for one in outdated & self.known.keys():
            del self.known[one]
            self.siblings.pop(name_in(self.folder, one), None)
        self.circles.clear()
        return outdated

    def check_input(self, file: str = "-") -> Checked:
        """The script on standard input, or another that is not a file.

        It imports as one in the working directory.
        """
        return self._check(Path(file), name_in(self.folder, Path(file)), shown(file))

    def _check(self, path: Path, name: str, shown: str) -> Checked:
        data = self.read(str(path))
        self.known[path] = _Known(digest(data))
        self.open[name] = path
        try:
            source = Source.from_bytes(shown, data)
            load = partial(self.load, importing=name)
            return check(source, load, most=self.most, pure=self.pure)
        finally:
            del self.open[name]

    def imports(self, path: Path) -> dict[str, str]:
        """What a script without errors imports, directly or not, deepest first; `-` is the input.

        By name: the digest of a sibling script, or what `of_python` gives.
        """
        found: dict[str, str] = {}

        def add_imports_of(script: Path) -> None:
            for name, imported in self.known[script].imports.items():
                if imported is None:
                    found[name] = _state_of(name, self.folder)
                elif name not in found:
                    add_imports_of(imported)
                    found[name] = self.known[imported].digest

        add_imports_of(path)
        return found

    def read_with(self) -> dict[str, str]:
        """The Python modules that were read to know what others declare, or looked for in vain.

        By name: what `of_python` gives.
        """
        return {name: of_python(name, self.folder) for name in self.library.asked}

    @property
    def asked(self) -> set[str]:
        """The modules that were looked for so far, by whoever has imported them."""
        imported = (name for known in self.known.values() for name in known.imports)
        return {*self.library.asked, *imported}

    def load(self, written: str, importing: str = "") -> Loaded:
        """What the import of a name means in the script that siblings import as `importing`."""
        name = written if is_server(written) else absolute_name(written, importing)
        if name is None:
            return outside(written, importing)
        path = None if is_server(name) else self.find(name, self.folder)
        if self.open:
            self.known[next(reversed(self.open.values()))].imports[name] = path
        if path is not None:
            return self._sibling(name, path)
        if is_server(name):
            return locked_server(name, self.folder)
        if is_python_module(name, self.folder):
            whole, first = (self.library.module(one) for one in (name, name.partition(".")[0]))
            return PythonModule(
                scripts_in(name, self.folder),
                is_beside(name, self.folder),
                None if whole is None else whole.members,
                None if first is None else first.members,
                self.library.records,
                self.library.shapes,
                name,
            )
        if name != written:
            package = self.folder.joinpath(*name.split(".")[:-1])
            return MissingModule((str(package),))
        beside = absolute_name(f".{name}", importing)
        is_beside_it = beside is not None and (
            self.find(beside, self.folder) is not None or is_python_module(beside, self.folder)
        )
        searched = [
            str(self.folder),
            *(entry for entry in sys.path if entry and Path(entry).exists()),
        ]
        return MissingModule(tuple(dict.fromkeys(searched)), f".{name}" if is_beside_it else None)

    def _sibling(self, name: str, path: Path) -> Loaded:
        hiding = hidden_by(name, self.folder)
        if hiding is not None:
            return BrokenModule(
                f"Python finds {hiding} instead of `{path}`", "rename the script or its folder"
            )
        if name in self.open:
            names = list(self.open)
            self._add_circle(names[names.index(name) :])
        else:
            checked = self.siblings.get(name)
            if checked is None:
                checked = self.siblings[name] = self.check(path, name)
            if not checked.has_errors:
                return SaftModule(checked.facts, checked.source, name)
        circle = self.circles.get((next(reversed(self.open), ""), name))
        if circle is not None:
            return BrokenModule(
                "these scripts import each other: " + " -> ".join(circle),
                "move what both need into a third script",
            )
        return BrokenModule(f"`{path.name}` has errors", f"see `saftc check {path}`")

    def _add_circle(self, names: list[str]) -> None:
        for position, name in enumerate(names):
            circle = [*names[position:], *names[: position + 1]]
            self.circles.setdefault((name, circle[1]), circle)


def _state_of(name: str, folder: Path) -> str:
    return state_of(name, folder) if is_server(name) else of_python(name, folder)


def _declared(folder: Path, name: str) -> Text | None:
    """What a Python module binds, for a script in `folder`; one of Python's own, by its stub."""
    stub = stub_of(name, folder)
    data = python_source(name, folder) if stub is None else stub.read_bytes()
    tree = _tree(data)
    if tree is None:
        return None
    is_whole = is_package(name, folder) if stub is None else stub.stem == "__init__"
    is_stub = stub is not None
    return Text(bindings_of(tree.body, name, is_package=is_whole, is_stub=is_stub), is_stub)


def originals(folder: Path) -> Library:
    """The Python modules as they are written, and not as stubs tell: where their names stand."""

    def read(name: str) -> Text | None:
        path = python_file(name, folder)
        try:
            data = None if path is None else path.read_bytes()
        except OSError:
            return None
        tree = _tree(data)
        if path is None or data is None or tree is None:
            return None
        bindings = bindings_of(tree.body, name, is_package=path.name == "__init__.py")
        source = Source.from_bytes(str(path), data)
        return Text(bindings, source=source, doc=ast.get_docstring(tree) or "")

    return Library(read, is_exact=True)


def _tree(data: bytes | None) -> ast.Module | None:
    try:
        return None if data is None else ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return None  # Python will say so
