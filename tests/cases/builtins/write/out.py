# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def show_all(values: list[Any], name: str) -> None:
    print(name, end="", flush=True)
    for value in values:
        print(show(value), end="", flush=True)
    print(" end\n", end="", flush=True)


show_all([1, "a", None], "values: ")
out = ops.write
ops.call(out, [1])
