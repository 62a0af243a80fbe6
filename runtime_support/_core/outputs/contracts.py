"""Typed values: describes a type to the model, and reads the reply as a value of it.

    contract_of(list[int]).text       "Reply with JSON only, no other text, of this form: [int]"

The form is written in Saft's notation, with the fields' docs. It is far shorter than a JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runtime_support._core.outputs.outputs import Output, Unreadable
from runtime_support._core.reader.replies import read_reply
from runtime_support._schema import model as m
from runtime_support._schema.reading import object_schema, remember, schema_of
from runtime_support._schema.writing import notation, strict_json_schema
from runtime_support._values.dates import EXAMPLES, WORDS
from runtime_support.errors import CheckError

# Explanations of the notation, included only if they apply.
_LEGEND = (
    ("?", "`T?` is T or null"),
    ("nil", "`nil` is null"),
    ("(", "`(A, B)` is an array"),
)

# By the id of the schema; the contract holds the schema, so that the id stays valid.
_contracts: dict[int, Contract] = {}


@dataclass(frozen=True, slots=True)
class Contract:
    """A schema and its description in requests.

    `text` holds the lines that follow the prompt. `losses` lists what a server cannot enforce.
    """

    schema: m.Schema
    text: str
    json_schema: dict[str, Any] | None
    is_strict: bool
    losses: tuple[str, ...] = ()
    keeps_digits: bool = False


def contract_of(type_: Any) -> Contract:
    """Returns the contract for a Python type. Raises CheckError if JSON cannot hold its values."""
    return contract_for(schema_of(type_))


def contract_for(schema: m.Schema) -> Contract:
    """Returns the contract for a schema. Contracts are cached."""
    known = _contracts.get(id(schema))
    if known is not None:
        return known
    document, losses = strict_json_schema(schema)
    keeps_digits = m.holds_decimals(schema)
    contract = Contract(schema, _demand(schema), document or None, not losses, losses, keeps_digits)
    return remember(_contracts, id(schema), contract)


def _demand(schema: m.Schema) -> str:
    if isinstance(schema, m.AnySchema):
        return "Reply with JSON only, no other text."
    form = notation(schema)
    kinds = m.scalars_in(schema)
    told = [words for mark, words in _LEGEND if mark in _without_texts(form)]
    told += [f'`{word}` is "{EXAMPLES[word]}"' for word in WORDS if word in kinds]
    legend = "; ".join(told)
    explained = f" ({legend})" if legend else ""
    separator = "\n" if "\n" in form else " "
    return f"Reply with JSON only, no other text, of this form{explained}:{separator}{form}"


def _without_texts(form: str) -> str:
    """Returns the notation without literals and docs, which need no explanation."""
    return re.sub(r'"(\\.|[^"\\])*"|//[^\n]*', "", form)


class ValueOutput(Output):
    """A JSON value that satisfies a contract."""

    def __init__(self, contract: Contract) -> None:
        super().__init__()
        self._contract = contract
        self.may_be_call = m.holds_calls(contract.schema)

    @property
    def contract(self) -> Contract | None:
        return self._contract

    def ending(self) -> str:
        """Returns the words after the prompt that describe the form of the reply."""
        return self._contract.text

    def accept(self, text: str) -> None:
        try:
            self.found, repairs = read_reply(text, self._contract.schema)
        except CheckError as error:
            raise Unreadable(str(error)) from None
        self.repairs.extend(repairs)

    def reminder(self, reason: str) -> str:
        """Returns the message to the model about a reply that does not fit."""
        # The first message has the form; repeating it would bury the reason.
        again = "Reply with all of it again, corrected, JSON only."
        return f"That reply cannot be used: {reason}. {again}"


class ObjectOutput(ValueOutput):
    """Several fields as one JSON object, without return tools."""

    is_several = True

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__(contract_for(object_schema(fields)))
        self.names = tuple(fields)

    @property
    def value(self) -> Any:
        return tuple(self.found[name] for name in self.names)
