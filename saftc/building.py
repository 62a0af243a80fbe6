"""`saftc build`: scripts to module files, and what may not be overwritten."""

import difflib
import sys
from pathlib import Path

from saftc.driver import Checked, Compiled, compile_checked
from saftc.files import FileProblem, may_overwrite, read_module, write_module
from saftc.modules import Scripts
from saftc.reporting import complain, say, write_text


class Builder:
    """Writes the modules of scripts, and of the siblings they import, each once."""

    def __init__(self, *, check: bool, diff: bool, force: bool, source_map: bool) -> None:
        self.only_compares = check or diff
        self.check = check
        self.diff = diff
        self.force = force
        self.source_map = source_map
        self.scripts = Scripts()
        self.written: set[Path] = set()
        self.has_failed = False

    def build(self, file: str, target: Path | None) -> None:
        """Compiles `file` to `target`, or to standard output when that is None."""
        try:
            checked = self.scripts.check(file)
        except FileProblem as problem:
            complain(str(problem))
            self.has_failed = True
            return
        write_text(checked, sys.stderr)
        if checked.has_errors:
            self.has_failed = True
            return
        compiled = compile_checked(checked)
        assert compiled.text is not None
        if target is None:
            sys.stdout.write(compiled.text)
            return
        self._put(file, compiled, target)
        for sibling in self.scripts.of(file).checked_siblings():
            self._put_sibling(sibling, target.parent)

    def _put_sibling(self, checked: Checked, folder: Path) -> None:
        path = Path(checked.source.name)
        target = folder / (path.stem + ".py")
        if target not in self.written:
            self._put(str(path), compile_checked(checked), target)

    def _put(self, file: str, compiled: Compiled, target: Path) -> None:
        """Writes or compares one module."""
        assert compiled.module is not None
        text = compiled.module.text
        self.written.add(target)
        existing = read_module(target)
        if self.only_compares:
            self._compare(file, existing, text, target)
        elif target.exists() and file != "-" and target.samefile(file):
            complain(f"{target} is the script itself; name another file with -o")
            self.has_failed = True
        elif not self.force and not may_overwrite(target):
            complain(f"{target} was not written by saftc; --force overwrites it")
            self.has_failed = True
        else:
            if existing == text:
                say(f"{target} is up to date")
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                write_module(target, text)
                say(f"{file} -> {target}")
            if self.source_map:
                from saftc.codegen.source_map import render_source_map

                map_path = target.with_name(target.name + ".map")
                write_module(
                    map_path,
                    render_source_map(compiled.checked.source, compiled.module, target.name),
                )

    def _compare(self, file: str, existing: str | None, text: str, target: Path) -> None:
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
            say(f"{target} is out of date: run `saftc build {file}`")
            self.has_failed = True
