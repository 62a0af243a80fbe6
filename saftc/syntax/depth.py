"""How deep a tree may be, and the room in the interpreter for the deepest."""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

from saftc.syntax.nodes import Node
from saftc.syntax.walk import children

# What Python and black can take without running out of stack.
MOST_LEVELS = 200

# Each level of a tree takes several frames.
_FRAMES = 12_000


def depth_of(node: Node) -> tuple[Node, int]:
    """The deepest node below `node` and how many levels below it stands."""
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
    """Room for the deepest tree that the parser lets pass, and no search for garbage meanwhile.

    A compilation makes many objects and drops few, and none in cycles worth looking for.
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
