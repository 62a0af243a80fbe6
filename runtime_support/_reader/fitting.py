"""JSON data as the value of a schema: what a type means, wherever a model writes one.

    read_value({"Age": "36"}, schema)    (Person(36), ("value: key `Age` as `age`", ...))
    read_value({"age": "old"}, schema)   CheckError: value.age: expected int, got string "old"

The same for a reply, the value of a field, an argument of a tool and a cell of a table. Data is
changed only where it can mean one thing: the notation of a number or bool, the spelling of a label
or key, one level around the whole. What cannot be changed stays as it is, and is told with all
other mistakes when the value is made.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isinf
from typing import Any, TypeAlias

from runtime_support._dates_decimals import Digits, NotReadable, is_word, read
from runtime_support._jsontext import to_json
from runtime_support._schema import model as m
from runtime_support._schema.mistakes import decode_for_model
from runtime_support._values import is_list, is_object, member_path
from runtime_support.errors import CheckError

MOST_REPAIRS = 20
# What says that an object is no value, but tells what went wrong.
TELLING = frozenset(("error", "status", "code", "message"))
# What may be around a label, a number or a bool.
AROUND = frozenset(("value", "result", "answer"))
_JSON = (type(None), bool, int, float, Digits, str, list, dict)
_CONTAINERS = (m.ListSchema, m.TupleSchema, m.MapSchema, m.ObjectSchema)
_BOOLS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_NONE: Any = object()
_LARGEST = 10**400

_ACCENTS = re.compile(r"(?<=[a-z\u03b1-\u03c9])[\u0300-\u036f]++")
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])[\s_-]++(?=[^\W\d_])")
_NUMBER = re.compile(r"-?+(?:0|[1-9][0-9]{0,999}+)(?:\.[0-9]{1,999}+)?+(?:[eE][+-]?+[0-9]{1,3}+)?+")
_AMOUNT = re.compile(
    r"(?P<sign>-?+)(?P<money>[$£]?+)"
    r"(?P<whole>[1-9][0-9]{0,2}+(?P<apart>[, \u00a0\u202f_'’])[0-9]{3}+(?:(?P=apart)[0-9]{3}+)*+|[0-9]++)"
    r"(?P<part>\.[0-9]++)?+"
)
_ONE_COMMA = re.compile(r"-?+[1-9][0-9]{0,2}+,[0-9]{3}+")
_THOUSANDTHS = re.compile(r"[0-9]{1,3}+\.[0-9]{3}+")  # in half of Europe: thousands
_NANOSECONDS = re.compile(r"(:[0-9]{2}[.,][0-9]{6})[0-9]++")


@dataclass(frozen=True, slots=True)
class Fit:
    """Data as a schema has it, what was changed, and how much of it does not fit."""

    data: Any
    repairs: tuple[str, ...]
    misfits: int


def read_value(
    data: Any, schema: m.Schema, path: str = "value", name: str | None = None
) -> tuple[Any, tuple[str, ...]]:
    """Returns the value and what was changed for it; CheckError with all that is wrong.

    `name` is what the value is bound to: an object may have it under that.
    """
    try:
        found = fit(data, schema, path, name)
        return decode_for_model(found.data, schema, path), shortened(found.repairs)
    except RecursionError:
        raise CheckError(f"{path}: nested too deeply", path=path) from None


def fit(data: Any, schema: m.Schema, path: str = "value", name: str | None = None) -> Fit:
    """Returns the data as it fits best: as it is, or with one level taken off or put around it."""
    best: Fit | None = None
    for words, inner in _readings(data, schema, name):
        found = _Fitter().fit_whole(inner, schema, path)
        if best is None or found.misfits < best.misfits:
            best = Fit(found.data, (*words, *found.repairs), found.misfits)
        if not best.misfits:
            break
    assert best is not None
    return best


def fit_arguments(data: Mapping[str, Any], fields: tuple[m.Field, ...], *, is_open: bool) -> Fit:
    """Returns arguments by the names of parameters, each as `fit` has it; null stands for one that
    is left out.

    An argument that no parameter takes stays, and does not fit unless the function `is_open`.
    """
    fitter = _Fitter()
    known = {field.name: field for field in fields}
    given: dict[str, Any] = {}
    for key, name in fitter.names(data, fields, "args").items():
        field = known.get(name)
        if field is None:
            fitter.misfits += not is_open
            given[key] = data[key]
        elif data[key] is not None or field.required or m.admits_nil(field.schema):
            found = fit(data[key], field.schema, member_path("args", name), name)
            fitter.add(found)
            given[name] = found.data
    return fitter.result(given)


def shortened(repairs: tuple[str, ...]) -> tuple[str, ...]:
    """The repairs, each once, and the first ones of many."""
    told = tuple(dict.fromkeys(repairs))
    more = len(told) - MOST_REPAIRS
    return told if more <= 0 else (*told[:MOST_REPAIRS], f"and {more} more")


@lru_cache(maxsize=4096)
def spelling(text: str) -> str:
    """What spellings of one name or label have in common: `schemaId`, `Schema ID`, `schema_id`.

    Case, accents, and what is between letters do not count; any other sign does.
    """
    text = text.strip().casefold()
    if not text.isascii():
        text = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFC", text)
    return _BETWEEN_LETTERS.sub("", text)


def _readings(
    data: Any, schema: m.Schema, name: str | None
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The data, and what it is without the one level around it, or with one."""
    yield (), data
    members = [m.resolved(one) for one in m.members_of(schema)]
    if any(isinstance(one, m.AnySchema) for one in members):
        return
    is_map = any(isinstance(one, m.MapSchema) for one in members)
    if is_object(data) and len(data) == 1 and not is_map:  # the keys of a map are data
        ((key, inner),) = data.items()
        if isinstance(inner, list | dict):
            is_around = any(isinstance(one, _CONTAINERS) for one in members)
        else:
            is_text = any(m.is_scalar(one, "string") for one in members)
            is_around = not is_text and spelling(key) in (*AROUND, spelling(name or "value"))
        if is_around and spelling(key) not in TELLING:
            yield (f"taken out of `{key}`",), inner
    lists = [one for one in members if isinstance(one, m.ListSchema)]
    if is_list(data) and len(data) == 1 and not lists:
        if is_object(data[0]) and any(isinstance(one, m.ObjectSchema) for one in members):
            yield ("taken out of a list of one",), data[0]
    items = [item for one in lists for item in m.members_of(one.item)]
    if is_object(data) and any(isinstance(m.resolved(one), m.ObjectSchema) for one in items):
        yield ("a list of one put around it",), [data]


_Tried: TypeAlias = dict[tuple[int, int], tuple[Any, Fit]]


class _Fitter:
    """Fits data to a schema: notes what it changes, and counts what does not fit."""

    def __init__(self, tried: _Tried | None = None) -> None:
        self.repairs: list[str] = []
        self.misfits = 0
        # What lists and objects are as a member of a union: each is tried once.
        self.tried: _Tried = {} if tried is None else tried

    def fit_whole(self, data: Any, schema: m.Schema, path: str) -> Fit:
        return self.result(self.fit(data, schema, path))

    def result(self, data: Any) -> Fit:
        return Fit(data, tuple(self.repairs), self.misfits)

    def add(self, found: Fit) -> Any:
        """Adds what a part came to; returns its data."""
        self.repairs += found.repairs
        self.misfits += found.misfits
        return found.data

    def misfit(self, data: Any) -> Any:
        """Counts data that does not fit, which stays as it is."""
        self.misfits += 1
        return data

    def fit(self, data: Any, schema: m.Schema, path: str) -> Any:
        schema = m.resolved(schema)
        if type(data) not in _JSON:
            return data  # a value of Python in a table: nobody wrote it
        if isinstance(schema, m.UnionSchema) and not m.literals_of(schema):
            return self.fit_union(data, schema, path)
        if isinstance(data, str) and isinstance(schema, _CONTAINERS):
            return self.fit_text(data, schema, path)
        match schema:
            case m.AnySchema():
                return _without_digits(data)
            case m.ObjectSchema() if is_object(data):
                return self.fit_object(data, schema, path)
            case m.MapSchema() if is_object(data):
                return self.fit_map(data, schema, path)
            case m.ListSchema(item) if is_list(data):
                return [self.fit(one, item, f"{path}[{at}]") for at, one in enumerate(data)]
            case m.TupleSchema(items, rest) if is_list(data):
                each = items if rest is None else (rest,) * len(data)
                if len(each) != len(data):
                    return self.misfit(data)
                pairs = enumerate(zip(data, each, strict=True))
                return [self.fit(one, part, f"{path}[{at}]") for at, (one, part) in pairs]
            case m.ScalarSchema(kind):
                return self.changed(data, _scalar(data, kind), path)
            case m.LiteralSchema() | m.UnionSchema():
                values = [one.value for one in m.literals_of(schema)]
                return self.changed(data, _label(data, values), path)
            case _:
                return self.misfit(data)

    def changed(self, data: Any, value: Any, path: str) -> Any:
        """The value that was read of the data, if there is one."""
        if value is _NONE:
            return self.misfit(data)
        if value is not data:
            self.repairs.append(f"{path}: read {_shown(data)} as {_shown(value)}")
        return value

    def fit_text(self, text: str, schema: m.Schema, path: str) -> Any:
        """The list or object that a text holds as JSON."""
        from runtime_support._reader.notation import NotData, read_data

        if text.lstrip()[:1] not in ("{", "["):
            return self.misfit(text)
        try:
            found = read_data(text, keys_in(schema))
        except NotData:
            return self.misfit(text)
        self.repairs += (f"{path}: JSON in a string", *found.repairs)
        return self.fit(found.value, schema, path)

    def names(
        self, data: Mapping[str, Any], fields: tuple[m.Field, ...], path: str
    ) -> dict[str, str]:
        """By each key the name of its field; a key that is none, or a second one, keeps its own."""
        known = {field.name for field in fields}
        by_spelling: dict[str, list[str]] = {}
        for name in known.difference(data):
            by_spelling.setdefault(spelling(name), []).append(name)
        names: dict[str, str] = {}
        for key in data:
            near = [] if key in known else by_spelling.pop(spelling(str(key)), [])
            names[key] = near[0] if len(near) == 1 else key
            if names[key] != key:
                self.repairs.append(f"{path}: key `{key}` as `{names[key]}`")
        return names

    def fit_object(self, data: dict[str, Any], schema: m.ObjectSchema, path: str) -> Any:
        known = {field.name: field for field in schema.fields}
        names = self.names(data, schema.fields, path)
        missing = [field for name, field in known.items() if name not in names.values()]
        self.misfits += sum(field.required for field in missing)
        spellings = set(map(spelling, known))
        given: dict[str, Any] = {}
        for key, name in names.items():
            if name in known:
                given[name] = self.fit(data[key], known[name].schema, member_path(path, name))
            elif missing or spelling(key) in (*TELLING, *spellings):
                given[key] = self.misfit(data[key])  # it may be what is missing
            else:
                self.repairs.append(f"{path}: dropped key `{key}`")
        return given

    def fit_map(self, data: dict[str, Any], schema: m.MapSchema, path: str) -> Any:
        keys = {key: key for key in data}
        if schema.key != m.TEXT:
            keys = {key: self.fit(key, schema.key, member_path(path, key)) for key in data}
        if len(set(keys.values())) < len(keys):
            return self.misfit(data)
        return {
            keys[key]: self.fit(one, schema.value, member_path(path, key))
            for key, one in data.items()
        }

    def fit_union(self, data: Any, schema: m.UnionSchema, path: str) -> Any:
        """As the member that takes the data as it is, or the only one that takes it changed."""
        members = m.members_of(schema)
        literals = tuple(one for one in members if isinstance(one, m.LiteralSchema))
        others = [m.resolved(one) for one in members if not isinstance(one, m.LiteralSchema)]
        found = [self.trial(data, member, path) for member in others]
        if literals:
            found.insert(0, _Fitter().fit_whole(data, m.UnionSchema(literals), path))
        fits = [one for one in found if not one.misfits]
        exact = [one for one in fits if not one.repairs]
        if exact:
            return exact[0].data
        is_doubtful = _has_one_comma(data) and any(map(_takes_fractions, others))
        if fits and not is_doubtful and all(_same(fits[0].data, one.data) for one in fits):
            return self.add(fits[0])
        self.misfits += 1
        hopeful = [self.trial(data, one, path) for one in others if not m.admits_nil(one)]
        if fits or is_doubtful or len(hopeful) + bool(literals) > 1 and not is_object(data):
            return data
        return min(hopeful, key=lambda one: one.misfits).data if hopeful else data

    def trial(self, data: Any, member: m.Schema, path: str) -> Fit:
        """What the data is as a member of a union."""
        key = (id(data), id(member))
        if key in self.tried:
            return self.tried[key][1]
        found = _Fitter(self.tried).fit_whole(data, member, path)
        if isinstance(data, list | dict):
            self.tried[key] = (data, found)  # with the data, so that its id stays its
        return found


def keys_in(schema: m.Schema) -> Callable[[str], bool] | None:
    """Tells whether objects of the schema may have a key; None where they may have any."""
    names = set[str]()
    for part in m.all_parts(schema):
        if isinstance(part, m.AnySchema | m.MapSchema):
            return None
        if isinstance(part, m.ObjectSchema):
            names.update(spelling(field.name) for field in part.fields)
    return lambda key: spelling(key) in names


def _scalar(data: Any, kind: m.ScalarKind) -> Any:
    """The data as a scalar of the kind, or `_NONE`."""
    if isinstance(data, list | dict):
        return _NONE
    match kind:
        case "nil":
            return None if data is None else _NONE
        case "bool":
            text = str(data) if type(data) is int else data
            is_text = isinstance(text, str)
            return _BOOLS.get(text.strip().casefold(), _NONE) if is_text else _bool(data)
        case "string":
            return data if isinstance(data, str) else _digits(data)
        case "int" | "float" | "number" | "decimal":
            return _number(data, kind)
        case _:
            return _date(data, kind) if isinstance(data, str) else _NONE


def _bool(data: Any) -> Any:
    return data if isinstance(data, bool) else _NONE


def _digits(data: Any) -> Any:
    """The text of a number of JSON, or `_NONE`."""
    if type(data) is int:
        return str(data)
    return data.text if isinstance(data, Digits) else _NONE


def _number(data: Any, kind: m.ScalarKind) -> Any:
    if data is None or isinstance(data, bool):
        return _NONE
    if isinstance(data, str):
        text = _number_text(data, kind)
        if text is None:
            return _NONE
        if kind == "decimal":
            return data if text == data else text
        data = Digits(text) if set(text) & set(".eE") else int(text)
        if isinf(data) or abs(data) > _LARGEST:
            return _NONE
        data = float(data) if kind == "float" else data
    if kind == "int" and isinstance(data, float):
        return _integer(data)
    is_inexact = kind == "decimal" and type(data) is float
    return _NONE if is_inexact else data


def _integer(number: float) -> Any:
    """The integer that a number is, with all its digits, or `_NONE`."""
    from decimal import Decimal

    exact = Decimal(number.text if isinstance(number, Digits) else number)
    return int(exact) if exact == exact.to_integral_value() else _NONE


def _number_text(text: str, kind: m.ScalarKind) -> str | None:
    """The number that a text is, as JSON writes it; None if it is none, or more than one."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return None if kind == "int" and _THOUSANDTHS.fullmatch(text) else text
    if kind == "decimal" and _reads("decimal", text):
        return text
    amount = _AMOUNT.fullmatch(text)
    if amount is None or (_has_one_comma(text) and kind != "int"):
        return None
    is_whole = amount["apart"] is None
    if is_whole and (not amount["money"] or not _NUMBER.fullmatch(amount["whole"])):
        return None  # `007`
    if is_whole and len(amount["part"] or "") == 4:
        return None  # `$1.234`
    digits = "".join(filter(str.isdigit, amount["whole"]))
    return amount["sign"] + digits + (amount["part"] or "")


def _has_one_comma(data: Any) -> bool:
    """Whether a text is one group of three behind one comma: `12,345` may be twelve and a bit."""
    return isinstance(data, str) and _ONE_COMMA.fullmatch(data.strip()) is not None


def _takes_fractions(schema: m.Schema) -> bool:
    return isinstance(schema, m.ScalarSchema) and schema.kind in ("float", "number", "decimal")


def _date(text: str, kind: m.ScalarKind) -> Any:
    """The text of a date or the like; of a time, six decimals of a second."""
    cut = _NANOSECONDS.sub(r"\1", text) if kind in ("datetime", "time") else text
    return next((one for one in (text, cut) if _reads(kind, one)), _NONE)


def _reads(kind: m.ScalarKind, text: str) -> bool:
    try:
        return is_word(kind) and read(kind, text) is not _NONE
    except NotReadable:
        return False


def _label(data: Any, labels: list[Any]) -> Any:
    """The label that the data is, or `_NONE`."""
    if any(type(one) is type(data) and one == data for one in labels):
        return data
    texts = [one for one in labels if isinstance(one, str)]
    numbers = [one for one in labels if type(one) in (int, float)]
    bools = [one for one in labels if isinstance(one, bool)]
    if isinstance(data, str):
        alike = [one for one in texts if spelling(one) == spelling(data)]
    else:
        alike = [one for one in texts if one == _digits(data)]
    number = _scalar(data, "number")
    alike += [one for one in numbers if one == number]
    alike += [one for one in bools if one is _scalar(data, "bool")]
    return alike[0] if len(alike) == 1 else _NONE


def _same(one: Any, other: Any) -> bool:
    """Whether two readings of data are the same value; true is not 1."""
    return one == other and (not isinstance(one, int | float) or _bool(one) == _bool(other))


def _without_digits(data: Any) -> Any:
    """The data with numbers that are nothing else."""
    if is_object(data):
        return {key: _without_digits(one) for key, one in data.items()}
    if is_list(data):
        return [_without_digits(one) for one in data]
    return float(data) if isinstance(data, Digits) else data


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else value.text if isinstance(value, Digits) else None
    return f"`{text[:60]}`" if text is not None else to_json(value)[:60]
