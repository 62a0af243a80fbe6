# Compiled by saftc from standard_library.saft; edit that file instead.

# The builtins that need no model: text, collections, kinds, and JSON.

import datetime as dt
import re
from decimal import Decimal
from typing import Any

from runtime_support import Failed
from runtime_support.ops import (
    append_text,
    failure,
    now,
    parse,
    read_line,
    show,
    to_json,
    today,
    unique,
)

title = "  The quick brown fox  "
words = title.strip().lower().split()
if words != ["the", "quick", "brown", "fox"]:
    raise AssertionError
print(" ".join(word[:1].upper() + word[1:] for word in words))
if "a-b-c".replace("-", "+") != "a+b+c":
    raise AssertionError
if not ("report.txt".startswith("report") and "report.txt".endswith(".txt")):
    raise AssertionError
if not ("fox" in words and "quick" in words):
    raise AssertionError

numbers = [4, 1, 3]
print(
    show(sorted(numbers)),
    show(list(reversed(numbers))),
    sum(numbers),
    min(numbers),
    max(numbers),
)
for place, number in enumerate(numbers, 1):
    print(f"{place}. {number}")
for word, number in zip(words, numbers, strict=False):
    print(word, number)
evens = [n for n in range(10) if n % 2 == 0]
if not (evens == [0, 2, 4, 6, 8] and len(evens) == 5):
    raise AssertionError

person: dict[str, Any] = {"name": "Ada", "born": 1815}
print(show(list(person)), show(list(person.values())))
if not (isinstance(person["name"], str) and isinstance(words, list)):
    raise AssertionError
if not (int("12") + round(2.6) == 15 and abs(-2.5) == 2.5 and float("1.5") == 1.5):
    raise AssertionError

text = to_json({"person": person, "tags": ["maths", "engines"]})
print(text)
print(show(parse(text)))

# whole parts, and tests of a whole list
large = [n > 3 for n in numbers]
if not (7 // 2 == 3 and any(large) and not all(large)):
    raise AssertionError
if numbers[::2] != [4, 3]:
    raise AssertionError

# lists and objects that grow
counts: dict[str, int] = {}
for letter in ["b", "a", "b"]:
    counts[letter] = counts.get(letter, 0) + 1
for letter, uses in counts.items():
    print(f"{letter} x {uses}")
longest = sorted([*words, "hippopotamus"], key=len, reverse=True)
first, second = longest[:2]
print(f"{first} is {len(first) / len(second):.0%} of {second}")

# texts by their characters and their form, and what is equal once
if not (
    re.fullmatch("[A-Z]-[0-9]+", "A-17") is not None
    and re.fullmatch("[0-9]+", "A-17") is None
):
    raise AssertionError
if unique(list("banana")) != ["b", "a", "n"]:
    raise AssertionError

# dates and exact amounts
issued = dt.date(2026, 1, 31)
due = issued + dt.timedelta(days=30)
print(f"issued on {issued:%d.%m.%Y}, due on {due}, after {show(due - issued)}")
opened = dt.datetime.fromisoformat("2026-01-31T09:30:00+01:00")
if not (opened.date() == issued and dt.time(9, 30) < dt.time(17, 0)):
    raise AssertionError
price = Decimal("19.90")
if not (
    price + price * 2 == Decimal("59.70") and round(price / 3, 2) == Decimal("6.63")
):
    raise AssertionError
if not (today() > issued and now() - opened > dt.timedelta(hours=1)):
    raise AssertionError


# a failure is caught, and told
def half(n: int) -> int:
    if n % 2 == 1:
        raise Failed(f"{n} is odd")
    return n // 2


total = 0
for n in numbers:
    try:
        total += half(n)
    except Exception as error:
        print(f"left out: {failure(error).message}")
print(total)


# a line from whoever runs it, and a file that grows
def note(path: str) -> None:
    line = read_line("A note? ")
    if line is not None:
        append_text(path, line + "\n")
