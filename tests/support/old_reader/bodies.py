"""The parts of a reply in which a value may be, and the value that is read there.

    without_thinking("<think>Maybe 3?</think> It is 4.", ...)    " It is 4."
    fenced("Here:\\n```json\\n[1]\\n```")                          ["[1]\\n"]
    find_candidates("First [1], then {a: 2}.")                   two candidates
    read_whole("[1, 2,]")        ([Bare("1"), Bare("2")], ("stray commas removed",))
    read_at("so: {a: 1}", 4)     Reading({"a": Bare("1")}, end=10, ...)

Where a value is JSON it is read strictly, else loosely. Thinking is what is between a pair of
tags, before a closing tag without its partner, or after an opening tag that is never closed; a tag
inside a JSON string is part of that string.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from runtime_support._values.kinds import is_list
from tests.support.old_reader import tokens
from tests.support.old_reader.loose import LooseReader
from tests.support.old_reader.nodes import Bare, Broken, Node, NotData, read_strict, read_strict_at
from tests.support.old_reader.words import word_set

# What was no strict JSON and needed no repair that has a name (a space, a sign after a backslash).
UNNAMED = ("small slips",)


THINKING_TAGS = word_set(
    """
    think thinking thought thoughts reasoning reflection scratchpad analysis
    """
)

# In prose a brace is hardly ever followed by what may begin an object.
_OPENING = re.compile(
    rf"\{{(?=\s*(?:[\w}}.,/#{tokens.OPEN_QUOTES}]|\Z))|\[|(?<![\w.]){tokens.RECORD_CALL.pattern}"
)
_TASK = re.compile(r"\[[ xX]\](?=\s)")
_BULLET_BEFORE = re.compile(r"(?:^|\n)[ \t]*(?:[-*+]|[0-9]+[.)])[ \t]+\Z")
_FENCE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<content>.*?)(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_SPACE = re.compile(r"[\s\ufeff]*")
MOST_IN_VAIN = 10_000
MOST_CANDIDATES = 1_000
# How much of a line is looked at to see whether a value is alone on it.
_LINE = 300


@dataclass(frozen=True, slots=True)
class ReadValue:
    """A value, where it ends, and what had to be done to read it."""

    node: Node
    end: int
    notes: tuple[str, ...]


def read_at(text: str, start: int, *, first: int = 0) -> ReadValue:
    """The value that begins here.

    Text before `first` is nothing but space; from there on a bracket may also be prose, and then
    what breaks off at once is not data at all.
    """
    strict = read_strict_at(text, start) if text[start] in "{[" else None
    if strict is not None:
        return ReadValue(*strict, ())
    reader = LooseReader(text, start)
    try:
        node = reader.read()
    except Broken:
        if start > first and not reader.is_solid:
            raise NotData from None
        raise
    return ReadValue(node, reader.position, tuple(reader.notes) or UNNAMED)


def read_whole(text: str) -> tuple[Node, tuple[str, ...]]:
    """The object or list that the whole text is."""
    strict = read_strict(text)
    if strict is not None:
        return strict[0], ()
    reader = LooseReader(text, _first_character(text))
    if reader.peek() not in ("{", "[", "("):
        raise NotData
    return reader.read_all(), tuple(reader.notes) or UNNAMED


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value found in a text.

    `alone`: there are no other words on its lines; `whole`: nothing else is in the text.
    """

    node: Node
    start: int
    notes: tuple[str, ...]
    alone: bool
    whole: bool


def without_thinking(text: str, kept_tags: Collection[str] = ()) -> str:
    """The text without the model's thinking; `kept_tags` may be data."""
    names = "|".join(sorted(THINKING_TAGS - set(kept_tags)))
    tag = re.compile(rf"<(?P<close>/?)(?P<name>{names})\b[^<>]*>", re.IGNORECASE)
    if tag.search(text) is None:
        return text
    stops = re.compile(rf"{tag.pattern}|{_OPENING.pattern}", re.IGNORECASE)
    first = _first_character(text)
    kept: list[str] = []
    start = position = 0
    while stop := stops.search(text, position):
        if stop["name"] is None:
            position = _end_of_value(text, stop.start(), first, tag)
            continue
        if stop["close"]:
            kept = []
            start = position = stop.end()
            continue
        kept.append(text[start : stop.start()])
        end = re.compile(rf"</{stop['name']}\s*>", re.IGNORECASE).search(text, stop.end())
        start = position = end.end() if end else len(text)
    kept.append(text[start:])
    return "".join(kept)


def _end_of_value(text: str, start: int, first: int, tag: re.Pattern[str]) -> int:
    """Where to go on after an opening bracket outside of thinking."""
    try:
        return read_at(text, start, first=first).end
    except NotData:
        return start + 1
    except Broken:
        following = tag.search(text, start)
        if following is None or not following["close"]:
            return len(text)
        # It was in thinking whose opening tag is not in the reply.
        return following.start()


def _first_character(text: str) -> int:
    space = _SPACE.match(text)
    return space.end() if space else 0


def fence_contents(text: str) -> list[str]:
    """The contents of the code fences, the last one closed or not."""
    return [str(match["content"]) for match in _FENCE.finditer(text)]


def is_one_fence(text: str) -> bool:
    """Whether the text is one fence and nothing else."""
    stripped = text.strip()
    match = _FENCE.match(stripped)
    return match is not None and match.end() == len(stripped)


def find_candidates(text: str, *, are_items: bool = False) -> list[FoundValue]:
    """The objects, lists and records in the text, none inside another.

    Broken or CutOff when one of them cannot be read: what it holds may be what was meant. Broken
    when there are too many, but for objects that may be the items of a list.
    """
    first = _first_character(text)
    candidates: list[FoundValue] = []
    position = in_vain = count = 0
    while opening := _OPENING.search(text, position):
        start = opening.start()
        position = start + 1
        if _is_task_mark(text, start):
            continue
        try:
            reading = read_at(text, start, first=first)
        except NotData:
            in_vain += 1
            if in_vain > MOST_IN_VAIN:
                raise Broken("brackets all over the text make no sense") from None
            continue
        if _is_link(text, reading):
            continue
        position = reading.end
        alone = _stands_alone(text, start, reading.end)
        if alone or not _is_of_words(reading.node):
            whole = start == first and not text[reading.end :].strip()
            candidates.append(FoundValue(reading.node, start, reading.notes, alone, whole))
            count += not (are_items and isinstance(reading.node, dict))
            if count > MOST_CANDIDATES:
                raise Broken("the reply holds too many values to tell which one is meant")
    return candidates


def starts_a_line(text: str, candidate: FoundValue) -> bool:
    """Whether only white space is before the candidate on its line."""
    before = text[max(0, candidate.start - _LINE) : candidate.start]
    return not before.rpartition("\n")[2].strip()


def _is_task_mark(text: str, start: int) -> bool:
    if _TASK.match(text, start) is None:
        return False
    return _BULLET_BEFORE.search(text[max(0, start - _LINE) : start]) is not None


def _is_link(text: str, reading: ReadValue) -> bool:
    return isinstance(reading.node, list) and text[reading.end : reading.end + 1] == "("


def _is_of_words(node: Node) -> bool:
    """A list of unquoted words, as `[sic]`: often a remark."""
    return (
        is_list(node)
        and len(node) > 0
        and all(
            isinstance(item, Bare) and tokens.JSON_NUMBER.fullmatch(item) is None for item in node
        )
    )


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _LINE) : start].rpartition("\n")[2].strip()
    after = text[end : end + _LINE].partition("\n")[0].strip(" \t\r`.,;")
    return not after and (not before or before[-1] in ":=`")
