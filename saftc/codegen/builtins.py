"""Calls of builtins: Python's own form where the types are proved, `ops` where they are not.

upper(verb)     verb.upper()            or  ops.upper(verb)
len(xs)         len(xs)                 or  ops.len(xs)
str(x)          str(x), x itself, or show(x)
"""

from collections.abc import Callable, Sequence

from saftc.codegen.python import (
    Expression,
    attribute,
    call,
    comparison,
    constant,
    field_name,
    floating,
)
from saftc.codegen.tables import Tables
from saftc.semantics.builtins import BUILTINS, ITEMS, Builtin
from saftc.semantics.forms import BuiltinCall, Form
from saftc.semantics.inference.calls import arguments_by_position, is_settled
from saftc.semantics.types import ObjectType, is_only, members
from saftc.syntax import nodes as n

# Builtins whose only form is a function of the runtime, under a name that Python leaves free.
_RUNTIME = {
    "json": "to_json",
    "parse": "parse",
    "read": "read",
    "read_text": "read_text",
    "list_files": "list_files",
    "mean": "mean",
    "image": "image",
    "file": "file",
    "write_text": "write_text",
    "type": "kind",
    "run": "run",
    "option": "option",
    "ambiguous": "ambiguous",
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
_FUNCTIONS = {"len", "sum", "min", "max", "int", "float", "round", "abs"}
_ITERATORS = {"range", "reversed", "zip", "enumerate"}


# What takes an iterator as well as a list, when it is all it is given.
_ITERATING = {"sorted", "sum", "min", "max"}


class Builtins(Tables):
    """The part of the emitter that knows builtins."""

    def builtin_call(
        self, node: n.Call, form: BuiltinCall, *, is_iterated: bool = False
    ) -> Expression:
        row, ordered = form.builtin, form.arguments
        builtin = row.name
        if row.takes_names:
            return self._given(self.global_(_RUNTIME[builtin]), node)
        if ordered is None or form.form == Form.OPS:
            if ordered is not None and row is not BUILTINS[builtin]:
                return call(self.operation(builtin), [self.emit(a) for a in ordered])
            return self._unproved(node, builtin)
        of_table = self.table_call(row, ordered)
        if of_table is not None:
            return of_table
        if builtin == "values" and self._is_declared(ordered[0]):
            return self._unproved(node, builtin)
        if builtin in ("keys", "values"):
            made = self._view(ordered[0], builtin)
            return made if is_iterated else call(self.global_("list"), [made])
        special = self._special(builtin)
        if special is not None:
            return special(ordered, builtin) or self._unproved(node, builtin)
        takes_any_iterable = (builtin in _ITERATING and len(ordered) == 1) or builtin in _ITERATORS
        emit = self.iterable if takes_any_iterable and builtin != "reversed" else self.emit
        values = [emit(argument) for argument in ordered]
        if builtin in _METHODS:
            return call(attribute(values[0], _METHODS[builtin]), values[1:])
        if builtin in _ITERATORS:
            made = call(self.global_(builtin), values)
            return made if is_iterated else call(self.global_("list"), [made])
        if builtin == "sorted":
            # Python takes this one by name only.
            return call(
                self.global_(builtin), values[:1], zip(("reverse",), values[1:], strict=False)
            )
        assert builtin in _FUNCTIONS, builtin
        return call(self.global_(builtin), values)

    def _unproved(self, node: n.Call, builtin: str) -> Expression:
        return self._given(self.operation(builtin), node)

    def _given(self, function: Expression, node: n.Call) -> Expression:
        """A call with the arguments as they are written."""
        positional = [self.emit(a.value) for a in node.arguments if a.name is None]
        named = [(field_name(a.name.text), self.emit(a.value)) for a in node.arguments if a.name]
        return call(function, positional, named)

    def _special(self, builtin: str) -> "_Special | None":
        match builtin:
            case "print":
                return self._print
            case "str":
                return self._str
            case "join":
                return self._join
            case "contains":
                return self._contains
            case "env":
                return self._env
            case _:
                return self._runtime if builtin in _RUNTIME else None

    # The ones with a form of their own; None where Python's would not do the same.

    def _runtime(self, given: Sequence[n.Expression], builtin: str) -> Expression:
        return call(self.global_(_RUNTIME[builtin]), [self.emit(argument) for argument in given])

    def _print(self, given: Sequence[n.Expression], _builtin: str) -> Expression:
        return call(self.global_("print"), [self._printed(argument) for argument in given])

    def _printed(self, node: n.Expression) -> Expression:
        """What Python's `print` shows as Saft's does."""
        value = self.emit(node)
        is_plain = is_only(self.type_of(node), "string", "int", "float", "dataframe")
        return value if is_plain else self.shown(value)

    def shown(self, value: Expression) -> Expression:
        """`show(value)`: the text of any value."""
        return call(self.global_("show"), [value])

    def _str(self, given: Sequence[n.Expression], _builtin: str) -> Expression:
        value, type_ = self.emit(given[0]), self.type_of(given[0])
        if is_only(type_, "string"):
            return value
        if is_only(type_, "string", "int", "float", "dataframe"):
            return call(self.global_("str"), [value])
        return self.shown(value)

    def _join(self, given: Sequence[n.Expression], _builtin: str) -> Expression | None:
        if len(given) == 1:
            return call(attribute(constant(""), "join"), [self.iterable(given[0])])
        if is_only(self.type_of(given[0]), *ITEMS):
            items, separator = given
            # Python evaluates the separator first: right only where that makes no difference.
            if not is_settled(separator):
                return None
        else:
            separator, items = given
        return call(attribute(self.emit(separator), "join"), [self.iterable(items)])

    def _contains(self, given: Sequence[n.Expression], _builtin: str) -> Expression | None:
        container, item = given
        swaps_effects = not (is_settled(container) or is_settled(item))
        if swaps_effects or not self.facts.contains_as_python(
            self.type_of(item), self.type_of(container)
        ):
            return None
        return comparison(self.emit(item), "in", self.emit(container))

    def builtin_value(self, builtin: str) -> Expression:
        """A builtin that is not called but passed on."""
        is_own = builtin in ("run", "option", "ambiguous")
        return self.global_(builtin) if is_own else self.operation(builtin)

    def _is_declared(self, node: n.Expression) -> bool:
        """Whether an object has a class, of whose values Python's type checkers know nothing."""
        return any(
            isinstance(member, ObjectType) and member.is_declared
            for member in members(self.type_of(node))
        )

    def _view(self, node: n.Expression, builtin: str) -> Expression:
        """What goes over the keys or the values of an object."""
        value = self.emit(node)
        return value if builtin == "keys" else call(attribute(value, "values"))

    def _env(self, given: Sequence[n.Expression], _builtin: str) -> Expression:
        environ = attribute(self.global_("os"), "environ")
        return call(attribute(environ, "get"), [self.emit(argument) for argument in given])

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


_Special = Callable[[Sequence[n.Expression], str], Expression | None]


def is_as_written(node: n.Call, builtin: Builtin) -> bool:
    """Whether the arguments stand in the order of the parameters."""
    places = list(arguments_by_position(node, builtin))
    return builtin.takes_names or places == sorted(places)


def _float_literal(number: int, value: Expression, emitter: Builtins) -> Expression:
    # Beyond this, a float cannot hold every integer: the conversion stays visible.
    if abs(number) < 2**53:
        return floating(float(number))
    return call(emitter.global_("float"), [value])
