# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from runtime_support.ops import show


class Size(TypedDict):
    w: int


@dataclass(frozen=True)
class Bag:
    items: list[str] = field(default_factory=list[str])
    size: Size = field(default_factory=lambda: Size(w=1))
    label: Literal["a", "b"] = "a"


bag = Bag()
print(show(bag.items), bag.size["w"], bag.label)
