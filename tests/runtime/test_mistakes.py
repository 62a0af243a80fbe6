"""What goes back to the model: all that is wrong with a reply at once, types and rules."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, Field

from runtime_support import CheckError, ContractError, check, prompt
from runtime_support.ops import require
from runtime_support.testing import Scripted, tool_request

Script = Callable[..., Scripted]


@dataclass
class Row:
    n: int
    kind: Literal["a", "b"]
    s: str


@dataclass
class Invoice:
    vat: int
    total: int
    date: str

    def __post_init__(self) -> None:
        require(self.vat <= 25, "vat is at most 25")
        require(self.total > 0, lambda: f"total is above 0, not {self.total}")
        require(len(self.date) == 10, "date has ten characters")


@dataclass
class Chain:
    """A rule that cannot be judged where the one before it does not hold."""

    numbers: list[int]

    def __post_init__(self) -> None:
        require(len(self.numbers) > 0, "there are numbers")
        require(self.numbers[0] > 0, "the first is above 0")


@dataclass
class Strict:
    n: int

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError("n is negative")


@dataclass
class Counted:
    """Records whose constructor ran."""

    kind: Literal["a"]
    n: int
    made: ClassVar[list[str]] = []

    def __post_init__(self) -> None:
        self.made.append(self.kind)
        require(self.n > 0, "n is above 0")


@dataclass
class Other(Counted):
    kind: Literal["b"]  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleVariableOverride]


@dataclass
class Same:
    kind: str
    n: int

    def __post_init__(self) -> None:
        Counted.made.append("same")


@dataclass
class Nested:
    """A rule that makes another record, which breaks its own."""

    n: int

    def __post_init__(self) -> None:
        try:
            Invoice(99, 0, "")
        except CheckError:
            self.n += 1
        require(self.n < 5, "n is below 5")


class Model(BaseModel):
    a: int = Field(gt=0)
    b: str = Field(pattern="^x")
    c: int


INVOICE = '{"vat": 99, "total": 0, "date": "x"}'
BROKEN = ["vat is at most 25", "total is above 0, not 0", "date has ten characters"]

CASES: list[tuple[Any, str, list[str]]] = [
    (
        list[Row],
        '[{"n": "x", "kind": "c", "s": null}, {"n": 1}]',
        [
            'value[0].n: expected int, got string "x"',
            'value[0].kind: expected "a" | "b", got string "c"',
            "value[0].s: expected string, got nil",
            'value[1].kind: missing field, expected "a" | "b"',
            "value[1].s: missing field, expected string",
        ],
    ),
    (Invoice, INVOICE, [f"value: {one}" for one in BROKEN]),
    (
        dict[str, list[Invoice]],
        f'{{"may": [{INVOICE}], "june": [{{"vat": 99, "total": 1, "date": "2026-01-31"}}]}}',
        [*(f"value.may[0]: {one}" for one in BROKEN), "value.june[0]: vat is at most 25"],
    ),
    (
        tuple[Invoice, Row],
        f'[{INVOICE}, {{"n": 1, "kind": "c", "s": "x"}}]',
        [
            *(f"value[0]: {one}" for one in BROKEN),
            'value[1].kind: expected "a" | "b", got string "c"',
        ],
    ),
    (Chain, '{"numbers": []}', ["value: there are numbers"]),
    (
        list[Strict],
        '[{"n": -1}, {"n": 0}, {"n": "x"}, {"n": -2}]',
        [
            "value[0]: Strict refused its fields: n is negative",
            'value[2].n: expected int, got string "x"',
            "value[3]: Strict refused its fields: n is negative",
        ],
    ),
    (list[Row | Strict], '[{"n": -1}]', ["value[0]: Strict refused its fields: n is negative"]),
    (Nested, '{"n": 4}', ["value: n is below 5"]),
    (
        list[Model],
        '[{"a": 0, "b": "y", "c": 1}, {"a": 0, "b": "y", "c": "q"}]',
        [
            "value[0].a: Input should be greater than 0",
            "value[0].b: String should match pattern '^x'",
            'value[1].c: expected int, got string "q"',
            "value[1].a: Input should be greater than 0",
            "value[1].b: String should match pattern '^x'",
        ],
    ),
    (
        list[Row],
        "```json\n[{n: 'x', kind: 'c', s: 'q',}]\n```",
        [
            'value[0].n: expected int, got string "x"',
            'value[0].kind: expected "a" | "b", got string "c"',
        ],
    ),
    (
        Row | None,
        '{"n": "x", "kind": "c", "s": "q"}',
        ['value.n: expected int, got string "x"', 'value.kind: expected "a" | "b", got string "c"'],
    ),
]


@pytest.mark.parametrize(("type_", "reply", "told"), CASES, ids=lambda one: str(one)[:40])
def test_all_mistakes_are_told_at_once(
    scripted: Script, type_: Any, reply: str, told: list[str]
) -> None:
    model = scripted(reply, reply)
    with pytest.raises(ContractError) as caught:
        prompt("?", returns=type_)
    reason = "; ".join(told)
    assert caught.value.attempts == ((reply, reason), (reply, reason))
    again = "Reply with all of it again, corrected, JSON only."
    expected = f"That reply cannot be used: {reason}. {again}"
    assert model.requests[1].messages[-1]["content"] == expected


@pytest.mark.parametrize(
    ("count", "last"), [(10, None), (22, "and 12 more"), (1000, "and 990 more")]
)
def test_of_many_mistakes_the_first_ten_are_told(
    scripted: Script, count: int, last: str | None
) -> None:
    scripted("[" + ",".join(['"x"'] * count) + "]")
    with pytest.raises(ContractError) as caught:
        prompt("?", returns=list[int], options={"max_repairs": 0})
    told = caught.value.attempts[0][1].split("; ")
    assert told[:10] == [f'value[{n}]: expected int, got string "x"' for n in range(10)]
    assert told[10:] == ([] if last is None else [last])


def test_a_tool_is_told_all_that_is_wrong_with_its_arguments(scripted: Script) -> None:
    def store(name: str, count: int) -> str:
        return f"{name} {count}"

    model = scripted(tool_request("store", name=None, count="x"), "done")
    prompt("{store}", store=store)
    told = 'error: args.name: expected string, got nil; args.count: expected int, got string "x"'
    assert model.requests[1].messages[-1]["content"] == told


@pytest.mark.parametrize(
    ("type_", "reply", "made"),
    [
        (Counted | Other, '{"kind": "b", "n": 0}', ["b"]),
        (Counted | Other, '{"kind": "b", "n": 1}', ["b"]),
        (Counted | Same, '{"kind": "a", "n": 1}', ["a"]),
    ],
)
def test_of_a_union_one_constructor_runs_once(
    scripted: Script, type_: Any, reply: str, made: list[str]
) -> None:
    Counted.made.clear()
    scripted(reply)
    with suppress(ContractError):
        prompt("?", returns=type_, options={"max_repairs": 0})
    assert Counted.made == made


def test_a_list_is_told_as_the_list_that_the_model_wrote(scripted: Script) -> None:
    model = scripted('[1, "a", 2]', '[1, "a"]')
    prompt("?", returns=tuple[int, str])
    again = model.requests[1].messages[-1]["content"]
    assert 'value: expected (int, string), got list [1, "a", 2]' in again


def test_a_check_ends_with_the_first_mistake() -> None:
    with pytest.raises(CheckError) as caught:
        check(["x", "y"], list[int])
    assert str(caught.value) == 'value[0]: expected int, got string "x"'
    with pytest.raises(CheckError, match=r"^vat is at most 25$"):
        Invoice(99, 0, "x")
