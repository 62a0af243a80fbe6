"""A node made to fit a schema, or the reason why it does not.

    fit({"ID": Bare("1")}, schema, size)   Fit({"id": "1"}, ("value: key `ID` as `id`",), 1)

What fits is JSON data. A value is changed only in ways that keep what it says: the spelling of keys
and of members of an enumeration, the notation of numbers and bools, one wrapping too many or too
few. `cost` says how much had to be changed, so that a union, or the choice between several values,
can take the one that fits best; a draw between different values is no fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from runtime_support._names import listed
from runtime_support._recovery import tokens
from runtime_support._recovery.bodies import read_whole
from runtime_support._recovery.nodes import (
    Bare,
    Broken,
    Elements,
    Line,
    Node,
    NotData,
    OpenList,
    OpenObject,
    RepeatedKeys,
)
from runtime_support._recovery.words import NIL_WORDS, Taken, letters, take_literal, take_scalar
from runtime_support._schema import model as m
from runtime_support._schema.writing import short
from runtime_support._values import brief, is_list, is_object


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


def admits_text(schema: m.Schema) -> bool:
    """Whether any text at all satisfies the schema."""
    return any(one in (m.AnySchema(), m.ScalarSchema("string")) for one in m.members_of(schema))


def alternatives(union: m.UnionSchema) -> list[m.Schema]:
    """The members of a union; its literals come first, as one."""
    members = m.members_of(union)
    literals = tuple(one for one in members if isinstance(one, m.LiteralSchema))
    others = (one for one in members if not isinstance(one, m.LiteralSchema))
    return [*([m.UnionSchema(literals)] if literals else []), *others]


def keys_of_fields(members: dict[str, Node], schema: m.ObjectSchema, path: str) -> dict[str, str]:
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


def expect(node: Node, class_: type[Container], schema: m.Schema, path: str) -> Container:
    """The node, when it is of this class."""
    if isinstance(node, class_):
        return node
    raise mismatch(node, schema, path)


def mismatch(node: Node, schema: m.Schema, path: str) -> Misfit:
    """The node is not of the schema's shape."""
    return Misfit(path, f"expected {short(schema)}, got {described(node)}")


def unclosed(path: str) -> Misfit:
    """The object here has no end, and more may have been meant."""
    return Misfit(path, "the object was not closed and may have been meant to go on")


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


# The cost of another shape than the schema's: more than any number of other changes.
RESHAPED = 1_000_000
DEEPEST_RESHAPING = 3

CONTAINERS = (m.ListSchema, m.TupleSchema, m.MapSchema, m.ObjectSchema)

LISTED = re.compile(r"[^,;\n]+(?:[,;]\s[^,;\n]+)+|[^\n]*\n.*", re.DOTALL)
SEPARATORS = re.compile(r"[,;]\s|\n")

Reshape: TypeAlias = "Callable[[Fitter, Node, m.Schema, str], Any]"


def fit(node: Node, schema: m.Schema, size: int) -> Fit:
    """The node as the schema has it, or Misfit; `size` is that of the text it came from."""
    fitter = Fitter(steps=100_000 + 20 * size)
    value = fitter.fit(node, schema, "value")
    return Fit(value, tuple(fitter.notes), fitter.cost)


class Fitter:
    """Collects the notes and the cost while it fits one node."""

    def __init__(self, steps: int) -> None:
        self.notes: list[str] = []
        self.cost = 0
        self.steps = steps
        self.reshaping = 0

    def fit(self, node: Node, schema: m.Schema, path: str) -> Any:
        """As the schema has it, reshaped where it is not of its shape."""
        schema = m.resolved(schema)
        mark = len(self.notes), self.cost
        try:
            return self.fit_shape(node, schema, path)
        except Misfit as misfit:
            first = misfit
        for reshape in self.reshapes(schema):
            self.restore(mark)
            self.reshaping += 1
            try:
                return reshape(self, node, schema, path)
            except Misfit as misfit:
                first = max(first, misfit, key=depth)
            finally:
                self.reshaping -= 1
        self.restore(mark)
        raise first

    def restore(self, mark: tuple[int, int]) -> None:
        del self.notes[mark[0] :]
        self.cost = mark[1]

    def tried(self, node: Node, schema: m.Schema, path: str) -> Fit:
        """The fit, with nothing noted or counted yet."""
        mark = len(self.notes), self.cost
        try:
            value = self.fit(node, schema, path)
            return Fit(value, tuple(self.notes[mark[0] :]), self.cost - mark[1])
        finally:
            self.restore(mark)

    def accepted(self, found: Fit) -> Any:
        """The value of what was tried, noted and counted."""
        self.notes += found.notes
        self.cost += found.cost
        return found.value

    def note(self, path: str, words: str, cost: int) -> None:
        self.notes.append(f"{path}: {words}")
        self.cost += cost

    def fit_shape(self, node: Node, schema: m.Schema, path: str) -> Any:
        self.steps -= 1
        if self.steps < 0:
            raise Misfit(path, "can be read in too many ways")
        if isinstance(node, Bare) and tokens.ELLIPSIS.fullmatch(node):
            raise Misfit(path, "an ellipsis stands for data that was left out")
        match schema:
            case m.AnySchema():
                return self.fit_any(node, path)
            case m.ScalarSchema(kind):
                return self.take(take_scalar(node, kind), schema, node, path)
            case m.ListSchema(item):
                items = expect(node, list, schema, path)
                return [self.fit(part, item, f"{path}[{i}]") for i, part in enumerate(items)]
            case m.TupleSchema():
                return self.fit_tuple(node, schema, path)
            case m.MapSchema():
                return self.fit_map(node, schema, path)
            case m.ObjectSchema():
                return self.fit_object(node, schema, path)
            case m.UnionSchema() if not m.literals_of(schema):
                return self.fit_union(node, schema, path)
            case m.LiteralSchema() | m.UnionSchema():
                values = [one.value for one in m.literals_of(schema)]
                return self.take(take_literal(node, values), schema, node, path)
            case m.OpaqueSchema() | m.ReferenceSchema():  # neither comes here: see contracts, `fit`
                raise mismatch(node, schema, path)

    def take(self, taken: Taken | None, schema: m.Schema, node: Node, path: str) -> Any:
        if taken is None:
            raise mismatch(node, schema, path)
        if taken.words:
            self.notes.append(f"{path}: {taken.words}")
        self.cost += taken.cost
        return taken.value

    def fit_any(self, node: Node, path: str) -> Any:
        if is_list(node):
            return self.fit_shape(node, m.ListSchema(m.AnySchema()), path)
        if is_object(node):
            return self.fit_map(node, m.MapSchema(m.AnySchema()), path)
        return self.take(take_scalar(node, "any"), m.AnySchema(), node, path)

    def fit_tuple(self, node: Node, schema: m.TupleSchema, path: str) -> list[Any]:
        items = expect(node, list, schema, path)
        rest = schema.rest
        schemas = schema.items if rest is None else (rest,) * len(items)
        if len(items) != len(schemas):
            raise Misfit(path, f"expected {short(schema)}, got {len(items)} items")
        pairs = zip(items, schemas, strict=True)
        return [self.fit(item, inner, f"{path}[{i}]") for i, (item, inner) in enumerate(pairs)]

    def fit_map(self, node: Node, schema: m.MapSchema, path: str) -> dict[str, Any]:
        members = expect(node, dict, schema, path)
        self.note_repeated(members, path)
        if isinstance(members, OpenObject):
            raise unclosed(path)
        return {key: self.fit(item, schema.value, f"{path}.{key}") for key, item in members.items()}

    def fit_object(self, node: Node, schema: m.ObjectSchema, path: str) -> dict[str, Any]:
        members = expect(node, dict, schema, path)
        self.note_repeated(members, path)
        keys = keys_of_fields(members, schema, path)
        if members and not keys:
            raise Misfit(path, f"none of its keys ({listed(members)}) is a field")
        value: dict[str, Any] = {}
        for field in schema.fields:
            key = keys.get(field.name)
            if key is not None:
                if key != field.name:
                    self.note(path, f"key `{key}` as `{field.name}`", 1)
                value[field.name] = self.fit(members[key], field.schema, f"{path}.{field.name}")
            elif field.required:
                raise Misfit(path, f"`{field.name}` is missing")
            elif isinstance(members, OpenObject):
                raise unclosed(path)
            elif field.default is None:
                value[field.name] = None
        named = set(keys.values())
        for key in members:
            if key not in named:
                self.note(path, f"dropped key `{key}`", 1)
        return value

    def note_repeated(self, members: dict[str, Node], path: str) -> None:
        if isinstance(members, RepeatedKeys):
            self.note(path, "a key stands twice: the later value", 1)

    def fit_union(self, node: Node, schema: m.UnionSchema, path: str) -> Any:
        best: Fit | None = None
        drawn = False
        misfits: list[Misfit] = []
        for member in alternatives(schema):
            try:
                found = self.tried(node, member, path)
            except Misfit as misfit:
                misfits.append(misfit)
                continue
            if not found.cost:
                return self.accepted(found)
            if best is None or found.cost < best.cost:
                best, drawn = found, False
            elif found.cost == best.cost:
                drawn = drawn or not same(found.value, best.value)
        if best is None:
            deepest = max(misfits, key=depth)
            if depth(deepest) > len(path):
                raise deepest
            raise mismatch(node, schema, path)
        if drawn:
            raise Misfit(path, f"{described(node)} may be more than one of {short(schema)}")
        return self.accepted(best)

    def reshapes(self, schema: m.Schema) -> tuple[Reshape, ...]:
        """The members of a union are reshaped for themselves, except literals, which are one."""
        if self.reshaping >= DEEPEST_RESHAPING or isinstance(schema, m.AnySchema):
            return ()
        return RESHAPES if not isinstance(schema, m.UnionSchema) or m.literals_of(schema) else ()

    def reshaped(self, path: str, words: str) -> None:
        self.note(path, words, RESHAPED)


# The ways to another shape, tried in this order. Each gives the value or raises Misfit.


def from_structure(fitter: Fitter, node: Node, schema: m.Schema, path: str) -> Any:
    """JSON that was sent as text, or a line that has a structure."""
    if isinstance(node, Line):
        return fitter.fit(node.structure, schema, path)
    if isinstance(node, Bare) or not isinstance(node, str) or not isinstance(schema, CONTAINERS):
        raise Misfit(path, "not a text")
    try:
        inner, _ = read_whole(node)
    except (Broken, NotData):
        raise mismatch(node, schema, path) from None
    if not isinstance(inner, (dict, list)):
        raise mismatch(node, schema, path)
    fitter.reshaped(path, "JSON inside a string")
    return fitter.fit(inner, schema, path)


def from_only_element(fitter: Fitter, node: Node, schema: m.Schema, path: str) -> Any:
    """The list of elements of markup that has only one."""
    if not isinstance(node, Elements) or len(node) != 1 or not isinstance(schema, m.ListSchema):
        raise Misfit(path, "not a list of elements")
    (item,) = node.values()
    return [fitter.fit(item, schema.item, f"{path}[0]")]


def from_list_of_one(fitter: Fitter, node: Node, schema: m.Schema, path: str) -> Any:
    """The only item of a list, where no list is asked for."""
    items = expect(node, list, schema, path)
    if len(items) != 1 or isinstance(items, OpenList):
        raise mismatch(node, schema, path)
    if isinstance(schema, (m.ListSchema, m.TupleSchema)) and not isinstance(items[0], list):
        raise Misfit(path, "a list of something else")
    fitter.reshaped(path, "the only item of a list")
    return fitter.fit(items[0], schema, path)


def from_wrapper(fitter: Fitter, node: Node, schema: m.Schema, path: str) -> Any:
    """The only member that fits, of an object that is not what is asked for."""
    members = expect(node, dict, schema, path)
    if isinstance(members, OpenObject):
        raise unclosed(path)
    if isinstance(schema, m.ObjectSchema) and keys_of_fields(members, schema, path):
        raise Misfit(path, "not a wrapper")
    wrapped = [key for key, item in members.items() if may_be_wrapped(item, schema)]
    if len(members) > 1 and not isinstance(schema, (m.ObjectSchema, m.ListSchema, m.TupleSchema)):
        raise mismatch(node, schema, path)
    fits: dict[str, Fit] = {}
    deepest: Misfit | None = None
    for key in wrapped:
        try:
            fits[key] = fitter.tried(members[key], schema, path)
        except Misfit as misfit:
            deepest = max(deepest or misfit, misfit, key=depth)
    if len(fits) != 1:
        raise deepest or mismatch(node, schema, path)
    ((key, found),) = fits.items()
    value = fitter.accepted(found)
    fitter.reshaped(path, f"taken out of `{key}`")
    for other in members:
        if other != key:
            fitter.note(path, f"dropped key `{other}`", 1)
    return value


def from_single(fitter: Fitter, node: Node, schema: m.Schema, path: str) -> Any:
    """A list of one item that was sent without its list, or of several between commas."""
    if not isinstance(schema, m.ListSchema) or node is None or isinstance(node, list):
        raise mismatch(node, schema, path)
    if isinstance(node, str):
        if not node.strip() or node.casefold() in NIL_WORDS:
            raise mismatch(node, schema, path)
        if LISTED.fullmatch(node):
            return from_enumeration(fitter, node, schema, path)
    fitter.reshaped(path, "a list around a single value")
    return [fitter.fit(node, schema.item, f"{path}[0]")]


def from_enumeration(fitter: Fitter, text: str, schema: m.ListSchema, path: str) -> list[Any]:
    """A list of numbers or words from between commas or line breaks; texts may hold commas."""
    if admits_text(schema.item):
        raise mismatch(text, schema, path)
    fitter.reshaped(path, "a list from text with commas")
    items: list[Any] = []
    for part in filter(None, map(str.strip, SEPARATORS.split(text))):
        item = fitter.fit(Bare(part), schema.item, f"{path}[{len(items)}]")
        if isinstance(item, str) and letters(item) != letters(part):
            raise mismatch(text, schema, path)
        items.append(item)
    return items


RESHAPES: tuple[Reshape, ...] = (
    from_structure,
    from_only_element,
    from_list_of_one,
    from_wrapper,
    from_single,
)


def may_be_wrapped(item: Node, schema: m.Schema) -> bool:
    """Whether the member of a wrapper may be what is asked for: text never comes out of one."""
    match schema:
        case m.ScalarSchema("string" | "nil"):
            return False
        case m.ListSchema() | m.TupleSchema():
            return isinstance(item, (list, dict))
        case m.ObjectSchema() | m.MapSchema():
            return isinstance(item, (dict, list))
        case _:
            return True
