"""Calls: arguments to parameters, and what a call gives."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from saftc.diagnostics import catalogue
from saftc.diagnostics.near import near
from saftc.semantics.base import Base
from saftc.semantics.builtins import BUILTINS, Builtin, is_proved, meant, takes
from saftc.semantics.environment import Environment
from saftc.semantics.forms import BuiltinCall, DirectCall, Form, native_if
from saftc.semantics.operators import operate
from saftc.semantics.types import (
    ANY,
    NEVER,
    BuiltinType,
    FunctionType,
    RecordType,
    Type,
    is_only,
    members,
    show,
    union,
)
from saftc.syntax import nodes as n


class Calls(Base):
    """The part of inference that knows calls."""

    def call(self, node: n.Call, env: Environment) -> Type:
        function = self.expression(node.function, env)
        if isinstance(node.function, n.Name):
            symbol = self.facts.meaning_of(self.facts.names.of(node.function))
            if symbol.kind == "record" and isinstance(symbol.node, n.RecordDef):
                self.facts.forms.calls[node] = DirectCall(symbol.node)
                return self._construct(node, symbol.node, env)
        is_python = self.facts.is_imported(node.function)
        match function:
            case FunctionType():
                self.facts.forms.calls[node] = DirectCall(function.definition)
                return self._call_function(node, function, env)
            case BuiltinType():
                self.facts.forms.calls[node] = DirectCall(None) if is_python else Form.OPS
                return self._call_builtin(node, BUILTINS[function.name], env)
            case _:
                self.facts.forms.calls[node] = DirectCall(None) if is_python else Form.OPS
                return self._call_value(node, function, env)

    def _call_value(self, node: n.Call, function: Type, env: Environment) -> Type:
        """A call of something known only at run time."""
        results: list[Type] = []
        callable_members = [
            member
            for member in members(function)
            if member == ANY or isinstance(member, FunctionType | BuiltinType)
        ]
        for argument in node.arguments:
            self.expression(argument.value, env)
        if not callable_members and function != NEVER:
            self.report(catalogue.NOT_CALLABLE.at(node.function.span, found=show(function)))
            return ANY
        for member in callable_members:
            results.append(
                self.result_of(member.definition) if isinstance(member, FunctionType) else ANY
            )
        return union(results)

    # Functions and records

    def _call_function(self, node: n.Call, function: FunctionType, env: Environment) -> Type:
        definition = function.definition
        types = self.facts.functions[definition].parameters
        self._arguments(node, function.name, definition.parameters, types, env)
        return self.result_of(definition)

    def _construct(self, node: n.Call, record: n.RecordDef, env: Environment) -> Type:
        facts = self.facts.records.get(record.name.text)
        if facts is None or facts.node is not record:
            return ANY
        types = tuple(facts.fields.values())
        fields = tuple(_with_default(field) for field in record.fields)
        self._arguments(node, record.name.text, fields, types, env)
        return RecordType(record.name.text)

    def _arguments(
        self,
        node: n.Call,
        name: str,
        parameters: Sequence[n.Parameter],
        types: Sequence[Type],
        env: Environment,
    ) -> None:
        names = [parameter.name.text for parameter in parameters]
        if len(set(names)) < len(names):
            # Which of two parameters of one name is meant is a guess.
            for argument in node.arguments:
                self.expression(argument.value, env)
            return
        given: set[str] = set()
        is_complete = True
        for position, argument in enumerate(node.arguments):
            parameter = self._parameter_of(node, argument, position, name, names)
            if parameter is None:
                # It may be meant for what now seems to be missing.
                is_complete = False
                self.expression(argument.value, env)
                continue
            if parameter in given:
                self.report(
                    catalogue.REPEATED_ARGUMENT.at(argument.span, name=name, argument=parameter)
                )
            given.add(parameter)
            place = names.index(parameter)
            if parameters[place].schema is None:
                # What the use of a bare parameter asks for is no annotation: a prompt stays text.
                self.settle(argument.value, self.expression(argument.value, env), types[place])
            else:
                self.place(argument.value, types[place], env)
        for parameter in parameters if is_complete else ():
            if parameter.name.text not in given and parameter.default is None:
                self.report(
                    catalogue.MISSING_ARGUMENT.at(
                        node.span, name=name, argument=parameter.name.text
                    )
                )
                return

    def _parameter_of(
        self, node: n.Call, argument: n.Argument, position: int, name: str, names: list[str]
    ) -> str | None:
        """The name of the parameter that an argument is for; None when there is none."""
        if argument.name is None:
            if position < len(names):
                return names[position]
            self._too_many(node, name, len(names))
            return None
        if argument.name.text in names:
            return argument.name.text
        meant = near(argument.name.text, names)
        self.report(
            catalogue.UNKNOWN_ARGUMENT.at(
                argument.name.span,
                name=name,
                argument=argument.name.text,
                hint=f"did you mean `{meant}`?" if meant else _listed(names),
            )
        )
        return None

    def _too_many(self, node: n.Call, name: str, most: int) -> None:
        expected = "no argument" if not most else f"{most} argument{'s' if most > 1 else ''}"
        self.report(
            catalogue.ARGUMENT_COUNT.at(
                node.span, name=name, expected=expected, given=len(node.arguments)
            )
        )

    # Builtins

    def _call_builtin(self, node: n.Call, builtin: Builtin, env: Environment) -> Type:
        types = [self.expression(argument.value, env) for argument in node.arguments]
        builtin = meant(builtin, list(zip(_argument_names(node), types, strict=True)))
        if isinstance(node.function, n.Name) and (
            self.facts.names.of(node.function).kind == "builtin"
        ):
            arguments = _in_order(node, builtin)
            self.facts.forms.calls[node] = BuiltinCall(
                builtin,
                arguments,
                native_if(
                    arguments is not None
                    and is_proved(builtin, [self.facts.types[one] for one in arguments])
                ),
            )
        names = [parameter.name for parameter in builtin.parameters]
        given: set[str] = set()
        for position, (argument, type_) in enumerate(zip(node.arguments, types, strict=True)):
            parameter = builtin.parameter(position)
            if argument.name is not None:
                if builtin.takes_names and argument.name.text not in names:
                    continue
                if argument.name.text not in names:
                    self._parameter_of(node, argument, position, builtin.name, names)
                    return ANY
                parameter = builtin.parameters[names.index(argument.name.text)]
            if parameter is None:
                self._too_many(node, builtin.name, len(names))
                return builtin.result(types) if types else ANY
            given.add(parameter.name)
            if takes(parameter, type_) is False:
                self.report(
                    catalogue.TYPE_MISMATCH.at(
                        argument.value.span,
                        expected=" or ".join(sorted(parameter.kinds)),
                        found=show(type_),
                        hint=f"this is what `{builtin.name}` takes",
                    )
                )
                return builtin.result(types) if len(types) >= len(given) else ANY
        for parameter in builtin.parameters:
            if parameter.is_required and parameter.name not in given:
                self.report(
                    catalogue.MISSING_ARGUMENT.at(
                        node.span, name=builtin.name, argument=parameter.name
                    )
                )
                return ANY
        self._check_extreme(node, builtin, types)
        return builtin.result(types)

    def _check_extreme(self, node: n.Call, builtin: Builtin, types: list[Type]) -> None:
        """`min` and `max` take one list, or several values that can be ordered."""
        if builtin is not BUILTINS[builtin.name] or builtin.name not in ("min", "max"):
            return
        if len(types) == 1 and is_only(types[0], "int", "float", "string"):
            self.report(
                catalogue.TYPE_MISMATCH.at(
                    node.arguments[0].value.span,
                    expected="a list, or several values",
                    found=show(types[0]),
                )
            )
        for one, other in pairwise(types):
            if operate("<", one, other).result is None:
                self.report(
                    catalogue.OPERAND.at(
                        node.span, operator=builtin.name, found=f"{show(one)} and {show(other)}"
                    )
                )


def _in_order(node: n.Call, builtin: Builtin) -> tuple[n.Expression, ...] | None:
    """The arguments in the order of the parameters; None where that would change the effects."""
    places = arguments_by_position(node, builtin)
    ordered = sorted(places)
    if list(places) != ordered and not all(map(is_settled, places.values())):
        return None
    is_complete = ordered == list(range(len(ordered)))
    return tuple(places[place] for place in ordered) if is_complete else None


def arguments_by_position(node: n.Call, builtin: Builtin) -> dict[int, n.Expression]:
    """The arguments by the positions of their parameters."""
    names = [parameter.name for parameter in builtin.parameters]
    return {
        names.index(argument.name.text)
        if argument.name and argument.name.text in names
        else position: argument.value
        for position, argument in enumerate(node.arguments)
    }


def is_settled(node: n.Expression) -> bool:
    """Whether it does not matter when `node` is evaluated: it is a name or a literal."""
    return isinstance(node, n.Name | n.Literal)


def _argument_names(node: n.Call) -> list[str | None]:
    """The names of the arguments, None for those that are given by place."""
    return [None if argument.name is None else argument.name.text for argument in node.arguments]


def _with_default(field: n.Parameter) -> n.Parameter:
    """A field of a record; an optional one is nil when it is left out."""
    if field.default is None and isinstance(field.schema, n.OptionalSchema):
        return replace(field, default=n.Literal(field.span, None))
    return field


def _listed(names: list[str]) -> str | None:
    return f"it takes {', '.join(f'`{name}`' for name in names)}" if names else None
