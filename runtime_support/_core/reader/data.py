"""JSON data that was read of a text, as it is written there.

    read_json('{"name": "Ada"}')            Data({"name": "Ada"}, ())
    read_json("{name: 'Ada'}")              NotData: not JSON ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from runtime_support._values.json_text import parse_unambiguous
from runtime_support.errors import CheckError

# Tells whether objects may have a key; None where they may have any.
IsKey: TypeAlias = Callable[[str], bool] | None


class Data(NamedTuple):
    """JSON data, what was repaired to read it, and where its text ends."""

    value: Any
    repairs: tuple[str, ...] = ()
    end: int = 0


class NotData(CheckError):
    """The text is no data, or broken."""


def read_json(text: str) -> Data:
    """Returns the JSON that the whole text is, or NotData."""
    try:
        return Data(parse_unambiguous(text, keeps_digits=True), (), len(text))
    except CheckError as error:
        raise NotData(error.message) from None
