"""Corrected and chosen programs: the program of the model with one place written anew.

    argument("/upper", bare "text", {"$ref": "x"})   {"upper": {"text": {"$ref": "x"}}}
    spelled((author_of, name_of), {"$ref": "b"})     {"name_of": {"value": {"author_of": ...}}}

A `Place` is where the value of an expression can be written; a bare argument becomes the full
object of arguments, since an object cannot stand bare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime_support.programs.paths import Path, is_object, replaced
from runtime_support.programs.registry import Definition


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
