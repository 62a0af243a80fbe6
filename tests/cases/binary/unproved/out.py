# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show


def all(a: int | float, b: int | float) -> None:
    print(a + b)
    print(show([a - b, a * b, a / b]))


def remainder(a: int, b: int) -> int:
    return a % b


data = parse("1")
print(
    show(ops.add(data, 1)),
    show(ops.sub(data, 1)),
    show(ops.mul(data, 2)),
    show(ops.div(data, 2)),
    show(ops.mod(data, 2)),
)
print(show(ops.add(1, ops.mul(data, 2))))
print(show(ops.add("text ", data)))
