# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

names = ["a", "b"]
ages = [1, 2]
data = parse("[1]")
print(
    show(list(zip(names, ages, strict=False))),
    show(list(enumerate(names))),
    show(list(enumerate(names, 1))),
    show(ops.zip(names, data)),
    show(ops.enumerate(data)),
)
pairs = list(zip(names, ages, names, strict=False))
for name, age, again in pairs:
    print(name, age + 1, again)
for i, x in ops.enumerate(data, 1):
    print(i + 1, show(x))
for i, (name, age) in enumerate(zip(names, ages, strict=False)):
    print(i, name, age)
print(show([i + 1 for i, name in enumerate(names, 1)]))
