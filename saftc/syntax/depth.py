"""Limits the depth of trees, and gives the interpreter enough stack for the deepest tree."""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

from saftc.syntax.nodes import Node
from saftc.syntax.walk import children

# The greatest depth that Python and black can handle without running out of stack.
MOST_LEVELS = 200

# Frames for recursion: each level of a tree takes several.
_FRAMES = 12_000


def depth_of(node: Node) -> tuple[Node, int]:
    """Returns the deepest node below `node`, and its depth."""
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
    """Raises the recursion limit, and pauses garbage collection, while the `with` block runs.

    The limit suits the deepest tree. Garbage collection would only take time, because a compilation
    creates many objects, drops few, and makes no cycles worth collecting.
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
