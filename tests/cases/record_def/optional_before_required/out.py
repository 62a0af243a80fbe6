# Compiled by saftc from in.saft; edit that file instead.
import datetime as dt
from dataclasses import dataclass

from runtime_support.ops import show


@dataclass(frozen=True)
class Stay:
    """A stay, of which the arrival may be unknown."""

    arrival: dt.date | None
    guest: str
    room: int | None
    nights: int
    note: str | None = None


first = Stay(guest="Ann", nights=2, arrival=None, room=None)
second = Stay(
    nights=1,  # she leaves early
    guest="Bea",
    arrival=None,
    room=None,
)
print(show(first), show(second), show(Stay(None, "Cyd", 7, 3)))
