# Compiled by saftc from geography.saft; edit that file instead.
"""Cities and distances: a small library for programs, which other scripts import."""

from dataclasses import dataclass


@dataclass(frozen=True)
class City:
    name: str


@dataclass(frozen=True)
class Point:
    lat: float
    lon: float


places = {
    "Oslo": Point(59.9, 10.7),
    "Rome": Point(41.9, 12.5),
    "Cairo": Point(30.0, 31.2),
}


def locate(city: City) -> Point:
    """Where a city lies, in degrees."""
    if city.name not in places:
        raise AssertionError(f"no place called {city.name}")
    return places[city.name]


def distance(a: Point, b: Point) -> float:
    """Roughly how far it is by road from one point to another, in kilometres."""
    return round(abs(a.lat - b.lat) * 111 + abs(a.lon - b.lon) * 80, 1)


def total(legs: list[float]) -> float:
    """The sum of the legs of a journey."""
    return float(round(sum(legs), 1))


# only when this file is the program, not when it is imported
def main() -> None:
    print(f"knows {', '.join(places)}")


if __name__ == "__main__":
    main()
