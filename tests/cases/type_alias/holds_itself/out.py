# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import check, prompt
from runtime_support.ops import parse, show


class Tree(TypedDict):
    label: str
    children: "list[Tree]"


class A(TypedDict):
    value: int
    rest: "A | None"


class C(TypedDict):
    b: "B | None"


class B(TypedDict):
    c: "C | None"
    n: int


def depth(tree: Tree) -> int:
    deepest = 0
    for child in tree["children"]:
        deepest = max(deepest, depth(child))
    return deepest + 1


def total(list: A) -> int:
    sum = list["value"]
    rest = list["rest"]
    while rest is not None:
        sum = sum + rest["value"]
        rest = rest["rest"]
    return sum


leaf: Tree = {"label": "leaf", "children": []}
tree: Tree = {
    "label": "root",
    "children": [
        leaf,
        {"label": "x", "children": [leaf, {"label": "y", "children": []}]},
    ],
}
print(
    depth(tree),
    show([child["label"] for child in tree["children"]]),
    tree["children"][1]["children"][1]["label"],
)
print(total({"value": 1, "rest": {"value": 2, "rest": {"value": 3, "rest": None}}}))
b: B = {"c": {"b": {"n": 3, "c": None}}, "n": 2}
print(
    b["c"]["b"]["n"] if b["c"] is not None and b["c"]["b"] is not None else 0, show(b)
)
t: Tree = check(
    parse('{"label": "p", "children": [{"label": "q", "children": []}]}'), Tree
)
print(depth(t), show(tree == t))
made = prompt("A tree with two children", returns=Tree).value
print(made["children"][0]["label"])
