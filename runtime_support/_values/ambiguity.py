"""What a function raises that cannot decide: the message, and the options to choose from.

    raise Ambiguity("2 books are called Emma", [option("of 1815", year=1815), ...])
    option("in a.py", call=find_symbol, name="emma", file="a.py")    # means another function

A model gets the options, from `prompt` as text, from `program` as whole programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True, slots=True)
class Option:
    """One way to go on: a value in place of the call, or arguments that settle it.

    With `call`, they are the arguments of this other function, whose call takes its place.
    """

    sentence: str
    values: tuple[Any, ...]
    arguments: Mapping[str, Any]
    call: Callable[..., Any] | None = None


class Ambiguity(Exception):
    """Raised by a function that a model calls: the message, and the options to choose from."""

    def __init__(self, message: str, options: Iterable[Option] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.options = tuple(options)


def option(
    sentence: str, /, *value: Any, call: Callable[..., Any] | None = None, **arguments: Any
) -> Option:
    """One choice: `option("in Ohio", Point(39.9, -83.8))` or `option("of 1996", year=1996)`.

    An option that means another function says so: `option("in a.py", call=find, file="a.py")`.
    """
    if len(value) > 1 or (value and call is not None):
        raise TypeError("an option is one value, or arguments by name")
    if bool(value) == (bool(arguments) or call is not None):
        raise TypeError("an option needs either a value or arguments by name")
    if not (call is None or callable(call)):
        raise TypeError("`call` of an option takes the function that it means")
    return Option(sentence, value, arguments, call)


def ambiguous(message: str, options: Iterable[Option]) -> NoReturn:
    """Raises the Ambiguity: the form for places that take only an expression."""
    raise Ambiguity(message, options)
