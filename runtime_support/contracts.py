"""The contract of a typed prompt: what it asks of the model, and what it makes of the reply.

    Contract.of(list[int]).text()     "Reply with JSON only, no other text: [int]"
    read(contract, "```[1, 2]```")    Reading([1, 2], repairs=("read from a code fence",))

The form is Saft's notation with the fields' docs, far shorter than a JSON Schema.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from runtime_support.errors import CheckError
from runtime_support.jsontext import holds_half, parse_unambiguous
from runtime_support.schemas import (
    AnySchema,
    Schema,
    decode,
    notation,
    schema_of,
    strict_json_schema,
)

_THINKING = re.compile(r"\s*<think>.*?(</think>|\Z)", re.DOTALL)

# What a model may not know of the notation, told only where it occurs.
_LEGEND = (
    ("?", "`T?` is T or null"),
    ("nil", "`nil` is null"),
    ("(", "`(A, B)` is an array"),
)


@dataclass(frozen=True, slots=True)
class Contract:
    """A schema with what a request says about it."""

    schema: Schema
    form: str
    json_schema: dict[str, Any] | None
    is_strict: bool

    def text(self) -> str:
        """The lines that follow the prompt."""
        if isinstance(self.schema, AnySchema):
            return "Reply with JSON only, no other text."
        return _demand(self.form)


@dataclass(frozen=True, slots=True)
class Reading:
    """The value of a reply, and in words what was needed to get it."""

    value: Any
    repairs: tuple[str, ...]


class Unreadable(Exception):
    """The reply does not satisfy the contract; the text is the reason, with its path."""


def contract_of(type_: Any) -> Contract:
    """The contract for a Python type; CheckError when JSON cannot hold it."""
    return contract_for(schema_of(type_))


def contract_for(schema: Schema) -> Contract:
    """The contract for a schema."""
    return _contract(_Kept(schema))


def without_thinking(text: str) -> str:
    """The text without the blocks in which a model thinks aloud."""
    while match := _THINKING.match(text):
        text = text[match.end() :]
    return text


def read(contract: Contract, text: str) -> Reading:
    """The value that the reply means, or Unreadable with the reason."""
    answer = without_thinking(text)
    if holds_half(answer):
        raise Unreadable("half of a surrogate pair is no character")
    try:
        return Reading(decode(parse_unambiguous(answer), contract.schema, "value"), ())
    except CheckError:
        pass
    if not answer.strip():
        raise Unreadable("the reply is empty")
    from runtime_support.recovery import RecoveryRefused, recover  # seldom needed, and not small

    try:
        recovered = recover(text, contract.schema)
        return Reading(decode(recovered.value, contract.schema, "value"), recovered.repairs)
    except RecoveryRefused as refusal:
        raise Unreadable(str(refusal)) from None
    except CheckError as error:
        raise Unreadable(str(error)) from None


class _Kept:
    """A schema that is equal to itself alone, to cache by identity."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and other.schema is self.schema

    def __hash__(self) -> int:
        return id(self.schema)


@lru_cache(maxsize=512)
def _contract(kept: _Kept) -> Contract:
    schema = kept.schema
    document, is_strict = strict_json_schema(schema)
    return Contract(schema, notation(schema), document or None, is_strict)


@lru_cache(maxsize=512)
def _demand(form: str) -> str:
    legend = "; ".join(words for mark, words in _LEGEND if mark in _without_texts(form))
    explained = f" ({legend})" if legend else ""
    separator = "\n" if "\n" in form else " "
    return f"Reply with JSON only, no other text, of this form{explained}:{separator}{form}"


def _without_texts(form: str) -> str:
    """The notation without literals and docs, whose characters mean nothing."""
    return re.sub(r'"(\\.|[^"\\])*"|//[^\n]*', "", form)
