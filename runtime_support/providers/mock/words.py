"""What the mock knows, as data: plausible values, series of things, and words that give a sign."""

from __future__ import annotations

from typing import Any

COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}

# Words that begin with a capital and name nobody.
_NOT_NAMES = """
    I A An The This That These There It We You He She They My Our Your His Her Their Its
    Hello Hi Dear Hey Thanks Thank Please Regards Yes No Not And Or But If When While Since After
    Before As At By For From In Of On To With Is Are Was Were Do Does Did Has Have Had Can Could
    How What Why Where Who Which Call Use Give Get Return Reply Then Each Every All Add Make Write
    Extract Find Read Say Tell Name Date Subject Invoice Number Total Seller Note Re JSON
    Today Yesterday Tomorrow Monday Tuesday Wednesday Thursday Friday Saturday Sunday
    January February March April May June July August September October November December
"""
NOT_NAMES = frozenset(_NOT_NAMES.split())

# By the last word of a field's name, where the text says nothing of it.
PLAUSIBLE: dict[str, Any] = {
    "email": "alice@example.com",
    "mail": "alice@example.com",
    "city": "Oslo",
    "country": "Norway",
    "date": "2025-01-31",
    "time": "12:00",
    "phone": "+47 22 00 00 00",
    "url": "https://example.com",
    "name": "Alice",
    "title": "A short title",
    "subject": "A short title",
    "reason": "it fits best",
    "summary": "A short summary.",
    "description": "A short description.",
    "comment": "Check what happens when this fails.",
    "finding": "Check what happens when this fails.",
    "note": "Nothing else to note.",
    "currency": "EUR",
    "language": "English",
    "age": 30,
    "year": 2025,
    "count": 3,
    "quantity": 1,
    "price": 9.5,
    "total": 9.5,
    "amount": 9.5,
    "score": 0.9,
    "confidence": 0.9,
    "temperature": 20,
    "line": 1,
}

_SERIES = {
    "colour color colours colors": "red green blue yellow violet orange black white",
    "fruit fruits": "apple pear plum cherry fig orange banana",
    "city cities": "Oslo Rome Cairo Lima Kyoto Paris London Bergen",
    "animal animals": "cat dog owl fox hare horse cow",
    "name names people person": "Alice Bob Carol Dan Eve",
    "item items thing things product products": "pen book lamp chair desk",
}
SERIES: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = tuple(
    (frozenset(triggers.split()), tuple(members.split())) for triggers, members in _SERIES.items()
)
PLAIN_SERIES = ("one", "two", "three", "four", "five")

_BILLING = "invoice price pay paid payment refund charge charged bill cost"
_BUG = "crash crashes error broken fails bug exception wrong traceback down"
_QUESTION = "how what why when where who question"

# Choices, and questions of yes or no, are decided by such words in the text.
_SIGNS = {
    "money": f"{_BILLING} euro dollar",
    "price": f"{_BILLING} costs",
    "billing": _BILLING,
    "accounting": _BILLING,
    "finance": _BILLING,
    "spam": "free win winner prize click offer lottery viagra",
    "urgent": "fire down outage asap immediately urgent broken",
    "high": "fire down outage asap immediately urgent critical security crash select password sql",
    "critical": "fire down outage critical security breach",
    "medium": "try except finally deprecated slow warning",
    "bug": _BUG,
    "engineering": _BUG,
    "technical": _BUG,
    "feature": "add support please would could wish feature",
    "question": _QUESTION,
    "support": _QUESTION,
    "positive": "love great good excellent happy thanks wonderful nice",
    "happy": "love great good excellent happy thanks wonderful nice",
    "negative": "hate bad terrible awful angry broken wrong worst",
    "angry": "hate bad terrible awful angry worst",
    "english": "the and is of with",
    "german": "der die das und nicht ist mit",
    "french": "le la les et est une dans",
    "spanish": "el los las y es una con",
    "norwegian": "og ikke er det som av på",
}
SIGNS: dict[str, frozenset[str]] = {word: frozenset(said.split()) for word, said in _SIGNS.items()}

LANGUAGES = ("English", "German", "French", "Spanish", "Norwegian")

# What is chosen when nothing speaks for any option.
NOTHING_SPECIAL = frozenset(("other", "neutral", "none", "unknown", "low", "general", "normal"))
