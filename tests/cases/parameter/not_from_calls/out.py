# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops, prompt
from runtime_support.ops import parse, show


# never called
def unused(x: Any) -> Any:
    return ops.member(x, "name")


# passed on
def size(x: Any) -> int:
    return ops.len(x)


def apply(change: Any, x: str) -> Any:
    return ops.call(change, x)


print(show(apply(size, "abc")), size([1]))


# a tool
def look_up(city: Any) -> str:
    return "sunny in " + show(city)


print(look_up("Oslo"))
print(prompt("Use {look_up}.", look_up=look_up).value)


# one call passes any value
def price(row: Any) -> Any:
    return ops.member(row, "price")


print(show(price({"price": 1})), show(price(parse('{"price": 2}'))))


# only what is empty, or nil
def show_all(rows: Any, end: Any = None) -> None:
    for row in ops.each(rows):
        print(show(ops.member(row, "id")), show(end))


show_all([])


# it tells by itself what it is given
def area(shape: Any) -> Any:
    if ops.member(shape, "kind") == "circle":
        return ops.mul(ops.member(shape, "r"), ops.member(shape, "r"))
    return ops.mul(ops.member(shape, "w"), ops.member(shape, "h"))


print(show(area({"kind": "circle", "r": 2})))


def double(x: Any) -> Any:
    if type(x) is int:
        return x * 2
    return ops.add(x, x)


print(show(double("a")))


# it gives what it takes
def first(xs: Any) -> Any:
    return ops.index(xs, 0)


print(show(ops.add(first([1]), 1)), ops.upper(first(["a"])))


# it assigns something else
def doubled(xs: Any) -> int:
    xs = ops.len(xs) * 2
    return xs


print(doubled([1]))
