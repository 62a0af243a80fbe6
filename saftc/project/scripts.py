"""The scripts that a command works on, with the siblings that they import.

`Modules(folder)` is the loader of the scripts in a folder. It checks each sibling once, keeps what
it found (so that `build` can write the siblings too), and tells a cycle of imports.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from saftc.driver import Checked, check
from saftc.project.cache import OF_PYTHON, digest
from saftc.project.files import read_script
from saftc.project.finder import folder_of, is_beside, is_python_module, sibling
from saftc.semantics.imports import BrokenModule, Loaded, MissingModule, PythonModule, SaftModule
from saftc.source import Source

# Gives the bytes of a script by its path.
Read = Callable[[str], bytes]


class Scripts:
    """The scripts of one command, with one `Modules` for each folder."""

    def __init__(self, read: Read = read_script) -> None:
        self.folders: dict[Path, Modules] = {}
        self.read = read

    def of(self, file: str) -> "Modules":
        """The modules that the script `file` can import."""
        folder = folder_of(file)
        return self.folders.setdefault(folder, Modules(folder, self.read))

    def check(self, file: str) -> Checked:
        """The script `file`, checked with its imports; `-` is standard input."""
        modules = self.of(file)
        if file == "-":
            return modules.check_input()
        name = Path(file).stem
        known = modules.siblings.get(name)
        if known is not None and known.source.name == file:
            return known
        return modules.check(Path(file), name)


@dataclass(frozen=True, slots=True)
class _Known:
    """A script that was read: its digest, and by name the scripts and other modules it imports."""

    digest: str
    imports: dict[str, Path | None] = field(default_factory=dict[str, Path | None])


class Modules:
    """The modules that the scripts of one folder can import."""

    def __init__(self, folder: Path, read: Read = read_script) -> None:
        self.folder = folder
        self.read = read
        # The siblings found so far, by name; None while one is being checked.
        self.siblings: dict[str, Checked | None] = {}
        self.known: dict[Path, _Known] = {}
        # The scripts that are being checked, by name, each imported by the one before.
        self.open: dict[str, Path] = {}

    def check(self, path: Path, name: str) -> Checked:
        """The script at `path`, which siblings import as `name`, checked with its imports."""
        return self._check(path, name, str(path))

    def check_input(self) -> Checked:
        """The script on standard input."""
        return self._check(Path("-"), "-", "<stdin>")

    def _check(self, path: Path, name: str, shown: str) -> Checked:
        data = self.read(str(path))
        self.known[path] = _Known(digest(data))
        self.open[name] = path
        try:
            return check(Source.from_bytes(shown, data), self.load)
        finally:
            del self.open[name]

    def imports(self, path: Path) -> dict[str, str]:
        """What a script without errors imports, directly or not, deepest first; `-` is the input.

        By name: the digest of a sibling script, or `OF_PYTHON`.
        """
        found: dict[str, str] = {}

        def add_imports_of(script: Path) -> None:
            for name, imported in self.known[script].imports.items():
                if imported is None:
                    found[name] = OF_PYTHON
                elif name not in found:
                    add_imports_of(imported)
                    found[name] = self.known[imported].digest

        add_imports_of(path)
        return found

    def load(self, name: str) -> Loaded:
        """What `import name` means in this folder."""
        path = sibling(name, self.folder)
        if self.open:
            importing = self.known[next(reversed(self.open.values()))]
            importing.imports[name] = path
        if path is not None:
            return self._sibling(name, path)
        if is_python_module(name, self.folder):
            return PythonModule(is_beside=is_beside(name, self.folder))
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
