# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import show

flag = True
maybe: bool | None = None
name: str | None
name = "a"
x = 3
print(
    show(not flag),
    show(not maybe),
    show(not ops.truthy(name)),
    show(flag),
    show(x != 3),
    show(not (flag and maybe is True)),
)
a = not flag
b = not maybe
