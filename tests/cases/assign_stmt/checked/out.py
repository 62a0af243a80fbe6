# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, Literal

from runtime_support import check
from runtime_support.ops import parse


def answer() -> Any:
    return parse("42")


n: int = check(answer(), int)
names: list[str] = check(answer(), list[str])
maybe: str | None = check(answer(), str | None)
rate: float = check(answer(), float)
whatever: Any = answer()
choice: Literal["a", "b"] = check(answer(), Literal["a", "b"])
