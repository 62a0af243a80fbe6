"""Schemas to text and to JSON Schema.

    notation(schema)      {title: string, tags: [string], note: string?}
    json_schema(schema)   {"type": "object", "properties": ..., "required": ["title", "tags"], ...}

The notation is what models read in a contract and what messages say; docs of fields follow them
as comments, and then every field has its line.
"""

from __future__ import annotations

from typing import Any, TypeAlias, assert_never

from runtime_support._dates_decimals import WORDS
from runtime_support._schema import model as m
from runtime_support._values import is_list, is_object, literal
from runtime_support._values import kind as kind_of

JSONSchema: TypeAlias = dict[str, Any]

JSON_TYPES: dict[str, str] = {
    "int": "integer",
    "float": "number",
    "number": "number",
    "bool": "boolean",
    "string": "string",
    "nil": "null",
    **dict.fromkeys(WORDS, "string"),
}
# What is said of strings that are dates and the like.
_FORMATS: dict[str, JSONSchema] = {
    "date": {"format": "date"},
    "datetime": {"format": "date-time"},
    "time": {"format": "time"},
    "duration": {"format": "duration"},
    "decimal": {"pattern": r"^-?[0-9]+(\.[0-9]+)?$"},
}

ONE_LINE = 88


def notation(schema: m.Schema) -> str:
    """The schema in Saft's notation; recursive types are defined below it by name."""
    writer = NotationWriter()
    text = writer.write(schema)
    definitions = "".join(f"\n{name} = {body}" for name, body in writer.definitions.items())
    return text + definitions


def short(schema: m.Schema) -> str:
    """The schema as messages name it: on one line, a record by its name, no docs of fields."""
    return _ShortWriter().write(schema)


def json_schema(schema: m.Schema) -> JSONSchema:
    """The schema as JSON Schema; CheckError where a value has no JSON form."""
    return _JSONSchemaWriter(is_strict=False).document(schema)


def strict_json_schema(schema: m.Schema) -> tuple[JSONSchema, tuple[str, ...]]:
    """As `json_schema`, with every field required, as servers that enforce one want it.

    The texts tell what the strict subset of OpenAI's structured outputs cannot express of it, as in
    `"extra" is a map`: where there are none, a server can enforce all of it.
    """
    writer = _JSONSchemaWriter(is_strict=True)
    document = writer.document(schema)
    return document, (*dict.fromkeys(writer.losses), *_beyond_limits(document))


# What the subset has at most: levels, fields and choices, all together.
_LIMITS = {"levels": 10, "fields": 5_000, "choices": 1_000}


def _beyond_limits(document: JSONSchema) -> tuple[str, ...]:
    counts = dict.fromkeys(_LIMITS, 0)

    def count(part: Any, level: int) -> None:
        if is_list(part):
            for one in part:
                count(one, level)
        if not is_object(part):
            return
        counts["levels"] = max(counts["levels"], level)
        counts["fields"] += len(part.get("properties", ()))
        counts["choices"] += len(part.get("enum", ()))
        for name in ("properties", "$defs"):
            for one in part.get(name, {}).values():
                count(one, level + 1 if name == "properties" else 0)
        count(part.get("items"), level + 1)
        count(part.get("anyOf"), level)

    count(document, 0)
    return tuple(
        f"it has {counts[what]:,} {what}, more than {most:,}"
        for what, most in _LIMITS.items()
        if counts[what] > most
    )


class NotationWriter:
    """Writes schemas in Saft's notation, with docs of fields as comments."""

    def __init__(self) -> None:
        self.definitions: dict[str, str] = {}

    def write(self, schema: m.Schema, indent: str = "") -> str:
        match schema:
            case m.AnySchema():
                return "any"
            case m.ScalarSchema(kind):
                return self.write_scalar(kind)
            case m.LiteralSchema():
                return self.write_literal(schema)
            case m.ListSchema(item):
                return f"[{self.write(item, indent)}]"
            case m.TupleSchema():
                return self.write_tuple(schema, indent)
            case m.MapSchema(value):
                return self.write_map(value, indent)
            case m.ObjectSchema():
                return self.write_object(schema, indent)
            case m.UnionSchema(members):
                return self.write_union(members, indent)
            case m.ReferenceSchema():
                return self.write_reference(schema)
            case m.OpaqueSchema(name):
                return name
            case _:
                assert_never(schema)

    def write_scalar(self, kind: m.ScalarKind) -> str:
        return "int | float" if kind == "number" else kind

    def write_literal(self, schema: m.LiteralSchema) -> str:
        return literal(schema.value)

    def write_tuple(self, schema: m.TupleSchema, indent: str) -> str:
        if schema.rest is not None:
            return f"({self.write(schema.rest, indent)}, ...)"
        inner = ", ".join(self.write(item, indent) for item in schema.items)
        return f"({inner},)" if len(schema.items) == 1 else f"({inner})"

    def write_map(self, value: m.Schema, indent: str) -> str:
        return f"{{any name: {self.write(value, indent)}}}"

    def write_reference(self, schema: m.ReferenceSchema) -> str:
        name = schema.name
        if name not in self.definitions:
            self.definitions[name] = ""
            self.definitions[name] = self.write(schema.target())
        return name

    def write_object(self, schema: m.ObjectSchema, indent: str) -> str:
        fields = schema.fields
        inner = indent + "  "
        parts = [(f"{_name(f)}: {self.write(f.schema, inner)}", f.doc) for f in fields]
        one_line = "{" + ", ".join(text for text, _ in parts) + "}"
        documented = any(doc for _, doc in parts)
        if not documented and "\n" not in one_line and len(one_line) <= ONE_LINE:
            return one_line
        lines = [
            f"{inner}{text}," + (f" // {' '.join(doc.split())}" if doc else "")
            for text, doc in parts
        ]
        return "\n".join(["{", *lines, indent + "}"])

    def write_union(self, members: tuple[m.Schema, ...], indent: str) -> str:
        others = [member for member in members if not _is_nil(member)]
        texts = [self.write(member, indent) for member in others]
        if len(others) == len(members):
            return " | ".join(texts)
        return f"{texts[0]}?" if len(texts) == 1 else f"{' | '.join(texts)} | nil"


class _ShortWriter(NotationWriter):
    """Writes Saft's notation for messages."""

    def write_map(self, value: m.Schema, indent: str) -> str:
        return f"{{[string]: {self.write(value)}}}"

    def write_reference(self, schema: m.ReferenceSchema) -> str:
        return schema.name

    def write_object(self, schema: m.ObjectSchema, indent: str) -> str:
        if schema.build is not None and schema.name is not None:
            return schema.name
        text = ", ".join(f"{_name(f)}: {self.write(f.schema)}" for f in schema.fields)
        return f"{{{text}}}" if len(text) <= ONE_LINE else "object"


class _JSONSchemaWriter:
    """Notes what the strict subset has no words for; where it is strict, fields are required."""

    def __init__(self, is_strict: bool) -> None:
        self.is_strict = is_strict
        self.losses: list[str] = []
        self.path: list[str] = []
        self.names: dict[int, str] = {}
        self.definitions: dict[str, JSONSchema] = {}

    def document(self, schema: m.Schema) -> JSONSchema:
        document = self.write(schema)
        return {**document, "$defs": self.definitions} if self.definitions else document

    def write(self, schema: m.Schema) -> JSONSchema:
        match schema:
            case m.AnySchema():
                self.lose("may be anything")
                return {}
            case m.ScalarSchema(kind):
                return {"type": JSON_TYPES[kind], **_FORMATS.get(kind, {})}
            case m.LiteralSchema(value):
                return {"type": JSON_TYPES[kind_of(value)], "enum": [value]}
            case m.ListSchema(item):
                return {"type": "array", "items": self.write(item)}
            case m.TupleSchema():
                return self.write_tuple(schema)
            case m.MapSchema(value):
                self.lose("is a map")
                return {"type": "object", "additionalProperties": self.write(value)}
            case m.ObjectSchema():
                return self.write_object(schema)
            case m.UnionSchema(members):
                return self.write_union(members)
            case m.ReferenceSchema():
                return self.write_reference(schema)
            case m.OpaqueSchema(name):
                raise m.without_json_form(name)
            case _:
                assert_never(schema)

    def lose(self, what: str) -> None:
        """Notes what the strict subset cannot express of the field that is written."""
        self.losses.append(f'"{".".join(self.path)}" {what}' if self.path else f"the value {what}")

    def write_tuple(self, schema: m.TupleSchema) -> JSONSchema:
        if schema.rest is not None:
            return {"type": "array", "items": self.write(schema.rest)}
        self.lose("is a tuple")
        return {
            "type": "array",
            "prefixItems": [self.write(item) for item in schema.items],
            "minItems": len(schema.items),
            "maxItems": len(schema.items),
        }

    def write_object(self, schema: m.ObjectSchema) -> JSONSchema:
        document: JSONSchema = {"type": "object"}
        if schema.doc:
            document["description"] = schema.doc
        document["properties"] = {field.name: self.write_field(field) for field in schema.fields}
        document["required"] = [f.name for f in schema.fields if self.is_strict or f.required]
        document["additionalProperties"] = False
        return document

    def write_field(self, field: m.Field) -> JSONSchema:
        self.path.append(field.name)
        document = self.write(field.schema)
        self.path.pop()
        return {**document, "description": field.doc} if field.doc else document

    def write_union(self, members: tuple[m.Schema, ...]) -> JSONSchema:
        others = (one for one in members if not _is_nil(one))
        literals = [one.value for one in others if isinstance(one, m.LiteralSchema)]
        nil = any(map(_is_nil, members))
        if literals and len(literals) + nil == len(members):
            return _enumeration(literals, nil)
        written = [self.write(member) for member in members]
        if all(set(document) == {"type"} for document in written):
            types = [document["type"] for document in written]
            if "number" in types and "integer" in types:  # which is a number as well
                types.remove("integer")
            return {"type": types[0] if len(types) == 1 else types}
        return {"anyOf": written}

    def write_reference(self, schema: m.ReferenceSchema) -> JSONSchema:
        target = schema.target()
        name = self.names.get(id(target))
        if name is None:
            name, number = schema.name, 2
            while name in self.definitions:
                name, number = f"{schema.name}{number}", number + 1
            self.names[id(target)] = name
            self.definitions[name] = {}
            self.definitions[name] = self.write(target)
        return {"$ref": f"#/$defs/{name}"}


def _is_nil(schema: m.Schema) -> bool:
    return isinstance(schema, (m.ScalarSchema, m.LiteralSchema)) and m.admits_nil(schema)


def _name(field: m.Field) -> str:
    return field.name if field.name.isidentifier() else literal(field.name)


def _enumeration(literals: list[Any], nil: bool) -> JSONSchema:
    types = list(dict.fromkeys(JSON_TYPES[kind_of(one)] for one in literals))
    values = [*literals, *([None] if nil and None not in literals else [])]
    types = [*types, *(["null"] if None in values and "null" not in types else [])]
    return {"type": types[0] if len(types) == 1 else types, "enum": values}
