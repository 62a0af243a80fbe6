# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show

count = 3
name: str | None
name = "Ada"
data: Any = [1]
flag = count > 2
if count != 3:
    raise AssertionError
if not flag:
    raise AssertionError
if not ops.truthy(name):
    raise AssertionError
if not ops.truthy(data):
    raise AssertionError
if count > 5:
    raise AssertionError
if not (count > 1 and flag):
    raise AssertionError
if name != "Ada":
    raise AssertionError("the name is wrong")
if count >= 5:
    raise AssertionError(show(count))
if not flag:
    raise AssertionError("count is " + str(count))
