"""Translates a checked program (a plan) to Python statements.

    {"$let": {"bind": {"here": {"locate": "Oslo"}},
              "in": {"$map": {"over": {"places": {}}, "as": "p",
                              "do": {"gap": {"a": {"$ref": "here"}, "b": {"$ref": "p"}}}}}}}

    def main() -> list[float]:
        here = locate("Oslo")
        return [gap(a=here, b=p) for p in places()]

Calls nest as in the program. If a part of an expression needs statements (a nested `$let`), the
statements are written above the statement with the expression. Then earlier parts with effects are
bound to variables, too, so that the order of evaluation stays that of the program. A variable that
is never read is omitted, and its value is evaluated only for its effects.

The checker's conversions of arguments become ordinary calls:

    a Book where a string is expected     name_of(author_of(book))
    [Book] where [Author] is expected     [author_of(item) for item in books]
    true where a number is expected       int(flag)
    any where a number is expected        coerce(value, int | float)

A conversion is a call of a Python builtin if the builtin does exactly what the checker's rule says.
If the conversion depends on the value, `runtime_support.programs.coerce` applies the rules at run
time.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias, assert_never

import libcst as cst

from runtime_support._schema import model
from runtime_support._schema.signatures import Parameter
from runtime_support.programs import Registry
from runtime_support.programs import _conversions as conversions
from runtime_support.programs import _tree as tree
from runtime_support.programs import _types as types
from runtime_support.programs._registry import Definition
from saftc.codegen import python as py
from saftc.codegen.python import Expression, Statement
from saftc.plans.tools import NotWritable, Tools
from saftc.plans.writing import PlanModule
from saftc.syntax.depth import fitting_interpreter

Block: TypeAlias = list[Statement]
# The key of a variable of a `$let`: the `id` of the node that binds it, and its name.
Key: TypeAlias = tuple[int, str]
_Part: TypeAlias = tuple[str, tree.Checked, Expression]

_MOST_LOOPS = 20


def write_plan(name: str, root: tree.Checked, tools: Tools) -> str:
    """The text of the Python module for a checked program. `name` is the plan's file name."""
    taken, read = set[str](), None
    while True:
        builder = _Builder(PlanModule(tools, taken), read)
        with fitting_interpreter():
            body = builder.body(root)
            text = builder.module.text(name, body, root.type)
        if builder.module.used <= taken and builder.read == read:
            return text
        # Build again until this pass used no new names and read no other variables than the last:
        # only a finished pass knows the names to avoid and the variables that are read.
        taken, read = taken | builder.module.used, builder.read


@dataclass(frozen=True, slots=True)
class _Variable:
    """A variable of a plan: its name in Python, and its `Key` if a `$let` binds it."""

    text: str
    key: Key | None = None


Scope: TypeAlias = Mapping[str, _Variable]


@dataclass(frozen=True, slots=True)
class _Use:
    """How the value of a node is used: `statement` builds a statement from its expression.

    `name` is the variable that the statement assigns, if any. `hint` is the preferred name of a
    variable for the value. If `is_dropped` is true, the value is evaluated only for its effects.
    """

    statement: Callable[[Expression], Statement]
    hint: str
    name: str | None = None
    is_dropped: bool = False


_RETURNED = _Use(lambda value: py.line(py.returned(value)), "result")
_DROPPED = _Use(lambda value: py.line(cst.Expr(value)), "_unused", is_dropped=True)


class _Builder:
    """Builds the statements of a program in one pass.

    `known` has the variables that the previous pass has read, and `read` has those that this pass
    reads. Both map each variable to the types of the parameters that get it without a conversion.
    """

    def __init__(self, module: PlanModule, known: Mapping[Key, list[types.Type]] | None) -> None:
        self.module = module
        self.known = known
        self.read: dict[Key, list[types.Type]] = {}
        self.loops = 0

    # Statements

    def body(self, root: tree.Checked) -> Block:
        """The body of `main`."""
        gives_nothing = root.type == types.NULL
        body = self.block(root, {}, _DROPPED if gives_nothing else _RETURNED)
        return body or [py.line(py.returned(py.constant(None)))]

    def block(self, node: tree.Checked, scope: Scope, use: _Use) -> Block:
        """The statements that use the value of a node."""
        block: Block = []
        self.add(node, block, scope, use)
        return block

    def add(self, node: tree.Checked, block: Block, scope: Scope, use: _Use) -> None:
        """Adds the statements that use the value of a node to a block."""
        match node:
            case _ if use.is_dropped and not node.calls:
                pass
            case tree.LetNode():
                self.add(node.body, block, self.bind(node, block, scope), use)
            case tree.IfNode() | tree.MapNode() if use.is_dropped and not any(
                one.called for one in _inside(node)
            ):
                self.add(tree.children(node)[0], block, scope, use)
            case tree.IfNode() if use.is_dropped or self.needs_statements(node):
                test = self.expression(node.test, block, scope, "test")
                then = self.block(node.then, scope, use)
                block.append(_choice(test, then, self.block(node.otherwise, scope, use)))
            case tree.MapNode() if use.is_dropped:
                over = self.expression(node.over, block, scope, "items")
                block.append(self.loop(node, scope, use, over))
            case tree.MapNode() if use.name is not None and self.needs_statements(node):
                over = self.expression(node.over, block, scope, "items")
                block.append(self.module.assigned(use.name, py.list_([]), node.type))
                append = py.attribute(py.name(use.name), "append")
                appended = _Use(lambda value: py.line(cst.Expr(py.call(append, [value]))), "item")
                block.append(self.loop(node, scope, appended, over))
            case _:
                block.append(use.statement(self.expression(node, block, scope, use.hint)))

    def loop(self, node: tree.MapNode, scope: Scope, use: _Use, over: Expression) -> cst.For:
        """The `for` loop for a `$map` over the list `over`. Each result is used as `use` says."""
        variable = self.module.variable(node.variable)
        inside = {**scope, node.variable: _Variable(variable)}
        self.loops += 1
        if self.loops > _MOST_LOOPS:
            raise NotWritable(
                f"more than {_MOST_LOOPS} loops in each other are too many for Python"
            )
        body: Block = []
        if node.where is None:
            self.add(node.body, body, inside, use)
        elif use.is_dropped and not node.body.calls:
            self.add(node.where, body, inside, use)
        else:
            test = self.expression(node.where, body, inside, "test")
            body.append(_choice(test, self.block(node.body, inside, use), []))
        self.loops -= 1
        return py.loop(py.name(variable), over, py.block(body))

    def bind(self, node: tree.LetNode, block: Block, scope: Scope) -> Scope:
        """Adds the bindings of a `$let` to a block as assignments.

        Returns the scope of the body of the `$let`.
        """
        inside = dict(scope)
        for name, bound in node.bindings:
            key = (id(node), name)
            if self.known is not None and key not in self.known:
                self.add(bound, block, inside, _DROPPED)
                continue
            variable = self.module.variable(name)
            self.add(bound, block, inside, self.bound(variable, self.asked_of(key)))
            inside[name] = _Variable(variable, key)
        return inside

    def asked_of(self, key: Key) -> types.Type | None:
        """The common type of all parameters that get a variable, or None if their types differ."""
        first, *others = (self.known or {}).get(key) or [types.ANY]
        return None if first == types.ANY or any(other != first for other in others) else first

    def bound(self, name: str, wanted: types.Type | None = None) -> _Use:
        """The use of a value that is assigned to `name`.

        The assignment of a list or object literal is annotated with the wanted type.
        """

        def statement(value: Expression) -> Statement:
            if not isinstance(value, cst.List | cst.Dict):
                return self.module.assigned(name, value)
            empty = model.ListSchema if isinstance(value, cst.List) else model.MapSchema
            said = wanted or (None if value.elements else empty(types.ANY))
            return self.module.assigned(name, value, said)

        return _Use(statement, name, name)

    # Expressions

    def expression(self, node: tree.Checked, block: Block, scope: Scope, hint: str) -> Expression:
        """The expression for a node. Statements that must precede it are added to `block`.

        `hint` is the preferred name of a variable for the node's value.
        """
        try:
            return self._expression(node, block, scope, hint)
        except NotWritable as problem:
            problem.path = node.path if problem.path is None else problem.path
            raise

    def _expression(
        self, node: tree.Checked, block: Block, scope: Scope, hint: str
    ) -> Expression:
        match node:
            case tree.ConstantNode():
                return py.constant(node.value)
            case tree.RefNode():
                return py.name(self.variable_read(node, scope))
            case tree.ListNode():
                hinted = [("item", item) for item in node.items]
                return py.list_(self.parts(hinted, block, scope))
            case tree.RecordNode():
                values = self.parts(node.fields, block, scope)
                names = [name for name, _ in node.fields]
                return py.dict_(list(zip(names, values, strict=True)))
            case tree.CallNode():
                return self.call(node, block, scope)
            case tree.LetNode():
                return self.expression(node.body, block, self.bind(node, block, scope), hint)
            case tree.IfNode() | tree.MapNode() if self.needs_statements(node):
                variable = self.module.variable(hint)
                self.add(node, block, scope, self.bound(variable))
                return py.name(variable)
            case tree.IfNode():
                test = self.expression(node.test, block, scope, "test")
                then = self.expression(node.then, block, scope, hint)
                return py.conditional(
                    then, test, self.expression(node.otherwise, block, scope, hint)
                )
            case tree.MapNode():
                return self.comprehension(node, block, scope)
            case tree.CoerceNode():
                return self.coerced(node, block, scope, hint)
            case _:
                assert_never(node)

    def variable_read(self, node: tree.RefNode, scope: Scope, *wanted: types.Type) -> str:
        """The Python name of a variable. Records that the variable is read.

        `wanted` are the types of the parameters that get the variable.
        """
        variable = scope[node.name]
        if variable.key is not None:
            self.read.setdefault(variable.key, []).extend(wanted)
        return variable.text

    def parts(
        self, parts: Iterable[tuple[str, tree.Checked]], block: Block, scope: Scope
    ) -> list[Expression]:
        """The expressions for several parts, which Python evaluates in the program's order."""
        done: list[_Part] = []
        for hint, node in parts:
            above: Block = []
            value = self.expression(node, above, scope, hint)
            if above:
                done[:] = [self.stored(*one, block) for one in done]
            block += above
            done.append((hint, node, value))
        return [value for _, _, value in done]

    def stored(self, hint: str, node: tree.Checked, value: Expression, block: Block) -> _Part:
        """Binds a part with effects to a variable, so that its effects precede later statements."""
        if node.pure or isinstance(value, cst.Name):
            return hint, node, value
        variable = self.module.variable(hint)
        block.append(self.module.assigned(variable, value))
        return hint, node, py.name(variable)

    def comprehension(self, node: tree.MapNode, block: Block, scope: Scope) -> Expression:
        over = self.expression(node.over, block, scope, "items")
        visible = {one.text for name, one in scope.items() if name != node.variable}
        variable = self.module.element(node.variable, visible)
        inside = {**scope, node.variable: _Variable(variable)}
        item = self.expression(node.body, block, inside, "item")
        tests = () if node.where is None else (self.expression(node.where, block, inside, "test"),)
        return py.comprehension(item, [(py.name(variable), over, tests)])

    def needs_statements(self, node: tree.IfNode | tree.MapNode) -> bool:
        """Whether a branch or a loop body contains a `$let`, which needs statements."""
        return any(isinstance(one, tree.LetNode) for one in _inside(node))

    # Calls

    def call(self, node: tree.CallNode, block: Block, scope: Scope) -> Expression:
        definition = node.definition
        for name, part in node.arguments:
            parameter = definition.parameter(name)
            if isinstance(part, tree.RefNode) and parameter is not None:
                self.variable_read(part, scope, parameter.schema)
        values = self.parts(node.arguments, block, scope)
        given = {name: value for (name, _), value in zip(node.arguments, values, strict=True)}
        if not _keeps_order(definition, list(given)):
            for name, part in node.arguments:
                given[name] = self.stored(name, part, given[name], block)[2]
        python = {one.name: one.python_name for one in definition.parameters}
        if node.form == "bare" and _takes_positions(definition, *(python[name] for name in given)):
            return self.module.called(definition.function, list(given.values()))
        positional, rest = self.positional(definition, given)
        named = {python[name]: value for name, value in given.items()}
        return self.module.called(definition.function, positional, named, rest)

    def positional(
        self, definition: Definition, named: dict[str, Expression]
    ) -> tuple[list[Expression], Expression | None]:
        """Removes the arguments that are passed by position from `named` and returns them.

        The second result is the list for a `*rest` parameter, or None.
        """
        by_position = [one for one in definition.parameters if one.by_position or one.takes_rest]
        while by_position and by_position[-1].name not in named:
            by_position.pop()
        positional: list[Expression] = []
        for one in by_position:
            if one.takes_rest:
                rest = named.pop(one.name)
                if not isinstance(rest, cst.List):
                    return positional, rest
                positional += [one.value for one in rest.elements]
            elif one.name in named:
                positional.append(named.pop(one.name))
            else:
                positional.append(_default(definition, one))
        return positional, None

    # The checker's conversions

    def coerced(self, node: tree.CoerceNode, block: Block, scope: Scope, hint: str) -> Expression:
        target, around = node.type, {one.text for one in scope.values()}
        value = self.expression(node.operand, block, scope, hint)
        operand = node.operand
        if isinstance(target, model.TupleSchema) and (
            isinstance(operand, tree.ListNode)
            or (isinstance(operand, tree.MapNode) and target.rest is not None)
        ):
            return self.as_tuple(value)  # the items need no conversion
        is_constant = isinstance(operand, tree.ConstantNode)
        source = operand.type if is_constant else types.widen(operand.type)
        made = self.native(value, source, target, around)
        return made or self.by_value(value, target)

    def native(
        self, value: Expression, source: types.Type, target: types.Type, around: set[str]
    ) -> Expression | None:
        """The expression that converts a value from `source` to `target` in plain Python.

        The result is None if no such expression is right for all values. `around` are the names of
        the visible variables.
        """
        item, wanted = types.item_of(source), types.item_of(target)
        match conversions.step(source, target, self.module.tools.registry):
            case conversions.Fits(is_same=True):
                return value
            # A constant has only one value, and the checker has tried to convert it.
            case conversions.Fits() if isinstance(source, model.LiteralSchema):
                return self.module.constant(types.conform(source.value, target))
            case conversions.Read(values=((_, known),)):
                return self.module.constant(known)
            case conversions.Route(chains=(steps,), levels=0):
                for one in steps:
                    value = self.module.called(one.function, [value])
                return value
            case conversions.Fits() if target == types.FLOAT and source in types.NUMBERS:
                return self.module.converted("float", value)
            case conversions.Fits() if isinstance(target, model.TupleSchema):
                is_same = item is not None and wanted is not None and types.fits(item, wanted)
                return self.as_tuple(value) if wanted is None or is_same else None
            case conversions.Read() if source in types.NUMBERS and target == types.STRING:
                return self.module.converted("str", value)
            case conversions.Read() if source == types.BOOLEAN and target in types.NUMBERS:
                return self.module.converted("float" if target == types.FLOAT else "int", value)
            case conversions.Read() if target == types.STRING and item == types.STRING:
                return py.call(py.attribute(py.constant(","), "join"), [value])
            case _:
                return self.each(value, item, target, around)

    def each(
        self, value: Expression, item: types.Type | None, target: types.Type, around: set[str]
    ) -> Expression | None:
        lists = [one for one in types.members_of(target) if types.item_of(one) is not None]
        if item is None or len(lists) != 1 or not isinstance(lists[0], model.ListSchema):
            return None
        name = self.module.element("item", around)
        made = self.native(py.name(name), item, lists[0].item, {*around, name})
        return made and py.comprehension(made, [(py.name(name), value, ())])

    def as_tuple(self, value: Expression) -> Expression:
        """Converts a list to a tuple; a list literal becomes a tuple literal."""
        if isinstance(value, cst.List):
            return py.tuple_([one.value for one in value.elements])
        return self.module.converted("tuple", value)

    def by_value(self, value: Expression, target: types.Type) -> Expression:
        """The call of the runtime's `coerce`, for a conversion that depends on the value."""
        leading = _leading_to(target, self.module.tools.registry)
        return self.module.coerced(value, target, [one.function for one in leading])


def _choice(test: Expression, then: Block, other: Block) -> cst.If:
    """An `if` statement, with `else` if `other` is not empty."""
    if not then:
        test, then, other = py.negated(test), other, []
    match other:
        case []:
            otherwise = None
        case [cst.If() as further]:
            otherwise = further
        case _:
            otherwise = cst.Else(py.block(other))
    return cst.If(test, py.block(then), otherwise)


def _inside(node: tree.IfNode | tree.MapNode) -> Iterator[tree.Checked]:
    """All nodes in the branches of an `$if`, or in the test and the body of a `$map`."""
    return chain.from_iterable(map(tree.walk, tree.children(node)[1:]))


def _default(definition: Definition, parameter: Parameter) -> Expression:
    default = parameter.default_value()
    if default is None or isinstance(default, bool | int | float | str):
        return py.constant(default)
    raise NotWritable(
        f"{definition.name} takes '{parameter.name}' by position, before what the plan gives; its "
        "default cannot be written, so the plan has to give it"
    )


def _keeps_order(definition: Definition, given: list[str]) -> bool:
    """Whether Python evaluates the arguments in the program's order."""
    first = [
        one.name
        for one in definition.parameters
        if one.name in given and (one.by_position or one.takes_rest)
    ]
    return given[: len(first)] == first


def _takes_positions(definition: Definition, name: str) -> bool:
    parameter = inspect.signature(definition.function).parameters[name]
    return parameter.kind not in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)


def _leading_to(target: types.Type, registry: Registry) -> list[Definition]:
    """The conversions that `coerce` may need: those that lead to the target or a part of it."""
    parts = [one for one in model.all_parts(target) if not isinstance(one, model.AnySchema)]
    return [
        one
        for one in registry.conversions
        if any(
            types.fits(one.result, part)
            or conversions.shortest_chains(one.result, part, registry)
            for part in parts
        )
    ]
