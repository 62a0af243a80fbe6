"""Converts JSON data that a model wrote to the value of a schema.

    read_value({"Age": "36"}, schema)    (Person(36), ("value: key `Age` as `age`", ...))
    read_value({"age": "old"}, schema)   CheckError: value.age: expected int, got string "old"

The same rules hold for a reply, a field, a tool's argument and a table cell. Data is changed only
if it has one possible meaning. A change may concern the notation of a number or bool, the spelling
of a label or key, or one list or object around the whole data. Data that does not fit stays
unchanged, and the conversion then reports all mistakes together.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from math import isinf
from typing import Any, NamedTuple

from runtime_support._core.reader.data import IsKey, NotData
from runtime_support._schema import model as m
from runtime_support._schema.checking import SCALAR_TYPES, decode_for_model
from runtime_support._values.dates import Digits, NotReadable, is_word, read
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import is_list, is_object, member_path
from runtime_support.errors import CheckError

MOST_REPAIRS = 20
# Keys of objects that report an error instead of the value.
_TELLING = frozenset(("error", "status", "code", "message"))
_JSON = frozenset((type(None), bool, int, float, Digits, str, list, dict))
_CONTAINERS = (m.ListSchema, m.TupleSchema, m.MapSchema, m.ObjectSchema)
_BOOLS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_NONE: Any = object()

_ACCENTS = re.compile(r"(?<=[a-z\u03b1-\u03c9])[\u0300-\u036f]++")
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])[\s_-]++(?=[^\W\d_])")
_NUMBER = re.compile(r"-?+(?:0|[1-9][0-9]{0,999}+)(?:\.[0-9]{1,999}+)?+(?:[eE][+-]?+[0-9]{1,3}+)?+")
_AMOUNT = re.compile(
    r"(?P<sign>-?+)[$£]?+(?P<whole>"
    r"[1-9][0-9]{0,2}+(?P<apart>[, \u00a0\u202f_'’])[0-9]{3}+(?:(?P=apart)[0-9]{3}+)*+"
    r"|0|[1-9][0-9]*+)(?P<part>\.[0-9]++)?+"
)
_ONE_COMMA = re.compile(r"-?+[1-9][0-9]{0,2}+,[0-9]{3}+")  # thousands, or a fraction
_ONE_POINT = re.compile(r"[$£-]*+[0-9]{1,3}+\.[0-9]{3}+")  # the same, as in half of Europe
_NANOSECONDS = re.compile(r"(:[0-9]{2}[.,][0-9]{6})[0-9]++")


class Fit(NamedTuple):
    """Data adapted to a schema, the repairs, and the number of parts that do not fit."""

    data: Any
    repairs: tuple[str, ...]
    misfits: int


def read_value(
    data: Any, schema: m.Schema, path: str = "value", name: str | None = None
) -> tuple[Any, tuple[str, ...]]:
    """Converts data to a value of the schema. Also returns the repairs that the data needed.

    Raises a CheckError with all mistakes. `name` is the variable that the value is bound to: the
    data may be an object that holds the value under this key.
    """
    try:
        found = fit(data, schema, path, name)
        return decode_for_model(found.data, schema, path), found.repairs
    except RecursionError:
        raise CheckError(f"{path}: nested too deeply", path=path) from None


def fit(data: Any, schema: m.Schema, path: str = "value", name: str | None = None) -> Fit:
    """Adapts the data to the schema.

    If parts do not fit, also tries to remove the list or object around the data, or to put the data
    into a list. Returns the attempt with the fewest misfits.
    """
    found = [_fit(data, schema, path)]
    for words, inner in _readings(data, schema, name) if found[0].misfits else ():
        found.append(_fit(inner, schema, path, words))
    return min(found, key=lambda one: one.misfits)


def fit_arguments(data: Mapping[str, Any], fields: tuple[m.Field, ...], *, is_open: bool) -> Fit:
    """Adapts each argument by `fit`; the data of the result maps parameter names to arguments.

    Leaves out a null for an optional parameter that does not admit nil. Keeps an argument without a
    parameter, and counts it as a misfit unless the function accepts arbitrary arguments
    (`is_open`).
    """
    fitter = _Fitter()
    known = {field.name: field for field in fields}
    given: dict[str, Any] = {}
    for key, name in fitter.names(data, known, "args").items():
        field = known.get(name)
        if field is None:
            given[key] = data[key] if is_open else fitter.misfit(data[key])
        elif data[key] is not None or field.required or m.admits_nil(field.schema):
            given[name] = fitter.add(fit(data[key], field.schema, member_path("args", name), name))
    return fitter.result(given)


def shortened(repairs: Iterable[str]) -> tuple[str, ...]:
    """Returns the distinct repairs: at most `MOST_REPAIRS`, and a text that counts the rest."""
    told = tuple(dict.fromkeys(repairs))
    more = len(told) - MOST_REPAIRS
    return told if more <= 0 else (*told[:MOST_REPAIRS], f"and {more} more")


def spelling(text: str) -> str:
    """Normalizes a name or label: `schemaId`, `Schema ID` and `schema_id` become the same text.

    Drops case, accents, and separators between letters. Keeps every other character.
    """
    text = text.strip().casefold()
    if not text.isascii():
        text = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return _BETWEEN_LETTERS.sub("", text)


def keys_in(schema: m.Schema) -> IsKey:
    """Returns a function that says whether a key may occur in the schema's objects.

    Returns None if an object may have any key.
    """
    parts = list(m.all_parts(schema))
    if any(isinstance(one, m.AnySchema | m.MapSchema) for one in parts):
        return None
    names = {
        spelling(f.name) for one in parts if isinstance(one, m.ObjectSchema) for f in one.fields
    }
    return lambda key: spelling(key) in names


def _readings(data: Any, schema: m.Schema, name: str | None) -> Iterator[tuple[str, Any]]:
    """Yields pairs of a repair's text and the repaired data.

    A repair removes the list or object around the data, or puts the data into a list.
    """
    members = [m.resolved(one) for one in m.members_of(schema)]
    is_open = any(isinstance(one, m.AnySchema | m.MapSchema) for one in members)
    lists = [one for one in members if isinstance(one, m.ListSchema)]
    if is_object(data) and len(data) == 1 and not is_open:  # the keys of a map are data
        ((key, inner),) = data.items()
        if isinstance(inner, list | dict):
            is_around = any(isinstance(one, _CONTAINERS) for one in members)
        else:
            names = ("value", "result", "answer", spelling(name or "value"))
            is_text = any(m.is_scalar(one, "string") for one in members)
            is_around = spelling(str(key)) in names and not is_text
        if is_around and spelling(str(key)) not in _TELLING:
            yield f"taken out of `{key}`", inner
    is_object_wanted = any(isinstance(one, m.ObjectSchema) for one in members)
    if is_list(data) and len(data) == 1 and is_object_wanted and not lists and not is_open:
        yield "taken out of a list of one", data[0]
    items = [m.resolved(item) for one in lists for item in m.members_of(one.item)]
    if is_object(data) and any(isinstance(one, m.ObjectSchema) for one in items):
        yield "a list of one put around it", [data]


def _fit(data: Any, schema: m.Schema, path: str, *repairs: str) -> Fit:
    fitter = _Fitter()
    fitter.repairs += repairs
    return fitter.result(fitter.fit(data, schema, path))


class _Fitter:
    """Adapts data to a schema, records the repairs, and counts the parts that do not fit."""

    def __init__(self, tried: dict[tuple[int, int], tuple[Any, Fit]] | None = None) -> None:
        self.repairs: list[str] = []
        self.misfits = 0
        # Fits of lists and objects as union members, by id; keeps the data so that ids stay valid.
        self.tried = {} if tried is None else tried

    def result(self, data: Any) -> Fit:
        return Fit(data, tuple(self.repairs), self.misfits)

    def add(self, found: Fit) -> Any:
        """Adds the repairs and misfits of a part, and returns the part's data."""
        self.repairs += found.repairs
        self.misfits += found.misfits
        return found.data

    def misfit(self, data: Any) -> Any:
        """Counts data that does not fit, and returns this data unchanged."""
        return self.add(Fit(data, (), 1))

    def fit(self, data: Any, schema: m.Schema, path: str) -> Any:
        schema = m.resolved(schema)
        if type(data) not in _JSON:
            return data  # a Python value from a table: no model wrote it
        if isinstance(data, str) and isinstance(schema, _CONTAINERS):
            return self.fit_text(data, schema, path)
        match schema:
            case m.ScalarSchema(kind) if type(data) is SCALAR_TYPES.get(kind):
                return data  # most data is already of its type
            case m.AnySchema():
                return data
            case m.ObjectSchema() if is_object(data):
                return self.fit_object(data, schema, path)
            case m.MapSchema() if is_object(data):
                return self.fit_map(data, schema, path)
            case m.ListSchema(item) if is_list(data):
                return self.fit_items(data, (item,) * len(data), path)
            case m.TupleSchema(items, rest) if is_list(data):
                return self.fit_items(data, (rest,) * len(data) if rest else items, path)
            case m.ScalarSchema(kind):
                return self.changed(data, _scalar(data, kind), path)
            case m.LiteralSchema() | m.UnionSchema() if literals := m.literals_of(schema):
                return self.changed(data, _label(data, [one.value for one in literals]), path)
            case m.UnionSchema():
                return self.fit_union(data, schema, path)
            case _:
                return self.misfit(data)

    def changed(self, data: Any, value: Any, path: str) -> Any:
        """Returns `value`, and records a repair if `value` differs from the data.

        If `value` is `_NONE`, counts a misfit and returns the data.
        """
        if value is not data and value is not _NONE:
            self.repairs.append(f"{path}: read {_shown(data)} as {_shown(value)}")
        return self.misfit(data) if value is _NONE else value

    def fit_text(self, text: str, schema: m.Schema, path: str) -> Any:
        """Adapts the list or object that a string holds as JSON."""
        from runtime_support._core.reader.notation import read_data

        try:
            found = read_data(text, keys_in(schema))
        except NotData:
            return self.misfit(text)
        self.repairs += (f"{path}: JSON in a string", *found.repairs)
        return self.fit(found.value, schema, path)

    def fit_items(self, data: list[Any], schemas: tuple[m.Schema, ...], path: str) -> Any:
        if len(data) != len(schemas):
            return self.misfit(data)
        return [self.fit(one, schemas[at], f"{path}[{at}]") for at, one in enumerate(data)]

    def fit_map(self, data: dict[str, Any], schema: m.MapSchema, path: str) -> Any:
        keys = [self.fit(key, schema.key, member_path(path, str(key))) for key in data]
        found = {
            new: self.fit(data[key], schema.value, member_path(path, str(key)))
            for new, key in zip(keys, data, strict=True)
        }
        return found if len(found) == len(data) else self.misfit(data)

    def names(
        self, data: Mapping[str, Any], fields: Mapping[str, m.Field], path: str
    ) -> dict[str, str]:
        """Maps each key to the name of its field, and an unknown or ambiguous key to itself."""
        missing = [name for name in fields if name not in data]
        names: dict[str, str] = {}
        for key in data:
            near = [
                one for one in missing if key not in fields and spelling(one) == spelling(str(key))
            ]
            names[key] = near[0] if len(near) == 1 else key
            if names[key] != key:
                missing.remove(near[0])
                self.repairs.append(f"{path}: key `{key}` as `{near[0]}`")
        return names

    def fit_object(self, data: dict[str, Any], schema: m.ObjectSchema, path: str) -> Any:
        fields = {field.name: field for field in schema.fields}
        names = self.names(data, fields, path)
        missing = [one for name, one in fields.items() if name not in names.values()]
        self.misfits += sum(field.required for field in missing)
        found: dict[str, Any] = {}
        for key, name in names.items():
            if name in fields:
                found[name] = self.fit(data[key], fields[name].schema, member_path(path, name))
            elif missing or spelling(str(key)) in _TELLING.union(map(spelling, fields)):
                # It may be the missing field.
                found[key] = self.misfit(data[key])
            else:
                self.repairs.append(f"{path}: dropped key `{key}`")
        return found

    def fit_union(self, data: Any, schema: m.UnionSchema, path: str) -> Any:
        """Adapts data to a union. Prefers a member that takes the data unchanged.

        If there is none, all members to which the data can be adapted must agree on the result.
        """
        members = m.members_of(schema)
        labels = tuple(one for one in members if isinstance(one, m.LiteralSchema))
        others = [m.resolved(one) for one in members if not isinstance(one, m.LiteralSchema)]
        found = [_fit(data, m.UnionSchema(labels), path)] if labels else []
        found += [self.trial(data, member, path) for member in others]
        fits = [one for one in found if not one.misfits]
        exact = [one for one in fits if not one.repairs]
        is_doubtful = _has_one_comma(data) and any(
            m.is_scalar(one, "float") or m.is_scalar(one, "decimal") for one in others
        )
        if exact or (len({to_json(one.data) for one in fits}) == 1 and not is_doubtful):
            return self.add((exact or fits)[0])
        self.misfits += 1
        hopeful = [self.trial(data, one, path) for one in others if not m.admits_nil(one)]
        is_one = len(hopeful) + bool(labels) == 1 or is_object(data)
        return min(hopeful, key=lambda one: one.misfits).data if hopeful and is_one else data

    def trial(self, data: Any, member: m.Schema, path: str) -> Fit:
        """Adapts the data to one member of a union. Caches the result for a list or object."""
        key = (id(data), id(member))
        if key in self.tried and isinstance(data, list | dict):
            return self.tried[key][1]
        fitter = _Fitter(self.tried)
        self.tried[key] = (data, fitter.result(fitter.fit(data, member, path)))
        return self.tried[key][1]


def _scalar(data: Any, kind: m.ScalarKind) -> Any:
    """Returns the data as a scalar of the kind, or `_NONE` if the data is no such scalar."""
    text = data if isinstance(data, str) else _digits(data)
    if isinstance(data, bool) or kind == "nil":
        is_kind = kind == "bool" if isinstance(data, bool) else data is None
        return data if is_kind else _NONE
    if kind in ("int", "float", "number", "decimal"):
        return _number(data, kind)
    match kind:
        case "string":
            return _NONE if text is None else text
        case "bool":
            return _BOOLS.get(str(text).strip().casefold(), _NONE)
        case _:
            return _date(data, kind) if isinstance(data, str) else _NONE


def _digits(data: Any) -> str | None:
    """Returns a JSON number as it was written. Returns None if it is not an int or `Digits`."""
    if isinstance(data, Digits):
        return data.text
    return str(data) if type(data) is int else None


def _number(data: Any, kind: m.ScalarKind) -> Any:
    if isinstance(data, str):
        text = _number_text(data, kind)
        if text is None or kind == "decimal":
            return _NONE if text is None else data if text == data else text
        data = int(text) if text.lstrip("-").isdigit() else Digits(text)
    if isinstance(data, float):
        is_exact = not isinf(data) and (kind != "decimal" or isinstance(data, Digits))
        return _NONE if not is_exact else _integer(data) if kind == "int" else data
    return data if isinstance(data, int) else _NONE


def _integer(number: float) -> Any:
    """Returns a number as an exact integer, or `_NONE` if it has a fraction."""
    from decimal import Decimal

    exact = Decimal(_digits(number) or number)
    return int(exact) if exact == exact.to_integral_value() else _NONE


def _number_text(text: str, kind: m.ScalarKind) -> str | None:
    """Returns the number that a text holds, in JSON notation.

    Returns None if the text is not a number, or is ambiguous.
    """
    text = text.strip()
    amount = _AMOUNT.fullmatch(text)
    if _ONE_POINT.fullmatch(text) and (kind == "int" or "$" in text or "£" in text):
        return None
    if _NUMBER.fullmatch(text) or (kind == "decimal" and _reads("decimal", text)):
        return text
    if amount is None or (kind != "int" and _has_one_comma(text)):
        return None
    return amount["sign"] + re.sub(r"[^0-9]", "", amount["whole"]) + (amount["part"] or "")


def _has_one_comma(data: Any) -> bool:
    return isinstance(data, str) and _ONE_COMMA.fullmatch(data.strip()) is not None


def _date(text: str, kind: m.ScalarKind) -> Any:
    """Returns the text of a date, time or duration, or `_NONE` if the text is unreadable.

    Cuts seconds to six decimals if only the shorter text is readable.
    """
    cut = _NANOSECONDS.sub(r"\1", text) if kind in ("datetime", "time") else text
    return next((one for one in (text, cut) if _reads(kind, one)), _NONE)


def _reads(kind: m.ScalarKind, text: str) -> bool:
    try:
        return is_word(kind) and read(kind, text) is not None
    except NotReadable:
        return False


def _label(data: Any, labels: list[Any]) -> Any:
    """Returns the label that the data means, or `_NONE` if no label or several labels match."""
    if any(type(one) is type(data) and one == data for one in labels):
        return data
    if isinstance(data, str):
        alike = [one for one in labels if isinstance(one, str) and spelling(one) == spelling(data)]
    else:
        alike = [one for one in labels if isinstance(one, str) and one == _digits(data)]
    number, truth = _scalar(data, "number"), _scalar(data, "bool")
    alike += [one for one in labels if type(one) in (int, float) and one == number]
    alike += [one for one in labels if isinstance(one, bool) and one is truth]
    return alike[0] if len(alike) == 1 else _NONE


def _shown(value: Any) -> str:
    return f"`{value[:60]}`" if isinstance(value, str) else to_json(value)[:60]
