"""Where a script's imports are found: a sibling script first, then Python's own path.

`Modules(folder)` is the loader of the scripts in a folder. It checks each sibling once, keeps what
it found (so that `build` can write the siblings too), and tells a cycle of imports.
"""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

from saftc.driver import Checked, check
from saftc.files import read_source
from saftc.semantics.modules import BrokenModule, Found, MissingModule, PythonModule, SaftModule


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


class Modules:
    """The modules that the scripts of one folder can import."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # The siblings found so far, by name; None while one is being checked.
        self.siblings: dict[str, Checked | None] = {}
        self.open: list[str] = []

    def check(self, path: Path, checked_name: str) -> Checked:
        """The script at `path`, checked with its imports."""
        self.open.append(checked_name)
        try:
            return check(read_source(str(path)), self.load)
        finally:
            self.open.pop()

    def checked_siblings(self) -> list[Checked]:
        """The siblings that were imported, in the order they were found."""
        return [checked for checked in self.siblings.values() if checked is not None]

    def load(self, name: str) -> Found:
        """What `import name` means in this folder."""
        path = self.folder.joinpath(*name.split(".")).with_suffix(".saft")
        if path.is_file():
            return self._sibling(name, path)
        if _is_python_module(name, self.folder):
            return PythonModule()
        searched = [str(self.folder), *(entry for entry in sys.path if entry)]
        return MissingModule(tuple(dict.fromkeys(searched)))

    def _sibling(self, name: str, path: Path) -> Found:
        if name in self.open:
            cycle = [*self.open[self.open.index(name) :], name]
            return BrokenModule(
                "these scripts import each other: " + " -> ".join(cycle),
                "move what both need into a third script",
            )
        checked = self.siblings.get(name)
        if checked is None:
            checked = self.siblings[name] = self.check(path, name)
        if checked.has_errors:
            return BrokenModule(f"`{path.name}` has errors", f"see `saftc check {path}`")
        return SaftModule(checked.module, checked.facts)


def _is_python_module(name: str, folder: Path) -> bool:
    """Whether Python would find the module, from a program in `folder`."""
    first, *rest = name.split(".")
    spec = importlib.machinery.PathFinder.find_spec(first, [str(folder), *sys.path])
    if spec is None and first not in sys.builtin_module_names:
        return first in sys.stdlib_module_names
    if not rest:
        return True
    # Finding a submodule imports its package.
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
