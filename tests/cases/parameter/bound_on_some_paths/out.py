# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


# What a read may see beside the argument begins as that. An annotation would hold for both.
def shown(amount: str, is_cents: bool) -> str:
    print("amount", amount.strip())
    amount_: str | int = amount
    if is_cents:
        amount_ = int(amount)
    print(amount_)
    return str(amount_)


def looped(x: int | float, names: list[str]) -> str:
    print(x * 2)
    # Each turn makes a text of it.
    x_: int | float | str = x
    for name in names:
        x_ = f"{x_}{name}"
    return x_ if isinstance(x_, str) else str(x_ + 1)


def back(names: str, is_one: bool) -> str:
    names_: Any = ",".join([names.strip()]).upper()
    if is_one:
        names_ = ["x"]
    return show(names_)


def tried(x: str) -> int:
    print(x.upper())
    x_: str | int = x
    try:
        x_ = int(x)
    except Exception:
        print("not a number:", x_)
    return int(x_)


def until(y: str) -> int:
    print(y.lower())
    y_: str | int = y
    while isinstance(y_, str):
        y_ = len(y_)
    return y_


print(
    shown("4", True),
    looped(1, ["a"]),
    looped(1, []),
    back("a", True),
    tried("5"),
    until("abc"),
)
