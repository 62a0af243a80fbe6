"""What can be read out of a text for a field, going by the field's name.

    text_in("seller", "Seller: Ada Ltd")                 "Ada Ltd"
    number_in("age", "Bob is 41 years old")              41
    rows_in("hammer   24.00 EUR\\nTotal   24.00 EUR")      [("hammer", 1, 24.0)]
"""

from __future__ import annotations

import re
from typing import TypeAlias

# Words, how many of them, and the number.
Row: TypeAlias = tuple[str, int | None, float]

_HEADERS = re.compile(r"\A(?:[A-Z][\w-]*: .*\n)+\n?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NUMBER = r"-?\d+(?:\.\d+)?"
_ROW = re.compile(
    rf"^\W*(?:(\d+) ?x )?([^\W\d][^\n:]*?)(?: {{2,}}|\t+|: ) *"
    rf"({_NUMBER})(?: ?[A-Z]{{3}}| ?[€$£%])?$",
    re.MULTILINE,
)
_COUNTED = re.compile(r"\b(\d+) ([a-z]+)\b")
_TOTAL = re.compile(r"(?:sub)?total|sum|balance", re.IGNORECASE)

_EMAIL = r"[\w.+-]+@[\w-]+\.[\w.-]*\w"
_URL = r"https?://[^\s\"<>]+[\w/]"
_FILE = r"[\w/-]+\.[a-z]{1,4}\b"
_PRICE = r"(\d+(?:\.\d+)?) ?(?:[A-Z]{3}\b|[€$£])|[€$£] ?(\d+(?:\.\d+)?)"

_NOTHING = r"(?!)"
_FORMS = {
    "email": _EMAIL,
    "mail": _EMAIL,
    "url": _URL,
    "link": _URL,
    "file": _FILE,
    "path": _FILE,
    "date": r"\d{4}-\d{2}-\d{2}",
    "phone": r"\+\d[\d ]{6,}\d",
    "currency": r"\b(?:EUR|USD|NOK|SEK|DKK|GBP|CHF|JPY)\b",
    "city": r"\b(?:in|from|near|to) ([A-Z][a-z]+)\b",
    "number": r"\b\d[\w/-]*",
    "id": r"\b\d[\w-]*",
}

_NUMBER_FORMS = {
    "age": r"(\d+)[ -]years?[ -]old|\baged? (\d+)",
    "line": r"^@@ -\d+(?:,\d+)? \+(\d+)",
    "year": r"\b((?:1[5-9]|20)\d\d)\b",
    "percent": r"(\d+(?:\.\d+)?) ?%",
    "price": _PRICE,
    "amount": _PRICE,
    "cost": _PRICE,
    "total": _PRICE,
}


def stem_of(name: str) -> str:
    """The word of a field's name that says most: the last one."""
    return name.lower().rpartition("_")[2]


def text_in(name: str, material: str, about: str = "") -> str | None:
    """The text that the material holds for a field: behind a label, or by its form.

    The form is that of the field's name, or of a word in `about`, which describes it.
    """
    labelled = _behind_label(name, material)
    if labelled is not None:
        return labelled
    for word in (stem_of(name), *re.findall(r"[a-z]+", about.lower())):
        found = re.search(_FORMS.get(word, _NOTHING), material)
        if found:
            return found[found.lastindex or 0]
    return None


def number_in(name: str, material: str) -> float | None:
    """The number that the material holds for a field: beside its name, or by its form."""
    for label in _labels(name):
        words = re.escape(label)
        pattern = rf"\b{words}\b\D{{0,12}}?({_NUMBER})|({_NUMBER}) {words}s?\b"
        if found := re.search(pattern, material, re.IGNORECASE):
            return float(found[1] or found[2])
    form = re.search(_NUMBER_FORMS.get(stem_of(name), _NOTHING), material, re.MULTILINE)
    if form:
        return float(next(group for group in form.groups() if group is not None))
    return None


def rows_in(material: str) -> list[Row]:
    """Lines of words and a number, as lists of prices have them."""
    return [
        (label.strip(), int(count) if count else None, float(number))
        for count, label, number in _ROW.findall(material)
        if not _TOTAL.match(label)
    ]


def counted_in(material: str) -> list[Row]:
    """Numbers of things, as rows: "3 red and 2 green" gives red 3, green 2."""
    return [(word, None, float(digits)) for digits, word in _COUNTED.findall(material)]


def title_of(material: str) -> str:
    """A short name for a text: its subject, its first line, or its first words."""
    subject = _behind_label("subject", material) or _behind_label("title", material)
    if subject:
        return subject
    first = next((line.strip("# ") for line in material.splitlines() if line.strip()), "")
    return first if len(first.split()) <= 10 else " ".join(first.split()[:8])


def summary_of(material: str) -> str:
    """The gist of a text: its subject when it has one, else the first sentence of its body."""
    subject = _behind_label("subject", material)
    if subject:
        return subject
    body = " ".join(_HEADERS.sub("", material).split())
    return " ".join(_SENTENCE_END.split(body)[0].split()[:20])


def _labels(name: str) -> list[str]:
    whole = name.lower().replace("_", " ")
    return list(dict.fromkeys((whole, stem_of(name)))) if name else []


def _behind_label(name: str, material: str) -> str | None:
    for label in _labels(name):
        pattern = rf"\b{re.escape(label)} ?[:=] ?([^\n,;]+)"
        if found := re.search(pattern, material, re.IGNORECASE):
            return found[1].strip()
    return None
