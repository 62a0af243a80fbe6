"""What fitting asks of nodes and schemas, without changing either.

keys_of_fields({"ID": ...}, schema, ...)     {"id": "ID"}
described([1, 2])                            "a list of 2"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from runtime_support.names import listed
from runtime_support.recovery.nodes import Bare, Node
from runtime_support.recovery.words import letters
from runtime_support.schema import (
    AnySchema,
    LiteralSchema,
    ObjectSchema,
    ScalarSchema,
    Schema,
    UnionSchema,
    notation,
    resolved,
)
from runtime_support.values import brief, is_list, is_object


class Misfit(Exception):
    """The node does not fit; `path` is where, `reason` what was expected and found."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


@dataclass(frozen=True, slots=True)
class Fit:
    """A value that fits, what was done to it, and how much that was."""

    value: Any
    notes: tuple[str, ...]
    cost: int


def admits_text(schema: Schema) -> bool:
    """Whether any text at all satisfies the schema."""
    schema = resolved(schema)
    if isinstance(schema, UnionSchema):
        return any(map(admits_text, flattened(schema))) if not literals_of(schema) else False
    return isinstance(schema, AnySchema) or schema == ScalarSchema("string")


def literals_of(union: UnionSchema) -> tuple[LiteralSchema, ...]:
    """The members of a union of literals, nothing for any other union."""
    members = tuple(member for member in union.members if isinstance(member, LiteralSchema))
    return members if len(members) == len(union.members) else ()


def flattened(union: UnionSchema) -> Iterator[Schema]:
    """The members, those of inner unions included; literals come first, as one union."""
    members: list[Schema] = []
    for member in map(resolved, union.members):
        members += flattened(member) if isinstance(member, UnionSchema) else [member]
    literals = tuple(member for member in members if isinstance(member, LiteralSchema))
    if literals:
        yield UnionSchema(literals)
    yield from (member for member in members if not isinstance(member, LiteralSchema))


def keys_of_fields(members: dict[str, Node], schema: ObjectSchema, path: str) -> dict[str, str]:
    """Field name to key: the same, or the only one that differs in case and signs alone."""
    keys = {field.name: field.name for field in schema.fields if field.name in members}
    if len(keys) == len(members):
        return keys
    names = [field.name for field in schema.fields if field.name not in keys]
    by_letters: dict[str, list[str]] = {}
    for name in names:
        by_letters.setdefault(letters(name), []).append(name)
    for key in members:
        near = by_letters.get(letters(key), []) if key not in keys else []
        if len(near) > 1 or any(name in keys for name in near):
            raise Misfit(path, f"it cannot be told which field the key `{key}` is")
        keys.update({name: key for name in near})
    return keys


Container = TypeVar("Container", list[Node], dict[str, Node])


def expect(node: Node, class_: type[Container], schema: Schema, path: str) -> Container:
    """The node, when it is of this class."""
    if isinstance(node, class_):
        return node
    raise Misfit(path, f"expected {notation(schema)}, got {described(node)}")


def described(node: Node) -> str:
    """What was found, for a message."""
    if is_object(node):
        return f"an object with {listed(node)}"
    if is_list(node):
        return f"a list of {len(node)}"
    if isinstance(node, str) and not isinstance(node, Bare):
        return brief(node)
    return brief(node) if node is None or isinstance(node, bool) else f"`{node[:60]}`"


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON (`1` and `true` are not)."""
    import json

    return one == other and json.dumps(one) == json.dumps(other)


def depth(misfit: Misfit) -> int:
    """How far into the value a misfit lies; the deepest says most."""
    return len(misfit.path)
