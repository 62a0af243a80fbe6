"""Imports of MCP tools: turns the lock file's entry for a tool into a function of the script.

    from mcp("docs") import search

This import is replaced after parsing, so that all later stages see

    /// Searches the manual.
    f search(query: string, limit: int = 10) -> [{title: string, url: string}]:
        ret (a call of the tool)

The nodes of this function have the span of the imported name. JSON Schema can express more than
Saft's types: parts without an equivalent type become `any`, and the documentation of the parameter
describes them.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard, cast

from saftc.check.imports import BrokenModule, Loader, ServerModule
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.diagnostics.near import did_you_mean
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import KEYWORDS
from saftc.syntax.walk import nodes_of
from saftc.types.types import show_value

_Data = Mapping[str, Any]

_NO_NAME = re.compile(r"[^A-Za-z0-9_]")
_SCALARS = {
    "string": "string",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "nil",
}
_PYTHON: dict[str, Any] = {
    "string": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "nil": type(None),
}
# Keywords of JSON Schema that narrow a type further than Saft's types can.
_NARROWING = (
    *("format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum"),
    *("exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties"),
    *("maxProperties", "propertyNames", "contentEncoding", "contentMediaType"),
)
# Keywords that Saft's types cannot express at all.
_UNSAID = (
    *("allOf", "not", "if", "then", "else", "dependentSchemas", "dependentRequired"),
    *("patternProperties", "unevaluatedProperties", "unevaluatedItems", "contains", "$dynamicRef"),
)
# An `allOf` with one schema is replaced by that schema, unless one of these keywords is beside it.
_BESIDE_ONE = {*_UNSAID[1:], "type", "properties"}
# Keywords whose subschemas describe the same value as the schema.
_ALIKE = ("allOf", "anyOf", "oneOf", "if", "then", "else")
# The limits of a tool's schemas: the deepest nesting, and the most parts. A few definitions that
# refer to each other can expand to millions of types, so further parts become `any`. A tool with
# more parameters than that is unusable.
_DEEPEST = 24
_MOST_PARTS = 1000
_LONGEST_NOTE = 300
_LONGEST_DEFAULT = 10_000


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool, converted to a function definition, with the doc comments of its nodes.

    `nowhere`: the references in the tool's schemas that cannot be resolved.
    """

    definition: n.FunctionDef
    docs: dict[n.Node, str]
    nowhere: tuple[str, ...]


class Unusable(Exception):
    """Raised for a tool that cannot be converted to a function; the message says why."""


def key_of(server: str) -> str:
    """The module name under which a loader finds the tools of a server."""
    return f"mcp({server})"


def script_name(text: str) -> str:
    """Converts the name of a server's tool or parameter to a name for scripts.

    For example, `max-results` becomes `max_results`.
    """
    name = _NO_NAME.sub("_", text) or "_"
    if name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if name in KEYWORDS else name


def exact_name(text: str) -> str:
    """Like `script_name`, but with character codes: `max-results` becomes `max_x2d_results`.

    Scripts use these names to choose between tools whose script names are equal.
    """
    return script_name(_NO_NAME.sub(lambda other: f"_x{ord(other[0]):x}_", text))


def with_tools(module: n.Module, load: Loader, mistakes: Collector) -> n.Module:
    """Returns the module with a function for each imported MCP tool, below its import."""
    imports = nodes_of(module, n.ServerImport)
    if not imports:
        return module
    docs = dict(module.docs)
    found: dict[n.Statement, list[n.Statement]] = {}
    servers = set[str]()
    for statement in imports:
        if statement not in module.statements:
            hint = "move it to the top of the script"
            mistakes.add(catalogue.SERVER_IMPORT_INSIDE.at(statement.span, hint=hint))
            continue
        tools = list(_imported(statement, load, mistakes))
        for one in tools:
            docs |= one.docs
        known = [one.definition for one in tools]
        spans = {one.name.span for one in known}
        left = tuple(one for one in statement.names if (one.alias or one.name).span not in spans)
        is_needed = left or statement.server.text not in servers
        found[statement] = [*([replace(statement, names=left)] if is_needed else ()), *known]
        servers.add(statement.server.text)
    statements = [new for one in module.statements for new in found.get(one, (one,))]
    return replace(module, statements=tuple(statements), docs=docs)


def _imported(statement: n.ServerImport, load: Loader, mistakes: Collector) -> Iterator[Declared]:
    server, place = statement.server.text, statement.server.span
    loaded = load(key_of(server))
    if isinstance(loaded, BrokenModule):
        mistakes.add(catalogue.BROKEN_MODULE.at(place, problem=loaded.problem, hint=loaded.hint))
        return
    if not isinstance(loaded, ServerModule):
        hint = f"run `saftc mcp lock {server}`, which asks the server for its tools"
        mistakes.add(catalogue.UNLOCKED_SERVER.at(place, name=server, hint=hint))
        return
    for imported in statement.names:
        text, span = imported.name.text, imported.name.span
        meant = _meant(loaded.tools, imported)
        if not meant:
            names = set(map(script_name, loaded.tools))
            hint = did_you_mean(text, names) or f"its tools are {_listed(names)}"
            mistakes.add(catalogue.UNKNOWN_NAME.at(span, name=text, hint=hint))
            continue
        hint = f"choose one by `as`: `{exact_name(meant[0])} as one`" if len(meant) > 1 else None
        try:
            if hint is not None:
                raise Unusable(f"{' and '.join(meant)} have the same name in a script")
            name = imported.alias or imported.name
            yield declared(server, meant[0], loaded.tools[meant[0]], name)
        except Unusable as problem:
            code = catalogue.UNUSABLE_TOOL
            mistakes.add(code.at(span, name=text, server=server, problem=problem, hint=hint))


def _meant(tools: Collection[str], imported: n.ImportedName) -> list[str]:
    """The names of the tools that an imported name may refer to. An ambiguous name has several."""
    text = imported.name.text
    if imported.alias is not None and text in tools:
        return [text]
    alike = [name for name in tools if script_name(name) == text]
    return alike or [name for name in tools if exact_name(name) == text]


def _listed(names: Collection[str], most: int = 8) -> str:
    shown = ", ".join(sorted(names)[:most]) or "none"
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"


def declared(server: str, tool: str, data: _Data, name: n.Identifier) -> Declared:
    """Declares a tool as the function `name`; `data` is its entry in the lock file.

    Raises:
        Unusable: Two parameters would have the same name, some parameters are declared only inside
            `allOf` or a similar keyword, or there are too many parameters.
    """
    # Nodes without a span in the script get the empty span at the end of the name.
    place = Span(name.span.end, name.span.end)
    parameters = _SchemaReader(place, data["inputSchema"])
    hidden = parameters.hidden()
    if hidden:
        raise Unusable(f"its schema declares {_listed(hidden)} only in a part such as `allOf`")
    properties = parameters.properties()
    if len(properties) > _MOST_PARTS:
        raise Unusable(f"it has {len(properties):,} parameters, more than {_MOST_PARTS:,}")
    taken = _parameters(parameters, properties)
    counts = Counter(one.name.text for _, one in taken)
    twice = [wire for wire, one in taken if counts[one.name.text] > 1]
    if twice:
        raise Unusable(f"its parameters {' and '.join(twice)} have the same name in a script")
    output: _Data = data.get("outputSchema") or {}
    given = _SchemaReader(place, output, is_given=True)
    returns = given.schema(output["properties"]["result"] if _is_wrapped(output) else output)
    arguments = tuple(
        n.Argument(place, n.Identifier(place, wire), n.Name(place, one.name.text))
        for wire, one in taken
    )
    call = n.ServerCall(name.span, server, tool, arguments, {**parameters.titles, **given.titles})
    body = (n.RetStmt(name.span, call),)
    definition = n.FunctionDef(
        name.span, name, tuple(one for _, one in taken), returns, body, False
    )
    docs: dict[n.Node, str] = {**parameters.docs, **given.docs}
    told = "\n\n".join(filter(None, [data["description"].strip(), parameters.unsaid_of_all()]))
    if told:
        docs[definition] = told
    return Declared(definition, docs, (*parameters.nowhere, *given.nowhere))


def _is_wrapped(schema: Any) -> bool:
    """Whether a tool's output is a plain value in an object whose only field is `result`."""
    match schema:
        case {"properties": {"result": _, **others}, "required": ["result"]}:
            return not others
        case _:
            return False


def _parameters(reader: "_SchemaReader", properties: _Data) -> list[tuple[str, n.Parameter]]:
    """The parameters of a tool, each paired with the name that it has at the server.

    Parameters without a default come first.
    """
    required = frozenset[str](reader.resolved(reader.root).get("required") or ())
    found: list[tuple[str, n.Parameter]] = []
    for wire, inner in properties.items():
        type_ = reader.schema(inner)
        default: n.Expression | None = None
        if wire not in required:
            said = reader.resolved(inner).get("default")
            if isinstance(said, float) and said.is_integer() and not _fits(said, type_):
                said = int(said)  # 10.0 is an integer, too, in JSON Schema
            takes_nil = _fits(None, type_)
            if _fits(said, type_) and len(json.dumps(said)) <= _LONGEST_DEFAULT:
                default = reader.value(said)
            # Make the parameter optional: if the argument is nil, it is not sent, and the server
            # uses its default. Not if the parameter accepts null, as nil would then be sent.
            elif not takes_nil:
                default = reader.value(None)
            if not takes_nil and isinstance(default, n.Literal) and default.value is None:
                type_ = n.OptionalSchema(reader.place, type_)
        named = n.Identifier(reader.place, script_name(wire))
        made = n.Parameter(reader.place, named, type_, default)
        reader.note(made, inner, type_)
        found.append((wire, made))
    return sorted(found, key=lambda one: one[1].default is not None)


def _fits(value: Any, schema: n.Schema) -> bool:
    """Whether a JSON value, if written as a literal in a script, has the type `schema`."""
    match schema:
        case n.NamedSchema(text="any"):
            return True
        case n.NamedSchema(text=text):
            kind = _PYTHON[text]
            return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        case n.LiteralSchema(value=literal):
            return type(value) is type(literal) and value == literal
        case n.OptionalSchema(schema=inner):
            return value is None or _fits(value, inner)
        case n.UnionSchema(members=members):
            return any(_fits(value, one) for one in members)
        case n.ListSchema(item=item):
            return _is_list(value) and all(_fits(one, item) for one in value)
        case n.MapSchema(value=of):
            return isinstance(value, dict) and all(
                _fits(one, of) for one in cast("_Data", value).values()
            )
        case n.ObjectSchema(fields=fields) if isinstance(value, dict):
            data = cast("_Data", value)
            return data.keys() <= {one.name.text for one in fields} and all(
                _fits(data.get(one.name.text), one.schema) for one in fields
            )
        case _:
            return False


@dataclass(slots=True)
class _SchemaReader:
    """Converts JSON Schema to Saft's schemas.

    `is_given`: the schemas are those of a tool's output, from which unknown fields are dropped.
    """

    place: Span
    root: Any
    is_given: bool = False
    docs: dict[n.Node, str] = field(default_factory=dict["n.Node", str])
    titles: dict[n.Schema, str] = field(default_factory=dict["n.Schema", str])
    nowhere: dict[str, None] = field(default_factory=dict[str, None])
    _open: list[str] = field(default_factory=list[str])
    # The number of parts read so far, and the nesting depth of the next one.
    _count: int = 0
    _depth: int = 0
    # The JSON Schema of each `any` that stands for a more specific schema.
    _unsaid: dict[n.Node, str] = field(default_factory=dict["n.Node", str])

    def resolved(self, schema: Any) -> _Data:
        """The schema, with a reference replaced by the part of the document that it refers to."""
        for _ in range(10):
            if not isinstance(schema, dict):
                return {}
            data = cast("_Data", schema)
            found = self._referred(data.get("$ref"))
            if found is None:
                return data
            # Keywords beside a reference also apply.
            schema = {**found, **{k: v for k, v in data.items() if k != "$ref"}}
        return {}

    def properties(self) -> _Data:
        """The schemas of the parameters, by name.

        A required parameter without a schema accepts any value.
        """
        schema = self.resolved(self.root)
        described = dict.fromkeys(schema.get("required") or (), cast("_Data", {}))
        properties: _Data = schema.get("properties") or {}
        return {**properties, **{k: v for k, v in described.items() if k not in properties}}

    def hidden(self) -> set[str]:
        """The parameters that are declared only in subschemas such as those of `allOf`."""
        found, seen = set[str](), set[int]()
        left: list[Any] = [self.root]
        while left:
            schema = left.pop()
            if id(schema) in seen:  # several schemas refer to the same one
                continue
            seen.add(id(schema))
            part = self.resolved(schema)
            found |= {*(part.get("properties") or ()), *(part.get("required") or ())}
            for inner in map(part.get, _ALIKE):
                left += inner if _is_list(inner) else [inner]
        return found - self.properties().keys()

    def unsaid_of_all(self) -> str:
        """A text about the constraints on all arguments together, empty if there are none.

        A parameter list cannot express such constraints.
        """
        schema = self.resolved(self.root)
        words = (*_UNSAID, "anyOf", "oneOf", "minProperties", "maxProperties", "propertyNames")
        said = {word: schema[word] for word in words if word in schema}
        others = schema.get("additionalProperties", True)
        if isinstance(others, dict) and others:
            said["additionalProperties"] = others
        return f"(as JSON Schema {_noted(said)})" if said else ""

    def schema(self, data: Any) -> n.Schema:
        """Converts a JSON Schema to a Saft schema.

        The result is `any` if Saft has no equivalent type, or if the JSON Schema is too large.
        """
        if not isinstance(data, dict):
            return self._any()
        schema = cast("_Data", data)
        if self._depth >= _DEEPEST:
            return self._any(schema)
        self._depth += 1
        made = self._read(schema)
        self._depth -= 1
        return made

    def _read(self, schema: _Data) -> n.Schema:
        match schema:
            case {"$ref": reference}:
                return self._named(schema, str(reference))
            case {"allOf": parts} if _is_alone(parts) and not schema.keys() & _BESIDE_ONE:
                return self.schema(parts[0])
            case _ if schema.keys() & set(_UNSAID):
                return self._any(schema)
            case {"const": value}:
                return self._literals([value], schema)
            case {"enum": values} if _is_list(values):
                return self._literals(values, schema)
            case {"anyOf": inner} | {"oneOf": inner} if _is_list(inner):
                return self._union(inner, schema)
            case {"type": kinds} if _is_list(kinds):
                words = dict.fromkeys(map(str, kinds))
                return self._union([{**schema, "type": one} for one in words], schema)
            case {"type": str() as kind} if kind in _SCALARS:
                return n.NamedSchema(self.place, _SCALARS[kind])
            case {"type": "array"}:
                return self._array(schema)
            case {"type": "object"} | {"properties": _}:
                return self._object(schema)
            case _:
                return self._any(schema)

    def _has_room(self, parts: int) -> bool:
        """Whether the limit allows `parts` more parts of the schema. If so, they count as used."""
        has_room = self._count + parts <= _MOST_PARTS
        self._count += parts if has_room else 0
        return has_room

    def _array(self, schema: _Data) -> n.Schema:
        first = schema.get("prefixItems")
        if _is_list(first):
            size = len(first)
            ends = schema.get("items") is False or schema.get("maxItems") == size
            ends = ends and 0 < size == schema.get("minItems")
            if not ends or not self._has_room(size):
                return self._any(schema)
            return n.TupleSchema(self.place, tuple(map(self.schema, first)))
        if not self._has_room(1):
            return self._any(schema)
        return n.ListSchema(self.place, self.schema(schema.get("items", {})))

    def _object(self, schema: _Data) -> n.Schema:
        properties: _Data = schema.get("properties") or {}
        others = schema.get("additionalProperties", True)
        if not properties:
            if others is False:
                return n.ObjectSchema(self.place, ())
            key = n.NamedSchema(self.place, "string")
            return n.MapSchema(self.place, key, self.schema(others))
        is_closed = others in (True, False) or self.is_given
        if not is_closed or not self._has_room(len(properties)):
            return self._any(schema)
        required = frozenset[str](schema.get("required") or ())
        fields: list[n.SchemaField] = []
        for name, inner in properties.items():
            type_ = self.schema(inner)
            if name not in required and not _fits(None, type_):
                type_ = n.OptionalSchema(self.place, type_)
            made = n.SchemaField(self.place, n.Identifier(self.place, name), type_)
            self.note(made, inner, type_)
            fields.append(made)
        return n.ObjectSchema(self.place, tuple(fields))

    def _named(self, schema: _Data, reference: str) -> n.Schema:
        """The Saft schema for a reference, which gets the name of the definition as its title.

        The result is `any` if the reference is recursive or cannot be resolved.
        """
        if self._referred(reference) is None:
            self.nowhere[reference] = None
            return self._any(schema)
        if reference in self._open:
            return self._any(schema)
        self._open.append(reference)
        made = self._read(self.resolved(schema))
        self._open.pop()
        self.titles.setdefault(made, reference.rpartition("/")[2])
        return made

    def _referred(self, reference: object) -> _Data | None:
        """The part of the document that a reference such as `#/$defs/Hit` denotes, or None."""
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        found: Any = self.root
        for part in reference[2:].split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                return None
            found = cast("_Data", found)[name]
        return cast("_Data", found) if isinstance(found, dict) else None

    def _literals(self, values: list[Any], schema: _Data) -> n.Schema:
        is_plain = all(one is None or isinstance(one, str | int | float) for one in values)
        if not values or not is_plain or not self._has_room(len(values)):
            return self._any(schema)
        return self._optional([n.LiteralSchema(self.place, one) for one in values])

    def _union(self, schemas: list[Any], whole: _Data) -> n.Schema:
        if not self._has_room(len(schemas)):
            return self._any(whole)
        return self._optional(list(map(self.schema, schemas)))

    def _optional(self, members: list[n.Schema]) -> n.Schema:
        """The union of several schemas.

        It is optional if a member is nil, and `any` if a member is `any`.
        """
        others = [one for one in members if not _is_nil(one)]
        unsaid = [one for one in others if isinstance(one, n.NamedSchema) and one.text == "any"]
        if unsaid or not others:
            return unsaid[0] if unsaid else members[0] if members else self._any()
        made = others[0] if len(others) == 1 else n.UnionSchema(self.place, tuple(others))
        return made if len(others) == len(members) else n.OptionalSchema(self.place, made)

    def _any(self, schema: _Data | None = None) -> n.Schema:
        """The schema `any`. Constraints of `schema` become part of the documentation."""
        made = n.NamedSchema(self.place, "any")
        if (schema or {}).keys() - {"title", "description", "default", "examples", *_NARROWING}:
            said = schema or {}
            words = {key: one for key, one in said.items() if key not in ("title", "description")}
            self._unsaid[made] = _noted(words)
        return made

    def note(self, node: n.Node, data: Any, type_: n.Schema) -> None:
        """Documents a node: its description, and the constraints that its type cannot express."""
        schema = self.resolved(data)
        words = _NARROWING if not isinstance(type_, n.TupleSchema) else ()
        narrowing = [f"{word} {json.dumps(schema[word])}" for word in words if word in schema]
        inner = type_.schema if isinstance(type_, n.OptionalSchema) else type_
        while isinstance(inner, n.ListSchema):
            inner = inner.item
        if inner in self._unsaid:
            narrowing.append(f"as JSON Schema {self._unsaid[inner]}")
        doc, note = " ".join(str(schema.get("description") or "").split()), ", ".join(narrowing)
        if doc or note:
            self.docs[node] = f"{doc} ({note})" if doc and note else doc or note

    def value(self, data: Any) -> n.Expression:
        """The literal in a script for a default value in JSON."""
        if _is_list(data):
            return n.ListLiteral(self.place, tuple(map(self.value, data)), False)
        if isinstance(data, dict):
            fields = tuple(
                n.Field(self.place, n.Identifier(self.place, key), self.value(one))
                for key, one in cast("_Data", data).items()
            )
            return n.ObjectLiteral(self.place, fields, False)
        if isinstance(data, int | float) and not isinstance(data, bool) and data < 0:
            return n.Unary(self.place, "-", n.Literal(self.place, -data))
        return n.Literal(self.place, data)


def _noted(said: _Data) -> str:
    text = ""
    for part in json.JSONEncoder(ensure_ascii=False).iterencode(said):
        text += part
        if len(text) > _LONGEST_NOTE:  # a schema may have megabytes
            return f"{text[:_LONGEST_NOTE]}..."
    return text


def _is_list(data: object) -> TypeGuard[list[Any]]:
    return isinstance(data, list)


def _is_alone(data: object) -> TypeGuard[list[Any]]:
    return _is_list(data) and len(data) == 1


def default_text(node: n.Expression) -> str:
    """The default of a tool's parameter in the notation of scripts."""
    match node:
        case n.Literal(value=value):
            return "nil" if value is None else show_value(value)
        case n.Unary(operand=operand):
            return f"-{default_text(operand)}"
        case n.ListLiteral(items=items):
            parts = [default_text(one) for one in items if not isinstance(one, n.Spread)]
            return f"[{', '.join(parts)}]"
        case n.ObjectLiteral():
            fields = node.named
            return "{" + ", ".join(f"{f.key.text}: {default_text(f.value)}" for f in fields) + "}"
        case _:
            return "..."


def _is_nil(schema: n.Schema) -> bool:
    match schema:
        case n.NamedSchema(text="nil") | n.LiteralSchema(value=None):
            return True
        case _:
            return False
