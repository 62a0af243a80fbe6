"""What the mock reads in a request: the instruction, and the values in it.

    Reading.of("compute {square} for each in [1, 2]")   values ([1, 2],), numbers (), ...

Values are the JSON values in the text; words that begin with a capital stand for names.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from runtime_support.values import is_list

_START = re.compile(r"[\[{\"]|(?<![\w.])-?\d")
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z][a-zA-Z]+\b", re.MULTILINE)
_WORD = re.compile(r"[a-z]+")
_NOT_NAMES = frozenset(
    [
        *("I", "Return", "Reply", "Use", "Give", "JSON", "Then", "Call", "For", "Each"),
        *("Every", "Is", "The", "A", "An", "And", "Or", "If", "No", "Yes"),
    ]
)
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt's text, taken apart."""

    text: str
    values: tuple[Any, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Reading:
        """Takes a prompt's text apart."""
        values, rest = _json_values(text)
        names = tuple(name for name in _NAME.findall(rest) if name not in _NOT_NAMES)
        return cls(text, values, tuple(dict.fromkeys(names)))

    @property
    def words(self) -> frozenset[str]:
        """The words of the text, in lower case."""
        return frozenset(_WORD.findall(self.text.lower()))

    @property
    def lists(self) -> list[list[Any]]:
        """The lists among the values."""
        return [value for value in self.values if is_list(value)]

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The objects among the values, also those in lists."""
        found: list[dict[str, Any]] = []
        for value in self.values:
            found += [v for v in (value if is_list(value) else [value]) if isinstance(v, dict)]
        return found

    @property
    def strings(self) -> list[str]:
        """The strings among the values."""
        return [value for value in self.values if isinstance(value, str)]

    @property
    def numbers(self) -> list[int | float]:
        """The numbers among the values, with those of its lists."""
        found: list[int | float] = []
        for value in self.values:
            for item in value if is_list(value) else [value]:
                if isinstance(item, (int, float)) and not isinstance(item, bool):
                    found.append(item)
        return found

    def asked_count(self, default: int) -> int:
        """How many things the text asks for: "three colours"."""
        counts = [_COUNTS[word] for word in _WORD.findall(self.text.lower()) if word in _COUNTS]
        return counts[0] if counts else default

    def asks(self, *words: str) -> bool:
        """Whether one of the words stands in the text."""
        return any(word in self.words for word in words)


def _json_values(text: str) -> tuple[tuple[Any, ...], str]:
    """The JSON values in the text, and the text without them."""
    decoder = json.JSONDecoder()
    values: list[Any] = []
    rest: list[str] = []
    end = 0
    while match := _START.search(text, end):
        try:
            value, stop = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            rest.append(text[end : match.end()])
            end = match.end()
            continue
        values.append(value)
        rest.append(text[end : match.start()])
        end = stop
    rest.append(text[end:])
    return tuple(values), " ".join(rest)
