"""`saftc build`: scripts to module files, and what may not be overwritten."""

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from saftc.commands.reporting import complain, say, write_rendered
from saftc.project.files import FileProblem, may_overwrite, read_module, write_module
from saftc.project.workspace import Workspace


class Builder:
    """Writes the modules of scripts, and of the siblings they import, each once."""

    def __init__(
        self, workspace: Workspace, *, check: bool, diff: bool, force: bool, source_map: bool
    ) -> None:
        self.workspace = workspace
        self.only_compares = check or diff
        self.check = check
        self.diff = diff
        self.force = force
        self.source_map = source_map
        # The script of each module that has been settled.
        self.done: dict[Path, Path] = {}
        self.has_failed = False

    def build_all(self, targets: Sequence[tuple[str, Path | None]]) -> bool:
        """Compiles scripts to their targets, to standard output where that is None.

        Whether all went well.
        """
        try:
            self.workspace.compile_ahead([file for file, _ in targets])
            for file, target in targets:
                self._build(file, target)
        finally:
            self.workspace.close()
        return not self.has_failed

    def _build(self, file: str, target: Path | None) -> None:
        try:
            module = self.workspace.compile(file)
        except FileProblem as problem:
            complain(str(problem))
            self.has_failed = True
            return
        write_rendered(module.said, sys.stderr)
        if module.text is None:
            self.has_failed = True
        elif target is None:
            sys.stdout.write(module.text)
        else:
            self._put(file, target)
            for path in self.workspace.siblings(module):
                self._put(str(path), target.parent / (path.stem + ".py"))

    def _put(self, file: str, target: Path) -> None:
        """Writes or compares one module."""
        script = Path(file)
        other = self.done.setdefault(target, script)
        if other is not script:
            if other != script:
                complain(f"{other} and {script} would both become {target}")
                self.has_failed = True
            return
        text = self.workspace.compile(file).text
        assert text is not None
        if self.put(file, text, target) and self.source_map:
            module = self.workspace.compile_with_map(file, target.name)
            path = target.with_name(target.name + ".map")
            if read_module(path) != module.source_map:
                write_module(path, module.source_map)

    def put(self, file: str, text: str, target: Path, *more: str) -> bool:
        """Writes the module made from `file`, or compares it; whether it has been written.

        `more` are the words that the command needs besides the file.
        """
        existing = read_module(target)
        if self.only_compares:
            self._compare(" ".join([file, *more]), existing, text, target)
            return False
        if target.exists() and file != "-" and target.samefile(file):
            complain(f"{target} is the script itself; name another file with -o")
            self.has_failed = True
            return False
        if not self.force and not may_overwrite(target):
            complain(f"{target} was not written by saftc; --force overwrites it")
            self.has_failed = True
            return False
        if existing == text:
            say(f"{target} is up to date")
        else:
            write_module(target, text)
            say(f"{file} -> {target}")
        return True

    def _compare(self, words: str, existing: str | None, text: str, target: Path) -> None:
        if existing == text:
            return
        if self.diff:
            lines = difflib.unified_diff(
                (existing or "").splitlines(keepends=True),
                text.splitlines(keepends=True),
                fromfile=f"{target} (on disk)",
                tofile=f"{target} (compiled)",
            )
            sys.stdout.writelines(lines)
        if self.check:
            say(f"{target} is out of date: run `saftc build {words}`")
            self.has_failed = True

