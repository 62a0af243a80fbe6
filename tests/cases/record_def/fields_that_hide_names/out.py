# Compiled by saftc from in.saft; edit that file instead.

# The names of fields may be those of types, functions and variables that their record needs.

import dataclasses
import datetime as dt_
from builtins import int as int_
from builtins import list as list_
from builtins import str as str_
from dataclasses import dataclass, field
from dataclasses import field as field_
from decimal import Decimal as Decimal_
from typing import Literal

from runtime_support import check
from runtime_support.ops import parse, require, show


@dataclass(frozen=True)
class City:
    name: str


Kind = Literal["a", "b"]

start = 3


def twice(n: int) -> int:
    return n * 2


City_ = City
Kind_ = Kind


@dataclass(frozen=True)
class Place:
    City: City_ | None = None
    other: City_ | None = None
    Kind: Kind_ = "a"
    kinds: list[Kind_] = field(default_factory=lambda: ["b"])


@dataclass(frozen=True)
class Basket:
    list: list_[int] = field(default_factory=list_[int])
    field: str = "x"
    items: list_[str] = field_(default_factory=list_[str])
    str: str_ = "y"
    name: str_ | None = None


start_ = start
twice_ = twice


@dataclass(frozen=True)
class Numbers:
    int: int_ = 1
    start: int_ = start_
    twice: int_ = twice_(start_)
    last: int_ = twice_(start_)


@dataclass(frozen=True)
class Bill:
    dt: dt_.date = dt_.date(2026, 1, 31)
    due: dt_.date | None = None
    Decimal: Decimal_ = Decimal_("1.5")
    tax: Decimal_ | None = None


@dataclass(frozen=True)
class Tree:
    below: "list[Tree]" = field(default_factory=list["Tree"])
    require: int = 0

    def __post_init__(self) -> None:
        require(
            len(self.below) < 9 and self.require >= 0,
            "expected len(below) < 9 and require >= 0",
        )


print(
    show(Place(City("Oslo"))),
    show(Basket()),
    show(Numbers()),
    show(Bill()),
    show(Tree([Tree()])),
)
basket: Basket = check(parse('{"list": [1], "field": "z"}'), Basket)
print(
    show(basket.list + Basket().list),
    show(basket.items),
    show(dataclasses.replace(basket, str="changed")),
)
