"""`saftc fmt`: formats scripts as `saftc.formatter.statements` writes them.

`format_source` neither reads nor writes files. It parses its result and compares it with the
script, so that formatting never changes a script's meaning. A script with syntax errors is not
formatted.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from saftc.formatter.formatter import format_source
from saftc.project.files import (
    FileProblem,
    files_of,
    is_special,
    read_script,
    shown,
    write_module,
)
from saftc.reporting import difference, show_error, show_info, write_found, write_result
from saftc.source import Source


def format_scripts(arguments: Sequence[str], *, check: bool, diff: bool) -> int:
    """Formats scripts, or only reports differences. Returns the exit code.

    For a folder, all scripts at any depth are formatted. Standard input, or another pipe, is
    formatted to standard output.
    """
    files, problems = files_of(arguments)
    failed = False
    for file in files:
        try:
            if file in problems:
                raise problems[file]
            failed = not _format(file, check=check, diff=diff) or failed
        except FileProblem as problem:
            show_error(str(problem))
            failed = True
    return int(failed)


def _format(file: str, *, check: bool, diff: bool) -> bool:
    """Formats a script.

    Returns False if it has syntax errors, or if `check` finds it unformatted.
    """
    data = read_script(file)
    source = Source.from_bytes(shown(file), data)
    # Unlike the source, the text has the file's line ends.
    existing = data.decode("utf-8", errors="surrogateescape")
    formatted = format_source(source)
    text = formatted.text
    if text is None:
        write_found(formatted.diagnostics, source, sys.stderr)
        return False
    if existing.partition("\n")[0].endswith("\r"):
        text = text.replace("\n", "\r\n")
    if diff and text != existing:
        write_result(difference(existing, text, file, "formatted"))
    if check and text != existing:
        show_info(f"{file} is not formatted: run `saftc fmt {file}`")
        return False
    if check or diff:
        return True
    if file == "-" or is_special(Path(file)):
        write_result(text)
    elif text != existing:
        # A link is followed: its target is replaced.
        write_module(Path(file), text)
        show_info(f"{file} formatted")
    return True
