# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import ops
from runtime_support.ops import show


@dataclass(frozen=True)
class Circle:
    r: float


@dataclass(frozen=True)
class Square:
    side: float


def all(
    x: int | None, name: str | None, shape: Circle | Square, names: list[str] | None
) -> None:
    print(ops.add(x, 1), show(ops.lt(2, x)), ops.neg(x))
    print(ops.upper(name), ops.len(names))
    print(ops.member(shape, "r"))
    print(ops.index(name, 0), show(ops.slice(names, 1, None)))
    for one in ops.each(names):
        print(show(one))
    print(show(ops.is_in("a", name)))


def tested(x: int | None, name: str | None, shape: Circle | Square) -> None:
    if x is not None and name is not None:
        print(x + 1, name.upper())
    if isinstance(shape, Circle):
        print(shape.r)


all(1, None, Circle(1.0), ["a"])
tested(1, None, Circle(1.0))
best: int | None = None
for x in [3, 1, 2]:
    if best is None or x > best:
        best = x
print(show(best))
