# Compiled by saftc from in.saft; edit that file instead.
import json as j
import math

from runtime_support import ops, show

print(show(math.pi), show(math.floor(2.5)), show(j.dumps([1])))
x = ops.add(math.sqrt(4), 1)
