# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import check
from runtime_support.ops import parse, show


@dataclass(frozen=True)
class City:
    name: str


def locate(city: City) -> tuple[float, float]:
    return (1.0, 2.0)


def load(text: str) -> City:
    return check(parse(text), City)


print(show(locate(City("Oslo"))), load("{}").name)
