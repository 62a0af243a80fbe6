"""The checked program: names are resolved, arguments complete, coercions inserted.

    {"gap": {"a": {"City": {"name": "Oslo"}}, "b": ...}}

    CallNode(gap, (a = CoerceNode(CallNode(City, ...), Point), b = ...))

`checking.check_program` builds the tree; the evaluation and the compiler of programs read it:

- Every call has its `Definition`; `arguments` are in source order, and missing arguments take their
  defaults. `form` says how the call was written: as a call, as a call with an unnamed argument
  (`bare`), or as a record.
- A `CoerceNode` is inserted wherever a value may have to change: `step` decides how, by the known
  types or by the value. Without such a node, the value is not changed.
- `LetNode.bindings` are in the order of evaluation: a binding follows the bindings that it refers
  to.
- `pure` is true if no call inside the node has side effects. `calls` is true if the node contains
  a call.

`children` returns the parts of a node, and `calls_in` returns the calls in a program:

    calls_in(checked)   [{"tool": "gap", "args": {"a": ..., "b": ...}, "path": ""}]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from runtime_support._values.kinds import is_approved, is_object
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import Path, at, pointer
from runtime_support.programs._types import Type


@dataclass(frozen=True)
class ProgramNode:
    """A part of a checked program, with its path in the JSON and the type of its value."""

    path: Path
    type: Type

    @property
    def called(self) -> tuple[Definition, ...]:
        """The callables that this node itself calls or may call, without those of its parts."""
        return ()

    @cached_property
    def pure(self) -> bool:
        """True if no call of the node or its parts has side effects."""
        return all(one.pure for one in (*self.called, *children(self)))

    @cached_property
    def calls(self) -> bool:
        """True if the node or one of its parts makes a call."""
        return bool(self.called) or any(one.calls for one in children(self))


@dataclass(frozen=True)
class ConstantNode(ProgramNode):
    """A text, a number, a boolean or null."""

    value: str | int | float | bool | None


@dataclass(frozen=True)
class ListNode(ProgramNode):
    """A list of parts."""

    items: tuple[Checked, ...]


@dataclass(frozen=True)
class RecordNode(ProgramNode):
    """A record: a part for each of its fields."""

    fields: tuple[tuple[str, Checked], ...]


@dataclass(frozen=True)
class CallNode(ProgramNode):
    """A call of a function or of a record's constructor."""

    definition: Definition
    arguments: tuple[tuple[str, Checked], ...]
    form: Literal["call", "bare", "record"]

    @property
    def called(self) -> tuple[Definition, ...]:
        return (self.definition,)


@dataclass(frozen=True)
class LetNode(ProgramNode):
    """A body with names for values. `needs` has the names that each binding uses."""

    bindings: tuple[tuple[str, Checked], ...]
    needs: tuple[frozenset[str], ...]
    body: Checked


@dataclass(frozen=True)
class RefNode(ProgramNode):
    """The value of a name."""

    name: str


@dataclass(frozen=True)
class MapNode(ProgramNode):
    """A list with the body's value for each item, or for each item that fulfils `where`."""

    over: Checked
    variable: str
    where: Checked | None
    body: Checked


@dataclass(frozen=True)
class IfNode(ProgramNode):
    """One of two parts, as the test decides."""

    test: Checked
    then: Checked
    otherwise: Checked


@dataclass(frozen=True)
class CoerceNode(ProgramNode):
    """Coerces the value of the operand to `type`, perhaps by some of the `conversions`.

    If the operand is an argument written without its name, `bare` is the name of the parameter.
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
    """A program that has passed the check: its JSON data and its checked tree."""

    program: Any
    root: Checked
    registry: Registry


def children(node: ProgramNode) -> list[Checked]:
    """Returns the child nodes of a node, in source order."""
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
    """Yields the node and all of its descendants, children before parents."""
    for child in children(node):
        yield from walk(child)
    yield node


def functions_in(checked: CheckedProgram) -> dict[str, Any]:
    """The functions that the program may call, by their names."""
    return {one.name: one.function for node in walk(checked.root) for one in node.called}


def waiting_in(checked: CheckedProgram) -> list[str]:
    """The names of the functions that the program may call and that need approval."""
    return sorted(name for name, one in functions_in(checked).items() if is_approved(one))


def calls_in(checked: CheckedProgram) -> list[dict[str, Any]]:
    """Returns the calls in a program, each as a dictionary with the keys `tool`, `args` and `path`.

    The values in `args` are programs, and `path` is a JSON Pointer into the program. Calls of
    constructors are left out, as they only build data.
    """
    found: list[dict[str, Any]] = []
    for node in walk(checked.root):
        if isinstance(node, CallNode) and node.definition.kind != "type":
            name, path = node.definition.name, pointer(node.path)
            body = at(checked.program, (*node.path, name))
            arguments = body if is_object(body) else {node.arguments[0][0]: body}
            found.append({"tool": name, "args": arguments, "path": path})
    return found
