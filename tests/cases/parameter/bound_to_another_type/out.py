# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


# What a parameter cannot hold has a variable of its own. An annotation would hold for both.
def parse(amount: str) -> int:
    amount_ = int(amount.strip())
    amount_ += 1
    return amount_ * 2


def shown(name: str, most: int | None) -> str:
    name_: Any = len(name.upper())
    if most is not None:
        return f"{name_} ({most})"
    name_ = [name_]
    return show(name_)


print(parse(" 4 "), shown("a", None))
