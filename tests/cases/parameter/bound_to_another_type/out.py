# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check
from runtime_support.ops import show


# What a parameter cannot hold has a variable of its own. An annotation would hold for both.
def parse(amount: Any) -> int:
    amount = int(amount.strip())
    amount += 1
    return check(amount * 2, int)


def shown(name: Any, most: int | None) -> str:
    name = len(name.upper())
    if most is not None:
        return f"{name} ({most})"
    name = [name]
    return show(name)


print(parse(" 4 "), shown("a", None))
