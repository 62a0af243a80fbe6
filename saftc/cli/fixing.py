"""`saftc check --fix`: applies the editor's quick fixes whose result is certain.

    Fixer(roots, shows=False).fix(["triage.saft"])      writes the fixed scripts
    Fixer(roots, shows=True).fix(["triage.saft"])       shows how the scripts would change

A fix is applied unless its hint is a guess. The script is checked again after each round of fixes,
and a fix that causes syntax errors is undone. `saftc check` reports all other mistakes.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from saftc.diagnostics.fixes import apply, edits_of
from saftc.diagnostics.model import Diagnostic, Edit
from saftc.driver import Checked
from saftc.project.files import (
    UNNAMED,
    FileProblem,
    is_special,
    read_script,
    shown,
    write_module,
)
from saftc.project.finder import Roots
from saftc.project.reads import Reads
from saftc.project.scripts import Scripts
from saftc.reporting import counted, difference, show_error, show_info, write_result
from saftc.source import Source, Span

# The most rounds for one script. Several are needed, as one mistake may hide another.
_MOST_ROUNDS = 100
# How the codes of syntax errors begin.
_UNREADABLE = "SAFT01"
_LINE_END = re.compile(r"\r\n")


class Fixer:
    """Fixes scripts.

    A script is checked against the fixed texts of the scripts that it imports.
    """

    def __init__(self, roots: Roots, *, shows: bool) -> None:
        self.shows = shows
        # The bytes of each script by path: as they were read, and with the fixes made so far.
        self.before: dict[str, bytes] = {}
        self.texts: dict[str, bytes] = {}
        self.fixed = Counter[str]()
        self._scripts = Scripts(Reads(self._read), most=None, roots=roots)

    def fix(self, files: Sequence[str]) -> bool:
        """Writes the fixed scripts, or only shows the changes.

        Returns whether all could be written. Scripts that cannot be read are skipped: the check
        that follows reports them.
        """
        readable = [file for file in files if self._is_readable(file)]
        changes = -1
        # A fix in one script may allow a fix in another.
        while changes != self.fixed.total():
            changes = self.fixed.total()
            for file in readable:
                with suppress(FileProblem):
                    self.fixed[file] += self._fix(file)
        return all([self._write(file) for file in readable if self.fixed[file]])

    def read(self, path: str) -> bytes:
        """The bytes of a script for the check that follows.

        If the fixes are only shown, not written, these are the bytes without fixes.
        """
        return self.before[path] if self.shows and path in self.before else read_script(path)

    def _is_readable(self, file: str) -> bool:
        # A pipe can be read only once.
        if file not in UNNAMED and is_special(Path(file)):
            return False
        try:
            data = read_script(file)
            data.decode()
        except (FileProblem, UnicodeDecodeError):
            return False
        self.before[file] = self.texts[file] = data
        return True

    def _write(self, file: str) -> bool:
        before, after = self.before[file], self.texts[file].decode()
        if self.shows:
            write_result(difference(before.decode(), after, shown(file), "fixed"))
            return True
        try:
            if read_script(file) != before:
                raise FileProblem(f"{file} has changed meanwhile: nothing is fixed in it")
            # If the path is a symbolic link, its target is replaced.
            write_module(Path(file), after)
        except FileProblem as problem:
            show_error(str(problem))
            return False
        show_info(f"{file}: {counted(self.fixed[file], 'mistake')} fixed")
        return True

    def _fix(self, file: str) -> int:
        """Fixes the text of a script. Returns how many mistakes were fixed."""
        fixed = 0
        refused: set[tuple[str, str]] = set()
        checked = self._scripts.check(file)
        for _ in range(_MOST_ROUNDS):
            wanted = _compatible_fixes(checked, refused)
            while wanted:
                text, source = self.texts[file], checked.source
                edits = [edit for one in wanted for edit in edits_of(one, source)]
                self._put(file, _edited(text.decode(), edits, source))
                after = self._scripts.check(file)
                if _unreadable(after) <= _unreadable(checked):
                    break
                # The fixes together cause syntax errors: undo them, and try the first one alone. If
                # it fails alone, refuse it.
                self._put(file, text)
                if len(wanted) == 1:
                    refused.add(_key(wanted[0], source))
                wanted = wanted[:1] if len(wanted) > 1 else _compatible_fixes(checked, refused)
            else:
                return fixed
            fixed, checked = fixed + len(wanted), after
        return fixed

    def _put(self, file: str, text: bytes) -> None:
        self.texts[file] = text
        self._scripts.forget(Path(file))

    def _read(self, path: str) -> bytes:
        text = self.texts.get(path)
        return read_script(path) if text is None else text


def _compatible_fixes(checked: Checked, refused: set[tuple[str, str]]) -> list[Diagnostic]:
    """The diagnostics that can be fixed in one round, as their edits do not overlap.

    Guesses and the `refused` fixes are left out. If the script has errors, warnings are left out,
    too: an error may cause a warning, such as that of an unused name.
    """
    found: list[Diagnostic] = []
    end = -1
    for one in checked.diagnostics:
        if checked.has_errors and one.severity != "error":
            continue
        edits = sorted(edits_of(one, checked.source))
        is_sure = edits and not one.is_guess and _key(one, checked.source) not in refused
        if is_sure and edits[0].span.start > end:
            found.append(one)
            end = edits[-1].span.end
    return found


def _key(one: Diagnostic, source: Source) -> tuple[str, str]:
    return one.code, source.at(one.span)


def _unreadable(checked: Checked) -> int:
    return sum(one.code.startswith(_UNREADABLE) for one in checked.diagnostics)


def _edited(text: str, edits: Sequence[Edit], source: Source) -> bytes:
    """Applies edits to the text of a file. Returns the file's new bytes.

    The edits have offsets in `source`, which lacks the byte order mark and the CRs of the file.
    """
    start = len(text) - len(text.removeprefix("\ufeff"))
    # The offsets in `source` at which the file has a further CR.
    lost = [at.start() - start - number for number, at in enumerate(_LINE_END.finditer(text))]

    def in_file(offset: int) -> int:
        return offset + start + bisect_left(lost, offset)

    placed = [Edit(Span(*map(in_file, span)), put) for span, put in edits]
    return apply(text, placed).encode()
