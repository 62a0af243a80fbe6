# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass, field
from typing import TypedDict

from runtime_support.ops import show

from typed_defaults import Level, Point, Vector


class Size(TypedDict):
    width: int
    height: int


@dataclass(frozen=True)
class Shape:
    level: Level = Level.LOW
    at: Point = field(default_factory=lambda: Point(1, 2))
    to: Vector = field(default_factory=lambda: Vector(x=1))
    size: Size = field(default_factory=lambda: Size(width=1, height=2))
    other: Size | None = field(default_factory=lambda: Size(width=3, height=4))


print(show(Shape()), show(Shape(level=Level.HIGH)))
