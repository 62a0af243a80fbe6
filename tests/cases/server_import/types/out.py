# Compiled by saftc from in.saft; edit that file instead.
from typing import Annotated, Any, Literal, TypedDict

from runtime_support.mcp import server
from runtime_support.ops import show

types = server("types")
EItem = TypedDict("EItem", {"id": int, "two words": str | None})


class EveryKind(TypedDict):
    ok: bool
    rest: list[Any] | None


def every_kind(
    a: float,
    b: bool,
    c: Literal["low", "high", 3] | None,
    d: Literal["x"],
    e: list[EItem],
    f: dict[str, int],
    g: tuple[str, int],
    h: str | list[str] | None,
    i: list[str] | None = None,
    j: dict[str, Any] | None = None,
    k: int = -3,
    day: Annotated[str | None, 'a day (format "date")'] = None,
) -> EveryKind:
    if i is None:
        i = ["a"]
    if j is None:
        j = {"x": -1}
    return types.call(
        "every_kind",
        a=a,
        b=b,
        c=c,
        d=d,
        e=e,
        f=f,
        g=g,
        h=h,
        i=i,
        j=j,
        k=k,
        day=day,
        returns=EveryKind,
    )


class Tree(TypedDict):
    children: Annotated[list[Any] | None, 'as JSON Schema {"$ref": "#/$defs/Tree"}']


def unsaid(
    a: Annotated[
        Any,
        'of both kinds (as JSON Schema {"allOf": [{"type": "string"}, {"minLength": 2}]})',
    ],
    b: Tree,
    c: str,
) -> dict[str, Any]:
    return types.call("unsaid", a=a, b=b, c=c, returns=dict[str, Any])


made = every_kind(
    1.0, True, "low", "x", [{"id": 1, "two words": "a"}], {"n": 1}, ("a", 2), None
)
print(show(made["ok"]), show(made["rest"]))
print(show(unsaid("ab", {"children": []}, "c")))
