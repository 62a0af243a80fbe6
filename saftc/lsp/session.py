"""The scripts of an editor: as it shows them where they are open, and else as they are on disk.

session = Session()
session.change(path, text)
session.script(path).checked        checked once, until it or a script that it imports changes
"""

import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from saftc.driver import Checked, Compiled, compile_checked
from saftc.project.files import FileProblem, read_script, scripts_below
from saftc.project.python.library import Library
from saftc.project.reads import Reads
from saftc.project.scripts import Modules, Scripts, originals
from saftc.project.settings import Project
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.types import forget_remembered

if TYPE_CHECKING:
    from saftc.cost.requests import Bounds
    from saftc.previews.python_objects import PythonObjects

# A longer script would keep the server from anything else for seconds, at each change.
MOST_LINES = 10_000
MOST_BYTES = 300_000


class TooLarge(FileProblem):
    """A script is too long to be checked while it is written."""


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
    def originals(self) -> Library:
        """The Python modules that it can import, as they are written."""
        return originals(self.modules.folder)

    @cached_property
    def python_objects(self) -> "PythonObjects":
        """The Python modules that it can import, as live Python, while nothing of them runs."""
        # pydantic may be loaded for these.
        from saftc.previews.python_objects import PythonObjects

        return PythonObjects(self.modules.library)

    @cached_property
    def compiled(self) -> Compiled:
        """Its module; without one where it has errors."""
        return compile_checked(self.checked, Project().compiling())

    @cached_property
    def bounds(self) -> "Bounds | None":
        """The most requests of its functions; None where it has errors, or a setting has."""
        if self.checked.has_errors:
            return None
        # The runtime is loaded for these.
        from saftc.previews.requests import bounds_here

        return bounds_here(self.checked, Project().compiling())


class Session:
    """The open scripts by their path, and what is known of them and of those that they import."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._scripts = self._anew()
        self._known: dict[str, Script] = {}
        # The open scripts, as they were when they had no errors.
        self._good: dict[str, Script] = {}

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
        self._good.pop(path, None)
        if self._texts.pop(path, None) is not None:
            self._forget(path)

    def rest(self) -> None:
        """Gives back the memory of what was known of earlier texts."""
        forget_remembered()
        gc.collect()

    def restart(self) -> None:
        """Forgets all that was read: files have changed, or have come, or are gone."""
        self._scripts = self._anew()
        self._known.clear()

    def script(self, path: str) -> Script:
        """A script, checked.

        Raises:
            FileProblem: It, or one that it imports, cannot be read; TooLarge where it is too long.
        """
        known = self._known.get(path)
        if known is None:
            checked = self._scripts.check(path)
            known = self._known[path] = Script(path, checked, self._scripts.of(path))
            if not checked.has_errors:
                self._good[path] = known
        return known

    def good(self, path: str) -> Script | None:
        """A script as it was when it had no errors last; None where it always had some.

        It is another one, also of the same text, where a script that it imports has changed.

        Raises:
            FileProblem: As `script` does.
        """
        self.script(path)
        return self._good.get(path)

    def around(self, path: str, word: str) -> Iterator[Script]:
        """The scripts below the folder that a script is imported from which hold a word.

        Raises:
            FileProblem: One that holds it cannot be checked.
        """
        folder = self.script(path).modules.folder
        try:
            files = scripts_below(str(folder))
        except FileProblem:
            files = []
        for file in dict.fromkeys([path, *map(str, map(Path, files)), *self._texts]):
            try:
                data = self._data(file)
            except FileProblem:
                continue
            if word.encode() in data:
                yield self._script_of_many(file)

    def _anew(self) -> Scripts:
        return Scripts(Reads(self._read), most=None)

    def _script_of_many(self, path: str) -> Script:
        try:
            return self.script(path)
        except TooLarge as problem:
            raise FileProblem(str(problem)) from None

    def _data(self, path: str) -> bytes:
        text = self._texts.get(path)
        return read_script(path) if text is None else text.encode("utf-8", "replace")

    def _read(self, path: str) -> bytes:
        data = self._data(path)
        if len(data) > MOST_BYTES or data.count(b"\n") > MOST_LINES:
            raise TooLarge(
                f"{path} has more than {MOST_LINES:,} lines, or {MOST_BYTES:,} bytes: the editor "
                "does not check it, but `saftc check` does"
            )
        return data

    def _forget(self, path: str) -> None:
        for changed in self._scripts.forget(Path(path)):
            self._known.pop(str(changed), None)
