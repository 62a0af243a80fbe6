# Compiled by saftc from in.saft; edit that file instead.
"""What Python's own library gives is known by its stubs; of what these leave open, nothing is."""

import os
import re
import string
from collections import Counter, deque
from datetime import date
from heapq import heappop
from json import dumps, loads
from math import ceil, floor, pi, prod, sqrt
from os import environ, getcwd, getenv, path
from random import choice, randint, random
from statistics import mean

from runtime_support import ops
from runtime_support.ops import show


def roll(sides: int) -> int:
    return randint(1, sides)


def of_both(names: list[str]) -> str:
    return choice(names) + choice("ab")


def middle(numbers: list[int]) -> int | float:
    return mean(numbers)


def diagonal(a: int | float, b: int | float) -> float:
    return sqrt(a * a + b * b)


def home() -> str | None:
    return getenv("HOME")


print(
    roll(6) + 1, of_both(["x", "y"]), middle([1, 2]) + 1, diagonal(3, 4), show(home())
)
print(floor(2.5) + ceil(2.1), prod([1, 2]), pi * 2, show(random() < 1))
print(show(prod([1, 2.5])), heappop([3, 4]) + 1)
print(date.today().year + 1, dumps([1]) + "!", show(loads("[1]")))
print(
    path.join(getcwd(), "x") + "y",
    path.splitext("a.b")[1] + "",
    show(os.path.exists("x")),
)
print(re.sub("a", "b", "aa") + "", show(re.findall("a", "aa")), string.digits + "")
print(show(ops.index(environ, "HOME")), os.sep, show(deque([1]).popleft()))
for word, count in Counter(["a", "b", "a"]).most_common(1):
    print(show(word), count + 1)
