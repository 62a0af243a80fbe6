"""The depth limit of a tree, and an interpreter with enough stack for the deepest one."""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

from saftc.syntax.nodes import Node
from saftc.syntax.walk import children

# The depth that Python and black can handle without running out of stack.
MOST_LEVELS = 200

# Each level of a tree takes several frames.
_FRAMES = 12_000


def depth_of(node: Node) -> tuple[Node, int]:
    """The deepest node below `node`, and its depth."""
    deepest, levels = node, 0
    pending = [(node, 0)]
    while pending:
        current, level = pending.pop()
        if level > levels:
            deepest, levels = current, level
        pending.extend((child, level + 1) for child in children(current))
    return deepest, levels


@contextmanager
def fitting_interpreter() -> Generator[None, None, None]:
    """Raises the recursion limit for the deepest tree, and disables garbage collection meanwhile.

    A compilation creates many objects, drops few, and makes no cycles worth collecting.
    """
    limit, collects = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(max(limit, _FRAMES))
    gc.disable()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if collects:
            gc.enable()
