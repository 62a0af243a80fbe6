from dataclasses import dataclass, field

from pydantic import BaseModel


class Item(BaseModel):
    name: str
    price: float = 0


@dataclass
class Box:
    label: str
    size: int = field(default=1, kw_only=True)
