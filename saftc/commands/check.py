"""`saftc check`: what is wrong with scripts, as text or as JSON."""

import sys
from collections.abc import Sequence

from saftc.commands.reporting import complain, say, write_diagnostics
from saftc.diagnostics.render import as_data, render_json
from saftc.project.files import FileProblem
from saftc.project.scripts import Scripts


def check_all(files: Sequence[str], *, as_json: bool) -> bool:
    """Writes what is wrong with scripts; whether one of them has errors or cannot be read."""
    data: list[dict[str, object]] = []
    failed = False
    errors = warnings = 0
    scripts = Scripts()
    for file in files:
        try:
            checked = scripts.check(file)
        except FileProblem as problem:
            complain(str(problem))
            failed = True
            continue
        failed = failed or checked.has_errors
        for diagnostic in checked.diagnostics:
            errors += diagnostic.severity == "error"
            warnings += diagnostic.severity == "warning"
        if as_json:
            data += as_data(checked.diagnostics, checked.source)
        else:
            write_diagnostics(checked, sys.stdout)
    if as_json:
        sys.stdout.write(render_json(data))
    else:
        say(_summary(len(files), errors, warnings))
    return failed


def _summary(files: int, errors: int, warnings: int) -> str:
    counted = f"{files} file{'s' if files != 1 else ''} checked"
    if not errors and not warnings:
        return f"{counted}, nothing to report"
    parts = [
        f"{count} {word}{'s' if count != 1 else ''}"
        for count, word in ((errors, "error"), (warnings, "warning"))
        if count
    ]
    return f"{counted}: {', '.join(parts)}"
