"""Functions and classes of Python; that a class is made counts as free of effects."""

from dataclasses import dataclass, field
from enum import Enum

from pydantic import BaseModel, field_validator


def shout(a: str) -> str:
    """Prints at once, whoever's turn it is."""
    print("shout", a)
    return a.upper()


class Kind(Enum):
    """Refuses all other texts."""

    ONE = "w1"
    TWO = "w2"
    FIRST = "first"


@dataclass
class Plain:
    """Has no code of its own."""

    text: str
    count: int = 1

    def shouted(self) -> str:
        """Nothing that runs by itself."""
        return self.text.upper()


@dataclass
class Parcel:
    """Tells what it is asked for; refuses some texts."""

    text: str

    def __post_init__(self) -> None:
        if self.text == "w3":
            raise ValueError("no parcel of w3")

    @property
    def label(self) -> str:
        """Printed where it is asked for."""
        print("label", self.text)
        if self.text == "w0":
            raise ValueError("no label of w0")
        return f"<{self.text}>"


@dataclass
class Rated:
    """Is compared by code of its own, which nobody sees."""

    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rated) and other.text == self.text

    __hash__ = None  # type: ignore[assignment]


@dataclass
class Tagged:
    """Makes its default."""

    text: str
    tags: list[str] = field(default_factory=lambda: ["t"])


class Amount(BaseModel):
    """Refuses some texts."""

    text: str

    @field_validator("text")
    @classmethod
    def is_allowed(cls, value: str) -> str:
        """The text itself."""
        if value == "y":
            raise ValueError("no amount of y")
        return value
