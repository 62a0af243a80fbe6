"""The checked program: names resolved, arguments complete, coercions in place.

    {"gap": {"a": {"City": {"name": "Oslo"}}, "b": ...}}

    CallNode(gap, (a = CoerceNode(CallNode(City, ...), Point), b = ...))

`checking.check_program` makes it; evaluation and a compiler of programs read it:

- Every call has its `Definition`; `arguments` are in source order, and missing ones take their
  defaults. `form` says how it was written: as a call, with a bare argument, or as a record.
- There is a `CoerceNode` wherever a value may have to change: `step` decides how, by the known
  types or by the value. Without such a node, the value is not changed.
- `LetNode.bindings` are in the order of evaluation: a binding follows those that it refers to.
- `pure` is true if nothing inside has effects; `calls` if something inside is called.

`children` returns the parts of a node, `calls_in` the calls in a program:

    calls_in(plan)   [{"tool": "gap", "args": {"a": ..., "b": ...}, "path": ""}]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from runtime_support._values.kinds import is_object
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import Path, at, pointer
from runtime_support.programs._types import Type


@dataclass(frozen=True)
class ProgramNode:
    path: Path
    type: Type

    @property
    def called(self) -> tuple[Definition, ...]:
        """The definitions that the node itself calls, or may call."""
        return ()

    @cached_property
    def pure(self) -> bool:
        """Whether no call of the node or its parts has effects."""
        return all(one.pure for one in (*self.called, *children(self)))

    @cached_property
    def calls(self) -> bool:
        """Whether the node or one of its parts calls anything."""
        return bool(self.called) or any(one.calls for one in children(self))


@dataclass(frozen=True)
class ConstantNode(ProgramNode):
    value: str | int | float | bool | None


@dataclass(frozen=True)
class ListNode(ProgramNode):
    items: tuple[Checked, ...]


@dataclass(frozen=True)
class RecordNode(ProgramNode):
    fields: tuple[tuple[str, Checked], ...]


@dataclass(frozen=True)
class CallNode(ProgramNode):
    definition: Definition
    arguments: tuple[tuple[str, Checked], ...]
    form: Literal["call", "bare", "record"]

    @property
    def called(self) -> tuple[Definition, ...]:
        return (self.definition,)


@dataclass(frozen=True)
class LetNode(ProgramNode):
    bindings: tuple[tuple[str, Checked], ...]
    needs: tuple[frozenset[str], ...]
    body: Checked


@dataclass(frozen=True)
class RefNode(ProgramNode):
    name: str


@dataclass(frozen=True)
class MapNode(ProgramNode):
    over: Checked
    variable: str
    where: Checked | None
    body: Checked


@dataclass(frozen=True)
class IfNode(ProgramNode):
    test: Checked
    then: Checked
    otherwise: Checked


@dataclass(frozen=True)
class CoerceNode(ProgramNode):
    """The operand as a value of `type`, perhaps by some of the `conversions`.

    `bare` is the parameter if the operand is its bare argument.
    """

    operand: Checked
    conversions: tuple[Definition, ...] = ()
    bare: str | None = None

    @property
    def called(self) -> tuple[Definition, ...]:
        return self.conversions


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


def children(node: ProgramNode) -> list[Checked]:
    """The nodes directly inside, in source order."""
    match node:
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
        case _:
            return []


def walk(node: Checked) -> Iterator[Checked]:
    """The node and all nodes inside, parts first."""
    for child in children(node):
        yield from walk(child)
    yield node


def waiting_in(checked: CheckedProgram) -> list[str]:
    """The functions that the program calls, or may call, and that wait for approval."""
    called = (one for node in walk(checked.root) for one in node.called)
    return sorted({one.name for one in called if one.waits})


def calls_in(checked: CheckedProgram) -> list[dict[str, Any]]:
    """The calls that the program writes: tool, args as programs, path. Constructors are data."""
    found: list[dict[str, Any]] = []
    for node in walk(checked.root):
        if isinstance(node, CallNode) and node.definition.kind != "type":
            name, path = node.definition.name, pointer(node.path)
            body = at(checked.program, (*node.path, name))
            arguments = body if is_object(body) else {node.arguments[0][0]: body}
            found.append({"tool": name, "args": arguments, "path": path})
    return found
