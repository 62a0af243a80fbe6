# Compiled by saftc from stations.saft; edit that file instead.
"""Weather stations: a small library, which other scripts import."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Station:
    """A weather station and what it has measured, in degrees Celsius."""

    city: str
    readings: list[float]


stations = [
    Station("Oslo", [2.5, 4.0, 3.5]),
    Station("Cairo", [29.0, 31.5, 30.0]),
    Station("Lima", [18.5, 19.0, 20.5]),
]


def station_in(city: str) -> Station:
    """The station of a city."""
    found = [station for station in stations if station.city == city]
    if found == []:
        raise AssertionError(f"there is no station in {city}")
    return found[0]


# only when this file is the program, not when it is imported
def main() -> None:
    print(f"{len(stations)} stations")


if __name__ == "__main__":
    main()
