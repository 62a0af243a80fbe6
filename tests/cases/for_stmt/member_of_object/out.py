# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict


class Item(TypedDict):
    name: str
    price: float


class Order(TypedDict):
    items: list[Item]
    paid: bool


order: Order = {"items": [{"name": "pen", "price": 1.0}], "paid": False}
for item in order["items"]:
    print(item["name"] + " " + str(item["price"] * 2))
