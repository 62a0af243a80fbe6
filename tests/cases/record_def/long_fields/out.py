# Compiled by saftc from in.saft; edit that file instead.

# Fields that do not fit, defaults of several lines, a comment beside.

from dataclasses import dataclass, field
from typing import Literal

from runtime_support import prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Letter:
    greeting: str = prompt(
        """
        a greeting
        for a friend
        """,
    ).value


@dataclass(frozen=True)
class Kind:  # note
    of: Literal[
        "an unusually long word of a schema", "another one that is as long", "short"
    ]


@dataclass(frozen=True)
class Numbers:
    given: list[int] = field(
        default_factory=lambda: [
            1,
            2,
        ]
    )


print(Letter().greeting, show(Kind("short")), show(Numbers()))
