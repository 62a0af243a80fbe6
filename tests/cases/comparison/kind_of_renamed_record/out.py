# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Any

from runtime_support.ops import show


@dataclass(frozen=True)
class class_:
    __saft_kind__ = "class"
    x: int


def is_class(v: Any) -> bool:
    return isinstance(v, class_)


print(show(is_class(class_(1))), show(is_class(1)))
