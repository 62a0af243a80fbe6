"""Requests that can simply be computed: sums, orders, lengths, cases.

    computed_value(Reading.of("who has the longest name in [\\"Al\\",\\"Barbara\\"]?"))    "Barbara"

A word of the prompt chooses the computation, the values in it are what it works on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from runtime_support.providers.mock.reading import Reading
from runtime_support.providers.mock.tables import column_asked_for

_ARITHMETIC = re.compile(r"(?<![\w.-])(-?\d+(?:\.\d+)?) *([-+*/]) *(\d*\.?\d*[1-9]\d*)(?![\w-])")
_RANGE = re.compile(r"(?<![\w.-])(\d{1,3}) to (\d{1,3})\b")
_LETTERS = re.compile(r"""how many (?:letters )?["']?([a-z])["']?s? .*?"(\w+)\"""", re.IGNORECASE)
_SIGNS_OF_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}

Numbers = list[int | float]
Strings = list[str]


def computed_value(reading: Reading) -> Any:
    """The answer to a request that can be computed, else None."""
    words, numbers, strings = reading.words, reading.numbers, reading.strings
    if reading.is_answered:
        # What the tools did is not to be done again; their outputs may still be added up.
        return _first(_AGGREGATES, words, numbers) if len(numbers) > 1 else None
    if column := column_asked_for(reading):
        return column
    if "guess" in words and len(numbers) == 2:
        return math.floor(sum(numbers) / 2)
    written = _written_out(reading.text)
    if written is not None:
        return written
    for one_list in reading.lists:
        if one_list and all(isinstance(item, str) for item in one_list):
            strings = one_list
    found = _first(_OF_NUMBERS, words, numbers)
    return _first(_OF_STRINGS, words, strings) if found is None else found


def compared(reading: Reading) -> bool | None:
    """The answer to a question of yes or no about numbers, None when it is none."""
    words, numbers = reading.words, reading.numbers
    if len(numbers) == 1 and words & {"even", "odd"}:
        return numbers[0] % 2 == (0 if "even" in words else 1)
    if len(numbers) == 2 and words & _MORE:
        return numbers[0] > numbers[1]
    if len(numbers) == 2 and words & _LESS:
        return numbers[0] < numbers[1]
    return None


def _first(
    table: Mapping[str, Callable[[Any], Any]], words: frozenset[str], values: list[Any]
) -> Any:
    """What the first row gives that has one of the words."""
    if not values:
        return None
    chosen = (compute for triggers, compute in table.items() if words & {*triggers.split()})
    return next((compute(values) for compute in chosen), None)


def _written_out(text: str) -> Any:
    """What the text spells out: `17 + 25`, `1 to 5`, the letters of a word."""
    if found := _ARITHMETIC.search(text):
        left, sign, right = found.groups()
        value = _SIGNS_OF_ARITHMETIC[sign](float(left), float(right))
        return int(value) if value.is_integer() and sign != "/" else value
    if found := _RANGE.search(text):
        return list(range(int(found[1]), int(found[2]) + 1))
    if found := _LETTERS.search(text):
        return found[2].lower().count(found[1].lower())
    return None


def _each(strings: Strings, change: Callable[[str], str]) -> str | Strings:
    changed = [change(string) for string in strings]
    return changed[0] if len(changed) == 1 else changed


_MORE = {"greater", "larger", "bigger", "higher", "more", "above", "over", "warmer", "longer"}
_LESS = {"less", "smaller", "lower", "fewer", "below", "under", "colder", "shorter", "cheaper"}

_AGGREGATES: dict[str, Callable[[Numbers], Any]] = {
    "average mean": lambda n: sum(n) / len(n),
    "product multiply times multiplied": math.prod,
    "subtract minus difference": lambda n: n[0] - sum(n[1:]),
    "add sum plus total together": sum,
    "largest biggest maximum max highest greatest": max,
    "smallest minimum min lowest least": min,
}
_OF_NUMBERS: dict[str, Callable[[Numbers], Any]] = {
    "square squares squared": lambda n: [x * x for x in n],
    "double doubled twice": lambda n: [2 * x for x in n],
    **_AGGREGATES,
    "even": lambda n: [x for x in n if x % 2 == 0],
    "odd": lambda n: [x for x in n if x % 2 == 1],
    "sort sorted order": sorted,
    "many count": len,
}
_OF_STRINGS: dict[str, Callable[[Strings], Any]] = {
    "longest": lambda s: max(s, key=len),
    "shortest": lambda s: min(s, key=len),
    "vowels": lambda s: sum(c in "aeiouAEIOU" for c in "".join(s)),
    "sort sorted alphabetical alphabetically": sorted,
    "uppercase capitals upper": lambda s: _each(s, str.upper),
    "lowercase lower": lambda s: _each(s, str.lower),
    "reverse reversed": lambda s: s[0][::-1] if len(s) == 1 else s[::-1],
    "many count": lambda s: len(s[0].split()) if len(s) == 1 else len(s),
}
