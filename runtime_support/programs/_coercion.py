"""Which values can become which, and how: conversions by shortest path, and the built-in hops.

    judge(Book, string)       Converts((author_of, name_of))
    judge(Cup, Tank)          Splits: two paths of two conversions
    judge(string, number)     Hops
    judge(any, number)        Decides, at run time
    judge(Book, number)       Never

    coerce("4.5", float)                          4.5
    coerce(book, str, [author_of, name_of])       "Austen"
    coerce("two", float)                          raises CoercionError

The order of the rules: assignable, registered conversions (breadth first, at most three), element
by element for lists and objects, one built-in hop. `judge` applies them to types, `Coercer` to
values at hand: what cannot be done is a failure of kind `conversion` at the argument, what can be
done in several ways an ambiguity whose choices are written at the argument. `coerce` does it for
one value outside a program, for plans that have become Python.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, overload

from runtime_support._ambiguity import Ambiguity, Option
from runtime_support._names import near
from runtime_support._schema import model as m
from runtime_support._values import is_list, is_object, is_tuple
from runtime_support.programs import _tree as n
from runtime_support.programs import _types
from runtime_support.programs._machine import (
    Choice,
    Fault,
    Frame,
    Machine,
    Problem,
    Stopped,
    TimeUp,
    is_from_within,
    run_within,
)
from runtime_support.programs._outcomes import compact
from runtime_support.programs._registry import Definition, Registry, classes_of
from runtime_support.programs._syntax import Limits, Path, offer_names
from runtime_support.programs._writing import (
    ExpressionPlace,
    option_written,
    route_sentence,
    serialize,
    spell_calls,
)

Route = tuple[Definition, ...]
MOST_CONVERSIONS = 3
_NUMBER = re.compile(r"\s*-?(\d+)(\.\d+)?([eE][+-]?\d+)?\s*", re.ASCII)


def judge(source: _types.Type, target: _types.Type, registry: Registry) -> n.Coercion:
    """How values of the source become values of the target."""
    source, target = m.resolved(source), m.resolved(target)
    if _types.fits(source, target):
        return n.Fits()
    if isinstance(source, m.AnySchema):
        return n.Decides()
    if isinstance(source, m.UnionSchema):
        return _judge_union(source, target, registry)
    if any(_widens(source, member) for member in _types.members_of(target)):
        return n.Widens()
    routes = shortest_routes(lambda parameter: _types.fits(source, parameter), target, registry)
    if len(routes) > 1:
        return n.Splits(tuple(routes))
    if routes:
        return n.Converts(routes[0])
    inner = [_judge_inside(source, member, registry) for member in _types.members_of(target)]
    possible = [one for one in inner if not isinstance(one, n.Never)]
    if len(possible) == 1 and len(inner) == 1:
        return possible[0]
    if possible:
        return n.Decides()
    if any(_hops(_types.widen(source), member) for member in _types.members_of(target)):
        return n.Hops()
    return n.Never()


def shortest_routes(
    accepts: Callable[[_types.Type], bool], target: _types.Type, registry: Registry
) -> list[Route]:
    """All shortest paths of conversions to the target, from what `accepts` a first parameter."""
    routes: list[Route] = [
        (one,) for one in registry.conversions if accepts(one.parameters[0].schema)
    ]
    seen: list[_types.Type] = []
    for _ in range(MOST_CONVERSIONS):
        arrived = [route for route in routes if _types.fits(route[-1].result, target)]
        if arrived:
            return arrived
        here = [route[-1].result for route in routes]
        seen += here
        routes = [
            (*route, one)
            for route in routes
            for one in registry.conversions
            if _types.fits(route[-1].result, one.parameters[0].schema) and one.result not in seen
        ]
    return []


def reachable(source: _types.Type, registry: Registry) -> list[str]:
    """What the conversions can make of the type, nearest first, in the notation."""
    found: list[str] = []
    level = [source]
    for _ in range(MOST_CONVERSIONS):
        level = [
            one.result
            for type_ in level
            for one in registry.conversions
            if _types.fits(type_, one.parameters[0].schema)
            and _types.type_notation(one.result) not in found
        ]
        found += dict.fromkeys(map(_types.type_notation, level))
    return found


def is_by_position(argument: Any, target: _types.Type, registry: Registry) -> bool:
    """Whether a bare argument is a list that could only be joined: arguments without names."""

    def takes_list(type_: _types.Type) -> bool:
        return _types.ANY in _types.members_of(type_) or bool(_types.lists_of(type_))

    if not is_list(argument) or takes_list(target):
        return False
    return not shortest_routes(takes_list, target, registry)


def readings(value: Any, target: _types.Type) -> list[tuple[str, Any]]:
    """The values that one built-in hop gives, each with a sentence; two for text with commas."""
    for member in _types.members_of(target):
        found = _read(value, member)
        if found:
            return found
    return []


def known_texts(target: _types.Type) -> list[str]:
    """The values of the type, where they are listed."""
    return [str(one.value) for one in _types.members_of(target) if isinstance(one, m.LiteralSchema)]


def why_not(value: Any, target: _types.Type) -> str | None:
    """A reason that says more than the types do, when there is one."""
    if isinstance(value, str) and any(
        member in _types.NUMBERS for member in _types.members_of(target)
    ):
        return f"{compact(value)} is not a number"
    return None


def _judge_union(source: m.UnionSchema, target: _types.Type, registry: Registry) -> n.Coercion:
    verdicts = [judge(member, target, registry) for member in source.members]
    if all(isinstance(one, n.Never) for one in verdicts):
        return n.Never()
    if all(isinstance(one, n.Fits | n.Widens) for one in verdicts):
        return n.Widens()
    return n.Decides()


def _widens(source: _types.Type, target: _types.Type) -> bool:
    source = _types.widen(source)
    if target == _types.FLOAT:
        return source in _types.NUMBERS
    item, wanted = _types.item_of(source), _types.item_of(target)
    if item is None or wanted is None:
        return False
    return _types.fits(item, wanted) or _widens(item, wanted)


def _judge_inside(source: _types.Type, target: _types.Type, registry: Registry) -> n.Coercion:
    """The rules that look at the parts of a value, or that need the value itself."""
    match source, target:
        case ((m.ListSchema() | m.TupleSchema()), (m.ListSchema() | m.TupleSchema())):
            return _judge_items(source, target, registry)
        case (
            (m.MapSchema() | m.ObjectSchema(build=None)),
            (m.MapSchema() | m.ObjectSchema() | m.OpaqueSchema()),
        ):
            return _judge_object(source, target, registry)
        case ((m.ObjectSchema() | m.OpaqueSchema()), (m.ObjectSchema() | m.OpaqueSchema())):
            own, wanted = m.class_of(source), m.class_of(target)
            is_narrower = own is not None and wanted is not None and issubclass(wanted, own)
            return n.Decides() if is_narrower else n.Never()
        case (_, m.LiteralSchema(member=member)) if member is not m.ABSENT:
            return (
                n.Decides() if source == _types.widen(m.LiteralSchema(target.value)) else n.Never()
            )
        case _, m.LiteralSchema():
            same = (
                _types.widen(source) == _types.widen(target)
                or _types.widen(source) in _types.NUMBERS
            )
            return n.Decides() if same and not isinstance(source, m.LiteralSchema) else n.Never()
        case _:
            return (
                n.Decides() if target == _types.INTEGER and source in _types.NUMBERS else n.Never()
            )


def _judge_items(
    source: m.ListSchema | m.TupleSchema, target: m.ListSchema | m.TupleSchema, registry: Registry
) -> n.Coercion:
    item, wanted = _types.item_of(source), _types.item_of(target)
    if item is not None and wanted is not None:
        verdict = judge(item, wanted, registry)
        return verdict if isinstance(verdict, n.Never) else n.Each(verdict)
    if isinstance(source, m.TupleSchema) and item is None:
        if wanted is not None:
            items = [judge(item, wanted, registry) for item in source.items]
            return n.Never() if any(isinstance(one, n.Never) for one in items) else n.Decides()
        if isinstance(target, m.TupleSchema) and len(source.items) != len(target.items):
            return n.Never()
    return n.Decides()


def _judge_object(
    source: m.MapSchema | m.ObjectSchema,
    target: m.MapSchema | m.ObjectSchema | m.OpaqueSchema,
    registry: Registry,
) -> n.Coercion:
    constructor = registry.constructor_of(target)
    if m.class_of(target) is not None and constructor is None:
        return n.Never()
    if isinstance(source, m.MapSchema) or isinstance(target, m.MapSchema):
        # Texts may be read as dates, and nothing else becomes another key.
        own = source.key if isinstance(source, m.MapSchema) else m.TEXT
        wanted = target.key if isinstance(target, m.MapSchema) else m.TEXT
        return n.Decides() if own in (m.TEXT, wanted) else n.Never()
    fields = constructor.parameters if constructor is not None else getattr(target, "fields", ())
    given = {field.name for field in source.fields}
    return n.Decides() if _types.names_fit(given, fields) else n.Never()


def _hops(source: _types.Type, target: _types.Type) -> bool:
    if source == _types.STRING:
        item = _types.item_of(target)
        return target in _types.NUMBERS or _takes(item, _types.STRING)
    if source in _types.NUMBERS:
        item = _types.item_of(target)
        return target in (_types.STRING, _types.BOOLEAN) or _takes(item, *_types.NUMBERS)
    if source == _types.BOOLEAN:
        return target in _types.NUMBERS
    return target == _types.STRING and _takes(_types.item_of(source), _types.STRING)


def _takes(item: _types.Type | None, *kinds: _types.Type) -> bool:
    """Whether an item of a list may be of one of the kinds; the value of a constant decides."""
    members = () if item is None else _types.members_of(item)
    return any(one in (_types.ANY, *kinds) or isinstance(one, m.LiteralSchema) for one in members)


def _read(value: Any, target: _types.Type) -> list[tuple[str, Any]]:
    if isinstance(value, str):
        return _read_text(value, target)
    if isinstance(value, bool):
        return [("as a number", _stored(int(value), target))] if target in _types.NUMBERS else []
    if isinstance(value, int | float):
        if target == _types.STRING:
            return [("as text", json.dumps(value))]
        if target == _types.BOOLEAN:
            return [("as a boolean", bool(value))] if value in (0, 1) else []
        one = None if _types.item_of(target) is None else _kept([value], target)
        return [] if one is None else [("a list of one", one)]
    if target == _types.STRING and is_list(value) and all(isinstance(item, str) for item in value):
        return [("joined", ",".join(value))]
    return []


def _read_text(text: str, target: _types.Type) -> list[tuple[str, Any]]:
    if target in _types.NUMBERS:
        number = _parse_number(text)
        try:
            return [] if number is None else [("as a number", _types.conform(number, target))]
        except _types.TypeMismatch:
            return []
    if not _takes(_types.item_of(target), _types.STRING):
        return []
    choices = [("a list of one", [text])]
    if "," in text:
        choices.insert(0, ("split at the commas", [part.strip() for part in text.split(",")]))
    return [(sentence, kept) for sentence, items in choices if (kept := _kept(items, target))]


def _kept(items: list[Any], target: _types.Type) -> Any:
    try:
        return _types.conform(items, target)
    except _types.TypeMismatch:
        return None


def _stored(number: int, target: _types.Type) -> int | float:
    return float(number) if target == _types.FLOAT else number


def _parse_number(text: str) -> int | float | None:
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > 1000:
        return None
    whole = match[2] is None and match[3] is None
    number = int(text) if whole else float(text)
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Site:
    """The argument at which a value is coerced.

    `operand` writes the value as an expression, `rebuilt` puts another expression in its place:
    for a part of the value, into the whole of it.
    """

    path: Path
    place: ExpressionPlace
    frame: Frame
    operand: Callable[[], Any]
    rebuilt: Callable[[Any], Any]

    def part(self, index: int, operand: Callable[[], Any], whole: Callable[[Any], Any]) -> Site:
        def rebuilt(new: Any) -> Any:
            return self.rebuilt(whole(new))

        return Site(self.path, self.place, self.frame.at(index), operand, rebuilt)


class Coercer:
    """Coerces values for one evaluation."""

    def __init__(self, registry: Registry, machine: Machine) -> None:
        self._registry = registry
        self._machine = machine

    async def coerce(self, value: Any, target: _types.Type, site: Site) -> Any:
        """The value as one of the target; raises Stopped."""
        try:
            return _types.conform(value, target)
        except _types.TypeMismatch as error:
            misfit = error
        routes = shortest_routes(
            lambda parameter: _types.conforms(value, parameter), target, self._registry
        )
        if len(routes) > 1:
            raise self._several_routes(value, target, routes, site)
        if routes:
            return await self._convert(value, routes[0], target, site)
        shaped = [one for one in _types.members_of(target) if self._has_shape(value, one)]
        for index, member in enumerate(shaped):
            try:
                return await self._parts(value, member, site)
            except Stopped as stopped:
                if index == len(shaped) - 1 or not _only_conversion_failed(stopped):
                    raise
        found = readings(value, target)
        if len(found) > 1:
            message = (
                f"{compact(value)} can become {_types.type_notation(target)} in {len(found)} ways"
            )
            choices = [(text, lambda one=one: list(one)) for text, one in found]
            raise self._unclear(message, choices, site)
        if found:
            return self._machine.bounded(found[0][1], "converting gives", site.path, site.frame)
        further = why_not(value, target)
        message = f"{misfit.by_kind}: {further}" if further else str(misfit)
        others = near(str(value), known_texts(target)) if isinstance(value, str) else []
        failed = Fault(
            site.frame.position,
            site.path,
            "conversion",
            message + offer_names(others),
        )
        raise Stopped(failed)

    # Conversions

    async def _convert(self, value: Any, route: Route, target: _types.Type, site: Site) -> Any:
        for index, conversion in enumerate(route):
            frame = site.frame.at(index)
            arguments = {conversion.parameters[0].name: value}
            try:
                value = await self._machine.call(conversion, arguments, site.path, frame)
            except Ambiguity as ambiguity:
                raise self._undecided(ambiguity, route[: index + 1], site) from None
            except Stopped as stopped:
                raise Stopped(*map(_as_conversion, stopped.problems)) from None
        return _types.conform(value, target)

    def _several_routes(
        self, value: Any, target: _types.Type, routes: list[Route], site: Site
    ) -> Stopped:
        kind, wanted = _types.kind_name(value), _types.type_notation(target)
        message = f"{kind} can become {wanted} in {len(routes)} ways"

        def spelled_out(route: Route) -> Any:
            return spell_calls(route, site.operand())

        choices = [(route_sentence(one), partial(spelled_out, one)) for one in routes]
        return self._unclear(message, choices, site)

    def _undecided(self, ambiguity: Ambiguity, route: Route, site: Site) -> Stopped:
        """The conversion at the end of the route cannot decide."""
        conversion = route[-1]

        def again(given: dict[str, Any]) -> Any:
            written = spell_calls(route, site.operand())
            return {conversion.name: {**written[conversion.name], **given}}

        def expression(option: Option) -> Any:
            return option_written(
                option, conversion, self._registry, is_from_within(ambiguity), again
            )

        choices = [(one.sentence, partial(expression, one)) for one in ambiguity.options]
        return self._unclear(ambiguity.message, choices, site)

    def _unclear(
        self, message: str, choices: list[tuple[str, Callable[[], Any]]], site: Site
    ) -> Stopped:
        def choice(index: int) -> Choice:
            sentence, write = choices[index]
            return Choice(sentence, site.place, site.rebuilt(write()))

        sentences = [sentence for sentence, _ in choices]
        return self._machine.unclear(message, sentences, choice, site.path, site.frame)

    # Lists and objects, part by part

    def _has_shape(self, value: Any, target: _types.Type) -> bool:
        if is_list(value) or is_tuple(value):
            same_count = isinstance(target, m.TupleSchema) and len(target.items) == len(value)
            return _types.item_of(target) is not None or same_count
        if not is_object(value):
            return False
        if isinstance(target, m.MapSchema):
            return _types.conforms(dict.fromkeys(value), m.MapSchema(_types.ANY, target.key))
        fields = self._fields(target)
        return fields is not None and _types.names_fit(set(value), fields)

    def _fields(self, target: _types.Type) -> tuple[m.Field, ...] | None:
        if isinstance(target, m.ObjectSchema) and target.build is None:
            return target.fields
        constructor = self._registry.constructor_of(target)
        return constructor.parameters if constructor is not None else None

    async def _parts(self, value: Any, target: _types.Type, site: Site) -> Any:
        if not is_object(value):
            item = _types.item_of(target)
            types = target.items if isinstance(target, m.TupleSchema) else ()
            wanted = types if item is None else [item] * len(value)
            parts = await self._all(dict(enumerate(zip(value, wanted, strict=True))), site)
            return _types.conform(list(parts.values()), target)
        fields = {field.name: field.schema for field in self._fields(target) or ()}
        other = target.value if isinstance(target, m.MapSchema) else None
        parts = await self._all({k: (v, fields.get(k, other)) for k, v in value.items()}, site)
        constructor = self._registry.constructor_of(target)
        if constructor is None:
            return _types.conform(parts, target)
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


def _as_conversion(problem: Problem) -> Problem:
    if isinstance(problem, Fault) and problem.kind == "error":
        return replace(problem, kind="conversion")
    return problem


def _only_conversion_failed(stopped: Stopped) -> bool:
    return all(isinstance(one, Fault) and one.kind == "conversion" for one in stopped.problems)


def _in_part(problem: Problem, key: str | int) -> Problem:
    if not isinstance(problem, Fault) or problem.kind != "conversion":
        return problem
    where = f"item {key}" if isinstance(key, int) else f"field '{key}'"
    return replace(problem, message=f"{where}: {problem.message}")


T = TypeVar("T")


class CoercionError(ValueError):
    """The value cannot become what is asked for, or in several ways."""


@overload
def coerce(value: Any, wanted: type[T], conversions: Iterable[Callable[..., Any]] = ()) -> T: ...


@overload
def coerce(value: Any, wanted: Any, conversions: Iterable[Callable[..., Any]] = ()) -> Any: ...


def coerce(value: Any, wanted: Any, conversions: Iterable[Callable[..., Any]] = ()) -> Any:
    """The value as a `wanted`: as it is, by the conversions, or by a built-in hop.

    Raises CoercionError when there is no way, when there are several, and when a conversion fails.
    """
    conversions = list(conversions)
    registry = Registry(types=classes_of(conversions, wanted), conversions=conversions)
    target = registry.read_type(wanted)
    try:
        return _types.conform(value, target)
    except _types.TypeMismatch:
        pass
    limits = Limits()
    machine = Machine(limits)
    coercer = Coercer(registry, machine)
    site = Site(
        (),
        ExpressionPlace(()),
        Frame(names={}),
        lambda: serialize(value, registry),
        lambda new: new,
    )
    try:
        return run_within(limits.seconds, lambda: coercer.coerce(value, target, site))
    except Stopped as stopped:
        if machine.abort is not None:
            raise machine.abort from None
        message = "; ".join(problem.message for problem in stopped.problems)
    except TimeUp:
        message = f"converting the value took longer than {limits.seconds:g} s"
    raise CoercionError(message)
