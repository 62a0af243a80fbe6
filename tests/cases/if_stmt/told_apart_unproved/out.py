# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Any, Literal

from runtime_support import ops
from runtime_support.ops import show


@dataclass(frozen=True)
class Circle:
    kind: Literal["circle"]
    r: float


@dataclass(frozen=True)
class Square:
    kind: str
    side: float


def size(shape: Circle | Square) -> float:
    if shape.kind == "circle":
        return ops.member(shape, "r")
    return ops.member(shape, "side")


def same(value: Any) -> Any:
    return value


def other(shape: Circle | Square) -> float | None:
    if shape.kind == same("circle"):
        return ops.member(shape, "r")
    return None


print(size(Circle("circle", 1.0)), show(other(Circle("circle", 1.0))))
