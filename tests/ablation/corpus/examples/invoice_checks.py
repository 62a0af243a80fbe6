"""Checks of invoices, in plain Python: rules of a record in invoices.saft call them."""

import re
from datetime import date


def is_invoice_number(text: str) -> bool:
    """Whether a text can be the number of an invoice: it has a digit, and no blanks."""
    return re.fullmatch(r"(?=.*\d)[\w/.-]{3,20}", text) is not None


def is_trading_day(day: date) -> bool:
    """Whether the company existed on that day."""
    return date(2019, 4, 1) <= day
