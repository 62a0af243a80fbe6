"""A node made to fit a schema, or the reason why it does not.

    fit({"ID": Bare("1")}, schema, size)   Fit({"id": "1"}, ("value: key `ID` as `id`",), 1)

What fits is JSON data. A value is changed only in ways that keep what it says: the spelling of keys
and of members of an enumeration, the notation of numbers and bools, one wrapping too many or too
few. `cost` says how much had to be changed, so that a union, or the choice between several values,
can take the one that fits best; a draw between different values does not fit. The keys of a map are
data: none is taken for a wrapping. Text without quotes is a text only where it cannot be anything
else, and never a list of texts.

The first misfit ends a fit; `explained` finds the others, for the model to mend all at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from runtime_support._schema import model as m
from runtime_support._schema.checking import decode
from runtime_support._schema.writing import short
from runtime_support._values.dates import EXAMPLES, Word, is_word
from runtime_support._values.kinds import brief, is_list, is_object, member_path
from runtime_support._values.names import listed
from tests.support.old_reader import tokens
from tests.support.old_reader.bodies import read_whole
from tests.support.old_reader.dates import objection, take_date
from tests.support.old_reader.nodes import (
    Bare,
    Broken,
    Elements,
    Node,
    NotData,
    OpenList,
    OpenObject,
    RepeatedKeys,
    StructuredLine,
)
from tests.support.old_reader.words import (
    NIL_WORDS,
    Scalar,
    is_item,
    is_nil_word,
    letters,
    may_say_nothing,
    take_literal,
    take_scalar,
)

# Stands for a part of a value that is known not to fit.
HOLE: Any = object()
MOST_SOUGHT = 100


class Misfit(Exception):
    """The node does not fit: `path` is where, the text says what was expected and found.

    `parts` are the misfits that it collects, itself or those of several parts; `value` is what
    the others came to, with holes (`HOLE`). `explained` gives the one that has all parts.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.value: Any = HOLE
        self._parts: tuple[Misfit, ...] = ()
        self._explain: Callable[[], Misfit] | None = None

    @property
    def parts(self) -> tuple[Misfit, ...]:
        return self._parts or (self,)

    @staticmethod
    def of(misfits: list[Misfit], value: Any) -> Misfit:
        """The misfit of something whose parts do not fit."""
        together = Misfit("", "")
        together._parts = tuple(inner for one in misfits for inner in one.parts)
        together.value = value
        together.args = together._parts[0].args
        return together

    def explained_by(self, explain: Callable[[], Misfit]) -> Misfit:
        self._explain = explain
        return self

    def explained(self) -> Misfit:
        return self if self._explain is None else self._explain()


@dataclass(frozen=True, slots=True)
class Fit:
    """A value that fits, what was done to it, and how much that was."""

    value: Any
    notes: tuple[str, ...]
    cost: int


def admits_text(schema: m.Schema) -> bool:
    """Whether any text at all satisfies the schema."""
    members = m.members_of(schema)
    return any(isinstance(one, m.AnySchema) or m.is_scalar(one, "string") for one in members)


NUMBERS = (m.ScalarSchema("int"), m.ScalarSchema("float"), m.ScalarSchema("number"))
# What text in the place of any value may be as well.
OTHERS_OF_ANY = (m.ScalarSchema("float"), m.ScalarSchema("bool"))


def is_notation(text: str) -> bool:
    """Whether text without quotes is a value in JSON's, or in Python's, own notation."""
    return (
        tokens.JSON_NUMBER.fullmatch(text) is not None
        or text in tokens.COMPLETE_WORDS
        or is_nil_word(text)
    )


def is_member(text: str, members: Sequence[m.Schema]) -> bool:
    """Whether the text is one of the texts that a union names."""
    return any(isinstance(one, m.LiteralSchema) and one.value == text for one in members)


def has_meant_keys(node: dict[str, Node], members: Sequence[m.Schema]) -> bool:
    """Whether the keys of an object in the place of one of these are more than a wrapping.

    They may be those of a map; of a text, what it is about is said by its key.
    """
    if any(isinstance(m.resolved(one), m.MapSchema) for one in members):
        return True
    texts = [item for item in node.values() if isinstance(item, str) and type(item) is not Bare]
    is_text = m.ScalarSchema("string") in members and len(node) == len(texts) == 1
    return is_text and "value" not in node


def is_single_item(text: str, members: Sequence[m.Schema]) -> bool:
    """Whether a text in the place of a list of texts is its only item."""
    if isinstance(text, Bare):
        is_number = tokens.JSON_NUMBER.fullmatch(text) is not None
        return is_number and any(one in members for one in (*NUMBERS, m.AnySchema()))
    return is_item(text)


def is_remark(items: list[Node], item: m.Schema) -> bool:
    """Whether a list of texts may say that there is none: `(empty)`, `[no results]`."""
    (only,) = items if len(items) == 1 else (None,)
    return isinstance(only, Bare) and admits_text(item) and may_say_nothing(only)


def takes_bool(schema: m.Schema) -> bool:
    """Whether a bool satisfies the schema as it is."""
    members = m.members_of(schema)
    return any(isinstance(one, m.AnySchema) or m.is_scalar(one, "bool") for one in members)


def other_readings(schema: m.Schema) -> tuple[m.Schema, ...]:
    """What else than a text the schema admits; literals are one."""
    if not isinstance(schema, m.UnionSchema):
        return OTHERS_OF_ANY
    texts = (m.ScalarSchema("string"), m.AnySchema())
    others = tuple(one for one in alternatives(schema) if one not in texts)
    return (*others, *(OTHERS_OF_ANY if m.AnySchema() in m.members_of(schema) else ()))


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
            raise Misfit(path, f"the key `{key}` matches more than one field")
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
    return Misfit(path, f"expected {short(schema)}, got {describe_node(node)}")


def _no_date(node: str, kind: Word, path: str) -> Misfit:
    expected = f"expected {kind}, such as {EXAMPLES[kind]}, got {describe_node(node)}"
    reason = objection(kind, node)
    return Misfit(path, f"{expected}: {reason}" if reason else expected)


def two_readings(node: Node, schema: m.Schema, path: str) -> Misfit:
    """The node can be read in several ways, none of them better than the others."""
    return Misfit(
        path, f"{describe_node(node)} can be read as {short(schema)} in more than one way"
    )


def whole(value: Container, misfits: list[Misfit]) -> Container:
    """The value, when all of its parts fit."""
    if misfits:
        raise Misfit.of(misfits, value)
    return value


def unclosed_object(path: str) -> Misfit:
    """The object here has no end, and more may have been meant."""
    return Misfit(path, "the object was not closed and may have been meant to go on")


def describe_node(node: Node) -> str:
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
    return max(len(part.path) for part in misfit.parts)


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
    try:
        value = fitter.fit(node, schema, "value")
    except Misfit as misfit:
        raise misfit.explained_by(partial(_all_misfits, misfit, node, schema, size)) from None
    return Fit(value, tuple(fitter.notes), fitter.cost)


def _all_misfits(first: Misfit, node: Node, schema: m.Schema, size: int) -> Misfit:
    try:
        Fitter(steps=100_000 + 20 * size, most=MOST_SOUGHT).fit(node, schema, "value")
    except Misfit as misfit:
        return misfit
    return first


class Fitter:
    """Collects the notes and the cost while it fits one node."""

    def __init__(self, steps: int, most: int = 1) -> None:
        self.notes: list[str] = []
        self.cost = 0
        self.steps = steps
        self.reshaping = 0
        # How many misfits may be found before it ends.
        self.most = most
        # The paths of objects whose keys may be data.
        self.keeps_keys: set[str] = set()

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
                if depth(misfit) > depth(first):
                    first, misfit.value = misfit, HOLE  # of another shape
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
            raise Misfit(path, "an ellipsis replaces data that was left out")
        match schema:
            case m.AnySchema():
                return self.fit_any(node, path)
            case m.ScalarSchema(kind):
                return self.fit_scalar(node, kind, schema, path)
            case m.ListSchema(item):
                items = expect(node, list, schema, path)
                if is_remark(items, item):
                    raise mismatch(node, schema, path)
                return self.fit_items(items, (item,) * len(items), path)
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
            # None of these comes here: see contracts, `fit`
            case m.OpaqueSchema() | m.ReferenceSchema() | m.RootSchema():
                raise mismatch(node, schema, path)

    def fit_scalar(self, node: Node, kind: m.ScalarKind, schema: m.ScalarSchema, path: str) -> Any:
        if is_word(kind):
            taken = take_date(node, kind)
            if taken is None and isinstance(node, str):
                raise _no_date(node, kind, path)
        else:
            taken = take_scalar(node, kind)
        return self.take(taken, schema, node, path)

    def fit_items(self, items: list[Node], schemas: Sequence[m.Schema], path: str) -> list[Any]:
        value: list[Any] = []
        misfits: list[Misfit] = []
        for i, (item, schema) in enumerate(zip(items, schemas, strict=True)):
            value.append(self.fit_part(item, schema, f"{path}[{i}]", misfits))
        return whole(value, misfits)

    def fit_part(self, node: Node, schema: m.Schema, path: str, misfits: list[Misfit]) -> Any:
        """The part of a value; where more misfits are to be found, a hole if it does not fit."""
        try:
            return self.fit(node, schema, path)
        except Misfit as misfit:
            self.add(misfit, misfits)
            return misfit.value

    def add(self, misfit: Misfit, misfits: list[Misfit]) -> None:
        """Goes on after a misfit of a part, unless it is one too many."""
        misfits.append(misfit)
        if len(misfits) >= self.most:
            raise Misfit.of(misfits, HOLE)

    def take(self, taken: Scalar | None, schema: m.Schema, node: Node, path: str) -> Any:
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
        if isinstance(node, Bare):
            self.check_plain(node, m.AnySchema(), path)
        return self.take(take_scalar(node, "any"), m.AnySchema(), node, path)

    def fit_tuple(self, node: Node, schema: m.TupleSchema, path: str) -> list[Any]:
        items = expect(node, list, schema, path)
        rest = schema.rest
        schemas = schema.items if rest is None else (rest,) * len(items)
        if len(items) != len(schemas):
            raise Misfit(path, f"expected {short(schema)}, got {len(items)} items")
        return self.fit_items(items, schemas, path)

    def fit_map(self, node: Node, schema: m.MapSchema, path: str) -> dict[str, Any]:
        members = expect(node, dict, schema, path)
        if isinstance(members, RepeatedKeys):
            raise Misfit(path, "a key appears twice")
        if isinstance(members, OpenObject):
            raise unclosed_object(path)
        value: dict[str, Any] = {}
        misfits: list[Misfit] = []
        cost = self.cost
        read: dict[Any, str] = {}
        for key, item in members.items():
            inner = member_path(path, key)
            name = self.fit_key(key, schema.key, inner, read, misfits)
            with self.keeping_keys(inner):
                value[name] = self.fit_part(item, schema.value, inner, misfits)
        if len(members) == 1 and self.cost >= cost + RESHAPED:
            self.check_only_member(node, schema, path)
        return whole(value, misfits)

    def fit_key(
        self, key: str, schema: m.Schema, path: str, read: dict[Any, str], misfits: list[Misfit]
    ) -> str:
        """The key as the schema has it; `read` are the earlier ones, by what they say."""
        if schema == m.TEXT:
            return key
        name = self.fit_part(key, schema, f"{path}: its key", misfits)
        if name is HOLE:
            return key
        said = decode(name, schema)
        if said in read:
            self.add(Misfit(path, f"its key says the same as `{read[said]}`"), misfits)
        read.setdefault(said, key)
        return name

    def check_only_member(self, node: Node, schema: m.MapSchema, path: str) -> None:
        """Misfit where the only member of a map that had to be reshaped may be the map itself."""
        (item,) = expect(node, dict, schema, path).values()
        try:
            self.tried(item, schema, path)
        except Misfit:
            return
        raise two_readings(node, schema, path)

    @contextmanager
    def keeping_keys(self, path: str) -> Generator[None]:
        """Notes that no key of an object at this path is a wrapping."""
        is_new = path not in self.keeps_keys
        self.keeps_keys.add(path)
        try:
            yield
        finally:
            if is_new:
                self.keeps_keys.discard(path)

    def fit_object(self, node: Node, schema: m.ObjectSchema, path: str) -> dict[str, Any]:
        members = expect(node, dict, schema, path)
        self.note_repeated(members, path)
        keys = keys_of_fields(members, schema, path)
        if members and not keys:
            raise Misfit(path, f"none of its keys ({listed(members)}) is a field")
        value: dict[str, Any] = {}
        misfits: list[Misfit] = []
        for field in schema.fields:
            key = keys.get(field.name)
            if key is not None:
                if key != field.name:
                    self.note(path, f"key `{key}` as `{field.name}`", 1)
                inner = f"{path}.{field.name}"
                value[field.name] = self.fit_part(members[key], field.schema, inner, misfits)
            elif field.required:
                self.add(Misfit(path, f"`{field.name}` is missing"), misfits)
                value[field.name] = HOLE
            elif isinstance(members, OpenObject):
                raise unclosed_object(path)
            elif field.default is None:
                value[field.name] = None
        named = set(keys.values())
        for key in members:
            if key not in named:
                self.note(path, f"dropped key `{key}`", 1)
        return whole(value, misfits)

    def note_repeated(self, members: dict[str, Node], path: str) -> None:
        if isinstance(members, RepeatedKeys):
            self.note(path, "a key appears twice: the later value", 1)

    def check_plain(self, text: Bare, schema: m.Schema, path: str) -> None:
        """Misfit where text without quotes may be a text, and something else as well."""
        if is_notation(text) or isinstance(text, StructuredLine):
            return
        if may_say_nothing(text):
            raise Misfit(path, f"`{text[:60]}` may be a text, or tell that there is none")
        for other in other_readings(schema):
            try:
                self.tried(text, other, path)
            except Misfit:
                continue
            raise two_readings(text, schema, path)

    def fit_union(self, node: Node, schema: m.UnionSchema, path: str) -> Any:
        members = m.members_of(schema)
        if isinstance(node, Bare) and admits_text(schema) and not is_member(node, members):
            self.check_plain(node, schema, path)
        if is_object(node) and has_meant_keys(node, members):
            with self.keeping_keys(path):
                return self.fit_best(node, schema, path)
        return self.fit_best(node, schema, path)

    def fit_best(self, node: Node, schema: m.UnionSchema, path: str) -> Any:
        """As the member of the union that fits best."""
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
            # The member that comes nearest has the fewest misfits, all of them inside.
            inside = [one for one in misfits if depth(one) > len(path)]
            if inside:
                raise max(inside, key=lambda one: (-len(one.parts), depth(one)))
            raise mismatch(node, schema, path)
        if drawn:
            raise two_readings(node, schema, path)
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
    if isinstance(node, StructuredLine):
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
    if isinstance(item, Bare) and admits_text(schema.item) and not is_item(item):
        raise mismatch(node, schema, path)
    return [fitter.fit(item, schema.item, f"{path}[0]")]


def from_list_of_one(fitter: Fitter, node: Node, schema: m.Schema, path: str) -> Any:
    """The only item of a list, where no list is asked for."""
    items = expect(node, list, schema, path)
    if len(items) != 1 or isinstance(items, OpenList):
        raise mismatch(node, schema, path)
    if isinstance(schema, (m.ListSchema, m.TupleSchema)) and not isinstance(items[0], list):
        raise Misfit(path, "a list of something else")
    (item,) = items
    if isinstance(item, Bare) and admits_text(schema) and not is_notation(item):
        raise mismatch(node, schema, path)
    if isinstance(schema, m.MapSchema) and is_object(item) and is_pair(item):
        raise two_readings(node, schema, path)
    fitter.reshaped(path, "the only item of a list")
    return fitter.fit(items[0], schema, path)


def from_wrapper(fitter: Fitter, node: Node, schema: m.Schema, path: str) -> Any:
    """The only member that fits, of an object that is not what is asked for."""
    members = expect(node, dict, schema, path)
    if isinstance(members, OpenObject):
        raise unclosed_object(path)
    is_markup = isinstance(node, Elements) and len(members) == 1
    if not is_markup and (isinstance(schema, m.MapSchema) or path in fitter.keeps_keys):
        raise mismatch(node, schema, path)
    if isinstance(schema, m.ObjectSchema) and keys_of_fields(members, schema, path):
        raise Misfit(path, "not a wrapper")
    is_ours = set(members) == {"value"}  # as a server that enforces a schema is asked for it
    wrapped = [key for key, item in members.items() if is_ours or may_be_wrapped(item, schema)]
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
    if isinstance(node, bool) and admits_text(schema.item) and not takes_bool(schema.item):
        raise mismatch(node, schema, path)
    if isinstance(node, str):
        if not node.strip() or node.casefold() in NIL_WORDS:
            raise mismatch(node, schema, path)
        if LISTED.fullmatch(node):
            return from_enumeration(fitter, node, schema, path)
        if admits_text(schema.item) and not is_single_item(node, m.members_of(schema.item)):
            raise mismatch(node, schema, path)
    fitter.reshaped(path, "a list around a single value")
    inner = f"{path}[0]"
    if path not in fitter.keeps_keys:
        return [fitter.fit(node, schema.item, inner)]
    with fitter.keeping_keys(inner):
        return [fitter.fit(node, schema.item, inner)]


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


PAIRS = ({"key", "value"}, {"name", "value"}, {"k", "v"})

RESHAPES: tuple[Reshape, ...] = (
    from_structure,
    from_only_element,
    from_list_of_one,
    from_wrapper,
    from_single,
)


def is_pair(members: dict[str, Node]) -> bool:
    """Whether an object is one entry of a map: `{"key": "Norway", "value": "Oslo"}`."""
    return len(members) == 2 and {letters(key) for key in members} in PAIRS


def may_be_wrapped(item: Node, schema: m.Schema) -> bool:
    """Whether the member of a wrapper may be what is asked for: text never comes out of one."""
    match schema:
        case m.ScalarSchema("string" | "nil"):
            return False
        case m.ListSchema(inner) if isinstance(m.resolved(inner), m.MapSchema):
            return isinstance(item, list)
        case m.ListSchema() | m.TupleSchema():
            return isinstance(item, (list, dict))
        case m.ObjectSchema() | m.MapSchema():
            return isinstance(item, (dict, list))
        case _:
            return True
