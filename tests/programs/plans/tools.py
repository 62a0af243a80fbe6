"""The tools of the plans here: one for each way to take arguments, and some with effects."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, TypedDict


@dataclass(frozen=True)
class Spot:
    x: float
    y: int = 0


class Wide(TypedDict):
    lat: float


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def paint(colour: Colour) -> str:
    return colour.name


def mixed(colours: list[Colour]) -> Colour:
    return colours[-1]


def due(on: date, price: Decimal) -> str:
    return f"{price} by {on}"


written: list[str] = []


def note(text: str) -> int:
    written.append(text)
    return len(written)


def say(text: str) -> None:
    written.append(text)


def add(a: int, b: int) -> int:
    return a + b


def is_odd(n: int) -> bool:
    return n % 2 == 1


def whole() -> list[int]:
    return [1, 2, 3]


def mean(items: list[float]) -> float:
    return sum(items) / len(items)


def largest(*items: int) -> int:
    return max(items)


def fixed(a: int, b: int = 7, /, c: int = 1) -> int:
    return a * 100 + b * 10 + c


def named(*, word: str) -> str:
    return word


def upper(text: str) -> str:
    return text.upper()


def count(words: list[str]) -> int:
    return len(words)


def pair(of: tuple[int, str]) -> str:
    return f"{of[0]}{of[1]}"


def joined(words: tuple[str, ...]) -> str:
    return "-".join(words)


def north(where: Wide) -> float:
    return where["lat"]


def total(items: list[int | float]) -> int | float:
    return sum(items)


def level(of: Literal["low", "high"]) -> str:
    return of


def any_(of: Any) -> Any:
    return of


def x_of(spot: Spot) -> float:
    return spot.x


async def later(n: int) -> int:
    return n + 1


def main(a: int) -> int:
    return a


def words() -> list[str]:
    return ["ab", "c"]


def spots(of: list[Spot]) -> float:
    return sum(spot.x for spot in of)


class Doubling:
    def __call__(self, n: int) -> int:
        return n * 2


class Waiting:
    async def __call__(self, n: int) -> int:
        return n


double = Doubling()
wait = Waiting()


def spot_of(text: str) -> Spot:
    return Spot(float(len(text)))


conversions = [spot_of]


def booked(days: dict[date, Decimal], since: date) -> dict[date, Decimal]:
    """What was booked on or after a day."""
    return {day: amount for day, amount in days.items() if day >= since}
