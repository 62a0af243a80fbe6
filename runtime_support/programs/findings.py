"""What checking finds: diagnostics with corrected programs, and the points of an ambiguity.

An edit is a sentence with a function from the program to the corrected program; every edit stands
at a path, so that several can be made together, the deepest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from runtime_support.programs.outcomes import Candidate, Diagnostic, Point
from runtime_support.programs.patching import Place
from runtime_support.programs.paths import Path, pointer, renamed, starts_with


@dataclass(frozen=True, slots=True)
class Edit:
    sentence: str
    path: Path
    make: Callable[[Any], Any]


def rename(path: Path, new: str) -> Edit:
    return Edit(f"with {new}", path, lambda program: renamed(program, path, new))


def write(sentence: str, place: Place, new: Any) -> Edit:
    return Edit(sentence, place.path, lambda program: place.written(program, new))


class Findings:
    """Collects what is wrong with one program and where it has several readings."""

    def __init__(self, program: Any, diagnostics: Iterable[Diagnostic] = ()) -> None:
        self.program = program
        self.diagnostics = list(diagnostics)
        self._edits: list[Edit] = []
        self._points: list[tuple[Path, Point]] = []

    def wrong(self, message: str, path: Path, edits: Iterable[Edit] = ()) -> None:
        edits = list(edits)
        self._edits += edits[:1]
        suggestions = tuple(Candidate(edit.sentence, edit.make(self.program)) for edit in edits)
        self.diagnostics.append(Diagnostic(message, pointer(path), suggestions))

    def misspelt(self, message: str, path: Path, renamings: Iterable[tuple[Path, str]]) -> None:
        """A diagnostic whose edits rename keys: what the parser reports."""
        self.wrong(message, path, [rename(key, new) for key, new in renamings])

    def unclear(self, message: str, path: Path, choices: Iterable[Edit]) -> None:
        candidates = tuple(Candidate(edit.sentence, edit.make(self.program)) for edit in choices)
        self._points.append((path, Point(message, pointer(path), candidates)))

    @property
    def points(self) -> tuple[Point, ...]:
        return innermost(self._points)

    def all_edits_made(self) -> Candidate | None:
        """The program with the first edit of each diagnostic, when there are several."""
        if len(self._edits) < 2:
            return None
        program = self.program
        try:
            for edit in sorted(self._edits, key=lambda edit: -len(edit.path)):
                program = edit.make(program)
        except (KeyError, IndexError, TypeError, AttributeError):
            return None  # two edits of the same place
        return Candidate("with all of these corrected", program)


def innermost(points: Iterable[tuple[Path, Point]]) -> tuple[Point, ...]:
    """The points that have no other point inside them: settling those may settle the rest."""
    points = list(points)
    return tuple(
        point
        for path, point in points
        if not any(path != other and starts_with(other, path) for other, _ in points)
    )
