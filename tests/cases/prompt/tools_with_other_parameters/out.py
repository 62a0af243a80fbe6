# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import prompt


def look(customer: str) -> list[int]:
    return [17]


def refund(order: int) -> str:
    return f"order {order} is refunded"


# mypy knows no type of functions with different parameters.
support: list[Any] = [look, refund]
print(prompt("Help Ada.", tools=support).value)
