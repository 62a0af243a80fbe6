"""Partial values of a streamed reply: pieces of text, or elements of a list (in `items`).

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
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from runtime_support._core.hooks import load_part
from runtime_support._core.outputs.outputs import Output, TextOutput
from runtime_support._core.reader.around import CLOSES_THINKING, OPENS_THINKING, THINKING_TAGS
from runtime_support._values.predicates import without_halves
from runtime_support.errors import CheckError, ContractError

if TYPE_CHECKING:
    from runtime_support._streaming.drafts import Drafts
    from runtime_support._streaming.items import ListItems

_OPENING = re.compile(r"\s*(?:```\w*\s+)?(?=[\[{])")
_LONGEST_OPENING = 64
_LONGEST_TAG = max(map(len, THINKING_TAGS)) + 3
# The first characters of tool calls that are written as text.
_CALLS_BEGIN = "{[`"
_OUTSIDE = re.compile(r'["\[\]{},:]')
_INSIDE = re.compile(r'["\\]')
# Separates the text before tool calls from that of the next reply.
_BREAK = "\n\n"


class JSONScanner:
    """Follows the strings and brackets of JSON text that arrives in chunks.

    - `open`: the brackets that are not closed yet, outermost first.
    - `is_in_string`: whether the text ends inside a string; `is_in_key`: whether inside a key.
    - `is_over`: whether the text is complete, or does not begin with one of `roots`.
    """

    def __init__(self, roots: str = "[{") -> None:
        self.open: list[str] = []
        self.is_in_string = self.is_in_key = self.is_over = False
        self._is_escaped = False
        self._roots = roots
        self._before = ""
        self._last = ""

    def enter(self, text: str) -> str:
        """Returns the JSON text in a chunk, without what stands before the first bracket."""
        if self.open:
            return text
        text = self._before = self._before + text
        opening = _OPENING.match(text)
        if opening is not None and text[opening.end()] in self._roots:
            return text[opening.end() :]
        self.is_over = len(text) > _LONGEST_OPENING
        return ""

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
                is_of_object = self.open[-1:] == ["{"]
                self.is_in_key = self.is_in_string and is_of_object and self._last != ":"
            else:
                self._last = mark
            if mark in "[{":
                self.open.append(mark)
            elif mark in "]}":
                self.is_over = self.open.pop() + mark not in ("[]", "{}") or not self.open
            yield mark, at
            if self.is_over:
                return


class PartReader:
    """Remembers the parts of an output's value that were given to the user."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self._given: list[Any] = []

    def before_calls(self, text: str) -> Iterator[Any]:
        """Yields nothing: text before tool calls is not part of a value."""
        return iter(())

    def _give(self, part: Any) -> Any:
        self.output.has_given = True
        self._given.append(part)
        return part


class TextPieces(PartReader):
    """The pieces of a streamed text. `kind` is the type of the whole value."""

    kind = str

    def __init__(self, output: Output) -> None:
        super().__init__(output)
        self.begin()

    def begin(self) -> None:
        """Prepares for a new reply. An earlier, unusable reply has yielded no pieces."""
        self._beginning: Generator[None, str, str] | None = self._hold_back()
        next(self._beginning)

    def feed(self, text: str) -> Iterator[str]:
        """Yields the text that can be passed on after this chunk has arrived."""
        if self._beginning is not None:
            try:
                self._beginning.send(text)
                return
            except StopIteration as decided:
                self._beginning, text = None, decided.value
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
            raise contradiction("text")
        if len(value) > len(given):
            yield self._give(value[len(given) :])

    def _hold_back(self) -> Generator[None, str, str]:
        """Receives chunks while the text may be empty, thinking, a tool call, or one JSON string.

        Returns the text without the thinking before it. A possible tool call is held back until the
        reply ends.
        """
        text = yield
        has_tools, has_thought = self.output.has_tools, False
        while True:
            while not (begins := text.lstrip()):
                text += yield
            if (opening := OPENS_THINKING.match(begins)) is not None:
                text = yield from _after_thinking(begins[opening.end() :])
                has_thought = True
            elif begins[0] == "<" and (has_tools or _may_be_tag(begins)):
                if len(begins) >= _LONGEST_TAG:
                    yield from _forever()
                text += yield
            elif begins[0] in _CALLS_BEGIN and has_tools:
                yield from _forever()
            else:
                if begins[0] == '"':
                    text = yield from _string(text)
                return text.lstrip() if has_thought else text


def _may_be_tag(text: str) -> bool:
    begins = text[:_LONGEST_TAG].casefold()
    return any(f"<{tag}>".startswith(begins) for tag in THINKING_TAGS)


def _forever() -> Generator[None, str]:
    """Receives chunks until the reply ends."""
    while True:
        yield


def _after_thinking(text: str) -> Generator[None, str, str]:
    """Receives chunks until the thinking ends, and returns the text after it."""
    while (closing := CLOSES_THINKING.search(text)) is None:
        text = text[-_LONGEST_TAG:] + (yield)
    return text[closing.end() :]


def _string(text: str) -> Generator[None, str, str]:
    """Receives chunks while a text that begins with a quote may be one JSON string.

    Returns the whole text.
    """
    scanner = JSONScanner()
    scanner.is_in_string = True
    after = text.lstrip()[1:]
    while (closing := next(scanner.feed(after), None)) is None:
        if "\n" in after:  # JSON has no line break in a string
            return text
        after = yield
        text += after
    after = after[closing[1] :]
    while not after.strip():
        after = yield
        text += after
    return text


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
    items = load_part("items").list_items(output, output.contract.schema)
    return items or load_part("drafts").Drafts(output)


def contradiction(what: str) -> ContractError:
    """Returns the error for a value that does not begin with the parts that were given."""
    return ContractError(f"the end of the reply contradicts the {what} that it began with")
