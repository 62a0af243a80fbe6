"""What a conversation works towards: text, a typed value, or several named fields.

A target says what the first message and each request carry for it, takes the calls that are meant
for it, and judges the replies that end a turn:

    target.ending()                the lines after the prompt
    target.return_tools()          tools by which the model hands in values
    target.keep(call)              a call of such a tool: the answer that the model gets
    target.objection()             after the calls of a reply: why they do not do, if they do not
    target.accept(text)            a reply without calls: nothing, or work to do before it can be
                                   judged; Unreadable with the reason
    target.is_reached              whether all is there
    target.value                   what it is
    target.is_enough               whether the model may stop: what is open may stay away

What a typed target asks of the model, and makes of its replies, is its contract:

    contract_of(list[int]).text       "Reply with JSON only, no other text, of this form: [int]"
    read(contract, "```[1, 2]```")    ([1, 2], ("code fence removed",))

The form is Saft's notation with the fields' docs, far shorter than a JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from runtime_support._exchange import ToolRequest
from runtime_support._jsontext import parse_unambiguous, to_json, without_halves
from runtime_support._names import listed
from runtime_support._results import ToolCall
from runtime_support._schema import check
from runtime_support._schema import model as m
from runtime_support._schema.checking import decode, decode_for_model
from runtime_support._schema.reading import object_schema, remember, schema_of
from runtime_support._schema.writing import json_schema, notation, strict_json_schema
from runtime_support._seams import load_part
from runtime_support._tools import convert_text, read_arguments
from runtime_support.errors import CheckError

RETURN_PREFIX = "__saft_return_"
NOT_ALL = "not every field was handed in"


# What a model may not know of the notation, told only where it occurs.
_LEGEND = (
    ("?", "`T?` is T or null"),
    ("nil", "`nil` is null"),
    ("(", "`(A, B)` is an array"),
)

# By the id of its schema, which is kept so that it stays its.
_contracts: dict[int, Contract] = {}


@dataclass(frozen=True, slots=True)
class Contract:
    """A schema with what a request says about it: `text` are the lines that follow the prompt.

    `losses` tell what a server cannot enforce of it.
    """

    schema: m.Schema
    text: str
    json_schema: dict[str, Any] | None
    is_strict: bool
    losses: tuple[str, ...] = ()


class Unreadable(Exception):
    """The reply does not satisfy the contract; the text tells all that is wrong, with its paths."""


def contract_of(type_: Any) -> Contract:
    """The contract for a Python type; CheckError when JSON cannot hold it."""
    return contract_for(schema_of(type_))


def contract_for(schema: m.Schema) -> Contract:
    """The contract for a schema."""
    known = _contracts.get(id(schema))
    if known is not None:
        return known
    document, losses = strict_json_schema(schema)
    contract = Contract(schema, _demand(schema), document or None, not losses, losses)
    return remember(_contracts, id(schema), contract)


def without_thinking(text: str) -> str:
    """The text without the blocks in which a model thinks aloud."""
    if "<" not in text:
        return text
    return load_part("recovery").without_thinking(text)  # seldom needed, and not small


def read_reply(contract: Contract, text: str) -> tuple[Any, tuple[str, ...]]:
    """The value that the reply means, and in words what was needed to get it; or Unreadable."""
    try:
        return decode(parse_unambiguous(text), contract.schema), ()
    except CheckError:
        pass
    recovery = load_part("recovery")
    try:
        recovered = recovery.recover(text, contract.schema)
        return decode_for_model(recovered.value, contract.schema), recovered.repairs
    except (recovery.RecoveryRefused, CheckError) as error:
        raise Unreadable(str(error)) from None


def _demand(schema: m.Schema) -> str:
    if isinstance(schema, m.AnySchema):
        return "Reply with JSON only, no other text."
    form = notation(schema)
    legend = "; ".join(words for mark, words in _LEGEND if mark in _without_texts(form))
    explained = f" ({legend})" if legend else ""
    separator = "\n" if "\n" in form else " "
    return f"Reply with JSON only, no other text, of this form{explained}:{separator}{form}"


def _without_texts(form: str) -> str:
    """The notation without literals and docs, whose characters mean nothing."""
    return re.sub(r'"(\\.|[^"\\])*"|//[^\n]*', "", form)


class Work(Protocol):
    """What has to be done before a reply can be judged, such as running a program."""

    def do(self, keep: Callable[..., Any] | None) -> Any:
        """Does it; the outcome is data, also when it failed. `keep` is for calls in a journal."""
        ...

    def calls(self, outcome: Any) -> list[ToolCall]:
        """The calls of functions that were made by it."""
        ...

    def judge(self, outcome: Any) -> None:
        """Gives the target what came of it, or raises Unreadable with the reason."""
        ...


class Target:
    """See the module's docstring; as it stands here, a target without return tools."""

    is_typed = True

    def __init__(self) -> None:
        self.repairs: list[str] = []
        self.found: Any = m.ABSENT
        # Of a reply that comes in pieces: it is what it is, and is not asked for again.
        self.has_given = False

    @property
    def contract(self) -> Contract | None:
        return None

    @property
    def is_reached(self) -> bool:
        return self.found is not m.ABSENT

    @property
    def is_enough(self) -> bool:
        return self.is_reached

    @property
    def value(self) -> Any:
        return self.found

    def ending(self) -> str:
        return ""

    def return_tools(self) -> list[dict[str, Any]]:
        return []

    def takes(self, call: ToolRequest) -> bool:
        return False

    def keep(self, call: ToolRequest) -> str:
        raise LookupError(call.name)

    def objection(self) -> str | None:
        """Why the calls of return tools since it was asked last do not do, if they do not."""
        return None

    def accept(self, text: str) -> Work | None:
        raise NotImplementedError

    def reminder(self, reason: str) -> str:
        raise NotImplementedError

    def state(self) -> str:
        return ""


def target_for(returns: Any, fields: Mapping[str, Any] | None, structured: str) -> Target:
    """The target of a prompt with this type, or these fields by name."""
    if fields is not None:
        check(fields, dict[str, Any], path="fields")
        if not fields:
            raise CheckError("`fields` names no field")
        return ObjectTarget(fields) if structured == "on" else FieldsTarget(fields)
    return TextTarget() if returns is str else ValueTarget(contract_of(returns))


class TextTarget(Target):
    """Any text that is not empty; of a reply that is one JSON string, what it holds."""

    is_typed = False

    def accept(self, text: str) -> None:
        if not text.strip():
            raise Unreadable("the reply is empty")
        text = _unquoted(text)
        self.found = without_halves(text)
        if self.found != text:
            self.repairs.append("half of a surrogate pair was replaced by U+FFFD")

    def reminder(self, reason: str) -> str:
        return "Your reply was empty. Please answer."


class ValueTarget(Target):
    """A JSON value that satisfies a contract."""

    def __init__(self, contract: Contract) -> None:
        super().__init__()
        self._contract = contract

    @property
    def contract(self) -> Contract | None:
        return self._contract

    def ending(self) -> str:
        return self._contract.text

    def accept(self, text: str) -> None:
        self.found, repairs = read_reply(self._contract, text)
        self.repairs.extend(repairs)

    def reminder(self, reason: str) -> str:
        # The first message has the form; to repeat it would bury what is wrong.
        again = "Reply with all of it again, corrected, JSON only."
        return f"That reply cannot be used: {reason}. {again}"


class ObjectTarget(ValueTarget):
    """Fields as one JSON object, for models that are not given return tools."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__(contract_for(object_schema(fields)))
        self.names = tuple(fields)

    @property
    def value(self) -> Any:
        return tuple(self.found[name] for name in self.names)


class FieldsTarget(Target):
    """Fields that the model hands in by one return tool each.

    A valid value is kept, also when later ones are not; of two, the later one counts. An object
    with the fields, sent as text, is taken too. A field that takes nil may stay away: it is nil
    when the model calls no more tools, and has handed in another or been reminded.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__()
        self.schema: m.ObjectSchema = object_schema(fields)
        self.arrived: dict[str, Any] = {}
        self.reasons: dict[str, str] = {}
        # Those that were handed in since it was asked for an objection, and how many it had then.
        self._handed_in: list[str] = []
        self._had = 0
        self._optional = {field.name for field in self.schema.fields if not field.required}
        self._is_reminded = False
        for name in fields:
            if len(RETURN_PREFIX + name) > 64:
                raise CheckError(f"the field name `{name}` is too long for a tool")

    @property
    def is_reached(self) -> bool:
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

    def takes(self, call: ToolRequest) -> bool:
        return any(call.name == RETURN_PREFIX + field.name for field in self.schema.fields)

    def objection(self) -> str | None:
        handed_in, self._handed_in = dict.fromkeys(self._handed_in), []
        had, self._had = self._had, len(self.arrived)
        refused = [name for name in handed_in if name in self.reasons]
        if refused:
            return "; ".join(f"refused for {name}: {self.reasons[name]}" for name in refused)
        is_in_vain = bool(handed_in) and self._had == had and not self.is_enough
        return NOT_ALL if is_in_vain else None

    def keep(self, call: ToolRequest) -> str:
        name = call.name.removeprefix(RETURN_PREFIX)
        field = next(field for field in self.schema.fields if field.name == name)
        self._handed_in.append(name)
        try:
            arguments = read_arguments(call.arguments)
            if "value" not in arguments:
                raise CheckError("the argument `value` is missing")
            value = convert_text(arguments["value"], field.schema)
            self.arrived[name] = decode_for_model(value, field.schema)
        except CheckError as error:
            self.reasons[name] = str(error)
            self.repairs.append(f"refused for {name}: {error}")
            return f"error: {error}"
        self.reasons.pop(name, None)
        missing = self._missing()
        if missing:
            return f"kept; still missing: {_tools(missing)}"
        return "kept" if self.is_reached else f"kept; may be left out: {_tools(self._open())}"

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
        """What arrived, what did not, and why, for the error that ends the call."""
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
        """What is open and may not stay away; what was sent and refused may not either."""
        may_stay_away = self._optional.difference(self.reasons)
        return [name for name in self._open() if name not in may_stay_away]

    def _fields_in(self, text: str) -> dict[str, Any]:
        """The fields of an object in the text: all of them, or each that is valid."""
        try:
            return read_reply(contract_for(self.schema), text)[0]
        except Unreadable:
            pass
        try:
            loose, _ = read_reply(contract_of(dict[str, Any]), text)
        except Unreadable:
            return {}
        found: dict[str, Any] = {}
        for field in self.schema.fields:
            if field.name not in loose:
                continue
            try:
                found[field.name] = decode_for_model(loose[field.name], field.schema, field.name)
            except CheckError as error:
                self.reasons[field.name] = str(error)
        return found


def _unquoted(text: str) -> str:
    """What the text holds as a JSON string, where it is one as a whole."""
    literal = text.strip()
    if len(literal) < 2 or literal[0] != '"' or literal[-1] != '"':
        return text
    try:
        return parse_unambiguous(literal)
    except CheckError:
        return text


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
