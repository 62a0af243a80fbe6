"""`saftc fmt`: the text of a script in the one form that `saftc.formatter.statements` writes.

`format_source` is pure: text in, text out. What was written is read again and compared with the
script, so that formatting never changes what a script means. `Formatter` does it to files; a script
that cannot be read is left alone.
"""

import difflib
import sys
from pathlib import Path

from saftc.diagnostics.render import render_text
from saftc.files import FileProblem, read_module, read_source, write_module
from saftc.formatter.formatter import format_source
from saftc.reporting import complain, say


class Formatter:
    """Formats files in place, or only says what it would do."""

    def __init__(self, *, check: bool, diff: bool) -> None:
        self.check = check
        self.diff = diff
        self.has_failed = False

    def format(self, file: str) -> None:
        """Formats the script `file`; `-` is standard input, written to standard output."""
        try:
            source = read_source(file)
            # Unlike the source, the text has the file's line ends.
            existing = source.text if file == "-" else read_module(Path(file)) or ""
        except FileProblem as problem:
            complain(str(problem))
            self.has_failed = True
            return
        formatted = format_source(source)
        if formatted.text is None:
            print(render_text(formatted.diagnostics, source), file=sys.stderr, end="")
            self.has_failed = True
            return
        text = formatted.text
        if existing.partition("\n")[0].endswith("\r"):
            text = text.replace("\n", "\r\n")
        if self.check or self.diff:
            self._compare(file, existing, text)
        elif file == "-":
            sys.stdout.write(text)
        elif text != existing:
            # A link stays one: what it points to is replaced.
            write_module(Path(file).resolve(), text)
            say(f"{file} formatted")

    def _compare(self, file: str, existing: str, text: str) -> None:
        if text == existing:
            return
        if self.diff:
            lines = difflib.unified_diff(
                existing.splitlines(keepends=True),
                text.splitlines(keepends=True),
                fromfile=f"{file} (on disk)",
                tofile=f"{file} (formatted)",
            )
            sys.stdout.writelines(lines)
        if self.check:
            say(f"{file} is not formatted: run `saftc fmt {file}`")
            self.has_failed = True
