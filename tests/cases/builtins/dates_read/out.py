# Compiled by saftc from in.saft; edit that file instead.
import datetime as dt
from decimal import Decimal

from runtime_support.ops import to_date, to_datetime, to_decimal, to_duration, to_time


def read_all(
    text: str, left: str, price: str
) -> tuple[dt.date, dt.datetime, dt.time, dt.timedelta, Decimal]:
    stamp = to_datetime(text)
    start = dt.time(8, 0) if text == "" else to_time(text[11:16])
    return (to_date(text[:10]), stamp, start, to_duration(left), to_decimal(price))
