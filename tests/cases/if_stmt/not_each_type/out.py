# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops


def show_all(flag: bool, maybe: bool | None, name: str | None, anything: Any) -> None:
    if not flag:
        print("not flag")
    if not maybe:
        print("not maybe")
    if name is None:
        print("no name")
    else:
        print(name + "!")
    if not ops.truthy(anything):
        print("nothing")
    if not (flag and name is not None):
        print("not both")


show_all(False, False, "Ada", None)
