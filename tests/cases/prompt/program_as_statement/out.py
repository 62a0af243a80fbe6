# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import program
from runtime_support.ops import show


def act(x: int) -> None:
    print("did", x)


def result(x: int) -> Any:
    return program("Use {act} for {x}.", act=act, x=x).value


r = program("Use {act} once.", act=act).value
print(show(result(3)), show(r))
