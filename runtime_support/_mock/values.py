"""Reads a prompt for the mock, and makes values for a JSON Schema from it.

    ParsedPrompt.of("add 2 and 3", {}).value({"type": "integer"})       5
    ParsedPrompt.of('who is longest in ["Al","Barbara"]?', {}).value({"type": "string"})
                                                                      "Barbara"

A value is computed if possible. Otherwise it is a value in the prompt that fits the schema: the
whole value, the value of a field with the same name, or the next value in order. If no value fits,
it is a placeholder.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from runtime_support._schema.documents import LIMITS, JSONSchema, fits, is_of_form, resolved
from runtime_support._schema.model import KINDS_OF_FORMATS
from runtime_support._values.dates import EXAMPLES
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import is_list, is_number, is_object
from runtime_support.errors import CheckError

_START = re.compile(r'[\[{"]|(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])')
_NUMBER = re.compile(r"(?<![\w.-])-?\d{1,15}(?:\.\d{1,15})?(?![\w-])")
_LIST_MARK = re.compile(r"^\s*\d+[.)](?=\s)", re.MULTILINE)
_NAME = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)*")
_NAME_WITHIN = re.compile(rf"(?<=[\w,;:] ){_NAME.pattern}")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_SIGNS = re.compile(rf"({_NUMBER.pattern}) *([<>=!]=|[-+*/<>]) *({_NUMBER.pattern})")
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5}
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """A prompt's `text`, and the JSON values in it.

    `rest` is the text without these values, except numbers. `definitions` are the named schemas of
    the reply. If `is_answered`, the values are results of tools, not values of the prompt.
    """

    text: str
    rest: str
    values: tuple[Any, ...]
    definitions: JSONSchema
    is_answered: bool = False

    @staticmethod
    def of(text: str, definitions: JSONSchema) -> ParsedPrompt:
        """Parses the text of a prompt. `definitions` are the `$defs` of the reply's schema."""
        values, rest = _json_values(_LIST_MARK.sub("", text))
        return ParsedPrompt(text, rest, values, definitions)

    def asks(self, words: str) -> bool:
        """True if the prompt contains one of the words in the text `words`."""
        return not {*words.split()}.isdisjoint(re.findall(r"\w+", self.rest.lower()))

    def takes(self, schema: Any, value: Any) -> bool:
        """True if the value satisfies the schema.

        A text with a format such as `email` must be the mock's example of this format.
        """
        return fits(schema, value, self.definitions, _is_of_form)

    def resolved(self, schema: JSONSchema) -> JSONSchema:
        """Returns the definition that a `$ref` names, or the schema itself."""
        return resolved(schema, self.definitions)

    @property
    def lists(self) -> list[list[Any]]:
        return [value for value in self.values if is_list(value)]

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The objects among the values, and the objects in their lists."""
        inner = [item for one in self.lists for item in one]
        return [value for value in (*self.values, *inner) if is_object(value)]

    def named(self, *apart: str) -> list[str]:
        """Returns the list items that the text names, or else the capitalized words in the text.

        Leaves out the names in `apart`.
        """
        members = [item for one in self.lists for item in one if isinstance(item, str)]
        found = in_order(members, self.rest) or _NAME_WITHIN.findall(self.rest)
        return [name for name in found if name not in apart]

    def single(self) -> list[Any]:
        """Returns values for the fields of an object, in the order of use.

        The values of the prompt come first, and then names, numbers and first lines of its texts.
        """
        texts = [value for value in self.values if isinstance(value, str) and " " in value]
        whole = [value for value in self.values if value not in texts]
        numbers = [json.loads(one) for text in texts for one in _NUMBER.findall(text)]
        lines = [text.partition("\n")[0] for text in texts]
        return [*self.row(), *whole, *self.named(), *numbers, *lines]

    def row(self) -> list[Any]:
        """Returns a list with the item that an ordinal selects: "the 2nd of [1,2]".

        If an inner list contains this item, returns the inner list. Without an ordinal in the text,
        returns an empty list.
        """
        found = _ORDINAL.search(self.rest)
        if found is None or not self.lists or not 0 < int(found[1]) <= len(self.lists[0]):
            return []
        picked = self.lists[0][int(found[1]) - 1]
        rows = [row for one in self.lists for row in one if is_list(row) and picked in row]
        return rows[0] if rows else [picked]

    def computed(self) -> Any:
        """Returns the computed answer, or None if nothing can be computed."""
        signs = _SIGNS.search(self.rest)
        if self.is_answered:
            signs = None
        elif (found := self._of_a_table()) is not None:
            return found
        if signs:
            return _OF_SIGNS[signs[2]](json.loads(signs[1]), json.loads(signs[3]))
        flat = [item for one in self.values for item in (one if is_list(one) else [one])]
        numbers = [item for item in flat if is_number(item)]
        texts = [item for item in flat if isinstance(item, str)]
        for words, compute in _OF_ALL.items():
            if len(numbers) > 1 and self.asks(words):
                return compute(numbers)
        # Tools have already done this to each item.
        for table, items in ((_OF_NUMBERS, numbers), (_OF_TEXTS, texts)):
            for words, compute in table.items():
                if items and self.asks(words) and not self.is_answered:
                    return compute(items)
        return None

    def _of_a_table(self) -> Any:
        """Returns the answer to a question about a dataframe's columns, or None.

        The answer is the name of the column with the highest or lowest figure, or the figure of the
        column that the text names. The figures are in the dataframe's profile.
        """
        kind = next((kind for words, kind in _OF_COLUMNS.items() if self.asks(words)), "")
        for table in self.objects:
            profile = table.get("profile")
            if table.get("kind") != "dataframe" or not is_object(profile) or not kind:
                continue
            figures = {
                name: column[kind]
                for name, column in profile.items()
                if is_object(column) and is_number(column.get(kind))
            }
            if figures and self.asks("column columns"):
                best = min if self.asks("lowest smallest minimum least") else max
                return best(figures, key=lambda one: figures[one])
            named = in_order(figures, self.rest)
            return figures[named[0]] if named else None
        return None

    def text_answer(self) -> str:
        """Returns a text that answers the prompt."""
        computed = self.computed()
        if computed is not None or self.is_answered:
            return "; ".join(map(_written, self.values if computed is None else [computed]))
        if self.asks("hello greet greeting welcome"):
            return f"Hello, {' and '.join(map(_written, self.single()[:2])) or 'world'}!"
        given = [value for value in self.values if is_list(value) or is_object(value)]
        if given and self.asks("json"):
            return to_json(given[0])
        return f"A short answer to: {' '.join(self.rest.partition(chr(10))[0].split())[:120]}"

    # Values by schema

    def value(self, schema: JSONSchema, name: str = "") -> Any:
        """Returns a value for the schema. `name` is the name of the field or parameter, if any."""
        return self._value(schema, name, self.single(), ())

    def _value(
        self, schema: JSONSchema, name: str, single: list[Any], inside: tuple[str, ...]
    ) -> Any:
        if "$ref" in schema:
            inside = (*inside, schema["$ref"])
            schema = self.resolved(schema)
        for found in self._whole(schema, name):
            if self.takes(schema, found):
                return found
        options = [one["const"] for one in schema.get("anyOf", ()) if "const" in one]
        options += schema.get("enum", ())
        if options:
            return (in_order(options, self.text) or options)[0]
        if "anyOf" in schema or is_list(schema.get("type")):
            return self._value(_member(schema, inside), name, single, inside)
        match schema.get("type"):
            case "object":
                alone = self.single()
                fields = schema.get("properties", {}).items()
                return {key: self._value(one, key, alone, (*inside, "")) for key, one in fields}
            case "array":
                return self._array(schema, name, inside)
            case None:
                return self.text_answer()
            case "string" if "format" in schema or "pattern" in schema:
                return self._of_form(schema, name)
            case kind:
                fitting = [one for one in single if self.takes(schema, one)]
                if fitting and kind != "boolean":
                    single.remove(fitting[0])  # so that no other field gets it
                    return fitting[0]
                if kind == "boolean" and isinstance(answer := self.computed(), bool):
                    return answer
                plain = {"null": None, "boolean": False, "string": f"some {name or 'text'}"}
                return plain[kind] if kind in plain else self._number_within(schema)

    def _number_within(self, schema: JSONSchema) -> int | float:
        """Returns a number that satisfies the schema.

        Tries 1, numbers near the schema's limits, and multiples of `multipleOf`.
        """
        limits = [schema[one] for one in LIMITS if one in schema]
        step = schema.get("multipleOf", 1)
        near = [one for limit in limits for one in (limit, limit + step, limit - step, limit + 0.5)]
        multiples = [math.ceil(limit / step) * step for limit in near]
        return next((one for one in (1, step, *near, *multiples) if self.takes(schema, one)), 1)

    def _of_form(self, schema: JSONSchema, name: str) -> str:
        """Returns a text with the schema's format or pattern.

        The text is a word of the prompt, an example of the format, or a placeholder.
        """
        form = schema.get("format", "")
        words = [*re.findall(r"[\w:.+-]*\w", self.text), _OF_FORM.get(form, "1"), f"some {name}"]
        return next((one for one in words if self.takes(schema, one)), _OF_FORM.get(form, "1"))

    def _whole(self, schema: JSONSchema, name: str) -> Iterator[Any]:
        """Yields candidates for the whole value.

        For a field (`name`), the candidates are the values of this field in the prompt's objects.
        Otherwise they are the computed answer, and the prompt's lists and objects.
        """
        if name:
            yield from (one[name] for one in self.objects if name in one)
            if "name" in name:
                yield from (found for one in self.values for found in _NAME.findall(str(one)))
            return
        yield self.computed()
        if self.is_answered:
            yield [self._trimmed(schema.get("items", {}), item) for item in self.values]
        for value in self.values:
            if is_list(value):
                yield [self._trimmed(schema.get("items", {}), item) for item in value]
            elif is_object(value) or self.is_answered:
                yield self._trimmed(schema, value)

    def _about(self, item: Any) -> ParsedPrompt:
        return replace(self, values=tuple(item) if is_list(item) else (item,))

    def _trimmed(self, schema: JSONSchema, value: Any) -> Any:
        """Removes the keys of an object that the schema does not name.

        Returns the smaller object, or any other value unchanged.
        """
        fields = self.resolved(schema).get("properties")
        if not is_object(value) or fields is None:
            return value
        return {name: value[name] for name in fields if name in value}

    def _array(self, schema: JSONSchema, name: str, inside: tuple[str, ...]) -> list[Any]:
        single = self.single()
        if "prefixItems" in schema:
            return [self._value(one, "", single, (*inside, "")) for one in schema["prefixItems"]]
        item: JSONSchema = schema.get("items", {})
        if item.get("$ref") in inside or len(inside) > _DEEPEST:
            return []
        if self.lists and self.asks("each every all"):
            readings = [self._about(one) for one in self.lists[0]]
            return [one._value(item, name, one.single(), inside) for one in readings]
        asked = next((n for word, n in _COUNTS.items() if self.asks(word)), 1)
        count = min(max(asked, schema.get("minItems", 0)), schema.get("maxItems", asked))
        return [self._value(item, name, single, (*inside, "")) for _ in range(count)]


def in_order(things: Iterable[Any], text: str) -> list[Any]:
    """Returns the values whose texts occur in `text`, in the order in which they first occur."""
    places: dict[Any, int] = {}
    for thing in things:
        found = re.search(rf"(?<!\w){re.escape(str(thing))}(?!\w)", text)
        if found:
            places.setdefault(thing, found.start())
    return sorted(places, key=places.__getitem__)


def _member(schema: JSONSchema, inside: tuple[str, ...]) -> JSONSchema:
    """Returns the member of a union for which the mock makes a value.

    This member is null if the union has it, or else the first member that is not the schema of an
    enclosing value. `inside` has the references to the schemas of enclosing values.
    """
    members = schema.get("anyOf") or [{"type": kind} for kind in schema["type"]]
    nil = [one for one in members if one.get("type") == "null"]
    return (nil or [one for one in members if one.get("$ref") not in inside] or members)[0]


def _json_values(text: str) -> tuple[tuple[Any, ...], str]:
    """Returns the JSON values in the text, and the text without them. Numbers stay in the text."""
    values: list[Any] = []
    rest: list[str] = []
    end = 0
    while match := _START.search(text, end):
        start, before = match.start(), end
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
            to_json(value)
        except (ValueError, RecursionError, CheckError):  # not JSON, or it has NaN or 1e999
            end = match.end()
            rest.append(text[before:end])
            continue
        values.append(value)
        rest.append(text[before : end if is_number(value) else start])
    return tuple(values), "".join((*rest, text[end:])).strip()


def _written(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value)


# Example texts for the formats that a schema can require.
_OF_FORM = {
    **{form: EXAMPLES[word] for form, word in KINDS_OF_FORMATS.items()},
    "uuid": "9f1c2e52-6e0f-4b53-9d6c-0a4c8a7d1e11",
    "email": "someone@example.org",
    "uri": "https://example.org/",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


def _is_of_form(form: str, text: str) -> bool:
    return is_of_form(form, text) if form in KINDS_OF_FORMATS else text == _OF_FORM.get(form, text)


# Words that ask for a computation, and the computation; the first match wins.
_OF_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else None,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
# Figures in the profile of a dataframe's column, by the words that ask for them.
_OF_COLUMNS = {
    "average mean": "mean",
    "lowest smallest minimum": "min",
    "highest largest maximum": "max",
}
_OF_ALL: dict[str, Callable[[list[Any]], Any]] = {
    "average mean": lambda n: sum(n) / len(n),
    "product multiply times": math.prod,
    "sum add total plus together": sum,
    "largest highest maximum": max,
    "smallest lowest minimum": min,
}
_OF_NUMBERS: dict[str, Callable[[list[Any]], Any]] = {
    "square squares squared": lambda n: [one * one for one in n],
    "greater larger more": lambda n: n[0] > n[-1],
    "less smaller fewer": lambda n: n[0] < n[-1],
    "even": lambda n: n[0] % 2 == 0,
    "odd": lambda n: n[0] % 2 == 1,
}
_OF_TEXTS: dict[str, Callable[[list[Any]], Any]] = {
    "longest": lambda s: max(s, key=len),
    "shortest": lambda s: min(s, key=len),
    "uppercase upper capitals": lambda s: [*map(str.upper, s)] if len(s) > 1 else s[0].upper(),
    "lowercase lower": lambda s: [*map(str.lower, s)] if len(s) > 1 else s[0].lower(),
    "many count": lambda s: len(s) if len(s) > 1 else len(s[0].split()),
}
