# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support.ops import show


class A(TypedDict):
    id: int


a: A = {"id": 1}


class B(TypedDict):
    pass


b: B = {}
C = TypedDict("C", {"two words": int, "id": int})
c: C = {"two words": 1, "id": 2}


class ListItem(TypedDict):
    name: str


class D(TypedDict):
    inner: A
    list: list[ListItem]


d: D = {"inner": {"id": 1}, "list": [{"name": "a"}]}
E = TypedDict("E", {"class": int})
e: E = {"class": 1}
print(
    a["id"], show(b), c["two words"], d["inner"]["id"], d["list"][0]["name"], e["class"]
)
