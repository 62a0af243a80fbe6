"""What the mock reads in a request: the instruction, the values in it, and the text it is about.

    Reading.of('compute {square} for each in [1, 2]')    values ([1, 2],), instruction "compute ..."
    Reading.of('Sort this mail:\\n\\nFrom: Ada ...')      material "From: Ada ..."

Values are the JSON values in the text; words that begin with a capital stand for names.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from runtime_support.providers.mock.words import COUNTS, NOT_NAMES
from runtime_support.values import is_list, is_number, is_object

_START = re.compile(r"[\[{\"]|(?<![\w.])-?\d")
_INNER_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z][a-zA-Z]+\b", re.MULTILINE)
_NAME = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*\b")
_WORD = re.compile(r"[a-z]+")
_COUNTED = re.compile(r"\b(\d{1,2}) (?:[a-z]+ )?[a-z]+s\b")
_LIST_MARK = re.compile(r"^ *\d+[.)] ", re.MULTILINE)
_AT_MOST = re.compile(r"\b(?:at most|up to|no more than)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt's text, taken apart.

    `instruction` is the text without texts, lists and objects; `material` is what those say, or
    the paragraphs after the instruction; `is_answered` means that the values are what tools gave.
    """

    text: str
    values: tuple[Any, ...]
    names: tuple[str, ...]
    instruction: str
    material: str
    is_answered: bool = False

    @classmethod
    def of(cls, text: str) -> Reading:
        """Takes a prompt's text apart."""
        values, rest = _json_values(text)
        first, _, later = text.partition("\n\n")
        first_values, instruction = _json_values(first)
        _, later_rest = _json_values(later)
        # Raw text stands in paragraphs of its own, below an instruction that has no data.
        is_raw = bool(re.search(r"\w", later_rest)) and all(map(is_number, first_values))
        strings = [value for value in values if isinstance(value, str)]
        return cls(
            text,
            values,
            tuple(dict.fromkeys(_named(_INNER_NAME.findall(rest)))),
            instruction if is_raw else rest,
            later if is_raw else "\n".join(strings) or text,
        )

    def about(self, value: Any) -> Reading:
        """The same instruction about this value alone."""
        material = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return replace(self, values=(value,), names=(), material=material)

    def answered(self, outputs: tuple[Any, ...], is_one_list: bool) -> Reading:
        """The prompt as it reads once tools have answered."""
        material = "\n".join(out if isinstance(out, str) else json.dumps(out) for out in outputs)
        values = (list(outputs),) if is_one_list else outputs
        return replace(self, values=values, material=material, is_answered=True)

    @property
    def words(self) -> frozenset[str]:
        """The words of the instruction, in lower case."""
        return frozenset(_WORD.findall(self.instruction.lower()))

    @property
    def lists(self) -> list[list[Any]]:
        """The lists among the values."""
        return [value for value in self.values if is_list(value)]

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The objects among the values, also those in lists."""
        found: list[dict[str, Any]] = []
        for value in self.values:
            found += [item for item in (value if is_list(value) else [value]) if is_object(item)]
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
            found += [item for item in (value if is_list(value) else [value]) if is_number(item)]
        return found

    @property
    def people(self) -> list[str]:
        """Names in the text that the prompt is about."""
        return list(dict.fromkeys(_named(_NAME.findall(self.material))))

    @property
    def asks_at_most(self) -> bool:
        """Whether fewer things than the number in the text will do."""
        return _AT_MOST.search(self.instruction) is not None

    def asked_count(self, default: int) -> int:
        """How many things the text asks for: "three colours", "3 tags"."""
        said = self.instruction.lower()
        counts = [COUNTS[word] for word in _WORD.findall(said) if word in COUNTS]
        counts += [int(digits) for digits in _COUNTED.findall(said)]
        return counts[0] if counts else default

    def asks(self, *words: str) -> bool:
        """Whether one of the words stands in the instruction."""
        return any(word in self.words for word in words)


def _named(found: list[str]) -> list[str]:
    return [name for name in found if name.split()[0] not in NOT_NAMES]


def _json_values(text: str) -> tuple[tuple[Any, ...], str]:
    """The JSON values in the text, and the text without those that are not numbers."""
    text = _LIST_MARK.sub("", text)
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
        rest.append(text[end : stop if is_number(value) else match.start()])
        end = stop
    rest.append(text[end:])
    return tuple(values), " ".join(rest)
