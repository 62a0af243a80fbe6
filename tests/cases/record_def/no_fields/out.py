# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support.ops import show


@dataclass(frozen=True)
class Nothing:
    pass


x = Nothing()
print(show(x == Nothing()))
