"""The calls that stand in a checked program, in source order.

    calls_in(plan)   [{"tool": "gap", "args": {"a": ..., "b": ...}, "path": ""}]

`children` gives the parts of any node, for those who walk the tree for other reasons.
"""

from __future__ import annotations

from typing import Any

from runtime_support.programs.checking import CheckedProgram
from runtime_support.programs.paths import at, is_object, pointer
from runtime_support.programs.tree import (
    CallNode,
    Checked,
    CoerceNode,
    ConstantNode,
    IfNode,
    LetNode,
    ListNode,
    MapNode,
    RecordNode,
    RefNode,
)


def children(node: Checked) -> list[Checked]:
    """The nodes directly inside, in source order."""
    match node:
        case ConstantNode() | RefNode():
            return []
        case ListNode():
            return list(node.items)
        case RecordNode():
            return [part for _, part in node.fields]
        case CallNode():
            return [part for _, part in node.arguments]
        case LetNode():
            return [*(part for _, part in node.bindings), node.body]
        case MapNode():
            return [node.over, *([] if node.where is None else [node.where]), node.body]
        case IfNode():
            return [node.test, node.then, node.otherwise]
        case CoerceNode():
            return [node.operand]


def calls_in(checked: CheckedProgram) -> list[dict[str, Any]]:
    """The calls that are written in it: tool, args as programs, path; constructors are data."""
    found: list[dict[str, Any]] = []
    _collect(checked.root, checked.program, found)
    return found


def _collect(node: Checked, program: Any, found: list[dict[str, Any]]) -> None:
    for child in children(node):
        _collect(child, program, found)
    path = pointer(node.path)
    if isinstance(node, CallNode) and node.definition.kind != "type":
        body = at(program, (*node.path, node.definition.name))
        arguments = body if is_object(body) else {node.arguments[0][0]: body}
        found.append({"tool": node.definition.name, "args": arguments, "path": path})
