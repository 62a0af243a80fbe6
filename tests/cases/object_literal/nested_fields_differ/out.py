# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

orders: dict[str, dict[str, Any]] = {
    "A17": {"customer": "Ada", "paid": 39.5},
    "B4": {"customer": "Bo", "paid": 3.0},
}


def refund(order: str) -> float:
    return orders[order]["paid"]


print(refund("A17"))
