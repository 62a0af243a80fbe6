"""Schemas in the reference interpreter: checking a value against one, and its notation.

types = Types(module)
types.fitted(3, schema)     3.0 for `float`; Wrong where the value does not fit
"""

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal

from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from tests.oracle import dates
from tests.oracle.values import (
    Bound,
    Callable_,
    Fault,
    Held,
    Record,
    Value,
    Wrong,
    equal,
    kind_of,
    literal_of,
    without_digits,
)

_SCALARS: dict[str, type] = {
    **{"int": int, "float": float, "bool": bool, "string": str, "nil": type(None)},
    **{word: class_ for class_, word in dates.KINDS.items()},
}
_DATES = ("date", "datetime", "time", "duration")


class Types:
    """The named types of a script."""

    def __init__(self, module: n.Module) -> None:
        self.aliases: dict[str, n.Schema] = {}
        self.records: dict[str, n.RecordDef] = {}
        # Those of the fields of records, once these are defined.
        self.defaults: dict[n.RecordDef, Bound] = {}
        # Whether a text has been read as a date or a decimal since somebody asked.
        self.has_read = False
        # Holds a new record against its rules; who evaluates expressions fills it in.
        self.check_rules: Callable[[Record], None] = lambda _record: None
        for node in walk(module):
            if isinstance(node, n.TypeAlias):
                self.aliases[node.name.text] = node.schema
            elif isinstance(node, n.RecordDef):
                self.records[node.name.text] = node

    def fitted(self, value: Value, schema: n.Schema) -> Value:
        """The value as the schema has it: an int becomes a float, an absent field nil."""
        return self._fitted(value, schema, converts=True)

    def decoded(self, value: Value, schema: n.Schema) -> Value:
        """The value that JSON data stands for: a list may be a tuple, an object a record."""
        match self.resolved(schema):
            case n.ListSchema(item=item) if isinstance(value, list):
                return [self.decoded(element, item) for element in value]
            case n.TupleSchema(items=items) if isinstance(value, list) and len(value) == len(items):
                pairs = zip(value, items, strict=True)
                return tuple(self.decoded(element, item) for element, item in pairs)
            case n.ObjectSchema(fields=fields) if isinstance(value, dict):
                given = {
                    field.name.text: self.decoded(value[field.name.text], field.schema)
                    for field in fields
                    if field.name.text in value
                }
                return self.fitted({**value, **given}, schema)
            case n.MapSchema(key=kind, value=inner) if isinstance(value, dict):
                keys = [self.decoded(key, kind) for key in value]
                values = [self.decoded(item, inner) for item in value.values()]
                return _as_object(keys, values)
            case n.UnionSchema(members=members):
                return self._first_decoded(value, members)
            case n.OptionalSchema(schema=inner):
                return None if value is None else self.decoded(value, inner)
            case n.RecordDef() as record if isinstance(value, dict):
                return self._built(value, record)
            case n.NamedSchema(text="decimal") if isinstance(value, dates.Digits):
                return self._read("decimal", value.text)
            case _:
                return self.fitted(without_digits(value), schema)

    def _read(self, kind: str, text: str) -> Value:
        """The date or decimal that a text says."""
        self.has_read = True
        try:
            return dates.read(kind, text)
        except ValueError as error:
            raise Wrong(str(error)) from None

    def drafts(self, value: Value, schema: n.Schema) -> list[Value]:
        """What a loop over the drafts of a value is given, where the reply comes in one piece."""
        if isinstance(self.resolved(schema), n.ListSchema):
            return [value[: count + 1] for count in range(len(value))]
        return [self._draft(value, schema)]

    def _draft(self, value: Value, schema: n.Schema) -> Value:
        match self.resolved(schema):
            case n.OptionalSchema(schema=inner):
                return None if value is None else self._draft(value, inner)
            case n.RecordDef(fields=fields) if isinstance(value, Record):
                whole = value.fields
            case n.ObjectSchema(fields=fields):
                whole = value
            case _:
                return value
        return {
            field.name.text: self._draft(whole[field.name.text], field.schema)
            for field in fields
            if field.schema is not None
        }

    def resolved(self, schema: n.Schema) -> n.Schema | n.RecordDef:
        """The schema, or what its name stands for."""
        seen: set[str] = set()
        while isinstance(schema, n.NamedSchema) and schema.text not in _SCALARS:
            if schema.text == "any" or schema.text in seen:
                return schema
            seen.add(schema.text)
            if schema.text in self.records:
                return self.records[schema.text]
            schema = self.aliases[schema.text]
        return schema

    def admits_nil(self, schema: n.Schema) -> bool:
        """Whether nil fits, so that a field may be absent."""
        return self._fits(None, schema)

    def notation(self, schema: n.Schema) -> str:
        """The schema as a model is told it: as a script writes it, without names of types.

        Only in itself has a record its name; what that stands for is said below.
        """
        named: dict[str, str] = {}
        text = self._notation(schema, (), named)
        return text + "".join(f"\n{name} = {body}" for name, body in named.items())

    def _notation(self, schema: n.Schema, around: tuple[str, ...], named: dict[str, str]) -> str:
        """`around` are the records that it stands in, `named` takes those that are named in it."""

        def written(inner: n.Schema) -> str:
            return self._notation(inner, around, named)

        match self.resolved(schema):
            case n.NamedSchema(text=text):
                return text
            case n.LiteralSchema(value=value):
                return literal_of(value)
            case n.ListSchema(item=item):
                return f"[{written(item)}]"
            case n.TupleSchema(items=items):
                inside = ", ".join(map(written, items))
                return f"({inside},)" if len(items) == 1 else f"({inside})"
            case n.RecordDef(name=name, fields=fields):
                if name.text not in around:
                    return self._fields(fields, (*around, name.text), named)
                if name.text not in named:
                    named[name.text] = ""
                    named[name.text] = self._fields(fields, (name.text,), named)
                return name.text
            case n.ObjectSchema(fields=fields):
                return self._fields(fields, around, named)
            case n.FunctionSchema(parameters=parameters, result=result):
                return f"({', '.join(map(written, parameters))}) -> {written(result)}"
            case n.MapSchema(key=key, value=inner):
                name = written(key)
                return f"{{any {'name' if name == 'string' else name}: {written(inner)}}}"
            case n.OptionalSchema(schema=inner):
                return written(inner) + "?"
            case n.UnionSchema(members=members):
                return " | ".join(map(written, members))

    def _fields(
        self,
        fields: tuple[n.SchemaField | n.Parameter, ...],
        around: tuple[str, ...],
        named: dict[str, str],
    ) -> str:
        written = (
            f"{field.name.text}: {self._notation(field.schema, around, named)}"
            for field in fields
            if field.schema is not None
        )
        return "{" + ", ".join(written) + "}"

    # What a place asks of the parts of a literal: the one member of its kind, if there is one

    def item_of(self, schema: n.Schema | None) -> n.Schema | None:
        """What is asked of a list's items."""
        found = self._only(schema, n.ListSchema)
        return found.item if isinstance(found, n.ListSchema) else None

    def items_of(self, schema: n.Schema | None, count: int) -> tuple[n.Schema | None, ...]:
        """What is asked of each item of a tuple of `count`."""
        found = self._only(schema, n.TupleSchema)
        if isinstance(found, n.TupleSchema) and len(found.items) == count:
            return found.items
        return (None,) * count

    def field_of(self, schema: n.Schema | None, name: str | None) -> n.Schema | None:
        """What is asked of an object's field; of one whose name is computed, with None."""
        kinds = (n.ObjectSchema, n.MapSchema)
        match [one for one in self._members(schema) if isinstance(one, kinds)]:
            case [n.MapSchema(value=value)]:
                return value
            case [n.ObjectSchema(fields=fields)]:
                return next((field.schema for field in fields if field.name.text == name), None)
            case _:
                return None

    def _only(self, schema: n.Schema | None, kind: type[n.Schema]) -> n.Schema | None:
        members = [one for one in self._members(schema) if isinstance(one, kind)]
        return members[0] if len(members) == 1 else None

    def _members(self, schema: n.Schema | None) -> list[n.Schema | n.RecordDef]:
        if schema is None:
            return []
        match self.resolved(schema):
            case n.OptionalSchema(schema=inner):
                return self._members(inner)
            case n.UnionSchema(members=members):
                return [found for member in members for found in self._members(member)]
            case resolved:
                return [resolved]

    def _fits(self, value: Value, schema: n.Schema) -> bool:
        try:
            self._fitted(value, schema, converts=False)
        except Wrong:
            return False
        return True

    def _fitted(self, value: Value, schema: n.Schema, *, converts: bool) -> Value:
        match self.resolved(schema):
            case n.NamedSchema(text="any"):
                return value
            case n.NamedSchema(text="float") if converts and type(value) is int:
                return _as_float(value)
            case n.NamedSchema(text="decimal") if converts and type(value) is int:
                return Decimal(value)
            case n.NamedSchema(text=text) if type(value) is _SCALARS[text]:
                return value
            case n.NamedSchema(text=text) if converts and _is_text_for(value, text):
                return self._read(text, value)
            case n.LiteralSchema(value=wanted) if type(value) is type(wanted) and value == wanted:
                return value
            case n.ListSchema(item=item) if isinstance(value, list):
                return [self._fitted(element, item, converts=converts) for element in value]
            case n.TupleSchema(items=items) if isinstance(value, tuple):
                if len(value) != len(items):
                    raise Wrong(f"a tuple of {len(value)} where {len(items)} are asked for")
                pairs = zip(value, items, strict=True)
                return tuple(self._fitted(one, item, converts=converts) for one, item in pairs)
            case n.ObjectSchema(fields=fields) if isinstance(value, dict):
                return self._fitted_object(value, fields, converts=converts)
            case n.MapSchema(key=kind, value=inner) if isinstance(value, dict):
                keys = [self._fitted(key, kind, converts=converts) for key in value]
                values = [self._fitted(one, inner, converts=converts) for one in value.values()]
                return _as_object(keys, values)
            case n.FunctionSchema() as held if isinstance(value, Callable_):
                return Held(value, held)
            case n.OptionalSchema(schema=inner):
                return None if value is None else self._fitted(value, inner, converts=converts)
            case n.UnionSchema(members=members):
                return self._fitted_union(value, members, converts=converts)
            case n.RecordDef() as record:
                if isinstance(value, Record) and value.definition is record:
                    return value
                if isinstance(value, dict) and converts:
                    return self._built(value, record)
        raise Wrong(f"expected {self.notation(schema)}, got {kind_of(value)}")

    def _fitted_object(
        self, value: dict[str, Value], fields: tuple[n.SchemaField, ...], *, converts: bool
    ) -> dict[str, Value]:
        schemas = {field.name.text: field.schema for field in fields}
        for key in value:
            if key not in schemas:
                raise Wrong(f"no field `{key}` is asked for")
        fitted = {
            key: self._fitted(item, schemas[key], converts=converts) for key, item in value.items()
        }
        for key, schema in schemas.items():
            if key not in value:
                if not self.admits_nil(schema):
                    raise Wrong(f"field `{key}` is missing")
                fitted[key] = None
        return fitted

    def _fitted_union(
        self, value: Value, members: tuple[n.Schema, ...], *, converts: bool
    ) -> Value:
        # The member that takes the value as it is goes before one that converts it.
        for as_it_is in (False, True):
            for member in members:
                if as_it_is and not converts:
                    break
                try:
                    return self._fitted(value, member, converts=as_it_is)
                except Wrong:
                    continue
        raise Wrong(f"no member of the union takes {kind_of(value)}")

    def _first_decoded(self, value: Value, members: tuple[n.Schema, ...]) -> Value:
        found: list[Value] = []
        is_text = isinstance(value, str)
        for member in members:
            resolved = self.resolved(member)
            if is_text and isinstance(resolved, n.NamedSchema) and resolved.text in _DATES:
                # A text that is a date is meant to be, also beside other texts.
                with suppress(Wrong):
                    return self._read(resolved.text, value)
            is_map = isinstance(value, dict) and value and isinstance(resolved, n.MapSchema)
            if is_map and self.notation(resolved.key) in _DATES:
                # So is an object whose keys all are.
                with suppress(Wrong):
                    return self.decoded(value, resolved)
        value = without_digits(value) if not isinstance(value, list | dict) else value
        for member in members:
            try:
                found.append(self.decoded(value, member))
            except Wrong:
                continue
        exact = (one for one in found if equal(one, value) and type(one) is type(value))
        first = next(exact, found[0] if found else Wrong)
        if first is Wrong:
            raise Wrong(f"no member of the union takes {kind_of(value)}")
        return first

    def _built(self, value: dict[str, Value], record: n.RecordDef) -> Record:
        fields: dict[str, Value] = {}
        for field in record.fields:
            name, schema = field.name.text, field.schema
            assert schema is not None
            if name in value:
                fields[name] = self.decoded(value[name], schema)
            elif name in self.defaults[record]:
                fields[name] = self.defaults[record][name]
            elif self.admits_nil(schema):
                fields[name] = None
            else:
                raise Wrong(f"field `{name}` is missing")
        if unknown := value.keys() - fields.keys():
            raise Wrong(f"no field {sorted(unknown)} is asked for")
        built = Record(record, fields)
        try:
            self.check_rules(built)
        except Fault as fault:
            raise Wrong(str(fault)) from None
        return built


def _as_object(keys: list[Value], values: list[Value]) -> dict[str, Value]:
    """An object of these entries, none of which may be lost."""
    made = dict(zip(keys, values, strict=True))
    if len(made) < len(keys):
        raise Wrong("two keys are the same")
    return made


def _is_text_for(value: Value, kind: str) -> bool:
    return isinstance(value, str) and kind in dates.KINDS.values()


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise Wrong(str(error)) from None
