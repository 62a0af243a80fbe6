# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check, ops


def type(x: Any) -> str:
    return "string"


def shout(x: Any) -> str:
    if type(x) == "string":
        return check(ops.add(x, "!"), str)
    return ""


print(shout(1))
