"""The Python modules that scripts import, and the modules that these import, read on demand.

    library = Library(read)
    library.module("shop").members.find("Order")    the declaration of `Order`, across imports

A module is read when one of its names is needed: by a script, as a base of a class with fields, or
in an annotation. A name that cannot be resolved is declared as any value.
"""

import ast
import builtins
from collections.abc import Callable, Collection
from dataclasses import dataclass

from saftc.check.facts import RecordFacts, Shape
from saftc.project.python.annotations import (
    Meaning,
    Scope,
    Variable,
    admits,
    constant_type,
    literal_of,
    read,
)
from saftc.project.python.bindings import Bindings, Definition, Imported, Overloads, Place
from saftc.project.python.classes import Class
from saftc.project.python.fields import is_told
from saftc.project.python.signatures import decorated, function_of
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.types.foreign import UNKNOWN, Alias, Declared, Namespace, PythonClass, Value
from saftc.types.types import ANY, Type, widened

# The well-known modules: annotations with their names are understood without reading them.
_KNOWN = (
    *("abc", "builtins", "collections.abc", "dataclasses", "enum", "functools", "types"),
    *("annotated_types", "typing", "typing_extensions", "pydantic"),
)
_BUILTINS = frozenset(dir(builtins))
# The annotation float in these modules excludes int.
_EXACT = ("math", "time", "_random")


@dataclass(frozen=True, slots=True)
class Text:
    """The bindings of a module. With `is_stub`, they come from a stub.

    `is_closed`: the module certainly has no other public names. `source` is the text of the module.
    It is set only if the places of names are needed.
    """

    bindings: Bindings
    is_stub: bool = False
    is_closed: bool = False
    source: Source | None = None
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """The place where a Python module defines a name, or the start of the module itself.

    `head` is the signature of a function or class, or the line that binds another name. `doc` is
    the docstring.
    """

    source: Source
    span: Span
    head: str = ""
    doc: str = ""


# Returns a module's bindings, by its absolute name; None if it has no source to read.
Read = Callable[[str], Text | None]


class NamedType:
    """A type alias."""

    def __init__(self, node: ast.expr, scope: Scope) -> None:
        self._node = node
        self._scope = scope
        self._is_asked = False
        self.value = read(node, scope)

    def admits(self, type_: Type) -> bool:
        """Whether a value of this Saft type can have the type that the alias names."""
        if self._is_asked:
            return True  # it names itself
        self._is_asked = True
        try:
            return admits(self._node, self._scope, type_)
        finally:
            self._is_asked = False

    @property
    def only_method(self) -> str | None:
        """Always None, as an alias is not a protocol."""
        return None

    @property
    def is_told(self) -> bool:
        """Whether pydantic alone checks values of the alias.

        The result is False if the alias refers to itself.
        """
        if self._is_asked:
            return False
        self._is_asked = True
        try:
            return is_told(self._node, self._scope)
        finally:
            self._is_asked = False


class Library:
    """The Python modules by name, which are read when they are first looked up.

    `records` has the classes found so far that are records. `shapes` has those that are object
    types, with their modules and names. With `is_exact`, the well-known modules are read too.
    """

    def __init__(self, read: Read, *, is_exact: bool = False) -> None:
        self._read = read
        self._is_exact = is_exact
        self._modules: dict[str, Module | None] = {}
        self.records: dict[n.RecordDef, RecordFacts] = {}
        self.shapes: dict[Shape, tuple[str, str]] = {}

    @property
    def looked_up(self) -> Collection[str]:
        """The names of the modules that were looked up so far."""
        return self._modules.keys()

    def module(self, name: str) -> "Module | None":
        """The module called `name`; None if no source of it can be read."""
        if name not in self._modules:
            text = self._read(name)
            self._modules[name] = None if text is None else Module(self, name, text)
        return self._modules[name]

    def written(self, module: str, name: str | None) -> Location | None:
        """The place where a name of a module is defined.

        If `name` is None, the result is the start of the module.
        """
        found = self.module(module)
        return None if found is None else found.written(name)

    def knows(self, module: str) -> bool:
        """Whether the module is well-known.

        Annotations with names of a well-known module are understood without reading the module.
        """
        return not self._is_exact and (module in _KNOWN or module.startswith("pydantic."))


class Module:
    """A Python module, with the declarations of its names."""

    def __init__(self, library: Library, name: str, text: Text) -> None:
        self.library = library
        self.name = name
        self.bindings = text.bindings
        self._text = text
        self.is_stub = text.is_stub
        self.members = Namespace(name, self.declared, lambda: self.bindings.names.keys())
        self._classes: dict[str, Class] = {}
        self._aliases: dict[str, NamedType | None] = {}
        self._own: dict[str, Declared] = {}

    # For scripts

    def declared(self, name: str) -> Declared | None:
        """What a script sees under a name of this module.

        The result is None if the module certainly has no such name.
        """
        found = self.reach(name)
        match found:
            case None:
                below = self.library.module(f"{self.name}.{name}")
                if below is not None:
                    return below.members
                known = self.bindings
                is_closed = self._text.is_closed and not known.stars and not name.startswith("_")
                is_there = name in known.names or "__getattr__" in known.names
                return None if is_closed and not is_there else UNKNOWN
            case str():
                return UNKNOWN
            case Module():
                return found.members
            case _:
                module, own = found
                return module.own(own)

    def own(self, name: str) -> Declared:
        """The declaration of a name bound in this module."""
        if name not in self._own:
            self._own[name] = UNKNOWN  # while it is found out
            self._own[name] = self._declared_here(name)
        return self._own[name]

    def _declared_here(self, name: str) -> Declared:
        match self.bindings.names[name]:
            case Overloads(nodes) if self.is_stub or not _is_decorated(nodes[0]):
                return function_of(nodes, self.meaning)
            case Overloads(nodes):
                return decorated(nodes)
            case ast.ClassDef():
                return self._class(name).declared
            case ast.AnnAssign(annotation=annotation, value=value) if (
                self._type_named(name) is None
            ):
                is_final = self.meaning(annotation) == "typing.Final"
                if is_final and isinstance(value, ast.Constant):
                    return Value(widened(literal_of(value)))
                return read(annotation, self.meaning)
            case ast.Assign(value=ast.Attribute() as other) if self.is_stub:
                return self._reached(other) or UNKNOWN
            case ast.Assign(value=value) if name.isupper() and constant_type(value) != ANY:
                return Value(constant_type(value))
            case _:
                alias = self._alias(name)
                type_ = ANY if alias is None else alias.value.type
                return UNKNOWN if type_ == ANY else Alias(type_)

    def _reached(self, node: ast.expr) -> Declared | None:
        """The declaration that an expression such as `_inst.choice` in a stub refers to."""
        match node:
            case ast.Name(id=name):
                return self.declared(name)
            case ast.Attribute(value=value, attr=name):
                match self._reached(value):
                    case (
                        (Namespace() as members)
                        | Value(members=Namespace() as members)
                        | PythonClass(members=members)
                    ):
                        return members.find(name)
                    case _:
                        return None
            case _:
                return None

    def reach(
        self, name: str, seen: "set[tuple[str, str]] | None" = None
    ) -> "Module | tuple[Module, str] | str | None":
        """Follows imports to the module that binds a name. Returns this module and the name in it.

        If the name means a module, the result is only the module. A name of a well-known module is
        returned as a text such as `typing.Optional`. The result is None if no module binds the
        name.
        """
        seen = set() if seen is None else seen
        if (self.name, name) in seen:
            return None
        seen.add((self.name, name))
        if name in self.bindings.names:
            match self.bindings.names[name]:
                case Imported(module, str() as other) if self.library.knows(module):
                    return f"{_KNOWN_AS.get(module, module.split('.')[0])}.{other}"
                case Imported(module, other):
                    origin = self.library.module(module)
                    if origin is None or other is None:
                        return origin
                    return origin.reach(other, seen) or self.library.module(f"{module}.{other}")
                case ast.Assign(value=ast.Name(id=other)) if self.is_stub:
                    return self.reach(other, seen) or (self, name)
                case _:
                    return self, name
        for star in self.bindings.stars:
            origin = None if self.library.knows(star) else self.library.module(star)
            found = None if origin is None else origin.reach(name, seen)
            if found is not None:
                return found
        return None

    # For editors

    def written(self, name: str | None) -> Location | None:
        """The place where a name is defined, across imports.

        If `name` is None, the result is the start of the module.
        """
        source = self._text.source
        if name is None:
            return None if source is None else Location(source, Span(0, 0), doc=self._text.doc)
        match self.reach(name):
            case None:
                return self.library.written(f"{self.name}.{name}", None)
            case Module() as found:
                return found.written(None)
            case (Module() as module, own) if module._text.source is not None:
                return _written(module._text.source, module.bindings.places[own], own)
            case _:
                return None

    # For annotations

    def meaning(self, node: ast.expr) -> Meaning:
        """The class, alias or type variable that an annotation in the module names.

        For a name of a well-known module, the result is a text such as `typing.Optional`.
        """
        match node:
            case ast.Name(id=name):
                return self._named(name)
            case ast.Attribute(value=ast.expr() as value, attr=name):
                module = self._whole(value)
                if module is None:
                    return None
                if self.library.knows(module):
                    return f"{_KNOWN_AS.get(module, module.split('.')[0])}.{name}"
                found = self.library.module(module)
                return None if found is None else found._named(name)
            case _:
                return None

    def _whole(self, node: ast.expr) -> str | None:
        """The dotted name of the module that an expression refers to.

        The result is None if the expression does not begin with an imported name.
        """
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

    def _named(self, name: str) -> Meaning:
        found = self.reach(name)
        match found:
            case None:
                is_builtin = name in _BUILTINS and name not in self.bindings.names
                is_exact = name == "float" and self.name in _EXACT
                return f"{'exact' if is_exact else 'builtins'}.{name}" if is_builtin else None
            case Module():
                return None
            case str():
                return found
            case _:
                module, own = found
                return module._own_meaning(own)

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

    def _alias(self, name: str) -> NamedType | None:
        """The type alias that a name of this module is bound to; None if it is not an alias."""
        if name not in self._aliases:
            self._aliases[name] = None  # while it is found out
            node = self._type_named(name)
            self._aliases[name] = None if node is None else NamedType(node, self.meaning)
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


def _written(source: Source, node: Place, name: str) -> Location:
    text = source.line_text(node.lineno)
    column = len(text.encode()[: node.col_offset].decode())
    start = source.line_start(node.lineno) + max(text.find(name, column), column)
    span = Span(start, start + len(name))
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return Location(source, span, text.strip())
    doc = ast.get_docstring(node) or ""
    if isinstance(node, ast.ClassDef):
        return Location(source, span, f"class {name}", doc)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return Location(source, span, f"def {name}({ast.unparse(node.args)}){returns}", doc)


# The modules under which the names of others are known.
_KNOWN_AS = {"typing_extensions": "typing", "collections.abc": "typing"}


def _is_decorated(node: Definition) -> bool:
    return any(ast.unparse(one).split(".")[-1] != "overload" for one in node.decorator_list)
