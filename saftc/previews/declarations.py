"""Builds Python types and functions from the declarations of scripts, for previews.

    type Point(x: float, y: float)                a dataclass
    {id: int}, [string]?                          a TypedDict, `list[str] | None`
    f gap(a: Point, b: Point) -> float:           a function with this signature and docstring

The runtime reads these objects as it reads those of a compiled module, so previews show what a run
would send. No script runs, so defaults other than nil are unknown. The objects of Python modules
are built from the modules' source, or come from the modules themselves if these are imported.
"""

import inspect
import sys
from collections import ChainMap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, TypedDict, Union

import runtime_support
from runtime_support import ops, programs
from saftc.check.facts import Facts, Shape
from saftc.codegen import python as py
from saftc.codegen.annotations import common_value, grouped, is_plain_dict
from saftc.codegen.statements.classes import has_alias_form
from saftc.previews.python_objects import NotStaticallyKnown, unknown_in
from saftc.project.files import FileProblem
from saftc.syntax import nodes as n
from saftc.types.types import (
    CLASSES_OF_DATES,
    NIL,
    RESULT,
    BuiltinType,
    CallableType,
    FunctionType,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    RecordType,
    Scalar,
    SelfType,
    TupleType,
    Type,
    UnionType,
    keys_of,
    without,
)

# Untyped, as it is called with names and types that type checkers do not know.
_TYPED_DICT: Any = TypedDict

# Returns a Python module or its stand-in, whose members may raise NotStaticallyKnown.
FindModule = Callable[[str], Any]

_SCALARS: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "string": str,
    "nil": None,
    "image": runtime_support.Image,
    "file": runtime_support.File,
    **{
        of_date.kind: getattr(import_module(module), name)
        for (module, name), of_date in CLASSES_OF_DATES.items()
    },
}


def imported_beside(folder: Path) -> Callable[[str], ModuleType]:
    """Returns a function that imports Python modules as a script in `folder` does.

    The function raises FileProblem if the module raises an error.
    """
    sys.path.insert(0, str(folder.absolute()))

    def found(name: str) -> ModuleType:
        try:
            return import_module(name)
        except Exception as error:
            raise FileProblem(f"cannot import {name}: {type(error).__name__}: {error}") from None

    return found


class Declarations:
    """Builds the types and functions that a script and its imports declare, each of them once.

    `find` returns a Python module by its name.
    """

    def __init__(self, facts: Facts, find: FindModule) -> None:
        self.facts, self.find = facts, find
        self.docs = ChainMap(*(one.module.docs for one in (facts, *facts.scripts)))
        self._functions: dict[n.FunctionDef, Any] = {}
        self._records: dict[n.RecordDef, Any] = {}
        self._objects: dict[Shape, Any] = {}
        # The name and documentation of each object type that an alias names.
        self._aliases: dict[Shape, tuple[str, str | None]] = {}
        # The documentation of each other type that an alias names.
        self._alias_docs: dict[Type, str | None] = {}
        for script in (*facts.scripts, facts):
            for one in script.module.statements:
                if not isinstance(one, n.TypeAlias):
                    continue
                type_, doc = script.aliases[one.name.text], script.module.docs.get(one)
                if isinstance(one.schema, n.ObjectSchema) and isinstance(type_, ObjectType):
                    self._aliases[type_.fields] = one.name.text, doc
                elif has_alias_form(type_):
                    self._alias_docs[type_] = doc

    def function(self, definition: n.FunctionDef) -> Any:
        """A Python function with the signature and the docstring of a script's function."""
        known = self._functions.get(definition)
        if known is not None:
            return known

        def declared(*_given: Any, **_named: Any) -> None:
            """Replaces the function in previews, and is never called."""

        facts = self.facts.functions[definition]
        kept = definition in self.facts.history.does
        returns = self.type_(facts.returns)
        hints = {
            py.field_name(one.name.text): self._described(type_, one)
            for one, type_ in zip(definition.parameters, facts.parameters, strict=True)
        }
        declared.__name__ = declared.__qualname__ = py.field_name(definition.name.text)
        declared.__doc__ = self.docs.get(definition)
        declared.__annotations__ = {
            **hints,
            "return": runtime_support.Result[returns] if kept else returns,
        }
        parameters = [
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=inspect.Parameter.empty if one.default is None else _default(one.default),
            )
            for name, one in zip(hints, definition.parameters, strict=True)
        ]
        vars(declared)["__signature__"] = inspect.Signature(parameters)
        self._functions[definition] = declared
        return declared

    def fields(self, statement: n.DestructureStmt) -> dict[str, Any]:
        """Maps the names of a destructuring's fields to their types."""
        types = self.facts.schemas
        return {one.name.text: self._described(types[one.schema], one) for one in statement.fields}

    def type_(self, type_: Type) -> Any:
        """The Python object that annotates values of a type, such as `list[str]`."""
        return _with_doc(self._without_doc(type_), self._alias_docs.get(type_))

    def _without_doc(self, type_: Type) -> Any:
        place = self._place_in_python(type_)
        if place is not None:
            return getattr(self.find(place[0]), place[1], Any)
        match type_:
            case Scalar(kind="dataframe"):
                import polars  # here, as the import takes as long as all others together

                return polars.DataFrame
            case Scalar(kind):
                return _SCALARS.get(kind, Any)
            case LiteralType(value):
                return Literal[value]
            case ListType(item):
                return list[self.type_(item)]
            case TupleType(items):
                return tuple[*map(self.type_, items)]
            case ObjectType(is_declared=True):
                return self._object(type_)
            case ObjectType() | MapType():
                return self._dict([type_])
            case RecordType(definition=n.RecordDef() as definition):
                return self.record(definition)
            case RecordType():
                home = {"Plan": programs, "Failure": ops}.get(type_.name, runtime_support)
                own = getattr(home, type_.name)
                return own[Any] if type_ == RESULT else own
            case SelfType():
                return self.type_(type_.whole[0])
            case UnionType():
                return self._union(type_)
            case CallableType(parameters, result):
                return Callable[[*map(self.type_, parameters)], self.type_(result)]
            case FunctionType() | BuiltinType():
                return Any

    def _union(self, type_: UnionType) -> Any:
        if any(isinstance(member, FunctionType | BuiltinType) for member in type_.members):
            return Any
        if NIL in type_.members and without(type_, NIL) in self._alias_docs:
            return self.type_(without(type_, NIL)) | None
        return Union[*(self._group(group) for group in grouped(type_))]

    def _group(self, group: Sequence[Type]) -> Any:
        first = group[0]
        if isinstance(first, LiteralType):
            return Literal[*(one.value for one in group if isinstance(one, LiteralType))]
        dicts = list(filter(is_plain_dict, group))
        return self._dict(dicts) if dicts else self.type_(first)

    def _dict(self, group: Sequence[ObjectType | MapType]) -> Any:
        return dict[self.type_(keys_of(group[0])), self.type_(common_value(group))]

    def _object(self, type_: ObjectType) -> Any:
        """The TypedDict of an object schema. Its annotations may refer to the TypedDict itself."""
        if type_.fields not in self._objects:
            name, doc = self._aliases.get(type_.fields, ("Object", None))
            class_ = _TYPED_DICT(name, {one.name: Any for one in type_.fields})
            self._objects[type_.fields] = class_
            # The module has no docstring if a field's name prevents a class.
            if all(py.is_identifier(one.name) for one in type_.fields):
                class_.__doc__ = doc
            class_.__annotations__ = {
                one.name: _with_doc(self.type_(one.type), one.doc) for one in type_.fields
            }
        return self._objects[type_.fields]

    def record(self, definition: n.RecordDef) -> Any:
        """The dataclass of a record, without its rules."""
        if definition in self._records:
            return self._records[definition]
        types = self.facts.record_facts[definition].fields.values()
        fields = {py.field_name(one.name.text): one for one in definition.fields}
        body: dict[str, Any] = {"__annotations__": dict.fromkeys(fields, Any)}
        for name, field in fields.items():
            if field.default is not None:
                body[name] = _default(field.default)
            elif field in definition.nil_by_default:
                body[name] = None
        if definition in self.docs:
            body["__doc__"] = self.docs[definition]
        class_: Any = dataclass(type(definition.name.text, (), body))
        self._records[definition] = class_
        class_.__annotations__ = {
            key: self._described(type_, fields[key])
            for key, type_ in zip(fields, types, strict=True)
        }
        return class_

    def unknown_in(self, type_: Type) -> list[str]:
        """Descriptions of the unknown parts of a Python class. Other types have none."""
        place = self._place_in_python(type_)
        if place is None:
            return []
        try:
            return unknown_in(getattr(self.find(place[0]), place[1]))
        except NotStaticallyKnown:
            return [f"`{place[1]}`"]

    def _place_in_python(self, type_: Type) -> tuple[str, str] | None:
        match type_:
            case RecordType(definition=n.RecordDef() as definition):
                is_python = self.facts.is_of_python(type_)
                return (self.facts.module_of(definition), type_.name) if is_python else None
            case ObjectType(fields) if fields not in self._aliases:
                return self.facts.python_shapes.get(fields)
            case _:
                return None

    def _described(self, type_: Type, node: n.Node) -> Any:
        return _with_doc(self.type_(type_), self.docs.get(node))


def _with_doc(type_: Any, doc: str | None) -> Any:
    return type_ if doc is None else Annotated[type_, " ".join(doc.split("\n"))]


def _default(node: n.Expression) -> Any:
    """None if the default is nil, and otherwise a placeholder."""
    return None if isinstance(node, n.Literal) and node.value is None else ...
