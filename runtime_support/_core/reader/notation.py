"""Parses text as JSON data, also if it is only nearly JSON.

    read_data('{"name": "Ada"}')            Data({"name": "Ada"}, ())
    read_data("{name: 'Ada',} // done")     Data({"name": "Ada"}, ("unquoted keys", ...))
    read_data('{"name": Ada}')              NotData: unquoted text at `Ada}`

A library parses strict JSON. For other text, a first pass here accepts comments, stray or missing
commas, other quotes, unquoted keys, Python's words (`True`), and line breaks in strings. If this
pass fails, a second pass also accepts unescaped quotes inside a string. Numbers with a fraction or
an exponent keep their digits.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re
from typing import Any

from runtime_support._core.reader.data import Data, IsKey, NotData, read_json
from runtime_support._values.json_text import parse_unambiguous
from runtime_support.errors import CheckError

DEEPEST = 100

# Opening quotes, with the quotes that may close them. Quantifiers are possessive: no pattern
# backtracks.
_CLOSING = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“”", "‘": "’", "‚": "‘’", "«": "»"}
_STOPS = {quote: re.compile(rf"[{quote}{ends}\\]") for quote, ends in _CLOSING.items()}
_BRACKETS = {"{": "}", "[": "]"}
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_BETWEEN = re.compile(r"(?:\s++|(?://|#)[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)++")
_WORD = re.compile(r"[^\s,:{}\[\]()\"'`“”„‘’‚«»#/]++")
_BARE_KEY = re.compile(r"[^\W\d_][\w-]*+")
_THOUSANDS = re.compile(r"[0-9]{3}(?![0-9])")
# Marks of omitted data.
_LEFT_OUT = re.compile(
    r"\.\.\.|…|\b(?:omitted|truncated|remaining|rest|etc|more (?:items|entries|rows))\b",
    re.IGNORECASE,
)
# Escapes of quotes that JSON does not have, other escapes, and characters that need an escape.
_UNLIKE_JSON = re.compile(r"\\(?P<quote>['`])|\\.|(?P<raw>[\"\n\r\t])", re.DOTALL)
_RAW = {'"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Texts after a string: closing brackets with a comma or the end behind them, or only the end.
_ENDS = re.compile(r"(?:\s*+,?+\s*+[}\]])++\s*+(?:,|\Z)|\s*+\Z")
_COMMA = re.compile(r"\s*+(,?+)\s*+")
_KEY_AHEAD = re.compile(
    r"""(?:["'`“„‘‚«]([^"'`“”„‘’‚«»\n]{1,100}+)["'`“”’»]|([^\W\d_][\w-]*+))\s*+:"""
)
_VALUE_AHEAD = re.compile(r"""[{\[\]"'`“„‘‚«]|-?+[0-9]|(?:true|false|null|True|False|None)\b""")


def read_data(text: str, is_key: IsKey = None) -> Data:
    """Parses the whole text. Raises NotData with the reason if the text is not data."""
    try:
        return read_json(text)
    except NotData:
        found = read_data_at(text, 0, is_key)
        if text[found.end :].strip():
            raise NotData(f"more text at `{text[found.end :][:30]}`") from None
        return found


def read_data_at(text: str, start: int, is_key: IsKey = None) -> Data:
    """Parses the data that begins at `start`, and skips comments after the data.

    Raises NotData if the data is invalid.
    """
    try:
        return _Parser(text, start, is_key, keeps_quotes=False).parse()
    except NotData as failure:
        try:
            return _Parser(text, start, is_key, keeps_quotes=True).parse()
        except NotData:
            raise failure from None


class _Parser:
    """Parses one value. If `keeps_quotes`, quotes inside a string need no backslash."""

    def __init__(self, text: str, start: int, is_key: IsKey, *, keeps_quotes: bool) -> None:
        self.text = text
        self.position = start
        self.is_key = is_key
        self.keeps_quotes = keeps_quotes
        self.repairs: dict[str, None] = {}
        self.open: list[str] = []  # closing brackets of the enclosing lists and objects

    def parse(self) -> Data:
        value = self.value()
        self.next_sign()
        return Data(value, tuple(self.repairs), self.position)

    def value(self) -> Any:
        sign = self.next_sign()
        if sign in _BRACKETS:
            return self.container(_BRACKETS[sign])
        if sign in _CLOSING:
            return self.string(sign)
        found = _WORD.match(self.text, self.position)
        word = "" if found is None else found[0]
        self.note("words of Python replaced", word in _PYTHON_WORDS)
        try:
            value = parse_unambiguous(_PYTHON_WORDS.get(word, word), keeps_digits=True)
        except CheckError:
            raise self.failure("data left out" if _LEFT_OUT.match(word) else "no value") from None
        self.position += len(word)
        return value

    def container(self, closing: str) -> Any:
        """Parses the list or object that begins at the current position."""
        self.open.append(closing)
        if len(self.open) > DEEPEST:
            raise NotData("nested too deeply")
        self.position += 1
        found: dict[Any, Any] = {}
        last: Any = None
        while not self.is_over(closing, len(found), last if closing == "]" else None):
            key = len(found) if closing == "]" else self.key()
            if key in found:
                raise NotData(f"an object has the key `{key}` twice")
            found[key] = last = self.value()
        self.open.pop()
        self.position += 1
        return list(found.values()) if closing == "]" else found

    def is_over(self, closing: str, count: int, last: Any) -> bool:
        """Returns whether the list or object ends here.

        If it does not end, skips the comma before the next item.

        `count` is the number of items so far. `last` is the last item of a list.
        """
        commas = 0
        while (sign := self.next_sign()) == "," or (sign in ("}", "]") and sign not in self.open):
            commas += sign == ","
            self.position += 1
            self.note("stray brackets removed", sign != ",")  # they have no opening brackets
        is_joined = count > 0 and not commas and sign != closing
        self.note("stray commas removed", commas > (count > 0 and sign != closing))
        self.note("missing commas added", is_joined)
        if is_joined and last is not None and self.may_be_one(last):
            raise self.failure("a comma is missing")
        return sign == closing

    def may_be_one(self, last: Any) -> bool:
        """Whether the next text may belong to the last item of a list, as in `1 234`."""
        is_apart = self.text[self.position - 1].isspace() and not str(last).endswith(" ")
        is_apart = is_apart and _THOUSANDS.match(self.text, self.position) is None
        return not isinstance(last, list | dict) and not is_apart

    def key(self) -> str:
        """Parses a key of an object, and the colon after the key."""
        sign = self.next_sign()
        bare = _BARE_KEY.match(self.text, self.position)
        if bare is not None:
            self.note("unquoted keys", True)
            self.position, key = bare.end(), bare[0]
        elif sign in _CLOSING:
            key = self.string(sign, is_key=True)
        else:
            raise self.failure("data left out" if sign in ".…" else "no key")
        if self.next_sign() != ":":
            raise self.failure(f"no colon behind the key `{key}`")
        self.position += 1
        return key

    def string(self, quote: str, *, is_key: bool = False) -> str:
        """Parses the string that begins at the current position."""
        start = at = self.position + 1
        if self.text.startswith(quote * 2, start):
            raise self.failure("a text in triple quotes")
        is_open = False
        while (stop := _STOPS[quote].search(self.text, at)) is not None:
            at = stop.end() + (stop[0] == "\\")
            if stop[0] == "\\" or self.is_apostrophe(at):
                continue
            if stop[0] not in _CLOSING[quote]:
                is_open = self.keeps_quotes
            elif is_key or not self.keeps_quotes or self.ends_string(at, is_open):
                break
            else:
                is_open = self.inner_quote(start, at, is_open)
        else:
            raise NotData("the reply ends in the middle of a string")
        self.note("other quotes for double quotes", quote != '"')
        self.position = at
        return self.unescaped(self.text[start : at - 1])

    def is_apostrophe(self, at: int) -> bool:
        """Whether the character before `at` is an apostrophe between two letters."""
        before, sign, after = self.text[at - 2], self.text[at - 1], self.text[at : at + 1]
        return sign in "'’" and before.isalpha() and after.isalpha()

    def ends_string(self, at: int, is_open: bool) -> bool:
        """Whether the quote before `at` ends its string, judged by the text after the quote.

        If a pair of quotes inside the string is open (`is_open`), the quote closes this pair and
        not the string. Raises NotData if a key follows that is not in the schema.
        """
        if is_open or _ENDS.match(self.text, at) is not None:
            return not is_open
        comma = _COMMA.match(self.text, at)
        if comma is None or comma.end() == at or not self.open:
            return False
        if self.open[-1] == "]":
            return bool(comma[1]) and _VALUE_AHEAD.match(self.text, comma.end()) is not None
        key = _KEY_AHEAD.match(self.text, comma.end())
        if key is not None and self.is_key is not None and not self.is_key(key[1] or key[2]):
            raise self.failure("a quote without a backslash")
        return key is not None

    def inner_quote(self, start: int, at: int, is_open: bool) -> bool:
        """Whether a pair of quotes inside the string is open at the position `at`.

        A quote ends at `at`, and `is_open` says whether a pair was open before this quote. The
        string begins at `start`. Raises NotData if the quote cannot be part of the string.
        """
        before, after = self.text[at - 2] if at - 1 > start else " ", self.text[at : at + 1]
        self.note("quotes without a backslash", True)
        if is_open and not before.isspace() and not after.isalnum():
            return False
        if not is_open and not before.isalnum() and after.strip():
            return True
        if not is_open and before.isdigit() and after.isspace():
            return False  # the quote means inches
        raise self.failure("a quote without a backslash")

    def unescaped(self, text: str) -> str:
        """Decodes the text between two quotes."""
        self.note("line breaks in strings", any(sign in text for sign in "\n\r\t"))
        plain = _UNLIKE_JSON.sub(lambda one: one["quote"] or _RAW.get(one[0], one[0]), text)
        try:
            return parse_unambiguous(f'"{plain}"')
        except CheckError:
            raise NotData(
                f"an escape that JSON does not have, or half of a surrogate pair in `{text[:30]}`"
            ) from None

    def next_sign(self) -> str:
        """Skips blanks and comments, and returns the next character, or "" at the end."""
        found = _BETWEEN.match(self.text, self.position)
        if found is not None:
            self.position = found.end()
            if _LEFT_OUT.search(found[0]):
                raise NotData("a comment takes the place of data")
            self.note("comments removed", bool(found[0].strip()))
        return self.text[self.position : self.position + 1]

    def note(self, repair: str, is_made: bool) -> None:
        if is_made:
            self.repairs[repair] = None

    def failure(self, what: str) -> NotData:
        """Returns an error that quotes the text at the current position."""
        found = self.text[self.position : self.position + 30]
        return NotData(f"{what} at `{found}`" if found.strip() else "the reply ends in the middle")
