# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import prompt


@dataclass(frozen=True)
class City:
    name: str


def weather(city: City) -> str:
    """The weather in a city."""
    return "rain in " + city.name


x = prompt("use {weather} for Oslo", weather=weather).value
