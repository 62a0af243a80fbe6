"""The outcome of evaluating a program, as data and as text for the model that wrote the program.

    Success(value, program, calls)
    ProgramFailure(kind, message, path, diagnostics)
    Ambiguous(points)      each point: message, path, candidates; a candidate is a whole program

Paths are JSON Pointers into the program. `str(outcome)` is the text for the model:

    Ambiguous at (root): 2 books are called Emma. Reply with one program or its number.
    1. the 1815 edition: {"find_book":{"title":"Emma","year":1815}}
    2. the 1996 edition: {"find_book":{"title":"Emma","year":1996}}

A function that cannot decide raises `Ambiguity(message, [option(...), ...])`. The named arguments
of an option are added to the function's call; a single value replaces the whole call.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

ProgramFailureKind = Literal[
    "invalid", "error", "conversion", "bad_result", "limit", "timeout", "denied"
]
CallKind = Literal["function", "conversion", "type"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was made: its `arguments` by name, its `seconds`, its `error` or None on success.

    `kind` distinguishes functions, conversions and constructors; `pure` calls have no side effects.
    `reused` is true if the call took the result of an earlier, equal call.
    """

    name: str
    arguments: dict[str, Any]
    path: str
    kind: CallKind
    pure: bool
    result: Any = None
    error: str | None = None
    seconds: float = 0.0
    reused: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program that the model may have meant, with a sentence that tells it apart from others."""

    sentence: str
    program: Any


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake in a program, and its path."""

    message: str
    path: str


@dataclass(frozen=True, slots=True)
class Point:
    """An ambiguous place of a program, with a candidate program for each choice.

    There are no candidates if programs cannot express the choices.
    """

    message: str
    path: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Success:
    """The program has run: its value, the program as JSON data, and the calls in source order."""

    value: Any
    program: Any
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramFailure:
    """The program is invalid or has failed: the reason, the place, and the calls made before.

    If the program is invalid, `message` joins the messages of all diagnostics. Otherwise, it is the
    message of the first diagnostic. `path` is always the path of the first diagnostic.
    """

    kind: ProgramFailureKind
    message: str
    path: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    calls: tuple[Call, ...] = field(default=())

    def __str__(self) -> str:
        kind = self.kind.replace("_", " ").capitalize()
        listed = self.diagnostics if self.kind == "invalid" else [self]
        return "\n".join(f"{kind} at {_place(one.path)}: {one.message}" for one in listed)


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The program is ambiguous: one point for each ambiguous place, in source order."""

    points: tuple[Point, ...]
    calls: tuple[Call, ...] = field(default=())

    @property
    def message(self) -> str:
        return "; ".join(point.message for point in self.points)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates of all points, in the order of their numbers in the text."""
        return tuple(candidate for point in self.points for candidate in point.candidates)

    def __str__(self) -> str:
        lines: list[str] = []
        numbers = itertools.count(1)
        for point in self.points:
            asking = " Reply with one program or its number." if point.candidates else ""
            lines.append(f"Ambiguous at {_place(point.path)}: {as_sentence(point.message)}{asking}")
            lines += [
                f"{next(numbers)}. {one.sentence}: {compact(one.program)}"
                for one in point.candidates
            ]
        return "\n".join(lines)


Outcome = Success | ProgramFailure | Ambiguous


def invalid(diagnostics: Iterable[Diagnostic]) -> ProgramFailure:
    """Returns the failure of a program that is not started because of these mistakes."""
    found = tuple(diagnostics)
    message = "\n".join(one.message for one in found)
    return ProgramFailure("invalid", message, found[0].path, found)


def compact(program: Any) -> str:
    """Returns a program as JSON text on one line."""
    return json.dumps(program, ensure_ascii=False, separators=(",", ":"))


def _place(path: str) -> str:
    return path or "(root)"


def as_sentence(message: str) -> str:
    """Returns the message with a punctuation mark at its end."""
    return message if message.endswith((".", "?", "!")) else message + "."
