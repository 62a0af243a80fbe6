# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import check
from runtime_support.ops import parse, show

from shapes import Point as Point_
from shapes import far, origin


@dataclass(frozen=True)
class Point:
    name: str


print(origin().x)
print(show(far(check(parse("{}"), Point_))))
print(Point("here").name)
