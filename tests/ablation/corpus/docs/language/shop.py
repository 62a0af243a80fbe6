from dataclasses import dataclass
from enum import Enum


class Size(Enum):
    SMALL = "S"
    LARGE = "L"


@dataclass
class Item:
    name: str
    price: float = 0


@dataclass
class Shirt(Item):
    size: Size = Size.SMALL

    def label(self) -> str:
        return f"{self.name}, {self.size.value}"
