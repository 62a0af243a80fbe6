# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass, field

from runtime_support import check
from runtime_support.ops import parse, read_text, show


@dataclass(frozen=True)
class Tag:
    name: str


@dataclass(frozen=True)
class Item:
    name: str
    price: float
    tags: list[Tag] = field(default_factory=list[Tag])
    at: tuple[int, int] | None = None


def price_of(item: Item) -> float:
    return item.price


def load(path: str) -> list[Item]:
    return check(parse(read_text(path)), list[Item])


item: Item = check(parse('{"name": "pen", "price": 2}'), Item)
either: Item | str | None = check(parse('"pen"'), Item | str | None)
pairs: list[tuple[str, Item]] = [("a", check(parse("{}"), Item)), ("b", item)]
print(
    price_of(check(parse("{}"), Item)),
    show(load("items.json")),
    show(either),
    show(pairs),
)
