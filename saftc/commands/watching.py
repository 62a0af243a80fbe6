"""`--watch`: scripts are built, or checked, again when they, or what they import, change.

    watch = Watch(["scripts"], open_workspace, build)
    watch.begin()           builds them all
    watch.look()            builds what has changed since; whether anything has

The process stays, with all that it has loaded: only what has changed is compiled, and of that only
what it has not in common with its earlier text. What is said here of building holds for checking.
"""

import gc
import os
import time
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import NoReturn

from saftc.commands.reporting import WrongUsage, complain, say
from saftc.project.files import UNNAMED, FileProblem
from saftc.project.settings import settings_files
from saftc.project.workspace import Workspace
from saftc.semantics.types import forget_remembered

# How often the files are looked at, in seconds.
EVERY = 0.1

# What changes when a file is written, of a folder the modules and folders in it; None where there
# is neither.
_State = tuple[int, int] | frozenset[str] | None


def refuse_watching(arguments: Sequence[str], options: Mapping[str, object], what: str) -> None:
    """Raises WrongUsage where an option, or standard input, does not go with --watch."""
    for option, is_given in options.items():
        if is_given:
            raise WrongUsage(f"--watch {what}: leave {option} out")
    if "-" in arguments:
        raise WrongUsage("--watch needs scripts in files, and `-` is standard input")


def watch_scripts(
    arguments: Sequence[str],
    open_workspace: Callable[[], Workspace],
    build: Callable[[Workspace, bool], object],
    *,
    load: Callable[[], object] | None = None,
) -> NoReturn:
    """Builds scripts, and again whenever something changes, until the process is interrupted.

    `load` loads what the first round may not have needed, and later ones do.
    """
    watch = Watch(arguments, open_workspace, build)
    watch.begin()
    say("watching for changes; Ctrl-C ends it")
    if load is not None:
        load()
    while True:
        time.sleep(EVERY)
        watch.look()


class Watch:
    """Some scripts, with all that they were built from.

    `build` builds those that a workspace does not have; its argument says whether that is for the
    first time.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        open_workspace: Callable[[], Workspace],
        build: Callable[[Workspace, bool], object],
    ) -> None:
        self._arguments = arguments
        self._open_workspace = open_workspace
        self._build = build
        self._workspace: Workspace | None = None
        self._seen: dict[Path, _State] = {}

    def begin(self) -> None:
        """Builds all scripts."""
        self._renew(is_first=True)
        # What is loaded by now stays.
        gc.collect()
        gc.freeze()

    def look(self) -> bool:
        """Builds again what has changed; whether anything has."""
        changed = {path for path, state in self._seen.items() if _state(path) != state}
        if not changed:
            return False
        workspace = self._workspace
        if workspace is not None and all(
            path in workspace.scripts_read and path.is_file() for path in changed
        ):
            workspace.forget(changed)
            self._round(workspace, is_first=False)
        else:
            self._renew(is_first=False)
        forget_remembered()
        gc.collect()
        return True

    def _renew(self, *, is_first: bool) -> None:
        """Builds where more has changed than scripts: settings, modules, or which files there are.

        What is in the cache is not compiled again.
        """
        try:
            self._workspace = self._open_workspace()
        except FileProblem as problem:
            self._workspace = None
            complain(str(problem))
        self._round(self._workspace, is_first=is_first)

    def _round(self, workspace: Workspace | None, *, is_first: bool) -> None:
        before = {path: _state(path) for path in self._watched(workspace)}
        if workspace is not None:
            try:
                self._build(workspace, is_first)
            except FileProblem as problem:
                complain(str(problem))
        after = {path: _state(path) for path in self._watched(workspace)}
        # What changes meanwhile is to be seen the next time.
        for path, state in after.items():
            if path in before:
                after[path] = _at_begin(before[path], state)
            elif _holds_scripts(state) or (workspace and workspace.has_outdated(path)):
                after[path] = None
        self._seen = after

    def _watched(self, workspace: Workspace | None) -> Set[Path]:
        """The files that the modules depend on, and the folders where others may appear."""
        files = {Path(one) for one in self._arguments if one not in UNNAMED}
        folders = {path for path in files if path.is_dir()}
        for argument in list(folders):
            for folder, inner, _ in os.walk(argument):
                inner[:] = [name for name in inner if not name.startswith((".", "__"))]
                folders.add(Path(folder))
        folders |= {path.parent for path in files}
        if workspace is not None:
            files |= workspace.scripts_read | workspace.imports_looked_for
        settings = {path for folder in (None, *folders) for path in settings_files(folder)}
        return files | folders | settings


def _state(path: Path) -> _State:
    try:
        if path.is_dir():
            with os.scandir(path) as found:
                return frozenset(
                    one.name
                    for one in found
                    if not one.name.startswith((".", "__"))
                    and (one.name.endswith((".saft", ".py")) or one.is_dir())
                )
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


def _at_begin(before: _State, now: _State) -> _State:
    """What a file or folder was like when a round began, with the modules that were written."""
    if isinstance(before, frozenset) and isinstance(now, frozenset):
        return before | {name for name in now if not name.endswith(".saft")}
    return before


def _holds_scripts(state: _State) -> bool:
    return isinstance(state, frozenset) and any(name.endswith(".saft") for name in state)
