# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

xs = [1, 2, 3]
print(
    show([x * 2 for x in xs]),
    show([x for x in xs if x > 1]),
    show([x for x in xs if x > 1 if x < 3]),
)
print(show([(x, y) for x in xs for y in xs if x < y]))
pairs = [(1, "a"), (2, "b")]
print(show([id for id, name in pairs]), show([name + "!" for id, name in pairs]))
nested = [[y for y in [x]] for x in xs]
