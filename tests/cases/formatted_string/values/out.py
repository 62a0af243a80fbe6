# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Any, TypedDict

from runtime_support.ops import show

# what Python would write otherwise
xs = [1, "a"]
found: str | None = None


class Row(TypedDict):
    id: int


def about(x: Any, n: int | float, text: str, rows: list[Row]) -> str:
    return f"{show(x)} {n} {text} {show(rows)} {rows[0]['id']} {len(rows)}"


@dataclass(frozen=True)
class City:
    name: str


print(
    f"{show(xs)} {show(True)} {show(None)} {show(found)} {show(City('Oslo'))} {show((1,))} {1.5} {show(1 == 2)}"
)
print(about(None, 2, "b", [{"id": 1}]))
