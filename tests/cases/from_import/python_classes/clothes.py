from dataclasses import dataclass, field
from enum import Enum
from typing import NotRequired, TypedDict

from pydantic import BaseModel, Field


class Size(str, Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Item:
    name: str
    price: float = 0

    def label(self) -> str:
        return f"{self.name}: {self.price}"


@dataclass
class Shirt(Item):
    size: Size = Size.SMALL
    tags: list[str] = field(default_factory=list)


class Address(BaseModel):
    city: str


class Person(BaseModel):
    name: str = Field(description="the first name")
    address: Address
    friends: list["Person"] = Field(default_factory=list)


class Row(TypedDict):
    id: int
    note: NotRequired[str]


def newest() -> Shirt:
    return Shirt("linen")


def rows() -> list[Row]:
    return [{"id": 1}]
