# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Literal, TypedDict

from runtime_support.ops import show


@dataclass(frozen=True)
class Circle:
    kind: Literal["circle", "disc"]
    r: float


@dataclass(frozen=True)
class Square:
    kind: Literal["square"]
    side: float


@dataclass(frozen=True)
class Dot:
    kind: Literal["dot"]


Shape = Circle | Square | Dot


@dataclass(frozen=True)
class Drawing:
    shape: Shape | None
    scale: float


class Cat(TypedDict):
    tag: Literal[1]
    name: str


class Dog(TypedDict):
    tag: Literal[2]
    age: int


def area(shape: Shape) -> float:
    if shape.kind == "square":
        return shape.side * shape.side
    if shape.kind != "dot":
        return shape.r * shape.r * 3.14
    return 0.0


def branches(shape: Shape) -> float:
    if shape.kind == "circle":
        return shape.r
    elif shape.kind == "disc" or "square" == shape.kind:
        return 2.0
    else:
        print(show(shape))
    return 1.0


def early(shape: Shape) -> float:
    if shape.kind != "square":
        return 1.0
    return shape.side


def inside(drawing: Drawing) -> float:
    if (
        drawing.shape is not None
        and drawing.shape.kind == "square"
        and drawing.shape.side > 1
    ):
        return drawing.shape.side * drawing.scale
    return 0.0


def pet(x: Cat | Dog) -> str:
    return x["name"] if x["tag"] == 1 else str(x["age"] + 1)


def sides(shapes: list[Shape]) -> list[float]:
    return [shape.side for shape in shapes if shape.kind == "square"]


print(
    area(Dot("dot")),
    branches(Circle("disc", 1.0)),
    early(Square("square", 2.0)),
    show(sides([])),
)
print(inside(Drawing(None, 2.0)), pet({"tag": 2, "age": 1}))
