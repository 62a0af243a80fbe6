# Compiled by saftc from in.saft; edit that file instead.
import json
import math
from dataclasses import dataclass

from runtime_support import prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Point:
    x: int = -1


def area(r: float, shape: "Shape | None" = None) -> float:
    return math.pi * r * r


def kind_of(point: Point) -> "Shape":
    return Shape.ROUND


print("before", json.dumps(1))
# runs here
import base64  # noqa: E402, F401

import sib  # noqa: E402
from shapes import Shape  # noqa: E402

print(area(1.0), show(kind_of(Point())), sib.x)
# nothing names it
from collections import OrderedDict  # noqa: E402, F401

if True:
    import string

    print(string.digits)
a = prompt("one").value
import platform  # noqa: E402

b = prompt("two").value
print(a, b, platform.node())
