"""The points of an ambiguity that came up at run time, with their candidates.

A choice inside a `$map` concerns one element. When it came up alike for every element it is made
in the body; otherwise the `$map` is written out, so that the candidate runs as it stands:

    {"$map": {"over": ["Emma", "Ulysses"], "as": "t", "do": {"find": {"title": {"$ref": "t"}}}}}

    [{"$let": {"bind": {"t": "Emma"}, "in": {"find": {"title": {"$ref": "t"}, "year": 1815}}}},
     {"$let": {"bind": {"t": "Ulysses"}, "in": {"find": {"title": {"$ref": "t"}}}}}]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from runtime_support.programs.findings import innermost
from runtime_support.programs.outcomes import Candidate, Point
from runtime_support.programs.paths import Path, at, pointer, replaced, starts_with
from runtime_support.programs.problems import Choice, Element, Unclear
from runtime_support.programs.registry import Registry
from runtime_support.programs.serialization import SerializationError, serialize


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
