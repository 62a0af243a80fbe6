"""JSON as models write it, read with everything they do to it.

    LooseReader("{name: 'Ada', tags: [x, y,],}").read()
        {"name": "Ada", "tags": [Bare("x"), Bare("y")]}

Comments, commas too many or missing, quotes of every kind, quotes unescaped inside strings,
Python's words and calls, other brackets than the right ones. Nothing is ever left out or made up:
where a text could mean two things, or ends before the data does, reading fails (`Broken`,
`CutOff`); only closing brackets at the very end may be missing, and then the last value must have
been complete.

Where a string ends is the one hard question, as quotes inside it are often not escaped. A quote
closes its string when what follows could not be more of the string: a bracket that is open, or a
comma and the next key. Inside a list, where what follows a comma may look like text, quotes must
also pair up; where they do not, the string cannot be read.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from tests.support.old_reader import tokens
from tests.support.old_reader.nodes import (
    Bare,
    Broken,
    CutOff,
    Node,
    NotData,
    OpenList,
    OpenObject,
    RepeatedKeys,
)

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
# `"Oslo" or "Rome"` are two strings.
_ANOTHER_AHEAD = re.compile(rf"\s+(?:or|and|/|\|)\s+[{tokens.OPEN_QUOTES}]")
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
                raise Broken("a comment replaces data that was left out")
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
        """The place of the quote that closes the string begun here."""
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
            if not inner and self.ahead(_ANOTHER_AHEAD, position):
                raise Broken("there are several strings where one is expected")
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
    """The string with its escapes resolved; what is not an escape keeps its backslash."""
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


DEEPEST = 100
LONGEST_BARE = 10_000

_STOPS_BARE = re.compile(r"[,，;；\n}\])]|\s(?=//|#|/\*|[\"'`“„«‘])|[{\[]")
_FIRST_IN_SET = re.compile(rf"{tokens.SPACE}*(?:{tokens.QUOTED}|[0-9.]+){tokens.SPACE}*[,}}]")


class LooseReader(StringReader):
    """Reads one value from `position` on; afterwards `position` is its end and `notes` is full."""

    def read(self) -> Node:
        """The value; NotData, Broken or CutOff when there is none to be had."""
        try:
            return self.value()
        except RecursionError:
            raise Broken("nested too deeply") from None

    def read_all(self) -> Node:
        """The value that all the rest of the text is; NotData when more comes after it."""
        node = self.read()
        self.skip()
        if self.position < len(self.text):
            raise NotData
        return node

    def value(self) -> Node:
        if word := self.ahead(tokens.HASH_WORD):
            self.position = word.end()
        else:
            self.skip()
        start = self.peek()
        if not start:
            raise CutOff("the data")
        if start == "{":
            return self.braces()
        if start in "[(":
            return self.items(start)
        if start in tokens.CLOSERS:
            return self.string()
        return self.bare()

    # Containers.

    def enter(self, inside: Inside) -> None:
        if len(self.open) >= DEEPEST:
            raise Broken("nested too deeply")
        self.open.append(self.peek())
        self.inside.append(inside)
        self.position += 1
        self.complete = False

    def leave(self) -> None:
        self.open.pop()
        self.inside.pop()
        self.complete = True

    def separators(self, count: int) -> str:
        """Past what comes before the next of the members; gives the character that follows."""
        commas = 0
        while True:
            self.skip()
            character = self.peek()
            if not character or character not in tokens.COMMAS:
                break
            commas += 1
            self.complete = False
            self.position += 1
            if character != ",":
                self.note("other separators for commas")
        closing = character in tuple("}])")
        if commas > 1 or (commas and (closing or not count)):
            self.note("stray commas removed")
        if count and not commas and character and not closing:
            self.note("missing commas added")
        return character

    def braces(self) -> Node:
        """An object, or one of Python's sets."""
        if self.ahead(_FIRST_IN_SET, self.position + 1):
            self.note("a Python set as a list")
            self.enter("list")
            return self.members_of_list("{")
        self.enter("object")
        self.bare_keys.append(False)
        try:
            return self.members()
        finally:
            self.bare_keys.pop()

    def members(self) -> Node:
        members: dict[str, Node] = {}
        while True:
            character = self.separators(len(members))
            if not character:
                return self.unclosed(OpenObject(members), "}")
            if character in "}])":
                if not self.closes_object(character):
                    continue
                self.leave()
                return members
            key = self.key(members)
            if key in members:
                members = RepeatedKeys(members)
            members[key] = self.value()

    def key(self, members: dict[str, Node]) -> str:
        key = self.ahead(tokens.KEY)
        if key is not None:
            quoted: str | None = key["quoted"]
            self.bare_keys[-1] = quoted is None
            self.position = key.end()
            self.complete = False
            if self.text[key.end() - 1] != ":":
                self.note("other signs for colons")
            if quoted is None:
                self.note("unquoted keys")
                return str(key["bare"]).strip()
            if quoted[0] != '"':
                self.note("other quotes for double quotes")
            self.is_solid = True
            return unescaped(quoted[1:-1])
        if self.ahead(tokens.ELLIPSIS):
            raise Broken("an ellipsis replaces data that was left out")
        if self.ahead(tokens.CUT_KEY):
            raise CutOff("a key")
        if not members and self.peek() not in tokens.CLOSERS:
            raise NotData
        raise Broken(f"no key where one was expected: {_excerpt(self.text, self.position)}")

    def closes_object(self, character: str) -> bool:
        """Whether this closing bracket ends the object; moves past it where it belongs to it."""
        outer = self.open[:-1]
        if character != "}" and tokens.OPENERS[character] in outer:
            self.note("missing brackets added")
            return True
        self.position += 1
        if self.goes_on_with_key(self.position) and (character != "}" or not outer):
            self.note("stray brackets removed")
            return False
        if character != "}":
            self.note("wrong brackets replaced")
        return True

    def goes_on_with_key(self, position: int) -> bool:
        comma = self.ahead(COMMA_AHEAD, position)
        return comma is not None and bool(self.ahead(tokens.STARTS_QUOTED_KEY, comma.end()))

    def items(self, bracket: str) -> list[Node]:
        if bracket == "(":
            self.note("a Python tuple as a list")
        self.enter("list")
        return self.members_of_list(bracket)

    def members_of_list(self, bracket: str) -> list[Node]:
        items: list[Node] = []
        while True:
            character = self.separators(len(items))
            if not character:
                return self.unclosed(OpenList(items), tokens.BRACKETS[bracket])
            if character in "}])":
                self.close_list(bracket, character)
                self.leave()
                return items
            for item in self.separate(self.value()):
                self.check_apart(items, item)
                items.append(item)

    def close_list(self, bracket: str, character: str) -> None:
        if character != tokens.BRACKETS[bracket]:
            if tokens.OPENERS[character] in self.open[:-1] and not self.is_slip(character):
                self.note("missing brackets added")
                return
            self.note("wrong brackets replaced")
        self.position += 1

    def is_slip(self, character: str) -> bool:
        """Whether a `}` was typed for the list's own bracket: its object goes on after it."""
        objects = self.open[:-1].count("{")
        return character == "}" and objects == 1 and self.goes_on_with_key(self.position + 1)

    def check_apart(self, items: list[Node], item: Node) -> None:
        """Broken where a comma may be one between thousands: no number begins like `000`."""
        last = items[-1] if items else None
        if not isinstance(item, Bare) or not isinstance(last, Bare):
            return
        if tokens.BEFORE_THOUSANDS.fullmatch(last) and tokens.THOUSANDS.fullmatch(item):
            raise Broken(f"`{last},{item}` may be one number or several")

    def separate(self, item: Node) -> list[Node]:
        """The items of a list without commas between them: `1 2 3`."""
        if not isinstance(item, Bare):
            return [item]
        if tokens.NUMBERS_IN_A_ROW.fullmatch(item):
            if tokens.SPACED_THOUSANDS.fullmatch(item):
                raise Broken(f"`{item}` may be one number or several")
        elif not tokens.WORDS_IN_A_ROW.fullmatch(item):
            return [item]
        self.note("missing commas added")
        return [tokens.JSON_WORDS.get(part, Bare(part)) for part in item.split()]

    def unclosed(self, container: Node, closer: str) -> Node:
        """A container that the end of the text leaves open: fine when only closers are missing."""
        if not self.complete or not container:
            raise CutOff("the data")
        self.note(f"missing `{closer}` added")
        self.leave()
        return container

    # What has no quotes.

    def bare(self) -> Node:
        """A number, a word, a call or unquoted text."""
        if tokens.CALL.match(self.text, self.position) and (call := self.call()) is not None:
            return call[0]
        start = self.position
        position = start + 1 if self.peek() == "#" else start
        while (stop := _STOPS_BARE.search(self.text, position)) and not self.ends_bare(start, stop):
            position = stop.end()
            if position - start > LONGEST_BARE:
                raise Broken("an unquoted value goes on and on")
        end = stop.start() if stop else len(self.text)
        text = self.text[start:end].strip()
        self.position = end
        if not text:
            raise Broken(f"no value where one was expected: {_excerpt(self.text, start)}")
        if tokens.THINKING_MARK.search(text):
            raise NotData
        self.complete = text in tokens.COMPLETE_WORDS
        if text in tokens.JSON_WORDS:
            return tokens.JSON_WORDS[text]
        if tokens.JSON_NUMBER.fullmatch(text):
            self.is_solid = True
        else:
            self.note("unquoted values")
        return Bare(text)

    def ends_bare(self, start: int, stop: re.Match[str]) -> bool:
        sign = stop.group()
        if sign in tokens.OPENERS:
            opener = tokens.OPENERS[sign]
            within = self.text.count(opener, start, stop.start())
            own = within > self.text.count(sign, start, stop.start())
            return not own and (sign != ")" or opener in self.open)
        inside = self.inside[-1:]
        if sign in "{[":
            if inside == ["list"] and not self.is_solid:
                raise NotData
            return False
        if inside != ["object"]:
            return True
        rest = self.ahead(SPACE_AHEAD, stop.end())
        position = rest.end() if rest else stop.end()
        if sign.isspace() and sign != "\n":
            return bool(
                self.ahead(tokens.STARTS_QUOTED_KEY, position)
                or self.ahead(tokens.COMMENT, position)
            )
        if self.text[position : position + 1] in ("", *tokens.OPENERS):
            return True
        starts_more = self.ahead(tokens.STARTS_KEY, position)
        return bool(starts_more or self.ahead(tokens.COMMENT, position))

    def call(self) -> tuple[Node] | None:
        """`Person(name='Ada')` as an object, `UUID('7')` as its argument; None if it is text."""
        before = self.position, dict(self.notes), self.complete
        match = self.ahead(tokens.CALL)
        self.position = match.end() - 1 if match else self.position
        depth = len(self.open)
        try:
            node = self.arguments()
            if not self.open or self.is_followed_by_separator():
                self.note("a Python call as data")
                return (node,)
        except CutOff:
            raise
        except (NotData, Broken):
            pass
        del self.open[depth:], self.inside[depth:]
        self.position, self.notes, self.complete = before
        return None

    def is_followed_by_separator(self) -> bool:
        self.skip()
        return self.peek() in ("", *tokens.OPENERS, *tokens.COMMAS)

    def arguments(self) -> Node:
        self.enter("arguments")
        named: dict[str, Node] = {}
        unnamed: list[Node] = []
        while True:
            character = self.separators(len(named) + len(unnamed))
            if not character:
                raise CutOff("a call")
            if character in "}])":
                if character != ")":
                    raise Broken("a call without its closing bracket")
                self.position += 1
                self.leave()
                break
            key = self.ahead(tokens.KEY)
            if key is not None and key["bare"]:
                self.position = key.end()
                named[str(key["bare"]).strip()] = self.value()
            else:
                unnamed.append(self.value())
        if named and unnamed:
            raise Broken("a call with named and unnamed arguments")
        return named if named or len(unnamed) != 1 else unnamed[0]


def _excerpt(text: str, position: int) -> str:
    return repr(text[position : position + 30])
