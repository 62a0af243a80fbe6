"""How a function says that it cannot decide, with a choice for the model.

    raise Ambiguity("2 books are called Emma", [
        option("the 1815 edition", year=1815),
        option("the 1996 edition", year=1996),
    ])

Named arguments are put into the call that raised; a single value replaces the whole call.
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
    """Raised by a function of a registry: the message, and the options to choose from."""

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
    """Raises the Ambiguity: the form for places where only an expression can stand."""
    raise Ambiguity(message, options)
