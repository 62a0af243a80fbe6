# Compiled by saftc from in.saft; edit that file instead.
import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from runtime_support.ops import (
    kind,
    now,
    require,
    show,
    to_date,
    to_datetime,
    to_decimal,
    to_duration,
    to_time,
    today,
)


def total(lines: list[Decimal]) -> Decimal:
    return sum(lines, Decimal(0))


@dataclass(frozen=True)
class Invoice:
    number: str
    issued: dt.date
    due: dt.date | None
    at: dt.datetime
    lines: list[Decimal]
    rate: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        require(sum(self.lines, Decimal(0)) > 0, "lines are positive")


def late(invoice: Invoice) -> bool:
    if invoice.due is None:
        return False
    return today() - invoice.due > dt.timedelta(days=30)


def main() -> None:
    d = dt.date(2026, 1, 31)
    x = Decimal("12.30")
    y = x * 2 + 1
    print(d, d.year, d.weekday(), y, f"{d:%d %B %Y} {x:,.2f} {d} {show(now())}")
    print(
        show([d]),
        d + dt.timedelta(days=3),
        show(d - dt.date(2026, 1, 1)),
        total([x, y]),
    )
    print(total([]), d.isoformat(), max(d, today()), show(Decimal("1") == 1))
    z: Decimal = Decimal(3)
    t = "2026-02-01"
    e = to_date(t)
    print(
        show(to_datetime(t + "T09:30:00Z")),
        to_time("0" + "9:30"),
        show(to_duration("P" + "1D")),
        to_decimal("1" + ".5"),
    )
    print(z, show(e > d), kind(e), show(type(e) is dt.date), show(sorted([e, d])))
    start = now()
    print(
        show(now() - start < dt.timedelta(seconds=5)),
        dt.time(9, 30),
        dt.datetime.fromisoformat("2026-01-31T10:00:00Z").hour,
    )
    for when in [d, e]:
        print(when)


if __name__ == "__main__":
    main()
