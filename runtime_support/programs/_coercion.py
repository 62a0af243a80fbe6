"""Values become what is asked for: the steps of `_conversions`, carried out.

What cannot be done is a failure of kind `conversion` at the argument, what can be done in several
ways an ambiguity whose choices are written at the argument.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from runtime_support._ambiguity import Ambiguity
from runtime_support._values import is_object
from runtime_support.programs import _types
from runtime_support.programs._choices import Choice, Site, chain_choices, option_choices, point_at
from runtime_support.programs._choices import spell_chain as spell
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
    Fault,
    Frame,
    Machine,
    Problem,
    Stopped,
    Unclear,
)
from runtime_support.programs._outcomes import compact
from runtime_support.programs._registry import Registry
from runtime_support.programs._writing import as_record, serialize


@dataclass(frozen=True, slots=True)
class ArgumentPlace:
    """The argument at which a value is coerced, in the program.

    `operand` writes the value as an expression, `rebuild` puts another expression in its place:
    for a part of the value, into the whole of it.
    """

    program: Any
    site: Site
    frame: Frame
    operand: Callable[[], Any]
    rebuild: Callable[[Any], Any] = lambda new: new


class Coercer:
    """Coerces values for one evaluation."""

    def __init__(self, registry: Registry, machine: Machine) -> None:
        self._registry = registry
        self._machine = machine

    async def coerce(self, value: Any, target: _types.Type, place: ArgumentPlace) -> Any:
        """The value as one of the target; raises Stopped."""
        with suppress(_types.TypeMismatch):
            return _types.conform(value, target)
        match step(Known(value), target, self._registry):
            case Route((chain,)):
                return await self._convert(value, chain, target, place)
            case Route(chains):
                found = _types.kind_name(value)
                choices = chain_choices(chains, place.operand, 0)
            case Read(()):
                return await self._by_parts(value, target, place)
            case Read(((_, one),)):
                path, _ = place.site
                return self._machine.bounded(one, "converting gives", path, place.frame)
            case Read(values):
                found = compact(value)
                choices = [(text, lambda one=one: list(one)) for text, one in values]
            case _:
                message = refusal(Known(value), target, self._registry)
                raise self._machine.failed("conversion", message, place.site[0], place.frame)
        wanted = _types.type_notation(target)
        message = f"{found} can become {wanted} in {len(choices)} ways"
        raise self._unclear(message, choices, place)

    def _unclear(self, message: str, choices: list[Choice], place: ArgumentPlace) -> Stopped:
        whole: list[Choice] = [
            (sentence, lambda write=write: place.rebuild(write())) for sentence, write in choices
        ]
        frame = place.frame
        point = point_at(message, whole, place.program, place.site, in_words=frame.in_map)
        return Stopped(Unclear(frame.position, place.site[0], point))

    async def _convert(
        self, value: Any, chain: Chain, target: _types.Type, place: ArgumentPlace
    ) -> Any:
        for index, conversion in enumerate(chain):
            parameter, frame = conversion.parameters[0], place.frame.at(index)
            arguments = {parameter.name: _types.conform(value, parameter.schema)}
            try:
                value = await self._machine.call(conversion, arguments, place.site[0], frame)
            except Ambiguity as ambiguity:

                def again(given: dict[str, Any], index: int = index) -> Any:
                    ((name, written),) = spell(chain[: index + 1], place.operand()).items()
                    return {name: {**written, **given}}

                choices = option_choices(ambiguity, conversion, self._registry, again)
                raise self._unclear(ambiguity.message, choices, place) from None
            except Stopped as stopped:
                raise Stopped(*map(_of_conversion, stopped.problems)) from None
        return _types.conform(value, target)

    async def _by_parts(self, value: Any, target: _types.Type, place: ArgumentPlace) -> Any:
        """The value whose items or fields are coerced: as the first member of the target that can
        be made so.
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
                if not all(_is_of_conversion(one) for one in stopped.problems):
                    break
                continue
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
        """Every part coerced; the problems of all of them are reported together."""

        def rebuilt(key: Any) -> Callable[[Any], Any]:
            def rebuild(new: Any) -> Any:
                values = ((k, one) for k, (one, _) in parts.items())
                written = {k: new if k == key else serialize(one, known) for k, one in values}
                whole = list(written.values()) if isinstance(key, int) else as_record(written)
                return place.rebuild(whole)

            return rebuild

        known = self._registry

        done: dict[Any, Any] = {}
        problems: list[Problem] = []
        for index, (key, (value, type_)) in enumerate(parts.items()):
            part = replace(
                place,
                frame=place.frame.at(index),
                operand=lambda value=value: serialize(value, known),
                rebuild=rebuilt(key),
            )
            try:
                done[key] = await self.coerce(value, type_, part)
            except Stopped as stopped:
                problems += [_in_part(problem, key) for problem in stopped.problems]
                if not stopped.problems:
                    raise
        if problems:
            raise Stopped(*problems)
        return done


def _is_of_conversion(problem: Problem) -> bool:
    return isinstance(problem, Fault) and problem.kind == "conversion"


def _of_conversion(problem: Problem) -> Problem:
    is_error = isinstance(problem, Fault) and problem.kind == "error"
    return replace(problem, kind="conversion") if is_error else problem


def _in_part(problem: Problem, key: str | int) -> Problem:
    if not (isinstance(problem, Fault) and problem.kind == "conversion"):
        return problem
    where = f"item {key}" if isinstance(key, int) else f"field '{key}'"
    return replace(problem, message=f"{where}: {problem.message}")
