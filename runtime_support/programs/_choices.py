"""Choices for the ambiguous places of a program, written as whole programs.

    spell_chain((author_of, name_of), {"$ref": "b"})     {"name_of": {"value": {"author_of": ...}}}

Each choice is the program with another expression at the ambiguous place. In the example, the
expression calls two conversions, one after the other. Two kinds of choices are described in words,
since no program can express them:

- a choice for one element of a `$map`, whose `do` is written once for all elements
- a choice about a call inside of a Python function that the program calls
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from runtime_support._values.ambiguity import Ambiguity, Option, ambiguous
from runtime_support._values.kinds import is_list, is_tuple
from runtime_support.programs._conversions import Chain
from runtime_support.programs._outcomes import Candidate, Point, as_sentence
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import Path, pointer, replace_at
from runtime_support.programs._types import Type, type_notation
from runtime_support.programs._writing import SerializationError, serialize

Choice: TypeAlias = tuple[str, Callable[[], Any]]
"""A sentence, and what gives the expression that is meant; it may raise SerializationError."""

Site: TypeAlias = tuple[Path, str | None]
"""Where an expression is, and the parameter of which it is the bare argument, if it is one."""


def point_at(
    message: str, choices: Sequence[Choice], program: Any, site: Site, *, in_words: bool = False
) -> Point:
    """Returns the `Point` for an ambiguous place, with its choices as candidate programs.

    If `in_words` is true, or if programs cannot express the choices, the message lists the choices
    instead.
    """
    path, bare = site
    sentences = "; ".join(sentence for sentence, _ in choices)
    told = f"{as_sentence(message)} The choices are: {sentences}"
    if in_words:
        return Point(told, pointer(path), ())
    candidates: list[Candidate] = []
    try:
        for sentence, write in choices:
            new = write() if bare is None else {bare: write()}
            candidates.append(Candidate(sentence, replace_at(program, path, new)))
    except SerializationError as error:
        told = f"{told}; they cannot be written as programs: {error}"
        return Point(told, pointer(path), ())
    return Point(message, pointer(path), tuple(candidates))


def innermost(points: Iterable[tuple[Path, Point]]) -> tuple[Point, ...]:
    """Returns the ambiguous places that contain no other ambiguous place.

    Other places are left out, because a choice at an inner place may also decide them.
    """
    points = list(points)
    return tuple(
        point
        for path, point in points
        if not any(path != other and other[: len(path)] == path for other, _ in points)
    )


def spell_chain(chain: Chain, operand: Any) -> Any:
    """Returns the expression that applies the conversions to the operand, one after the other."""
    for conversion in chain:
        operand = {conversion.name: {conversion.parameters[0].name: operand}}
    return operand


def ways(given: str, wanted: Type, choices: Sequence[Choice]) -> str:
    """Returns the message for a value that can become a value of type `wanted` in several ways."""
    return f"{given} can become {type_notation(wanted)} in {len(choices)} ways"


def reading_choices(values: Iterable[tuple[str, Any]]) -> list[Choice]:
    """Returns a choice for each value that another value can be converted to.

    `values` are the converted values, each with a sentence that describes the conversion.
    """
    return [
        (text, lambda one=one: list(one) if is_list(one) or is_tuple(one) else one)
        for text, one in values
    ]


def chain_choices(chains: Iterable[Chain], operand: Callable[[], Any], levels: int) -> list[Choice]:
    """Returns a choice for each chain of conversions, which are applied to the operand.

    If `levels` is not 0, the operand is a list nested that deep, and its elements are converted.
    """

    def spell_for_each(chain: Chain, written: Any, level: int) -> Any:
        if level == 0:
            return spell_chain(chain, written)
        variable = "item" if level == 1 else f"item{level}"
        body = spell_for_each(chain, {"$ref": variable}, level - 1)
        return {"$map": {"over": written, "as": variable, "do": body}}

    return [
        (
            "by " + ", then ".join(one.name for one in chain),
            lambda chain=chain: spell_for_each(chain, operand(), levels),
        )
        for chain in chains
    ]


def option_choices(
    ambiguity: Ambiguity,
    definition: Definition,
    registry: Registry,
    arguments: Callable[[], Mapping[str, Any]],
) -> list[Choice]:
    """Returns a choice for each option of the ambiguity that the function raised.

    `arguments` returns the arguments of the function's call, as expressions.
    """
    is_from_within = _is_from_within(ambiguity)

    def write(option: Option) -> Any:
        given = {name: serialize(one, registry) for name, one in option.arguments.items()}
        called = definition
        if option.call is not None:
            called = registry.definition_of(option.call)
            if called is None:
                name = getattr(option.call, "__name__", repr(option.call))
                raise SerializationError(f"a program cannot call {name}")
        elif is_from_within:
            raise SerializationError(f"something that {definition.name} calls could not decide")
        if option.values:
            return serialize(option.values[0], registry)
        unknown = [name for name in given if called.parameter(name) is None]
        if unknown:
            raise SerializationError(f"{called.name} has no parameter '{unknown[0]}'")
        return {called.name: {**arguments(), **given} if called is definition else given}

    return [(one.sentence, lambda one=one: write(one)) for one in ambiguity.options]


def _is_from_within(ambiguity: Ambiguity) -> bool:
    """True if the ambiguity was raised deeper inside of the function that the program calls.

    False if this function raised the ambiguity itself.
    """
    names = [
        str(frame.f_globals.get("__name__")).partition(".")[0]
        for frame, _ in traceback.walk_tb(ambiguity.__traceback__)
        if frame.f_code is not ambiguous.__code__
    ]
    own = ("runtime_support", "asyncio", "concurrent", "threading")
    return len(list(itertools.dropwhile(lambda name: name in own, names))) > 1
