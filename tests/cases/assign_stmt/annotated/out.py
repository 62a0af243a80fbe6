# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, Literal

count: int = 3
rate: float = 0.5
name: str = "Ada"
ready: bool = True
nothing: None = None
anything: Any = [1, "two"]
note: str | None = None
level: Literal["low", "high"] = "low"
size: int | str
size = 3
pair: tuple[int, str] = (1, "one")
names: list[str] = ["Ada", "Grace"]
none_yet: list[int] = []
