# Compiled by saftc from city_distance.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import program, show

# A program instead of tool calls: the model answers with one composed call, which is checked as a
# whole and then run. `conv` says how a city becomes a point, so the program need not.


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
    return places[city.name]


def distance(a: Point, b: Point) -> float:
    """Roughly how far it is by road from one point to another, in kilometres."""
    return round(abs(a.lat - b.lat) * 111 + abs(a.lon - b.lon) * 80, 1)


def total(legs: list[float]) -> float:
    """The sum of the legs of a journey."""
    return float(round(sum(legs), 1))


apart = program(
    "How far is Oslo from Rome? Use {distance}.",
    distance=distance,
    conversions=[locate],
    returns=float,
).value
print("Oslo to Rome:", apart, "km")

home = "Oslo"
journey = program(
    "Take the {distance} from {home} to each of {0} and add them up with {total}.",
    ["Rome", "Cairo"],
    distance=distance,
    home=home,
    total=total,
    conversions=[locate],
    returns=float,
).value
print("to Rome and to Cairo:", journey, "km")

answer = program(
    "How far is Cairo from Rome? Use {distance}.",
    distance=distance,
    conversions=[locate],
    returns=str,
)
for call in answer.tool_calls:
    print("  ", call.tool, show(call.args))
print("Cairo to Rome:", answer.value, "km, in", answer.usage.requests, "request")
