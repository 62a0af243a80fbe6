"""The scripts that a command checks, with the scripts that they import (their siblings).

`Modules` loads the scripts below one root. It checks each sibling once, keeps the results (so that
`build` can also write the siblings' modules), and reports import cycles.
"""

import ast
import sys
from functools import cached_property, partial
from pathlib import Path

from saftc.check.imports import (
    BrokenModule,
    Loaded,
    MissingModule,
    PythonModule,
    SaftModule,
    outside,
)
from saftc.diagnostics.model import LIMIT
from saftc.driver import Checked, check
from saftc.project.files import UNNAMED, FileProblem, shown
from saftc.project.finder import (
    Roots,
    absolute_name,
    is_first_party,
    is_package,
    is_python_module,
    name_in,
    python_file,
    python_source,
    script_path,
    scripts_in,
    stub_of,
)
from saftc.project.python.bindings import Bindings, bindings_of
from saftc.project.python.library import Library, Text
from saftc.project.reads import Question, Reads
from saftc.project.servers import is_server, locked_server
from saftc.project.settings import Project
from saftc.source import Source


class Scripts:
    """The scripts that one command checks, with one `Modules` for each root.

    For each script, at most `most` mistakes are reported.
    """

    def __init__(
        self,
        reads: Reads | None = None,
        *,
        most: int | None = LIMIT,
        roots: Roots | None = None,
    ) -> None:
        self.folders: dict[Path, Modules] = {}
        self.reads = Reads() if reads is None else reads
        self.roots = Roots(read=self.reads.data) if roots is None else roots
        self.most = most

    def of(self, file: str) -> "Modules":
        """The modules that the script `file` can import."""
        folder = self.roots.of(file)
        made = Modules(folder, self.reads, most=self.most)
        return self.folders.setdefault(folder, made)

    def forget(self, path: Path) -> set[Path]:
        """Drops the results of a script and its importers.

        Returns the paths of all these scripts.
        """
        self.reads.forget(str(path))
        return {path}.union(*(modules.forget(path) for modules in self.folders.values()))

    def check(self, file: str) -> Checked:
        """Checks the script `file` with its imports; `-` is standard input."""
        modules, path = self.of(file), Path(file)
        name = name_in(modules.folder, path)
        if file in UNNAMED:  # resolve its imports as for a script in the working directory
            return modules.check(path, name)
        known = modules.siblings.get(name)
        if known is not None and known.source.name == file:
            return known
        checked = modules.check(path, name)
        self.roots.note_imported(modules.notes, modules.folder)
        return checked


class Modules:
    """The modules that scripts with the same root can import."""

    def __init__(
        self,
        folder: Path,
        reads: Reads | None = None,
        *,
        most: int | None = LIMIT,
    ) -> None:
        self.folder = folder
        self.reads = Reads() if reads is None else reads
        self.most = most
        # The checked siblings by name; a sibling that is still being checked is None.
        self.siblings: dict[str, Checked | None] = {}
        # The declarations of Python modules, shared so that all scripts have the same class types.
        self.library = Library(partial(_declared, self.folder))
        # By the path of a checked script: the questions to the disk, with answers.
        self.notes: dict[Path, dict[Question, str]] = {}
        # The scripts being checked now, by name; each is imported by the one before it.
        self.open: dict[str, Path] = {}
        # By the names of an importing and an imported script: the import cycle that they close.
        self.circles: dict[tuple[str, str], list[str]] = {}

    @cached_property
    def pure(self) -> tuple[str, ...]:
        """The Python functions that the project declares free of effects."""
        try:
            return Project(self.folder).pure
        except FileProblem:
            return ()  # the compiler reports the problem

    def check_text(self, source: Source) -> Checked:
        """Checks an unsaved text of a script, with its imports."""
        load = partial(self.load, importing=name_in(self.folder, Path(source.name)))
        return check(source, load, most=self.most, pure=self.pure)

    def forget(self, path: Path) -> set[Path]:
        """Drops the results of a script and its importers.

        Returns the paths of all these scripts.
        """
        changed = Question("file", str(path))
        outdated = {one for one, notes in self.notes.items() if changed in notes}
        for one in outdated:
            del self.notes[one]
            self.siblings.pop(name_in(self.folder, one), None)
        self.circles.clear()
        return outdated

    def check(self, path: Path, name: str) -> Checked:
        """Checks the script at `path`, which siblings import as `name`, with its imports."""
        with self.reads.noting() as notes:
            data = self.reads.data(str(path))
            self.notes[path] = notes
            self.open[name] = path
            try:
                source = Source.from_bytes(shown(str(path)), data)
                load = partial(self.load, importing=name)
                return check(source, load, most=self.most, pure=self.pure)
            finally:
                del self.open[name]

    def reads_of(self, path: Path) -> dict[Question, str]:
        """The questions about the disk on which compiling a script depends, with their answers.

        The question about the script's own file is left out. Questions about Python modules that
        were looked up for the declarations of other Python modules are included. `-` is standard
        input.
        """
        own = Question("file", str(path))
        found = {one: answer for one, answer in self.notes[path].items() if one != own}
        if any(one.kind == "module" for one in found):
            asked = (Question("module", name, self.folder) for name in self.library.looked_up)
            found.update((one, self.reads.answer(one)) for one in asked)
        return found

    def load(self, written: str, importing: str = "") -> Loaded:
        """Loads the module that the script called `importing` imports as `written`."""
        name = written if is_server(written) else absolute_name(written, importing)
        if name is None:
            return outside(written, importing)
        if is_server(name):
            self._ask("server", name)
            return locked_server(name, self.folder)
        if self.reads.answer(Question("script", name, self.folder)):
            found = self._sibling(name, script_path(name, self.folder))
            # Noted after the sibling's own imports, for the order of `CompiledModule.scripts`.
            self._ask("script", name)
            return found
        self._ask("script", name)
        self._ask("module", name)
        if is_python_module(name, self.folder):
            whole, first = (self.library.module(one) for one in (name, name.partition(".")[0]))
            return PythonModule(
                scripts_in(name, self.folder),
                is_first_party(name, self.folder),
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
            self._ask("script", beside) != "" or is_python_module(beside, self.folder)
        )
        searched = [
            str(self.folder),
            *(entry for entry in sys.path if entry and Path(entry).exists()),
        ]
        return MissingModule(tuple(dict.fromkeys(searched)), f".{name}" if is_beside_it else None)

    def _ask(self, kind: str, name: str) -> str:
        return self.reads.ask(Question(kind, name, self.folder))

    def _sibling(self, name: str, path: Path) -> Loaded:
        # The sibling may be open already (a cycle); then its mistakes concern its importers.
        self.reads.ask(Question("file", str(path)))
        hiding = self._ask("hidden", name)
        if hiding:
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
            else:
                self.reads.note(self.notes[path])
            if not checked.has_errors:
                return SaftModule(checked.facts, checked.source, name)
        circle = self.circles.get((next(reversed(self.open), ""), name))
        if circle is not None:
            return BrokenModule(
                "these scripts import each other: " + " -> ".join(circle),
                "move what both need into a third script"
                if circle[0] != circle[1]
                else f"rename the script if you mean another module `{name}`",
            )
        return BrokenModule(f"`{path.name}` has errors", f"see `saftc check {path}`")

    def _add_circle(self, names: list[str]) -> None:
        for position, name in enumerate(names):
            circle = [*names[position:], *names[: position + 1]]
            self.circles.setdefault((name, circle[1]), circle)


def _declared(folder: Path, name: str) -> Text | None:
    """The declarations of a Python module for a script in `folder`.

    If the module is in the standard library, they come from its stub.
    """
    stub = stub_of(name, folder)
    data = python_source(name, folder) if stub is None else stub.read_bytes()
    tree = _tree(data)
    if tree is None:
        return None
    is_whole = is_package(name, folder) if stub is None else stub.stem == "__init__"
    is_stub = stub is not None
    bindings = bindings_of(tree.body, name, is_package=is_whole, is_stub=is_stub)
    is_own = is_first_party(name, folder) and not is_whole
    return Text(bindings, is_stub, is_closed=is_stub or (is_own and _is_closed(tree, bindings)))


def _is_closed(tree: ast.Module, bindings: Bindings) -> bool:
    """Whether a module can have no names but those that its statements bind."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="exec" | "globals" | "locals" | "setattr" | "vars"):
                return False
            case ast.Attribute(attr="__dict__" | "modules"):
                return False
            case ast.Global(names=names) if not bindings.names.keys() >= set(names):
                return False
            case _:
                pass
    return True


def originals(folder: Path) -> Library:
    """A library that reads Python modules from source, not from stubs, to find definitions."""

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
        return None  # Python will report it
