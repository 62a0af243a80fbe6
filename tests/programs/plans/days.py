# Compiled by saftc from days.json; edit that file instead.
import datetime as dt
from decimal import Decimal

from runtime_support.ops import show
from runtime_support.programs import coerce
from tools import booked


def main() -> dict[dt.date, Decimal]:
    return booked(
        days=coerce(
            {"2026-01-31": coerce("12.30", Decimal), "2026-02-02": coerce(2, Decimal)},
            dict[dt.date, Decimal],
        ),
        since=coerce("2026-02-01", dt.date),
    )


if __name__ == "__main__":
    print(show(main()))
