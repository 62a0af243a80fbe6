"""Types as data: what a value must look like, for checks, contracts and tools.

    schema_of(list[int])                 ListSchema(ScalarSchema("int"))
    json_schema(schema_of(list[int]))    {"type": "array", "items": {"type": "integer"}}
    notation(schema_of(list[int]))       "[int]"
    validate([1, 2], schema)             [1, 2], or CheckError with the path
    decode(json_value, schema)           as validate, but builds records and tuples from JSON

The data is in `data`, Python types are read in `reading`, texts written in `writing`.
"""

from runtime_support._schema.checking import decode, validate
from runtime_support._schema.model import (
    ABSENT,
    AnySchema,
    Field,
    ListSchema,
    LiteralSchema,
    MapSchema,
    ObjectSchema,
    OpaqueSchema,
    ReferenceSchema,
    ScalarSchema,
    Schema,
    TupleSchema,
    UnionSchema,
    admits_nil,
    resolved,
)
from runtime_support._schema.reading import (
    Parameter,
    Signature,
    object_schema,
    schema_of,
    signature_of,
)
from runtime_support._schema.writing import json_schema, notation, strict_json_schema

__all__ = [
    "ABSENT",
    "AnySchema",
    "Field",
    "ListSchema",
    "LiteralSchema",
    "MapSchema",
    "ObjectSchema",
    "OpaqueSchema",
    "Parameter",
    "ReferenceSchema",
    "ScalarSchema",
    "Schema",
    "Signature",
    "TupleSchema",
    "UnionSchema",
    "admits_nil",
    "decode",
    "json_schema",
    "notation",
    "object_schema",
    "resolved",
    "schema_of",
    "signature_of",
    "strict_json_schema",
    "validate",
]
