# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check
from runtime_support.ops import parse

import geo
from geo import dist, label

spot = {"x": 5, "y": 6}
print(dist(spot, {"x": 1, "y": 1}), geo.dist(spot, spot))
data: Any = parse('"text"')
print(label(check(data, str)), label("b", end="!"))
