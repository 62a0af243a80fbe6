# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import check
from runtime_support.ops import parse, show


class LoadResultItem(TypedDict):
    id: int


def load(path: str) -> list[LoadResultItem]:
    return check(parse(path), list[LoadResultItem])


class Row(TypedDict):
    name: str


class Options(TypedDict):
    force: bool


class Entry(TypedDict):
    key: str


def save(rows: list[Row], options: Options, entries: list[Entry]) -> None:
    print(show(rows), show(options), show(entries))


class Child(TypedDict):
    age: int


children: list[Child] = []


class Side(TypedDict):
    length: float


class Box(TypedDict):
    sides: list[Side]


box: Box = {"sides": []}


class Box2(TypedDict):
    w: int


class Box3(TypedDict):
    h: int


boxes: tuple[Box2, Box3] = ({"w": 1}, {"h": 2})


class Maybe(TypedDict):
    x: int


maybe: Maybe | None = None
