# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True)
class Line:
    from_: Point
    to: Point


@dataclass(frozen=True)
class Node:
    value: int
    next: "Node | None" = None


line = Line(Point(0.0, 0.0), Point(1.0, 2.5))
node = Node(1, Node(2, None))
if node.next is not None:
    print(node.next.value + 1)
print(line.from_.x + line.to.y)
