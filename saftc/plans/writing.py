"""Assembles the module of a plan: its names, imports and text.

Expressions and statements are built with `saftc.codegen.python`. This module also translates the
types of programs to annotations:

    number                   int | float
    Point, Colour            an imported class
    [Point | null]           list[Point | None]
"""

import inspect
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeGuard, cast

import libcst as cst

from runtime_support._schema import model
from runtime_support.programs import _types as types
from runtime_support.programs._registry import Function
from saftc.codegen import python as py
from saftc.codegen.imports import Imports, is_imported
from saftc.codegen.layout import code_of, lay_out
from saftc.codegen.python import Expression, Statement
from saftc.plans.tools import NotWritable, Tools
from saftc.syntax.depth import fitting_interpreter

_MAIN = "main"
_SCALARS = {"bool": "bool", "float": "float", "int": "int", "string": "str", "decimal": "Decimal"}
_DATES = {"date": "date", "datetime": "datetime", "time": "time", "duration": "timedelta"}
# The names of Python and the runtime that the output may use: no tool is imported as one of them.
_NEEDED = {
    *_SCALARS.values(),
    *("Any", "Literal", "asyncio", "coerce", "dict", "dt", "list", "print", "show", "tuple", _MAIN),
}
_DEEPEST, _DEEPEST_EXACT = 6, 30


class PlanModule:
    """The Python module that is written for a plan. No variable gets a name in `taken`.

    `imported` maps the name of each imported function or class to its module and its name in that
    module. `used` has all imported and builtin names that the module uses.
    """

    def __init__(self, tools: Tools, taken: Iterable[str]) -> None:
        self.tools = tools
        self.taken = {_MAIN, *taken}
        self.imported: dict[str, tuple[str, str]] = {}
        self.used = set[str]()
        self._variables = set[str]()
        self._awaits = False

    # Names

    def variable(self, text: str) -> str:
        """A new name for a variable of `main`, made from `text`."""
        name = self.element(text, self._variables)
        self._variables.add(name)
        return name

    def element(self, text: str, visible: Iterable[str]) -> str:
        """A name for the variable of a comprehension, different from the `visible` names."""
        name = re.sub(r"\W", "_", text)
        name = name if name.isidentifier() else f"_{name}"
        while name in self.taken or name in visible or keyword.iskeyword(name):
            name += "_"
        return name

    def tool(self, thing: object) -> cst.Name:
        """The name of a function or class that the plan uses. Adds the import of this name."""
        place = self.tools.place_of(thing)
        alias = f"{place[1]}_" if place[1] in _NEEDED else place[1]
        while self.imported.setdefault(alias, place) != place:
            alias += "_"
        return self.needed(alias)

    def needed(self, name: str) -> cst.Name:
        """A name of Python or of the runtime that the module uses. Adds the import of this name."""
        self.used.add(name)
        return py.name(name)

    # Expressions

    def constant(self, value: object) -> Expression | None:
        """The literal for a scalar, a list, a tuple or an Enum's member. None for other values."""
        match value:
            case Enum():
                return py.attribute(self.tool(type(value)), value.name)
            case list() | tuple():
                found = list(map(self.constant, cast("Sequence[object]", value)))
                items = [one for one in found if one is not None]
                make = py.list_ if isinstance(value, list) else py.tuple_
                return make(items) if len(items) == len(found) else None
            case bool() | int() | float() | str() | None:
                return py.constant(value)
            case _:
                return None

    def called(
        self,
        function: Function,
        positional: Sequence[Expression],
        named: Mapping[str, Expression] | None = None,
        rest: Expression | None = None,
    ) -> Expression:
        """The call of a function or class, awaited if necessary."""
        made = py.call(self.tool(function), positional, (named or {}).items())
        if rest is not None:
            made = py.with_rest(made, len(positional), rest)
        if not _is_async(function):
            return made
        self._awaits = True
        return py.awaited(made)

    def converted(self, kind: str, value: Expression) -> Expression:
        """The call of the builtin `kind` with the value, such as `int(value)`."""
        if isinstance(value, cst.ListComp) and not self._awaits:
            value = py.generator(value)
        return py.call(self.needed(kind), [value])

    def coerced(self, value: Expression, wanted: types.Type, by: Sequence[Function]) -> Expression:
        """The call `coerce(value, wanted, by)`.

        Raises:
            NotWritable: No annotation expresses the type `wanted`.
        """
        given = [value, self.annotation(wanted, _DEEPEST_EXACT, is_exact=True)]
        if by:
            given.append(py.list_([self.tool(one) for one in by]))
        return py.call(self.needed("coerce"), given)

    def assigned(self, name: str, value: Expression, type_: types.Type | None = None) -> Statement:
        """The assignment `name = value` or `name: type = value`."""
        if type_ is None:
            return py.line(py.assignment(py.name(name), value))
        return py.line(py.annotated(py.name(name), self.annotation(type_), value))

    # Annotations

    def annotation(
        self, type_: types.Type, levels: int = _DEEPEST, *, is_exact: bool = False
    ) -> Expression:
        """The annotation for a type, nested at most `levels` deep.

        Unless `is_exact` is true, deeper types become `Any`, and records become dictionaries.

        Raises:
            NotWritable: No annotation expresses the type.
        """

        def inner(one: types.Type) -> Expression:
            return self.annotation(one, levels - 1, is_exact=is_exact)

        type_ = model.resolved(types.widen(type_))
        python = self._class_of(type_)
        if python is not None:
            return self.tool(python)
        match type_:
            case _ if levels == 0 and not is_exact:
                return self.needed("Any")
            case model.ScalarSchema("nil"):
                return py.constant(None)
            case model.ScalarSchema("number"):
                return py.union([self.needed("int"), self.needed("float")])
            case model.ScalarSchema(kind) if kind in _DATES:
                return py.attribute(self.needed("dt"), _DATES[kind])
            case model.ScalarSchema(kind):
                return self.needed(_SCALARS[kind])
            case model.LiteralSchema(value):
                return py.subscript(self.needed("Literal"), py.constant(value))
            case model.ListSchema(item):
                return py.subscript(self.needed("list"), inner(item))
            case model.TupleSchema(items, None):
                inside = list(map(inner, items)) or [py.tuple_([])]
                return py.subscript(self.needed("tuple"), *inside)
            case model.TupleSchema(rest=rest) if rest is not None:
                return py.subscript(self.needed("tuple"), inner(rest), cst.Ellipsis())
            case model.MapSchema(value, key):
                return py.subscript(self.needed("dict"), inner(key), inner(value))
            case model.UnionSchema(members):
                return self._union(members, inner)
            case model.ObjectSchema(fields=fields) if levels > 0 and not is_exact:
                value = types.union_of(types.widen(field.schema) for field in fields)
                return py.subscript(self.needed("dict"), self.needed("str"), inner(value))
            case model.AnySchema() if levels > 0:
                return self.needed("Any")
            case _:
                shown = types.type_notation(type_)
                raise NotWritable(
                    f"only running the plan tells how a value becomes {shown}, and no annotation "
                    "of the output says that: have the function that gives the value declare its "
                    "type"
                )

    def _class_of(self, type_: types.Type) -> type | None:
        """The class that annotations use for a type, or None if the type has no class."""
        if isinstance(type_, model.LiteralSchema) and type_.member is not model.ABSENT:
            return type(cast("object", type_.member))
        if isinstance(type_, model.ObjectSchema) and type_.build is None:
            declared = self.tools.namespace.get(type_.name or "")
            return declared if isinstance(declared, type) else None
        return model.class_of(type_)

    def _union(
        self, members: Iterable[types.Type], inner: Callable[[types.Type], Expression]
    ) -> Expression:
        """The annotation of a union; all literals are in one `Literal`, and None is last."""
        literals = [one.value for one in members if _is_literal(one)]
        others = [inner(one) for one in members if not _is_literal(one)]
        written = {code_of(made): made for made in others}
        if literals:
            made = py.subscript(self.needed("Literal"), *map(py.constant, literals))
            written = {"": made, **written}
        nothing = written.pop("None", None)
        return py.union([*written.values(), *([] if nothing is None else [nothing])])

    # The module

    def text(self, file: str, body: Sequence[Statement], gives: types.Type) -> str:
        """The text of the module for the plan in `file`.

        `body` is the body of `main`, and `gives` is the type of the plan's value.
        """
        returned = self.annotation(gives)
        called: Expression = py.call(py.name(_MAIN))
        if self._awaits:
            called = py.call(py.attribute(self.needed("asyncio"), "run"), [called])
        if gives != types.NULL:
            is_plain = all(map(_is_printed_alike, types.members_of(types.widen(gives))))
            shown = called if is_plain else py.call(self.needed("show"), [called])
            called = py.call(self.needed("print"), [shown])
        is_main = py.comparison(py.name("__name__"), "==", py.constant("__main__"))
        block = py.block([py.line(cst.Expr(called))])
        main = py.function(
            _MAIN, py.parameters([]), returned, py.block(body), is_async=self._awaits
        )
        imports = Imports({Path(script.source.name).stem for script in self.tools.siblings})
        imports.names |= {n for n in self.used - self.imported.keys() if is_imported(n)}
        imports.own |= {(module, n, alias) for alias, (module, n) in self.imported.items()}
        module = cst.Module(
            [
                *imports.statements(),
                main.with_changes(leading_lines=[py.BLANK]),
                cst.If(is_main, block, leading_lines=[py.BLANK] * 2),
            ],
            header=[py.header(file)],
        )
        with fitting_interpreter():
            return lay_out(module)


def _is_literal(type_: types.Type) -> TypeGuard[model.LiteralSchema]:
    return isinstance(type_, model.LiteralSchema) and type_.member is model.ABSENT


def _is_printed_alike(type_: types.Type) -> bool:
    """Whether Python prints values of the type as Saft does."""
    kinds = ("string", "int", "float", "number", "date", "time", "decimal")
    return any(model.is_scalar(types.widen(type_), kind) for kind in kinds)


def _is_async(function: Function) -> bool:
    plain = inspect.unwrap(function)
    return inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(type(plain).__call__)
