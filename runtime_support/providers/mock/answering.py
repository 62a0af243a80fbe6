"""What the mock answers: a value for a JSON Schema, from what the prompt says.

    value_for({"type": "integer"}, Reading.of("add 2 and 3"))     5

First come requests that can simply be computed, then values that stand in the prompt, then
plausible ones by the field's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from runtime_support.providers.mock.computing import computed_value
from runtime_support.providers.mock.reading import Reading
from runtime_support.values import is_list, is_number, is_object

JSONSchema = dict[str, Any]

_PLAUSIBLE: dict[str, Any] = {
    "email": "alice@example.com",
    "mail": "alice@example.com",
    "city": "Oslo",
    "country": "Norway",
    "date": "2025-01-31",
    "time": "12:00",
    "phone": "+47 22 00 00 00",
    "url": "https://example.com",
    "name": "Alice",
    "title": "A short title",
    "subject": "A short title",
    "reason": "it fits best",
    "summary": "A short summary.",
    "description": "A short description.",
    "currency": "EUR",
    "language": "English",
    "age": 30,
    "year": 2025,
    "count": 3,
    "quantity": 1,
    "price": 9.5,
    "total": 9.5,
    "amount": 9.5,
    "score": 0.9,
    "confidence": 0.9,
    "temperature": 20,
    "line": 1,
}
_SERIES = (
    (("colour", "color", "colours", "colors"), ["red", "green", "blue", "yellow", "violet"]),
    (("fruit", "fruits"), ["apple", "pear", "plum", "cherry", "fig"]),
    (("city", "cities"), ["Oslo", "Rome", "Cairo", "Lima", "Kyoto"]),
    (("animal", "animals"), ["cat", "dog", "owl", "fox", "hare"]),
    (("name", "names", "people"), ["Alice", "Bob", "Carol", "Dan", "Eve"]),
    (("item", "items", "things", "products"), ["pen", "book", "lamp", "chair", "desk"]),
)
_PLAIN_SERIES = ["one", "two", "three", "four", "five"]

# Questions of yes or no, and choices, are decided by such words in the values.
_SIGNS: dict[str, str] = {
    "money": "invoice price pay paid payment refund charge charged bill cost euro dollar",
    "billing": "invoice price pay paid payment refund charge charged bill cost",
    "spam": "free win winner prize click offer lottery viagra",
    "urgent": "fire down outage asap immediately urgent broken",
    "high": "fire down outage asap immediately urgent critical security crash",
    "bug": "crash error broken fails bug exception wrong traceback",
    "feature": "add support please would could wish feature",
    "question": "how what why when where who question",
    "positive": "love great good excellent happy thanks wonderful nice",
    "negative": "hate bad terrible awful angry broken wrong worst",
}

_FILE = re.compile(r"[\w/-]+\.[a-z]{1,4}\b")


def value_for(schema: JSONSchema, reading: Reading, name: str = "") -> Any:
    """A value that satisfies the schema; `name` is the field that it is for."""
    return _Answering(schema.get("$defs", {}), reading).value(schema, name, depth=0)


def text_for(reading: Reading) -> str:
    """A text that answers the prompt."""
    computed = computed_value(reading)
    if computed is not None:
        return computed if isinstance(computed, str) else _as_text(computed)
    if reading.asks("summarise", "summarize", "summary", "shorten") and reading.strings:
        return " ".join(re.split(r"(?<=[.!?])\s", reading.strings[0])[0].split()[:20])
    if reading.asks("hello", "greet", "greeting", "welcome"):
        names = [*reading.strings, *reading.names]
        return f"Hello, {' and '.join(names[:2]) or 'world'}!"
    if reading.asks("json", "array"):
        return _as_text(_made_up(reading))
    first = reading.text.strip().splitlines()[0] if reading.text.strip() else ""
    return f"A short answer to: {first[:120]}"


def choice(options: list[str], reading: Reading) -> str:
    """The option that the values in the prompt speak for."""
    said = " ".join(map(str, reading.values)).lower() or reading.text.lower()
    scores = [_score(option, said) for option in options]
    return options[scores.index(max(scores))]


class _Answering:
    def __init__(self, definitions: dict[str, JSONSchema], reading: Reading) -> None:
        self.definitions = definitions
        self.reading = reading

    def value(self, schema: JSONSchema, name: str, depth: int) -> Any:
        if "$ref" in schema:
            schema = self.definitions[str(schema["$ref"]).rpartition("/")[2]]
        if "enum" in schema:
            return self.one_of(schema["enum"])
        if "anyOf" in schema:
            return self.value(schema["anyOf"][0], name, depth)
        kind = schema.get("type")
        if is_list(kind):
            present = [word for word in kind if word != "null"] or ["null"]
            return None if self.is_unknown(name, kind) else self.scalar(present[0], name)
        if kind == "object":
            return self.object(schema, depth)
        if kind == "array":
            return self.array(schema, name, depth)
        if kind is None:
            return _made_up(self.reading)
        return self.scalar(str(kind), name)

    def is_unknown(self, name: str, kinds: list[Any]) -> bool:
        return "null" in kinds and self.from_objects(name) is None and name not in _PLAUSIBLE

    def one_of(self, options: list[Any]) -> Any:
        texts = [option for option in options if isinstance(option, str)]
        return choice(texts, self.reading) if texts else options[0]

    def object(self, schema: JSONSchema, depth: int) -> dict[str, Any]:
        properties: dict[str, JSONSchema] = schema.get("properties", {})
        if not properties:
            objects = self.reading.objects
            return objects[0] if objects else {}
        return {name: self.value(inner, name, depth + 1) for name, inner in properties.items()}

    def array(self, schema: JSONSchema, name: str, depth: int) -> list[Any]:
        if "prefixItems" in schema:
            return [self.value(item, name, depth + 1) for item in schema["prefixItems"]]
        item: JSONSchema = schema.get("items", {})
        if depth > 3 or "$ref" in item:
            return []
        computed = computed_value(self.reading)
        if is_list(computed) and all(map(_fits(item), computed)):
            return computed
        mapped = self.mapped(item)
        if mapped is not None:
            return mapped
        for given in self.reading.lists:
            if given and all(map(_fits(item), given)):
                return given
        count = self.reading.asked_count(3 if depth == 0 else 2)
        if item.get("type") == "string":
            return _series(self.reading, name)[:count]
        if item.get("type") in ("integer", "number"):
            return list(range(1, count + 1))
        made = [self.value(item, name, depth + 1) for _ in range(min(count, 3))]
        return _told_apart(made, _series(self.reading, name))

    def mapped(self, item: JSONSchema) -> list[Any] | None:
        """One value for each item of a list in the prompt, where it asks for that."""
        lists = self.reading.lists
        if not lists or not self.reading.asks("each", "every", "all"):
            return None
        if _fits(item)(lists[0][0] if lists[0] else None) and item.get("type") != "object":
            return None
        if item.get("type") == "object" or "enum" in item or item.get("type") == "boolean":
            readings = [Reading(self.reading.text, (element,), ()) for element in lists[0]]
            return [_Answering(self.definitions, one).value(item, "", 1) for one in readings]
        return None

    def scalar(self, kind: str, name: str) -> Any:
        given = self.from_objects(name)
        if given is not None and _fits({"type": kind})(given):
            return given
        if kind == "null":
            return None
        if kind == "boolean":
            return self.is_so()
        if kind == "string":
            return self.string(name)
        return self.number(kind, name)

    def from_objects(self, name: str) -> Any:
        for one in self.reading.objects:
            for key, value in one.items():
                if name and key.lower() == name.lower():
                    return value
        return None

    def is_so(self) -> bool:
        numbers = self.reading.numbers
        if len(numbers) == 1 and self.reading.asks("even", "odd"):
            return numbers[0] % 2 == (0 if self.reading.asks("even") else 1)
        said = " ".join(map(str, self.reading.values)).lower()
        return any(_score(word, said) > 0 for word in self.reading.words if word in _SIGNS)

    def string(self, name: str) -> str:
        stem = name.lower().rpartition("_")[2]
        for value in self.reading.strings:
            labelled = re.search(rf"\b{re.escape(stem)}\s*[:=]\s*([^\n,;]+)", value, re.IGNORECASE)
            if stem and labelled:
                return labelled.group(1).strip()
        texts = " ".join(self.reading.strings) or self.reading.text
        if stem in ("email", "mail") and (found := re.search(r"[\w.+-]+@[\w-]+\.[\w.-]*\w", texts)):
            return found.group()
        if stem == "date" and (found := re.search(r"\d{4}-\d{2}-\d{2}", texts)):
            return found.group()
        if not name or stem in ("answer", "text", "value", "result"):
            return text_for(self.reading)
        if stem == "name" and (known := [*_short(self.reading.strings), *self.reading.names]):
            return known[0]
        if stem in ("title", "subject", "summary") and self.reading.strings:
            return " ".join(self.reading.strings[0].split()[:8])
        if stem in ("file", "path") and (found := _FILE.search(texts)):
            return found.group()
        if stem in ("number", "id") and (found := re.search(r"\b\d[\w-]*", texts)):
            return found.group()
        for word in (name.lower(), stem):
            if isinstance(_PLAUSIBLE.get(word), str):
                return str(_PLAUSIBLE[word])
        series = _series(self.reading, name)
        return f"some {stem}" if series is _PLAIN_SERIES else series[0]

    def number(self, kind: str, name: str) -> int | float:
        found = self.labelled_number(name)
        if found is None and not name:
            computed = computed_value(self.reading)
            candidates = [computed, *self.reading.numbers]
            found = next((value for value in candidates if is_number(value)), None)
        if found is None:
            plausible = _PLAUSIBLE.get(name.lower().rpartition("_")[2], 1)
            found = plausible if is_number(plausible) else 1
        return int(found) if kind == "integer" else float(found)

    def labelled_number(self, name: str) -> int | float | None:
        stem = name.lower().rpartition("_")[2]
        for value in (*self.reading.strings, self.reading.text):
            pattern = rf"\b{re.escape(stem)}\b\D{{0,12}}(-?\d+(?:\.\d+)?)"
            if stem and (found := re.search(pattern, value, re.IGNORECASE)):
                return float(found.group(1))
        return None


def _score(word: str, said: str) -> int:
    signs = _SIGNS.get(word.lower(), "").split()
    exact = 3 * (re.search(rf"\b{re.escape(word.lower())}\b", said) is not None)
    return exact + sum(re.search(rf"\b{sign}\b", said) is not None for sign in signs)


def _series(reading: Reading, name: str) -> list[str]:
    said = {*reading.words, name.lower()}
    for triggers, series in _SERIES:
        if said & {*triggers}:
            return series
    return _PLAIN_SERIES


def _short(strings: list[str]) -> list[str]:
    return [string for string in strings if len(string.split()) <= 3]


def _made_up(reading: Reading) -> Any:
    """Something where anything is allowed: what there is, or a few things with a price."""
    computed = computed_value(reading)
    if computed is not None:
        return computed
    if reading.lists or reading.objects:
        return (reading.lists or reading.objects)[0]
    names = _series(reading, "")[: reading.asked_count(3)]
    if reading.asks("price", "priced", "prices"):
        return [{"name": name, "price": 1.5 * (n + 1)} for n, name in enumerate(names)]
    return names


def _told_apart(made: list[Any], series: list[str]) -> list[Any]:
    """Objects that are alike get names of their own."""
    for one, name in zip(made, series, strict=False):
        if is_object(one) and made.count(one) > 1 and isinstance(one.get("name"), str):
            one["name"] = name
    return made


def _fits(schema: JSONSchema) -> Callable[[Any], bool]:
    checks: dict[Any, Callable[[Any], bool]] = {
        "string": lambda value: isinstance(value, str),
        "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
        "number": is_number,
        "boolean": lambda value: isinstance(value, bool),
        "array": is_list,
        "object": lambda value: is_object(value) and {*value} == {*schema.get("properties", value)},
    }
    if "enum" in schema:
        return lambda value: value in schema["enum"]
    kind = schema.get("type")
    return checks.get(kind if isinstance(kind, str) else None, lambda _: True)


def _as_text(value: Any) -> str:
    from runtime_support.jsontext import to_json

    return to_json(value)
