"""What the mock answers: a value for a JSON Schema, from what the prompt says.

    value_for({"type": "integer"}, Reading.of("add 2 and 3"))     5

First come requests that can simply be computed, then values that stand in the prompt, then what
its text says for the field's name, then plausible ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from runtime_support.jsontext import to_json
from runtime_support.providers.mock.choosing import choice, choices, is_so
from runtime_support.providers.mock.computing import computed_value
from runtime_support.providers.mock.extracting import (
    Row,
    counted_in,
    number_in,
    rows_in,
    stem_of,
    summary_of,
    text_in,
    title_of,
)
from runtime_support.providers.mock.fitting import Fitting, JSONSchema
from runtime_support.providers.mock.reading import Reading
from runtime_support.providers.mock.tables import column_asked_for
from runtime_support.providers.mock.words import (
    COUNTS,
    LANGUAGES,
    PLAIN_SERIES,
    PLAUSIBLE,
    SERIES,
)
from runtime_support.values import is_list, is_number

_AT_MOST_WORDS = re.compile(r"at most (\w+) words")
_COUNTED_WORDS = ("words", "word_count")
_MESSAGES = ("text", "message", "body", "note")
_TOTALS = ("total", "sum")
_WHOLE_TEXTS = ("", "answer", "text", "value", "result", "reply")
_NUMERIC = ("integer", "number")


def value_for(schema: JSONSchema, reading: Reading, name: str = "") -> Any:
    """A value that satisfies the schema; `name` is the field that it is for."""
    return _Answering(Fitting(schema.get("$defs", {})), reading).value(schema, name, ())


def argument_for(schema: JSONSchema, reading: Reading, name: str) -> Any:
    """A value for a parameter; a text to be sent or kept says what the prompt is about."""
    if _is(schema, "string") and stem_of(name) in _MESSAGES:
        return summary_of(reading.text)
    return value_for(schema, reading, name)


def text_for(reading: Reading) -> str:
    """A text that answers the prompt."""
    computed = computed_value(reading)
    if computed is not None:
        return computed if isinstance(computed, str) else to_json(computed)
    if reading.is_answered:
        return report(reading.values)
    if reading.asks("summarise", "summarize", "summary", "shorten"):
        return summary_of(reading.material)
    if reading.asks("hello", "greet", "greeting", "welcome"):
        names = [*reading.strings, *reading.names]
        return f"Hello, {' and '.join(names[:2]) or 'world'}!"
    if reading.asks("json", "array"):
        return to_json(_made_up(reading))
    first = reading.text.strip().splitlines()[0] if reading.text.strip() else ""
    return f"A short answer to: {first[:120]}"


def report(outputs: tuple[Any, ...]) -> str:
    """The outputs of tools as a text."""
    return "; ".join(out if isinstance(out, str) else to_json(out) for out in outputs)


@dataclass(frozen=True, slots=True)
class _Answering:
    """`inside` are the arrays, objects and references around a value, outermost first."""

    fitting: Fitting
    reading: Reading

    def value(self, schema: JSONSchema, name: str, inside: tuple[str, ...]) -> Any:
        if "$ref" in schema:
            inside = (*inside, str(schema["$ref"]))
            schema = self.fitting.resolved(schema)
        given = self.given(schema, name)
        if given is not None:
            return given
        if "enum" in schema:
            return self.one_of(schema["enum"])
        if "anyOf" in schema:
            return self.value(self.member(schema["anyOf"], inside), name, inside)
        kind = schema.get("type")
        if is_list(kind):
            return self.one_kind(kind, schema, name)
        match kind:
            case "object":
                return self.object(schema, inside)
            case "array":
                return self.array(schema, name, inside)
            case None:
                return _made_up(self.reading)
            case _:
                return self.scalar(str(kind), schema, name)

    def given(self, schema: JSONSchema, name: str) -> Any:
        """The value of that name in an object of the prompt, where it fits."""
        for one in self.reading.objects:
            for key, value in one.items():
                is_meant = name and key.lower() == name.lower()
                if is_meant and self.fitting.takes(schema, value):
                    return value
        return None

    def member(self, members: list[JSONSchema], inside: tuple[str, ...]) -> JSONSchema:
        """The first member of a union that ends; a recursive type ends with another one."""
        ends = [one for one in members if one.get("$ref") not in inside]
        return (ends or members)[0]

    def one_of(self, options: list[Any]) -> Any:
        texts = [option for option in options if isinstance(option, str)]
        if texts:
            column = column_asked_for(self.reading)
            return column if column in texts else choice(texts, self.reading)
        said = [option for option in options if option in self.reading.numbers]
        return (said or options)[0]

    def one_kind(self, kinds: list[str], schema: JSONSchema, name: str) -> Any:
        """A scalar, where nil may stand: nil when the text says nothing of that name."""
        present = [kind for kind in kinds if kind != "null"]
        if not present:
            return None
        if "null" in kinds and name:
            return self.found(present[0], schema, name)
        return self.scalar(present[0], schema, name)

    def object(self, schema: JSONSchema, inside: tuple[str, ...]) -> dict[str, Any]:
        for one in self.reading.objects:
            trimmed = self.fitting.trimmed(schema, one)
            if trimmed and self.fitting.takes(schema, trimmed):
                return trimmed
        properties: dict[str, JSONSchema] = schema.get("properties", {})
        within = (*inside, "object")
        return {name: self.value(inner, name, within) for name, inner in properties.items()}

    def array(self, schema: JSONSchema, name: str, inside: tuple[str, ...]) -> list[Any]:
        within = (*inside, "array")
        if "prefixItems" in schema:
            for given in self.reading.lists:
                if self.fitting.takes(schema, given):
                    return given
            return [self.value(item, name, within) for item in schema["prefixItems"]]
        item: JSONSchema = schema.get("items", {})
        if item.get("$ref") in inside or len(inside) > 6:
            return []
        for found in (self.from_values(item, within), self.from_material(item, name, within)):
            if found:
                return found
        if "enum" in item:
            said = choices(item["enum"], self.reading)
            return said or [self.one_of(item["enum"])]
        count = self.reading.asked_count(2 if inside else 3)
        kind = item.get("type")
        if kind == "string":
            return list(_series(self.reading, name)[:count])
        if kind in ("integer", "number"):
            return list(range(1, count + 1))
        count = 1 if self.reading.asks_at_most else min(count, 3)
        made = [self.value(item, name, within) for _ in range(count)]
        names = self.fitting.resolved(item).get("properties", {}).get("name", {})
        return _told_apart(made, _series(self.reading, name)) if _is(names, "string") else made

    def from_values(self, item: JSONSchema, inside: tuple[str, ...]) -> list[Any] | None:
        """A list that is computed from the prompt's values, made from one of them, or is one."""
        computed = computed_value(self.reading)
        if is_list(computed) and all(self.fitting.takes(item, one) for one in computed):
            return computed
        for given in self.reading.lists:
            trimmed = [self.fitting.trimmed(item, one) for one in given]
            if given and all(self.fitting.takes(item, one) for one in trimmed):
                return trimmed
        if self.reading.lists and self.reading.asks("each", "every", "all"):
            readings = map(self.reading.about, self.reading.lists[0])
            return [_Answering(self.fitting, one).value(item, "", inside) for one in readings]
        return None

    def from_material(
        self, item: JSONSchema, name: str, inside: tuple[str, ...]
    ) -> list[Any] | None:
        """What the text lists: rows of words and numbers, or things of a known kind."""
        properties: dict[str, JSONSchema] = self.fitting.resolved(item).get("properties", {})
        if any(_is(schema, *_NUMERIC) for schema in properties.values()):
            return [self.from_row(properties, row, inside) for row in self.rows()]
        if _is(item, "string"):
            known = _series(self.reading, name)
            words = re.findall(r"\w+", self.reading.material)
            return list(dict.fromkeys(word for word in words if word in known))
        return None

    def rows(self) -> list[Row]:
        return rows_in(self.reading.material) or counted_in(self.reading.material)

    def from_row(
        self,
        properties: dict[str, JSONSchema],
        row: Row,
        inside: tuple[str, ...],
    ) -> dict[str, Any]:
        label, count, number = row
        fields: dict[str, Any] = {}
        for name, schema in properties.items():
            counts = stem_of(name) in ("count", "quantity") and count is not None
            if _is(schema, *_NUMERIC):
                value = count if counts and count is not None else number
                fields[name] = int(value) if schema["type"] == "integer" else float(value)
            elif _is(schema, "string") and label not in fields.values():
                fields[name] = label
            else:
                fields[name] = self.value(schema, name, (*inside, "object"))
        return fields

    def scalar(self, kind: str, schema: JSONSchema, name: str) -> Any:
        if kind == "null":
            return None
        if kind == "boolean":
            return is_so(self.reading, name)
        if kind == "string":
            return _shortened(self.string(schema, name), schema)
        return self.number(kind, name)

    def found(self, kind: str, schema: JSONSchema, name: str) -> Any:
        """What the text says of this name, or nil."""
        if kind == "string":
            return text_in(name, self.reading.material, _about(schema))
        if kind == "boolean":
            return is_so(self.reading, name)
        number = number_in(name, self.reading.material)
        return number if number is None or kind == "number" else int(number)

    def string(self, schema: JSONSchema, name: str) -> str:
        stem = stem_of(name)
        found = text_in(name, self.reading.material, _about(schema)) if name else None
        if found is not None:
            return found
        match stem:
            case _ if stem in _WHOLE_TEXTS:
                return text_for(self.reading)
            case "name" | "person" | "author" | "seller" if known := self.names():
                return known[0]
            case "title" | "subject":
                return title_of(self.reading.material)
            case "summary" | "gist":
                return summary_of(self.reading.material)
            case "language":
                return choice(list(LANGUAGES), self.reading)
            case _:
                pass
        plausible = PLAUSIBLE.get(name.lower(), PLAUSIBLE.get(stem))
        if isinstance(plausible, str):
            return plausible
        series = _series(self.reading, name)
        return f"some {stem}" if series is PLAIN_SERIES else series[0]

    def names(self) -> list[str]:
        short = [one for one in self.reading.strings if len(one.split()) <= 3]
        return [*short, *self.reading.people, *self.reading.names]

    def number(self, kind: str, name: str) -> int | float:
        found: int | float | None = number_in(name, self.reading.material) if name else None
        if found is None and not name:
            candidates = [computed_value(self.reading), *self.reading.numbers]
            found = next((value for value in candidates if is_number(value)), None)
        if found is None and name.lower() in _COUNTED_WORDS:
            found = len(self.reading.material.split())
        if found is None and stem_of(name) in _TOTALS:
            found = sum(number for _, _, number in self.rows()) or None
        if found is None:
            plausible = PLAUSIBLE.get(stem_of(name), 1)
            found = plausible if is_number(plausible) else 1
        return int(found) if kind == "integer" else float(found)


def _is(schema: JSONSchema, *kinds: str) -> bool:
    """Whether the schema takes every value of one of these kinds, and no others."""
    return schema.get("type") in kinds and "enum" not in schema


def _series(reading: Reading, name: str) -> tuple[str, ...]:
    said = {*reading.words, name.lower()}
    return next((series for triggers, series in SERIES if said & triggers), PLAIN_SERIES)


def _made_up(reading: Reading) -> Any:
    """Something where anything is allowed: what there is, or a few things with a price."""
    computed = computed_value(reading)
    if computed is not None:
        return computed
    if reading.lists or reading.objects:
        return (reading.lists or reading.objects)[0]
    if reading.is_answered:
        return reading.values[0] if len(reading.values) == 1 else list(reading.values)
    names = _series(reading, "")[: reading.asked_count(3)]
    if reading.asks("price", "priced", "prices"):
        return [{"name": name, "price": 1.5 * (n + 1)} for n, name in enumerate(names)]
    return list(names)


def _told_apart(made: list[Any], series: tuple[str, ...]) -> list[Any]:
    """Objects that are alike get names of their own."""
    for one, name in zip(made, series, strict=False):
        if made.count(one) > 1:
            one["name"] = name
    return made


def _about(schema: JSONSchema) -> str:
    return str(schema.get("description", ""))


def _shortened(text: str, schema: JSONSchema) -> str:
    """The text with as many words as the description of its field allows."""
    found = _AT_MOST_WORDS.search(_about(schema).lower())
    if found is None:
        return text
    count = COUNTS.get(found[1], int(found[1]) if found[1].isdigit() else len(text))
    return " ".join(text.split()[:count])
