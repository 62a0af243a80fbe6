# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Annotated

from runtime_support import later, prompt, together
from runtime_support.ops import show


@dataclass(frozen=True)
class City:
    """A place that people live in."""

    name: Annotated[str, "in English"]
    people: Annotated[int, "as counted last year"] = 0
    country: str | None = None


city, cities = together(
    later(prompt, "a city", returns=City),
    later(prompt, "three cities", returns=list[City]),
)
print(city.name, show([c.people + 1 for c in cities]))
