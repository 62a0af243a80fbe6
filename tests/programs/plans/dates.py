# Compiled by saftc from dates.json; edit that file instead.
import datetime as dt
from decimal import Decimal

from runtime_support.programs import coerce
from tools import due


def main() -> str:
    return due(on=coerce("2026-01-31", dt.date), price=coerce("1.50", Decimal))


if __name__ == "__main__":
    print(main())
