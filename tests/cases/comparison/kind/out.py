# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import kind, show


def kinds(x: Any, n: int | bool, text: str | None) -> None:
    print(
        show(isinstance(x, str)),
        show(not isinstance(x, list)),
        show(type(n) is int),
        show(text is None),
        show(type(x) is int),
    )
    print(show(kind(x) == "dataframe"), show(kind(x) in ["int", "float"]))


kinds(1, True, None)
