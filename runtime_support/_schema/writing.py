"""Writes schemas as notation and as JSON Schema.

    notation(schema)      {title: string, tags: [string], note: string?}
    json_schema(schema)   {"type": "object", "properties": ..., "required": ["title", "tags"], ...}

Models read the notation in contracts, and people read it in messages. The doc of a field follows
the field as a comment. If a field has a doc, every field has a line to itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, assert_never

from runtime_support._schema import model as m
from runtime_support._values.dates import WORDS, text_of, word_of
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import is_list, is_object, literal
from runtime_support._values.kinds import kind as kind_of

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
# The JSON Schema keywords of strings that are dates, times, durations or decimals.
_FORMATS: dict[str, JSONSchema] = {
    "date": {"format": "date"},
    "datetime": {"format": "date-time"},
    "time": {"format": "time"},
    "duration": {"format": "duration"},
    "decimal": {"pattern": r"^-?[0-9]+(\.[0-9]+)?$"},
}

# The text formats that servers with strict schemas support.
_STRICT_FORMATS = (
    *("date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"),
)
# The JSON Schema keywords of constraints: on numbers, and on lengths.
_KEYWORDS = {
    **{"above": "exclusiveMinimum", "minimum": "minimum", "below": "exclusiveMaximum"},
    **{"maximum": "maximum", "multiple_of": "multipleOf"},
}
_COUNTED = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
# Regular expressions that strict servers do not support: lookaround, \b and backreferences.
_LOOKS_AROUND = re.compile(r"\(\?[=!<]|\\[bB1-9]")
_SIGNS = {"above": ">", "minimum": ">=", "below": "<", "maximum": "<="}
_UNITS = {"string": ("character", "characters"), "object": ("entry", "entries")}

ONE_LINE = 88


def notation(schema: m.Schema) -> str:
    """Returns the schema in Saft's notation, followed by definitions of recursive types."""
    writer = NotationWriter()
    text = ", ".join([writer.write(schema), *constraint_words(schema)])
    definitions = "".join(f"\n{name} = {body}" for name, body in writer.definitions.items())
    return text + definitions


def short(schema: m.Schema) -> str:
    """Returns the schema on one line for messages. Shows only the name of a record, and no docs."""
    return _ShortWriter().write(schema)


def json_schema(schema: m.Schema) -> JSONSchema:
    """Returns the schema as JSON Schema. Raises CheckError if a value has no JSON form."""
    return _JSONSchemaWriter(is_strict=False).document(schema)


def strict_json_schema(schema: m.Schema) -> tuple[JSONSchema, tuple[str, ...]]:
    """Returns the JSON Schema for servers that enforce schemas: every field is required.

    Also returns texts about features that OpenAI's strict subset cannot express, such as `"extra"
    is a map`. If there are no texts, a server can enforce the whole schema.
    """
    writer = _JSONSchemaWriter(is_strict=True)
    document = writer.document(schema)
    return document, (*dict.fromkeys(writer.losses), *_beyond_limits(document))


# The limits of the strict subset on levels, fields and choices in total.
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


def constraint_words(schema: m.Schema) -> list[str]:
    """Returns the schema's constraints in words: `> 0`, `each at most 20 characters`."""
    words = list(_words_by_constraint(schema).values())
    match schema:
        case m.RootSchema(root=root):
            words += constraint_words(root.schema)
        case m.ListSchema(part):
            words += [f"each {one}" for one in constraint_words(part)]
        case m.MapSchema(value, key):
            words += [f"each name {one}" for one in constraint_words(key)]
            words += [f"each {one}" for one in constraint_words(value)]
        case m.TupleSchema(rest=rest) if rest is not None:
            words += [f"each {one}" for one in constraint_words(rest)]
        case m.TupleSchema(items):
            words += [
                f".{at} {one}" for at, item in enumerate(items) for one in constraint_words(item)
            ]
        case m.UnionSchema(members):
            words += dict.fromkeys(one for member in members for one in constraint_words(member))
        case _:
            pass
    return words


def _words_by_constraint(schema: m.Schema) -> dict[str, str]:
    constraints = m.constraints_of(schema)
    if constraints is None:
        return {}
    found = {
        name: f"{sign} {_shown(limit)}"
        for name, sign in _SIGNS.items()
        if (limit := getattr(constraints, name)) is not None
    }
    if constraints.multiple_of is not None:
        found["multiple_of"] = f"a multiple of {_shown(constraints.multiple_of)}"
    if (counted := _counted(constraints, _json_type(schema))) is not None:
        found["counted"] = counted
    if constraints.are_unique:
        found["are_unique"] = "no two alike"
    if constraints.digits is not None:
        found["digits"] = f"at most {constraints.digits} digits"
    if constraints.places is not None:
        found["places"] = f"at most {constraints.places} decimal places"
    if constraints.pattern is not None:
        found["pattern"] = f"matching {constraints.pattern}"
    if constraints.format is not None and constraints.format not in m.KINDS_OF_FORMATS:
        found["format"] = constraints.format
    return found


def _counted(constraints: m.Constraints, kind: str) -> str | None:
    least, most = constraints.least or None, constraints.most
    one, several = _UNITS.get(kind, ("item", "items"))
    if least is None and most is None:
        return None
    if least == most:
        return f"exactly {least} {one if least == 1 else several}"
    if least is None:
        return f"at most {most} {one if most == 1 else several}"
    if most is None:
        return f"at least {least} {one if least == 1 else several}"
    return f"{least} to {most} {several}"


def _json_type(schema: m.Schema) -> str:
    match schema:
        case m.ScalarSchema(kind):
            return JSON_TYPES[kind]
        case m.MapSchema():
            return "object"
        case _:
            return "array"


def _shown(limit: Any) -> str:
    """Returns a constraint's limit as text: a number, or the ISO 8601 text of a date."""
    return text_of(limit) if word_of(limit) is not None else literal(limit)


def _field_words(field: m.Field) -> list[str]:
    """Returns the constraints and the default of a field, in words."""
    words = constraint_words(field.schema)
    if field.told_default is not m.ABSENT:
        words.append(f"by default {literal(field.told_default)}")
    return words


def _doc(field: m.Field) -> str | None:
    """Returns the doc of a field, followed by the field's examples, or None."""
    such = f"such as {' or '.join(map(to_json, field.examples))}" if field.examples else ""
    return ", ".join(filter(None, (field.doc, such))) or None


class _Writer:
    """Keeps the definitions of recursive types, by names that differ."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.definitions: dict[str, Any] = {}

    def define(self, schema: m.ReferenceSchema, write: Callable[[m.Schema], Any]) -> str:
        """Returns the name of the type that the reference leads to; writes its definition once."""
        target = schema.target()
        name = self.names.get(id(target))
        if name is None:
            name, number = schema.name, 2
            while name in self.definitions:
                name, number = f"{schema.name}{number}", number + 1
            self.names[id(target)] = name
            self.definitions[name] = None  # it comes before those that it refers to
            self.definitions[name] = write(target)
        return name


class NotationWriter(_Writer):
    """Writes schemas in Saft's notation, with docs of fields as comments."""

    def write(self, schema: m.Schema, indent: str = "") -> str:
        match schema:
            case m.AnySchema():
                return "any"
            case m.ScalarSchema(kind, constraints):
                form = constraints.format if constraints is not None else None
                return m.KINDS_OF_FORMATS.get(form or "") or self.write_scalar(kind)
            case m.LiteralSchema():
                return self.write_literal(schema)
            case m.ListSchema(item):
                return f"[{self.write(item, indent)}]"
            case m.TupleSchema():
                return self.write_tuple(schema, indent)
            case m.MapSchema():
                return self.write_map(schema, indent)
            case m.ObjectSchema():
                return self.write_object(schema, indent)
            case m.RootSchema():
                return self.write_root(schema, indent)
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

    def write_map(self, schema: m.MapSchema, indent: str) -> str:
        written = self.write(schema.key, indent)
        key = "name" if written == "string" else written
        return f"{{any {key}: {self.write(schema.value, indent)}}}"

    def write_reference(self, schema: m.ReferenceSchema) -> str:
        return self.define(schema, self.write)

    def write_root(self, schema: m.RootSchema, indent: str) -> str:
        return self.write(schema.root.schema, indent)

    def write_object(self, schema: m.ObjectSchema, indent: str) -> str:
        fields = schema.fields
        inner = indent + "  "
        parts = [(self.write_field(f, inner), _doc(f)) for f in fields]
        one_line = "{" + ", ".join(text for text, _ in parts) + "}"
        # With words after a type, a comma would be ambiguous on one line.
        has_words = any(doc for _, doc in parts) or any(map(_field_words, fields))
        if not has_words and "\n" not in one_line and len(one_line) <= ONE_LINE:
            return one_line
        lines = [
            f"{inner}{text}," + (f" // {' '.join(doc.split())}" if doc else "")
            for text, doc in parts
        ]
        return "\n".join(["{", *lines, indent + "}"])

    def write_field(self, field: m.Field, indent: str) -> str:
        words = [self.write(field.schema, indent), *_field_words(field)]
        return f"{_name(field)}: {', '.join(words)}"

    def write_union(self, members: tuple[m.Schema, ...], indent: str) -> str:
        others = [member for member in members if not _is_nil(member)]
        texts = [self.write_member(member, indent) for member in others]
        if len(others) == len(members):
            return " | ".join(texts)
        return f"{texts[0]}?" if len(texts) == 1 else f"{' | '.join(texts)} | nil"

    def write_member(self, member: m.Schema, indent: str) -> str:
        """Writes a member of a union; after a record, its doc, which says when to choose it."""
        text = self.write(member, indent)
        doc = " ".join((member.doc or "").split()) if isinstance(member, m.ObjectSchema) else ""
        return f"{text} /* {doc} */" if doc and "*/" not in doc else text


class _ShortWriter(NotationWriter):
    """Writes Saft's notation for messages."""

    def write_map(self, schema: m.MapSchema, indent: str) -> str:
        return f"{{[{self.write(schema.key)}]: {self.write(schema.value)}}}"

    def write_reference(self, schema: m.ReferenceSchema) -> str:
        return schema.name

    def write_root(self, schema: m.RootSchema, indent: str) -> str:
        return schema.name

    def write_member(self, member: m.Schema, indent: str) -> str:
        return self.write(member, indent)

    def write_object(self, schema: m.ObjectSchema, indent: str) -> str:
        if schema.build is not None and schema.name is not None:
            return schema.name
        text = ", ".join(f"{_name(f)}: {self.write(f.schema)}" for f in schema.fields)
        return f"{{{text}}}" if len(text) <= ONE_LINE else "object"


class _JSONSchemaWriter(_Writer):
    """Writes JSON Schema, and collects in `losses` what the strict subset cannot express.

    If `is_strict`, all fields are required.
    """

    def __init__(self, is_strict: bool) -> None:
        super().__init__()
        self.is_strict = is_strict
        self.losses: list[str] = []
        self.path: list[str] = []

    def document(self, schema: m.Schema) -> JSONSchema:
        document = self.write(schema)
        return {**document, "$defs": self.definitions} if self.definitions else document

    def write(self, schema: m.Schema) -> JSONSchema:
        match schema:
            case m.AnySchema():
                self.lose("may be anything")
                return {}
            case m.ScalarSchema(kind):
                return self.constrain({"type": JSON_TYPES[kind], **_FORMATS.get(kind, {})}, schema)
            case m.LiteralSchema(value):
                return {"type": JSON_TYPES[kind_of(value)], "enum": [value]}
            case m.ListSchema(item):
                return self.constrain({"type": "array", "items": self.write(item)}, schema)
            case m.TupleSchema():
                return self.constrain(self.write_tuple(schema), schema)
            case m.MapSchema(value, key):
                self.lose("is a map")
                document = {"type": "object", "additionalProperties": self.write(value)}
                if key != m.TEXT:
                    names = self.write(key)
                    document["propertyNames"] = names
                return self.constrain(document, schema)
            case m.ObjectSchema():
                return self.write_object(schema)
            case m.RootSchema():
                return self.write_root(schema)
            case m.UnionSchema(members):
                return self.write_union(members)
            case m.ReferenceSchema():
                return self.write_reference(schema)
            case m.OpaqueSchema(name):
                raise m.without_json_form(name)
            case _:
                assert_never(schema)

    def constrain(self, document: JSONSchema, schema: m.Schema) -> JSONSchema:
        """Adds the schema's constraints to its document.

        Constraints without a keyword of JSON Schema go into the description.
        """
        constraints = m.constraints_of(schema)
        if constraints is None:
            return document
        words = _words_by_constraint(schema)
        kind = document["type"]
        if kind in ("integer", "number"):
            for name, keyword in _KEYWORDS.items():
                if words.pop(name, None) is not None:
                    document[keyword] = _number(getattr(constraints, name))
        if not self.is_strict or kind == "array":
            least, most = _COUNTED.get(kind, ("", ""))
            document |= {} if constraints.least is None else {least: constraints.least}
            document |= {} if constraints.most is None else {most: constraints.most}
            words.pop("counted", None)
        if constraints.pattern is not None and not (
            self.is_strict and _LOOKS_AROUND.search(constraints.pattern)
        ):
            document["pattern"] = constraints.pattern
            del words["pattern"]
        if constraints.format is not None and (
            not self.is_strict or constraints.format in _STRICT_FORMATS
        ):
            document["format"] = constraints.format
            words.pop("format", None)
        if constraints.are_unique and not self.is_strict:
            document["uniqueItems"] = True
            del words["are_unique"]
        return {**document, "description": ", ".join(words.values())} if words else document

    def lose(self, what: str) -> None:
        """Records a feature of the current field that the strict subset cannot express."""
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
        return self.describe(document, field)

    def write_root(self, schema: m.RootSchema) -> JSONSchema:
        docs = filter(None, (schema.doc, schema.root.doc))
        root = replace(schema.root, doc="; ".join(docs))
        return self.describe(self.write(root.schema), root)

    def describe(self, document: JSONSchema, field: m.Field) -> JSONSchema:
        """Adds a field's doc, default and examples to the JSON Schema of its type."""
        default, doc, told = field.told_default, field.doc, list[str]()
        if self.is_strict:
            doc = _doc(field)
            told += [] if default is m.ABSENT else [f"by default {to_json(default)}"]
        else:
            document |= {} if default is m.ABSENT else {"default": default}
            document |= {"examples": list(field.examples)} if field.examples else {}
        described = [doc, document.get("description")]
        description = "; ".join(filter(None, [*described, *told]))
        if not description:
            return document
        if "$ref" in document:  # which allows no other keyword beside it
            document = {"anyOf": [document]}
        return {**document, "description": description}

    def write_union(self, members: tuple[m.Schema, ...]) -> JSONSchema:
        others = (one for one in members if not _is_nil(one))
        literals = [one.value for one in others if isinstance(one, m.LiteralSchema)]
        nil = any(map(_is_nil, members))
        if literals and len(literals) + nil == len(members):
            return _enumeration(literals, nil)
        written = [self.write(member) for member in members]
        if all(set(document) == {"type"} for document in written):
            types = [document["type"] for document in written]
            if "number" in types and "integer" in types:  # "number" includes integers
                types.remove("integer")
            return {"type": types[0] if len(types) == 1 else types}
        return {"anyOf": written}

    def write_reference(self, schema: m.ReferenceSchema) -> JSONSchema:
        return {"$ref": f"#/$defs/{self.define(schema, self.write)}"}


def _number(limit: Any) -> int | float:
    return limit if isinstance(limit, int | float) else float(limit)


def _is_nil(schema: m.Schema) -> bool:
    return isinstance(schema, (m.ScalarSchema, m.LiteralSchema)) and m.admits_nil(schema)


def _name(field: m.Field) -> str:
    return field.name if field.name.isidentifier() else literal(field.name)


def _enumeration(literals: list[Any], nil: bool) -> JSONSchema:
    types = list(dict.fromkeys(JSON_TYPES[kind_of(one)] for one in literals))
    values = [*literals, *([None] if nil and None not in literals else [])]
    types = [*types, *(["null"] if None in values and "null" not in types else [])]
    return {"type": types[0] if len(types) == 1 else types, "enum": values}
