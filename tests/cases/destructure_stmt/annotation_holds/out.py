# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, Literal

from runtime_support import check, prompt
from runtime_support.ops import show

name, age, rate, tags = prompt(
    "Who is it?",
    fields={"name": str, "age": int | None, "rate": float, "tags": list[str]},
).value
age = None
rate = 2.0
tags = [*tags, name]
name = prompt("A better name than {name}?", name=name).value
print(name, show(age), rate, show(tags))


def again() -> int:
    count: Any
    unit: str
    count, unit = prompt(
        "How much?",
        fields={"count": int, "unit": Literal["g", "kg"]},
    ).value
    unit = "kg"
    count += 1
    (count,) = prompt("And in words?", fields={"count": str}).value
    count = "many"
    print(count, unit)
    (count,) = prompt("And again?", fields={"count": int}).value
    return check(count, int)


print(again())
