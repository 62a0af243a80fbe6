# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Any

from runtime_support import check, ops
from runtime_support.ops import show


@dataclass(frozen=True)
class City:
    name: str
    size: int


def go(data: Any, city: Any) -> Any:
    c = City(check(ops.member(data, "name"), str), check(ops.member(data, "size"), int))
    return ops.add(ops.member(city, "name"), c.name)


print(show(go({"name": "a", "size": 1}, City("b", 2))))
