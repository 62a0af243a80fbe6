# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

flag = True
name: str | None
name = "a"
data = parse("0")
x = flag and ops.truthy(name)
y = ops.truthy(data) or flag
z = flag and not ops.truthy(data) or ops.truthy(name)
print(show(x), show(y), show(z))
if flag and (ops.truthy(data) or ops.truthy(name)):
    print("yes")
