# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support.ops import kind, show


@dataclass(frozen=True)
class City:
    name: str
    country: str | None = None


oslo = City("Oslo")
rome = City("Rome", "Italy")
named = City(country="France", name="Paris")
print(
    oslo.name, show(rome.country), show(named), show(oslo == City("Oslo")), kind(oslo)
)
if rome.country is not None:
    print(rome.name + " in " + rome.country)
