"""What a compiled script does."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import Any

from worker import serve

from runtime_support import configure, prompt

URL = sys.argv[1]
os.environ["OPENAI_API_KEY"] = "none"


def prepare(case: str) -> None:
    configure(provider="openai", model="fake", base_url=f"{URL}/{case}/v1")


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
    return prompt("Describe {city}.", city="Oslo").value


async def awaited() -> str:
    return (await prompt.aio("Describe {city}.", city="Oslo")).value


def object_() -> Person:
    return prompt("Describe {name}.", name="Ada", returns=Person).value


def tools() -> str:
    return prompt("How is Oslo? Use {temperature}.", temperature=temperature).value


def result() -> Any:
    return prompt("Describe {name}.", name="Ada", returns=Person)


def stream() -> float:
    lag = None
    for piece in prompt("Describe {city}.", city="Oslo", stream=True).pieces():
        lag = lag or (time.monotonic_ns() - int(piece)) / 1e9
    return lag


def pieces() -> int:
    return sum(1 for _ in prompt("Describe {city}.", city="Oslo", stream=True).pieces())


cases = {"text": text, "object": object_, "tools": tools, "late": text}
expected = ["Oslo is cold and bright.", 36, "Oslo is cold and bright.", "Oslo is cold and bright."]
for case, wanted in zip(cases, expected, strict=True):
    prepare(case)
    found = cases[case]()
    assert getattr(found, "age", found) == wanted, (case, found)
cases |= {"busy": text, "telling": text, "stream": stream, "pieces": pieces}
prepare("pieces")
assert pieces() == 1000
PATHS = {"result": "object", "awaited": "late"}
serve({**cases, "result": result, "awaited": awaited}, lambda case: prepare(PATHS.get(case, case)))
