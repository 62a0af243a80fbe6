"""Writes diagnostics for other programs: as JSON, SARIF, and GitHub's workflow commands.

Each function gets scripts with their diagnostics and returns the text of the report.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from saftc._version import __version__
from saftc.diagnostics.catalogue import BY_NUMBER
from saftc.diagnostics.model import Diagnostic, Edit
from saftc.diagnostics.render import as_data, render_json
from saftc.source import Source, Span

Found = Sequence[tuple[Source, Sequence[Diagnostic]]]

_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}
_COMMANDS = {"error": "error", "warning": "warning", "hint": "notice"}


def as_json(found: Found) -> str:
    """Returns a JSON array with an object for each diagnostic."""
    return render_json([one for source, told in found for one in as_data(told, source)])


def as_sarif(found: Found) -> str:
    """Returns a SARIF 2.1.0 log with one run."""
    codes = sorted({one.code for _, diagnostics in found for one in diagnostics})
    driver = {
        "name": "saftc",
        "version": __version__,
        "rules": [
            {
                "id": code,
                "defaultConfiguration": {"level": _LEVELS[BY_NUMBER[code].severity]},
                "help": {"text": f"`saftc explain {code}` explains it."},
            }
            for code in codes
        ],
    }
    results = [_result(source, one, codes) for source, diagnostics in found for one in diagnostics]
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return json.dumps(log, ensure_ascii=False, indent=2) + "\n"


def _result(source: Source, one: Diagnostic, codes: list[str]) -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": one.code,
        "ruleIndex": codes.index(one.code),
        "level": _LEVELS[one.severity],
        "message": {"text": _words(one)},
        "locations": [_location(source, one.span)],
    }
    if one.related:
        result["relatedLocations"] = [
            {**_location(place.source or source, place.span), "message": {"text": place.text}}
            for place in one.related
        ]
    if one.edits:
        change = {
            "artifactLocation": {"uri": _uri(source)},
            "replacements": [_replacement(source, edit) for edit in one.edits],
        }
        result["fixes"] = [{"description": {"text": one.hint}, "artifactChanges": [change]}]
    return result


def _location(source: Source, span: Span) -> dict[str, object]:
    artifact = {"uri": _uri(source)}
    place = {"artifactLocation": artifact, "region": _region(source, span)}
    return {"physicalLocation": place}


def _region(source: Source, span: Span) -> dict[str, int]:
    (line, column), (end_line, end_column) = map(source.position, span)
    return {
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
    }


def _replacement(source: Source, edit: Edit) -> dict[str, object]:
    return {
        "deletedRegion": _region(source, edit.span),
        "insertedContent": {"text": edit.text},
    }


def _uri(source: Source) -> str:
    path = Path(source.name)
    return path.as_uri() if path.is_absolute() else path.as_posix()


def as_github(found: Found) -> str:
    """Returns a workflow command for each diagnostic. GitHub shows it at the script's line."""
    return "".join(_command(source, one) for source, diagnostics in found for one in diagnostics)


def _command(source: Source, one: Diagnostic) -> str:
    (line, column), (end_line, end_column) = map(source.position, one.span)
    places = {"file": source.name, "line": line, "endLine": end_line}
    if line == end_line:
        places |= {"col": column, "endColumn": end_column}
    places["title"] = one.code
    properties = ",".join(f"{name}={_escaped(str(value))}" for name, value in places.items())
    return f"::{_COMMANDS[one.severity]} {properties}::{_escaped_message(_words(one))}\n"


def _words(one: Diagnostic) -> str:
    words = one.message if one.hint is None else f"{one.message}: {one.hint}"
    return "\n".join([words, *one.lines])


def _escaped_message(text: str) -> str:
    return _replaced(text, {"%": "%25", "\r": "%0D", "\n": "%0A"})


def _escaped(text: str) -> str:
    return _replaced(text, {"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def _replaced(text: str, table: dict[str, str]) -> str:
    return text.translate(str.maketrans(table))


def written(found: Found, format: str) -> str:
    """Returns the report in a format: `json`, `sarif` or `github`."""
    return {"json": as_json, "sarif": as_sarif, "github": as_github}[format](found)
