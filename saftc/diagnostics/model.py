"""What can be wrong, as data: codes, diagnostics, and the collector that keeps them in order.

A `Code` is declared once in the catalogue with its words; a stage reports a use of it:

    UNKNOWN_NAME.at(span, name="pepole", hint="did you mean `people`?")
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from saftc.source import Source, Span

# A hint is shown only to those who ask for it.
Severity = Literal["error", "warning", "hint"]

# More than this in one run is noise: the first ones usually explain the others.
LIMIT = 20


@dataclass(frozen=True, slots=True)
class Related:
    """A further place that explains a diagnostic, such as "first defined here".

    `source` is the text that the place is in, when that is another script.
    """

    span: Span
    text: str
    source: Source | None = None


class Edit(NamedTuple):
    """A change of a text: what is at `span` becomes `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint that can be followed by a change of the text.

    `instead` is what belongs at the place of the diagnostic; `edits` are other changes. One that
    is a guess is made only by somebody who has looked at it.
    """

    text: str
    instead: str | None = None
    edits: tuple[Edit, ...] = ()
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake: its code, words, place, and at most one hint that says what to do.

    `edits` do what the hint says, where that is a change of the text; `is_guess` where something
    else may be meant. `lines` are below it as they are: what it follows from.
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
    """A kind of mistake. `number` never changes its meaning and is never used again."""

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
        # Where anything was found, also what was not kept.
        self.places: set[int] = set()

    def add(self, diagnostic: Diagnostic) -> None:
        """Keeps `diagnostic`, unless the same code was already reported at its place."""
        self.places.add(diagnostic.span.start)
        if diagnostic.severity == "error" or self._takes_warnings:
            self._found.setdefault((diagnostic.code, diagnostic.span), diagnostic)

    def drop_warnings(self) -> None:
        """From now on, only errors are kept."""
        self._takes_warnings = False

    def all(self) -> tuple[Diagnostic, ...]:
        """Everything found so far, in source order."""
        return tuple(sorted(self._found.values(), key=lambda one: one.span.start))

    @property
    def has_errors(self) -> bool:
        """Whether anything found so far is an error."""
        return any(one.severity == "error" for one in self._found.values())

    @property
    def is_full(self) -> bool:
        """Whether there is as much as a report shows."""
        return self._most is not None and len(self._found) >= self._most

    def report(self) -> tuple[Diagnostic, ...]:
        """The diagnostics in source order. Errors go before warnings when not all fit."""
        kept = sorted(self._found.values(), key=lambda one: one.severity != "error")[: self._most]
        return tuple(sorted(kept, key=lambda one: (one.span.start, one.code)))
