"""Programs that are written: values as programs, and programs with places written anew.

    serialize(Point(1, 2), registry)                 {"Point": {"lat": 1, "lon": 2}}
    serialize({"a": Point(1, 2)}, registry)          {"$object": {"a": ...}}: one key is a call
    spelled((author_of, name_of), {"$ref": "b"})     {"name_of": {"value": {"author_of": ...}}}

Laws: `evaluate(serialize(v)) == v`, and serializing that again gives the same program. JSON has no
tuples: one is written as a list, which a place of a tuple type (a field, a parameter, `returns`)
makes a tuple again. Where a place takes lists too, it would come back as one, and is refused.

An `ExpressionPlace` is where the value of an expression can be written; a bare argument becomes
the full object of arguments, since an object cannot be bare. `Findings` are the diagnostics of one
program, and its ambiguities.

A choice inside a `$map` concerns one element: it is told in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from runtime_support._ambiguity import Option
from runtime_support._dates_decimals import text_of, word_of
from runtime_support._schema import model as m
from runtime_support._schema.reading import Parameter
from runtime_support._values import is_object
from runtime_support.programs import _types
from runtime_support.programs._outcomes import Candidate, Diagnostic, Point
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import (
    Path,
    path_starts_with,
    pointer,
    replace_at,
)

if TYPE_CHECKING:
    from runtime_support.programs._machine import Unclear

MOST_PARTS = 100_000


class SerializationError(ValueError):
    """The value has no program: a cycle, a number that is not finite, an unregistered type."""


def serialize(value: Any, registry: Registry) -> Any:
    """The program, as JSON data, whose value this is; raises SerializationError."""
    try:
        return _ValueWriter(registry).write(value, _types.ANY, "value")
    except RecursionError:
        raise SerializationError("the value is nested too deeply") from None


class _ValueWriter:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._open: set[int] = set()
        self._parts = 0

    def write(self, value: Any, expected: _types.Type, place: str) -> Any:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise SerializationError(f"the value has more than {MOST_PARTS} parts")
        if value is None or type(value) in (bool, str, int):
            return value
        if type(value) is float:
            if math.isfinite(value):
                return value
            raise SerializationError(f"{place} is {value}, which is not a JSON number")
        if word_of(value) is not None:
            return text_of(value)
        if id(value) in self._open:
            raise SerializationError(f"{place} contains itself")
        self._open.add(id(value))
        try:
            return self._compound(value, expected, place)
        finally:
            self._open.remove(id(value))

    def _compound(self, value: Any, expected: _types.Type, place: str) -> Any:
        python = cast("type[Any]", type(value))
        if python is list:
            return self._items(value, expected, place)
        if python is dict:
            return self._object(value, expected, place)
        definition = self._registry.constructor(python)
        if definition is not None:
            return self._call(value, definition, place)
        if python is tuple and _takes_no_list(expected):
            return self._items(value, expected, place)
        raise SerializationError(f"{place} is a {python.__name__}, which is not a registered type")

    def _items(self, value: Any, expected: _types.Type, place: str) -> list[Any]:
        types = [_item_type(expected, index) for index in range(len(value))]
        return [
            self.write(item, type_, f"{place}[{index}]")
            for index, (item, type_) in enumerate(zip(value, types, strict=True))
        ]

    def _object(self, value: dict[Any, Any], expected: _types.Type, place: str) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for key, item in value.items():
            name = text_of(key) if word_of(key) is not None else key
            if type(name) is not str:
                raise SerializationError(f"{place} has the key {key!r}, which is not text")
            if name in written:
                raise SerializationError(f"{place} has two keys that are written as {name}")
            written[name] = self.write(item, _value_type(expected, name), f"{place}.{name}")
        if len(written) == 1 or any(key.startswith("$") for key in written):
            return {"$object": written}
        return written

    def _call(self, value: Any, definition: Definition, place: str) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for parameter in definition.parameters:
            try:
                item = getattr(value, parameter.python_name)
            except AttributeError:
                raise SerializationError(f"{place} has no attribute {parameter.name}") from None
            if parameter.required or not is_default(item, parameter):
                here = f"{place}.{parameter.name}"
                arguments[parameter.name] = self.write(item, parameter.schema, here)
        return {definition.name: arguments}


def _takes_no_list(expected: _types.Type) -> bool:
    """Whether a list that is written here cannot be meant as one of a declared list type."""
    return not any(isinstance(one, m.ListSchema) for one in _types.lists_of(expected))


def _item_type(expected: _types.Type, index: int) -> _types.Type:
    for member in _types.members_of(expected):
        if (item := _types.item_of(member)) is not None:
            return item
        if isinstance(member, m.TupleSchema) and index < len(member.items):
            return member.items[index]
    return _types.ANY


def _value_type(expected: _types.Type, key: str) -> _types.Type:
    for member in _types.members_of(expected):
        if isinstance(member, m.MapSchema):
            return member.value
        if (
            isinstance(member, m.ObjectSchema)
            and (field := _types.field_of(member, key)) is not None
        ):
            return field.schema
    return _types.ANY


def is_default(value: Any, parameter: Parameter) -> bool:
    """Whether it need not be written: equal and of one kind; 1 is not true."""
    default = parameter.default_value()
    try:
        return type(value) is type(default) and bool(value == default)
    except Exception:  # an exotic __eq__: then the argument is written out
        return False


@dataclass(frozen=True, slots=True)
class ExpressionPlace:
    """Where an expression is; `bare` is the parameter when it is a bare argument."""

    path: Path
    bare: str | None = None

    def written(self, program: Any, new: Any) -> Any:
        """The program with the new expression here."""
        return replace_at(program, self.path, new if self.bare is None else {self.bare: new})


def spell_calls(route: Sequence[Definition], operand: Any) -> Any:
    """The expression that calls the conversions one after the other on the operand."""
    for conversion in route:
        operand = {conversion.name: {conversion.parameters[0].name: operand}}
    return operand


def spelled_for_each(route: Sequence[Definition], operand: Any, levels: int) -> Any:
    """As `spell_calls`, for the elements of a list, or of a list of lists."""
    if levels == 0:
        return spell_calls(route, operand)
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


def option_written(
    option: Option,
    definition: Definition,
    registry: Registry,
    is_from_within: bool,
    with_given: Callable[[dict[str, Any]], Any],
) -> Any:
    """The expression for an option of a function that could not decide: the call with further
    arguments, or a value. SerializationError when there is none.
    """
    if is_from_within:
        raise SerializationError(f"something that {definition.name} calls could not decide")
    if option.values:
        return serialize(option.values[0], registry)
    unknown = [name for name in option.arguments if definition.parameter(name) is None]
    if unknown:
        raise SerializationError(f"{definition.name} has no parameter '{unknown[0]}'")
    return with_given({n: serialize(one, registry) for n, one in option.arguments.items()})


class Findings:
    """Collects what is wrong with one program and where it has several readings."""

    def __init__(self, program: Any, diagnostics: Iterable[Diagnostic] = ()) -> None:
        self.program = program
        self.diagnostics = list(diagnostics)
        self._points: list[tuple[Path, Point]] = []

    def wrong(self, message: str, path: Path) -> None:
        self.diagnostics.append(Diagnostic(message, pointer(path)))

    def unclear(
        self, message: str, path: Path, place: ExpressionPlace, choices: Iterable[tuple[str, Any]]
    ) -> None:
        candidates = tuple(Candidate(text, place.written(self.program, n)) for text, n in choices)
        self._points.append((path, Point(message, pointer(path), candidates)))

    @property
    def points(self) -> tuple[Point, ...]:
        return innermost(self._points)


def innermost(points: Iterable[tuple[Path, Point]]) -> tuple[Point, ...]:
    """The points that have no other point inside them: settling those may settle the rest."""
    points = list(points)
    return tuple(
        point
        for path, point in points
        if not any(path != other and path_starts_with(other, path) for other, _ in points)
    )


def points_of(unclear: Sequence[Unclear], program: Any) -> tuple[Point, ...]:
    """One point per place and what is said of it, in source order."""
    found: list[tuple[Path, Point]] = []
    for one in sorted(unclear, key=lambda one: one.position):
        candidates = tuple(
            Candidate(choice.sentence, choice.place.written(program, choice.new))
            for choice in one.choices
        )
        point = one.path, Point(one.message, pointer(one.path), candidates)
        if point not in found:
            found.append(point)
    return innermost(found)
