# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check

orders: dict[str, dict[str, Any]] = {
    "A17": {"customer": "Ada", "paid": 39.5},
    "B4": {"customer": "Bo", "paid": 3.0},
}


def refund(order: str) -> float:
    return check(orders[order]["paid"], float)


print(refund("A17"))
