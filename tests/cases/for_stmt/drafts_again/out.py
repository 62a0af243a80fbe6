# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from runtime_support import check, prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Address:
    city: str
    zip: int | None = None


@dataclass(frozen=True)
class Person:
    name: str
    home: Address
    moods: dict[str, int]
    kind: Literal["cat", "dog"]
    parent: "Person | None" = None


def show_city(draft: dict[str, Any]) -> None:
    print(show(draft["home"]["city"] if draft["home"] is not None else "somewhere"))


def name_of_first() -> str | None:
    for draft in prompt(
        "Make up a person.",
        returns=Person,
        stream=True,
        options={"temperature": 0},
    ).drafts():
        show_city(draft)
        if draft["name"] is not None:
            return check(draft["name"], str | None)
    return None


def all_rows(question: str) -> list[Address]:
    found: list[Address] = []
    rows_so_far = list[Address]()
    for item in prompt(
        "{question:raw}", question=question, returns=list[Address], stream=True
    ).items():
        rows_so_far = [*rows_so_far, item]
        rows = rows_so_far
        # The newest is the last one.
        print(rows[-1].city)
        found = rows
    rows_so_far_2 = list[Address]()
    for item in prompt(
        "{question:raw} And more?",
        question=question,
        returns=list[Address],
        stream=True,
    ).items():
        rows_so_far_2 = [*rows_so_far_2, item]
        rows = rows_so_far_2
        print(len(rows))
    return found


print(show(name_of_first()), show(all_rows("Where?")))
draft: Any
for draft in prompt(
    "Another person, or nobody.", returns=Person | None, stream=True
).drafts():
    print(show(draft["name"] if draft is not None else "nobody"))
for draft in prompt("Anything.", returns=Any, stream=True).drafts():
    print(show(draft))


class Draft(TypedDict):
    title: str
    pages: int


for draft in prompt("A book.", returns=Draft, stream=True).drafts():
    print(show(draft["title"]), show(draft["pages"]))
for number in prompt("A number.", returns=int, stream=True).drafts():
    print(number + 1)
