"""`--watch`: scripts are built, or checked, again when they, or what they import, change.

    watch = Watch(["scripts"], open_workspace, build)
    watch.begin()           builds them all
    watch.look()            builds what has changed since; whether anything has

The process stays, with all that it has loaded: only what has changed is compiled, and of that only
what it has not in common with its earlier text. What is said here of building holds for checking.
"""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from saftc.project.files import FileProblem
from saftc.project.reads import Question, Reads
from saftc.project.workspace import Workspace
from saftc.reporting import WrongUsage, complain, say
from saftc.types.types import forget_remembered

# How often the files are looked at, in seconds.
EVERY = 0.1

def refuse_watching(arguments: Sequence[str], options: Mapping[str, object], what: str) -> None:
    """Raises WrongUsage where an option, or standard input, does not go with --watch."""
    for option, is_given in options.items():
        if is_given:
            raise WrongUsage(f"--watch {what}: leave {option} out")
    if "-" in arguments:
        raise WrongUsage("--watch needs scripts in files, and `-` is standard input")


def watch_scripts(
    arguments: Sequence[str],
    open_workspace: Callable[[Reads], Workspace],
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
        open_workspace: Callable[[Reads], Workspace],
        build: Callable[[Workspace, bool], object],
    ) -> None:
        self._arguments = arguments
        self._open_workspace = open_workspace
        self._build = build
        self._reads = Reads()
        self._workspace: Workspace | None = None

    def begin(self) -> None:
        """Builds all scripts."""
        self._renew(is_first=True)
        # What is loaded by now stays.
        gc.collect()
        gc.freeze()

    def look(self) -> bool:
        """Builds again what has changed; whether anything has."""
        changed = self._reads.changed()
        if not changed:
            return False
        workspace = self._workspace
        if workspace is not None and all(self._has_new_text(one) for one in changed):
            for question in changed:
                workspace.forget(question.name)
            self._round(workspace, is_first=False)
        else:
            self._renew(is_first=False)
        forget_remembered()
        gc.collect()
        return True

    def _has_new_text(self, question: Question) -> bool:
        """Whether it was the text of a script that has changed, and is still there."""
        return question.kind == "file" and Path(question.name).is_file()

    def _renew(self, *, is_first: bool) -> None:
        """Builds where more has changed than scripts: settings, modules, or which files there are.

        What is in the cache is not compiled again.
        """
        self._reads = Reads()
        for argument in self._arguments:
            self._reads.ask(Question("below", argument))
        try:
            self._workspace = self._open_workspace(self._reads)
        except FileProblem as problem:
            self._workspace = None
            complain(str(problem))
        self._round(self._workspace, is_first=is_first)

    def _round(self, workspace: Workspace | None, *, is_first: bool) -> None:
        if workspace is not None:
            try:
                self._build(workspace, is_first)
            except FileProblem as problem:
                complain(str(problem))
        for folder in (Path(), *map(Path, self._arguments), *self._reads.folders):
            self._reads.ask(Question("around", str(folder)))
