"""What a conversation works towards: text, a typed value, or several named fields.

A goal says what the first message and each request carry for it, takes the calls that are meant
for it, and judges the replies that end a turn:

    goal.ending()                the lines after the prompt
    goal.return_tools()          tools by which the model hands in values
    goal.keep(call)              a call of such a tool: the answer that the model gets
    goal.accept(text)            a reply without calls: nothing, or Unreadable with the reason
    goal.is_reached, goal.value  whether all is there, and what it is
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from runtime_support.contracts import Contract, Unreadable, contract_for, contract_of, read
from runtime_support.errors import CheckError
from runtime_support.exchange import ToolRequest
from runtime_support.jsontext import to_json, without_halves
from runtime_support.near import listed
from runtime_support.schemas import (
    ABSENT,
    Field,
    ObjectSchema,
    decode,
    json_schema,
    object_schema,
)
from runtime_support.tools import loosened, read_arguments

RETURN_PREFIX = "__saft_return_"


class Goal(Protocol):
    """See the module's docstring."""

    repairs: list[str]
    is_typed: bool

    @property
    def is_reached(self) -> bool: ...

    @property
    def value(self) -> Any: ...

    @property
    def contract(self) -> Contract | None: ...

    def ending(self) -> str: ...

    def return_tools(self) -> list[dict[str, Any]]: ...

    def takes(self, call: ToolRequest) -> bool: ...

    def keep(self, call: ToolRequest) -> str: ...

    def accept(self, text: str) -> None: ...

    def reminder(self, reason: str) -> str: ...

    def state(self) -> str: ...


class _WithoutReturnTools:
    """The part that text and typed values have in common."""

    repairs: list[str]

    def __init__(self) -> None:
        self.repairs = []
        self.found: Any = ABSENT

    @property
    def is_reached(self) -> bool:
        return self.found is not ABSENT

    @property
    def value(self) -> Any:
        return self.found

    def return_tools(self) -> list[dict[str, Any]]:
        return []

    def takes(self, call: ToolRequest) -> bool:
        return False

    def keep(self, call: ToolRequest) -> str:
        raise LookupError(call.name)

    def state(self) -> str:
        return ""


class TextGoal(_WithoutReturnTools):
    """Any text that is not empty."""

    is_typed = False
    contract = None

    def ending(self) -> str:
        return ""

    def accept(self, text: str) -> None:
        if not text.strip():
            raise Unreadable("the reply is empty")
        self.found = without_halves(text)
        if self.found != text:
            self.repairs.append("half of a surrogate pair was replaced by U+FFFD")

    def reminder(self, reason: str) -> str:
        return "Your reply was empty. Please answer."


class ValueGoal(_WithoutReturnTools):
    """A JSON value that satisfies a contract."""

    is_typed = True

    def __init__(self, contract: Contract) -> None:
        super().__init__()
        self._contract = contract

    @property
    def contract(self) -> Contract | None:
        return self._contract

    def ending(self) -> str:
        return self._contract.text()

    def accept(self, text: str) -> None:
        reading = read(self._contract, text)
        self.found = reading.value
        self.repairs.extend(reading.repairs)

    def reminder(self, reason: str) -> str:
        return f"That reply cannot be used: {reason}. {self._contract.text()}"


class ObjectGoal(ValueGoal):
    """Fields as one JSON object, for models that are not given return tools."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__(contract_for(object_schema(fields)))
        self.names = tuple(fields)

    @property
    def value(self) -> Any:
        return tuple(self.found[name] for name in self.names)


class FieldsGoal:
    """Fields that the model hands in by one return tool each.

    A valid value is kept, also when later ones are not; of two, the later one counts. An object
    with the fields, sent as text, is taken too.
    """

    is_typed = True
    contract = None

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.repairs: list[str] = []
        self.schema: ObjectSchema = object_schema(fields)
        self.arrived: dict[str, Any] = {}
        self.reasons: dict[str, str] = {}
        for name in fields:
            if len(RETURN_PREFIX + name) > 64:
                raise CheckError(f"the field name `{name}` is too long for a tool")

    @property
    def is_reached(self) -> bool:
        return len(self.arrived) == len(self.schema.fields)

    @property
    def value(self) -> Any:
        return tuple(self.arrived[field.name] for field in self.schema.fields)

    def ending(self) -> str:
        tools = ", ".join(RETURN_PREFIX + field.name for field in self.schema.fields)
        return f"Answer by calling each of these tools once, with the value: {tools}."

    def return_tools(self) -> list[dict[str, Any]]:
        return [_return_tool(field) for field in self.schema.fields]

    def takes(self, call: ToolRequest) -> bool:
        return any(call.name == RETURN_PREFIX + field.name for field in self.schema.fields)

    def keep(self, call: ToolRequest) -> str:
        name = call.name.removeprefix(RETURN_PREFIX)
        field = next(field for field in self.schema.fields if field.name == name)
        try:
            arguments = read_arguments(call.arguments)
            if "value" not in arguments:
                raise CheckError("the argument `value` is missing")
            value = loosened(arguments["value"], field.schema)
            self.arrived[name] = decode(value, field.schema, "value")
        except CheckError as error:
            self.reasons[name] = str(error)
            self.repairs.append(f"refused for {name}: {error}")
            return f"error: {error}"
        self.reasons.pop(name, None)
        return "kept" if self.is_reached else f"kept; still missing: {self._missing_tools()}"

    def accept(self, text: str) -> None:
        if not text.strip():
            raise Unreadable("the reply is empty and calls no tool")
        found = self._fields_in(text)
        if not found:
            raise Unreadable("the reply calls no tool")
        self.arrived.update(found)
        self.repairs.append(f"taken from a JSON object in the text: {listed(found)}")
        if not self.is_reached:
            raise Unreadable(f"the reply leaves open: {listed(self._missing())}")

    def reminder(self, reason: str) -> str:
        open_fields = [
            f"{name} ({self.reasons[name]})" if name in self.reasons else name
            for name in self._missing()
        ]
        return f"Still missing: {', '.join(open_fields)}. Call {self._missing_tools()}."

    def state(self) -> str:
        """What arrived, what did not, and why, for the error that ends the call."""
        arrived = ", ".join(f"{name} = {_bounded(value)}" for name, value in self.arrived.items())
        missing = ", ".join(
            f"{name} ({self.reasons.get(name, 'never sent')})" for name in self._missing()
        )
        return f"arrived: {arrived or 'nothing'}; missing: {missing}"

    def _missing(self) -> list[str]:
        return [field.name for field in self.schema.fields if field.name not in self.arrived]

    def _missing_tools(self) -> str:
        return ", ".join(RETURN_PREFIX + name for name in self._missing())

    def _fields_in(self, text: str) -> dict[str, Any]:
        """The fields of an object in the text: all of them, or each that is valid."""
        try:
            return read(contract_for(self.schema), text).value
        except Unreadable:
            pass
        try:
            loose = read(contract_of(dict[str, Any]), text).value
        except Unreadable:
            return {}
        found: dict[str, Any] = {}
        for field in self.schema.fields:
            if field.name not in loose:
                continue
            try:
                found[field.name] = decode(loose[field.name], field.schema, field.name)
            except CheckError as error:
                self.reasons[field.name] = str(error)
        return found


def _return_tool(field: Field) -> dict[str, Any]:
    value = Field("value", field.schema, doc=field.doc)
    return {
        "type": "function",
        "function": {
            "name": RETURN_PREFIX + field.name,
            "description": field.doc or f"Hands in the value of `{field.name}`.",
            "parameters": json_schema(ObjectSchema(None, (value,))),
        },
    }


def _bounded(value: Any, limit: int = 60) -> str:
    try:
        text = to_json(value)
    except CheckError:
        text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
