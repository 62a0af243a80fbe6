"""What a compiled script does."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from worker import serve

from runtime_support import configure, prompt

URL = sys.argv[1]
os.environ["OPENAI_API_KEY"] = "none"
configure(provider="openai", model="fake")


@dataclass(frozen=True)
class Person:
    name: str
    age: int
    tags: list[str]
    email: str | None = None


def temperature(city: str) -> float:
    """Current temperature in a city, in degrees Celsius."""
    return 3.5


def text() -> str:
    return prompt("Describe {city}.", city="Oslo", options={"base_url": f"{URL}/text/v1"}).value


def object_() -> Person:
    return prompt(
        "Describe {name}.",
        name="Ada",
        returns=Person,
        options={"base_url": f"{URL}/object/v1"},
    ).value


def tools() -> str:
    return prompt(
        "How is Oslo? Use {temperature}.",
        temperature=temperature,
        options={"base_url": f"{URL}/tools/v1"},
    ).value


def late() -> str:
    return prompt("Describe {city}.", city="Oslo", options={"base_url": f"{URL}/late/v1"}).value


assert text() == tools() == "Oslo is cold and bright."
assert object_().age == 36
serve({"text": text, "object": object_, "tools": tools, "late": late})
