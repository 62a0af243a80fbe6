"""All that is wrong with a value at once, for the model that sent it.

decode_for_model([1, "2", true], schema)     CheckError: value[1]: expected int, ...; value[2]: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from typing import Any

from runtime_support._schema import model as m
from runtime_support._schema.checking import (
    Check,
    Decoding,
    Mismatch,
    build_record,
    build_with,
    unexpected_field,
)
from runtime_support._schema.rules import collected_rules
from runtime_support._values import is_list, is_object
from runtime_support.errors import CheckError

MOST_LISTED = 10


def decode_for_model(value: Any, schema: m.Schema, path: str = "value") -> Any:
    """As `decode` for what a model has sent: the CheckError tells all that is wrong at once."""
    try:
        return _thorough.check(schema)(value)
    except Mismatch as mismatch:
        found = [one.report(path) for one in (mismatch, *mismatch.others)]
        raise CheckError(list_mistakes(map(str, found)), path=found[0].path) from None


def list_mistakes(mistakes: Iterable[str]) -> str:
    """The mistakes, the first ten of many."""
    told = list(dict.fromkeys(mistakes))
    more = len(told) - MOST_LISTED
    if more > 0:
        told[MOST_LISTED:] = [f"and {more} more"]
    return "; ".join(told)


class _Thorough(Decoding):
    """Compiles schemas to readers of JSON data that go on with the other parts after a mismatch."""

    def list_check(self, schema: m.ListSchema) -> Check:
        check, check_other = self.check(schema.item), super().list_check(schema)

        def check_list(value: Any) -> Any:
            if not is_list(value):
                return check_other(value)
            return _gathered((check, item, at) for at, item in enumerate(value))

        return check_list

    def tuple_check(self, schema: m.TupleSchema) -> Check:
        checks, check_other = tuple(map(self.check, schema.items)), super().tuple_check(schema)
        check_rest = None if schema.rest is None else self.check(schema.rest)

        def check_tuple(value: Any) -> Any:
            if not is_list(value) or (check_rest is None and len(value) != len(checks)):
                return check_other(value)
            each = checks if check_rest is None else [check_rest] * len(value)
            return tuple(_gathered(zip(each, value, count(), strict=False)))

        return check_tuple

    def map_check(self, schema: m.MapSchema) -> Check:
        check, check_other = self.check(schema.value), super().map_check(schema)
        read_keys = self.keys_reader(schema)

        def check_map(value: Any) -> Any:
            if not is_object(value):
                return check_other(value)
            keys, wrong = read_keys(value)
            checked = _gathered(((check, item, str(key)) for key, item in value.items()), wrong)
            return dict(zip(keys, checked, strict=True))

        return check_map

    def keys_check(self, schema: m.ObjectSchema) -> Check:
        check_other = super().keys_check(schema)
        known = {field.name: field for field in schema.fields}
        checks = {name: self.check(field.schema) for name, field in known.items()}

        def check_keys(value: Any) -> Any:
            if not is_object(value):
                return check_other(value)
            names = [name for name in known if name in value]
            wrong = [unexpected_field(key, known) for key in value if key not in known]
            absent = [field for field in schema.fields if field.name not in value]
            wrong += [self.missing(field)() for field in absent if field.required]
            parts = ((checks[name], value[name], name) for name in names)
            try:
                checked = dict(zip(names, _gathered(parts, wrong), strict=True))
            except Mismatch as mismatch:
                if schema.validates_itself:
                    assert schema.build is not None
                    _add_objections(mismatch, partial(schema.build, **value))
                raise
            defaults = {one.name: one.default for one in absent if one.default is not m.ABSENT}
            return {**checked, **defaults}

        return check_keys

    def root_reader(self, schema: m.RootSchema) -> Check:
        read = self.check(schema.root.schema)
        refusal = f"{schema.name} refused its value"

        def read_root(value: Any) -> Any:
            try:
                root = read(value)
            except Mismatch as mismatch:
                _add_objections(mismatch, partial(schema.build, value))
                raise
            try:
                return build_with(refusal, partial(schema.build, root))
            except Mismatch as mismatch:
                raise _together(_objections(mismatch.__cause__) or [mismatch]) from None

        return read_root

    def build(self, schema: m.ObjectSchema, fields: dict[str, Any]) -> Any:
        wrong: list[Mismatch] = []
        record = None
        with collected_rules(schema.build) as broken:
            try:
                record = build_record(schema, fields)
            except Mismatch as mismatch:
                wrong = _objections(mismatch.__cause__) or [mismatch]
        if broken:  # what else its constructor says may come of them
            wrong = [Mismatch.of_record(one.message, one.hint) for one in broken]
        if wrong:
            raise _together(wrong) from None
        return record


def _gathered(
    parts: Iterable[tuple[Check, Any, str | int]], wrong: Iterable[Mismatch] = ()
) -> list[Any]:
    """What the parts become; Mismatch with those of all parts, and what else is wrong."""
    found = list(wrong)
    checked: list[Any] = []
    for check, value, step in parts:
        try:
            checked.append(check(value))
        except Mismatch as mismatch:
            found.append(mismatch.at(step))
    if found:
        raise _together(found)
    return checked


def _together(mismatches: list[Mismatch]) -> Mismatch:
    """The first of them, which has the others."""
    first = mismatches[0]
    for other in mismatches[1:]:
        first.others += (other, *other.others)
    return first


def _add_objections(mismatch: Mismatch, build: Callable[[], Any]) -> None:
    """What a model of pydantic says of the parts that are not known to be wrong."""
    if not mismatch.steps:
        return
    known = {one.steps[-1] for one in (mismatch, *mismatch.others)}
    try:
        build()
    except Exception as error:
        others = [one for one in _objections(error) if one.steps and one.steps[-1] not in known]
        mismatch.others += others


def _objections(error: BaseException | None) -> list[Mismatch]:
    """What pydantic objects to, each at its place; nothing for other errors."""
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


_thorough = _Thorough()
