"""`saftc build`: scripts to module files, and what may not be overwritten.

A module whose record says that nothing has changed since it was built stays as it is; the compiler
is not even loaded for it.
"""

import difflib
import gc
import sys
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from saftc.files import FileProblem, may_overwrite, read_module, write_module
from saftc.finding import is_python_module, sibling
from saftc.records import OF_PYTHON, Record, Records, digest, digest_of
from saftc.reporting import as_text, complain, say, write_rendered

if TYPE_CHECKING:
    from saftc.codegen.module import Generated
    from saftc.driver import Checked
    from saftc.modules import Modules, Scripts


class Builder:
    """Writes the modules of scripts, and of the siblings they import, each once."""

    def __init__(self, *, check: bool, diff: bool, force: bool, source_map: bool) -> None:
        self.only_compares = check or diff
        self.check = check
        self.diff = diff
        self.force = force
        self.source_map = source_map
        self.records = Records()
        # The script of each module that has been settled, and what imports were found to be.
        self.done: dict[Path, Path] = {}
        self.imports: dict[tuple[Path, str], str | None] = {}
        self.has_failed = False

    @cached_property
    def scripts(self) -> "Scripts":
        """The scripts that are compiled; loads the compiler."""
        from saftc.modules import Scripts

        return Scripts()

    def build_all(self, targets: Iterable[tuple[str, Path | None]]) -> bool:
        """Compiles scripts to their targets, to standard output where that is None.

        Whether all went well.
        """
        try:
            for file, target in targets:
                if target is None or not self._is_unchanged(file, target):
                    self._build(file, target)
        finally:
            self.records.save()
        return not self.has_failed

    def _is_unchanged(self, file: str, target: Path) -> bool:
        """Whether a module and those that it imports are as they were built; if so, says it."""
        script = Path(file)
        record = self.records.of(target)
        if record is None or not self._holds(record, file, script.parent, target):
            return False
        settled = {target: script}
        for name, found in record.imports.items():
            path = sibling(name, script.parent)
            if found == OF_PYTHON or path is None:
                continue
            beside = _beside(target, path)
            known = self.records.of(beside)
            if known is None or not self._holds(known, str(path), script.parent, beside):
                return False
            settled[beside] = path
        if any(self.done.get(module, path) != path for module, path in settled.items()):
            return False
        write_rendered(record.said, sys.stderr)
        for module, path in settled.items():
            if module not in self.done and not self.only_compares:
                say(f"{module} is up to date")
            self.done[module] = path
        return True

    def _holds(self, record: Record, file: str, folder: Path, target: Path) -> bool:
        """Whether compiling `file` again would give what the record tells of."""
        script, before = Path(file), Path(record.script)
        return (
            (script == before or (not record.said and script.name == before.name))
            and record.source == digest_of(file)
            and record.module == digest_of(target)
            and (not self.source_map or record.source_map == digest_of(_map_path(target)))
            and all(self._import(folder, name) == was for name, was in record.imports.items())
        )

    def _import(self, folder: Path, name: str) -> str | None:
        """What a record has for the import of `name`, as things are now."""
        key = folder, name
        if key not in self.imports:
            path = sibling(name, folder)
            python = OF_PYTHON if path is None and is_python_module(name, folder) else None
            self.imports[key] = python if path is None else digest_of(path)
        return self.imports[key]

    def _build(self, file: str, target: Path | None) -> None:
        # With the collector off, what the file before has left in cycles would stay.
        gc.collect(0)
        modules = self.scripts.of(file)
        try:
            checked = self.scripts.check(file)
        except FileProblem as problem:
            complain(str(problem))
            self.has_failed = True
            return
        write_rendered(as_text(checked), sys.stderr)
        if checked.has_errors:
            self.has_failed = True
            return
        if target is None:
            sys.stdout.write(_generated(checked).text)
            return
        self._put(file, checked, modules, target)
        for imported in modules.checked_siblings():
            path = Path(imported.source.name)
            self._put(str(path), imported, modules, _beside(target, path))

    def _put(self, file: str, checked: "Checked", modules: "Modules", target: Path) -> None:
        """Writes or compares one module."""
        script = Path(file)
        other = self.done.setdefault(target, script)
        if other is not script:
            if other != script:
                complain(f"{other} and {script} would both become {target}")
                self.has_failed = True
            return
        module = _generated(checked)
        if not self.put(file, module.text, target):
            return
        source_map = self._write_map(checked, module, target) if self.source_map else None
        if file != "-":
            record = Record(
                script=file,
                source=modules.read[script].digest,
                module=digest(module.text.encode()),
                source_map=digest(source_map.encode()) if source_map is not None else "",
                imports=modules.imports(script),
                said=as_text(checked),
            )
            self.records.keep(target, record)

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

    def _write_map(self, checked: "Checked", module: "Generated", target: Path) -> str:
        from saftc.codegen.source_map import render_source_map

        text = render_source_map(checked.source, module, target.name)
        write_module(_map_path(target), text)
        return text

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


def _generated(checked: "Checked") -> "Generated":
    from saftc.driver import compile_checked

    module = compile_checked(checked).module
    assert module is not None
    return module


def _beside(target: Path, path: Path) -> Path:
    """The module of a sibling: beside the one that imports it."""
    return target.parent / (path.stem + ".py")


def _map_path(target: Path) -> Path:
    return target.with_name(target.name + ".map")
