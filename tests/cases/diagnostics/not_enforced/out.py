# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from runtime_support import later, program, prompt, together
from runtime_support.ops import show


@dataclass(frozen=True)
class Extra:
    name: str
    price: float


@dataclass(frozen=True)
class Offer:
    name: str
    extra: dict[str, float]
    notes: list[Any]


@dataclass(frozen=True)
class Tree:
    label: str
    children: "list[Tree]"
    at: tuple[int, str] | None = None


class Plain(TypedDict):
    a: int | None
    extra: list[Extra]
    b: Literal["x", "y"]


offer, offers, tree, numbers, pair, plain, text, (name, more) = together(
    later(prompt, "Make one up.", returns=Offer),
    later(prompt, "Make some up.", returns=list[Offer | None]),
    later(prompt, "Grow one.", returns=Tree),
    later(prompt, "Count.", returns=dict[str, int]),
    later(prompt, "A pair.", returns=tuple[int, str]),
    later(prompt, "Plain.", returns=Plain),
    later(prompt, "Text."),
    later(prompt, "Fields.", fields={"name": str, "more": dict[str, int]}),
)
plan = program("A plan.", returns=dict[str, int]).value
print(
    show(offer),
    show(offers),
    show(tree),
    show(numbers),
    show(pair),
    show(plain),
    text,
    name,
    show(more),
    show(plan),
)
