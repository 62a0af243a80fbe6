"""`--watch`: builds or checks scripts again when they, or files that they import, change.

    watch = Watch(["scripts"], open_workspace, build)
    watch.begin()           builds all scripts
    watch.look()            rebuilds changed scripts; returns True if there were any

The process keeps its modules and analyses in memory, so that it compiles only changed scripts.
"Build" also means "check" in this module.
"""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from saftc.project.files import FileProblem
from saftc.project.reads import Question, Reads
from saftc.project.workspace import Workspace
from saftc.reporting import WrongUsage, show_error, show_info
from saftc.types.types import forget_remembered

# The polling interval, in seconds.
EVERY = 0.1


def refuse_watching(arguments: Sequence[str], options: Mapping[str, object], what: str) -> None:
    """Raises WrongUsage if one of the `options` is set or standard input is among the arguments.

    `options` has the options that exclude --watch, and whether each of them is set. `what` says in
    the message what --watch does, for example "reports mistakes as text".
    """
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
    """Builds scripts, and rebuilds them after each change, until the process is interrupted.

    `load` is called after the first build. It imports modules that later builds need.
    """
    watch = Watch(arguments, open_workspace, build)
    watch.begin()
    show_info("watching for changes; Ctrl-C ends it")
    if load is not None:
        load()
    while True:
        time.sleep(EVERY)
        watch.look()


class Watch:
    """The watched scripts, and the files and folders that their last build read.

    `build(workspace, is_first)` builds the scripts that the workspace has not built yet.
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
        """Builds all scripts for the first time."""
        self._renew(is_first=True)
        # The objects that exist now live as long as the process: do not traverse them again.
        gc.collect()
        gc.freeze()

    def look(self) -> bool:
        """Rebuilds the scripts that have changed. Returns True if there were any."""
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
        """Whether `question`, whose answer has changed, is about a file that still exists."""
        return question.kind == "file" and Path(question.name).is_file()

    def _renew(self, *, is_first: bool) -> None:
        """Rebuilds everything in a new workspace.

        This is needed if settings, modules or the set of files have changed. Scripts whose
        compilation is in the cache are not compiled again.
        """
        self._reads = Reads()
        for argument in self._arguments:
            self._reads.ask(Question("below", argument))
        try:
            self._workspace = self._open_workspace(self._reads)
        except FileProblem as problem:
            self._workspace = None
            show_error(str(problem))
        self._round(self._workspace, is_first=is_first)

    def _round(self, workspace: Workspace | None, *, is_first: bool) -> None:
        if workspace is not None:
            try:
                self._build(workspace, is_first)
            except FileProblem as problem:
                show_error(str(problem))
        for folder in (Path(), *map(Path, self._arguments), *self._reads.folders):
            self._reads.ask(Question("around", str(folder)))
