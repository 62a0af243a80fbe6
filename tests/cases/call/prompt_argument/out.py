# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import prompt, show


def double(x: int) -> int:
    return x * 2


def echo(x: Any) -> Any:
    return x


print(double(prompt("a number", returns=int).value))
print(show(echo(prompt("a text").value)))
