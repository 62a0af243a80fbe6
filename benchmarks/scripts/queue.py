"""A breadth-first search, written by hand."""

from collections import deque


def neighbours(n, most):
    return [m for m in [n * 2, n * 2 + 1] if m < most]


def work(most):
    queue = deque([1])
    seen = 0
    while queue:
        one = queue.popleft()
        seen += 1
        queue.extend(neighbours(one, most))
    return seen
