"""The scripts of an editor: as it shows them where they are open, and else as they are on disk.

session = Session()
session.change(path, text)
session.script(path).checked        checked once, until it or a script that it imports changes
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from saftc.driver import Checked, Compiled, compile_checked
from saftc.project.files import FileProblem, read_script, scripts_below
from saftc.project.scripts import Modules, Scripts
from saftc.project.settings import compile_settings
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of


@dataclass(frozen=True)
class Script:
    """A script as it was checked, and the modules that it can import."""

    path: str
    checked: Checked
    modules: Modules

    @property
    def source(self) -> Source:
        """Its text."""
        return self.checked.source

    @property
    def module(self) -> n.Module:
        """Its tree, less what cannot be read."""
        return self.checked.module

    @cached_property
    def nodes(self) -> Sequence[n.Node]:
        """All nodes of the tree, in order of the text."""
        return nodes_of(self.checked.module)

    @cached_property
    def compiled(self) -> Compiled:
        """Its module; without one where it has errors."""
        return compile_checked(self.checked, compile_settings())


class Session:
    """The open scripts by their path, and what is known of them and of those that they import."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._scripts = self._anew()
        self._known: dict[str, Script] = {}
        # The folder from which the imports of a script are looked for.
        self._roots: dict[str, Path] = {}

    @property
    def open(self) -> tuple[str, ...]:
        """The paths of the open scripts."""
        return tuple(self._texts)

    def change(self, path: str, text: str) -> None:
        """Takes the text that an open script has now."""
        self._texts[path] = text
        self._forget(path)

    def close(self, path: str) -> None:
        """Goes back to what is on disk."""
        if self._texts.pop(path, None) is not None:
            self._forget(path)

    def restart(self) -> None:
        """Forgets all that was read: files have changed, or have come, or are gone."""
        self._scripts = self._anew()
        self._known.clear()
        self._roots.clear()

    def script(self, path: str) -> Script:
        """A script, checked.

        Raises:
            FileProblem: It cannot be read.
        """
        known = self._known.get(path)
        if known is None:
            root = self._roots.get(path)
            checked = self._scripts.check(path, root)
            modules = (
                self._scripts.of_script(path) if root is None else self._scripts.of(path, root)
            )
            known = self._known[path] = Script(path, checked, modules)
            for one in map(str, modules.known):
                # What another one imports is looked for from where that stands.
                earlier = self._roots.get(one, modules.folder)
                self._roots[one] = min(earlier, modules.folder, key=lambda it: len(it.parts))
        return known

    def around(self, path: str, word: str) -> Iterator[Script]:
        """The scripts below the folder that a script is imported from which hold a word."""
        folder = self.script(path).modules.folder
        try:
            files = scripts_below(str(folder))
        except FileProblem:
            files = []
        for file in dict.fromkeys([path, *map(str, map(Path, files)), *self._texts]):
            try:
                if word.encode() in self._read(file):
                    yield self.script(file)
            except FileProblem:
                continue

    def _anew(self) -> Scripts:
        return Scripts(self._read, most=None)

    def _read(self, path: str) -> bytes:
        text = self._texts.get(path)
        return read_script(path) if text is None else text.encode("utf-8", "replace")

    def _forget(self, path: str) -> None:
        for changed in self._scripts.forget(Path(path)):
            self._known.pop(str(changed), None)
