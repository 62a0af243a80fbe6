"""Requests that can simply be computed: sums, orders, lengths, cases.

    computed_value(Reading.of("who has the longest name in [\"Al\",\"Barbara\"]?"))    "Barbara"

A word of the prompt chooses the computation, the values in it are what it works on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from runtime_support.providers.mock.reading import Reading

_ARITHMETIC = re.compile(r"(?<![\w.-])(-?\d+(?:\.\d+)?) *([-+*/]) *(\d*\.?\d*[1-9]\d*)(?![\w-])")
_RANGE = re.compile(r"(?<![\w.-])(\d{1,3}) to (\d{1,3})\b")
_LETTERS = re.compile(r"""how many (?:letters )?["']?([a-z])["']?s? .*?"(\w+)\"""", re.IGNORECASE)
_SIGNS_OF_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def computed_value(reading: Reading) -> Any:
    """The answer to a request that can be computed, else None."""
    written = _written_out(reading.text)
    if written is not None:
        return written
    words, numbers, strings = reading.words, reading.numbers, reading.strings
    for one_list in reading.lists:
        if one_list and all(isinstance(item, str) for item in one_list):
            strings = one_list
    for triggers, compute in _OF_NUMBERS:
        if numbers and words & triggers:
            return compute(numbers)
    for triggers, change in _OF_STRINGS:
        if strings and words & triggers:
            return change(strings)
    return None


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


def _product(numbers: list[int | float]) -> int | float:
    product: int | float = 1
    for number in numbers:
        product *= number
    return product


def _words_of(*words: str) -> frozenset[str]:
    return frozenset(words)


_OF_NUMBERS: tuple[tuple[frozenset[str], Callable[[list[int | float]], Any]], ...] = (
    (_words_of("square", "squares", "squared"), lambda n: [x * x for x in n]),
    (_words_of("double", "doubled", "twice"), lambda n: [2 * x for x in n]),
    (_words_of("average", "mean"), lambda n: sum(n) / len(n)),
    (_words_of("product", "multiply", "times", "multiplied"), _product),
    (_words_of("subtract", "minus", "difference"), lambda n: n[0] - sum(n[1:])),
    (_words_of("add", "sum", "plus", "total"), sum),
    (_words_of("largest", "biggest", "maximum", "max", "highest", "greatest"), max),
    (_words_of("smallest", "minimum", "min", "lowest", "least"), min),
    (
        _words_of(
            "even",
        ),
        lambda n: [x for x in n if x % 2 == 0],
    ),
    (
        _words_of(
            "odd",
        ),
        lambda n: [x for x in n if x % 2 == 1],
    ),
    (_words_of("sort", "sorted", "order"), sorted),
    (_words_of("many", "count"), len),
)
_OF_STRINGS: tuple[tuple[frozenset[str], Callable[[list[str]], Any]], ...] = (
    (
        _words_of(
            "longest",
        ),
        lambda s: max(s, key=len),
    ),
    (
        _words_of(
            "shortest",
        ),
        lambda s: min(s, key=len),
    ),
    (
        _words_of(
            "vowels",
        ),
        lambda s: sum(c in "aeiouAEIOU" for c in "".join(s)),
    ),
    (_words_of("sort", "sorted", "alphabetical", "alphabetically"), sorted),
    (_words_of("uppercase", "capitals", "upper"), lambda s: _each(s, str.upper)),
    (_words_of("lowercase", "lower"), lambda s: _each(s, str.lower)),
    (_words_of("reverse", "reversed"), lambda s: s[0][::-1] if len(s) == 1 else s[::-1]),
    (_words_of("many", "count"), lambda s: len(s[0].split()) if len(s) == 1 else len(s)),
)


def _each(strings: list[str], change: Callable[[str], str]) -> str | list[str]:
    changed = [change(string) for string in strings]
    return changed[0] if len(changed) == 1 else changed
