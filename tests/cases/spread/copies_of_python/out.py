# Compiled by saftc from in.saft; edit that file instead.
import dataclasses
from dataclasses import dataclass
from typing import Any

from runtime_support import ops
from runtime_support.ops import changed, show

from shop import Box, Order, Point, found


@dataclass(frozen=True)
class Circle:
    name: str
    radius: float


@dataclass(frozen=True)
class Square:
    name: str
    side: float


def moved(point: Point, by: int) -> Point:
    return point._replace(x=point.x + by)


def pay(order: Order, sum: int) -> Order:
    return changed(
        order,
        paid=order.paid + sum,  # the model looks at the whole copy
        status="paid",
    )


def renamed(shape: Circle | Square, name: str) -> Circle | Square:
    return changed(shape, name=name)


def sized(thing: Any, field: str) -> Any:
    small = ops.changed(thing, {field: 3})
    return ops.changed(small, {"label": "small"})


print(
    show(moved(Point(1), 2)),
    show(renamed(Circle("a", 1.0), "b")),
    dataclasses.replace(Box(1), size=2).size,
)
order = pay(Order(status="open", total=3), 2)
print(
    order.paid, show(sized(found("box"), "size")), show(sized({"label": "?"}, "size"))
)
try:
    pay(order, 2)
except Exception:
    print("more is paid than is owed")
print(show(ops.member(ops.changed(found("order"), {"status": "done"}), "status")))
