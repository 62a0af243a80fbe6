# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import later, prompt, together
from runtime_support.ops import show


class F(TypedDict):
    g: int


class E(TypedDict):
    f: F


class D(TypedDict):
    e: E


class C(TypedDict):
    d: D


class B(TypedDict):
    c: C


class A(TypedDict):
    b: B


class Deep(TypedDict):
    a: A


def first(deep: Deep, is_known: bool) -> D | None:
    if not is_known:
        return None
    return deep["a"]["b"]["c"]["d"]


class F2(TypedDict):
    h: list[list[list[list[list[list[list[int]]]]]]]


class E2(TypedDict):
    f: F2


class D2(TypedDict):
    e: E2


class C2(TypedDict):
    d: D2


class B2(TypedDict):
    c: C2


class A2(TypedDict):
    b: B2


class Beside(TypedDict):
    a: A2


deep, beside = together(
    later(prompt, "What is there?", returns=Deep),
    later(prompt, "And beside it?", returns=Beside),
)
d = first(deep, True)
if d is not None:
    print(
        d["e"]["f"]["g"],
        deep["a"]["b"]["c"]["d"]["e"]["f"]["g"],
        show(beside["a"]["b"]["c"]["d"]["e"]["f"]["h"][0][0][0]),
    )
