"""The exception that a function raises if it cannot decide, with options to choose from.

    raise Ambiguity("2 books are called Emma", [option("of 1815", year=1815), ...])
    option("in a.py", call=find_symbol, name="emma", file="a.py")    # means another function

A model receives the options. In a `prompt`, each option is a text. In a `program`, each option is a
whole program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True, slots=True)
class Option:
    """An option: a value that replaces the call, or arguments that make the call unambiguous.

    If `call` is a function, the option is a call of it with these arguments, which replaces the
    original call.
    """

    sentence: str
    values: tuple[Any, ...]
    arguments: Mapping[str, Any]
    call: Callable[..., Any] | None = None


class Ambiguity(Exception):
    """Raised by a function that cannot decide, with a message and options to choose from."""

    def __init__(self, message: str, options: Iterable[Option] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.options = tuple(options)


def option(
    sentence: str, /, *value: Any, call: Callable[..., Any] | None = None, **arguments: Any
) -> Option:
    """Returns an option: `option("in Ohio", Point(39.9, -83.8))` or `option("of 1996", year=1996)`.

    `call` is another function to call instead: `option("in a.py", call=find, file="a.py")`.
    """
    if len(value) > 1 or (value and call is not None):
        raise TypeError("an option is one value, or arguments by name")
    if bool(value) == (bool(arguments) or call is not None):
        raise TypeError("an option needs either a value or arguments by name")
    if not (call is None or callable(call)):
        raise TypeError("`call` of an option takes the function that it means")
    return Option(sentence, value, arguments, call)


def ambiguous(message: str, options: Iterable[Option]) -> NoReturn:
    """Raises an Ambiguity. Unlike `raise`, a call of this function is an expression."""
    raise Ambiguity(message, options)
