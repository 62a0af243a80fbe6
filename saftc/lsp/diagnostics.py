"""The diagnostics and quick fixes of a script, in terms of the protocol."""

from collections.abc import Callable

from lsprotocol import types as lsp

from saftc.diagnostics import catalogue
from saftc.diagnostics.fixes import edits_of
from saftc.diagnostics.model import Diagnostic
from saftc.driver import Checked
from saftc.lsp.protocol import Lines
from saftc.project.files import FileProblem

_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "hint": lsp.DiagnosticSeverity.Hint,
}
_NEEDLESS = {catalogue.UNUSED_NAME.number, catalogue.UNREACHABLE.number}
# The most diagnostics that are sent. More would take the editor too long, and nobody reads them.
MOST_TOLD = 1_000


def reported(
    checked: Checked, lines: Lines, uri: str, lines_of: Callable[[str], tuple[str, Lines]]
) -> list[lsp.Diagnostic]:
    """The diagnostics of a script, at most `MOST_TOLD`.

    `lines_of` returns the URI and the lines of another script.
    """
    found = (*checked.diagnostics, *checked.hints_of_prompts())
    told = [_reported(one, lines, uri, lines_of) for one in found[:MOST_TOLD]]
    if len(found) > MOST_TOLD:
        place = lines.range(found[MOST_TOLD].span)
        told.append(_said(place, f"{len(found) - MOST_TOLD:,} more from here on are not shown"))
    return told


def not_checked(problem: FileProblem) -> lsp.Diagnostic:
    """The diagnostic for a script that could not be checked."""
    return _said(lsp.Range(lsp.Position(0, 0), lsp.Position(1, 0)), str(problem))


def _said(place: lsp.Range, text: str) -> lsp.Diagnostic:
    return lsp.Diagnostic(place, text, severity=lsp.DiagnosticSeverity.Warning, source="saftc")


def _reported(
    one: Diagnostic, lines: Lines, uri: str, lines_of: Callable[[str], tuple[str, Lines]]
) -> lsp.Diagnostic:
    related: list[lsp.DiagnosticRelatedInformation] = []
    for place in one.related:
        its = (uri, lines) if place.source is None else lines_of(place.source.name)
        location = lsp.Location(its[0], its[1].range(place.span))
        related.append(lsp.DiagnosticRelatedInformation(location, place.text))
    return lsp.Diagnostic(
        range=lines.range(one.span),
        severity=_SEVERITIES[one.severity],
        code=one.code,
        code_description=lsp.CodeDescription(catalogue.address_of_page(one.code)),
        source="saftc",
        message=one.message if one.hint is None else f"{one.message}\n{one.hint}",
        tags=[lsp.DiagnosticTag.Unnecessary] if one.code in _NEEDLESS else None,
        related_information=related or None,
    )


def fixes(
    checked: Checked, lines: Lines, uri: str, wanted: lsp.Range, given: list[lsp.Diagnostic]
) -> list[lsp.CodeAction]:
    """The quick fixes of the diagnostics in a range, as edits of the text."""
    found: list[lsp.CodeAction] = []
    for one in checked.diagnostics:
        place = lines.range(one.span)
        overlaps = place.start <= wanted.end and wanted.start <= place.end
        if not one.edits or not overlaps:
            continue
        changes = edits_of(one, checked.source)
        edits = [lsp.TextEdit(lines.range(edit.span), edit.text) for edit in changes]
        told = [it for it in given if it.code == one.code and it.range == place]
        found.append(
            lsp.CodeAction(
                title=_title(one),
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=told or None,
                is_preferred=not one.is_guess,
                edit=lsp.WorkspaceEdit(changes={uri: edits}),
            )
        )
    return found


def _title(one: Diagnostic) -> str:
    edit = one.edits[0]
    if not edit.text:
        return "Remove it"
    return f"Write `{edit.text}`" if edit.span.start < edit.span.end else f"Insert `{edit.text}`"
