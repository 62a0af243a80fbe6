# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, TypedDict

from runtime_support import ops


class Node(TypedDict):
    next: Any


def drain(flag: bool | None, node: Node | None) -> None:
    while flag:
        flag = None
    while node is not None:
        node = None
    queue: Any = None
    while ops.truthy(queue):
        queue = None


drain(True, {"next": 1})
