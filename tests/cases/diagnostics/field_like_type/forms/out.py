# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support.ops import show


class Counts(TypedDict):
    string: int


counts: Counts = {"string": 1}


class Words(TypedDict):
    string: list[str]
    other: int


words: Words = {"string": ["a"], "other": 1}
print(show(counts), show(words))
