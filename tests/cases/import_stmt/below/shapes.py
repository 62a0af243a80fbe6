from enum import Enum


class Shape(Enum):
    ROUND = "round"
