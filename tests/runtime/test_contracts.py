"""The contract's text: complete, and short."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import pytest

from runtime_support._core.outputs.contracts import contract_of
from runtime_support._schema.reading import schema_of
from runtime_support._schema.writing import json_schema, notation


class Line(TypedDict):
    description: str
    quantity: int
    price: float


@dataclass(frozen=True)
class Invoice:
    number: Annotated[str, "as printed"]
    date: Annotated[str, "as 2025-01-31"]
    lines: list[Line]
    currency: Literal["EUR", "USD", "NOK"]
    paid: bool
    note: str | None = None


class Tree(TypedDict):
    name: str
    children: list[Tree]


@pytest.mark.parametrize(
    "type_",
    [Invoice, list[Line], Tree, dict[str, tuple[int, str]], list[tuple[str, Literal["a", "b"]]]],
)
def test_it_is_less_than_half_of_a_json_schema(type_: Any) -> None:
    def tokens(text: str) -> int:
        return len(re.findall(r"\w+|[^\w\s]", text))

    schema = schema_of(type_)
    document = json.dumps(json_schema(schema))
    assert 2 * tokens(notation(schema)) < tokens(document)
    asked = f"Reply with JSON only, no other text, that satisfies this JSON Schema:\n{document}"
    assert 2 * tokens(contract_of(type_).text) < tokens(asked)


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (int, "Reply with JSON only, no other text, of this form: int"),
        (Any, "Reply with JSON only, no other text."),
        (
            int | None,
            "Reply with JSON only, no other text, of this form (`T?` is T or null): int?",
        ),
        (
            tuple[int, str],
            "Reply with JSON only, no other text, of this form "
            "(`(A, B)` is an array): (int, string)",
        ),
        (
            Literal["(yes)", "no?"],
            'Reply with JSON only, no other text, of this form: "(yes)" | "no?"',
        ),
    ],
)
def test_what_a_model_may_not_know_is_told_where_it_occurs(type_: Any, text: str) -> None:
    assert contract_of(type_).text == text
