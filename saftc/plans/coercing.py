"""What the checker puts between an argument and its parameter, as ordinary calls.

    a Book where a string is asked for    name_of(author_of(book))
    [Book] for [Author]                   [author_of(item) for item in books]
    true for a number                     int(flag)
    any for a number                      coerce(value, int | float)

Python's own functions stand where they do just what the rule says. Where the value decides, it is
left to `runtime_support.programs.coerce`, which applies the same rules when the plan runs.
"""

import inspect
from enum import Enum
from typing import Any

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.python import Expression
from saftc.plans.annotating import Annotations
from saftc.plans.naming import Names
from saftc.runtime import runtime


class Coercions:
    """Writes coercions."""

    def __init__(self, names: Names, annotations: Annotations) -> None:
        self.names = names
        self.annotations = annotations
        self.registry: Any = names.tools.registry
        self.tree: Any = runtime("programs._tree")
        self.types: Any = runtime("programs._types")
        self.model: Any = runtime("_schema.model")

    def constant(self, node: Any) -> Any:
        """The value of a constant that is coerced when compiling, or raises LookupError.

        The checker has tried the same: it gives one value.
        """
        if not isinstance(node.operand, self.tree.ConstantNode):
            raise LookupError
        value, wanted = node.operand.value, node.type
        values = runtime("programs._types")
        match node.coercion:
            case self.tree.Widens():
                made = values.conform(value, wanted)
                if isinstance(made, Enum):  # has no literal: it is made when the plan runs
                    raise LookupError
                return made
            case self.tree.Hops():
                return runtime("programs._coercion").readings(value, wanted)[0][1]
            case _:
                raise LookupError

    def written(self, value: Expression, node: Any, around: set[str]) -> Expression:
        """The operand of `node`, whose expression is `value`, as its type.

        `around` are the variables that can be seen there.
        """
        source = self.types.widened(node.operand.type)
        native = self._native(value, source, node.type, node.coercion, around)
        return self._by_value(value, node.type) if native is None else native

    def _native(
        self, value: Expression, source: Any, target: Any, coercion: Any, around: set[str]
    ) -> Expression | None:
        """Ordinary Python that does the same for every value, if there is such."""
        match coercion:
            case self.tree.Fits():
                return value
            case self.tree.Converts():
                for conversion in coercion.path:
                    value = self.call(conversion, value)
                return value
            case self.tree.Each():
                return self._each(value, source, target, coercion.item, around)
            case self.tree.Widens():
                return self._widened(value, source, target, around)
            case self.tree.Hops():
                return self._hopped(value, source, target)
            case _:
                return None

    def call(self, definition: Any, argument: Expression) -> Expression:
        """A function with its one argument."""
        made = py.call(self.names.tool(definition.function), [argument])
        return py.awaited(made) if is_async(definition.function) else made

    def _each(
        self, value: Expression, source: Any, target: Any, item: Any, around: set[str]
    ) -> Expression | None:
        items = [m for m in self.types.members_of(target) if self.types.item_of(m) is not None]
        if len(items) != 1 or not isinstance(items[0], self.model.ListSchema):
            return None
        name = self.names.element("item", around)
        inside = {*around, name}
        inner = self.types.item_of(source)
        made = self._native(py.name(name), inner, items[0].item, item, inside)
        return None if made is None else comprehension(made, name, value)

    def _widened(
        self, value: Expression, source: Any, target: Any, around: set[str]
    ) -> Expression | None:
        types = self.types
        if target == types.FLOAT and source in types.NUMBERS:
            return py.call(self.names.built_in("float"), [value])
        item, wanted = types.item_of(source), types.item_of(target)
        if isinstance(target, self.model.TupleSchema) and wanted is None:
            return self._as_tuple(value)
        if item is None or wanted is None:
            return None
        if isinstance(target, self.model.TupleSchema):
            return self._as_tuple(value) if types.fits(item, wanted) else None
        return self._each(value, source, target, self.tree.Widens(), around)

    def _as_tuple(self, value: Expression) -> Expression:
        """A list as a tuple; one that is written out, as a tuple written out."""
        if isinstance(value, cst.List):
            return py.tuple_([element.value for element in value.elements])
        if isinstance(value, cst.ListComp) and not has_await(value):
            value = py.generator(value)
        return py.call(self.names.built_in("tuple"), [value])

    def _hopped(self, value: Expression, source: Any, target: Any) -> Expression | None:
        types = self.types
        if source in types.NUMBERS and target == types.STRING:
            return py.call(self.names.built_in("str"), [value])
        if source == types.BOOLEAN and target in types.NUMBERS:
            number = "float" if target == types.FLOAT else "int"
            return py.call(self.names.built_in(number), [value])
        if source == self.model.ListSchema(types.STRING) and target == types.STRING:
            return py.call(py.attribute(py.constant(","), "join"), [value])
        return None

    def _by_value(self, value: Expression, target: Any) -> Expression:
        arguments = [value, self.annotations.of(target)]
        conversions = [self.names.tool(one.function) for one in self._leading_to(target)]
        if conversions:
            arguments.append(py.list_(conversions))
        return py.call(self.names.coerce(), arguments)

    def _leading_to(self, target: Any) -> list[Any]:
        """The conversions by which a value, or a part of it, may become a part of the target."""
        wanted = list(self._parts(target, []))
        found: list[Any] = []
        for _ in range(runtime("programs._coercion").MOST_CONVERSIONS):
            further = [
                one
                for one in self.registry.conversions
                if one not in found and any(self.types.fits(one.result, part) for part in wanted)
            ]
            found += further
            wanted += [one.parameters[0].schema for one in further]
        return [one for one in self.registry.conversions if one in found]

    def _parts(self, type_: Any, seen: list[Any]) -> list[Any]:
        """The type, and the types of its items and fields."""
        if type_ in seen or isinstance(type_, self.model.AnySchema):
            return seen
        seen.append(type_)
        constructor = self.registry.constructor_of(type_)
        fields = constructor.parameters if constructor else getattr(type_, "fields", ())
        inside = [field.schema for field in fields]
        inside += getattr(type_, "members", getattr(type_, "items", ()))
        for name in ("item", "value", "rest"):
            part = getattr(type_, name, None)
            inside += [] if part is None or isinstance(part, str | int | float) else [part]
        for part in inside:
            self._parts(part, seen)
        return seen


def is_async(function: Any) -> bool:
    """Whether a call of the function has to be awaited."""
    plain = inspect.unwrap(function)
    return inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(type(plain).__call__)


def has_await(made: cst.CSTNode) -> bool:
    """Whether an expression can stand in an async function alone."""
    return isinstance(made, cst.Await) or any(map(has_await, made.children))


def comprehension(
    item: Expression, variable: str, over: Expression, test: Expression | None = None
) -> cst.ListComp:
    """`[item for variable in over if test]`."""
    tests = [] if test is None else [test]
    return py.comprehension(item, [(py.name(variable), over, tests)])
