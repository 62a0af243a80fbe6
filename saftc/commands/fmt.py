"""`saftc fmt`: the text of a script in the one form that `saftc.formatter.statements` writes.

`format_source` is pure: text in, text out. What was written is read again and compared with the
script, so that formatting never changes what a script means. `Formatter` does it to files; a script
that cannot be read is left alone.
"""

import sys
from pathlib import Path

from saftc.commands.reporting import complain, difference, say, write_found, write_result
from saftc.formatter.formatter import format_source
from saftc.project.files import (
    FileProblem,
    read_module,
    read_source,
    scripts_below,
    write_module,
)


class Formatter:
    """Formats files in place, or only says what it would do."""

    def __init__(self, *, check: bool, diff: bool) -> None:
        self.check = check
        self.diff = diff
        self.has_failed = False

    def format(self, argument: str) -> None:
        """Formats a script, or those below a folder; standard input goes to standard output."""
        try:
            files = scripts_below(argument)
        except FileProblem as problem:
            complain(str(problem))
            self.has_failed = True
            return
        for file in files:
            self._format(file)

    def _format(self, file: str) -> None:
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
            write_found(formatted.diagnostics, source, sys.stderr)
            self.has_failed = True
            return
        text = formatted.text
        if existing.partition("\n")[0].endswith("\r"):
            text = text.replace("\n", "\r\n")
        if self.check or self.diff:
            if text != existing:
                self._tell(file, existing, text)
        elif file == "-":
            write_result(text)
        elif text != existing:
            # A link stays one: what it points to is replaced.
            write_module(Path(file), text)
            say(f"{file} formatted")

    def _tell(self, file: str, existing: str, text: str) -> None:
        if self.diff:
            write_result(difference(existing, text, file, "formatted"))
        if self.check:
            say(f"{file} is not formatted: run `saftc fmt {file}`")
            self.has_failed = True
