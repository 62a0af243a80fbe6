"""JSON data parsed from a text, before it is converted to a type.

    read_json('{"name": "Ada"}')            Data({"name": "Ada"}, ())
    read_json("{name: 'Ada'}")              NotData: not JSON ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from runtime_support._values.json_text import parse_unambiguous
from runtime_support.errors import CheckError

# A function that says whether objects may have a key, or None if they may have any key.
IsKey: TypeAlias = Callable[[str], bool] | None


class Data(NamedTuple):
    """JSON data, the repairs that its text needed, and the position where its text ends."""

    value: Any
    repairs: tuple[str, ...] = ()
    end: int = 0


class NotData(CheckError):
    """Raised if a text is not JSON data, or is damaged data."""


def read_json(text: str) -> Data:
    """Parses the whole text as strict JSON. Raises NotData if the text is not strict JSON."""
    try:
        return Data(parse_unambiguous(text, keeps_digits=True), (), len(text))
    except CheckError as error:
        raise NotData(error.message) from None
