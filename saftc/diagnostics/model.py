"""Diagnostics as data: codes, diagnostics, and a collector that sorts and limits them.

A `Code` is declared once in the catalogue, with a template for its message. The stages of the
compiler create diagnostics from it:

    UNKNOWN_NAME.at(span, name="pepole", hint="did you mean `people`?")
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from saftc.source import Source, Span

# "hint": shown only on request.
Severity = Literal["error", "warning", "hint"]

# The limit of a report: the first diagnostics usually explain the others.
LIMIT = 20


@dataclass(frozen=True, slots=True)
class Related:
    """Another place in a script that helps to explain a diagnostic, such as "first defined here".

    `source` is the script that contains the place, if it is not the script of the diagnostic.
    """

    span: Span
    text: str
    source: Source | None = None


class Edit(NamedTuple):
    """An edit of a script: `text` replaces the content of `span`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint with the edits that apply it.

    `instead` replaces the text of the diagnostic's span. Without `instead`, `edits` apply the hint.
    If `is_guess`, the edits are applied only after a person has confirmed them.
    """

    text: str
    instead: str | None = None
    edits: tuple[Edit, ...] = ()
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One diagnostic: its code, its message, its span in the script, and at most one hint.

    `edits` apply the hint. `is_guess` is true if the author may have meant something else. `lines`
    give the facts behind the diagnostic, and are printed below it unchanged.
    """

    code: str
    severity: Severity
    message: str
    span: Span
    hint: str | None = None
    related: tuple[Related, ...] = ()
    edits: tuple[Edit, ...] = ()
    lines: tuple[str, ...] = ()
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of diagnostic. `number` is never reused or changed in meaning."""

    number: str
    severity: Severity
    template: str

    def at(
        self,
        span: Span,
        *,
        hint: str | Hint | None = None,
        related: tuple[Related, ...] = (),
        lines: tuple[str, ...] = (),
        **words: object,
    ) -> Diagnostic:
        """Returns the diagnostic of this kind at `span`. `words` fill the template."""
        message = self.template.format(**words)
        if not isinstance(hint, Hint):
            return Diagnostic(self.number, self.severity, message, span, hint, related, (), lines)
        edits = hint.edits if hint.instead is None else (Edit(span, hint.instead),)
        said = (self.number, self.severity, message, span, hint.text)
        return Diagnostic(*said, related, edits, lines, hint.is_guess)


class Collector:
    """Collects diagnostics, one per span and code. A report has at most `most` diagnostics."""

    def __init__(self, most: int | None = LIMIT) -> None:
        self._most = most
        self._found: dict[tuple[str, Span], Diagnostic] = {}
        self._takes_warnings = True
        # The places of all diagnostics, including those that were dropped.
        self.places: set[int] = set()

    def add(self, diagnostic: Diagnostic) -> None:
        """Adds `diagnostic`, unless a diagnostic with the same code and span was added before."""
        self.places.add(diagnostic.span.start)
        if diagnostic.severity == "error" or self._takes_warnings:
            self._found.setdefault((diagnostic.code, diagnostic.span), diagnostic)

    def drop_warnings(self) -> None:
        """Ignores warnings from now on."""
        self._takes_warnings = False

    def all(self) -> tuple[Diagnostic, ...]:
        """All diagnostics that have been added, in source order."""
        return tuple(sorted(self._found.values(), key=lambda one: one.span.start))

    @property
    def has_errors(self) -> bool:
        """True if any diagnostic so far is an error."""
        return any(one.severity == "error" for one in self._found.values())

    @property
    def is_full(self) -> bool:
        """True if the collected diagnostics fill a report."""
        return self._most is not None and len(self._found) >= self._most

    def report(self) -> tuple[Diagnostic, ...]:
        """Returns the diagnostics to report, in source order.

        If there are too many, warnings and hints are dropped before errors.
        """
        kept = sorted(self._found.values(), key=lambda one: one.severity != "error")[: self._most]
        return tuple(sorted(kept, key=lambda one: (one.span.start, one.code)))
