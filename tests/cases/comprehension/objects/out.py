# Compiled by saftc from in.saft; edit that file instead.
import datetime as dt
from dataclasses import dataclass
from typing import Any

from runtime_support.ops import show


@dataclass(frozen=True)
class Item:
    name: str
    price: int


def index(items: list[Item]) -> dict[str, Item]:
    return {item.name: item for item in items if item.price > 0}


xs = [1, 2, 3]
squares = {str(x): x * x for x in xs}
pairs = {a + b: (a, b) for a in ["x", "y"] for b in ["1", "2"] if a != b}
days = {dt.date(2026, 5, 1) + dt.timedelta(days=x): x for x in xs}
names = {name: age for name, age in [("Ada", 36), ("Bo", 4), ("Ada", 37)]}
empty: Any = {name: [] for name in names}
empty["Ada"] = ["a"]
nested = {str(x): {str(y): x + y for y in xs} for x in xs}
# the key says which
wide: dict[str, int | str] = {
    f"the number {x} of a few": x for x in xs if x > 1 if x < 3
}
print(
    show(squares),
    show(pairs),
    show(days),
    show(names),
    show(empty),
    show(nested),
    show(wide),
    show(index([Item("a", 1)])),
)
