"""Numbers in a tree that is never changed, written by hand."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None


def insert(tree, value):
    if tree is None:
        return Tree(value)
    if value < tree.value:
        return Tree(tree.value, insert(tree.left, value), tree.right)
    return Tree(tree.value, tree.left, insert(tree.right, value))


def depth(tree):
    if tree is None:
        return 0
    return 1 + max(depth(tree.left), depth(tree.right))


def total(tree):
    return 0 if tree is None else total(tree.left) + tree.value + total(tree.right)


def work(count):
    root = None
    for i in range(count):
        root = insert(root, i * 7919 % 10007)
    return [depth(root), total(root)]
