"""The scripts of an editor, which have the editor's text while they are open.

Closed scripts have the text of their files.

session = Session()
session.change(path, text)
session.script(path).checked        cached until the script, or one that it imports, changes
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
    from saftc.cost.requests import ProgramBounds
    from saftc.previews.python_objects import PythonObjects

# The largest script that is checked: a larger one would block the server for seconds.
MOST_LINES = 10_000
MOST_BYTES = 300_000


class TooLarge(FileProblem):
    """Raised for a script that is too long to be checked at each change."""


@dataclass(frozen=True)
class Script:
    """A checked script, with the modules that it can import."""

    path: str
    checked: Checked
    modules: Modules

    @property
    def source(self) -> Source:
        """The text of the script."""
        return self.checked.source

    @property
    def module(self) -> n.Module:
        """The syntax tree of the script, without the parts that could not be parsed."""
        return self.checked.module

    @cached_property
    def nodes(self) -> Sequence[n.Node]:
        """All nodes of the syntax tree, in order of the text."""
        return nodes_of(self.checked.module)

    @cached_property
    def originals(self) -> Library:
        """The Python modules that the script can import.

        Unlike the checker's modules, they are read from source instead of stubs, to find
        definitions.
        """
        return originals(self.modules.folder)

    @cached_property
    def python_objects(self) -> "PythonObjects":
        """The objects of the Python modules that the script can import, for previews.

        They are built from the modules' source: no code of the modules runs.
        """
        # Imported here, as it may import pydantic.
        from saftc.previews.python_objects import PythonObjects

        return PythonObjects(self.modules.library)

    @cached_property
    def compiled(self) -> Compiled:
        """The compiled script. Its `module` is None if the script has errors."""
        return compile_checked(self.checked, Project().compiling())

    @cached_property
    def bounds(self) -> "ProgramBounds | None":
        """Upper bounds for the requests of the script's functions.

        The result is None if the script or the settings have errors.
        """
        if self.checked.has_errors:
            return None
        # Imported here, as it imports the runtime.
        from saftc.previews.requests import project_bounds

        return project_bounds(self.checked, Project().compiling())


class Session:
    """The texts of the open scripts by path, and a cache of checked scripts."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._scripts = self._recheck()
        self._known: dict[str, Script] = {}
        # The last version of each script that had no errors.
        self._good: dict[str, Script] = {}

    @property
    def open(self) -> tuple[str, ...]:
        """The paths of the open scripts."""
        return tuple(self._texts)

    def change(self, path: str, text: str) -> None:
        """Sets the text of an open script, and drops the checked scripts that depend on it."""
        self._texts[path] = text
        self._forget(path)

    def close(self, path: str) -> None:
        """Closes a script. From now on, its text is the text of its file."""
        self._good.pop(path, None)
        if self._texts.pop(path, None) is not None:
            self._forget(path)

    def rest(self) -> None:
        """Frees the memory of earlier texts."""
        forget_remembered()
        gc.collect()

    def restart(self) -> None:
        """Drops all checked scripts, as files were changed, created or deleted."""
        self._scripts = self._recheck()
        self._known.clear()

    def script(self, path: str) -> Script:
        """The checked script at a path.

        Raises:
            TooLarge: The script, or one that it imports, is too long.
            FileProblem: The script, or one that it imports, cannot be read.
        """
        known = self._known.get(path)
        if known is None:
            checked = self._scripts.check(path)
            known = self._known[path] = Script(path, checked, self._scripts.of(path))
            if not checked.has_errors:
                self._good[path] = known
        return known

    def last_valid(self, path: str) -> Script | None:
        """The last version of a script that had no errors; None if there was none.

        After a change of an imported script, the result is a new object even if its text is the
        same.

        Raises:
            FileProblem: The current version cannot be checked (see `script`).
        """
        self.script(path)
        return self._good.get(path)

    def around(self, path: str, word: str) -> Iterator[Script]:
        """The scripts that contain a word.

        The open scripts, and all scripts below the root of the script at `path`, are searched.

        Raises:
            FileProblem: A script that contains the word cannot be checked.
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

    def _recheck(self) -> Scripts:
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
