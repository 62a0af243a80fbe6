"""Checks values against schemas.

    validate({"id": "7"}, schema)   raises CheckError: value.id: expected int, got string "7"
    validate({"id": 7}, schema)     the record, if the schema builds one
    decode([1, 2], schema)          like `validate`, but a JSON list may become a tuple
    decode_for_model([1, "2", true], schema)     the CheckError lists all mistakes

Each schema is compiled once into a function that checks a value. The function returns the value, or
a copy if a part had to be converted. If parts do not fit, it raises the `Mismatch` of the first
part, which has the mismatches of the other parts in `others`. Each enclosing list or object adds a
step to the path of a mismatch.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, repeat
from math import isclose, isfinite
from operator import getitem, is_
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from runtime_support._schema import model as m
from runtime_support._schema.reading import remember
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
    is_result,
    is_tuple,
    member_path,
    plain,
)
from runtime_support._values.names import did_you_mean, listed
from runtime_support.errors import CheckError

if TYPE_CHECKING:
    from decimal import Decimal

Check: TypeAlias = Callable[[Any], Any]

SCALAR_TYPES: dict[m.ScalarKind, type] = {
    "int": int,
    "bool": bool,
    "string": str,
    "nil": type(None),
}


# JSON has texts for values of these types. In a union with strings, a text becomes such a value if
# it can be read as one. An object whose keys can all be read as such values gets them as its keys.
_DATES = ("date", "datetime", "time", "duration")


class Mismatch(Exception):
    """Raised if a part of a value does not fit its schema.

    `steps` is the path to this part, with the innermost step first. `others` are the mismatches of
    other parts of the value. `is_of_rule` is true if the part has the right type, and breaks a
    limit or a rule.
    """

    def __init__(
        self,
        expected: str,
        value: object = m.ABSENT,
        hint: str | None = None,
        *,
        is_of_rule: bool = False,
    ) -> None:
        super().__init__(expected)
        self.expected = expected
        self.value = value
        self.hint = hint
        self.steps: list[str | int] = []
        self.others: list[Mismatch] = []
        self.is_of_rule = is_of_rule

    def at(self, step: str | int) -> Mismatch:
        """Adds an outer step to the paths of this mismatch and its `others`, and returns `self`."""
        for one in (self, *self.others):
            one.steps.append(step)
        return self

    def report(self, path: str) -> CheckError:
        for step in reversed(self.steps):
            path = f"{path}[{step}]" if isinstance(step, int) else member_path(path, step)
        found = "" if self.value is m.ABSENT else f", got {brief(self.value)}"
        return CheckError(f"{path}: {self.expected}{found}", path=path, hint=self.hint)


def _together(mismatches: list[Mismatch]) -> Mismatch:
    """Returns the first mismatch, after adding all later mismatches to its `others`."""
    first = mismatches[0]
    for other in mismatches[1:]:
        first.others += (other, *other.others)
    return first


def validate(value: Any, schema: m.Schema, *, path: str = "value") -> Any:
    """Returns the value, in which objects become records where the schema has records.

    Raises CheckError if the value does not fit the schema.
    """
    try:
        return validating.check(schema)(value)
    except (Mismatch, RecursionError) as error:
        raise error_of(error, path) from None


def decode(value: Any, schema: m.Schema, path: str = "value") -> Any:
    """Converts JSON data to the value that the schema describes, with records and tuples.

    Raises CheckError if the data does not fit the schema.
    """
    try:
        return _decoding.check(schema)(value)
    except (Mismatch, RecursionError) as error:
        raise error_of(error, path) from None


def decode_for_model(value: Any, schema: m.Schema, path: str = "value") -> Any:
    """Converts the JSON data of a model's reply like `decode`. A CheckError lists all mistakes."""
    try:
        return _decoding.check(schema)(value)
    except Mismatch as mismatch:
        found = [one.report(path) for one in (mismatch, *mismatch.others)]
        raise CheckError(_list_mistakes(map(str, found)), path=found[0].path) from None


def error_of(error: Exception, path: str) -> Exception:
    """Returns the CheckError that says what a check has found. Returns other errors unchanged."""
    if isinstance(error, RecursionError):
        return CheckError(f"{path}: nested too deeply", path=path)
    return error.report(path) if isinstance(error, Mismatch) else error


def _list_mistakes(mistakes: Iterable[str]) -> str:
    """Joins the first ten mistakes for a message, and says how many more there are."""
    told = list(dict.fromkeys(mistakes))
    more = len(told) - _MOST_LISTED
    if more > 0:
        told[_MOST_LISTED:] = [f"and {more if len(told) < _MOST_FOUND else 'many'} more"]
    return "; ".join(told)


_MOST_LISTED = 10
# The check stops after this many mismatches in one list or object.
_MOST_FOUND = 2_000


class Validating:
    """Compiles schemas to functions that check Saft values. Subclasses may check other data.

    With `reads_json`, the functions read JSON data: a list may become a tuple, and a text a date.
    """

    def __init__(self, *, reads_json: bool = False) -> None:
        self.reads_json = reads_json
        self.compiled: dict[int, tuple[m.Schema, Check]] = {}

    def check(self, schema: m.Schema) -> Check:
        """Returns the function that checks values of the schema. It may raise `Mismatch`."""
        # The key is the schema's id, because each type's schema is cached. The schema is kept, so
        # that no other object can get this id.
        found = self.compiled.get(id(schema))
        if found is None:
            found = remember(self.compiled, id(schema), (schema, self.compile(schema)))
        return found[1]

    def compile(self, schema: m.Schema) -> Check:
        constraints = m.constraints_of(schema)
        check = self.compile_type(schema)
        if constraints is None:
            return check
        if constraints.told_only:
            # A pydantic model reads the text of a date, and takes the date of a script.
            word = m.KINDS_OF_FORMATS.get(constraints.format or "")
            return check if word is None else lambda v: v if word_of(v) == word else check(v)
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
            case m.MapSchema(value, key):
                checks, expected = (self.check(value), self.check(key)), self.expected(schema)
                return _map_check(*checks, expected, has_text_keys=key == m.TEXT)
            case m.ObjectSchema(build=None):
                return self.keys_check(schema)
            case m.ObjectSchema() | m.RootSchema():
                return self.record_check(schema)
            case m.UnionSchema(members):
                eager = list(map(self.check, filter(_is_of_texts, members)))
                checks = [(self.check(one), m.class_of(one)) for one in members]
                eager = eager if self.reads_json else []
                return _union_check(self.expected(schema), checks, eager, _tag_of(members))
            case m.ReferenceSchema(_, target):
                return lambda value: self.check(target())(value)
            case _:
                assert_never(schema)

    def named(self, schema: m.Schema) -> str:
        """Returns the schema as messages show it, such as `int` or `[string]`."""
        return short(schema)

    def expected(self, schema: m.Schema) -> str:
        """Returns the start of messages about values that do not fit: `expected int`."""
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
        # JSON data has no other iterables: texts and objects would count as iterables, too.
        also = None if self.reads_json else schema.also
        item = schema.item
        return _list_check(self.check(item), self.expected(schema), _exact_type(item), also)

    def tuple_check(self, schema: m.TupleSchema) -> Check:
        expected, rest = self.expected(schema), schema.rest
        checks = tuple(map(self.check, schema.items))
        each = None if rest is None else repeat(self.check(rest))

        def check_tuple(given: Any) -> Any:
            value: Any = tuple(given) if self.reads_json and is_list(given) else given
            if not is_tuple(value) or (each is None and len(value) != len(checks)):
                return _other(given, check_tuple, expected)
            parts = zip(checks if each is None else each, value, count(), strict=False)
            checked = tuple(_each_checked(parts))
            return value if all(map(is_, checked, value)) else checked

        return check_tuple

    def record_check(self, schema: m.ObjectSchema | m.RootSchema) -> Check:
        """Returns a check that accepts instances of a class, and makes them of objects.

        The instances of a pydantic root model are made of other values, too.
        """
        class_: Any = schema.build
        expected, is_root = self.expected(schema), isinstance(schema, m.RootSchema)
        own = () if isinstance(schema, m.RootSchema) or schema.validates_itself else schema.fields
        fields = [(one.python_name, one.name, self.check(one.schema)) for one in own]
        read = self.record_reader(schema)

        def check_record(value: Any) -> Any:
            if isinstance(value, class_):
                changed = _checked_fields(fields, getattr, value, [])
                return value if changed is None else _make(schema, partial(_change, value), changed)
            if is_object(value) or (is_root and not is_result(value)):
                return read(value)
            return _other(value, check_record, expected)

        return check_record

    def record_reader(self, schema: m.ObjectSchema | m.RootSchema) -> Check:
        """Returns a function that reads JSON, and makes an instance of the schema's class."""
        if not self.reads_json:
            return lambda value: _decoding.check(schema)(value)
        is_root = isinstance(schema, m.RootSchema)
        check = self.check(schema.root.schema) if is_root else self.keys_check(schema)
        make = _maker(schema)

        def read_record(value: Any) -> Any:
            try:
                data = check(value)
            except Mismatch as mismatch:
                if schema.validates_itself:
                    _add_objections(mismatch, partial(make, value))
                raise
            return _make(schema, make, data)

        return read_record

    def keys_check(self, schema: m.ObjectSchema) -> Check:
        """Returns a check for an object with exactly the schema's fields.

        The check fills in the defaults of missing optional fields.
        """
        expected = self.expected(schema)
        known = {field.name: field for field in schema.fields}
        fields = [(name, name, self.check(field.schema)) for name, field in known.items()]
        wanted = {n: self.named(one.schema) for n, one in known.items() if one.required}
        has_default = frozenset(n for n, one in known.items() if one.default is not m.ABSENT)

        def check_keys(value: Any) -> Any:
            if not is_object(value):
                return _other(value, check_keys, expected)
            given = fields
            wrong: list[Mismatch] = []
            if value.keys() != known.keys():
                given = [one for one in fields if one[0] in value]
                wrong += [_unexpected_field(key, known) for key in value if key not in known]
                wrong += [_missing_field(n, what) for n, what in wanted.items() if n not in value]
            checked = _checked_fields(given, getitem, value, wrong)
            if given is fields or has_default.issubset(value):
                return value if checked is None else checked
            found = checked or value
            told = (name for name in known if name in found or name in has_default)
            return {name: found.get(name, known[name].default) for name in told}

        return check_keys


def _checked_fields(
    fields: Iterable[tuple[str, str, Check]],
    get: Callable[[Any, str], Any],
    value: Any,
    wrong: list[Mismatch],
) -> dict[str, Any] | None:
    """Maps keys to the checked fields of a value. Returns None if no field was converted.

    `fields` are triples of a key, a name for messages and a check. Raises the mismatches of the
    fields together with those in `wrong`.
    """
    checked: dict[str, Any] = {}
    is_changed = False
    for key, name, check in fields:
        item = get(value, key)
        try:
            checked[key] = new = check(item)
        except Mismatch as mismatch:
            wrong.append(mismatch.at(name))
            continue
        is_changed = is_changed or new is not item
    if wrong:
        raise _together(wrong)
    return checked if is_changed else None


def _unexpected_field(key: Any, known: Iterable[str]) -> Mismatch:
    hint = did_you_mean(str(key), known) or f"its fields are {listed(known)}"
    return Mismatch("unexpected field", hint=hint).at(str(key))


def _missing_field(name: str, what: str) -> Mismatch:
    return Mismatch(f"missing field, expected {what}").at(name)


def _is_of_texts(schema: m.Schema) -> bool:
    """True for a type whose values or keys are converted from JSON strings, such as a date.

    A union tries these types first, so that text becomes a date even if the union has strings.
    """
    if isinstance(schema, m.MapSchema):
        return schema.key != m.TEXT
    return isinstance(schema, m.ScalarSchema) and schema.kind in _DATES


def _other(value: Any, check: Check, expected: str) -> Any:
    """Checks the content of a `Result`. Raises Mismatch if `value` is not a `Result`."""
    inner = plain(value)
    if inner is value:
        raise Mismatch(expected, value)
    return check(inner)


def _maker(schema: m.ObjectSchema | m.RootSchema) -> Callable[[Any], Any]:
    """Returns a function that makes an instance of the schema's class from JSON data."""
    class_: Any = schema.build
    if isinstance(schema, m.RootSchema) or hasattr(class_, "model_validate"):
        # A strict model refuses the text of a date, which is all that JSON has.
        return partial(class_.model_validate, strict=False)
    renamed = {f.name: f.python_name for f in schema.fields if f.name != f.python_name}

    def make(fields: dict[str, Any]) -> Any:
        return class_(**{renamed.get(name, name): one for name, one in fields.items()})

    return make if renamed else lambda fields: class_(**fields)


def _change(record: Any, fields: dict[str, Any]) -> Any:
    """Returns a copy of a dataclass or NamedTuple with these fields. It keeps a subclass."""
    if hasattr(record, "_replace"):
        return record._replace(**fields)
    return dataclasses.replace(record, **fields)


def _make(schema: m.ObjectSchema | m.RootSchema, make: Callable[[Any], Any], data: Any) -> Any:
    """Returns `make(data)`, an instance of the schema's class.

    Raises a Mismatch with all rules that the instance breaks, or with the error of the constructor.
    """
    if not hasattr(schema.build, "__post_init__"):
        return _made(schema, make, data)
    from runtime_support._schema.rules import collected_rules  # loaded where a class has rules

    made = None
    with collected_rules(schema.build) as broken:
        try:
            made = _made(schema, make, data)
        except Mismatch:
            if not broken:  # a broken rule may have caused it
                raise
    if broken:
        raise _together([_refusal(one) for one in broken])
    return made


def _made(schema: m.ObjectSchema | m.RootSchema, make: Callable[[Any], Any], data: Any) -> Any:
    """Returns `make(data)`, or turns its error into a Mismatch."""
    try:
        return make(data)
    except CheckError as error:
        raise _refusal(error) from error
    except Exception as error:
        what = "value" if isinstance(schema, m.RootSchema) else "fields"
        refusal = CheckError(f"{schema.name} refused its {what}: {error}")
        raise _together(_objections_of(error) or [_refusal(refusal)]) from error


def _refusal(error: CheckError) -> Mismatch:
    """Returns the mismatch for fields that a record's constructor refused."""
    return Mismatch(error.message, hint=error.hint, is_of_rule=True)


def _add_objections(mismatch: Mismatch, build: Callable[[], Any]) -> None:
    """Calls `build`, and adds pydantic's errors about parts that have no mismatch yet."""
    if not mismatch.steps:
        return
    known = {one.steps[-1] for one in (mismatch, *mismatch.others)}
    try:
        build()
    except Exception as error:
        others = [one for one in _objections_of(error) if one.steps and one.steps[-1] not in known]
        mismatch.others += others


def _objections_of(error: BaseException | None) -> list[Mismatch]:
    """Converts a pydantic error to mismatches with paths. Returns [] for any other error."""
    errors = getattr(error, "errors", None)
    if not callable(errors):
        return []
    objections: list[Mismatch] = []
    found: Any = errors()
    for one in found:
        words, place = str(one["msg"]), one["loc"]
        if place[-1:] == ("[key]",):
            words, place = f"its key: {words}", place[:-1]
        objections.append(Mismatch(words, is_of_rule=True))
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
    """Returns a check that accepts a date, time, duration or decimal, or its text as in JSON.

    For a decimal, the check also accepts an int, and reads the digits of a JSON number.
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
    """Returns a check for one literal, which accepts `wanted` or `given`.

    The result of the check is always `given`. For an Enum, `wanted` is the value of a member, and
    `given` is the member.
    """

    def check_literal(value: Any) -> Any:
        if value.__class__ is Digits:
            value = float(value)
        if type(value) is type(wanted) and value == wanted:
            return value if given is wanted else given
        if type(value) is type(given) and value == given:
            return value
        return _other(value, check_literal, expected)

    return check_literal


def _exact_type(schema: m.Schema) -> type | None:
    """Returns the Python type whose direct instances always fit the schema.

    Returns None if there is no such type.
    """
    match schema:
        case m.ScalarSchema("float", constraints=None):
            return float
        case m.ScalarSchema(word, constraints=None):
            return SCALAR_TYPES.get(word)
        case _:
            return None


def _constrained_check(check: Check, constraints: m.Constraints, expected: str) -> Check:
    """Returns a check that also tests the constraints on the result of `check`."""
    limits = ((keeps, getattr(constraints, name)) for name, keeps in _KEEPS.items())
    tests = [(keeps, limit) for keeps, limit in limits if limit is not None]

    def check_constrained(value: Any) -> Any:
        checked = check(value)
        if all(keeps(checked, limit) for keeps, limit in tests):
            return checked
        raise Mismatch(expected, value, is_of_rule=True)

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
    "digits": lambda value, limit: sum(_digits_of(value)) <= limit,
    "places": lambda value, limit: _digits_of(value)[1] <= limit,
}


def _is_multiple(value: Any, of: Any) -> bool:
    if not isinstance(value, float) and not isinstance(of, float):
        return not value % of
    times = float(value) / float(of)
    return isfinite(times) and isclose(value, round(times) * float(of), abs_tol=1e-9)


def _digits_of(number: Decimal) -> tuple[int, int]:
    """Returns how many digits a decimal has before and after the point, without zeros around."""
    whole, _, part = f"{abs(number):f}".partition(".")
    return len(whole.lstrip("0")), len(part.rstrip("0"))


def opaque_check(expected: str, accepts: Callable[[Any], bool]) -> Check:
    """Returns a check that returns values unchanged if `accepts` is true for them."""

    def check_opaque(value: Any) -> Any:
        return value if accepts(value) else _other(value, check_opaque, expected)

    return check_opaque


def _function_check(check: Check, gives: m.Schema, may_wait: bool) -> Check:
    """Returns a check that wraps a function, so that the function's results are checked."""

    def check_function(value: Any) -> Any:
        from runtime_support._schema.calls import check_results

        return check_results(check(value), gives, validate, may_wait=may_wait)

    return check_function


def _each_checked(
    parts: Iterable[tuple[Check, Any, str | int]], wrong: Iterable[Mismatch] = ()
) -> list[Any]:
    """Returns the checked values of `parts`: triples of a check, a value and a step of the path.

    Raises the mismatches of all parts together with those in `wrong`.
    """
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
    """Returns a check of lists, whose items are checked by `check`.

    Items need no check if all have the type `exact`. Instances of `also` are accepted, too.
    """
    exactly = None if exact is None else frozenset([exact])

    def check_list(value: Any) -> Any:
        if not is_list(value):
            is_other = also is not None and isinstance(value, also)
            return value if is_other else _other(value, check_list, expected)
        # For items of any type, `plain` would only replace a Result, and lists contain none.
        if check is plain or (exactly is not None and exactly.issuperset(map(type, value))):
            return value
        checked = _each_checked(zip(repeat(check), value, count(), strict=False))
        return value if all(map(is_, checked, value)) else checked

    return check_list


def _map_check(check: Check, check_key: Check, expected: str, *, has_text_keys: bool) -> Check:
    def check_map(value: Any) -> Any:
        if not is_object(value):
            return _other(value, check_map, expected)
        wrong: list[Mismatch] = []
        is_plain = has_text_keys and _TEXTS.issuperset(map(type, value))
        keys: Iterable[Any] = value if is_plain else _read_keys(check_key, value, wrong)
        parts = ((check, item, str(key)) for key, item in value.items())
        checked = _each_checked(parts, wrong)
        if all(map(is_, keys, value)) and all(map(is_, checked, value.values())):
            return value
        return dict(zip(keys, checked, strict=True))

    return check_map


def _read_keys(check: Check, value: dict[Any, Any], wrong: list[Mismatch]) -> Iterable[Any]:
    """Returns the converted keys of an object, and appends the keys' mismatches to `wrong`.

    Two keys that are read as the same value are a mismatch, because one entry would be lost.
    """
    found: dict[Any, Any] = {}
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
    return found


_TEXTS = frozenset((str,))


@dataclass(frozen=True, slots=True)
class _Tag:
    """The discriminator of a union of objects: a field whose value differs between the members.

    `owners` maps the type and value of this field to the index of the member.
    """

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


def _union_check(
    expected: str,
    checks: list[tuple[Check, type | None]],
    eager: list[Check],
    tag: _Tag | None,
) -> Check:
    """Returns the check of a union, whose members have a check, and perhaps a class.

    This check tries the `eager` checks first. If none of them accepts the value, a member
    that takes the value unchanged wins over a member that converts it.
    """

    def check_union(value: Any) -> Any:
        for check in eager:
            with suppress(Mismatch):
                return check(value)
        converted: Any = m.ABSENT
        mismatches: list[Mismatch] = []
        for check, class_ in checks:
            if class_ is not None and converted is not m.ABSENT and not isinstance(value, class_):
                continue  # it could only convert the value
            try:
                checked = check(value)
            except Mismatch as mismatch:
                mismatches.append(mismatch.with_traceback(None))  # which would keep this frame
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
            raise Mismatch(tag.expected, found).at(tag.name) if owner is None else mismatches[owner]
        # A mismatch inside a member is more helpful than the list of members.
        nearest = max(mismatches, key=_depth)
        raise nearest if _depth(nearest) else Mismatch(expected, value)

    return check_union


def _depth(mismatch: Mismatch) -> int:
    return _DEEPEST if mismatch.is_of_rule else len(mismatch.steps)


validating = Validating()
_decoding = Validating(reads_json=True)
