"""Decides how a value of one type becomes a value of another, by type or by a known value.

    step(Book, string, registry)          Route(((author_of, name_of),))
    step(Cup, Tank, registry)             Route of two chains: ambiguous
    step(string, number, registry)        Read: depends on the value
    step(Known("a,b"), [string], ...)     Read of two values: split, or a list of one
    step(Book, number, registry)          Impossible

The first rule that applies decides:

1. The value fits already.
2. Conversions lead to the target: the shortest chain of at most three conversions is used.
3. The parts of a list or object can be converted.
4. One of the built-in rules in `READINGS` applies.

The checker calls `step` with the types of expressions, the evaluation calls it with values, and the
compiler of plans calls it with types again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from runtime_support._schema import model as m
from runtime_support._values.dates import is_word
from runtime_support._values.kinds import is_list, is_object, is_tuple
from runtime_support._values.names import near
from runtime_support.programs import _types
from runtime_support.programs._outcomes import compact
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import offer_names

Chain: TypeAlias = tuple[Definition, ...]

MOST_CONVERSIONS = 3
_NUMBER = re.compile(r"\s*-?(\d+)(\.\d+)?([eE][+-]?\d+)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Known:
    """A source of a conversion whose value is known, not only its type."""

    value: Any


@dataclass(frozen=True, slots=True)
class Fits:
    """Each value of the source is accepted by the target.

    `is_same` is true if the source is a type whose values the target stores unchanged.
    """

    is_same: bool


@dataclass(frozen=True, slots=True)
class Route:
    """The shortest chains of conversions from the source to the target.

    Several chains are an ambiguity. If `levels` is not 0, the source is a list nested that deep,
    and its elements are converted.
    """

    chains: tuple[Chain, ...]
    levels: int = 0

    @property
    def calls(self) -> Chain:
        return tuple(one for chain in self.chains for one in chain)


@dataclass(frozen=True, slots=True)
class Read:
    """How to convert depends on the value or its parts.

    `calls` are the conversions that may be called. For a known value without parts, `values` are
    the possible results, each with a sentence that describes it.
    """

    values: tuple[tuple[str, Any], ...] = ()
    calls: Chain = ()


@dataclass(frozen=True, slots=True)
class Impossible:
    """No value of the source can become a value of the target."""


Step: TypeAlias = Fits | Route | Read | Impossible
Source: TypeAlias = _types.Type | Known


def step(source: Source, target: _types.Type, registry: Registry) -> Step:
    """Returns how the source becomes a value of the target type.

    The source is a type or a known value.
    """
    given = source if isinstance(source, Known) else m.resolved(source)
    source = _as_known(given)
    if _accepts(target, source):
        return Fits(not isinstance(given, Known) and _types.fits(given, target))
    if isinstance(source, m.AnySchema):
        return Read(calls=registry.conversions)
    if isinstance(source, m.UnionSchema):
        return _step_of_all([step(member, target, registry) for member in source.members])
    chains = shortest_chains(source, target, registry)
    if chains:
        return Route(chains)
    members = _types.members_of(target)
    inside = [_step_inside(source, member, registry) for member in members]
    possible = [one for one in inside if not isinstance(one, Impossible)]
    if possible:
        return inside[0] if len(inside) == 1 else Read(calls=registry.conversions)
    if isinstance(source, Known):
        found = readings(source.value, target)
        return Read(found) if found else Impossible()
    return Read() if any(_may_be_read(source, member) for member in members) else Impossible()


def _as_known(source: Source) -> Source:
    """Returns the value of a constant type as `Known`. Returns any other source unchanged."""
    if isinstance(source, m.LiteralSchema) and source.member is m.ABSENT:
        return Known(source.value)
    return source


def calls_of(found: Step) -> Chain:
    """Returns the conversions that a step may call."""
    return found.calls if isinstance(found, Route | Read) else ()


def _accepts(target: _types.Type, source: Source) -> bool:
    """True if the target accepts all values of the source, without loss."""
    if isinstance(source, Known):
        return _types.conforms(source.value, target)
    return _types.fits(source, target) or any(
        _is_stored(source, member) for member in _types.members_of(target)
    )


def _is_stored(source: _types.Type, target: _types.Type) -> bool:
    """True if the target stores values of the source in another form, such as ints as floats."""
    if target == _types.FLOAT:
        return source in _types.NUMBERS
    item, wanted = _types.item_of(source), _types.item_of(target)
    return item is not None and wanted is not None and _accepts(wanted, item)


def _step_of_all(found: list[Step]) -> Step:
    """Combines the steps for the members of a union into one step."""
    if all(isinstance(one, Impossible) for one in found):
        return Impossible()
    if all(isinstance(one, Fits) for one in found):
        return Fits(is_same=False)
    return Read(calls=tuple(dict.fromkeys(call for one in found for call in calls_of(one))))


# Conversions


def _chains(source: Source, registry: Registry) -> Iterator[list[Chain]]:
    """Yields all chains of one conversion from the source, then those of two, and so on.

    A type that a shorter chain has reached is not reached again.
    """
    level: list[Chain] = [
        (one,) for one in registry.conversions if _accepts(one.parameters[0].schema, source)
    ]
    seen: list[_types.Type] = []
    for _ in range(MOST_CONVERSIONS):
        yield level
        seen += [chain[-1].result for chain in level]
        level = [
            (*chain, one)
            for chain in level
            for one in registry.conversions
            if _types.fits(chain[-1].result, one.parameters[0].schema) and one.result not in seen
        ]


def shortest_chains(source: Source, target: _types.Type, registry: Registry) -> tuple[Chain, ...]:
    """Returns all shortest chains of conversions from the source to the target."""
    for level in _chains(source, registry):
        arrived = tuple(chain for chain in level if _types.fits(chain[-1].result, target))
        if arrived:
            return arrived
    return ()


# The parts of lists and objects


def parts_of_value(
    value: Any, target: _types.Type, registry: Registry
) -> dict[Any, tuple[Any, _types.Type]] | None:
    """Maps the index or key of each item or field to its value and its target type.

    Returns None if the value is no list or object, or if its items or fields do not match those of
    the target.
    """
    if is_list(value) or is_tuple(value):
        item = _types.item_of(target)
        fixed = target.items if isinstance(target, m.TupleSchema) and item is None else None
        types = [item] * len(value) if item is not None else fixed
        if types is None or len(types) != len(value):
            return None
        return dict(enumerate(zip(value, types, strict=True)))
    if not is_object(value):
        return None
    if isinstance(target, m.MapSchema):
        has_keys = _types.conforms(dict.fromkeys(value), m.MapSchema(_types.ANY, target.key))
        return {key: (one, target.value) for key, one in value.items()} if has_keys else None
    fields = registry.fields_of(target)
    if fields is None or not _types.names_fit(set(value), fields):
        return None
    types_of = {field.name: field.schema for field in fields}
    return {key: (one, types_of[key]) for key, one in value.items()}


def _step_inside(source: Source, target: _types.Type, registry: Registry) -> Step:
    """Returns the step for the parts of a list or object.

    For any other source, the step is `Read` if some of its values may fit the target, and else
    `Impossible`.
    """
    match source, target:
        case Known(value), _:
            is_possible = parts_of_value(value, target, registry) is not None
        case (m.ListSchema() | m.TupleSchema()), (m.ListSchema() | m.TupleSchema()):
            return _step_of_items(source, target, registry)
        case (m.MapSchema() | m.ObjectSchema(build=None)), _:
            is_possible = _has_fields(source, target, registry)
        case _:
            is_possible = may_be(source, target)
    return Read(calls=registry.conversions) if is_possible else Impossible()


def _step_of_items(
    source: m.ListSchema | m.TupleSchema, target: m.ListSchema | m.TupleSchema, registry: Registry
) -> Step:
    item, wanted = _types.item_of(source), _types.item_of(target)
    count = len(target.items) if isinstance(target, m.TupleSchema) and wanted is None else 1
    given = (item,) * count if item is not None else getattr(source, "items", ())
    asked = (wanted,) * len(given) if wanted is not None else getattr(target, "items", ())
    if len(given) != len(asked):
        return Impossible()
    pairs = zip(given, asked, strict=True)
    found = [step(one, other, registry) for one, other in pairs]
    if any(isinstance(one, Impossible) for one in found):
        return Impossible()
    if item is not None and wanted is not None and isinstance(found[0], Route):
        return Route(found[0].chains, found[0].levels + 1)
    return Read(calls=tuple(dict.fromkeys(call for one in found for call in calls_of(one))))


def _has_fields(
    source: m.MapSchema | m.ObjectSchema, target: _types.Type, registry: Registry
) -> bool:
    fields = registry.fields_of(target)
    if fields is not None and isinstance(source, m.ObjectSchema):
        return _types.names_fit({field.name for field in source.fields}, fields)
    return fields is not None or isinstance(target, m.MapSchema)


def may_be(source: _types.Type, target: _types.Type) -> bool:
    """True if some value of the source type may be a value of the target type."""
    source, target = _types.widen(m.resolved(source)), m.resolved(target)
    if isinstance(source, m.AnySchema) or isinstance(target, m.AnySchema):
        return True
    if isinstance(source, m.UnionSchema) or isinstance(target, m.UnionSchema):
        targets = _types.members_of(target)
        return any(may_be(one, other) for one in _types.members_of(source) for other in targets)
    item, wanted = _types.item_of(source), _types.item_of(target)
    if item is not None and wanted is not None:
        return may_be(item, wanted)
    own, class_ = m.class_of(source), m.class_of(target)
    if own is not None and class_ is not None:
        return issubclass(class_, own)
    if not isinstance(source, m.ScalarSchema):
        return False
    if isinstance(target, m.LiteralSchema):
        target = _types.type_of(target.value)
    if isinstance(target, m.ScalarSchema) and is_word(target.kind):
        target = _types.STRING
    return source == target or (source in _types.NUMBERS and target in _types.NUMBERS)


# The built-in rules


@dataclass(frozen=True, slots=True)
class Reading:
    """A built-in rule that converts values of the type `source`.

    `make` converts a value. It returns None if the rule does not apply to the value.
    """

    sentence: str
    source: _types.Type
    result: _types.Type
    make: Callable[[Any], Any]

    def may_give(self, target: _types.Type) -> bool:
        """True if the rule can give values of the target. No rule gives constants or dates."""
        if isinstance(self.result, m.ListSchema):
            return isinstance(target, m.ListSchema | m.TupleSchema)
        return target == self.result or (target in _types.NUMBERS and self.result == _types.NUMBER)


def _parse_number(text: str) -> int | float | None:
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > 1000:
        return None
    whole = match[2] is None and match[3] is None
    number = int(text) if whole else float(text)
    return number if whole or math.isfinite(number) else None


def _split(text: str) -> list[str] | None:
    return [part.strip() for part in text.split(",")] if "," in text else None


def _join(items: Iterable[str | int | float]) -> str:
    return ",".join(one if isinstance(one, str) else json.dumps(one) for one in items)


_ATOM = m.UnionSchema((_types.STRING, _types.NUMBER))
_ATOMS = m.ListSchema(_ATOM)
READINGS = (
    (
        Reading("as a number", _types.STRING, _types.NUMBER, _parse_number),
        Reading("as a number", _types.BOOLEAN, _types.NUMBER, int),
        Reading("as text", _types.NUMBER, _types.STRING, json.dumps),
        Reading("as a boolean", _types.NUMBER, _types.BOOLEAN, {0: False, 1: True}.get),
        Reading("joined", _ATOMS, _types.STRING, _join),
    ),
    (
        Reading("split at the commas", _types.STRING, _ATOMS, _split),
        Reading("a list of one", _types.STRING, _ATOMS, lambda text: [text]),
        Reading("a list of one", _types.NUMBER, m.ListSchema(_types.NUMBER), lambda one: [one]),
    ),
)
"""The readings, and those as lists, which count where there is none of the others."""


def readings(value: Any, target: _types.Type) -> tuple[tuple[str, Any], ...]:
    """Returns the results of the built-in rules, each with a sentence that describes the rule.

    Rules that make lists are used only if no other rule applies.
    """
    members = _types.members_of(target)
    for rules in READINGS:
        found = {
            repr(kept): (rule.sentence, kept)
            for rule in rules
            if _types.conforms(value, rule.source)
            for member in filter(rule.may_give, members)
            if (kept := _kept(rule.make(value), member)) is not None
        }
        if found:
            return tuple(found.values())
    return ()


def _kept(made: Any, target: _types.Type) -> Any:
    """Returns the result of a rule in the form that the target stores, or None if it does not fit.

    The items of a split string become numbers if the target needs numbers.
    """
    if not _types.conforms(made, target) and is_list(made):
        made = [_parse_number(one) if isinstance(one, str) else one for one in made]
        made = None if None in made else made
    fits = made is not None and _types.conforms(made, target)
    return _types.conform(made, target) if fits else None


def _may_be_read(source: _types.Type, target: _types.Type) -> bool:
    return any(
        rule.may_give(target) and may_be(source, rule.source) and may_be(rule.result, target)
        for rules in READINGS
        for rule in rules
    )


# Messages for values that cannot be converted


def refusal(source: Source, target: _types.Type, registry: Registry) -> str:
    """Returns the message for a source that cannot be converted to the target.

    The message also says which types the source can be converted to, and which functions return
    the target.
    """
    source = _as_known(source)
    if isinstance(source, Known):
        kind, message = _types.kind_name(source.value), _refused_value(source.value, target)
    else:
        kind = _types.found_notation(source)
        message = f"expected {_types.type_notation(target)}, got {kind}"
    found = [chain[-1].result for level in _chains(source, registry) for chain in level]
    others = ", ".join(dict.fromkeys(map(_types.type_notation, found)))
    message += f"; {kind} can become {others}" if others else ""
    makers = _functions_between(source, target, registry)
    return message + (f"; {' or '.join(makers)} makes one of it" if makers else "")


def _functions_between(source: Source, target: _types.Type, registry: Registry) -> list[str]:
    """The names of functions that turn an instance of a class into a value of the target."""
    own = _types.type_of(source.value) if isinstance(source, Known) else source
    return [
        one.name
        for one in registry.definitions.values()
        if one.kind == "function" and one.single is not None and m.class_of(own) is not None
        if one.single.schema != _types.ANY and _accepts(one.single.schema, source)
        if _types.fits(one.result, target)
    ]


def _refused_value(value: Any, target: _types.Type) -> str:
    members, wanted = _types.members_of(target), _types.type_notation(target)
    if is_list(value) or is_tuple(value) or is_object(value):
        try:
            _types.conform(value, target)
        except _types.TypeMismatch as mismatch:  # the message has the path of the part
            return str(mismatch)
    known = [str(one.value) for one in members if isinstance(one, m.LiteralSchema)]
    if known and isinstance(value, str | int | float):
        found = f"expected {wanted}, got {compact(value)}"
        return found + offer_names(near(str(value), known))
    if isinstance(value, str) and any(one in _types.NUMBERS for one in members):
        found = _types.kind_name(value)
        return f"expected {wanted}, got {found}: {compact(value)} is not a number"
    return f"expected {wanted}, got {_types.got(value)}"


def is_by_position(argument: Any, target: _types.Type, registry: Registry) -> bool:
    """True if a call's argument must be a list of several arguments, which are given by position.

    `target` is the type of the only required parameter. A list cannot be the argument of this
    parameter if the type accepts no lists and no conversion makes it from a list. The list could
    only be joined to a string.
    """
    takes_lists = _types.ANY in _types.members_of(target) or bool(_types.lists_of(target))
    is_bare_list = is_list(argument) and not takes_lists
    return is_bare_list and not shortest_chains(Known([]), target, registry)
