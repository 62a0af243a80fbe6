"""The checked program: names resolved, arguments complete, coercions in place.

    {"gap": {"a": {"City": {"name": "Oslo"}}, "b": ...}}

    CallNode(gap, (a = CoerceNode(CallNode(City, ...), Point), b = ...))

This is what is evaluated, and what a compiler of programs reads (`checking.check_program`):

- Every call has its `Definition`; `arguments` are in source order, absent ones take their
  defaults. `form` says how it was written: as a call, with a bare argument, or as a record.
- There is a `CoerceNode` wherever a value may have to change: `step` tells how, by the types that
  are known or by the value. Without such a node, the value is taken as it is.
- `LetNode.bindings` are in the order of evaluation: what a binding refers to comes before it.
- `pure` is true when nothing inside has effects; `calls` when something inside is called.

`children` gives the parts of a node, `calls_in` the calls in a program:

    calls_in(plan)   [{"tool": "gap", "args": {"a": ..., "b": ...}, "path": ""}]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from runtime_support._values import is_object
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import Path, at, pointer
from runtime_support.programs._types import Type


@dataclass(frozen=True, slots=True)
class ProgramNode:
    path: Path
    type: Type
    pure: bool
    calls: bool


@dataclass(frozen=True, slots=True)
class ConstantNode(ProgramNode):
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class ListNode(ProgramNode):
    items: tuple[Checked, ...]


@dataclass(frozen=True, slots=True)
class RecordNode(ProgramNode):
    fields: tuple[tuple[str, Checked], ...]


@dataclass(frozen=True, slots=True)
class CallNode(ProgramNode):
    definition: Definition
    arguments: tuple[tuple[str, Checked], ...]
    form: Literal["call", "bare", "record"]


@dataclass(frozen=True, slots=True)
class LetNode(ProgramNode):
    bindings: tuple[tuple[str, Checked], ...]
    needs: tuple[frozenset[str], ...]
    body: Checked


@dataclass(frozen=True, slots=True)
class RefNode(ProgramNode):
    name: str


@dataclass(frozen=True, slots=True)
class MapNode(ProgramNode):
    over: Checked
    variable: str
    where: Checked | None
    body: Checked


@dataclass(frozen=True, slots=True)
class IfNode(ProgramNode):
    test: Checked
    then: Checked
    otherwise: Checked


@dataclass(frozen=True, slots=True)
class CoerceNode(ProgramNode):
    """The operand as a value of `type`; `bare` is the parameter whose only argument it is."""

    operand: Checked
    bare: str | None


Checked = (
    ConstantNode
    | ListNode
    | RecordNode
    | CallNode
    | LetNode
    | RefNode
    | MapNode
    | IfNode
    | CoerceNode
)


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """A program that may run: its JSON data and its checked tree."""

    program: Any
    root: Checked
    registry: Registry


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


def waiting_in(checked: CheckedProgram) -> list[str]:
    """The names of the functions that it calls, or may call, and that wait for approval."""
    found, pending = dict[str, None](), [checked.root]
    while pending:
        node = pending.pop()
        if isinstance(node, CallNode) and node.definition.waits:
            found.setdefault(node.definition.name)
        pending += children(node)
    return sorted(found)


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
