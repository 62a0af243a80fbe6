"""Changed copies of records. A copy has the record's class, whose rules are checked again.

change_record(ticket, {"severity": "high"})     Ticket(title="It burns", severity="high")
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from runtime_support._schema import model as m
from runtime_support._schema.checking import validate
from runtime_support._schema.reading import schema_of
from runtime_support._values.kinds import class_name, expected_error
from runtime_support._values.names import did_you_mean, field_name, listed
from runtime_support.errors import MissingError


def change_record(record: Any, changes: Mapping[str, Any]) -> Any:
    """Returns a changed copy of a record: of a dataclass, a NamedTuple or a pydantic model.

    Raises CheckError if `record` is none of these, or if a value does not fit its field. Raises
    MissingError for an unknown field. Errors of the class's constructor propagate.
    """
    class_: type[Any] = record.__class__
    if hasattr(class_, "model_validate"):
        return _change_model(record, changes)
    schema = schema_of(class_)
    if not isinstance(schema, m.ObjectSchema) or schema.build is None:
        raise expected_error("`...` in an object", "object or record", record)
    fields = {name: one for one in schema.fields for name in (one.python_name, one.name)}
    name = class_name(class_)
    checked: dict[str, Any] = {}
    for key, value in changes.items():
        field = fields.get(key)
        if field is None:
            raise _no_field(name, key, (one.name for one in schema.fields))
        path = f"{name}({field.name})"
        takes = m.AnySchema() if schema.validates_itself else field.schema
        checked[field.python_name] = validate(value, takes, path=path)
    if hasattr(record, "_replace"):  # a NamedTuple
        return record._replace(**checked)
    return dataclasses.replace(record, **checked)


def _change_model(record: Any, changes: Mapping[str, Any]) -> Any:
    """Returns a changed copy of a pydantic model.

    All fields are validated again, because the model's rules may compare several fields.
    """
    class_: Any = record.__class__
    own: dict[str, Any] = class_.model_fields
    names = {known: name for name in own for known in (field_name(name), name)}
    takes_more = class_.model_config.get("extra") == "allow"
    changed: dict[str, Any] = {}
    for key, value in changes.items():
        if key not in names and not takes_more:
            raise _no_field(class_name(class_), key, own)
        changed[names.get(key, key)] = value
    values: dict[str, Any] = {name: getattr(record, name) for name in own}
    values |= record.model_extra or {}
    has_aliases = any(one.alias or one.validation_alias for one in own.values())
    by_name: dict[str, bool] = {"by_name": True, "by_alias": False} if has_aliases else {}
    given: Any = {**values, **changed}
    is_root: bool = getattr(class_, "__pydantic_root_model__", False)
    made = class_.model_validate(given["root"] if is_root else given, **by_name)
    # Fields that were never set stay unset, for `exclude_unset`.
    made.model_fields_set.intersection_update(record.model_fields_set | changed.keys())
    return made


def _no_field(name: str, key: str, fields: Iterable[str]) -> MissingError:
    known = list(fields)
    found = f"its fields are {listed(known)}"
    return MissingError(
        f"no field `{key}` in {name}: {found}", name=key, hint=did_you_mean(key, known)
    )
