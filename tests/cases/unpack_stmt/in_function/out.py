# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, prompt
from runtime_support.ops import show

low, high = 0, 10


def narrowed(by: int) -> tuple[Any, Any] | tuple[int, int]:
    low_, high_ = low + by, high - by
    return (low_, high_)


def fibonacci(n: int) -> list[int]:
    found = [0]
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
        found.append(a)
    return found


def with_history() -> int:
    answer: Result[str] | str
    answer, other = "none", 1
    answer = prompt("hi")
    print(show(answer.tool_calls))
    return other


print(show(narrowed(2)), low, show(fibonacci(5)), with_history())
