# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def price(row: Any) -> Any:
    return ops.member(row, "price")


def deep(row: Any) -> Any:
    return ops.member(ops.member(ops.member(row, "a"), "b"), "c")


print(show(price({"price": 3})), show(deep({"a": {"b": {"c": 1}}})))
