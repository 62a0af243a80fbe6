# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import prompt


class Person(TypedDict):
    name: str
    age: int
    email: str | None
    city: str
    country: str
    tags: list[str]


person = prompt("a person", returns=Person).value
print(person["name"])
