"""Strings in loose JSON: where they end, what joins them, what their escapes mean.

Where a string ends is the one hard question, as quotes inside it are often not escaped. A quote
closes its string when what follows could not be more of the string: a bracket that is open, or a
comma and the next key. Inside a list, where what follows a comma may look like text, quotes must
also pair up; where they do not, the string cannot be read.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from runtime_support.recovery import tokens
from runtime_support.recovery.nodes import Broken, CutOff

Inside: TypeAlias = Literal["object", "list", "arguments"]

COMMA_AHEAD = re.compile(rf"{tokens.SPACE}*(?:[{tokens.COMMAS}]{tokens.SPACE}*)+")
SPACE_AHEAD = re.compile(rf"{tokens.SPACE}*")

_SPACE_BEFORE_QUOTE = re.compile(rf"\s+(?=[{tokens.OPEN_QUOTES}])")
_PLUS_AHEAD = re.compile(rf"\s*\+\s*(?=[{tokens.OPEN_QUOTES}])")
_AFTER_QUOTE = re.compile(rf"{tokens.SPACE}*([^\s]?)")
_COMMENT_AHEAD = re.compile(rf"{tokens.SPACE}*,?{tokens.SPACE}*{tokens.COMMENT_START}")
_LAST = re.compile(rf"{tokens.SPACE}*[}}\]]+{tokens.SPACE}*(?:\Z|```)")
_VALUE_AHEAD = re.compile(
    rf"{tokens.SPACE}*(?:[{tokens.OPEN_QUOTES}{{\[(+\-.0-9]"
    rf"|(?:true|false|null|True|False|None)\b|{tokens.COMMENT_START})"
)

_ITEM_AHEAD = (_PLUS_AHEAD, _SPACE_BEFORE_QUOTE, _COMMENT_AHEAD)
_STRING_STOPS = {
    quote: re.compile(rf"\\.|[{re.escape(closers)}]", re.DOTALL)
    for quote, closers in tokens.CLOSERS.items()
}
_ESCAPE = re.compile(
    r"\\(?:(?P<hex>u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|u\{[0-9a-fA-F]{1,6}\})"
    r"|(?P<sign>.))",
    re.DOTALL,
)


class StringReader:
    """A place in a text, what is open around it, and the reading of strings there."""

    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position
        self.notes: dict[str, None] = {}
        self.open: list[str] = []
        self.inside: list[Inside] = []
        self.bare_keys: list[bool] = []
        # Whether the last thing read shows its own end (a number may have had more digits).
        self.complete = False
        # Whether anything was read that is hardly ever found in prose.
        self.is_solid = False

    def note(self, words: str) -> None:
        self.notes[words] = None

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def ahead(self, pattern: re.Pattern[str], position: int | None = None) -> re.Match[str] | None:
        return pattern.match(self.text, self.position if position is None else position)

    def skip(self) -> None:
        """Past white space and comments."""
        while True:
            if space := self.ahead(tokens.WHITESPACE):
                self.position = space.end()
            comment = self.ahead(tokens.COMMENT) if self.peek() in ("/", "#") else None
            if comment is None:
                if self.ahead(tokens.OPEN_COMMENT):
                    raise CutOff("a comment")
                return
            if tokens.ELISION_IN_COMMENT.search(comment.group()):
                raise Broken("a comment stands for data that was left out")
            self.note("comments removed")
            self.position = comment.end()

    def string(self) -> str:
        """A string, and those that are joined to it."""
        parts = [self.quoted()]
        while joint := self.joint():
            self.note("joined strings")
            self.position = joint.end()
            parts.append(self.quoted())
        self.complete = self.is_solid = True
        return "".join(parts)

    def joint(self) -> re.Match[str] | None:
        """What joins this string to the next one: `+`, or in an object nothing but white space."""
        plus = self.ahead(_PLUS_AHEAD)
        if plus is not None or self.inside[-1:] != ["object"]:
            return plus
        space = self.ahead(_SPACE_BEFORE_QUOTE)
        return None if space is None or self.ahead(self.key_pattern(), space.end()) else space

    def quoted(self) -> str:
        quote = self.peek()
        if quote != '"':
            self.note("other quotes for double quotes")
        if self.text.startswith(quote * 3, self.position):
            return self.triple_quoted(quote * 3)
        end = self.end_of_string(quote)
        text = self.text[self.position + 1 : end]
        self.position = end + 1
        if "\n" in text:
            self.note("line breaks inside strings")
        return unescaped(text)

    def triple_quoted(self, quotes: str) -> str:
        self.note("triple quotes")
        start = self.position + 3
        end = self.text.find(quotes, start)
        if end < 0:
            raise CutOff("a string")
        self.position = end + 3
        text = self.text[start:end]
        return text if quotes == "```" else unescaped(text)

    def end_of_string(self, quote: str) -> int:
        """Where the quote stands that closes the string begun here."""
        pattern = _STRING_STOPS[quote]
        inner = 0
        position = self.position + 1
        while stop := pattern.search(self.text, position):
            position = stop.end()
            if stop.group()[0] == "\\":
                continue
            if self.closes_string(position, inner % 2 == 1):
                if inner:
                    self.note("unescaped quotes inside strings")
                return position - 1
            if not self.is_apostrophe(position - 1):
                inner += 1
        raise CutOff("a string")

    def is_apostrophe(self, position: int) -> bool:
        return (
            self.text[position] in "'’"
            and self.text[position - 1].isalnum()
            and self.text[position + 1 : position + 2].isalnum()
        )

    def closes_string(self, position: int, within_pair: bool) -> bool:
        """Whether the quote before `position` ends its string, by what comes after it."""
        after = self.ahead(_AFTER_QUOTE, position)
        character = after[1] if after else ""
        if not character:
            return True
        if character in tokens.OPENERS:
            return tokens.OPENERS[character] in self.open or bool(self.ahead(_LAST, position))
        if not self.open:
            return False
        if self.inside[-1] == "object":
            return self.closes_member(position, within_pair)
        return self.closes_item(position, within_pair)

    def closes_member(self, position: int, within_pair: bool) -> bool:
        comma = self.ahead(COMMA_AHEAD, position)
        following = comma or self.ahead(SPACE_AHEAD, position)
        next_position = following.end() if following else position
        key = self.key_pattern() if within_pair else tokens.STARTS_KEY
        if self.ahead(key, next_position):
            return comma is not None or next_position > position
        if comma is not None and self.text[next_position : next_position + 1] in ("", "}", "]"):
            return True
        if self.ahead(_COMMENT_AHEAD, position) or within_pair:
            return bool(self.ahead(_COMMENT_AHEAD, position)) and not within_pair
        return bool(self.ahead(_PLUS_AHEAD, position) or self.ahead(_SPACE_BEFORE_QUOTE, position))

    def closes_item(self, position: int, within_pair: bool) -> bool:
        comma = self.ahead(COMMA_AHEAD, position)
        if comma is None:
            if within_pair:
                return False
            return any(self.ahead(pattern, position) for pattern in _ITEM_AHEAD)
        if self.text[comma.end() : comma.end() + 1] in ("", *tokens.OPENERS):
            return True
        if not self.ahead(_VALUE_AHEAD, comma.end()) and not self.is_argument(comma.end()):
            return False
        if within_pair:
            raise Broken("a list whose strings hold quotes cannot be told apart")
        return True

    def is_argument(self, position: int) -> bool:
        return (
            self.inside[-1] == "arguments" and self.ahead(tokens.STARTS_KEY, position) is not None
        )

    def key_pattern(self) -> re.Pattern[str]:
        """How the next key of the object begins: unquoted only where the last one was."""
        bare = self.bare_keys and self.bare_keys[-1]
        return tokens.STARTS_KEY if bare else tokens.STARTS_QUOTED_KEY


def unescaped(text: str) -> str:
    """The string with its escapes resolved; what is no escape keeps its backslash."""
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_character, text)
    try:
        return plain.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise Broken("a text holds half of a surrogate pair") from None


def _character(escape: re.Match[str]) -> str:
    code = escape["hex"]
    if code is None:
        return tokens.ESCAPES.get(escape["sign"], escape.group())
    number = int(code.strip("uxU{}"), 16)
    return chr(number) if number <= 0x10FFFF else escape.group()
