# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check
from runtime_support.ops import show


# What a read may see beside the argument begins as that. An annotation would hold for both.
def shown(amount: Any, is_cents: bool) -> str:
    print("amount", amount.strip())
    if is_cents:
        amount = int(amount)
    print(amount)
    return str(amount)


def looped(x: Any, names: list[str]) -> str:
    print(x * 2)
    # Each turn makes a text of it.
    for name in names:
        x = f"{x}{name}"
    return check(x if isinstance(x, str) else str(x + 1), str)


def back(names: Any, is_one: bool) -> str:
    names = ",".join([names.strip()]).upper()
    if is_one:
        names = ["x"]
    return show(names)


def tried(x: Any) -> int:
    print(x.upper())
    try:
        x = int(x)
    except Exception:
        print("not a number:", x)
    return int(x)


def until(y: Any) -> int:
    print(y.lower())
    while isinstance(y, str):
        y = len(y)
    return check(y, int)


print(
    shown("4", True),
    looped(1, ["a"]),
    looped(1, []),
    back("a", True),
    tried("5"),
    until("abc"),
)
