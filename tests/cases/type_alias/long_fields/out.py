# Compiled by saftc from in.saft; edit that file instead.
from typing import Annotated, Literal, TypedDict

from runtime_support.ops import show


class City(TypedDict):  # beside
    name: str


class Place(TypedDict):
    """Several lines
    with deeper
      ones.
    """

    name: Annotated[
        str,
        "What the people who live there call it, in their own words and in their own language",
    ]
    kind: Literal[
        "a long one of several words", "another long one of several words", "short"
    ]


# What lies in the mailbox
#
# of the house.
Letter = TypedDict(
    "Letter",
    {
        "zip code": Literal[
            "a long one of several words", "another long one of several words", "short"
        ]
    },
)

here: Place = {"name": "Oslo", "kind": "short"}
city: City = {"name": "Oslo"}
letter: Letter = {"zip code": "short"}
print(show(here), show(city), show(letter))
