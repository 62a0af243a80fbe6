# Compiled by saftc from in.saft; edit that file instead.
from typing import Annotated

from runtime_support.ops import show


def shout(words: list[str], end: str = "!") -> None:
    for word in words:
        print(word.upper() + end)


def pair(a: int | float, b: str | None = None) -> tuple[int | float, str | None]:
    return (a, b)


def average(numbers: list[int] | list[float]) -> float:
    total: int | float = 0
    for number in numbers:
        total = total + number
    return total / len(numbers)


def outer(text: str) -> int:
    def inner(width: int) -> int:
        return len(text) + width

    return inner(3)


def greet(name: Annotated[str, "the first name"]) -> str:
    """Who it is."""
    return "hi " + name


shout(["a", "b"])
for line in ["c d"]:
    shout(words=line.split(), end="?")
print(show(pair(1)), show(pair(2.5, b="x")))
print(average([1, 2]), average([1.5]))
print(outer("abc"))
print(show([greet(name) for name in ["Ada"] if greet(name) != ""]))
