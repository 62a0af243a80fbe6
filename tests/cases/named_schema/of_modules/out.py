# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import check, prompt
from runtime_support.ops import parse, show

import lib
import tailor
import tailor as s


@dataclass(frozen=True)
class Cart:
    items: list[tailor.Item]
    row: s.Row | None = None
    box: lib.Box | None = None


def send(
    person: tailor.Person,
    label: lib.Label = "a",
    what: tailor.Shirt | lib.Box | None = None,
) -> tailor.Item | None:
    """Sends it."""
    if label == "b" and type(what) is tailor.Shirt:
        return what
    while person.name == "":
        again = prompt("all of it", returns=list[tailor.Item]).value
        for item in again:
            print(item.label() + "!")
    return None


order = prompt("one shirt", returns=tailor.Shirt).value
print(order.label() + "!", show(order.size == s.Size.LARGE))
ada = tailor.Person(name="Ada", address=s.Address(city="London"))
box: lib.Box = lib.Box("a", size=2)
tree: lib.Tree = {"x": 1, "kids": [{"x": 2, "kids": []}]}
rows: list[s.Row] = [{"id": 1}, {"id": 2, "note": "n"}]
size: tailor.Size = check(parse("large"), tailor.Size)
by_name: dict[str, tailor.Item] = {"pen": s.Item("pen")}
pair: tuple[lib.Label, tailor.Item] = ("a", by_name["pen"])
print(
    show(send(ada, what=order)),
    box.label + "?",
    tree["kids"][0]["x"],
    show(rows[1].get("note")),
    show(size),
    pair[1].name,
)
print(show(Cart([], None, box)), show(ada.friends))
who, label = prompt("who?", fields={"who": tailor.Address, "label": lib.Label}).value
print(who.city + label)
Suit = tailor.Shirt
Suits = list[tailor.Shirt]
