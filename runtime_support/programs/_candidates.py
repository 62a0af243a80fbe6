"""Corrected and chosen programs: the program of the model with some places written anew.

    argument("/upper", bare "text", {"$ref": "x"})   {"upper": {"text": {"$ref": "x"}}}
    spelled((author_of, name_of), {"$ref": "b"})     {"name_of": {"value": {"author_of": ...}}}

A `Place` is where the value of an expression can be written; a bare argument becomes the full
object of arguments, since an object cannot stand bare. `Findings` are the diagnostics of one
program with its corrections; every edit stands at a path, so that several can be made together,
the deepest first.

A choice inside a `$map` that came up at run time concerns one element. When it came up alike for
every element it is made in the body; otherwise the `$map` is written out (`points_of`):

    {"$map": {"over": ["Emma", "Ulysses"], "as": "t", "do": {"find": {"title": {"$ref": "t"}}}}}

    [{"$let": {"bind": {"t": "Emma"}, "in": {"find": {"title": {"$ref": "t"}, "year": 1815}}}},
     {"$let": {"bind": {"t": "Ulysses"}, "in": {"find": {"title": {"$ref": "t"}}}}}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runtime_support._values import is_list, is_object
from runtime_support.programs._outcomes import Candidate, Diagnostic, Point
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._serialization import SerializationError, serialize
from runtime_support.programs._syntax import Path, at, pointer, renamed, replaced, starts_with

if TYPE_CHECKING:
    from runtime_support.programs._machine import Choice, Element, Unclear


@dataclass(frozen=True, slots=True)
class Place:
    """Where an expression stands; `bare` is the parameter when it is a bare argument."""

    path: Path
    bare: str | None = None

    def written(self, program: Any, new: Any) -> Any:
        """The program with the new expression here."""
        return replaced(program, self.path, new if self.bare is None else {self.bare: new})


def spelled(route: Sequence[Definition], operand: Any) -> Any:
    """The expression that calls the conversions one after the other on the operand."""
    for conversion in route:
        operand = {conversion.name: {conversion.parameters[0].name: operand}}
    return operand


def spelled_for_each(route: Sequence[Definition], operand: Any, levels: int) -> Any:
    """As `spelled`, for the elements of a list, or of a list of lists."""
    if levels == 0:
        return spelled(route, operand)
    variable = "item" if levels == 1 else f"item{levels}"
    body = spelled_for_each(route, {"$ref": variable}, levels - 1)
    return {"$map": {"over": operand, "as": variable, "do": body}}


def route_sentence(route: Sequence[Definition]) -> str:
    return "by " + ", then ".join(conversion.name for conversion in route)


def with_arguments(
    written: Any, definition: Definition, form: str, arguments: Mapping[str, Any]
) -> Any:
    """The call at hand with these arguments added or replaced."""
    if form == "record":
        return {definition.name: {**_record_fields(written), **arguments}}
    body = written[definition.name]
    if form == "bare" and definition.single is not None:
        body = {definition.single.name: body}
    return {definition.name: {**body, **arguments}}


def _record_fields(written: Any) -> Any:
    is_explicit = "$object" in written and is_object(written["$object"])
    return written["$object"] if is_explicit else written


@dataclass(frozen=True, slots=True)
class Edit:
    sentence: str
    path: Path
    make: Callable[[Any], Any]


def rename(path: Path, new: str) -> Edit:
    return Edit(f"with {new}", path, lambda program: renamed(program, path, new))


def write(sentence: str, place: Place, new: Any) -> Edit:
    return Edit(sentence, place.path, lambda program: place.written(program, new))


def by_name(arguments: Any, definition: Definition, path: Path) -> list[Edit]:
    """The arguments of a call that stand in a list, under the names of the parameters."""
    names = [one.name for one in definition.parameters if not one.takes_rest]
    if not is_list(arguments) or len(arguments) > len(names):
        return []
    return [write("by name", Place(path), dict(zip(names, arguments, strict=False)))]


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


def points_of(
    unclear: Sequence[Unclear], settled: set[Path], program: Any, registry: Registry
) -> tuple[Point, ...]:
    """One point per place, in source order; `settled` are places that were clear at least once."""
    by_place: dict[Path, list[Unclear]] = {}
    for one in sorted(unclear, key=lambda one: one.position):
        by_place.setdefault(one.path, []).append(one)
    found: list[tuple[Path, Point]] = []
    for path, alike in by_place.items():
        first = alike[0]
        agree = all((o.message, o.choices) == (first.message, first.choices) for o in alike)
        if agree and path not in settled:
            alike = [replace(first, elements=())]
        for one in alike:
            candidates = tuple(
                Candidate(choice.sentence, _chosen(choice, one.elements, program, registry))
                for choice in one.choices
            )
            found.append((path, Point(one.message, pointer(path), candidates)))
    return innermost(found)


def _chosen(choice: Choice, elements: tuple[Element, ...], program: Any, registry: Registry) -> Any:
    patched = choice.place.written(program, choice.new)
    for element in reversed(elements):
        body = (*element.path, "$map", "do")
        if not element.items or not starts_with(choice.place.path, body):
            continue
        try:
            items = [serialize(item, registry) for item in element.items]
        except SerializationError:
            continue  # then the choice is made for all the elements
        written = [
            _bound(element.variable, item, at(patched if index == element.index else program, body))
            for index, item in enumerate(items)
        ]
        patched = replaced(program, element.path, written)
    return patched


def _bound(variable: str, item: Any, body: Any) -> Any:
    return {"$let": {"bind": {variable: item}, "in": body}}
