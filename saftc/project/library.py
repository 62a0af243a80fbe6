"""The Python modules that scripts import, and those that these import, as far as they are asked.

    library = Library(read)
    library.module("shop").members.find("Order")    what `Order` is there, wherever it comes from

A module is read when something of it is asked for: a name that a script uses, a base of a class
with fields, a class that an annotation names. What cannot be found, or told, is any value.
"""

import ast
import builtins
from collections.abc import Callable, Collection
from dataclasses import dataclass

from saftc.project.annotations import Meaning, Variable, read
from saftc.project.bindings import Bindings, Imported, Overloads
from saftc.project.classes import Class
from saftc.project.signatures import function_of
from saftc.semantics.facts import RecordFacts, Shape
from saftc.semantics.foreign import UNKNOWN, Alias, Declared, Namespace, Value
from saftc.semantics.types import ANY, Type
from saftc.syntax import nodes as n

# Of these modules, what a name means in an annotation is known by the name.
_KNOWN = (
    *("abc", "builtins", "collections.abc", "dataclasses", "enum", "functools", "types"),
    *("typing", "typing_extensions", "pydantic"),
)
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Text:
    """What a module binds; `is_stub`: the text is not what runs, but only says what is there."""

    bindings: Bindings
    is_stub: bool = False


# Gives what a module binds, by its whole name; None when there is nothing to read.
Read = Callable[[str], Text | None]


@dataclass(frozen=True, slots=True)
class _Alias:
    """A name for a type, where an annotation names it."""

    value: Value

    def admits(self, type_: Type) -> bool:
        """Any value, since it is not looked into."""
        return True

    @property
    def only_method(self) -> str | None:
        """None: it is no class."""
        return None


class Library:
    """The modules by name. `records` are the classes found so far that are records, `shapes` those
    that are objects, with their modules and names."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._modules: dict[str, Module | None] = {}
        self.records: dict[n.RecordDef, RecordFacts] = {}
        self.shapes: dict[Shape, tuple[str, str]] = {}

    @property
    def asked(self) -> Collection[str]:
        """The modules that were looked at so far."""
        return self._modules.keys()

    def module(self, name: str) -> "Module | None":
        """A module; None when there is nothing to read."""
        if name not in self._modules:
            text = self._read(name)
            self._modules[name] = None if text is None else Module(self, name, text)
        return self._modules[name]


class Module:
    """A module: what its names mean."""

    def __init__(self, library: Library, name: str, text: Text) -> None:
        self.library = library
        self.name = name
        self.bindings = text.bindings
        self.is_stub = text.is_stub
        self.members = Namespace(name, self.declared, lambda: self.bindings.names.keys())
        self._classes: dict[str, Class] = {}
        self._aliases: dict[str, _Alias | None] = {}

    # What scripts ask for

    def declared(self, name: str) -> Declared | None:
        """What a name of the module is for a script; None where it has no such name."""
        found = self._find(name, set())
        match found:
            case None:
                below = self.library.module(f"{self.name}.{name}")
                if below is not None:
                    return below.members
                is_there = name in self.bindings.names or bool(self.bindings.stars)
                return UNKNOWN if is_there or "__getattr__" in self.bindings.names else None
            case Module():
                return found.members
            case _:
                module, own = found
                return module.own(own)

    def own(self, name: str) -> Declared:
        """What a name is that is bound here."""
        match self.bindings.names[name]:
            case Overloads(nodes) if self.is_stub or not _is_decorated(nodes[0]):
                return function_of(nodes, self.meaning)
            case ast.ClassDef():
                return self._class(name).declared
            case ast.AnnAssign(annotation=annotation) if self._alias(name) is None:
                return read(annotation, self.meaning)
            case _:
                alias = self._alias(name)
                return UNKNOWN if alias is None else Alias(alias.value.type)

    def _find(
        self, name: str, seen: "set[tuple[str, str]]"
    ) -> "Module | tuple[Module, str] | None":
        """The module that binds a name, and its name there, however often it is passed on."""
        if (self.name, name) in seen:
            return None
        seen.add((self.name, name))
        if name in self.bindings.names:
            bound = self.bindings.names[name]
            if not isinstance(bound, Imported):
                return self, name
            origin = self.library.module(bound.module)
            if origin is None or bound.name is None:
                return origin
            found = origin._find(bound.name, seen)
            return found or self.library.module(f"{bound.module}.{bound.name}")
        for star in self.bindings.stars:
            origin = self.library.module(star)
            found = None if origin is None else origin._find(name, seen)
            if found is not None:
                return found
        return None

    # What annotations name

    def meaning(self, node: ast.expr) -> Meaning:
        """What an annotation means in the module."""
        match node:
            case ast.Name(id=name):
                return self._named(name, set())
            case ast.Attribute(value=ast.expr() as value, attr=name):
                module = self._whole(value)
                if module is None:
                    return None
                if _is_known(module):
                    return f"{_KNOWN_AS.get(module, module.split('.')[0])}.{name}"
                found = self.library.module(module)
                return None if found is None else found._named(name, set())
            case _:
                return None

    def _whole(self, node: ast.expr) -> str | None:
        """The name of the module that an expression means."""
        match node:
            case ast.Name(id=name):
                bound = self.bindings.names.get(name)
                if not isinstance(bound, Imported):
                    return None
                return bound.module if bound.name is None else f"{bound.module}.{bound.name}"
            case ast.Attribute(value=value, attr=name):
                module = self._whole(value)
                return None if module is None else f"{module}.{name}"
            case _:
                return None

    def _named(self, name: str, seen: "set[tuple[str, str]]") -> Meaning:
        if (self.name, name) in seen:
            return None
        seen.add((self.name, name))
        if name in self.bindings.names:
            bound = self.bindings.names[name]
            if not isinstance(bound, Imported):
                return self._own_meaning(name)
            if bound.name is not None and _is_known(bound.module):
                return f"{_KNOWN_AS.get(bound.module, bound.module.split('.')[0])}.{bound.name}"
            origin = self.library.module(bound.module)
            return None if origin is None or bound.name is None else origin._named(bound.name, seen)
        for star in self.bindings.stars:
            origin = None if _is_known(star) else self.library.module(star)
            found = None if origin is None else origin._named(name, seen)
            if found is not None and not (isinstance(found, str) and found.startswith("builtins.")):
                return found
        return f"builtins.{name}" if name in _BUILTINS else None

    def _own_meaning(self, name: str) -> Meaning:
        match self.bindings.names[name]:
            case ast.ClassDef():
                return self._class(name)
            case ast.Assign(value=ast.Call(func=made, args=[_, *bounds])) if (
                self.meaning(made) == "typing.TypeVar"
            ):
                return Variable(name, tuple(bounds))
            case _:
                return self._alias(name)

    def _class(self, name: str) -> Class:
        if name not in self._classes:
            node = self.bindings.names[name]
            assert isinstance(node, ast.ClassDef)
            self._classes[name] = Class(
                self.name, node, self.meaning, self.library, is_stub=self.is_stub
            )
        return self._classes[name]

    def _alias(self, name: str) -> _Alias | None:
        """The type that a name stands for, if it is one for a type."""
        if name not in self._aliases:
            self._aliases[name] = None  # while it is found out
            node = self._type_named(name)
            value = UNKNOWN if node is None else read(node, self.meaning)
            self._aliases[name] = _Alias(value) if value.type != ANY else None
        return self._aliases[name]

    def _type_named(self, name: str) -> ast.expr | None:
        match self.bindings.names[name]:
            case ast.Assign(value=ast.Call(func=made, args=[_, type_])):
                return type_ if self.meaning(made) == "typing.NewType" else None
            case ast.Assign(value=ast.Subscript() | ast.BinOp(op=ast.BitOr()) as type_):
                return type_
            case ast.AnnAssign(annotation=annotation, value=ast.expr() as type_):
                return type_ if self.meaning(annotation) == "typing.TypeAlias" else None
            case _:
                return None


# The names under which those of some modules are known.
_KNOWN_AS = {"typing_extensions": "typing", "collections.abc": "typing"}


def _is_known(module: str) -> bool:
    return module in _KNOWN or module.startswith("pydantic.")


def _is_decorated(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(one).split(".")[-1] != "overload" for one in node.decorator_list)
