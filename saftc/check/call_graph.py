"""The strongly connected components of the call graph ("rings"), callees first.

    f a(): b()                  rings(a, calls, known)      [c, b], then [a]
    f b(): c()
    f c(): b()                  b and c are a ring: each of them calls itself indirectly
"""

from collections.abc import Callable, Container, Iterable, Iterator
from typing import TypeVar

from saftc.check.names import Code

T = TypeVar("T", bound=Code)


def rings(start: T, calls: Callable[[T], Iterable[T]], known: Container[T]) -> Iterator[list[T]]:
    """Yields the rings that `start` reaches, except those in `known`.

    `calls` returns the functions that a function calls. The caller must add each ring to `known`
    before it takes the next one.
    """
    numbers = {start: 0}
    # Functions whose ring is unknown, and the ones that may begin a ring (Gabow's algorithm).
    reached, firsts = [start], [start]
    pending = [(start, iter(calls(start)))]
    while pending:
        one, called = pending[-1]
        for inner in called:
            if inner in known:
                continue
            if inner not in numbers:
                numbers[inner] = len(numbers)
                reached.append(inner)
                firsts.append(inner)
                pending.append((inner, iter(calls(inner))))
                break
            while numbers[firsts[-1]] > numbers[inner]:
                firsts.pop()
        else:
            pending.pop()
            if firsts[-1] is one:
                firsts.pop()
                ring = [reached.pop()]
                while ring[-1] is not one:
                    ring.append(reached.pop())
                yield ring
