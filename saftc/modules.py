"""The scripts that a command works on, with the siblings that they import.

`Modules(folder)` is the loader of the scripts in a folder. It checks each sibling once, keeps what
it found (so that `build` can write the siblings too), and tells a cycle of imports.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from saftc.driver import Checked, check
from saftc.files import read_script, read_source
from saftc.finding import is_python_module, sibling
from saftc.records import OF_PYTHON, digest
from saftc.semantics.imports import BrokenModule, Loaded, MissingModule, PythonModule, SaftModule
from saftc.source import Source


class Scripts:
    """The scripts of one command, with one `Modules` for each folder."""

    def __init__(self) -> None:
        self.folders: dict[Path, Modules] = {}

    def of(self, file: str) -> "Modules":
        """The modules that the script `file` can import."""
        folder = Path() if file == "-" else Path(file).parent
        return self.folders.setdefault(folder, Modules(folder))

    def check(self, file: str) -> Checked:
        """The script `file`, checked with its imports; `-` is standard input."""
        modules = self.of(file)
        if file == "-":
            return check(read_source(file), modules.load)
        name = Path(file).stem
        known = modules.siblings.get(name)
        if known is not None and known.source.name == file:
            return known
        return modules.check(Path(file), name)


@dataclass(frozen=True, slots=True)
class Read:
    """A script as it was read: its digest, and by name the scripts and other modules it imports."""

    digest: str
    imports: dict[str, Path | None] = field(default_factory=dict[str, Path | None])


class Modules:
    """The modules that the scripts of one folder can import."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # The siblings found so far, by name; None while one is being checked.
        self.siblings: dict[str, Checked | None] = {}
        self.read: dict[Path, Read] = {}
        # The scripts that are being checked, by name, each imported by the one before.
        self.open: dict[str, Path] = {}

    def check(self, path: Path, checked_name: str) -> Checked:
        """The script at `path`, checked with its imports."""
        data = read_script(str(path))
        self.read[path] = Read(digest(data))
        self.open[checked_name] = path
        try:
            return check(Source.from_bytes(str(path), data), self.load)
        finally:
            del self.open[checked_name]

    def checked_siblings(self) -> list[Checked]:
        """The siblings that were imported, in the order they were found."""
        return [checked for checked in self.siblings.values() if checked is not None]

    def imports(self, path: Path) -> dict[str, str]:
        """What a script without errors imports, directly or not, deepest first.

        By name: the digest of a sibling script, or `OF_PYTHON`.
        """
        found: dict[str, str] = {}

        def add_imports_of(script: Path) -> None:
            for name, imported in self.read[script].imports.items():
                if imported is None:
                    found[name] = OF_PYTHON
                elif name not in found:
                    add_imports_of(imported)
                    found[name] = self.read[imported].digest

        add_imports_of(path)
        return found

    def load(self, name: str) -> Loaded:
        """What `import name` means in this folder."""
        path = sibling(name, self.folder)
        if self.open:
            importing = self.read[next(reversed(self.open.values()))]
            importing.imports[name] = path
        if path is not None:
            return self._sibling(name, path)
        if is_python_module(name, self.folder):
            return PythonModule()
        searched = [str(self.folder), *(entry for entry in sys.path if entry)]
        return MissingModule(tuple(dict.fromkeys(searched)))

    def _sibling(self, name: str, path: Path) -> Loaded:
        if name in self.open:
            names = list(self.open)
            cycle = [*names[names.index(name) :], name]
            return BrokenModule(
                "these scripts import each other: " + " -> ".join(cycle),
                "move what both need into a third script",
            )
        checked = self.siblings.get(name)
        if checked is None:
            checked = self.siblings[name] = self.check(path, name)
        if checked.has_errors:
            return BrokenModule(f"`{path.name}` has errors", f"see `saftc check {path}`")
        return SaftModule(checked.facts)
