# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import kind, show


def describe(x: Any) -> str:
    if x is None:
        return "nil"
    elif isinstance(x, bool):
        return "bool"
    elif type(x) is int:
        return "int"
    elif isinstance(x, float):
        return "float"
    elif isinstance(x, str):
        return "string " + x
    elif isinstance(x, list):
        return "list"
    elif isinstance(x, tuple):
        return "tuple"
    elif isinstance(x, dict):
        return "object"
    elif kind(x) == "function":
        return "function"
    return "other"


print(show([describe(x) for x in [None, True, 1, 1.5, "s", [], (), {}, ops.upper]]))
