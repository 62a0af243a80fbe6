"""Diagnostics as data: codes, diagnostics, and the collector that keeps them in order.

A `Code` is declared once in the catalogue with its words; a stage reports a use of it:

    UNKNOWN_NAME.at(span, name="pepole", hint="did you mean `people`?")
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from saftc.source import Source, Span

# Hints are shown only on request.
Severity = Literal["error", "warning", "hint"]

# More than this in one run is noise: the first ones usually explain the others.
LIMIT = 20


@dataclass(frozen=True, slots=True)
class Related:
    """A further place that explains a diagnostic, such as "first defined here".

    `source` is the text that contains the place, if that is another script.
    """

    span: Span
    text: str
    source: Source | None = None


class Edit(NamedTuple):
    """An edit of a text: `text` replaces the content of `span`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint with edits that apply it.

    `instead` replaces the place of the diagnostic; `edits` are other edits. A hint that is a guess
    is applied only after somebody has looked at it.
    """

    text: str
    instead: str | None = None
    edits: tuple[Edit, ...] = ()
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake: its code, message, place, and at most one hint.

    `edits` apply the hint, if that is possible; `is_guess` if something else may be meant. `lines`
    are printed below it unchanged: the facts from which it follows.
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
    """A kind of mistake. `number` is never reused or changed in meaning."""

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
        """The diagnostic of this kind at `span`; `words` fill the template."""
        message = self.template.format(**words)
        if not isinstance(hint, Hint):
            return Diagnostic(self.number, self.severity, message, span, hint, related, (), lines)
        edits = hint.edits if hint.instead is None else (Edit(span, hint.instead),)
        said = (self.number, self.severity, message, span, hint.text)
        return Diagnostic(*said, related, edits, lines, hint.is_guess)


class Collector:
    """Diagnostics in source order, each place and code once, at most `most` in a report."""

    def __init__(self, most: int | None = LIMIT) -> None:
        self._most = most
        self._found: dict[tuple[str, Span], Diagnostic] = {}
        self._takes_warnings = True
        # The places of all diagnostics, including those that were not kept.
        self.places: set[int] = set()

    def add(self, diagnostic: Diagnostic) -> None:
        """Keeps `diagnostic`, unless the same code was already reported at its place."""
        self.places.add(diagnostic.span.start)
        if diagnostic.severity == "error" or self._takes_warnings:
            self._found.setdefault((diagnostic.code, diagnostic.span), diagnostic)

    def drop_warnings(self) -> None:
        """Ignores warnings from now on."""
        self._takes_warnings = False

    def all(self) -> tuple[Diagnostic, ...]:
        """All diagnostics so far, in source order."""
        return tuple(sorted(self._found.values(), key=lambda one: one.span.start))

    @property
    def has_errors(self) -> bool:
        """Whether any diagnostic so far is an error."""
        return any(one.severity == "error" for one in self._found.values())

    @property
    def is_full(self) -> bool:
        """Whether it has as many diagnostics as a report shows."""
        return self._most is not None and len(self._found) >= self._most

    def report(self) -> tuple[Diagnostic, ...]:
        """The diagnostics in source order. If not all fit, errors are preferred to warnings."""
        kept = sorted(self._found.values(), key=lambda one: one.severity != "error")[: self._most]
        return tuple(sorted(kept, key=lambda one: (one.span.start, one.code)))
