# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import parse, show

row: Any = parse('{"class": 1}')
point = {"class": 1, "def": 2}
print(show(ops.member(row, "class")), point["class"] + point["def"])
