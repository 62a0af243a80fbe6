# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import ops
from runtime_support.ops import require, show

MOST = 5


def is_short(text: str) -> bool:
    return len(text) <= MOST


def first_of(items: list[str]) -> str:
    return items[0]


@dataclass(frozen=True)
class Self:
    self: str
    class_: str
    list: list[str]

    def __post_init__(self) -> None:
        require(is_short(self.self), "expected is_short(self)")


@dataclass(frozen=True)
class Label:
    words: list[str]
    self: Self | None = None

    def __post_init__(self) -> None:
        require(
            [word for word in self.words if not is_short(word)] == [],
            "expected [word for word in words if not is_short(word)] == []",
        )
        require(len(self.words) > 1, lambda: first_of(self.words))
        require(
            self.self is None or self.self.class_ != "",
            lambda: "the class of " + ops.member(self.self, "class"),
        )


print(show(Label(["a", "b"])), show(Self("a", "b", [])))
