"""Partial values of a streamed reply: pieces of text, or elements of a list.

    parts = parts_for(output)        for an output whose value is a text or a list
    parts.begin()                    starts a reply
    parts.feed('[{"n": 1}, {"n"')    yields the first element
    parts.rest(value)                yields the remaining parts of the whole value

Parts are never taken back: the value begins with the parts, or `rest` raises a ContractError. Text
is therefore held back while it may turn out to be one JSON string, thinking, or a tool call. A list
that is not plain JSON is held back, too. Other values have only `drafts`. A draft replaces the
draft before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from runtime_support._core.hooks import load_part
from runtime_support._core.outputs.outputs import Output, TextOutput
from runtime_support._core.reader.around import CLOSES_THINKING, OPENS_THINKING, THINKING_TAGS
from runtime_support._schema import model as m
from runtime_support._schema.checking import decode
from runtime_support._values.json_text import parse_unambiguous, to_json
from runtime_support._values.kinds import without_halves
from runtime_support.errors import CheckError, ContractError

if TYPE_CHECKING:
    from runtime_support._streaming.drafts import Drafts

_STRING_PART = re.compile(r'(?:[^"\\\x00-\x1f]|\\.)*', re.DOTALL)
_OPENING = re.compile(r"\s*(?:```\w*\s+)?\[")
_LONGEST_OPENING = 64
_LONGEST_TAG = max(map(len, THINKING_TAGS)) + 3
# The first characters of tool calls that are written as text.
_CALLS_BEGIN = "{[`"
_OUTSIDE = re.compile(r'["\[\]{},:]')
_INSIDE = re.compile(r'["\\]')
# Separates the text before tool calls from that of the next reply.
_BREAK = "\n\n"


class Marks:
    """Finds the structural characters of JSON text that arrives in chunks."""

    def __init__(self) -> None:
        self.is_in_string = False
        self._is_escaped = False

    def feed(self, text: str) -> Iterator[tuple[str, int]]:
        """Yields the quotes, brackets, commas and colons of a chunk, each with its end position."""
        if not text:
            return
        at, self._is_escaped = int(self._is_escaped), False
        while found := (_INSIDE if self.is_in_string else _OUTSIDE).search(text, at):
            mark, at = found[0], found.end()
            if mark == "\\":
                self._is_escaped = at == len(text)
                at += 1
                continue
            if mark == '"':
                self.is_in_string = not self.is_in_string
            yield mark, at


class TextPieces:
    """The pieces of a streamed text. `kind` is the type of the whole value."""

    kind = str

    def __init__(self, output: Output) -> None:
        self.output = output
        self._given: list[str] = []
        self.begin()

    def begin(self) -> None:
        """Prepares for a new reply. An earlier, unusable reply has yielded no pieces."""
        self._held: list[str] = []
        self._escape: str = ""  # a backslash at the end of a chunk
        self._is_in_string = self._is_closed = self._is_decided = False
        self._thought: str | None = None  # the end of the thinking so far, while it lasts
        self._has_thought = self._may_be_call = False

    def feed(self, text: str) -> Iterator[str]:
        """Yields the text that can be passed on after this chunk has arrived."""
        if not self._is_decided:
            self._held.append(text)
            if self._may_be_other(text):
                return
            self._is_decided = True
            text = "".join(self._held)
            text = text.lstrip() if self._has_thought else text
        if text:
            yield self._give(without_halves(text))

    def before_calls(self, text: str) -> Iterator[str]:
        """Yields the rest of a text before tool calls, and then a blank line.

        The blank line separates this text from the next reply.
        """
        yield from self.rest(text)
        if text.strip():
            missing = _BREAK[len(text) - len(text.rstrip("\n")) :]
            if missing:
                yield missing
        self._given.clear()
        self.output.has_given = False

    def rest(self, value: str) -> Iterator[str]:
        """Yields the rest of the whole text.

        Raises ContractError if the text does not begin with the pieces that were yielded.
        """
        given = "".join(self._given)
        if not value.startswith(given):
            raise _contradiction("text")
        if len(value) > len(given):
            yield self._give(value[len(given) :])

    def _give(self, text: str) -> str:
        self.output.has_given = True
        self._given.append(text)
        return text

    def _may_be_other(self, text: str) -> bool:
        """True if the held-back text may still turn out to be no plain text.

        It may turn out to be empty, thinking, a tool call, or one JSON string.
        """
        if self._thought is not None:
            return self._is_thinking(text)
        if self._may_be_call:
            return True
        if not (self._is_in_string or self._is_closed):
            text = "".join(self._held).lstrip()
            if not text or text[0] == "<":
                return not text or self._may_be_tag(text)
            if text[0] != '"':
                self._may_be_call = self.output.has_tools and text[0] in _CALLS_BEGIN
                return self._may_be_call
            self._is_in_string, text = True, text[1:]
        if self._is_in_string:
            text = self._escape + text
            end = _STRING_PART.match(text)
            assert end is not None
            text = self._escape = text[end.end() :]
            if not text.startswith('"'):
                return text in ("", "\\")
            self._is_in_string, self._is_closed, text = False, True, text[1:]
        return not text.strip()

    def _may_be_tag(self, text: str) -> bool:
        """True if a text that begins with a tag may be the start of thinking or of a tool call."""
        opening = OPENS_THINKING.match(text)
        if opening is not None:
            self._thought = ""
            return self._is_thinking(text[opening.end() :])
        begins = text[:_LONGEST_TAG].casefold()
        self._may_be_call = self.output.has_tools and len(begins) == _LONGEST_TAG
        return self.output.has_tools or any(f"<{tag}>".startswith(begins) for tag in THINKING_TAGS)

    def _is_thinking(self, text: str) -> bool:
        """True if the thinking continues after this chunk.

        Otherwise returns whether the text after the thinking must be held back.
        """
        text = f"{self._thought}{text}"
        closing = CLOSES_THINKING.search(text)
        if closing is None:
            self._thought = text[-_LONGEST_TAG:]
            return True
        self._held, self._thought, self._has_thought = [text[closing.end() :]], None, True
        return self._may_be_other("")


class ListItems:
    """The elements of a streamed list. An element is yielded when it is complete."""

    kind = list

    def __init__(self, output: Output, item: m.Schema) -> None:
        self.output = output
        self._item = item
        self._keeps_digits = m.holds_decimals(item)
        self._given: list[Any] = []
        # Copies of the given elements, as the receiver may change those.
        self._read: list[Any] = []
        self.begin()

    def begin(self) -> None:
        """Prepares for a new reply. An earlier, unusable reply has yielded no elements."""
        self._beginning: list[str] = []  # the unfinished element
        self._text = ""  # not scanned yet
        self._depth = 0
        self._marks = Marks()
        self._is_over = False

    def feed(self, text: str) -> Iterator[Any]:
        """Yields the elements that are complete and valid after this chunk."""
        if self._is_over:
            return
        self._text += text
        if not self._depth and not self._has_begun():
            return
        for element in self._elements():
            try:
                item, same = self._decoded(element), self._decoded(element)
            except CheckError:  # whether it can be repaired depends on the whole reply
                self._is_over = True
                return
            self._read.append(same)
            yield self._give(item)

    def before_calls(self, text: str) -> Iterator[Any]:
        """Yields nothing: text before tool calls is not part of the list."""
        return iter(())

    def rest(self, value: list[Any]) -> Iterator[Any]:
        """Yields the remaining elements of the whole list.

        Raises ContractError if the list does not begin with the elements that were yielded.
        """
        count = len(self._given)
        if len(value) < count or not all(map(_is_same, self._read, value)):
            raise _contradiction("elements")
        value[:count] = self._given
        for item in value[count:]:
            yield self._give(item)

    def _give(self, item: Any) -> Any:
        self.output.has_given = True
        self._given.append(item)
        return item

    def _decoded(self, element: str) -> Any:
        read = parse_unambiguous(element, keeps_digits=self._keeps_digits)
        return decode(read, self._item, f"value[{len(self._given)}]")

    def _has_begun(self) -> bool:
        opening = _OPENING.match(self._text)
        if opening is None:
            self._is_over = len(self._text) > _LONGEST_OPENING
            return False
        self._text = self._text[opening.end() :]
        self._depth = 1
        return True

    def _elements(self) -> Iterator[str]:
        """Yields the JSON text of each element that is newly completed."""
        text, self._text, begin = self._text, "", 0
        for mark, at in self._marks.feed(text):
            if mark in '":':
                continue
            if mark in "[{":
                self._depth += 1
            elif mark in "]}" and self._depth > 1:
                self._depth -= 1
            elif self._depth == 1 and mark == "}":
                self._is_over = True
            elif self._depth == 1:
                element = "".join(self._beginning) + text[begin : at - 1]
                self._beginning, begin = [], at
                self._is_over = mark != ","
                if element.strip() or mark == "," or self._given:
                    yield element
            if self._is_over:
                return
        self._beginning.append(text[begin:])


Parts: TypeAlias = "TextPieces | ListItems | Drafts"


def parts_for(output: Output) -> Parts:
    """Returns the object that yields the parts of an output's value.

    Raises CheckError if the output has several fields.
    """
    if isinstance(output, TextOutput):
        return TextPieces(output)
    if output.contract is None:
        raise CheckError(
            "several fields do not come in parts", hint="leave `stream` out, or ask for a record"
        )
    asked = output.contract.schema
    schema = m.resolved(asked)
    if isinstance(schema, m.ListSchema) and not isinstance(asked, m.RootSchema):
        return ListItems(output, schema.item)
    return load_part("drafts").Drafts(output)


def _is_same(given: Any, whole: Any) -> bool:
    # User classes may compare by identity.
    return bool(given == whole) or to_json(given) == to_json(whole)


def _contradiction(what: str) -> ContractError:
    return ContractError(f"the end of the reply contradicts the {what} that it began with")
