"""Tables and markup as objects and lists.

    | name | age |        <person>               name,age
    |------|-----|          <name>Ada</name>     Ada,36
    | Ada  | 36  |          <age>36</age>
                          </person>

A table gives a list of objects by its header, and with two columns also one object by its first
column. Markup gives an object of its elements (`Elements`); attributes are members too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime_support.recovery.nodes import Bare, Broken, Elements, Node
from runtime_support.recovery.words import without_markup

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

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
