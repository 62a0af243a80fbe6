"""Checks values against schemas.

    validate({"id": "7"}, schema)   raises CheckError: value.id: expected int, got string "7"
    validate({"id": 7}, schema)     the record, if the schema builds one
    decode([1, 2], schema)          like `validate`, but a JSON list may become a tuple
    decode_for_model([1, "2", true], schema)     the CheckError lists all mistakes

Each schema is compiled once into a function. It returns the value itself, or a copy if a part had
to be converted. Otherwise it raises the first `Mismatch`, which carries the others; each level
adds its step to the path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, repeat
from math import isclose
from operator import is_
from typing import Any, TypeAlias, assert_never

from runtime_support._schema import model as m
from runtime_support._schema.rules import collected_rules
from runtime_support._schema.writing import constraint_words, short
from runtime_support._values.dates import (
    EXAMPLES,
    Digits,
    NotReadable,
    Word,
    class_for,
    is_naive,
    is_word,
    word_of,
)
from runtime_support._values.dates import read as read_text
from runtime_support._values.kinds import (
    basic_kind,
    brief,
    is_list,
    is_number,
    is_object,
    is_tuple,
    member_path,
    plain,
)
from runtime_support._values.names import did_you_mean, listed
from runtime_support.errors import CheckError

Check: TypeAlias = Callable[[Any], Any]

SCALAR_TYPES: dict[m.ScalarKind, type] = {
    "int": int,
    "bool": bool,
    "string": str,
    "nil": type(None),
}


# JSON has texts for these. In a union with strings, a text that reads as one of them becomes one;
# likewise an object whose keys all read as such.
_DATES = ("date", "datetime", "time", "duration")


class Mismatch(Exception):
    """Raised if a value does not fit its schema; `steps` is the path to the part, innermost first.

    `others` are the mismatches in other parts of the value.
    """

    def __init__(self, expected: str, value: object = m.ABSENT, hint: str | None = None) -> None:
        super().__init__(expected)
        self.expected = expected
        self.value = value
        self.hint = hint
        self.steps: list[str | int] = []
        self.others: list[Mismatch] = []
        # True if a record's constructor refused fields that fit their types.
        self.is_of_record = False

    @staticmethod
    def of_record(words: str, hint: str | None = None) -> Mismatch:
        """Returns the mismatch for a refusal by a record's constructor."""
        mismatch = Mismatch(words, hint=hint)
        mismatch.is_of_record = True
        return mismatch

    def at(self, step: str | int) -> Mismatch:
        """Adds an outer step to the path of this mismatch and its `others`; returns it."""
        for one in (self, *self.others):
            one.steps.append(step)
        return self

    def report(self, path: str) -> CheckError:
        for step in reversed(self.steps):
            path = f"{path}[{step}]" if isinstance(step, int) else member_path(path, step)
        found = "" if self.value is m.ABSENT else f", got {brief(self.value)}"
        return CheckError(f"{path}: {self.expected}{found}", path=path, hint=self.hint)


def _together(mismatches: list[Mismatch]) -> Mismatch:
    """Returns the first mismatch, with the rest in its `others`."""
    first = mismatches[0]
    for other in mismatches[1:]:
        first.others += (other, *other.others)
    return first


# The converted keys of an object, and their mismatches.
Keys: TypeAlias = tuple[Iterable[Any], list[Mismatch]]
KeysReader: TypeAlias = Callable[[dict[Any, Any]], Keys]


def validate(value: Any, schema: m.Schema, *, path: str = "value") -> Any:
    """Returns the value as the schema describes it; an object may become a record.

    Raises CheckError.
    """
    try:
        return _validating.check(schema)(value)
    except Mismatch as mismatch:
        raise mismatch.report(path) from None


def decode(value: Any, schema: m.Schema, path: str = "value") -> Any:
    """Converts JSON data to the value that the schema describes, with records and tuples.

    Raises CheckError.
    """
    try:
        return _decoding.check(schema)(value)
    except Mismatch as mismatch:
        raise mismatch.report(path) from None


def decode_for_model(value: Any, schema: m.Schema, path: str = "value") -> Any:
    """Like `decode`, for a model's reply: its CheckError lists all mistakes."""
    try:
        return _decoding.check(schema)(value)
    except Mismatch as mismatch:
        found = [one.report(path) for one in (mismatch, *mismatch.others)]
        raise CheckError(_list_mistakes(map(str, found)), path=found[0].path) from None


def _list_mistakes(mistakes: Iterable[str]) -> str:
    """Joins mistakes for a message: the first ten, and how many more."""
    told = list(dict.fromkeys(mistakes))
    more = len(told) - _MOST_LISTED
    if more > 0:
        told[_MOST_LISTED:] = [f"and {more if len(told) < _MOST_FOUND else 'many'} more"]
    return "; ".join(told)


def compile_check(schema: m.Schema) -> Check:
    """Returns the function behind `validate`, which raises `Mismatch`."""
    return _validating.check(schema)


_MOST_LISTED = 10
# The check stops after this many mismatches in one list or object.
_MOST_FOUND = 2_000
# A bound, as functions created per call bring new schemas when they are tools.
_MOST_COMPILED = 1024


class Validating:
    """Compiles schemas to checks of Saft values."""

    def __init__(self) -> None:
        self.compiled: dict[int, tuple[m.Schema, Check]] = {}

    def check(self, schema: m.Schema) -> Check:
        # By identity, as schemas are cached per type; keeping the schema keeps its id from reuse.
        found = self.compiled.get(id(schema))
        if found is None:
            check = self.compile(schema)
            if len(self.compiled) >= _MOST_COMPILED:
                self.compiled.clear()
            found = self.compiled[id(schema)] = (schema, check)
        return found[1]

    def compile(self, schema: m.Schema) -> Check:
        constraints = m.constraints_of(schema)
        check = self.compile_type(schema)
        if constraints is None or constraints.told_only:
            return check
        words = ", ".join([self.expected(schema), *constraint_words(schema)])
        return _constrained_check(check, constraints, words)

    def compile_type(self, schema: m.Schema) -> Check:
        match schema:
            case m.AnySchema():
                return plain
            case m.ScalarSchema(word):
                return self.scalar_check(word)
            case m.LiteralSchema(wanted):
                return _literal_check(wanted, schema.python_value, self.expected(schema))
            case m.OpaqueSchema(name, accepts, gives=gives):
                check = opaque_check(f"expected {name}", accepts)
                return check if gives is None else _function_check(check, gives, schema.may_wait)
            case m.ListSchema():
                return self.list_check(schema)
            case m.TupleSchema():
                return self.tuple_check(schema)
            case m.MapSchema():
                return self.map_check(schema)
            case m.ObjectSchema():
                return self.object_check(schema)
            case m.RootSchema():
                return self.root_check(schema)
            case m.UnionSchema(members):
                checks = tuple(map(self.check, members))
                check = _union_check(self.expected(schema), checks, _tag_of(members))
                return self.union_check(check, members)
            case m.ReferenceSchema(_, target):
                return lambda value: self.check(target())(value)
            case _:
                assert_never(schema)

    def named(self, schema: m.Schema) -> str:
        """The schema's name in messages."""
        return short(schema)

    def expected(self, schema: m.Schema) -> str:
        """The words for a value of this schema: `expected int`."""
        match schema:
            case m.ListSchema():
                return "expected list"
            case m.TupleSchema(rest=rest) if rest is not None:
                return "expected tuple"
            case m.MapSchema():
                return "expected object"
            case _:
                return f"expected {self.named(schema)}"

    def scalar_check(self, word: m.ScalarKind) -> Check:
        expected = self.expected(m.ScalarSchema(word))
        if is_word(word):
            return _date_check(word, expected)
        return _float_check(expected) if word == "float" else _scalar_check(word, expected)

    def list_check(self, schema: m.ListSchema) -> Check:
        exact = _exact_type(schema.item)
        return _list_check(self.check(schema.item), self.expected(schema), exact, schema.also)

    def tuple_check(self, schema: m.TupleSchema) -> Check:
        rest = schema.rest
        expected = self.expected(schema)
        if rest is not None:
            inner = _list_check(self.check(rest), expected, _exact_type(rest))

            def check_any_length(value: Any) -> Any:
                if not is_tuple(value):
                    return _other(value, check_any_length, expected)
                items = list(value)
                checked = inner(items)
                return value if checked is items else tuple(checked)

            return check_any_length

        checks = tuple(map(self.check, schema.items))

        def check_tuple(value: Any) -> Any:
            if not is_tuple(value) or len(value) != len(checks):
                return _other(value, check_tuple, expected)
            checked = tuple(_each_checked(zip(checks, value, count(), strict=False)))
            return value if all(map(is_, checked, value)) else checked

        return check_tuple

    def map_check(self, schema: m.MapSchema) -> Check:
        return _map_check(self.check(schema.value), self.keys_reader(schema), self.expected(schema))

    def keys_reader(self, schema: m.MapSchema) -> KeysReader:
        """Returns a function that reads the keys of an object."""
        return _keys_reader(self.check(schema.key), is_text=schema.key == m.TEXT)

    def object_check(self, schema: m.ObjectSchema) -> Check:
        build = schema.build
        if build is None:
            return self.keys_check(schema)
        class_ = build if isinstance(build, type) else object
        expected = self.expected(schema)
        named = tuple((f.python_name, f.name, self.check(f.schema)) for f in schema.fields)
        read = self.reader(schema)

        def check_record(value: Any) -> Any:
            if is_object(value):
                return read(value)
            if not isinstance(value, class_):
                return _other(value, check_record, expected)
            if schema.validates_itself:
                return value
            fields: dict[str, Any] = {}
            wrong: list[Mismatch] = []
            is_changed = False
            for attribute, name, check in named:
                item = getattr(value, attribute)
                try:
                    fields[attribute] = checked = check(item)
                except Mismatch as mismatch:
                    wrong.append(mismatch.at(name))
                    continue
                is_changed = is_changed or checked is not item
            if wrong:
                raise _together(wrong)
            return build_record(schema, fields) if is_changed else value

        return check_record

    def root_check(self, schema: m.RootSchema) -> Check:
        class_ = schema.build if isinstance(schema.build, type) else object
        read = self.root_reader(schema)

        def check_root(value: Any) -> Any:
            if isinstance(value, class_):
                return value
            inner = plain(value)
            return read(value) if inner is value else check_root(inner)

        return check_root

    def root_reader(self, schema: m.RootSchema) -> Check:
        """Returns a function that builds a root model from its value, decoded like a reply."""
        return lambda value: _decoding.root_reader(schema)(value)

    def union_check(self, check: Check, members: tuple[m.Schema, ...]) -> Check:
        """Returns the check of a union; `check` tries the members in order."""
        return check

    def reader(self, schema: m.ObjectSchema) -> Check:
        """Returns a function that builds a record from an object; it decodes the fields."""
        return lambda value: _decoding.check(schema)(value)

    def keys_check(self, schema: m.ObjectSchema) -> Check:
        """Returns a check for an object of exactly these fields; it fills in optional ones."""
        expected = self.expected(schema)
        known = {field.name: field for field in schema.fields}
        fields = [(name, field, self.check(field.schema)) for name, field in known.items()]
        required = [(name, self.missing(one)) for name, one in known.items() if one.required]

        def check_keys(value: Any) -> Any:
            if not is_object(value):
                return _other(value, check_keys, expected)
            wrong: list[Mismatch] = []
            if value.keys() != known.keys():
                wrong += [unexpected_field(key, known) for key in value if key not in known]
                wrong += [missing() for name, missing in required if name not in value]
            changed = False
            checked: dict[str, Any] = {}
            for name, field, check in fields:
                if name in value:
                    item = value[name]
                    try:
                        checked[name] = new = check(item)
                    except Mismatch as mismatch:
                        wrong.append(mismatch.at(name))
                        continue
                    changed = changed or new is not item
                elif field.default is not m.ABSENT:
                    checked[name] = field.default
                    changed = True
            if wrong:
                raise _together(wrong)
            return checked if changed else value

        return check_keys

    def missing(self, field: m.Field) -> Callable[[], Mismatch]:
        """Returns a function that makes the mismatch for a missing required field."""
        words = f"missing field, expected {self.named(field.schema)}"
        return lambda: Mismatch(words).at(field.name)


def unexpected_field(key: Any, known: Iterable[str]) -> Mismatch:
    """Returns the mismatch for a key that is not a field of the object."""
    hint = did_you_mean(str(key), known) or f"its fields are {listed(known)}"
    return Mismatch("unexpected field", hint=hint).at(str(key))


class Decoding(Validating):
    """Compiles schemas to readers of JSON data."""

    def list_check(self, schema: m.ListSchema) -> Check:
        check, expected = super().list_check(schema), self.expected(schema)

        def read_list(value: Any) -> Any:
            if isinstance(value, str) or is_object(value):  # which an Iterable would be as well
                raise Mismatch(expected, value)
            return check(value)

        return check if schema.also is None else read_list

    def tuple_check(self, schema: m.TupleSchema) -> Check:
        from_tuple = super().tuple_check(schema)

        def read_tuple(value: Any) -> Any:
            return from_tuple(tuple(value) if is_list(value) else value)

        return read_tuple

    def union_check(self, check: Check, members: tuple[m.Schema, ...]) -> Check:
        dates = [one for one in members if isinstance(one, m.ScalarSchema) and one.kind in _DATES]
        dated = [one for one in members if isinstance(one, m.MapSchema) and one.key != m.TEXT]
        checks, checks_of_maps = list(map(self.check, dates)), list(map(self.check, dated))
        if not checks and not checks_of_maps:
            return check

        def read_union(value: Any) -> Any:
            is_full = is_object(value) and bool(value)
            first = checks if isinstance(value, str) else checks_of_maps if is_full else ()
            for check_first in first:
                with suppress(Mismatch):
                    return check_first(value)
            return check(value)

        return read_union

    def keys_check(self, schema: m.ObjectSchema) -> Check:
        check = super().keys_check(schema)
        build = schema.build
        if build is None or not schema.validates_itself:
            return check

        def check_with_objections(value: Any) -> Any:
            try:
                return check(value)
            except Mismatch as mismatch:
                if is_object(value):
                    _add_objections(mismatch, partial(build, **value))
                raise

        return check_with_objections

    def reader(self, schema: m.ObjectSchema) -> Check:
        keys = self.keys_check(schema)
        python_names = {field.name: field.python_name for field in schema.fields}
        build = _build_by_rules if hasattr(schema.build, "__post_init__") else build_record

        def read_record(value: Any) -> Any:
            return build(schema, {python_names[k]: item for k, item in keys(value).items()})

        return read_record

    def root_reader(self, schema: m.RootSchema) -> Check:
        read = self.check(schema.root.schema)
        refusal = f"{schema.name} refused its value"

        def read_root(value: Any) -> Any:
            try:
                root = read(value)
            except Mismatch as mismatch:
                _add_objections(mismatch, partial(schema.build, value))
                raise
            return build_with(refusal, partial(schema.build, root))

        return read_root


def _other(value: Any, check: Check, expected: str) -> Any:
    """Checks the value of a Result; raises Mismatch for any other value."""
    inner = plain(value)
    if inner is value:
        raise Mismatch(expected, value)
    return check(inner)


def build_record(schema: m.ObjectSchema, fields: dict[str, Any]) -> Any:
    """Builds the record of these fields; raises Mismatch if its constructor refuses them."""
    assert schema.build is not None
    return build_with(f"{schema.name} refused its fields", partial(schema.build, **fields))


def _build_by_rules(schema: m.ObjectSchema, fields: dict[str, Any]) -> Any:
    """Builds the record of these fields; raises a Mismatch for all rules that it breaks."""
    with collected_rules(schema.build) as broken:
        try:
            record, objection = build_record(schema, fields), None
        except Mismatch as mismatch:
            record, objection = None, mismatch
    if broken:  # they may have caused the constructor's other error
        raise _together([Mismatch.of_record(one.message, one.hint) for one in broken])
    if objection is not None:
        raise objection
    return record


def build_with(refusal: str, build: Callable[[], Any]) -> Any:
    """Returns the result of `build`, or turns its error into a Mismatch.

    `refusal` begins the message for errors that are neither ours nor pydantic's.
    """
    try:
        return build()
    except CheckError as error:
        raise Mismatch.of_record(error.message, error.hint) from error
    except Exception as error:
        objections = _objections_of(error) or [Mismatch.of_record(f"{refusal}: {error}")]
        raise _together(objections) from error


def _add_objections(mismatch: Mismatch, build: Callable[[], Any]) -> None:
    """Adds pydantic's errors about parts that have no mismatch yet."""
    if not mismatch.steps:
        return
    known = {one.steps[-1] for one in (mismatch, *mismatch.others)}
    try:
        build()
    except Exception as error:
        others = [one for one in _objections_of(error) if one.steps and one.steps[-1] not in known]
        mismatch.others += others


def _objections_of(error: BaseException | None) -> list[Mismatch]:
    """Returns the mismatches for a pydantic error, each with its path; empty for other errors."""
    errors = getattr(error, "errors", None)
    if not callable(errors):
        return []
    objections: list[Mismatch] = []
    found: Any = errors()
    for one in found:
        words, place = str(one["msg"]), one["loc"]
        if place[-1:] == ("[key]",):
            words, place = f"its key: {words}", place[:-1]
        objections.append(Mismatch.of_record(words))
        objections[-1].steps += reversed(place)
    return objections


def _float_check(expected: str) -> Check:
    def check_float(value: Any) -> Any:
        if isinstance(value, float):
            return float(value) if value.__class__ is Digits else value
        if is_number(value):
            try:
                return float(value)
            except OverflowError:
                raise Mismatch(expected, value, "the number is too large") from None
        return _other(value, check_float, expected)

    return check_float


def _scalar_check(word: m.ScalarKind, expected: str) -> Check:
    class_ = SCALAR_TYPES[word]

    def check_scalar(value: Any) -> Any:
        if type(value) is class_ or (isinstance(value, class_) and basic_kind(value) == word):
            return value
        return _other(value, check_scalar, expected)

    return check_scalar


def _date_check(word: Word, expected: str) -> Check:
    """Checks a date or the like: accepts the value itself or its ISO 8601 text, as in JSON.

    A decimal may also be an int, or a JSON number by its digits.
    """
    likeness = f"{expected}, such as {EXAMPLES[word]}"

    def check_date(value: Any) -> Any:
        if word_of(value) == word and not hasattr(value.__class__, "__members__"):
            if word == "datetime" and is_naive(value):
                raise Mismatch(f"{expected} with an offset", value, _OFFSET_HINT)
            if word == "decimal" and not value.is_finite():
                raise Mismatch(f"{expected}, which is a number", value)
            return value
        text: Any = value
        if word == "decimal" and isinstance(value, Digits):
            text = value.text
        elif word == "decimal" and basic_kind(value) == "int":
            return class_for(word)(plain(value))
        if not isinstance(text, str):
            if word == "decimal" and isinstance(value, float):
                raise Mismatch(expected, value, "a float is not exact: `decimal(str(x))`")
            return _other(value, check_date, expected)
        try:
            return read_text(word, text)
        except NotReadable as error:
            raise Mismatch(likeness, value, str(error) or None) from None

    return check_date


_OFFSET_HINT = "`x.astimezone()` adds the local offset"


def _literal_check(wanted: Any, given: Any, expected: str) -> Check:
    """Accepts the value `wanted` or `given`, and returns `given`: of an Enum, the member."""

    def check_literal(value: Any) -> Any:
        if type(value) is type(wanted) and value == wanted:
            return value if given is wanted else given
        if type(value) is type(given) and value == given:
            return value
        return _other(value, check_literal, expected)

    return check_literal


def _exact_type(schema: m.Schema) -> type | None:
    """Returns the Python type whose exact instances always fit the schema, or None."""
    match schema:
        case m.ScalarSchema("float", constraints=None):
            return float
        case m.ScalarSchema(word, constraints=None):
            return SCALAR_TYPES.get(word)
        case _:
            return None


def _constrained_check(check: Check, constraints: m.Constraints, expected: str) -> Check:
    """Returns a check that also tests the constraints on the result of `check`."""
    names = ("above", "minimum", "below", "maximum", "multiple_of", "least", "most", "pattern")
    tests = [
        (_KEEPS[name], limit) for name in names if (limit := getattr(constraints, name)) is not None
    ]

    def check_constrained(value: Any) -> Any:
        checked = check(value)
        if all(keeps(checked, limit) for keeps, limit in tests):
            return checked
        raise Mismatch(expected, value)

    return check_constrained


_KEEPS: dict[str, Callable[[Any, Any], bool]] = {
    "above": lambda value, limit: value > limit,
    "minimum": lambda value, limit: value >= limit,
    "below": lambda value, limit: value < limit,
    "maximum": lambda value, limit: value <= limit,
    "multiple_of": lambda value, limit: _is_multiple(value, limit),
    "least": lambda value, limit: len(value) >= limit,
    "most": lambda value, limit: len(value) <= limit,
    "pattern": lambda value, limit: re.search(limit, value) is not None,
}


def _is_multiple(value: Any, of: Any) -> bool:
    if not isinstance(value, float):
        return not value % of
    return isclose(value, round(value / of) * of, abs_tol=1e-9)


def opaque_check(expected: str, accepts: Callable[[Any], bool]) -> Check:
    """Returns a check that passes accepted values through unchanged."""

    def check_opaque(value: Any) -> Any:
        return value if accepts(value) else _other(value, check_opaque, expected)

    return check_opaque


def _function_check(check: Check, gives: m.Schema, may_wait: bool) -> Check:
    """Returns a check of functions that wraps them so that their results are checked."""

    def check_function(value: Any) -> Any:
        from runtime_support._schema.calls import check_results

        return check_results(check(value), gives, validate, may_wait=may_wait)

    return check_function


def _each_checked(
    parts: Iterable[tuple[Check, Any, str | int]], wrong: Iterable[Mismatch] = ()
) -> list[Any]:
    """Returns the converted parts; raises the mismatches of all parts and those in `wrong`."""
    found = list(wrong)
    checked: list[Any] = []
    for check, value, step in parts:
        try:
            checked.append(check(value))
        except Mismatch as mismatch:
            found.append(mismatch.at(step))
            if len(found) >= _MOST_FOUND:
                break
    if found:
        raise _together(found)
    return checked


def _list_check(
    check: Check, expected: str, exact: type | None = None, also: type | None = None
) -> Check:
    """Returns a check of lists; items of the exact type `exact` need no check."""
    exactly = None if exact is None else frozenset([exact])

    def other(value: Any) -> Any:
        if also is not None and isinstance(value, also):
            return value
        return _other(value, check_list, expected)

    def check_list(value: Any) -> Any:
        if not is_list(value):
            return other(value)
        # Items of any kind: only a Result needs a look, and lists hold none.
        if check is plain or (exactly is not None and exactly.issuperset(map(type, value))):
            return value
        checked = _each_checked(zip(repeat(check), value, count(), strict=False))
        return value if all(map(is_, checked, value)) else checked

    return check_list


def _map_check(check: Check, read_keys: KeysReader, expected: str) -> Check:
    def check_map(value: Any) -> Any:
        if not is_object(value):
            return _other(value, check_map, expected)
        keys, wrong = read_keys(value)
        parts = ((check, item, str(key)) for key, item in value.items())
        checked = _each_checked(parts, wrong)
        if all(map(is_, keys, value)) and all(map(is_, checked, value.values())):
            return value
        return dict(zip(keys, checked, strict=True))

    return check_map


def _keys_reader(check: Check, *, is_text: bool) -> KeysReader:
    """Returns a function that reads an object's keys and collects their mismatches.

    Two keys that read as the same value are a mismatch, as one of their entries would be lost.
    """

    def read_keys(value: dict[Any, Any]) -> Keys:
        if is_text and _TEXTS.issuperset(map(type, value)):
            return value, []
        found: dict[Any, Any] = {}
        wrong: list[Mismatch] = []
        for key in value:
            try:
                read = check(key)
            except Mismatch as mismatch:
                words = f"its key: {mismatch.expected}"
                wrong.append(Mismatch(words, key, mismatch.hint).at(str(key)))
                continue
            if read in found:
                wrong.append(Mismatch(f"its key says the same as `{found[read]}`").at(str(key)))
            found[read] = key
        return found, wrong

    return read_keys


_TEXTS = frozenset((str,))


@dataclass(frozen=True, slots=True)
class _Tag:
    """The discriminator field of a union of objects, with the member index by value."""

    name: str
    expected: str
    owners: dict[tuple[type, Any], int]


def _tag_of(members: tuple[m.Schema, ...]) -> _Tag | None:
    numbered = enumerate(map(m.resolved, members))
    objects = {at: one for at, one in numbered if isinstance(one, m.ObjectSchema)}
    first = next(iter(objects.values()), m.ObjectSchema(None, ()))
    for name in (field.name for field in first.fields) if len(objects) > 1 else ():
        literals = [
            (literal, at)
            for at, one in objects.items()
            for field in one.fields
            if field.name == name
            for literal in m.literals_of(field.schema)
        ]
        owners = {(type(literal.value), literal.value): at for literal, at in literals}
        if len(owners) == len(literals) and set(owners.values()) == set(objects):
            union = m.UnionSchema(tuple(literal for literal, _ in literals))
            return _Tag(name, f"expected {short(union)}", owners)
    return None


_DEEPEST = 1_000_000


def _union_check(expected: str, checks: tuple[Check, ...], tag: _Tag | None) -> Check:
    def check_union(value: Any) -> Any:
        converted: Any = m.ABSENT
        deepest: Mismatch | None = None
        nearest = 0
        for check in checks:
            try:
                checked = check(value)
            except Mismatch as mismatch:
                near = _DEEPEST if mismatch.is_of_record else len(mismatch.steps)
                if near > nearest:
                    deepest, nearest = mismatch, near
                continue
            if checked is value:
                return value
            if converted is m.ABSENT:
                converted = checked
        if converted is not m.ABSENT:
            return converted
        found: Any = value.get(tag.name) if tag is not None and is_object(value) else None
        if tag is not None and isinstance(found, str | int | float):
            owner = tag.owners.get((found.__class__, found))
            if owner is None:
                raise Mismatch(tag.expected, found).at(tag.name)
            return checks[owner](value)
        # A mismatch inside a member is more helpful than the list of members.
        raise deepest if deepest is not None else Mismatch(expected, value)

    return check_union


_validating = Validating()
_decoding = Decoding()
