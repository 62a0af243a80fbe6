"""What can stop a program while it runs, and where in it.

A `Stopped` carries all the problems of the parts that were evaluated side by side: a failure
outranks an ambiguity, and independent ambiguities are reported together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from runtime_support.programs.outcomes import FailureKind
from runtime_support.programs.patching import Place
from runtime_support.programs.paths import Path

Position = tuple[int, ...]
"""Where in source order, elements of a `$map` included: compares as the program would run."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a `$map` under evaluation: its index among all the items kept.

    `items` is empty when which items are kept is not known yet.
    """

    path: Path
    variable: str
    index: int
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """Where evaluation is: the variables in scope, the position, the enclosing elements.

    `beside` is true when other parts are evaluated at the same time.
    """

    names: Mapping[str, Any]
    position: Position = ()
    elements: tuple[Element, ...] = ()
    beside: bool = False

    def at(self, index: int) -> Frame:
        return replace(self, position=(*self.position, index))

    def bound(self, names: Mapping[str, Any]) -> Frame:
        return replace(self, names={**self.names, **names})

    def side_by_side(self) -> Frame:
        return replace(self, beside=True)

    def element(self, element: Element) -> Frame:
        inner = self.bound({element.variable: element.items[element.index]})
        return replace(inner, elements=(*self.elements, element))


@dataclass(frozen=True, slots=True)
class Failed:
    position: Position
    path: Path
    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A sentence, and the expression (as JSON data) that would stand at the place."""

    sentence: str
    place: Place
    new: Any


@dataclass(frozen=True, slots=True)
class Unclear:
    position: Position
    path: Path
    message: str
    choices: tuple[Choice, ...]
    elements: tuple[Element, ...]


Problem = Failed | Unclear


class Stopped(Exception):
    """Evaluation of a part cannot go on."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems)
        self.problems = problems
