"""Imports of tools of MCP servers: what a lock says of a tool, as a function of the script.

    from mcp("docs") import search

is, for all that comes after the parser, as if the script had

    /// Searches the manual.
    f search(query: string, limit: int = 10) -> [{title: string, url: string}]:
        ret (a call of the tool)

Its nodes have the place of the name in the import. JSON Schema says more than Saft's types: what
these cannot say is `any`, and the documentation of the parameter says what it is.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.diagnostics.near import did_you_mean
from saftc.semantics.imports import BrokenModule, Loader, ServerModule
from saftc.semantics.types import show_value
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import KEYWORDS
from saftc.syntax.walk import nodes_of

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
# What narrows a type further than Saft's types say it.
_NARROWING = (
    *("format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum"),
    *("exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties"),
    *("maxProperties", "propertyNames", "contentEncoding", "contentMediaType"),
)
# What Saft's types cannot say at all.
_UNSAID = (
    *("allOf", "not", "if", "then", "else", "dependentSchemas", "dependentRequired"),
    *("patternProperties", "unevaluatedProperties", "unevaluatedItems", "contains", "$dynamicRef"),
)
# The schemas in a schema that are of the same value.
_ALIKE = ("allOf", "anyOf", "oneOf", "if", "then", "else")
# A few definitions that refer to each other are millions of types: what is further inside, or
# beyond so many parts, is `any`. A tool with more parameters cannot be used.
_DEEPEST = 24
_MOST_PARTS = 1000
_LONGEST_NOTE = 300
_LONGEST_DEFAULT = 10_000


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool as a function: `docs` are those of its nodes, `titles` the names of its objects.

    `nowhere` are the references of its schemas that mean nothing in them.
    """

    definition: n.FunctionDef
    docs: dict[n.Node, str]
    titles: dict[n.Schema, str]
    nowhere: tuple[str, ...]


class Unusable(Exception):
    """A tool that cannot be a function; the text says why."""


def key_of(server: str) -> str:
    """What a loader is asked for the tools of a server."""
    return f"mcp({server})"


def script_name(text: str) -> str:
    """A name of a server's as a name of a script: `max-results` is `max_results`."""
    name = _NO_NAME.sub("_", text) or "_"
    if name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if name in KEYWORDS else name


def exact_name(text: str) -> str:
    """The same with the code of each other character: `max-results` is `max_x2d_results`.

    By these names, scripts choose between two that are the same otherwise.
    """
    return script_name(_NO_NAME.sub(lambda other: f"_x{ord(other[0]):x}_", text))


def with_tools(module: n.Module, load: Loader, mistakes: Collector) -> n.Module:
    """The module, with a function below each import for each tool that it imports."""
    imports = nodes_of(module, n.ServerImport)
    if not imports:
        return module
    top, docs = set(module.statements), dict(module.docs)
    found: dict[n.Statement, list[n.Statement]] = {}
    first: dict[str, n.ServerImport] = {}
    for statement in imports:
        if statement not in top:
            mistakes.add(
                catalogue.SERVER_IMPORT_INSIDE.at(
                    statement.span, hint="move it to the top of the script"
                )
            )
            continue
        tools = list(_imported(statement, load, mistakes))
        for one in tools:
            docs |= one.docs
        known = [one.definition for one in tools]
        spans = {one.name.span for one in known}
        left = [one for one in statement.names if (one.alias or one.name).span not in spans]
        made = n.ServerImport(statement.span, statement.server, tuple(left))
        if not left and statement.server.text in first:
            found[statement] = [*known]
        else:
            first.setdefault(statement.server.text, made)
            found[statement] = [made, *known]
    statements = [new for one in module.statements for new in found.get(one, (one,))]
    return replace(module, statements=tuple(statements), docs=docs)


def _imported(
    statement: n.ServerImport, load: Loader, mistakes: Collector
) -> Iterator[Declared]:
    server = statement.server.text
    loaded = load(key_of(server))
    if isinstance(loaded, BrokenModule):
        mistakes.add(
            catalogue.BROKEN_MODULE.at(
                statement.server.span, problem=loaded.problem, hint=loaded.hint
            )
        )
    elif not isinstance(loaded, ServerModule):
        mistakes.add(
            catalogue.UNLOCKED_SERVER.at(
                statement.server.span,
                name=server,
                hint=f"`saftc mcp lock {server}` asks it for its tools, once",
            )
        )
    else:
        names = Counter(map(script_name, loaded.tools))
        for imported in statement.names:
            text, span = imported.name.text, imported.name.span
            meant = [name for name in loaded.tools if script_name(name) == text]
            meant = meant or [name for name in loaded.tools if exact_name(name) == text]
            if imported.alias is not None and text in loaded.tools:
                meant = [text]
            if not meant:
                hint = did_you_mean(text, names) or f"its tools are {_listed(names)}"
                mistakes.add(catalogue.UNKNOWN_NAME.at(span, name=text, hint=hint))
                continue
            hint = None
            try:
                if len(meant) > 1:
                    hint = f"choose one by `as`: `{exact_name(meant[0])} as one`"
                    raise Unusable(f"{' and '.join(meant)} have the same name in a script")
                name = imported.alias or imported.name
                yield declared(server, meant[0], loaded.tools[meant[0]], name)
            except Unusable as problem:
                mistakes.add(
                    catalogue.UNUSABLE_TOOL.at(
                        span, name=text, server=server, problem=problem, hint=hint
                    )
                )


def _listed(names: Collection[str], most: int = 8) -> str:
    shown = ", ".join(sorted(names)[:most]) or "none"
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"


def declared(server: str, tool: str, data: _Data, name: n.Identifier) -> Declared:
    """A tool as the function `name`; `data` is its entry in the lock.

    Raises:
        Unusable: Two of its parameters would have one name, or some would be none.
    """
    # What stands at no place of its own is at the end of the name, where nobody points at.
    place = Span(name.span.end, name.span.end)
    parameters = _Reader(place, data["inputSchema"])
    hidden = parameters.hidden()
    if hidden:
        raise Unusable(f"its schema declares {_listed(hidden)} only in a part such as `allOf`")
    given = _Reader(place, data.get("outputSchema") or {}, is_given=True)
    properties = parameters.properties()
    if len(properties) > _MOST_PARTS:
        raise Unusable(f"it has {len(properties):,} parameters, more than {_MOST_PARTS:,}")
    taken = list(_parameters(parameters, properties))
    counts = Counter(one.name.text for _, one in taken)
    twice = [wire for wire, one in taken if counts[one.name.text] > 1]
    if twice:
        raise Unusable(f"its parameters {' and '.join(twice)} have the same name in a script")
    returns = given.schema(_unwrapped(given.root))
    arguments = tuple(
        n.Argument(place, n.Identifier(place, wire), n.Name(place, one.name.text))
        for wire, one in taken
    )
    titles = {**parameters.titles, **given.titles}
    call = n.ServerCall(name.span, server, tool, arguments, titles)
    definition = n.FunctionDef(
        name.span,
        name,
        tuple(one for _, one in taken),
        returns,
        (n.RetStmt(name.span, call),),
        False,
    )
    docs: dict[n.Node, str] = {**parameters.docs, **given.docs}
    told = [data["description"].strip(), parameters.unsaid_of_all()]
    if any(told):
        docs[definition] = "\n\n".join(filter(None, told))
    return Declared(definition, docs, titles, (*parameters.nowhere, *given.nowhere))


def _unwrapped(schema: Any) -> Any:
    """What a plain value has for a schema, which the protocol wraps into an object."""
    if not isinstance(schema, dict) or not is_wrapped(cast("_Data", schema)):
        return cast("Any", schema)
    return cast("_Data", schema)["properties"]["result"]


def is_wrapped(schema: _Data) -> bool:
    """Whether an output is an object with the one required field `result`."""
    properties = schema.get("properties")
    is_one = isinstance(properties, dict) and list(cast("_Data", properties)) == ["result"]
    return is_one and schema.get("required") == ["result"]


def _parameters(reader: "_Reader", properties: _Data) -> Iterator[tuple[str, n.Parameter]]:
    """The parameters with their names on the wire, those without a default first."""
    required = frozenset[str](reader.resolved(reader.root).get("required") or ())
    later: list[tuple[str, n.Parameter]] = []
    for wire, inner in properties.items():
        type_ = reader.schema(inner)
        default: n.Expression | None = None
        if wire not in required:
            said = _exact(_short(reader.resolved(inner).get("default")), type_)
            takes_nil = _takes_nil(type_)
            if _fits(said, type_):
                default = reader.value(said)
            # The server has a default that is not of its own schema: nil, which is not sent, leaves
            # it to the server. Where nil is a value of its own, it would be sent.
            elif not takes_nil or said is None:
                default = reader.value(None)
            if not takes_nil and isinstance(default, n.Literal) and default.value is None:
                type_ = n.OptionalSchema(reader.place, type_)
        named = n.Identifier(reader.place, script_name(wire))
        made = n.Parameter(reader.place, named, type_, default)
        doc = reader.doc_of(inner, type_)
        if doc:
            reader.docs[made] = doc
        if default is None:
            yield wire, made
        else:
            later.append((wire, made))
    yield from later


def _takes_nil(schema: n.Schema) -> bool:
    match schema:
        case n.NamedSchema(text="any" | "nil") | n.OptionalSchema() | n.LiteralSchema(value=None):
            return True
        case n.UnionSchema(members=members):
            return any(map(_takes_nil, members))
        case _:
            return False


def _short(value: Any) -> Any:
    """The default; None for one that is too long to be written, which is left to the server."""
    return value if len(json.dumps(value)) <= _LONGEST_DEFAULT else None


def _exact(value: Any, schema: n.Schema) -> Any:
    """The default; 10.0 is an integer, too, in JSON Schema."""
    is_int = isinstance(schema, n.NamedSchema) and schema.text == "int"
    return int(value) if is_int and isinstance(value, float) and value.is_integer() else value


def _fits(value: Any, schema: n.Schema) -> bool:
    """Whether a default, as it is written into a script, is of this type."""
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
            return isinstance(value, list) and all(
                _fits(one, item) for one in cast("list[Any]", value)
            )
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
class _Reader:
    """JSON Schema to Saft's schemas; `is_given`: of what a tool gives, where unknown fields go."""

    place: Span
    root: Any
    is_given: bool = False
    docs: dict[n.Node, str] = field(default_factory=dict["n.Node", str])
    titles: dict[n.Schema, str] = field(default_factory=dict["n.Schema", str])
    nowhere: dict[str, None] = field(default_factory=dict[str, None])
    _open: list[str] = field(default_factory=list[str])
    # How many parts were read, and in how many the next one is.
    _count: int = 0
    _depth: int = 0
    # What is `any`, although its schema says more.
    _unsaid: dict[n.Node, str] = field(default_factory=dict["n.Node", str])

    def resolved(self, schema: Any) -> _Data:
        """The schema itself, where it refers to another part of the document."""
        for _ in range(10):
            if not isinstance(schema, dict):
                return {}
            data = cast("_Data", schema)
            found = self._referred(data.get("$ref"))
            if found is None:
                return data
            # What stands beside a reference counts as well.
            schema = {**found, **{k: v for k, v in data.items() if k != "$ref"}}
        return {}

    def properties(self) -> _Data:
        """The schemas of the parameters; one that is required and not described may be anything."""
        schema = self.resolved(self.root)
        properties: _Data = schema.get("properties") or {}
        required = cast("list[str]", schema.get("required") or ())
        return {**properties, **{one: {} for one in required if one not in properties}}

    def hidden(self) -> set[str]:
        """The parameters that only other parts of the document name, such as those of `allOf`."""
        schema = self.resolved(self.root)
        known = {*(schema.get("properties") or ()), *(schema.get("required") or ())}
        found: set[str] = set()
        # Each part once, however often others refer to it.
        seen: set[int] = set()
        left: list[Any] = [schema]
        while left:
            part = self.resolved(left.pop())
            found |= {*(part.get("properties") or ()), *(part.get("required") or ())}
            inner = [one for word in _ALIKE for one in _listed_of(part.get(word))]
            left += [one for one in inner if id(one) not in seen]
            seen |= {id(one) for one in inner}
        return found - known

    def unsaid_of_all(self) -> str:
        """What the schema of all arguments says, and a list of parameters cannot."""
        schema = self.resolved(self.root)
        words = (*_UNSAID, "anyOf", "oneOf", "minProperties", "maxProperties", "propertyNames")
        said = {word: schema[word] for word in words if word in schema}
        others = schema.get("additionalProperties", True)
        if isinstance(others, dict) and others:
            said["additionalProperties"] = others
        return f"(as JSON Schema {_noted(said)})" if said else ""

    def schema(self, data: Any) -> n.Schema:
        """The schema in Saft; `any` where Saft has none, or it is too large."""
        if not isinstance(data, dict):
            return self._any()
        schema = cast("_Data", data)
        if self._depth >= _DEEPEST:
            return self._any(schema)
        self._depth += 1
        made = self._read(schema)
        self._depth -= 1
        return made

    def _has_room(self, parts: int) -> bool:
        """Whether there can be so many parts more; then they are counted, before they are read."""
        has_room = self._count + parts <= _MOST_PARTS
        self._count += parts if has_room else 0
        return has_room

    def _read(self, schema: _Data) -> n.Schema:
        reference = schema.get("$ref")
        if reference is not None:
            return self._named(schema, str(reference))
        if any(word in schema for word in _UNSAID):
            one = schema.get("allOf")
            rest = {key: value for key, value in schema.items() if key != "allOf"}
            is_plain = isinstance(one, list) and len(cast("list[Any]", one)) == 1
            if is_plain and not any(w in rest for w in (*_UNSAID, "type", "properties")):
                return self.schema(cast("list[Any]", one)[0])
            return self._any(schema)
        if "const" in schema:
            return self._literals([schema["const"]], schema)
        if isinstance(schema.get("enum"), list):
            return self._literals(schema["enum"], schema)
        for word in ("anyOf", "oneOf"):
            if isinstance(schema.get(word), list):
                return self._union_of(schema[word], schema)
        kind = schema.get("type")
        if isinstance(kind, list):
            kinds = dict.fromkeys(map(str, cast("list[Any]", kind)))
            return self._union_of([{**schema, "type": one} for one in kinds], schema)
        return self._of_kind(kind, schema)

    def _of_kind(self, kind: Any, schema: _Data) -> n.Schema:
        if kind in _SCALARS:
            return n.NamedSchema(self.place, _SCALARS[kind])
        if kind == "array":
            return self._array(schema)
        if kind == "object" or (kind is None and "properties" in schema):
            return self._object(schema)
        is_empty = schema.keys() <= {"title", "description", "default", "examples", *_NARROWING}
        return self._any(None if is_empty else schema)

    def _array(self, schema: _Data) -> n.Schema:
        first = schema.get("prefixItems")
        if isinstance(first, list):
            size = len(cast("list[Any]", first))
            ends = schema.get("items") is False or schema.get("maxItems") == size
            ends = ends and 0 < size == schema.get("minItems")
            if not ends or not self._has_room(size):
                return self._any(schema)
            items = tuple(map(self.schema, cast("list[Any]", first)))
            return n.TupleSchema(self.place, items)
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
            if name not in required and not _takes_nil(type_):
                type_ = n.OptionalSchema(self.place, type_)
            made = n.SchemaField(self.place, n.Identifier(self.place, name), type_)
            doc = self.doc_of(inner, type_)
            if doc:
                self.docs[made] = doc
            fields.append(made)
        return n.ObjectSchema(self.place, tuple(fields))

    def _named(self, schema: _Data, reference: str) -> n.Schema:
        """What a reference means, under its name there; one that is inside of itself is `any`."""
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
        """The part of the document that `#/$defs/Hit` means."""
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
        is_plain = all(v is None or isinstance(v, str | int | float) for v in values)
        if not values or not is_plain or not self._has_room(len(values)):
            return self._any(schema)
        return self._union([n.LiteralSchema(self.place, one) for one in values])

    def _union_of(self, schemas: list[Any], whole: _Data) -> n.Schema:
        if not self._has_room(len(schemas)):
            return self._any(whole)
        return self._union([self.schema(one) for one in schemas])

    def _union(self, members: list[n.Schema]) -> n.Schema:
        nil = [one for one in members if _is_nil(one)]
        others = [one for one in members if not _is_nil(one)]
        unsaid = [one for one in others if isinstance(one, n.NamedSchema) and one.text == "any"]
        if unsaid or not others:
            return unsaid[0] if unsaid else n.NamedSchema(self.place, "nil" if nil else "any")
        made = others[0] if len(others) == 1 else n.UnionSchema(self.place, tuple(others))
        return n.OptionalSchema(self.place, made) if nil else made

    def _any(self, schema: _Data | None = None) -> n.Schema:
        made = n.NamedSchema(self.place, "any")
        if schema:
            said = {key: one for key, one in schema.items() if key not in ("title", "description")}
            self._unsaid[made] = _noted(said)
        return made

    def doc_of(self, data: Any, type_: n.Schema) -> str:
        """What is said of a part: its description, and what its type does not say of it."""
        schema = self.resolved(data)
        words = _NARROWING if not isinstance(type_, n.TupleSchema) else ()
        narrowing = [f"{word} {json.dumps(schema[word])}" for word in words if word in schema]
        inner = type_.schema if isinstance(type_, n.OptionalSchema) else type_
        while isinstance(inner, n.ListSchema):
            inner = inner.item
        if inner in self._unsaid:
            narrowing.append(f"as JSON Schema {self._unsaid[inner]}")
        doc = " ".join(str(schema.get("description") or "").split())
        note = ", ".join(narrowing)
        return f"{doc} ({note})" if doc and note else doc or note

    def value(self, data: Any) -> n.Expression:
        """A default as it would be written."""
        if isinstance(data, list):
            items = tuple(self.value(one) for one in cast("list[Any]", data))
            return n.ListLiteral(self.place, items, False)
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
        if len(text) > _LONGEST_NOTE:  # the rest may be megabytes
            return f"{text[:_LONGEST_NOTE]}..."
    return text


def _listed_of(data: Any) -> list[Any]:
    return cast("list[Any]", data) if isinstance(data, list) else [data]


def default_text(node: n.Expression) -> str:
    """The default of a parameter of a tool, as it would be written in a script."""
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
