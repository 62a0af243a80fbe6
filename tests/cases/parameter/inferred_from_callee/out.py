# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops


def square(x: int | float) -> int | float:
    return x * x


def twice(y: int | float) -> int | float:
    return square(y) + square(y)


def shout(words: Any) -> None:
    for word in ops.each(words):
        print(ops.upper(word))


print(twice(3))
shout(["a", "b"])
