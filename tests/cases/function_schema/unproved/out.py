# Compiled by saftc from in.saft; edit that file instead.
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runtime_support import check, ops
from runtime_support.ops import show


@dataclass(frozen=True)
class Step:
    name: str
    run: Callable[[int], int]


def twice(change: Callable[[int], int], start: int) -> int:
    return change(change(start))


def scaled(change: Callable[[int], float]) -> float:
    return change(2)


def half(n: float) -> float:
    return n / 2


def same(n: Any) -> Any:
    return n


def add(n: int, by: int = 1) -> int:
    return n + by


def run_all(steps: Any, start: int, tell: Callable[[str], None] | None) -> int:
    for step in [one for one in ops.each(steps)]:
        start = twice(check(step, Callable[[int], int]), start)
        if tell is not None:
            tell(f"now {start}")
    return start


# what a function takes or gives is something else, or not known: each call is checked
print(
    twice(add, 1),
    twice(check(same, Callable[[int], int]), 2),
    twice(check(ops.abs, Callable[[int], int]), -3),
    scaled(check(half, Callable[[int], float])),
    scaled(check(add, Callable[[int], float])),
)
print(run_all([add, same], 1, check(ops.print, Callable[[str], None] | None)))
found: Any = add
steps = [
    Step("add", check(found, Callable[[int], int])),
    Step("same", check(same, Callable[[int], int])),
]
print(show([step.run(3) for step in steps]))
one = add if steps[0].run(0) > 1 else same
print(twice(check(one, Callable[[int], int]), 4))
