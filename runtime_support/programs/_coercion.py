"""Coerces values at run time: executes the steps that `_conversions` chooses.

A value that cannot be coerced is a failure of kind `conversion` at the argument. A value that can
be coerced in several ways is an ambiguity, with an expression for each way. If only a part of the
value is ambiguous, these expressions repeat the other parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from runtime_support._values.ambiguity import Ambiguity
from runtime_support._values.kinds import is_object
from runtime_support.programs import _types
from runtime_support.programs._choices import (
    Choice,
    Site,
    chain_choices,
    option_choices,
    point_at,
    reading_choices,
    spell_chain,
    ways,
)
from runtime_support.programs._conversions import (
    Chain,
    Known,
    Read,
    Route,
    parts_of_value,
    refusal,
    step,
)
from runtime_support.programs._machine import (
    AmbiguousPlace,
    Fault,
    Frame,
    Machine,
    Problem,
    Stopped,
)
from runtime_support.programs._outcomes import compact
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._writing import as_record, serialize


@dataclass(frozen=True, slots=True)
class ArgumentPlace:
    """The argument of the program whose value is coerced.

    `operand` returns the value as an expression. If the value is only a part of the argument,
    `rebuild` returns the whole argument with another expression for this part, and `part` names the
    part in messages.
    """

    program: Any
    site: Site
    frame: Frame
    operand: Callable[[], Any]
    rebuild: Callable[[Any], Any] = lambda new: new
    part: str = ""


class Coercer:
    """Coerces the values of one evaluation."""

    def __init__(self, registry: Registry, machine: Machine) -> None:
        self._registry = registry
        self._machine = machine

    async def coerce(self, value: Any, target: _types.Type, place: ArgumentPlace) -> Any:
        """Returns the value, coerced to the target type.

        Raises Stopped if this is impossible or ambiguous, or if a conversion fails.
        """
        with suppress(_types.TypeMismatch):
            return _types.conform(value, target)
        path, _ = place.site
        match step(Known(value), target, self._registry):
            case Route((chain,)):
                return await self._convert(value, chain, target, place)
            case Route(chains):
                found = _types.kind_name(value)
                choices = chain_choices(chains, place.operand, 0)
            case Read(()):
                return await self._by_parts(value, target, place)
            case Read(((_, one),)):
                return self._machine.bounded(one, "converting gives", path, place.frame)
            case Read(values):
                found, choices = compact(value), reading_choices(values)
            case _:
                message = place.part + refusal(Known(value), target, self._registry)
                raise self._machine.failed("conversion", message, path, place.frame)
        raise _unclear(ways(found, target, choices), choices, place)

    def undecided(
        self,
        ambiguity: Ambiguity,
        definition: Definition,
        arguments: Callable[[], Mapping[str, Any]],
        place: ArgumentPlace,
    ) -> Stopped:
        """Returns the exception that reports the ambiguity, which a call of `definition` raised.

        `arguments` returns the arguments of the call, as expressions. Each option of the ambiguity
        is a call or a value.
        """
        choices = option_choices(ambiguity, definition, self._registry, arguments)
        return _unclear(ambiguity.message, choices, place)

    async def _convert(
        self, value: Any, chain: Chain, target: _types.Type, place: ArgumentPlace
    ) -> Any:
        path, _ = place.site
        for index, conversion in enumerate(chain):
            parameter, frame = conversion.parameters[0], place.frame.at(index)
            arguments = {parameter.name: _types.conform(value, parameter.schema)}
            try:
                value = await self._machine.call(conversion, arguments, path, frame)
            except Ambiguity as ambiguity:

                def written(name: str = parameter.name, before: Chain = chain[:index]) -> Any:
                    return {name: spell_chain(before, place.operand())}

                raise self.undecided(ambiguity, conversion, written, place) from None
        return _types.conform(value, target)

    async def _by_parts(self, value: Any, target: _types.Type, place: ArgumentPlace) -> Any:
        """Coerces the items or fields of the value to the types that the target has for them.

        If the target is a union, its first member to which all parts can be coerced is used.
        """
        failed: Stopped | None = None
        for member in _types.members_of(target):
            parts = parts_of_value(value, member, self._registry)
            if parts is None:
                continue
            try:
                made = await self._all(parts, place)
            except Stopped as stopped:
                failed = stopped
                if all(
                    isinstance(one, Fault) and one.kind == "conversion" for one in stopped.problems
                ):
                    continue
                break
            constructor = self._registry.constructor_of(member) if is_object(value) else None
            if constructor is None:
                return _types.conform(made if is_object(value) else list(made.values()), member)
            here = place.frame.at(len(made))
            return await self._machine.call(constructor, made, place.site[0], here)
        assert failed is not None, "a step into parts has found some"
        raise failed

    async def _all(
        self, parts: dict[Any, tuple[Any, _types.Type]], place: ArgumentPlace
    ) -> dict[Any, Any]:
        """Coerces every part of a value. Raises Stopped with the problems of all parts.

        `parts` maps the index or key of each part to the part and its target type.
        """

        def place_of(index: int, key: str | int) -> ArgumentPlace:
            def rebuild(new: Any) -> Any:
                values = {k: new if k == key else write(k) for k in parts}
                is_list = isinstance(key, int)
                return place.rebuild(list(values.values()) if is_list else as_record(values))

            where = f"item {key}" if isinstance(key, int) else f"field '{key}'"
            frame, said = place.frame.at(index), f"{place.part}{where}: "
            return ArgumentPlace(
                place.program, place.site, frame, lambda: write(key), rebuild, said
            )

        def write(key: str | int) -> Any:
            return serialize(parts[key][0], self._registry)

        made: dict[Any, Any] = {}
        problems: list[Problem] = []
        for index, (key, (value, type_)) in enumerate(parts.items()):
            try:
                made[key] = await self.coerce(value, type_, place_of(index, key))
            except Stopped as stopped:
                problems += stopped.problems
        if len(made) < len(parts):
            raise Stopped(*problems)
        return made


def _unclear(message: str, choices: list[Choice], place: ArgumentPlace) -> Stopped:
    frame = place.frame
    whole: list[Choice] = [
        (sentence, lambda write=write: place.rebuild(write())) for sentence, write in choices
    ]
    point = point_at(message, whole, place.program, place.site, in_words=frame.in_words)
    return Stopped(AmbiguousPlace(frame.position, place.site[0], point))
