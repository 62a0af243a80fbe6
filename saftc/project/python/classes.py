"""Python's classes: those with fields become types of Saft, the others are known by their members.

    @dataclass class Order: id: int             a record `Order(id: int)`
    class Order(BaseModel): id: int             a record whose fields are given by name
    class Tags(RootModel[list[str]]):           a record `Tags(root: [string])`
    class Row(TypedDict): id: int               a name for `{id: int}`
    class Color(Enum): RED = "red"              a type with the member `Color.RED`
    class Client: def get(self) -> str: ...     any value, whose methods are known

A class inherits fields, members and methods. It is not a type if one of its bases is unknown, or
if a field has options that Saft does not know.
"""

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache, cached_property
from keyword import iskeyword
from typing import Protocol

from saftc.check.facts import RecordFacts, Shape
from saftc.check.forms import CopiedBy
from saftc.project.python.annotations import Meaning, Scope, classes_of, read
from saftc.project.python.bindings import Bindings, Bound, Overloads, bindings_of
from saftc.project.python.fields import (
    Kind,
    OwnField,
    choices_of,
    dataclass_options,
    has_plain_body,
    is_told,
    methods_of,
    own_fields,
    renames_parameters,
    script_name,
)
from saftc.project.python.signatures import decorated, function_of
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.types.foreign import UNKNOWN, Declared, Namespace, PythonClass, Value
from saftc.types.types import (
    ANY,
    CLASSES_OF_DATES,
    DATETIME,
    INT,
    NIL,
    STRING,
    FieldType,
    ObjectType,
    RecordType,
    Type,
    union,
)

_NOWHERE = Span(0, 0)
_ENUMS = ("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.ReprEnum")
_MIXED = ("enum.IntEnum", "enum.StrEnum", "builtins.str", "builtins.int", "builtins.float")
# Bases without effect for scripts.
_PLAIN_BASES = ("builtins.object", "typing.Generic", "typing.Protocol", "abc.ABC")
_ROOT_MODEL = "pydantic.RootModel"
_MODELS = ("pydantic.BaseModel", _ROOT_MODEL)
_WITH_FIELDS = ("typing.NamedTuple", *_MODELS)
_COPIED_BY: dict[Kind | None, CopiedBy] = {
    **{"dataclass": "replace", "NamedTuple": "_replace", "model": "changed"}
}
_HARMLESS = ("typing.final", "typing.runtime_checkable", "functools.total_ordering", "enum.unique")
_SAYS_NOTHING = (
    *("abc.abstractmethod", "typing.override", "typing.final", "typing.overload"),
    *("typing.deprecated", "typing.type_check_only"),
)
# A class with one of these methods defines its own schema or construction.
_OWN_WAYS = (
    *("__get_pydantic_core_schema__", "__get_pydantic_json_schema__", "__class_getitem__"),
    "__new__",
)
_PROPERTIES = ("builtins.property", "functools.cached_property", "pydantic.computed_field")

# The members of every model that a script may use.
_MODEL = """
class BaseModel:
    model_config: object
    model_extra: object
    model_fields_set: object
    def copy(self, **options) -> Self: ...
    def dict(self, **options): ...
    def json(self, **options) -> str: ...
    def model_copy(self, **options) -> Self: ...
    def model_dump(self, **options): ...
    def model_dump_json(self, **options) -> str: ...
    @classmethod
    def model_construct(cls, *arguments, **fields) -> Self: ...
    @classmethod
    def model_json_schema(cls, *arguments, **options): ...
    @classmethod
    def model_rebuild(cls, **options): ...
    @classmethod
    def model_validate(cls, data, **options) -> Self: ...
    @classmethod
    def model_validate_json(cls, data, **options) -> Self: ...
"""


class Found(Protocol):
    """The classes that are types of Saft.

    `records` maps the definitions of records to their facts. `shapes` maps the fields of object
    types to the module and name of their class.
    """

    records: dict[n.RecordDef, RecordFacts]
    shapes: dict[Shape, tuple[str, str]]


class Class:
    """A class in a module, or in another class `around` it.

    The class registers its type in `found`.
    """

    def __init__(
        self,
        module: str,
        node: ast.ClassDef,
        scope: Scope,
        found: Found,
        *,
        is_stub: bool,
        around: "Class | None" = None,
    ) -> None:
        self.module = module
        self.around = around
        self.node = node
        self.found = found
        self.is_stub = is_stub
        self.bindings = bindings_of(node.body, is_stub=is_stub)
        self._outer = scope
        self._inner: dict[str, Class] = {}

    @property
    def qualified_name(self) -> str:
        """The name of the class, after the names of the enclosing classes."""
        name = self.node.name
        return name if self.around is None else f"{self.around.qualified_name}.{name}"

    def scope(self, node: ast.expr) -> Meaning:
        """The class, alias or type variable that an annotation inside the class names.

        For a name of a well-known module, the result is a text such as `typing.Optional`.
        """
        if isinstance(node, ast.Name) and self.bindings.names.get(node.id, self) is not self:
            return None  # a method, or a field, of that name
        meaning = self._outer(node)
        return self if meaning == "typing.Self" else meaning

    def inside(self, node: ast.expr) -> Meaning:
        """The same as `scope`, but an annotation may also name a nested class."""
        inner = self.bindings.names.get(node.id) if isinstance(node, ast.Name) else None
        if not isinstance(inner, ast.ClassDef):
            return self.scope(node)
        if inner.name not in self._inner:
            self._inner[inner.name] = Class(
                self.module, inner, self.inside, self.found, is_stub=self.is_stub, around=self
            )
        return self._inner[inner.name]

    @cached_property
    def bases(self) -> list[Meaning]:
        """The direct bases of the class. A base that is not understood is None."""
        heads = (one.value if isinstance(one, ast.Subscript) else one for one in self.node.bases)
        found = map(self._outer, heads)
        return [one if isinstance(one, str | Class) else None for one in found]

    @cached_property
    def mro(self) -> "list[Class]":
        """The class and its ancestors, in method resolution order.

        The list is empty while it is computed, as a class may inherit from itself.
        """
        self.mro = []
        found: dict[Class, None] = {}
        if any(isinstance(base, Class) and not base.mro for base in self.bases):
            self.bases = [None]
        for base in self.bases:
            for one in base.mro if isinstance(base, Class) else ():
                found.pop(one, None)
                found[one] = None
        return [self, *found]

    @cached_property
    def known_bases(self) -> set[Meaning]:
        """The names of ancestors in modules that are not read, such as `enum.Enum`.

        The set contains None if a base is not understood.
        """
        return {base for one in self.mro for base in one.bases if not isinstance(base, Class)}

    @cached_property
    def kind(self) -> Kind | None:
        """Which kind of class with fields this is: a dataclass, a model, an Enum and so on.

        The kind is None for other classes, and for classes with features that Saft does not know.
        """
        bases, own = self.known_bases, self.node
        decorators = {self._outer(one) for one in own.decorator_list}
        is_made = dataclass_options(own, self._outer) is not None
        if any(one.is_stub for one in self.mro) or len(decorators - {*_HARMLESS}) > is_made:
            return None
        words = {one.arg for one in own.keywords} - {"metaclass"}
        has_own_call = any("__init__" in one.bindings.names for one in self.mro)
        if bases & {*_MODELS}:
            return "model"
        if bases <= {"typing.TypedDict", *_PLAIN_BASES} and "typing.TypedDict" in bases:
            return "TypedDict" if words <= {"total"} else None
        if words or None in bases:
            return None
        if bases & {*_ENUMS}:
            return "Enum" if bases <= {*_ENUMS, *_MIXED, *_PLAIN_BASES} and not is_made else None
        if "__new__" in self.bindings.names or not bases <= {"typing.NamedTuple", *_PLAIN_BASES}:
            return None
        if "typing.NamedTuple" in bases:
            return None if is_made else "NamedTuple"
        if is_made:
            return None if "__init__" in self.bindings.names else "dataclass"
        is_inherited = any(one.is_made for one in self.mro)
        return "dataclass" if is_inherited and not has_own_call else None

    @cached_property
    def is_made(self) -> bool:
        """Whether the class itself is decorated as a dataclass."""
        return dataclass_options(self.node, self._outer) is not None

    @cached_property
    def fields(self) -> "dict[str, tuple[OwnField, Class]] | None":
        """Maps the names of the fields to the fields and the classes that declare them.

        Inherited fields come first. The result is None if the options of a field are not
        understood.
        """
        found: dict[str, tuple[OwnField, Class]] = {}
        for one in reversed(self.mro) if self.kind is not None else ():
            if self.kind == "dataclass" and not one.is_made:
                continue
            is_of_kind = one.kind == self.kind
            own = own_fields(one.node, self.kind, one.scope) if self.kind and is_of_kind else []
            if own is None:
                return None
            found |= {field.name: (field, one) for field in (*one.root, *own)}
        if _ROOT_MODEL in self.known_bases:  # whose constructor takes it by position, too
            return {name: (replace(one, is_by_name=False), of) for name, (one, of) in found.items()}
        return found

    @property
    def root(self) -> list[OwnField]:
        """The field `root` that a base such as `RootModel[list[str]]` declares.

        Other classes have no such field, and the list is empty.
        """
        return [
            OwnField("root", one.slice)
            for one in self.node.bases
            if isinstance(one, ast.Subscript) and self._outer(one.value) == _ROOT_MODEL
        ]

    # Its declaration for scripts

    @cached_property
    def schema(self) -> Type | None:
        """The type in Saft that the class becomes; None if it does not become a type."""
        self.schema = CLASSES_OF_DATES.get((self.module.lstrip("_"), self.node.name))
        if self.schema is not None:
            return self.schema
        if self.kind is None or self.fields is None:
            return None
        if self.kind == "TypedDict":
            return self._object(self.fields)
        return self._enum() if self.kind == "Enum" else self._record(self.fields)

    @cached_property
    def declared(self) -> PythonClass:
        """The declaration of the class itself, for scripts that use its name."""
        schema = self.schema
        definition = schema.definition if isinstance(schema, RecordType) else None
        return PythonClass(self.node.name, self.value, self.own_members, schema, definition)

    @property
    def value(self) -> Value:
        """The type or members of a value that is annotated with the class.

        A Python datetime may have no offset, so it is Saft's datetime only after a check.
        """
        if self.schema is None or self.schema == DATETIME:
            return Value(ANY, self.members)
        return Value(self.schema)

    @cached_property
    def members(self) -> Namespace:
        """The members of instances of the class."""
        return Namespace(self.node.name, self._member, self._names)

    @cached_property
    def own_members(self) -> Namespace:
        """The members of the class itself, such as its class methods."""
        return Namespace(self.node.name, self._member_of_class, self._names)

    def admits(self, type_: Type) -> bool:
        """Whether a value of this Saft type can be an instance of the class."""
        if isinstance(type_, RecordType):
            return True
        if "typing.Protocol" in self.bases:
            asked = [name for one in self.mro for name in one.bindings.names]
            return any(all(hasattr(one, name) for name in asked) for one in classes_of(type_))
        is_open = None in self.known_bases or bool(self.known_bases & {"abc.ABC", *_MIXED})
        return is_open or self.module == "numbers"  # ints and floats are registered there

    @property
    def only_method(self) -> str | None:
        """The name of the only method that a protocol requires; None for other classes."""
        names = [one for one in self.bindings.names if one != "__len__"]
        return names[0] if "typing.Protocol" in self.bases and len(names) == 1 else None

    def _object(self, fields: "dict[str, tuple[OwnField, Class]]") -> Type:
        made: list[FieldType] = []
        for field, owner in fields.values():
            type_ = read(field.annotation, owner.scope).type
            if field.may_lack:
                type_ = union((type_, NIL))
            made.append(FieldType(script_name(field.name), type_, may_lack=field.may_lack))
        self.found.shapes.setdefault(tuple(made), (self.module, self.node.name))
        return ObjectType(tuple(made), is_declared=True)

    def _record(self, fields: "dict[str, tuple[OwnField, Class]]") -> Type:
        taken = [field for field, _ in fields.values() if field.is_parameter]
        record = self._facts([_parameter(one.name, one.has_default) for one in taken])
        record.by_name = frozenset(script_name(one.name) for one in taken if one.is_by_name)
        record.is_open = self.kind == "model" and (
            None in self.known_bases
            or any(
                renames_parameters(one.node) or "__init__" in one.bindings.names for one in self.mro
            )
        )
        record.is_root = _ROOT_MODEL in self.known_bases
        for field, owner in fields.values():
            if field.is_parameter:
                type_ = read(field.annotation, owner.scope).type
                record.fields[script_name(field.name)] = type_
        return record.type

    def _enum(self) -> Type | None:
        bases = self.known_bases
        is_text, is_mixed = "enum.StrEnum" in bases, bool(bases & {*_MIXED})
        auto = STRING if is_text else ANY if is_mixed and "enum.IntEnum" not in bases else INT
        choices = choices_of(self.node, self._outer, auto)
        if not choices or any(one.hides_values for one in self.mro):
            return None
        record = self._facts([_parameter("value", has_default=False)], is_mixed=is_mixed)
        record.choices = tuple(map(script_name, choices))
        record.fields["value"] = union(choices.values())
        return record.type

    @cached_property
    def hides_values(self) -> bool:
        """Whether methods of the class decide which values the members of an Enum have."""
        return bool({"__new__", "__init__", "_missing_"} & self.bindings.names.keys())

    def _facts(self, parameters: Sequence[n.Parameter], *, is_mixed: bool = False) -> RecordFacts:
        """Creates the record that the class becomes, and registers its facts and type."""
        name = n.Identifier(_NOWHERE, self.node.name)
        definition = n.RecordDef(_NOWHERE, name, tuple(parameters))
        schemas = [one.schema for one in self.mro[1:]]
        found = (one.definition for one in schemas if isinstance(one, RecordType))
        bases = tuple(one for one in found if one is not None)
        record = RecordFacts(definition, {}, is_mixed, bases, self.members, self.module)
        record.is_plain = self.is_plain
        record.is_checked = self.kind in ("Enum", "model")
        record.copied_by = None if self.fields is None else _COPIED_BY.get(self.kind)
        self.found.records[definition] = record
        self.schema = record.type
        return record

    @property
    def is_described(self) -> bool:
        """Whether the source of the class says everything about it except what its methods do."""
        if self.bindings.names.keys() & {*_OWN_WAYS}:
            return False
        decorators = {self._outer(one) for one in self.node.decorator_list}
        is_simple = self.known_bases <= {*_PLAIN_BASES} and decorators <= {*_HARMLESS}
        return self.schema is not None or is_simple

    @cached_property
    def is_plain(self) -> bool:
        """Whether creating, comparing and showing an instance runs no code of the class."""
        fields = {} if self.fields is None else self.fields
        methods = {name for one in self.mro for name in methods_of(one.node)}
        return (
            not fields.keys() & methods
            and self.known_bases <= {*_PLAIN_BASES, *_ENUMS, *_MIXED, *_WITH_FIELDS}
            and all(has_plain_body(one.node, one.scope) for one in self.mro)
            and (
                self.kind != "model"
                or all(is_told(one.annotation, of.scope) for one, of in fields.values())
            )
        )

    @property
    def is_told(self) -> bool:
        """Whether the class has a type in Saft, so that the code run for its instances is known."""
        return self.schema is not None

    # Its members

    def _member(self, name: str) -> Declared | None:
        if self.kind == "Enum" and name == "name":
            return Value(STRING)
        return self._found(name, of_value=True)

    def _member_of_class(self, name: str) -> Declared | None:
        return self._found(name, of_value=False)

    def _found(self, name: str, *, of_value: bool) -> Declared | None:
        name = name + "_" if iskeyword(name) else name
        for one in self.mro:
            if name in one.bindings.names:
                return one.bound_to(name, self, of_value=of_value)
        if self.kind == "model" and name in _of_models().names:
            return _bound_to(_of_models().names[name], self, self._in_models, of_value=of_value)
        is_complete = self.kind is not None and None not in self.known_bases
        if is_complete and not name.startswith("_") and name not in self._set_on_self:
            return None
        return UNKNOWN

    def _in_models(self, node: ast.expr) -> Meaning:
        """Resolves `node`, a part of an annotation in `_MODEL`, to the class or builtin."""
        name = ast.unparse(node)
        return self if name == "Self" else f"builtins.{name}"

    def bound_to(self, name: str, asked: "Class", *, of_value: bool) -> Declared:
        """The declaration of a member that the class itself defines.

        `asked` is the class or subclass in which a script uses the member, so `Self` means `asked`.
        """

        def scope(node: ast.expr) -> Meaning:
            meaning = self.scope(node)
            return asked if meaning is self and _is_self(node) else meaning

        return _bound_to(self.bindings.names[name], asked, scope, of_value=of_value)

    @cached_property
    def _set_on_self(self) -> set[str]:
        return {
            part.attr
            for one in self.mro
            for part in ast.walk(one.node)
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
        }

    def _names(self) -> Collection[str]:
        return [name for one in self.mro for name in one.bindings.names]


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith("Self")


@cache
def _of_models() -> Bindings:
    (model,) = ast.parse(_MODEL).body
    assert isinstance(model, ast.ClassDef)
    return bindings_of(model.body)


def _bound_to(bound: Bound, asked: Class, scope: Scope, *, of_value: bool) -> Declared:
    match bound:
        case Overloads(nodes):
            decorators = {scope(one) for one in nodes[0].decorator_list} - {*_SAYS_NOTHING}
            if decorators and decorators <= {*_PROPERTIES}:
                return read(nodes[0].returns, scope) if of_value else UNKNOWN
            if decorators <= {"builtins.classmethod"}:
                is_bound = of_value or bool(decorators)
                return function_of(nodes, scope, is_bound=is_bound)
            is_static = decorators == {"builtins.staticmethod"}
            return function_of(nodes, scope) if is_static else decorated(nodes)
        case ast.AnnAssign(annotation=annotation):
            return read(annotation, scope)
        case _:
            return UNKNOWN


def _parameter(name: str, has_default: bool) -> n.Parameter:
    """The parameter of a record for a field. A default of the field is replaced by `nil`."""
    return n.Parameter(
        _NOWHERE,
        n.Identifier(_NOWHERE, script_name(name)),
        n.NamedSchema(_NOWHERE, "any"),
        n.Literal(_NOWHERE, None) if has_default else None,
    )
