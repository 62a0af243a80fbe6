"""What a function raises that cannot decide: the message, and the options to choose from.

    raise Ambiguity("2 books are called Emma", [option("of 1815", year=1815), ...])

A model gets the options, from `prompt` as text, from `program` as whole programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True, slots=True)
class Option:
    """One way to go on: a value in place of the call, or arguments that settle it."""

    sentence: str
    values: tuple[Any, ...]
    arguments: Mapping[str, Any]


class Ambiguity(Exception):
    """Raised by a function that a model calls: the message, and the options to choose from."""

    def __init__(self, message: str, options: Iterable[Option] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.options = tuple(options)


def option(sentence: str, /, *value: Any, **arguments: Any) -> Option:
    """One choice: `option("in Ohio", Point(39.9, -83.8))` or `option("of 1996", year=1996)`."""
    if len(value) > 1:
        raise TypeError("an option is one value, or arguments by name")
    if bool(value) == bool(arguments):
        raise TypeError("an option needs either a value or arguments by name")
    return Option(sentence, value, arguments)


def ambiguous(message: str, options: Iterable[Option]) -> NoReturn:
    """Raises the Ambiguity: the form for places that take only an expression."""
    raise Ambiguity(message, options)
