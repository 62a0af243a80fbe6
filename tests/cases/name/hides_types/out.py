# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

list_ = [1, 2]
str_ = "text"
int_ = 3


def go(items: list[int], text: str, n: int) -> list[str]:
    return [text for _ in items]


print(show(go(list_, str_, int_)))
