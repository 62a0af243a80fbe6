# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import parse, show


def describe(person):
    return ops.add(
        ops.add(
            ops.add(
                ops.add(ops.member(person, "name"), ", "),
                show(ops.add(ops.member(person, "age"), 1)),
            ),
            " ",
        ),
        ops.index(ops.member(person, "tags"), 0),
    )


def total(rows):
    sum_ = 0
    for row in ops.each(rows):
        sum_ = ops.add(sum_, ops.mul(ops.member(row, "price"), 2))
    return sum_


def flag(x: Any) -> int:
    if ops.truthy(x):
        return 1
    return 2


def shout(texts: Any) -> list[str]:
    return [ops.upper(text) for text in ops.each(texts)]


data: Any = parse("[]")
row = parse("{}")
print(
    show(total(data)),
    show(describe(data)),
    flag(data),
    show(shout(data)),
    show(ops.member(row, "x")),
    show(ops.index(row, "y")),
    show(ops.call(ops.index(data, 0), 1)),
)
first, second = ops.unpack(data, 2)
known = [1, 2]
print(known[0] + 1, show(first))
