"""Coercion of a value at hand: the rules of `coercion`, carried out.

    Book to string      calls author_of, then name_of
    [Book] to [string]  the same for each element
    "4" to number       4

What cannot be done is a failure of kind `conversion` at the argument; what can be done in several
ways is an ambiguity whose choices are written at the argument.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from runtime_support.programs.ambiguity import Ambiguity, Option
from runtime_support.programs.coercion import Route, readings, shortest_routes, why_not
from runtime_support.programs.machine import Machine
from runtime_support.programs.patching import Place, route_sentence, spelled
from runtime_support.programs.paths import Path, is_list, is_object, is_tuple
from runtime_support.programs.problems import Choice, Failed, Frame, Problem, Stopped, Unclear
from runtime_support.programs.registry import Definition, Registry
from runtime_support.programs.serialization import SerializationError, serialize
from runtime_support.programs.types import (
    Field,
    ListType,
    MapType,
    RecordType,
    TupleType,
    Type,
    members_of,
    names_fit,
    notation,
)
from runtime_support.programs.values import Misfit, conform, conforms, kind_name


@dataclass(frozen=True, slots=True)
class Site:
    """The argument at which a value is coerced.

    `operand` writes the value as an expression, `rebuilt` puts another expression in its place:
    for a part of the value, into the whole of it.
    """

    path: Path
    place: Place
    frame: Frame
    operand: Callable[[], Any]
    rebuilt: Callable[[Any], Any]

    def choice(self, sentence: str, new: Any) -> Choice:
        return Choice(sentence, self.place, self.rebuilt(new))

    def part(self, index: int, operand: Callable[[], Any], whole: Callable[[Any], Any]) -> Site:
        def rebuilt(new: Any) -> Any:
            return self.rebuilt(whole(new))

        return Site(self.path, self.place, self.frame.at(index), operand, rebuilt)


class Coercer:
    """Coerces values for one evaluation."""

    def __init__(self, registry: Registry, machine: Machine) -> None:
        self._registry = registry
        self._machine = machine

    async def coerce(self, value: Any, target: Type, site: Site) -> Any:
        """The value as one of the target; raises Stopped."""
        try:
            return conform(value, target)
        except Misfit as error:
            reason = str(error)
        routes = shortest_routes(
            lambda parameter: conforms(value, parameter), target, self._registry
        )
        if len(routes) > 1:
            raise self._several_routes(value, target, routes, site)
        if routes:
            return await self._convert(value, routes[0], target, site)
        shaped = [one for one in members_of(target) if self._has_shape(value, one)]
        for index, member in enumerate(shaped):
            try:
                return await self._parts(value, member, site)
            except Stopped as stopped:
                if index == len(shaped) - 1 or not _only_conversion_failed(stopped):
                    raise
        found = readings(value, target)
        if len(found) > 1:
            message = f"{_json(value)} can become {notation(target)} in {len(found)} ways"
            choices = [(sentence, list(one)) for sentence, one in found]
            raise self._unclear(message, (lambda: choices), site)
        if found:
            return found[0][1]
        further = why_not(value, target)
        message = f"{reason}: {further}" if further else reason
        raise self._machine.failed("conversion", message, site.path, site.frame)

    # Conversions

    async def _convert(self, value: Any, route: Route, target: Type, site: Site) -> Any:
        for index, conversion in enumerate(route):
            frame = site.frame.at(index)
            arguments = {conversion.parameters[0].name: value}
            try:
                value = await self._machine.call(conversion, arguments, site.path, frame)
            except Ambiguity as ambiguity:
                raise self._undecided(ambiguity, route[: index + 1], site) from None
            except Stopped as stopped:
                raise Stopped(*map(_as_conversion, stopped.problems)) from None
        return conform(value, target)

    def _several_routes(self, value: Any, target: Type, routes: list[Route], site: Site) -> Stopped:
        message = f"{kind_name(value)} can become {notation(target)} in {len(routes)} ways"

        def choices() -> list[tuple[str, Any]]:
            return [(route_sentence(one), spelled(one, site.operand())) for one in routes]

        return self._unclear(message, choices, site)

    def _undecided(self, ambiguity: Ambiguity, route: Route, site: Site) -> Stopped:
        """The conversion at the end of the route cannot decide."""
        conversion = route[-1]

        def expression(option: Option) -> Any:
            if option.values:
                return serialize(option.values[0], self._registry)
            written = spelled(route, site.operand())
            given = written_arguments(option, conversion, self._registry)
            return {conversion.name: {**written[conversion.name], **given}}

        def choices() -> list[tuple[str, Any]]:
            return [(one.sentence, expression(one)) for one in ambiguity.options]

        return self._unclear(ambiguity.message, choices, site)

    def _unclear(
        self, message: str, choices: Callable[[], Iterable[tuple[str, Any]]], site: Site
    ) -> Stopped:
        try:
            written = tuple(site.choice(sentence, new) for sentence, new in choices())
        except SerializationError as error:
            unwritable = f"{message}, and the choices cannot be written: {error}"
            return self._machine.failed("conversion", unwritable, site.path, site.frame)
        frame = site.frame
        return Stopped(Unclear(frame.position, site.path, message, written, frame.elements))

    # Lists and objects, part by part

    def _has_shape(self, value: Any, target: Type) -> bool:
        if is_list(value) or is_tuple(value):
            same_count = isinstance(target, TupleType) and len(target.items) == len(value)
            return isinstance(target, ListType) or same_count
        if not is_object(value):
            return False
        fields = self._fields(target)
        return isinstance(target, MapType) or (fields is not None and names_fit(set(value), fields))

    def _fields(self, target: Type) -> tuple[Field, ...] | None:
        if isinstance(target, RecordType):
            return target.fields
        constructor = self._registry.constructor_of(target)
        return constructor.parameters if constructor is not None else None

    async def _parts(self, value: Any, target: Type, site: Site) -> Any:
        if not is_object(value):
            types = target.items if isinstance(target, TupleType) else None
            item = target.item if isinstance(target, ListType) else None
            wanted = types or [item] * len(value)
            parts = await self._all(dict(enumerate(zip(value, wanted, strict=True))), site)
            return conform(list(parts.values()), target)
        fields = {field.name: field.type for field in self._fields(target) or ()}
        other = target.value if isinstance(target, MapType) else None
        parts = await self._all({k: (v, fields.get(k, other)) for k, v in value.items()}, site)
        constructor = self._registry.constructor_of(target)
        if constructor is None:
            return conform(parts, target)
        return await self._machine.call(constructor, parts, site.path, site.frame.at(len(parts)))

    async def _all(self, parts: dict[Any, tuple[Any, Any]], site: Site) -> dict[Any, Any]:
        """Every part coerced; the problems of all of them are reported together."""
        values = {key: value for key, (value, _) in parts.items()}
        done: dict[Any, Any] = {}
        problems: list[Problem] = []
        for index, (key, (value, type_)) in enumerate(parts.items()):
            part = site.part(
                index,
                lambda value=value: serialize(value, self._registry),
                lambda new, key=key: self._with_part(values, key, new),
            )
            try:
                done[key] = await self.coerce(value, type_, part)
            except Stopped as stopped:
                problems += [_in_part(problem, key) for problem in stopped.problems]
        if problems:
            raise Stopped(*problems)
        return done

    def _with_part(self, values: dict[Any, Any], key: Any, new: Any) -> Any:
        written = {
            k: new if k == key else serialize(one, self._registry) for k, one in values.items()
        }
        if isinstance(key, int):
            return list(written.values())
        is_plain = len(written) > 1 and not any(name.startswith("$") for name in written)
        return written if is_plain else {"$object": written}


def written_arguments(option: Option, definition: Definition, registry: Registry) -> dict[str, Any]:
    """The arguments of an option as expressions; raises SerializationError."""
    for name in option.arguments:
        if definition.parameter(name) is None:
            raise SerializationError(f"{definition.name} has no parameter '{name}'")
    return {name: serialize(value, registry) for name, value in option.arguments.items()}


def _as_conversion(problem: Problem) -> Problem:
    if isinstance(problem, Failed) and problem.kind == "error":
        return replace(problem, kind="conversion")
    return problem


def _only_conversion_failed(stopped: Stopped) -> bool:
    return all(isinstance(one, Failed) and one.kind == "conversion" for one in stopped.problems)


def _in_part(problem: Problem, key: str | int) -> Problem:
    if not isinstance(problem, Failed) or problem.kind != "conversion":
        return problem
    where = f"item {key}" if isinstance(key, int) else f"field '{key}'"
    return replace(problem, message=f"{where}: {problem.message}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
