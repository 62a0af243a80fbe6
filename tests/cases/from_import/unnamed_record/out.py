# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import check
from runtime_support.ops import parse, show

from shapes import Point, far, origin

point = origin()
print(point.x + point.y)
print(show(far(check(parse("{}"), Point))), show(far(check(parse("[]"), Point))))
points: list[Point] = []
points.append(point)
print(points[0].x)


class Point2(TypedDict):
    x: int


def width(point: Point2) -> int:
    return point["x"]


print(width({"x": 3}))
