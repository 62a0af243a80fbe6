"""Other notations than JSON as objects and lists.

    - apples             name: Ada        | name | age |     <person>              name,age
    - pears              tags:            |------|-----|       <name>Ada</name>    Ada,36
                           - x            | Ada  | 36  |     </person>

Only this much of YAML is read: mappings, lists, quoted and plain scalars, block scalars (`|`, `>`)
and JSON-like values on one line. Words before the first entry and after a blank line behind the
last one are prose; words anywhere else mean that the text is none of this.

A table gives a list of objects by its header, and with two columns also one object by its first
column. Markup gives an object of its elements (`Elements`); attributes are members too.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.old_reader.loose import LooseReader
from tests.support.old_reader.nodes import Bare, Broken, Elements, Node, NotData, StructuredLine
from tests.support.old_reader.words import without_markup

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

DEEPEST = 40

_ITEM = re.compile(
    r"(?P<mark>(?:[-*+•–·▪◦‣]|\(?[0-9]{1,4}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)(?P<rest>\S.*)"
)
_PAIR = re.compile(
    r"(?P<open>[*_`\"']*)(?P<key>[^\W\d][\w .\-/()]{0,50}?)(?P<close>[*_`\"']*)\s*"
    r"(?::|=(?!=))[*_`]*(?:\s+(?P<rest>\S.*))?"
)
_COMMENT = re.compile(r"(?:^|\s)#\s.*$")
_BLOCK = re.compile(r"[|>][+\-0-9]*")
_FENCE_LINE = re.compile(r"\s*(?:`{3,}|~{3,}).*")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line by its indentation; `text` has none and is empty for a blank line."""

    indent: int
    text: str


class NotLines(Exception):
    """The text is not made of entries."""


def read_lines(text: str) -> list[Node]:
    """The object or list that the lines of the text are, in each way that they may be meant."""
    lines = [_source_line(line) for line in text.splitlines() if not _FENCE_LINE.fullmatch(line)]
    entries = [number for number, line in enumerate(lines) if _is_entry(line)]
    if not entries:
        return []
    nodes: list[Node] = []
    for variant in _variants(lines[entries[0] :]):
        try:
            reader = _LineReader(variant)
            node = reader.block(variant[0].indent, 0)
            if _is_prose(variant, reader.number):
                nodes.append(node)
        except (NotLines, Broken):
            continue
    return nodes


def _variants(lines: list[SourceLine]) -> Iterator[list[SourceLine]]:
    """The lines, and when each is a bullet with a key, also without their bullets."""
    yield lines
    items = [_ITEM.fullmatch(line.text) for line in lines if line.text]
    if all(item and _PAIR.fullmatch(item["rest"]) for item in items):
        yield [SourceLine(0, str(item["rest"])) for item in items if item]


def _source_line(line: str) -> SourceLine:
    line = line.expandtabs(4).rstrip()
    text = line.lstrip()
    return SourceLine(len(line) - len(text), "" if text in ("---", "...") else text)


def _is_entry(line: SourceLine) -> bool:
    return bool(_ITEM.fullmatch(line.text) or _PAIR.fullmatch(line.text))


def _is_prose(lines: list[SourceLine], number: int) -> bool:
    """Whether the lines from this one on are words that belong to nothing before."""
    rest = lines[number:]
    if not rest:
        return True
    return not rest[0].text and not any(_ITEM.fullmatch(line.text) for line in rest)


class _LineReader:
    def __init__(self, lines: list[SourceLine]) -> None:
        self.lines = list(lines)
        self.number = 0

    def next(self) -> SourceLine | None:
        """The next line that is not blank; the reader stays on it."""
        number = self.number
        while number < len(self.lines) and not self.lines[number].text:
            number += 1
        if number == len(self.lines):
            return None
        return self.lines[number]

    def advance(self) -> None:
        while not self.lines[self.number].text:
            self.number += 1
        self.number += 1

    def block(self, indent: int, depth: int) -> Node:
        line = self.next()
        if line is None or depth > DEEPEST:
            raise NotLines
        if _ITEM.fullmatch(line.text):
            return self.items(indent, depth)
        if _PAIR.fullmatch(line.text):
            return self.pairs(indent, depth)
        raise NotLines

    def items(self, indent: int, depth: int) -> list[Node]:
        items: list[Node] = []
        while (line := self.next()) and line.indent == indent:
            item = _ITEM.fullmatch(line.text)
            if item is None:
                break
            items.append(self.item(line, item, depth))
        self.refuse_deeper(indent)
        return items

    def item(self, line: SourceLine, item: re.Match[str], depth: int) -> Node:
        rest = str(item["rest"])
        pair = _PAIR.fullmatch(rest)
        if pair is None or rest[0] in "\"'{[":
            self.advance()
            # A list on its own may be Markdown, where a number sign starts no comment.
            return self.scalar(_COMMENT.sub("", rest) if depth else rest, line.indent)
        while not self.lines[self.number].text:
            self.number += 1
        inner = line.indent + len(item["mark"])
        start = self.number
        self.lines[start] = SourceLine(inner, rest)
        structure = self.pairs(inner, depth + 1)
        text = " ".join(line.text for line in self.lines[start : self.number] if line.text)
        return StructuredLine(_plain(text), structure)

    def pairs(self, indent: int, depth: int) -> dict[str, Node]:
        pairs: dict[str, Node] = {}
        while (line := self.next()) and line.indent == indent:
            pair = _PAIR.fullmatch(line.text)
            if pair is None or _ITEM.fullmatch(line.text):
                break
            self.advance()
            key = pair["key"].strip()
            if key in pairs:
                raise NotLines
            pairs[key] = self.value(pair["rest"] or "", indent, depth)
        self.refuse_deeper(indent)
        return pairs

    def value(self, rest: str, indent: int, depth: int) -> Node:
        rest = _COMMENT.sub("", rest)
        if _BLOCK.fullmatch(rest):
            return self.block_scalar(indent, folded=rest[0] == ">")
        if rest.strip("*_`"):
            return self.scalar(rest, indent)
        line = self.next()
        if line is None:
            return Bare("")
        if line.indent > indent or (line.indent == indent and _ITEM.fullmatch(line.text)):
            return self.block(line.indent, depth + 1)
        return Bare("")

    def scalar(self, rest: str, indent: int) -> Node:
        """The value on a line; a plain text goes on over deeper lines that are not entries."""
        if rest[0] in "\"'{[":
            reader = LooseReader(rest)
            try:
                node = reader.read()
            except NotData:
                return Bare(rest)
            if not rest[reader.position :].strip(" ,"):
                return node
        parts = [rest]
        while self.number < len(self.lines):
            line = self.lines[self.number]
            if not line.text or line.indent <= indent or _is_entry(line):
                break
            parts.append(line.text)
            self.number += 1
        return Bare(_plain(" ".join(parts)))

    def block_scalar(self, indent: int, *, folded: bool) -> str:
        start = self.number
        while self.number < len(self.lines):
            line = self.lines[self.number]
            if line.text and line.indent <= indent:
                break
            self.number += 1
        lines = self.lines[start : self.number]
        margin = min((line.indent for line in lines if line.text), default=0)
        texts = [" " * (line.indent - margin) + line.text if line.text else "" for line in lines]
        return (" " if folded else "\n").join(texts).rstrip() + ("" if folded else "\n")

    def refuse_deeper(self, indent: int) -> None:
        """Lines below an entry that do not belong to it would be lost."""
        line = self.next()
        if line is not None and line.indent > indent:
            raise NotLines


def _plain(text: str) -> str:
    """The text without the marks that wrap all of it."""
    return without_markup(text) if text[:1] in ("*", "`") and text[-1:] == text[:1] else text


_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.MULTILINE)
_CELL_END = re.compile(r"(?<!\\)\|")
_SEPARATORS = ",\t;"

_TAG = re.compile(r"<[A-Za-z_][\w.\-]*(?:\s[^<>]*)?/?>")
_DECLARATION = re.compile(r"<\?xml[^>]*\?>|<!--.*?-->", re.DOTALL)
_LONE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)")


def read_markdown_tables(text: str) -> list[Node]:
    """Each table of the text, read in each way that it may be meant."""
    lines = text.splitlines()
    nodes: list[Node] = []
    for number in range(1, len(lines)):
        if "|" in lines[number - 1] and "-" in lines[number] and _RULE.match(lines[number]):
            rows: list[list[str]] = []
            for line in lines[number + 1 :]:
                if "|" not in line:
                    break
                rows.append(_cells(line))
            nodes += _as_nodes(_cells(lines[number - 1]), rows)
    return nodes


def read_separated_values(text: str) -> list[Node]:
    """A text of which every line has the same number of values, two at least."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if len(lines) < 2:
        return []
    import csv

    for separator in _SEPARATORS:
        if separator not in lines[0]:
            continue
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
        if len({len(row) for row in rows}) == 1:
            return _as_nodes(rows[0], rows[1:])
    return []


def _cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    cells = [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line)]
    return [without_markup(cell) if cell[:1] in ("*", "`", "_") else cell for cell in cells]


def _as_nodes(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Node]:
    if not rows or len(set(header)) < len(header):
        return []
    if any(len(row) != len(header) for row in rows):
        raise Broken("a table whose rows are not as long as its header")
    nodes: list[Node] = [
        [dict(zip(header, map(Bare, row), strict=True)) for row in rows],
    ]
    keys = {row[0] for row in rows}
    if len(header) == 2 and len(keys) == len(rows):
        nodes.append({row[0]: Bare(row[1]) for row in rows})
    return nodes


def read_markup(text: str) -> list[Node]:
    """The elements of the text, or nothing when they are not well formed."""
    first = _TAG.search(text)
    if first is None:
        return []
    from xml.etree import ElementTree

    markup = _DECLARATION.sub("", text[first.start() : text.rindex(">") + 1])
    try:
        root = ElementTree.fromstring(f"<all>{_LONE_AMPERSAND.sub('&amp;', markup)}</all>")
    except (ElementTree.ParseError, ValueError):
        return []
    return [_node_of(root)]


def _node_of(element: Element) -> Node:
    texts = [element.text or "", *(child.tail or "" for child in element)]
    between = "".join(texts).strip()
    attributes = {key.rpartition("}")[2]: Bare(value) for key, value in element.attrib.items()}
    if not len(element) and not attributes:
        return Bare(between)
    if between and element.tag != "all":
        return Bare("".join(element.itertext()).strip())
    members = Elements(attributes)
    for child in element:
        tag = str(child.tag).rpartition("}")[2]
        node = _node_of(child)
        if tag not in members:
            members[tag] = node
        elif isinstance(members[tag], list):
            members[tag].append(node)
        else:
            members[tag] = [members[tag], node]
    return members
