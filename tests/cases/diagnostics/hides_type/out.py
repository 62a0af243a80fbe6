# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

date = str


@dataclass(frozen=True)
class decimal:
    value: str


def issued(day: str) -> str:
    return day


print(issued("today"), decimal("1"))
