# Compiled by saftc from in.saft; edit that file instead.
import re
from dataclasses import dataclass

from runtime_support import ops
from runtime_support.ops import require, show, unique


def is_code(text: str) -> bool:
    return re.fullmatch("[A-Z]-[0-9]+", text) is not None


def longest(words: list[str]) -> list[str]:
    return unique([list(word)[0] for word in words])


@dataclass(frozen=True)
class Order:
    code: str
    word: str

    def __post_init__(self) -> None:
        require(
            re.fullmatch("[A-Z]-[0-9]+", self.code) is not None,
            "a code has a letter and a number",
        )
        require(ops.truthy(re.search("a", self.word)), "the word has an a")


print(show(is_code("A-1")), show(longest(["ab", "ac"])), Order("A-1", "bar").code)
