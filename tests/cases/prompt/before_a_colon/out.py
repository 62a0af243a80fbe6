# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import prompt
from runtime_support.ops import show


def of(name: str) -> str:
    return name.upper()


for piece in prompt(
    """
    Tell me of {0}
    and of {1}
    """,
    of("a"),
    of("b"),
    stream=True,
).pieces():
    print(piece)

if prompt(
    """
    Is it
    {0}
    """,
    of("c"),
    returns=bool,
).value:
    print("yes")
elif prompt(
    """
    Or {0}: this
    {1}
    """,
    of("d"),
    of("e"),
    returns=bool,
).value:
    print("this")


class Row(TypedDict):
    name: str


for row in prompt(
    """
    Who is in
    {0} and in {1}?
    """,
    of("f"),
    of("g"),
    returns=Row,
    stream=True,
).drafts():
    print(show(row["name"]))

while prompt(
    """
    {0}
    {1}
    """,
    of("more"),
    of("?"),
    returns=bool,
).value:
    print("more")

print(
    1
    if prompt(
        """
        Is one
        {0}
        """,
        of("h"),
        returns=bool,
    ).value
    else 2
)
