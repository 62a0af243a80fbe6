"""Several named fields, each handed in by its own return tool.

    output = FieldsOutput({"total": float, "due": date})
    output.return_tools()      two tools: `__saft_return_total` and `__saft_return_due`
    output.value               (19.5, datetime.date(2026, 1, 31))

Instead of calling the tools, the model may send a JSON object with the fields as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from runtime_support._core.messages import ToolRequest
from runtime_support._core.outputs.outputs import NOT_ALL, RETURN_PREFIX, Output, Unreadable
from runtime_support._core.reader.fitting import read_value, shortened, spelling
from runtime_support._core.reader.replies import read_arguments, read_reply
from runtime_support._schema import model as m
from runtime_support._schema.reading import object_schema
from runtime_support._schema.writing import json_schema
from runtime_support._values.json_text import to_json
from runtime_support._values.names import listed
from runtime_support.errors import CheckError


class FieldsOutput(Output):
    """Fields that the model hands in by one return tool each.

    A valid value stays, even if a later value for the same field is invalid. A later valid value
    replaces it. A JSON object with the fields, sent as text, is accepted too. A nullable field may
    be missing. If the model replies without calls, a missing nullable field becomes nil, but only
    if another field has arrived or the model was reminded.
    """

    is_several = True

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__()
        self._fields = fields
        self.schema: m.ObjectSchema = object_schema(fields)
        self.arrived: dict[str, Any] = {}
        self.reasons: dict[str, str] = {}
        # The fields handed in since the last `objection`, and how many had arrived at that time.
        self._handed_in: list[str] = []
        self._had = 0
        self._optional = {field.name for field in self.schema.fields if not field.required}
        self._is_reminded = False
        for name in fields:
            if len(RETURN_PREFIX + name) > 64:
                raise CheckError(f"the field name `{name}` is too long for a tool")

    @property
    def is_complete(self) -> bool:
        return len(self.arrived) == len(self.schema.fields)

    @property
    def is_enough(self) -> bool:
        return not self._missing()

    @property
    def value(self) -> Any:
        return tuple(self.arrived[field.name] for field in self.schema.fields)

    def ending(self) -> str:
        tools = ", ".join(RETURN_PREFIX + field.name for field in self.schema.fields)
        optional = [one.name for one in self.schema.fields if one.name in self._optional]
        left_out = f" What has no value may be left out: {_tools(optional)}." if optional else ""
        return f"Answer by calling each of these tools once, with the value: {tools}.{left_out}"

    def return_tools(self) -> list[dict[str, Any]]:
        return [_return_tool(field) for field in self.schema.fields]

    def without_tools(self) -> Output | None:
        from runtime_support._core.outputs.contracts import ObjectOutput

        return ObjectOutput(self._fields)

    def handles(self, call: ToolRequest) -> bool:
        return any(call.name == RETURN_PREFIX + field.name for field in self.schema.fields)

    def problem(self) -> str | None:
        handed_in, self._handed_in = dict.fromkeys(self._handed_in), []
        had, self._had = self._had, len(self.arrived)
        refused = [name for name in handed_in if name in self.reasons]
        if refused:
            return "; ".join(f"refused for {name}: {self.reasons[name]}" for name in refused)
        is_in_vain = bool(handed_in) and self._had == had and not self.is_enough
        return NOT_ALL if is_in_vain else None

    def receive(self, call: ToolRequest) -> str:
        name = call.name.removeprefix(RETURN_PREFIX)
        field = next(field for field in self.schema.fields if field.name == name)
        self._handed_in.append(name)
        try:
            value, repairs = _value_in(call.arguments, field)
            self.arrived[name] = value
            self.repairs += [f"{name}: {repair}" for repair in shortened(repairs)]
        except CheckError as error:
            self.reasons[name] = str(error)
            self.repairs.append(f"refused for {name}: {error}")
            return f"error: {error}"
        self.reasons.pop(name, None)
        missing = self._missing()
        if missing:
            return f"kept; still missing: {_tools(missing)}"
        return "kept" if self.is_complete else f"kept; may be left out: {_tools(self._open())}"

    def accept(self, text: str) -> None:
        found = self._fields_in(text) if text.strip() else {}
        if found:
            self.arrived.update(found)
            self.repairs.append(f"taken from a JSON object in the text: {listed(found)}")
        missing = self._missing()
        if not missing and (self.arrived or self._is_reminded):
            self.arrived |= dict.fromkeys(self._open())
        elif found:
            raise Unreadable(f"the reply leaves open: {listed(missing)}")
        else:
            empty = "" if text.strip() else "is empty and "
            raise Unreadable(f"the reply {empty}calls no tool")

    def reminder(self, reason: str) -> str:
        self._is_reminded = True
        open_fields = [
            f"{name} ({self.reasons[name]})" if name in self.reasons else name
            for name in self._missing() or self._open()
        ]
        tools = _tools(self._missing() or self._open())
        return f"Still missing: {', '.join(open_fields)}. Call {tools}."

    def state(self) -> str:
        """Says for the prompt's error which fields arrived, and why the other fields did not."""
        arrived = ", ".join(f"{name} = {_bounded(value)}" for name, value in self.arrived.items())
        missing = [f"{one} ({self.reasons.get(one, 'never sent')})" for one in self._missing()]
        if missing:
            left = f"missing: {', '.join(missing)}"
        else:
            left = f"never sent, and may be left out: {', '.join(self._open())}"
        return f"arrived: {arrived or 'nothing'}; {left}"

    def _open(self) -> list[str]:
        return [field.name for field in self.schema.fields if field.name not in self.arrived]

    def _missing(self) -> list[str]:
        """Returns the names of the required fields that have not arrived.

        An optional field counts as required if its value was refused.
        """
        may_stay_away = self._optional.difference(self.reasons)
        return [name for name in self._open() if name not in may_stay_away]

    def _fields_in(self, text: str) -> dict[str, Any]:
        """Reads a JSON object in the text. Returns the values of its valid fields by name."""
        try:
            found, repairs = read_reply(text, self.schema)
        except CheckError:
            return self._valid_fields_in(text)
        self.repairs += repairs
        return found

    def _valid_fields_in(self, text: str) -> dict[str, Any]:
        try:
            data, repairs = read_arguments(text, self.schema)
        except CheckError:
            return {}
        keys = {spelling(key): key for key in data}
        found: dict[str, Any] = {}
        for field in self.schema.fields:
            key = field.name if field.name in data else keys.get(spelling(field.name))
            if key is None:
                continue
            try:
                found[field.name], more = read_value(data[key], field.schema, field.name)
                repairs = (*repairs, *more)
            except CheckError as error:
                self.reasons[field.name] = str(error)
        self.repairs += shortened(repairs) if found else ()
        return found


def _value_in(arguments: str, field: m.Field) -> tuple[Any, tuple[str, ...]]:
    """Reads a field's value from the arguments of its return tool. Also returns the repairs."""
    handed_in = m.ObjectSchema(None, (m.Field("value", field.schema),))
    data, repairs = read_arguments(arguments, handed_in)
    names = ("value", spelling(field.name))
    key = next((one for one in data if spelling(one) in names), None)
    if key is None:
        raise CheckError("the argument `value` is missing")
    value, more = read_value(data[key], field.schema, "value", field.name)
    return value, (*repairs, *more)


def _tools(names: Iterable[str]) -> str:
    return ", ".join(RETURN_PREFIX + name for name in names)


def _return_tool(field: m.Field) -> dict[str, Any]:
    value = m.Field("value", field.schema, doc=field.doc)
    return {
        "type": "function",
        "function": {
            "name": RETURN_PREFIX + field.name,
            "description": field.doc or f"Hands in the value of `{field.name}`.",
            "parameters": json_schema(m.ObjectSchema(None, (value,))),
        },
    }


def _bounded(value: Any, limit: int = 60) -> str:
    try:
        text = to_json(value)
    except CheckError:
        text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
