"""Arguments for the calls of a program, from what the prompt and earlier calls give.

    City(name: string) and the value "Oslo", for a parameter `city: City`
    {"City": {"name": "Oslo"}}

A parameter takes the output of an earlier call, a value of the prompt, a record, what a conversion
takes, or a call that can be made from them, in this order. What is used is used up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runtime_support.providers.mock.answering import argument_for
from runtime_support.providers.mock.calling import mention
from runtime_support.providers.mock.choosing import choice
from runtime_support.providers.mock.reading import Reading
from runtime_support.providers.mock.signatures import (
    Parameter,
    Signature,
    fits,
    item_of,
    literals_of,
    members,
    parts_of,
    takes,
)
from runtime_support.values import is_list, is_object

SCALARS = ("number", "integer", "boolean", "string")
# What becomes what by itself.
HOPS = {"number": ("string",), "integer": ("string",), "boolean": ("number", "integer")}
MOST_NESTED = 6

Inside = tuple[str, ...]


@dataclass(slots=True)
class Made:
    """An expression with its type."""

    program: Any
    type: str


@dataclass(slots=True)
class Supply:
    """Outputs that are not yet used, values of the prompt, and what has been called."""

    outputs: list[Made] = field(default_factory=list[Made])
    values: list[Any] = field(default_factory=list[Any])
    called: set[str] = field(default_factory=set[str])

    def copy(self) -> Supply:
        """A supply of the same, to try something with."""
        return Supply([*self.outputs], [*self.values], {*self.called})

    def become(self, other: Supply) -> None:
        """Takes over what is left after something that worked."""
        self.outputs, self.values, self.called = other.outputs, other.values, other.called


class Filling:
    """Fills parameters; `inside` are the callables around a place, so that none is in itself."""

    def __init__(self, signatures: list[Signature], reading: Reading) -> None:
        self.signatures = signatures
        self.reading = reading
        self._by_name: dict[str, Any] = {}

    def is_mentioned(self, signature: Signature) -> bool:
        """Whether the prompt names the function."""
        return mention(self.reading.text, signature.name) < len(self.reading.text)

    def leads_to(self, source: str, target: str, hops: int = 3) -> bool:
        """Whether a value of one type is one of the other, or conversions make it one."""
        if source == "any" or fits(source, target):
            return True
        return hops > 0 and any(
            self.leads_to(one.result, target, hops - 1)
            for one in self.signatures
            if one.kind == "conversion" and fits(source, one.parameters[0].type)
        )

    def call(self, signature: Signature, supply: Supply, inside: Inside = ()) -> Made | None:
        """A call with all that it needs from what there is; nothing when something is missing."""
        trial = supply.copy()
        trial.called.add(signature.name)
        arguments: dict[str, Any] = {}
        for parameter in signature.parameters:
            made = self.argument(parameter, trial, (*inside, signature.name))
            if made is not None:
                arguments[parameter.name] = made.program
            elif parameter.is_required:
                return None
        supply.become(trial)
        return Made({signature.name: arguments}, signature.result)

    def argument(self, parameter: Parameter, supply: Supply, inside: Inside = ()) -> Made | None:
        """What the parameter takes, from what there is."""
        found = self.from_supply(parameter, supply)
        if found is not None or len(inside) > MOST_NESTED:
            return found
        for signature in self.signatures:
            if signature.name in inside or not fits(signature.result, parameter.type):
                continue
            within = (*inside, signature.name)
            if signature.kind == "conversion":
                # Conversions apply by themselves.
                made = self.argument(signature.parameters[0], supply, within)
            elif signature.kind == "type" or (
                signature.parameters and self.is_mentioned(signature)
            ):
                made = self.call(signature, supply, inside)
            else:
                continue
            if made is not None:
                return made
        return None

    def from_supply(self, parameter: Parameter, supply: Supply) -> Made | None:
        """An output or a value that the parameter takes, which is then used up."""
        for output in supply.outputs:
            if output.type != "null" and self.leads_to(output.type, parameter.type):
                supply.outputs.remove(output)
                return output
        for value in supply.values:
            has_name = is_object(value) and parameter.name in value
            if has_name and takes(parameter.type, value[parameter.name]):
                return Made(quoted(value[parameter.name]), parameter.type)
        for value in supply.values:
            if takes(parameter.type, value):
                supply.values.remove(value)
                self._by_name[parameter.name] = value
                return Made(quoted(value), parameter.type)
        options = [one for one in literals_of(parameter.type) if isinstance(one, str)]
        if options:
            return Made(choice(options, self.reading), parameter.type)
        return None

    def plausible_call(self, signature: Signature, supply: Supply, inside: Inside = ()) -> Made:
        """A call in any case: what is missing is made up."""
        arguments: dict[str, Any] = {}
        supply.called.add(signature.name)
        within = (*inside, signature.name)
        for parameter in signature.parameters:
            made = self.argument(parameter, supply, within)
            if made is not None:
                arguments[parameter.name] = made.program
            elif parameter.is_required:
                arguments[parameter.name] = self.plausible(parameter, supply, within)
        return Made({signature.name: arguments}, signature.result)

    def plausible(self, parameter: Parameter, supply: Supply, inside: Inside = ()) -> Any:
        """Any program of the type: what a parameter of that name had before, or made up."""
        made = self.argument(parameter, supply, inside)
        if made is not None:
            return made.program
        if parameter.name in self._by_name and takes(
            parameter.type, self._by_name[parameter.name]
        ):
            return quoted(self._by_name[parameter.name])
        for member in members(parameter.type):
            if member in SCALARS:
                return argument_for({"type": member}, self.reading, parameter.name)
            if item_of(member) is not None:
                return []
            if member in ("any", "null"):
                return None
            if member.startswith("object"):
                return {}
            parts = parts_of(member)
            if parts is not None:
                filled = {part.name: self.plausible(part, supply, inside) for part in parts}
                return list(filled.values()) if member.startswith("(") else as_record(filled)
            if literals_of(member):
                return literals_of(member)[0]
        for signature in self.signatures:
            if signature.name not in inside and fits(signature.result, parameter.type):
                return self.plausible_call(signature, supply, inside).program
        return None


def quoted(value: Any) -> Any:
    """A value as a program."""
    if is_list(value):
        return [quoted(item) for item in value]
    if not is_object(value):
        return value
    return as_record({key: quoted(item) for key, item in value.items()})


def as_record(fields: dict[str, Any]) -> dict[str, Any]:
    """An object as a program: one key alone would be a call, and `$` begins a form."""
    is_plain = len(fields) != 1 and not any(key.startswith("$") for key in fields)
    return fields if is_plain else {"$object": fields}
