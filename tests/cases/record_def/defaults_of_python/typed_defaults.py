from dataclasses import dataclass
from enum import Enum

from pydantic import BaseModel


class Level(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Point:
    x: int
    y: int


class Vector(BaseModel):
    x: int
