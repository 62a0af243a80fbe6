# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


# What a parameter cannot hold has a variable of its own.
def parse(amount: str) -> int:
    amount_ = int(amount.strip())
    amount_ += 1
    return amount_ * 2


def shown(names: list[str], most: int | None) -> str:
    names_ = ", ".join(name.upper() for name in names)
    if most is not None:
        return f"{names_} ({most})"
    names = [names_]
    return show(names)


print(parse(" 4 "), shown(["a"], None))
