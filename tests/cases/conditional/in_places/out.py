# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

xs = [1, 2]
flag = len(xs) > 1
print(
    show([x if x > 1 else 0 for x in xs]), (xs if flag else [])[0], -(1 if flag else 2)
)
for x in xs if flag else []:
    print(x)
ys = [x for x in (xs if flag else [])]
