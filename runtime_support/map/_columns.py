"""Maps the return type of a function to the columns of a table, the same in all output files.

    columns_of(schema_of(Ticket))           {"title": string, "tags": [string], "due": string}
    data_type(columns["tags"])              List(String), of polars
    fit_column(["a"], columns["tags"], "tags")  the value as the column stores it

Numbers, bools, strings, and lists and objects of them keep their types. A union of literals of one
type becomes a column of that type. Types that tables do not have, such as other unions, become JSON
text.
"""

from __future__ import annotations

import base64
import math
from typing import Any

from runtime_support._schema import model as m
from runtime_support._tables import MOST_INT64, polars
from runtime_support._values.dates import text_of
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import holds_halves, is_list, is_object
from runtime_support.errors import CheckError

RESULT = "result"
JSON_TEXT = m.AnySchema()
# The column type of each scalar; dates, durations and decimals become text, to keep all digits.
_KINDS: dict[str, m.ScalarKind] = {
    **{"int": "int", "float": "float", "number": "float", "bool": "bool", "string": "string"},
    **dict.fromkeys(("date", "datetime", "time", "duration", "decimal"), "string"),
}
_LITERALS: dict[type, m.ScalarKind] = {bool: "bool", int: "int", float: "float", str: "string"}
_TYPES = {"int": "Int64", "float": "Float64", "bool": "Boolean", "string": "String"}


def columns_of(returns: m.Schema) -> dict[str, m.Schema]:
    """Maps the columns of a result to their types.

    The columns are the fields of the result or, if it has no fields, the column `RESULT`.
    """
    schema = m.resolved(returns)
    if isinstance(schema, m.ObjectSchema) and schema.fields:
        return {field.name: _form(field.schema, (id(schema),)) for field in schema.fields}
    return {RESULT: _form(schema, ())}


def split_columns(data: Any, returns: m.Schema) -> dict[str, Any]:
    """Maps the columns of a result to their values, as JSON data."""
    schema = m.resolved(returns)
    if isinstance(schema, m.ObjectSchema) and schema.fields:
        return {field.name: data.get(field.name) for field in schema.fields}
    return {RESULT: data}


def _form(schema: m.Schema, around: tuple[int, ...]) -> m.Schema:
    """Reduces a schema to types that tables have.

    `around` are the ids of the enclosing object schemas: an object inside itself becomes JSON text.
    """
    schema = m.resolved(schema)
    match schema:
        case m.ScalarSchema(kind) if kind in _KINDS:
            return m.ScalarSchema(_KINDS[kind])
        case m.LiteralSchema(value) if type(value) in _LITERALS:
            return m.ScalarSchema(_LITERALS[type(value)])
        case m.ListSchema(item):
            return m.ListSchema(_form(item, around))
        case m.ObjectSchema(fields=fields) if fields and id(schema) not in around:
            inner = (*around, id(schema))
            formed = (m.Field(field.name, _form(field.schema, inner)) for field in fields)
            return m.ObjectSchema(None, tuple(formed))
        case m.UnionSchema(members):
            forms = [_form(one, around) for one in members if not _is_nil(one)]
            return forms[0] if all(form == forms[0] for form in forms) else JSON_TEXT
        case _:
            return JSON_TEXT


def _is_nil(schema: m.Schema) -> bool:
    return schema in (m.ScalarSchema("nil"), m.LiteralSchema(None))


def data_type(form: m.Schema) -> Any:
    """The polars type of a column."""
    library = polars()
    match form:
        case m.ScalarSchema(kind):
            return getattr(library, _TYPES[kind])
        case m.ListSchema(item):
            return library.List(data_type(item))
        case m.ObjectSchema(fields=fields):
            return library.Struct({field.name: data_type(field.schema) for field in fields})
        case _:
            return library.String


def fit_column(value: Any, form: m.Schema, path: str) -> Any:
    """Converts JSON data to the type of a column.

    Raises CheckError for an integer over 64 bits, and for text that has no UTF-8 form.
    """
    if value is None:
        return None
    if holds_halves(value):
        raise CheckError(f"{path}: half of a surrogate pair is not a character")
    match form:
        case m.AnySchema():
            return to_json(value)
        case m.ScalarSchema("int") if not -MOST_INT64 - 1 <= value <= MOST_INT64:
            raise CheckError(f"{path}: {value} does not fit into 64 bits, which a column has")
        case m.ScalarSchema("float"):
            return float(value)
        case m.ListSchema(item):
            return [fit_column(one, item, path) for one in value]
        case m.ObjectSchema(fields=fields):
            return {
                f.name: fit_column(value.get(f.name), f.schema, f"{path}.{f.name}") for f in fields
            }
        case _:
            return value


def json_value(value: Any) -> Any:
    """A table value as JSON: bytes as base64, dates and decimals as text, NaN as null."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case _ if is_list(value):
            return [json_value(one) for one in value]
        case _ if is_object(value):
            return {name: json_value(one) for name, one in value.items()}
        case _:
            return text_of(value)
