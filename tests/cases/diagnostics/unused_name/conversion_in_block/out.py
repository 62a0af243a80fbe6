# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import program

from geo import Point
from geo import locate as place


def far(a: Point, b: Point) -> float:
    from geo import gap, locate  # noqa: F401

    Point = 3
    return program(
        "How far is Oslo from Rome? {gap}",
        gap=gap,
        conversions=[place],
        returns=float,
    ).value


if True:
    from geo import locate as locate_there  # noqa: F401
print(far(Point(1.0, 2.0), Point(2.0, 3.0)))
