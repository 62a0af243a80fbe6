"""Questions of yes or no, and choices: decided by words that speak for an answer.

    choice(["bug", "question"], Reading.of('sort "it crashes"'))     "bug"
    is_so(Reading.of('is "win a free prize" spam?'))                 True
"""

from __future__ import annotations

import re
from typing import Any

from runtime_support.providers.mock.computing import compared
from runtime_support.providers.mock.extracting import stem_of
from runtime_support.providers.mock.reading import Reading
from runtime_support.providers.mock.words import NOTHING_SPECIAL, SERIES, SIGNS

_WORD = re.compile(r"\w+")


def choice(options: list[str], reading: Reading) -> str:
    """The option that the text speaks for."""
    said = _words(reading.material)
    scores = [_score(option, said) for option in options]
    if max(scores) == 0:
        plain = [option for option in options if option.lower() in NOTHING_SPECIAL]
        return (plain or options)[0]
    return options[scores.index(max(scores))]


def choices(options: list[Any], reading: Reading) -> list[Any]:
    """All options that the text speaks for."""
    said = _words(reading.material)
    return [option for option in options if isinstance(option, str) and _score(option, said)]


def is_so(reading: Reading, name: str = "") -> bool:
    """The answer to the question of the prompt, or to what the field's name asks."""
    comparison = compared(reading)
    if comparison is not None:
        return comparison
    said = _words(reading.material)
    if stem_of(name) in SIGNS:
        return _score(stem_of(name), said) > 0
    for triggers, members in SERIES:
        if reading.words & triggers and said & {*map(str.lower, members)}:
            return True
    return any(_score(word, said) > 0 for word in reading.words if word in SIGNS)


def _words(text: str) -> set[str]:
    return {*_WORD.findall(text.lower())}


def _score(word: str, said: set[str]) -> int:
    """Three for each word of the option itself, one for each sign of it."""
    words = _words(word)
    own = 3 * len(words & said)
    return own + sum(len(SIGNS[one] & said) for one in words if one in SIGNS)
