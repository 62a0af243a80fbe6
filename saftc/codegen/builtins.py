"""Calls of builtins: Python's own form where the types are proved, `ops` where they are not.

    upper(verb)     verb.upper()            or  ops.upper(verb)
    len(xs)         len(xs)                 or  ops.len(xs)
    str(x)          str(x), x itself, or show(x)
"""

from collections.abc import Callable, Sequence

from saftc.codegen.base import Base
from saftc.codegen.python import (
    Expression,
    attribute,
    call,
    comparison,
    floating,
    string,
)
from saftc.semantics.builtins import BUILTINS, ITEMS, is_proved
from saftc.semantics.types import Type, is_only
from saftc.syntax import nodes as n

# Builtins whose only form is a function of the runtime, under a name that Python leaves free.
_RUNTIME = {
    "json": "to_json",
    "parse": "parse",
    "read_text": "read_text",
    "write_text": "write_text",
    "type": "kind",
}

# `upper(text)` as `text.upper()`.
_METHODS = {
    "upper": "upper",
    "lower": "lower",
    "strip": "strip",
    "split": "split",
    "replace": "replace",
    "starts_with": "startswith",
    "ends_with": "endswith",
}

# The same function in Python; some give an iterator there, which only a loop takes as it is.
_FUNCTIONS = {"len", "sorted", "sum", "min", "max", "int", "float", "round", "abs"}
_ITERATORS = {"range", "reversed", "zip", "enumerate"}


class Builtins(Base):
    """The part of the emitter that knows builtins."""

    def builtin_call(self, node: n.Call, builtin: str, *, is_iterated: bool = False) -> Expression:
        types = [self.type_of(argument.value) for argument in node.arguments]
        if not self._is_proved(node, builtin, types):
            return self._unproved(node, builtin)
        special = self._special(builtin)
        if special is not None:
            return special(node, types)
        positional, named = self._given(node)
        if builtin in _METHODS:
            return call(attribute(positional[0], _METHODS[builtin]), positional[1:], named)
        if builtin in _ITERATORS:
            made = call(self.global_(builtin), positional, named)
            return made if is_iterated else call(self.global_("list"), [made])
        assert builtin in _FUNCTIONS, builtin
        return call(self.global_(builtin), positional, named)

    def _special(self, builtin: str) -> Callable[[n.Call, Sequence[Type]], Expression] | None:
        match builtin:
            case "print":
                return self._print
            case "str":
                return self._str
            case "join":
                return self._join
            case "contains":
                return self._contains
            case "keys" | "values":
                return self._keys_or_values
            case "env":
                return self._env
            case _ if builtin in _RUNTIME:
                return self._runtime
            case _:
                return None

    def _is_proved(self, node: n.Call, builtin: str, types: Sequence[Type]) -> bool:
        if any(argument.name is not None for argument in node.arguments):
            by_name = {p.name: position for position, p in enumerate(BUILTINS[builtin].parameters)}
            ordered = dict(enumerate(types))
            for position, argument in enumerate(node.arguments):
                if argument.name is not None and argument.name.text in by_name:
                    del ordered[position]
                    ordered[by_name[argument.name.text]] = types[position]
            if sorted(ordered) != list(range(len(ordered))):
                return False
            types = [ordered[position] for position in sorted(ordered)]
        return is_proved(BUILTINS[builtin], types)

    def _given(self, node: n.Call) -> tuple[list[Expression], list[tuple[str, Expression]]]:
        positional = [self.emit(a.value) for a in node.arguments if a.name is None]
        named = [(a.name.text, self.emit(a.value)) for a in node.arguments if a.name is not None]
        return positional, named

    def _unproved(self, node: n.Call, builtin: str) -> Expression:
        positional, named = self._given(node)
        return call(self.operation(builtin), positional, named)

    # The ones with a form of their own

    def _runtime(self, node: n.Call, _types: Sequence[Type]) -> Expression:
        positional, named = self._given(node)
        function = _RUNTIME[self._builtin_of(node)]
        return call(self.global_(function), positional, named)

    def _builtin_of(self, node: n.Call) -> str:
        return self.facts.names.of(node.function).name

    def _print(self, node: n.Call, types: Sequence[Type]) -> Expression:
        shown = [
            value if is_only(type_, "string", "int", "float") else self.shown(value)
            for value, type_ in zip(
                (self.emit(argument.value) for argument in node.arguments), types, strict=True
            )
        ]
        return call(self.global_("print"), shown)

    def shown(self, value: Expression) -> Expression:
        """`show(value)`: the text of any value."""
        return call(self.global_("show"), [value])

    def _str(self, node: n.Call, types: Sequence[Type]) -> Expression:
        value = self.emit(node.arguments[0].value)
        if is_only(types[0], "string"):
            return value
        if is_only(types[0], "int", "float"):
            return call(self.global_("str"), [value])
        return self.shown(value)

    def _join(self, node: n.Call, types: Sequence[Type]) -> Expression:
        values = [self.emit(argument.value) for argument in node.arguments]
        if len(values) == 1:
            return call(attribute(string(""), "join"), values)
        items_first = is_only(types[0], *ITEMS)
        items, separator = values if items_first else (values[1], values[0])
        # Python evaluates the separator first: only where that cannot be told apart.
        if items_first and not _is_settled(node.arguments[1].value):
            return self._unproved(node, "join")
        return call(attribute(separator, "join"), [items])

    def _contains(self, node: n.Call, types: Sequence[Type]) -> Expression:
        container, item = (argument.value for argument in node.arguments)
        swaps_effects = not (_is_settled(container) or _is_settled(item))
        if swaps_effects or not self.is_exact_in(types[1], types[0]):
            return self._unproved(node, "contains")
        return comparison(self.emit(item), "in", self.emit(container))

    def is_exact_in(self, item: Type, container: Type) -> bool:
        """Whether Python's `in` does what Saft's does."""
        raise NotImplementedError

    def _keys_or_values(self, node: n.Call, _types: Sequence[Type]) -> Expression:
        value = self.emit(node.arguments[0].value)
        if self._builtin_of(node) == "values":
            value = call(attribute(value, "values"))
        return call(self.global_("list"), [value])

    def _env(self, node: n.Call, _types: Sequence[Type]) -> Expression:
        positional, named = self._given(node)
        environ = attribute(self.global_("os"), "environ")
        return call(attribute(environ, "get"), positional, named)

    def length(self, value: Expression) -> Expression:
        """`len(value)`."""
        return call(self.global_("len"), [value])

    def to_float(self, node: n.Expression, value: Expression) -> Expression:
        """A number as a float: a literal is written as one."""
        match node:
            case n.Literal(value=int() as number):
                return _float_literal(number, value, self)
            case n.Unary(operator="-", operand=n.Literal(value=int() as number)):
                return _float_literal(-number, value, self)
            case _:
                return call(self.global_("float"), [value])


def _float_literal(number: int, value: Expression, emitter: Builtins) -> Expression:
    # Beyond this, a float cannot hold every integer: the conversion stays visible.
    if abs(number) < 2**53:
        return floating(float(number))
    return call(emitter.global_("float"), [value])


def _is_settled(node: n.Expression) -> bool:
    """Whether it does not matter when `node` is evaluated: it is a name or a literal."""
    return isinstance(node, n.Name | n.Literal)
