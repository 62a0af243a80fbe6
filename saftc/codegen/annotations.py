"""Types as annotations, and the classes that object schemas become.

    rows: [{id: int, note: string?}] = ...

gives `rows: list[Row]` and, above the statement, `class Row(TypedDict)`. A class is named after
the place its schema was written; the same shape twice is one class.
"""

from collections.abc import Sequence
from typing import assert_never

import libcst as cst

from saftc.codegen.base import Base
from saftc.codegen.layout import code_of
from saftc.codegen.python import (
    Expression,
    Statement,
    annotated,
    assignment,
    attribute,
    call,
    class_,
    constant,
    dict_,
    is_identifier,
    line,
    name,
    subscript,
    tuple_,
    union,
)
from saftc.codegen.words import singular
from saftc.semantics.types import (
    NIL,
    BuiltinType,
    FieldType,
    FunctionType,
    ListType,
    LiteralType,
    ObjectType,
    RecordType,
    Scalar,
    SelfType,
    TupleType,
    Type,
    UnionType,
    parts,
    without,
)
from saftc.syntax import nodes as n

_SCALARS = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "string": "str",
    "nil": "None",
    "image": "Image",
    "file": "File",
}


class Annotations(Base):
    """The part of the emitter that knows types."""

    def prepare(self) -> None:
        """Takes up the names of types before the first line is written."""
        # The class that stands for a shape; the names that shapes have by the places they were
        # written at; classes made and not yet written.
        self.classes: dict[tuple[FieldType, ...], str] = {}
        self.places: dict[tuple[FieldType, ...], str] = {}
        self.new_classes: list[Statement] = []
        # The types whose definitions stand above: at first, those of other modules.
        own = {
            node.name.text
            for node in self.module.statements
            if isinstance(node, n.TypeAlias | n.RecordDef)
        }
        self.written_types = {*self.facts.aliases, *self.facts.records} - own
        self.alias_of: dict[Type, str] = {
            type_: text
            for text, type_ in self.facts.aliases.items()
            if isinstance(type_, UnionType | LiteralType | ListType | TupleType)
        }
        self.taken = {
            symbol.name
            for scope in self.facts.names.scopes.values()
            for symbol in scope.symbols.values()
        }
        self.taken |= {*self.facts.aliases, *self.facts.records}
        for text, type_ in self.facts.aliases.items():
            if isinstance(type_, ObjectType):
                self.classes.setdefault(type_.fields, text)

    def annotation(self, type_: Type) -> Expression:
        alias = self.alias_of.get(type_)
        if alias is not None:
            return name(self.type_name(alias))
        match type_:
            case Scalar():
                if type_.kind == "nil":
                    return constant(None)
                if type_.kind == "dataframe":
                    return self.dataframe_class()
                return self.global_(_SCALARS.get(type_.kind, "Any"))
            case LiteralType():
                return self._literals([type_])
            case ListType():
                return subscript(self.global_("list"), self.annotation(type_.item))
            case TupleType():
                items = [self.annotation(item) for item in type_.items] or [tuple_([])]
                return subscript(self.global_("tuple"), *items)
            case ObjectType():
                if type_.is_declared:
                    return name(self.class_of(type_))
                return subscript(self.global_("dict"), self.global_("str"), self._values(type_))
            case RecordType():
                if type_.name in self.facts.records:
                    return name(self.type_name(type_.name))
                return self.global_(type_.name)
            case SelfType():
                return name(self.type_name(type_.name))
            case UnionType():
                return self._union(type_)
            case FunctionType() | BuiltinType():
                return self.global_("Any")
            case _:
                assert_never(type_)

    def checked(self, value: Expression, wanted: Type) -> Expression:
        """`check(value, wanted)`."""
        return call(self.global_("check"), [value, self.annotation(wanted)])

    def dataframe_class(self) -> Expression:
        """`pl.DataFrame`."""
        return attribute(self.global_("pl"), "DataFrame")

    def _values(self, type_: ObjectType) -> Expression:
        """What the values of a plain dict have in common: one type, or any."""
        found = {field.type for field in type_.fields}
        return self.annotation(found.pop()) if len(found) == 1 else self.global_("Any")

    def _union(self, type_: UnionType) -> Expression:
        literals = [member for member in type_.members if isinstance(member, LiteralType)]
        parts: list[Expression] = []
        for member in type_.members:
            if not isinstance(member, LiteralType):
                if member != NIL:
                    parts.append(self.annotation(member))
            elif member is literals[0]:
                parts.append(self._literals(literals))
        if NIL in type_.members:
            alias = self.alias_of.get(without(type_, NIL))
            if alias is not None:
                parts = [name(self.type_name(alias))]
            parts.append(constant(None))
        return union(parts)

    def _literals(self, literals: Sequence[LiteralType]) -> Expression:
        return subscript(
            self.global_("Literal"), *(constant(literal.value) for literal in literals)
        )

    # Classes

    def name_classes(self, schema: n.Schema | None, place: str) -> None:
        """Names the object schemas written at `place` after it; a class is written when used."""
        match schema:
            case n.ObjectSchema():
                type_ = self.facts.schemas[schema]
                if isinstance(type_, ObjectType):
                    self.places.setdefault(type_.fields, place)
                for field in schema.fields:
                    self.name_classes(field.schema, field.name.text)
            case n.ListSchema():
                self.name_classes(schema.item, _one_of(place))
            case n.TupleSchema():
                for item in schema.items:
                    self.name_classes(item, _one_of(place))
            case n.UnionSchema():
                for member in schema.members:
                    self.name_classes(member, place)
            case n.OptionalSchema():
                self.name_classes(schema.schema, place)
            case n.NamedSchema() | n.LiteralSchema() | None:
                pass
            case _:
                assert_never(schema)

    def class_of(self, type_: ObjectType) -> str:
        """The class that stands for an object schema."""
        text = self.classes.get(type_.fields)
        if text is None:
            text = self._free_name(_class_name(self.places.get(type_.fields, "object")))
            self.write_class(type_, text)
        return text

    def write_class(self, type_: ObjectType, text: str, doc: str = "") -> None:
        """Has the class written above the statement at hand."""
        self.classes[type_.fields] = text
        self.taken.add(text)
        entries = [
            (field.name, self.field_annotation(field.type, field.doc)) for field in type_.fields
        ]
        typed_dict = self.global_("TypedDict")
        if all(is_identifier(key) for key, _ in entries):
            self.new_classes.append(class_def(text, [typed_dict], entries, doc))
            return
        definition = call(typed_dict, [constant(text), dict_(entries)])
        self.new_classes.append(line(assignment(name(text), definition)))

    def field_annotation(self, type_: Type, doc: str | None) -> Expression:
        """The annotation of a field or parameter, with its doc comment."""
        plain = self.annotation(type_)
        if self._names_unwritten(type_):
            # Python reads the name only when it is asked for.
            plain = constant(code_of(plain))
        if doc is None:
            return plain
        return subscript(self.global_("Annotated"), plain, constant(" ".join(doc.split("\n"))))

    def _names_unwritten(self, type_: Type) -> bool:
        """Whether an annotation of `type_` names a type that is defined further below."""
        alias = self.alias_of.get(type_)
        if alias is not None:
            return alias not in self.written_types
        if isinstance(type_, RecordType | SelfType):
            own = {**self.facts.records, **self.facts.aliases}
            return type_.name in own and type_.name not in self.written_types
        return any(self._names_unwritten(part) for part in parts(type_))

    def type_name(self, text: str) -> str:
        """The Python name of a type of the script."""
        symbol = self.facts.names.scopes[self.module].symbols.get(text)
        return text if symbol is None else self.names[symbol]

    def _free_name(self, text: str) -> str:
        candidate, number = text, 2
        while candidate in self.taken:
            candidate = f"{text}{number}"
            number += 1
        return candidate


def class_def(
    text: str,
    bases: Sequence[Expression],
    entries: Sequence[tuple[str, Expression]],
    doc: str = "",
    decorators: Sequence[Expression] = (),
    defaults: dict[str, Expression] | None = None,
) -> cst.ClassDef:
    """A class whose body is annotated names."""
    body: list[cst.BaseSmallStatement] = [docstring(doc)] if doc else []
    body += [annotated(name(key), type_, (defaults or {}).get(key)) for key, type_ in entries]
    return class_(text, bases, body or [cst.Pass()], decorators)


def docstring(text: str) -> cst.Expr:
    """A docstring statement."""
    escaped = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    before = " " if escaped.startswith('"') else ""
    after = "\n" if "\n" in escaped else " " if escaped.endswith('"') else ""
    return cst.Expr(cst.SimpleString(f'"""{before}{escaped}{after}"""'))


def _class_name(place: str) -> str:
    """`user_rows` is `UserRows`."""
    words = [word for word in place.replace(" ", "_").split("_") if word]
    text = "".join(word[0].upper() + word[1:] for word in words)
    return text if text and text.isidentifier() else "Object"


def _one_of(place: str) -> str:
    """The name of one item of what has this name: `rows` holds a `row`."""
    return singular(place) or place + "_item"
