from dataclasses import dataclass
from typing import NamedTuple

from pydantic import BaseModel, Field, model_validator


class Point(NamedTuple):
    x: int
    y: int = 0


class Order(BaseModel):
    status: str
    total: int = Field(gt=0)
    paid: int = 0

    @model_validator(mode="after")
    def _is_owed(self) -> "Order":
        if self.paid > self.total:
            raise ValueError("more is paid than is owed")
        return self


@dataclass
class Box:
    size: int
    label: str = ""


def found(name: str):
    return Box(1) if name == "box" else Order(status="open", total=3)
