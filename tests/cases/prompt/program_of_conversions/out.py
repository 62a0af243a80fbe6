# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import program, prompt


@dataclass(frozen=True)
class City:
    name: str


@dataclass(frozen=True)
class Point:
    lat: float


@dataclass(frozen=True)
class Country:
    code: str


def locate(city: City) -> Point:
    return prompt("Where is {city}?", city=city, returns=Point).value


def lie_in(city: City) -> Country:
    print(city.name)
    return Country("no")


def gap(a: Point, b: Point) -> float:
    return a.lat - b.lat


# of the conversions, too, those that only ask a model may run together
x = program(
    "How far is Oslo from Rome? Use {gap} and {locate}.",
    gap=gap,
    locate=locate,
    pure=[locate],
    conversions=[locate, lie_in],
    returns=float,
).value
