# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass, field
from typing import Any

from runtime_support.ops import show

base = "x"


@dataclass(frozen=True)
class Note:
    text: str = f"{base}!"
    tags: list[str] = field(default_factory=list[str])


def greet(name: str = f"{base}?") -> dict[str, Any]:
    if name == "":
        raise AssertionError(f"no name: {name}")
    pass
    return {"text": f"{name}", "tags": [f"{name}{n}" for n in range(2)]}


f = 2
print(show(greet()), Note().text, show(f"{f}" == "2"), f"{base}" + f"{f}", len(f"{f}"))
if f"{base}" in ["x"]:
    base += f"{f}"
