# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass, field

from runtime_support.ops import require, show


@dataclass(frozen=True)
class Item:
    name: str
    count: int
    price: float
    tags: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        require(self.count > 0, f"{self.name} is not there")
        require(
            self.count < 1000,
            f"{self.name}: {self.count:,} of {self.name.upper()} at {self.price:.2f}",
        )
        require(self.count % 2 == 0, lambda: f"half of {self.count / 2}")
        require(self.count != 12, f"{self.count:.1f} is a dozen")
        require(self.count != 14, lambda: f"{self.tags[0]} is two weeks")


print(show(Item("egg", 6, 0.5)))
