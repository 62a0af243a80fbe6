# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    value: int
    left: "Tree"
    right: "Tree"


Tree = Node | None


def sum_of(tree: Tree) -> int:
    if tree is None:
        return 0
    return tree.value + sum_of(tree.left) + sum_of(tree.right)


print(sum_of(Node(1, Node(2, None, None), None)))
