"""Converts schemas to types. A schema is a type as the script writes it, in the syntax tree.

The schema `[{id: int}]` becomes `ListType(ObjectType(...))`. Aliases are replaced by the types that
they name; records are nominal types. A type can be used anywhere in its module, also above its
definition.
"""

from typing import assert_never

from saftc.check.facts import Facts, RecordFacts
from saftc.check.history import is_stream
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector, Hint, Related
from saftc.diagnostics.near import did_you_mean, is_slip, meant_to_be, near
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.foreign import Alias, Namespace, PythonClass
from saftc.types.results import NAMED_RECORDS
from saftc.types.types import (
    ANY,
    BUILT_IN,
    DATES,
    KEYS,
    NIL,
    RESULT,
    STRING,
    CallableType,
    FieldType,
    ListType,
    MapType,
    ObjectType,
    Scalar,
    SelfType,
    TupleType,
    Type,
    is_only,
    literal_type,
    record_type,
    show,
    union,
)

_ELSEWHERE = {
    "str": "string",
    **dict.fromkeys(("text", "char", "email", "url", "uuid"), "string"),
    "json": "any",
    "integer": "int",
    "number": "int | float",
    "boolean": "bool",
    "null": "nil",
    "None": "nil",
    "Any": "any",
    "list": "[any]",
    "array": "[any]",
    "dict": "{[string]: any}",
    "object": "{[string]: any}",
    "DataFrame": "dataframe",
    "List": "[any]",
    "tuple": "(A, B)",
    "Tuple": "(A, B)",
    "set": "[any]",
    "Dict": "{[string]: any}",
    "Optional": "T?",
    "double": "float",
    "long": "int",
    "bytes": "string",
    "timedelta": "duration",
    "void": "nil",
    "Decimal": "decimal",
    "money": "decimal",
    "timestamp": "datetime",
}

_NO_TYPE = "`{name}` has more than plain fields, so Saft has no type for it: use `any`"
_OF_PYTHON = (
    "Saft has no type `{name}`: use `string` for what a model writes, `any` for a Python value"
)
_AS_TEXT = ("UUID",)
_FUNCTION = "a function type names its parameters and its result: `(string) -> nil`"
_FUNCTIONS = ("Callable", "Function", "function", "func")
_MOST_LISTED = 8

# The names in `{string: int}` that look like the key type of a map in other languages.
_KEY_TYPES = {"string", "str"}


def resolve_schemas(module: n.Module, facts: Facts, mistakes: Collector) -> None:
    """Fills `facts.schemas`, `facts.aliases` and `facts.records`; mistakes go to `mistakes`."""
    _Schemas(module, facts, mistakes).run()


class _Schemas:
    def __init__(self, module: n.Module, facts: Facts, mistakes: Collector) -> None:
        self.module = module
        self.facts = facts
        self.mistakes = mistakes
        self.definitions: dict[str, n.TypeAlias | n.RecordDef] = {}
        self.open: list[str] = []
        # Recursive references to object types, by alias.
        self.inside: dict[str, SelfType] = {}

    def run(self) -> None:
        own = set(self.module.statements)
        for node in self.module.statements:
            if isinstance(node, n.TypeAlias | n.RecordDef):
                self._define(node)
        for node in nodes_of(self.module, n.TypeAlias, n.RecordDef):
            if node not in own:
                self._define_nested(node)
        for name, definition in self.definitions.items():
            if isinstance(definition, n.TypeAlias):
                self._alias(name, definition)
        for name, definition in self.definitions.items():
            if isinstance(definition, n.RecordDef):
                fields: dict[str, Type] = {}
                for field in definition.fields:
                    type_ = self.type_of(field.schema) if field.schema else ANY
                    fields.setdefault(field.name.text, type_)
                record = RecordFacts(definition, fields)
                self.facts.records[name] = self.facts.record_facts[definition] = record
        kinds = (n.Parameter, n.AssignStmt, n.PatternField, n.ForStmt, n.FunctionDef)
        for node in nodes_of(self.module, *kinds):
            schema = node.returns if isinstance(node, n.FunctionDef) else node.schema
            if schema is not None:
                self.type_of(schema)

    def _define(self, node: n.TypeAlias | n.RecordDef) -> None:
        name = node.name.text
        if name in BUILT_IN:
            self.mistakes.add(catalogue.BUILTIN_TYPE_NAME.at(node.name.span, name=name))
            return
        earlier = self.definitions.get(name)
        if earlier is not None:
            self.mistakes.add(
                catalogue.DUPLICATE_TYPE.at(
                    node.name.span,
                    name=name,
                    related=(Related(earlier.name.span, "first defined here"),),
                )
            )
            return
        self.definitions[name] = node
        if name in DATES:
            hint = f"in this script, `{name}` now means this type"
            self.mistakes.add(catalogue.HIDES_TYPE.at(node.name.span, name=name, hint=hint))

    def _define_nested(self, node: n.TypeAlias | n.RecordDef) -> None:
        self.mistakes.add(
            catalogue.NESTED_TYPE.at(
                node.name.span,
                name=node.name.text,
                hint="move it to the top level: a type is known in the whole script",
            )
        )
        if node.name.text not in BUILT_IN:
            # Define the name anyway, so that its uses are not reported as well.
            self.definitions.setdefault(node.name.text, node)

    def _alias(self, name: str, definition: n.TypeAlias) -> Type:
        known = self.facts.aliases.get(name)
        if known is not None:
            return known
        if name in self.open:
            if isinstance(definition.schema, n.ObjectSchema):
                return self.inside.setdefault(name, SelfType(name))
            self.mistakes.add(
                catalogue.ENDLESS_TYPE.at(
                    definition.name.span,
                    name=name,
                    hint="only an object or a record can hold itself: `{inner: T?}`",
                )
            )
            return ANY
        self.open.append(name)
        type_ = self.type_of(definition.schema)
        self.open.pop()
        if name in self.inside:
            self.inside[name].whole.append(type_)
        self.facts.aliases[name] = type_
        return type_

    def type_of(self, schema: n.Schema) -> Type:
        known = self.facts.schemas.get(schema)
        if known is None:
            known = self.facts.schemas[schema] = self._type_of(schema)
        return known

    def _type_of(self, schema: n.Schema) -> Type:
        match schema:
            case n.NamedSchema():
                return self._named(schema)
            case n.LiteralSchema():
                return literal_type(schema.value)
            case n.ListSchema():
                return ListType(self.type_of(schema.item))
            case n.TupleSchema():
                return TupleType(tuple(self.type_of(item) for item in schema.items))
            case n.FunctionSchema():
                parameters = tuple(self.type_of(one) for one in schema.parameters)
                return CallableType(parameters, self.type_of(schema.result))
            case n.ObjectSchema():
                return self._object(schema)
            case n.MapSchema():
                return MapType(self.type_of(schema.value), self._key(schema.key))
            case n.UnionSchema():
                return union(self.type_of(member) for member in schema.members)
            case n.OptionalSchema():
                return union((self.type_of(schema.schema), NIL))
            case _:
                assert_never(schema)

    def _named(self, schema: n.NamedSchema) -> Type:
        built_in = BUILT_IN.get(schema.text)
        if built_in is not None:
            return built_in
        match self.definitions.get(schema.text):
            case n.RecordDef() as definition:
                return record_type(definition)
            case n.TypeAlias() as definition:
                return self._alias(schema.text, definition)
            case None:
                if "." in schema.text:
                    self._take_from_module(schema.text)
                if schema.text in self.facts.records:
                    return self.facts.records[schema.text].type
                if schema.text in self.facts.aliases:
                    return self.facts.aliases[schema.text]
                if schema.text in NAMED_RECORDS:
                    return NAMED_RECORDS[schema.text]
                if schema.text in DATES and not self._is_class_of_python(schema.text):
                    return DATES[schema.text]
                functions = nodes_of(self.module, n.FunctionDef) if is_stream(schema) else ()
                if any(schema is one.returns for one in functions):
                    return RESULT
                if schema.text not in self.module.guessed:
                    self._unknown(schema)
                return ANY

    def _is_class_of_python(self, text: str) -> bool:
        """Whether the script imports a Python class under `text`, the name of a built-in type."""
        symbol = self.facts.own_names.get(text)
        return symbol is not None and isinstance(self.facts.python.get(symbol), PythonClass)

    def _take_from_module(self, text: str) -> None:
        """Adds to the facts the type of an imported module that a dotted name refers to."""
        module, _, name = text.rpartition(".")
        found = self._module(module)
        match found:
            case Facts():
                meaning = found.own_names.get(name)
                record = found.records.get(name)
                if record is not None and meaning is not None:
                    self.facts.records[text] = record
                elif name in found.aliases:
                    self.facts.aliases[text] = found.aliases[name]
            case Namespace():
                declared = found.find(name)
                if isinstance(declared, PythonClass) and declared.definition is not None:
                    self.facts.records[text] = self.facts.record_facts[declared.definition]
                elif isinstance(declared, PythonClass | Alias) and declared.schema is not None:
                    self.facts.aliases[text] = declared.schema
            case None:
                pass

    def _module(self, text: str) -> Facts | Namespace | None:
        """The imported module that a dotted name refers to, or None."""
        first, *rest = text.split(".")
        symbol = self.facts.own_names.get(first)
        if symbol is None or symbol.kind != "import":
            return None
        if symbol in self.facts.modules:
            return None if rest else self.facts.modules[symbol]
        found = self.facts.python.get(symbol)
        for part in rest:
            found = found.find(part) if isinstance(found, Namespace) else None
        return found if isinstance(found, Namespace) else None

    def _types_of(self, module: Facts | Namespace) -> list[str]:
        if isinstance(module, Facts):
            return [name for name in module.own_names if name in {*module.records, *module.aliases}]
        named = ((name, module.find(name)) for name in module.names())
        return sorted(
            name
            for name, one in named
            if isinstance(one, PythonClass | Alias) and one.schema is not None
        )

    def _hint_of_module(self, text: str) -> str | Hint | None:
        """The hint for a dotted name that is not a type."""
        module, _, name = text.rpartition(".")
        found = self._module(module)
        if found is None:
            first = text.split(".")[0]
            is_imported = getattr(self.facts.own_names.get(first), "kind", "") == "import"
            return None if is_imported else f"there is no `import {first}`"
        if isinstance(found, Namespace) and isinstance(found.find(name), PythonClass):
            return (_OF_PYTHON if name in _AS_TEXT else _NO_TYPE).format(name=name)
        types = self._types_of(found)
        meant = near(name, types)
        if meant is not None:
            is_guess = not is_slip(name, meant, types)
            return meant_to_be(f"{module}.{meant}", is_guess=is_guess)
        listed = ", ".join(f"`{one}`" for one in types[:_MOST_LISTED])
        return f"`{module}` has {listed}" if types else f"`{module}` has no types"

    def _unknown(self, schema: n.NamedSchema) -> None:
        if "." in schema.text:
            hint = self._hint_of_module(schema.text)
            self.mistakes.add(catalogue.UNKNOWN_TYPE.at(schema.span, name=schema.text, hint=hint))
            return
        meant = _ELSEWHERE.get(schema.text)
        named = {*NAMED_RECORDS, *self.definitions}
        # Do not suggest `time` for `Tiket`: capitalized names are the script's own types.
        is_own = schema.text[0].isupper() and near(schema.text, named) is None
        is_own = is_own and schema.text.lower() not in {*BUILT_IN, *DATES}
        known = named if is_own else {*BUILT_IN, *DATES, *named}
        hint: str | Hint | None = meant_to_be(meant) if meant else did_you_mean(schema.text, known)
        symbol = self.facts.own_names.get(schema.text)
        if symbol is not None and isinstance(self.facts.python.get(symbol), PythonClass):
            is_text = schema.text in _AS_TEXT
            hint = (_OF_PYTHON if is_text else _NO_TYPE).format(name=schema.text)
        if schema.text in _FUNCTIONS:
            hint = _FUNCTION
        if hint is None and is_own:
            hint = f"define it: `type {schema.text}(name: string)`"
        if hint is None and schema.text.islower():
            hint = f'write a literal type in quotes: `"{schema.text}"`'
        self.mistakes.add(catalogue.UNKNOWN_TYPE.at(schema.span, name=schema.text, hint=hint))

    def _object(self, schema: n.ObjectSchema) -> Type:
        fields: list[FieldType] = []
        first: dict[str, n.SchemaField] = {}
        for field in schema.fields:
            name, type_ = field.name.text, self.type_of(field.schema)
            earlier = first.setdefault(name, field)
            if earlier is field:
                fields.append(FieldType(name, type_, self.module.docs.get(field)))
                continue
            self.mistakes.add(
                catalogue.DUPLICATE_NAME.at(
                    field.name.span,
                    what="field",
                    name=name,
                    related=(Related(earlier.name.span, "first defined here"),),
                )
            )
        self._warn_of_field_like_type(schema)
        return ObjectType(tuple(fields), is_declared=True)

    def _key(self, schema: n.Schema) -> Scalar:
        """The key type of a map. A type that keys cannot have is reported and becomes string."""
        key = self.type_of(schema)
        if isinstance(key, Scalar) and key in KEYS:
            return key
        is_unknown = key == ANY and not (isinstance(schema, n.NamedSchema) and schema.text == "any")
        if not is_unknown:
            words = "keys are `string`, `date` or `datetime`; `str(x)` converts any value"
            if is_only(key, "string"):
                words = "write `{[string]: T}`, or name the fields: `{low: T, high: T}`"
            self.mistakes.add(catalogue.MAP_KEY.at(schema.span, found=show(key), hint=words))
        return STRING

    def _warn_of_field_like_type(self, schema: n.ObjectSchema) -> None:
        """Warns about `{string: int}`, which names a field but is a map type in other languages."""
        match schema.fields:
            case (n.SchemaField(name=name, schema=value),) if name.text in _KEY_TYPES:
                written = show(self.type_of(value))
                self.mistakes.add(
                    catalogue.FIELD_LIKE_TYPE.at(
                        schema.span,
                        name=name.text,
                        type=written,
                        hint=f"an object with any keys is `{{[string]: {written}}}`",
                    )
                )
            case _:
                pass
