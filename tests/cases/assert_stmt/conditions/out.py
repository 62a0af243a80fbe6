# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show

count = 3
name: str | None
name = "Ada"
data: Any = [1]
flag = count > 2
assert count == 3
assert flag
assert ops.truthy(name)
assert ops.truthy(data)
assert not count > 5
assert count > 1 and flag
assert name == "Ada", "the name is wrong"
assert count < 5, show(count)
assert flag, "count is " + str(count)
