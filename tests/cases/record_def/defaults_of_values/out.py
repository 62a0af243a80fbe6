# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass, field
from typing import Any

from runtime_support.ops import show

# A default is what it is where the record is defined, whatever becomes of its names.
names = ["a"]


def made(x: int) -> list[int]:
    return [x]


@dataclass(frozen=True)
class T:
    all: list[str] = field(default_factory=names.copy)
    more: list[int] = field(default_factory=made(3).copy)
    none: list[int] = field(default_factory=list[int])
    joined: list[str] = field(default_factory=[*names, "x"].copy)
    length: int = len(names)
    anything: Any = field(default_factory=names.copy)


names = ["b"]
print(show(T()), show(names))
