"""JSON as models write it, read with everything they do to it.

    LooseReader("{name: 'Ada', tags: [x, y,],}").read()
        {"name": "Ada", "tags": [Bare("x"), Bare("y")]}

Comments, commas too many or missing, quotes of every kind, quotes unescaped inside strings,
Python's words and calls, other brackets than the right ones. Nothing is ever left out or made up:
where a text could mean two things, or ends before the data does, reading fails (`Broken`,
`CutOff`); only closing brackets at the very end may be missing, and then the last value must have
been complete.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re

from runtime_support.recovery import tokens
from runtime_support.recovery.nodes import (
    Bare,
    Broken,
    CutOff,
    Garbled,
    Node,
    NotData,
    OpenList,
    OpenObject,
    RepeatedKeys,
)
from runtime_support.recovery.strings import (
    COMMA_AHEAD,
    SPACE_AHEAD,
    Inside,
    StringReader,
    unescaped,
)

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
        """Past what stands before the next of the members; gives the character that follows."""
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
            raise Broken("an ellipsis stands for data that was left out")
        if self.ahead(tokens.CUT_KEY):
            raise CutOff("a key")
        if not members and self.peek() not in tokens.CLOSERS:
            raise NotData
        raise Garbled(f"no key where one was expected: {_excerpt(self.text, self.position)}")

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
            items += self.separate(self.value())

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

    def separate(self, item: Node) -> list[Node]:
        """The items of a list that stand side by side without commas: `1 2 3`."""
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

    # What stands without quotes.

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
            raise Garbled(f"no value where one was expected: {_excerpt(self.text, start)}")
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
