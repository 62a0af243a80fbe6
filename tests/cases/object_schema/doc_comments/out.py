# Compiled by saftc from in.saft; edit that file instead.
from typing import Annotated, TypedDict

from runtime_support import prompt


class Order(TypedDict):
    id: Annotated[int, "the order's number"]
    items: Annotated[list[str], "what was ordered"]


order = prompt("an order", returns=Order).value
print(order["id"])
