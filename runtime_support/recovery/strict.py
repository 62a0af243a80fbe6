"""JSON as the standard has it, read with the json module.

    read_strict('{"a": 1}')     ({"a": Bare("1")},)
    read_strict('{"a": 1,}')    None

Numbers stay text, so that nothing of them is lost before their place is known.
"""

from __future__ import annotations

import json
import re

from runtime_support.recovery.nodes import Bare, Broken, Node, RepeatedKeys

_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def read_strict(text: str) -> tuple[Node] | None:
    """The JSON that the whole text is, or None."""
    found = read_strict_at(text, _end_of_space(text, 0))
    if found is None or _end_of_space(text, found[1]) != len(text):
        return None
    return (found[0],)


def read_strict_at(text: str, start: int) -> tuple[Node, int] | None:
    """The JSON that begins exactly here, and where it ends; None when there is none."""
    try:
        node, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        return None
    except RecursionError:
        raise Broken("nested too deeply") from None
    if _SURROGATE_ESCAPE.search(text, start, end):
        _refuse_half_characters(node)
    return node, end


def _object(pairs: list[tuple[str, Node]]) -> dict[str, Node]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else RepeatedKeys(members)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=Bare, parse_float=Bare, parse_constant=Bare
)


def _end_of_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _refuse_half_characters(node: Node) -> None:
    nodes: list[Node] = [node]
    while nodes:
        node = nodes.pop()
        if isinstance(node, str):
            if _SURROGATE.search(node):
                raise Broken("a text holds half of a surrogate pair")
        elif isinstance(node, list):
            nodes += node
        elif isinstance(node, dict):
            nodes += [*node, *node.values()]
