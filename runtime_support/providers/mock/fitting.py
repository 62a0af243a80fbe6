"""Which values a JSON Schema takes, for the forms of schema that prompts and tools have.

    Fitting({}).takes({"type": "integer"}, 3)                                   True
    Fitting({}).trimmed({"properties": {"name": ...}, ...}, {"name": "a", "left": 4})
                                                                                {"name": "a"}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime_support.values import is_list, is_number, is_object

JSONSchema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fitting:
    """Judges values; `definitions` is what references refer to."""

    definitions: dict[str, JSONSchema]

    def resolved(self, schema: JSONSchema) -> JSONSchema:
        """The schema that a reference stands for, else the schema."""
        while "$ref" in schema:
            schema = self.definitions[str(schema["$ref"]).rpartition("/")[2]]
        return schema

    def takes(self, schema: JSONSchema, value: Any) -> bool:
        """Whether the value satisfies the schema."""
        schema = self.resolved(schema)
        if "anyOf" in schema:
            return any(self.takes(member, value) for member in schema["anyOf"])
        if "enum" in schema:
            # true is not 1
            return any(value == one and type(value) is type(one) for one in schema["enum"])
        kind = schema.get("type")
        if kind is None:
            return True
        return any(self._is(one, schema, value) for one in (kind if is_list(kind) else [kind]))

    def trimmed(self, schema: JSONSchema, value: Any) -> Any:
        """An object with the schema's fields alone, when it has them; else the value."""
        properties = self.resolved(schema).get("properties")
        if not properties or not is_object(value):
            return value
        return {name: value[name] for name in properties if name in value}

    def _is(self, kind: str, schema: JSONSchema, value: Any) -> bool:
        match kind:
            case "null":
                return value is None
            case "string":
                return isinstance(value, str)
            case "boolean":
                return isinstance(value, bool)
            case "integer":
                return isinstance(value, int) and not isinstance(value, bool)
            case "number":
                return is_number(value)
            case "array":
                return is_list(value) and self._has_items(schema, value)
            case _:
                return is_object(value) and self._has_fields(schema, value)

    def _has_items(self, schema: JSONSchema, items: list[Any]) -> bool:
        if "prefixItems" in schema:
            places = schema["prefixItems"]
            return len(places) == len(items) and all(map(self.takes, places, items))
        return all(self.takes(schema.get("items", {}), item) for item in items)

    def _has_fields(self, schema: JSONSchema, value: dict[str, Any]) -> bool:
        if "properties" not in schema:
            others = schema.get("additionalProperties", {})
            return not is_object(others) or all(self.takes(others, one) for one in value.values())
        properties = schema["properties"]
        return set(schema.get("required", ())) <= set(value) <= set(properties) and all(
            self.takes(properties[name], one) for name, one in value.items()
        )
