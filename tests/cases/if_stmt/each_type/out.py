# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops


def show_all(
    flag: bool,
    maybe: bool | None,
    name: str | None,
    count: int,
    anything: Any,
    items: list[int] | None,
) -> None:
    if flag:
        print("flag")
    if maybe:
        print("maybe")
    if name is not None:
        print("name " + name)
    if ops.truthy(anything):
        print("anything")
    if items is not None:
        print(items[0])
    if count > 0:
        print("count")


show_all(True, None, "Ada", 1, 0, [1])
