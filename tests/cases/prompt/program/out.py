# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, program, together
from runtime_support.ops import show


def double(x: float) -> float:
    return x * 2


def add(a: float, b: float) -> float:
    return a + b


x, y = together(
    later(
        program,
        "double 5, then add 3, with {double} {add}",
        double=double,
        add=add,
        returns=float,
    ),
    later(program, "add 1 and 2 with {add}", add=add, options={"temperature": 0}),
)
print(x + 1, show(y))
