"""What one would write for `dynamic.saft`."""

from typing import Any


def squares(count: Any) -> Any:
    return [n * n for n in count]


def names(row: Any) -> Any:
    return row["name"] + "!"


print(squares([0, 1, 2]), names({"name": "Ada"}))
