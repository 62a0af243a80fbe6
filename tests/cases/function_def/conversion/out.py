# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import program


@dataclass(frozen=True)
class City:
    name: str


@dataclass(frozen=True)
class Point:
    lat: float
    lon: float


def locate(city: City) -> Point:
    return Point(59.9, 10.7) if city.name == "Oslo" else Point(41.9, 12.5)


def gap(a: Point, b: Point) -> float:
    return abs(a.lat - b.lat)


x = program("how far with {gap}", gap=gap, conversions=[locate], returns=float).value
print(x)
