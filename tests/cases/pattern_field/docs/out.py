# Compiled by saftc from in.saft; edit that file instead.
from typing import Annotated, TypedDict

from runtime_support import prompt
from runtime_support.ops import show


class Home(TypedDict):
    city: Annotated[str, "in English"]


# what is said of a field reaches the model
# an ordinary comment does not
name, age, home = prompt(
    "Get user info for {0}",
    "Alice",
    fields={
        "name": Annotated[str, "the full name"],
        "age": Annotated[int | None, "in years, rounded down"],
        "home": Annotated[Home, "where they live"],
    },
).value
print(name, show(age), show(home))
