# Compiled by saftc from in.saft; edit that file instead.
import os
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


# Without an argument the parameter is its default.
def greet(name: str | None = None) -> str:
    return ops.add("hi ", name)


def greet_given(name: str | None = None) -> str:
    if name is None:
        raise AssertionError("who is it?")
    return "hi " + name


def greet_guest(name: Any = None) -> Any:
    if name is None:
        name = "guest"
    return ops.add("hi ", name)


def greet_user(name: str | None = os.environ.get("USER")) -> str:
    return ops.add("hi ", name)


def half(n: float) -> float:
    return n / 2


def halved(n: float = 1.0) -> float:
    return half(n)


print(
    greet("Ann"),
    greet(None),
    greet_given("Ben"),
    show(greet_guest()),
    greet_user(),
    halved(),
    halved(3.0),
)
