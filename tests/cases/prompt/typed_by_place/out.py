# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import overlap, prompt


def double(x: int) -> int:
    return x * 2


def vowels(word: str) -> int:
    return prompt("vowels in {word}", word=word, returns=int).value


def either(flag: bool) -> float:
    return prompt("a number", returns=float).value if flag else 1.0


print(double(prompt("a number", returns=int).value), vowels("abc"), either(True))
xs: list[int] = [
    prompt("one", returns=int).value,
    2,
    prompt("three", returns=int).value,
]


class Row(TypedDict):
    id: int


row: Row = {"id": prompt("an id", returns=int).value}
pair: tuple[int, bool] = (
    prompt("one", returns=int).value,
    prompt("yes?", returns=bool).value,
)


def ask_x(x: int) -> int:
    return prompt("the square of {x}", x=x, returns=int).value


squares: list[int] = list(overlap(ask_x, [1, 2]))
total = 1 + double(prompt("more", returns=int).value)
