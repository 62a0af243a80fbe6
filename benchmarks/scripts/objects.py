"""Objects and records: making them, and reading their fields."""

from dataclasses import dataclass
from typing import TypedDict


@dataclass(frozen=True)
class Item:
    name: str
    price: int
    count: int = 1


class Row(TypedDict):
    id: int
    tags: list[str]
    size: int


def cost(item: Item) -> int:
    return item.price * item.count


def row(number: int) -> Row:
    return {"id": number, "tags": ["a", "b"], "size": number % 10}


def work(size: int) -> int:
    items = [Item("item", number, count=number % 3) for number in range(size)]
    rows = [row(number) for number in range(size)]
    total = 0
    for item in items:
        if item.count > 0:
            total += cost(item)
    for one in rows:
        if one["size"] > 3 and len(one["tags"]) == 2:
            total += one["id"] - one["size"]
    return total
