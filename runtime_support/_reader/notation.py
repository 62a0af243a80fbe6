"""Text to JSON data, also where the text is only nearly JSON.

    read_data('{"name": "Ada"}')               Data({"name": "Ada"}, ())
    read_data("{name: 'Ada',} // done")        Data({"name": "Ada"}, ("comments removed", ...))
    read_data('{"name": Ada}')                 NotData: unquoted text at `Ada}`

JSON is read by a library. What is not JSON is parsed here, in one pass: comments, stray or missing
commas, other quotes, unquoted keys, the words of Python, line breaks in strings. If that fails, a
second pass takes quotes without a backslash for a part of their string, as long as they come in
pairs. Numbers with a fraction or an exponent keep their digits.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isinf
from typing import Any, TypeAlias

from runtime_support._dates_decimals import Digits
from runtime_support._jsontext import parse_unambiguous
from runtime_support._values import holds_halves
from runtime_support.errors import CheckError

DEEPEST = 100
LONGEST_NUMBER = 1_000
CUT = "the reply ends in the middle"

# Tells whether an object may have a key; None where it may have any.
IsKey: TypeAlias = Callable[[str], bool] | None

# By the quote that opens a string: what may close it.
_CLOSING = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“”", "‘": "’", "‚": "‘’", "«": "»"}
_STOPS = {quote: re.compile(rf"[{quote}{ends}\\]") for quote, ends in _CLOSING.items()}
_BRACKETS = {"{": "}", "[": "]"}
_CLOSERS = frozenset("]}")
# Quantifiers are possessive: no pattern goes back over the text.
_BLANKS = re.compile(r"\s*+")
_COMMENT = re.compile(r"//[^\n]*+|#[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/")
# What takes the place of data.
_LEFT_OUT = re.compile(
    r"\.\.\.|…|\b(?:omitted|truncated|remaining|rest|etc|more (?:items|entries|rows))\b", re.IGNORECASE
)
_BARE_KEY = re.compile(r"[^\W\d_][\w-]*+")
_KEY_AHEAD = re.compile(
    r"""(?:["'`“„‘‚«]([^"'`“”„‘’‚«»\n]{1,100}+)["'`“”’»]|([^\W\d_][\w-]*+))\s*+:"""
)
_VALUE_AHEAD = re.compile(r"""[{\[\]"'`“„‘‚«]|-?+[0-9]|(?:true|false|null|True|False|None)\b""")
_WORD = re.compile(r"[^\s,:{}\[\]()\"'`“”„‘’‚«»#/]++")
_NUMBER = re.compile(r"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+")
_THOUSANDS = re.compile(r"[0-9]{3}(?![0-9])")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_PYTHON_WORDS: dict[str, Any] = {"True": True, "False": False, "None": None}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {
    **{sign: sign for sign in "\"'`\\/"},
    **{"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"},
}


@dataclass(frozen=True, slots=True)
class Data:
    """JSON data, what was repaired to read it, and where its text ends."""

    value: Any
    repairs: tuple[str, ...]
    end: int


class NotData(CheckError):
    """The text is no data, or broken."""


def read_data(text: str, is_key: IsKey = None) -> Data:
    """Returns the data that the whole text is; NotData with the reason if it is none."""
    try:
        return Data(parse_unambiguous(text, keeps_digits=True), (), len(text))
    except CheckError:
        return read_data_at(text, 0, is_key, is_whole=True)


def read_data_at(text: str, start: int, is_key: IsKey = None, *, is_whole: bool = False) -> Data:
    """Returns the data that begins at this place, or NotData."""
    try:
        return _Parser(text, start, is_key, keeps_quotes=False).parse(is_whole)
    except NotData as first:
        try:
            found = _Parser(text, start, is_key, keeps_quotes=True).parse(is_whole)
        except NotData:
            raise first from None
        if any(sign in text[found.end :] for sign in "\"'{}[]"):
            raise first from None  # the string with the quotes may go on there
        return found


class _Parser:
    """Parses one value. If it `keeps_quotes`, those inside of a string need no backslash."""

    def __init__(self, text: str, start: int, is_key: IsKey, *, keeps_quotes: bool) -> None:
        self.text = text
        self.position = start
        self.is_key = is_key
        self.keeps_quotes = keeps_quotes
        self.repairs: dict[str, None] = {}
        self.open: list[str] = []  # what closes the lists and objects around the position

    def parse(self, is_whole: bool) -> Data:
        value = self.value()
        end = self.position
        if is_whole and self.next_sign():
            raise self.failure("more text")
        if holds_halves(value):
            raise NotData("half of a surrogate pair is not a character")
        return Data(value, tuple(self.repairs) or ("blanks replaced",), end)

    def value(self) -> Any:
        sign = self.next_sign()
        if sign in _BRACKETS:
            return self.container(_BRACKETS[sign])
        if sign in _CLOSING:
            return self.string(sign)
        word = _WORD.match(self.text, self.position)
        if word is None or _LEFT_OUT.match(word[0]):
            raise self.failure("no value" if word is None else "data is left out")
        return self.word(word[0])

    def word(self, word: str) -> Any:
        """The value of a number, or of a word of JSON or Python."""
        if word in _WORDS or word in _PYTHON_WORDS:
            self.position += len(word)
            if word in _PYTHON_WORDS:
                self.repairs["words of Python replaced"] = None
            return {**_WORDS, **_PYTHON_WORDS}[word]
        if _NUMBER.fullmatch(word) is None:
            raise self.failure("unquoted text")
        if isinf(number := Digits(word)) or len(word) > LONGEST_NUMBER:
            raise self.failure("a number that is too large")
        self.position += len(word)
        return int(word) if word.lstrip("-").isdigit() else number

    def container(self, closing: str) -> Any:
        """The list or object that begins here."""
        self.open.append(closing)
        if len(self.open) > DEEPEST:
            raise NotData("nested too deeply")
        self.position += 1
        items: list[Any] = []
        members: dict[str, Any] = {}
        while True:
            commas = self.commas()
            is_over = self.next_sign() == closing
            has_some = bool(items or members)
            if commas != (has_some and not is_over):
                self.note_commas(commas, items)
            if is_over:
                break
            if closing == "]":
                items.append(self.value())
                continue
            key = self.key()
            if key in members:
                raise NotData(f"an object has the key `{key}` twice")
            members[key] = self.value()
        self.open.pop()
        self.position += 1
        return items if closing == "]" else members

    def commas(self) -> int:
        """How many commas stand here, which are then behind the position; so are brackets that
        close nothing.
        """
        count = 0
        while (sign := self.next_sign()) == "," or (sign in _CLOSERS and sign not in self.open):
            count += sign == ","
            self.position += 1
            if sign != ",":
                self.repairs["stray brackets removed"] = None
        return count

    def note_commas(self, commas: int, items: list[Any]) -> None:
        """Notes that there is not one comma; without any, texts may be one, and `1 234` is."""
        if not commas and items and isinstance(items[-1], str):
            raise self.failure("a comma is missing")
        if not commas and items and _THOUSANDS.match(self.text, self.position):
            raise self.failure("a comma is missing")
        self.repairs["stray commas removed" if commas else "missing commas added"] = None

    def key(self) -> str:
        """The key that stands here; the position is then behind its colon."""
        sign = self.next_sign()
        bare = None if sign in _CLOSING else _BARE_KEY.match(self.text, self.position)
        if bare is not None:
            self.repairs["unquoted keys"] = None
            self.position, key = bare.end(), bare[0]
        elif sign in _CLOSING:
            key = self.string(sign, is_key=True)
        else:
            raise self.failure("data is left out" if sign in ".…" else "no key")
        if self.next_sign() != ":":
            raise self.failure(f"no colon behind the key `{key}`")
        self.position += 1
        return key

    def string(self, quote: str, *, is_key: bool = False) -> str:
        """The string that begins here."""
        text, start = self.text, self.position + 1
        if text.startswith(quote * 2, start):
            raise self.failure("a text in triple quotes")
        at, is_open = start, False
        while (stop := _STOPS[quote].search(text, at)) is not None:
            at = stop.end()
            if stop[0] == "\\":
                at += 1
            elif stop[0] not in _CLOSING[quote]:
                is_open = self.keeps_quotes
            elif not self.is_apostrophe(at) and (
                is_key or not self.keeps_quotes or self.ends_string(at, is_open)
            ):
                break
            elif not self.is_apostrophe(at):
                is_open = self.inner_quote(start, at, is_open)
        else:
            raise NotData(f"{CUT} of a string")
        if quote != '"':
            self.repairs["other quotes for double quotes"] = None
        self.position = at
        return self.unescaped(text[start : at - 1])

    def is_apostrophe(self, at: int) -> bool:
        """Whether the sign before this place is one between two letters."""
        text = self.text
        is_sign = text[at - 1] in "'’" and at < len(text)
        return is_sign and text[at - 2].isalpha() and text[at].isalpha()

    def ends_string(self, at: int, is_open: bool) -> bool:
        """Whether a quote before this place ends its string, by what follows."""
        if is_open:
            return False  # it is the partner of a quote inside
        position = self.end_of_blanks(at)
        sign = self.text[position : position + 1]
        if not self.open:
            return not sign
        if sign == ",":
            position = self.end_of_blanks(position + 1)
            is_next = self.text.startswith(self.open[-1], position) or self.is_member(position)
            return is_next
        if sign == self.open[-1]:
            return self.closes(position)
        return self.open[-1] == "}" and position > at and self.is_member(position)

    def is_member(self, position: int) -> bool:
        """Whether an item of the list, or a key of the object, begins here; NotData where a key
        does that is none of the schema.
        """
        if self.open[-1] == "]":
            return _VALUE_AHEAD.match(self.text, position) is not None
        ahead = _KEY_AHEAD.match(self.text, position)
        if ahead is None:
            return False
        if self.is_key is None or self.is_key(ahead[1] or ahead[2]):
            return True
        raise self.failure("a quote without a backslash")

    def closes(self, position: int) -> bool:
        """Whether lists and objects end here, up to a comma or the end of the outermost."""
        for closing in reversed(self.open):
            if not self.text.startswith(closing, position):
                return self.text.startswith(",", position)
            position = self.end_of_blanks(position + 1)
        return True

    def inner_quote(self, start: int, at: int, is_open: bool) -> bool:
        """Whether a quote in a string that began at `start` waits for its partner after the one
        before this place; NotData where it can be no part of the string.
        """
        before, after = self.text[at - 2] if at - 1 > start else " ", self.text[at : at + 1]
        self.repairs["quotes without a backslash"] = None
        if is_open and not before.isspace() and not after.isalnum():
            return False
        if not is_open and not before.isalnum() and after.strip():
            return True
        if not is_open and before.isdigit() and after.isspace():
            return False  # inches
        raise self.failure("a quote without a backslash")

    def unescaped(self, text: str) -> str:
        """The text with what its escapes stand for."""
        if any(sign in text for sign in "\n\r\t"):
            self.repairs["line breaks in strings"] = None
        if "\\" not in text:
            return text
        for escape in _ESCAPE.finditer(text):
            if len(escape[1]) == 1 and escape[1] not in _ESCAPES:
                raise NotData(f"`{escape[0]}` is no escape: write a backslash as two")
        plain = _ESCAPE.sub(lambda one: _ESCAPES.get(one[1]) or chr(int(one[1][1:], 16)), text)
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def next_sign(self) -> str:
        """The next sign behind blanks and comments, or an empty text at the end."""
        self.position = self.end_of_blanks(self.position)
        while (comment := _COMMENT.match(self.text, self.position)) is not None:
            if _LEFT_OUT.search(comment[0]):
                raise NotData("a comment takes the place of data")
            self.repairs["comments removed"] = None
            self.position = self.end_of_blanks(comment.end())
        return self.text[self.position : self.position + 1]

    def end_of_blanks(self, position: int) -> int:
        match = _BLANKS.match(self.text, position)
        return position if match is None else match.end()

    def failure(self, what: str) -> NotData:
        """The error for what stands here."""
        found = self.text[self.position : self.position + 30]
        return NotData(f"{what} at `{found}`" if found.strip() else CUT)
