"""Numbers as models write them.

    read_number("12,345")      12345        read_number("85%")        Unreadable
    read_number("$1,200.50")   1200.5       read_number("5 million")  Unreadable
    read_number("12.111,123")  12111.123    number_in_prose("The answer is 42.")  42

Digits are ASCII. A percentage, a scaled number (`5k`), a range, a bound or a date is not the number
that its digits spell, so it is refused.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re
from collections.abc import Callable

from runtime_support.recovery.words import is_spoiled, without_markup, word_set

_EXPONENT = r"(?:[eE][+-]?[0-9]{1,3})?"
_GAP = "[, _'’\u00a0\u2009\u202f]"


def _without(separators: str) -> Callable[[str], str]:
    return lambda digits: re.sub(separators, "", digits)


def _european(digits: str) -> str:
    return re.sub("[. '’\u00a0\u2009\u202f]", "", digits).replace(",", ".")


def _ratio(digits: str) -> str:
    """`1/5` as decimal digits, exact where it comes out even."""
    above, below = (int(part) for part in digits.split("/"))
    return str(above // below) if above % below == 0 else repr(above / below)


# The forms of an unsigned number, the first that matches all of it counts; each with what makes
# plain digits of it. A comma before three digits groups thousands, any other is a decimal comma.
NUMBER_FORMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    (rf"(?:[0-9]+\.?[0-9]*|\.[0-9]+){_EXPONENT}", str),
    (
        rf"[1-9][0-9]{{0,2}}(?P<gap>{_GAP})[0-9]{{3}}(?:(?P=gap)[0-9]{{3}})*(?:\.[0-9]+)?",
        _without(_GAP),
    ),
    (r"[1-9][0-9]{0,2}(?:_[0-9]{3})+|[0-9]+(?:_[0-9]+)+", _without("_")),
    (r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?", _without(",")),
    (r"[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}", _european),
    (
        r"[1-9][0-9]{0,2}(?P<point>[. '’\u00a0\u2009\u202f])[0-9]{3}(?:(?P=point)[0-9]{3})*,[0-9]+",
        _european,
    ),
    (r"[0-9]+,[0-9]+", _european),
    (r"[0-9]{1,15}\s*/\s*[1-9][0-9]{0,14}", _ratio),
)

_FORMS = tuple((re.compile(pattern), plain) for pattern, plain in NUMBER_FORMS)

_CURRENCY = (
    r"(?:(?:US|C|A|NZ|HK)?\$|[€£¥₹₽₩₺₿¢]|Rs\.?|kr\.?|USD|EUR|GBP|JPY|CHF|CNY|RMB|INR|AUD|CAD|NZD|"
    r"SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|SGD|HKD|TRY|ILS|RUB|UAH)"
)
_ABOUT = r"(?i:[~≈]|about|around|roughly|approximately|approx\.?|circa|ca\.|c\.)"
_DIGITS = r"[0-9.](?:[0-9.,_'’ \u00a0\u2009\u202f/]*[0-9])?\.?"
_AFFIXED = re.compile(
    rf"(?:{_ABOUT}\s*)?(?P<sign>[+\-−–]?)\s*(?:{_CURRENCY}\s*)?(?P<sign_inside>[-−]?)"
    rf"(?P<digits>{_DIGITS}{_EXPONENT})\s*(?P<unit>[^\s0-9][^0-9]*)?"
)
_UNIT = re.compile(
    r"(?:[$€£¥₹₽₩₺₿¢°µμΩ]|°?[^\W\d_]+[²³]?)(?:[/·*.]?[^\W\d_]+[²³.]?)?(?:[ -][^\W\d_]+){0,2}\.?"
)

# Words and signs after a number that change what it says.
NOT_UNITS = word_set(
    """
    percent percentage pct per percentile permille ppm pp k K M B T G bn mn mm. tn mio mrd
    thousand million millions billion billions trillion lakh crore hundred hundreds
    thousands dozen dozens half quarter quarters third thirds fifth tenth st nd rd th e E x
    or and to plus minus more less fewer times out of if than
    """
)

_IN_PROSE = re.compile(
    rf"(?<![\w.,:/\-−–+^#])(?:{_CURRENCY}\s?)?[-−+]?(?:{_CURRENCY}\s?)?"
    rf"[0-9](?:[0-9.,_'’/]*[0-9])?{_EXPONENT}(?![0-9])"
)
_AFTER_IN_PROSE = re.compile(r"\s?(?P<word>[^\W\d_]+|[^\s\w.,;:!?)\]}*`\"'$])|-\w|(?P<attached>\w)")

_BOUNDS = frozenset("<>≤≥±×≠")

NUMBER_WORDS = word_set(
    """
    zero two three four five six seven eight nine ten eleven twelve hundred thousand million
    billion dozen half quarter minus negative between least most than over under percent
    """
)


class Unreadable(Exception):
    """The text is not one number; the reason is for the model to read."""


def read_number(text: str) -> int | float:
    """The number that the whole text is: an int where it is whole."""
    match = _AFFIXED.fullmatch(without_markup(text))
    if match is None:
        raise Unreadable("not a number")
    unit: str = match["unit"] or ""
    if unit and not _is_unit(unit.strip()):
        raise Unreadable(f"`{unit.strip()}` changes the number")
    if match["sign"] and match["sign_inside"]:
        raise Unreadable("two signs")
    number = _plain_number(match["digits"])
    negative = (match["sign"] + match["sign_inside"]) in {"-", "−", "–"}
    return -number if negative else number


def number_in_prose(text: str) -> int | float:
    """The only number that the text speaks of."""
    matches = list(_IN_PROSE.finditer(text))
    if len(matches) != 1:
        raise Unreadable(
            "the text holds several numbers" if matches else "the text holds no number"
        )
    match = matches[0]
    if text[: match.start()].rstrip()[-1:] in _BOUNDS:
        raise Unreadable("the text gives a bound, not a number")
    if any(character.isnumeric() for character in text[: match.start()] + text[match.end() :]):
        raise Unreadable("the text holds several numbers")
    if is_spoiled(text, match.start(), match.end(), NUMBER_WORDS):
        raise Unreadable("the text does not say plainly what the number is")
    after = _AFTER_IN_PROSE.match(text, match.end())
    if after and (after["word"] is None or _changes(after["word"])):
        raise Unreadable(f"`{after.group().strip()}` changes the number")
    return read_number(match.group())


def _is_unit(unit: str) -> bool:
    if _UNIT.fullmatch(unit) is None:
        return False
    words = re.findall(r"[^\W\d_]+", unit)
    return not any(_changes(word) for word in words)


def _changes(word: str) -> bool:
    return (
        word in NOT_UNITS
        or (len(word) > 1 and word.lower() in NOT_UNITS)
        or (not word.isalnum() and word not in "$€£¥₹₽₩₺₿¢°")
    )


def _plain_number(digits: str) -> int | float:
    text = digits.rstrip(".") if digits.count(".") == 1 and digits.endswith(".") else digits
    for form, plain in _FORMS:
        if form.fullmatch(text):
            return _value(plain(text))
    raise Unreadable("not a number")


def _value(digits: str) -> int | float:
    if digits.isdecimal():
        try:
            return int(digits)
        except ValueError:
            raise Unreadable("a number of too many digits") from None
    from decimal import Decimal

    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise Unreadable("a number too large")
    exact = Decimal(digits)
    whole = exact == exact.to_integral_value() if exact.adjusted() < 400 else False
    return int(exact) if whole else number
