# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import approve, ops, prompt
from runtime_support.ops import kind


def refund(order: str) -> str:
    return order


careful = approve(refund)
print(careful("A-1"), kind(careful))


def offered(tool: Any) -> str:
    return prompt("Pay it back with {tool}.", tool=tool).value


print(offered(approve(refund)), offered(approve(ops.upper)))
