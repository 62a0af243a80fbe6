# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import prompt
from runtime_support.ops import parse, read_text, show, to_json, write_text
from runtime_support.programs import Plan, run


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
    return abs(a.lat - b.lat) + abs(a.lon - b.lon)


def describe(city: City) -> str:
    return prompt("Describe {city} in a line.", city=city).value


def kept(path: str) -> Plan:
    return Plan.read(
        parse(read_text(path)),
        {"gap": gap, "describe": describe},
        conversions=[locate],
        pure=[describe],
    )


plan: Plan = Plan.read(
    parse('{"gap": {"a": {"City": "Oslo"}, "b": {"City": "Rome"}}}'),
    {"gap": gap, "describe": describe, "kept": kept},
    conversions=[locate],
    pure=[describe],
)
print(show(plan), show(run(plan)), show(run(kept("plan.json"))))
write_text("plan.json", to_json(plan))


def below(x: int) -> int:
    return x
