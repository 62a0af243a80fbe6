# Compiled by saftc from in.saft; edit that file instead.
from typing import Annotated

from runtime_support import prompt


def weather(
    city: Annotated[str, "the city's English name"],
    day: Annotated[int, "in days from today"] = 0,
) -> str:
    """Looks up the weather."""
    return city + str(day)


x = prompt("Will it rain? Use {weather}.", weather=weather).value
print(x)
