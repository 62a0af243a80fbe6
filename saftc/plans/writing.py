"""A checked program as the text of a Python module.

    {"$let": {"bind": {"here": {"locate": "Oslo"}},
              "in": {"$map": {"over": {"places": {}}, "as": "p",
                              "do": {"gap": {"a": {"$ref": "here"}, "b": {"$ref": "p"}}}}}}}

    def main() -> list[float]:
        here = locate("Oslo")
        return [gap(a=here, b=p) for p in places()]

Calls nest as they do in the program. What needs statements (a `$let` inside of something) is
written above the statement that it is in; then what comes before it there, and may have
effects, is bound to a name first, so that everything still happens in the order of the program.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, assert_never

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.imports import Imports
from saftc.codegen.layout import code_of, lay_out
from saftc.codegen.python import Expression
from saftc.plans.arguments import (
    called,
    coerced,
    coerced_constant,
    comprehension,
    constant,
    has_await,
    is_async,
    keeps_order,
)
from saftc.plans.naming import OWN, NotWritable, PlanNames, annotation
from saftc.plans.tools import Tools
from saftc.plans.uses import Uses, calls_inside
from saftc.runtime import program_tree as tree
from saftc.runtime import program_types as types
from saftc.runtime import schema_model as model

Block: TypeAlias = list[py.Statement]
Scope: TypeAlias = Mapping[str, str]
_Part: TypeAlias = tuple[str, tree.Checked, Expression]

# What Python prints as Saft's `print` does.
_PRINTED_ALIKE = {"int", "number", "float", "string"}
_LONGEST_TYPE = 60
_MOST_LOOPS = 20


def write_plan(name: str, root: tree.Checked, tools: Tools) -> str:
    """The module of the program with this checked root, from a file called `name`."""
    taken, uses = OWN, Uses(root)
    siblings = {Path(script.source.name).stem for script in tools.siblings}
    while True:
        names = PlanNames(tools, taken, Imports(siblings))
        text = _Writer(names, uses).module(name, root)
        if names.called <= taken:
            return text
        # Which functions a variable must not hide is known only now.
        taken |= names.called


@dataclass(frozen=True, slots=True)
class _Use:
    """What becomes of a value: its statement. `hint` is what a variable for it would be called.

    It may be bound to a variable of this `name`; where it `is_dropped`, only its effects count.
    """

    statement: Callable[[Expression], cst.BaseSmallStatement]
    hint: str
    name: str | None = None
    is_dropped: bool = False


_RETURNED = _Use(py.returned, "result")
_DROPPED = _Use(cst.Expr, "_unused", is_dropped=True)


class _Writer:
    def __init__(self, names: PlanNames, uses: Uses) -> None:
        self.names = names
        self.uses = uses
        self.awaits = False
        self.loops = 0

    def module(self, name: str, root: tree.Checked) -> str:
        gives_nothing = root.type == types.NULL
        body = self.block(root, {}, _DROPPED if gives_nothing else _RETURNED)
        returns = self.returns(types.widen(root.type))
        parameters = py.parameters([])
        block = py.block(body or [py.line(py.returned(py.constant(None)))])
        function = py.function("main", parameters, returns, block, is_async=self.awaits)
        called: Expression = py.call(py.name("main"))
        if self.awaits:
            called = py.call(py.attribute(self.names.own("asyncio"), "run"), [called])
        if not gives_nothing:
            called = py.call(self.names.own("print"), [self._shown(called, root.type)])
        is_main = py.comparison(py.name("__name__"), "==", py.constant("__main__"))
        run = cst.If(is_main, py.block([py.line(cst.Expr(called))]))
        imports = self.names.imports.statements()
        if not imports:
            function = function.with_changes(leading_lines=[py.BLANK])
        return lay_out(cst.Module([*imports, function, run], header=[py.header(name)]))

    def returns(self, type_: types.Type) -> Expression:
        """The annotation of the function; of a type that is long to write, the outermost part."""
        whole = annotation(replace(self.names, imports=Imports()), type_)
        if len(code_of(whole)) <= _LONGEST_TYPE:
            return annotation(self.names, type_)
        if isinstance(type_, model.ListSchema):
            return annotation(self.names, model.ListSchema(types.ANY))
        is_object = (
            isinstance(type_, model.ObjectSchema | model.MapSchema)
            and model.class_of(type_) is None
        )
        return annotation(self.names, model.MapSchema(types.ANY) if is_object else types.ANY)

    def _shown(self, value: Expression, type_: types.Type) -> Expression:
        members = map(types.widen, types.members_of(type_))
        kinds = {getattr(member, "kind", None) for member in members}
        return value if kinds <= _PRINTED_ALIKE else py.call(self.names.own("show"), [value])

    # Statements

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
            case tree.IfNode() | tree.MapNode() if use.is_dropped and not calls_inside(node):
                self.add(tree.children(node)[0], block, scope, use)
            case tree.IfNode() if use.is_dropped or self.uses.needs_statements(node):
                test = self.expression(node.test, block, scope, "test")
                then = self.block(node.then, scope, use)
                block.append(_if(test, then, self.block(node.otherwise, scope, use)))
            case tree.MapNode() if use.is_dropped:
                self.loop(node, block, scope, use)
            case tree.MapNode() if use.name is not None and self.uses.needs_statements(node):
                name = py.name(use.name)
                over = self.expression(node.over, block, scope, "items")
                block.append(py.line(py.assignment(name, py.list_([]))))
                self.loop(node, block, scope, _appended(name), over)
            case _:
                value = self.expression(node, block, scope, use.hint)
                block.append(py.line(use.statement(value)))

    def loop(
        self,
        node: tree.MapNode,
        block: Block,
        scope: Scope,
        use: _Use,
        over: Expression | None = None,
    ) -> None:
        """A loop that uses the elements of a list; `over` is what it goes over."""
        over = over or self.expression(node.over, block, scope, "items")
        variable = self.names.variable(node.variable)
        inside = {**scope, node.variable: variable}
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
            body.append(_if(test, self.block(node.body, inside, use), []))
        self.loops -= 1
        block.append(cst.For(py.name(variable), over, py.block(body)))

    def bind(self, node: tree.LetNode, block: Block, scope: Scope) -> Scope:
        """The bindings of a `$let` as assignments; gives the scope of its body."""
        inside = dict(scope)
        for name, bound in node.bindings:
            if not self.uses.is_used(node, name):
                self.add(bound, block, inside, _DROPPED)
                continue
            variable = self.names.variable(name)
            self.add(bound, block, inside, self.bound(variable, self.uses.asked_of(node, name)))
            inside[name] = variable
        return inside

    def bound(self, name: str, wanted: types.Type | None = None) -> _Use:
        """An assignment; a list or object written out says what it is to be used as."""

        def statement(value: Expression) -> cst.BaseSmallStatement:
            if wanted is None or not isinstance(value, cst.List | cst.Dict):
                return py.assignment(py.name(name), value)
            return py.annotated(py.name(name), annotation(self.names, wanted), value)

        return _Use(statement, name, name)

    # Expressions

    def expression(self, node: tree.Checked, block: Block, scope: Scope, hint: str) -> Expression:
        """The value of the node, once the statements that are added to the block have run.

        `hint` is what a variable for it would be called.
        """
        match node:
            case tree.ConstantNode():
                return constant(node.value)
            case tree.RefNode():
                return py.name(scope[node.name])
            case tree.ListNode():
                hinted = [("item", item) for item in node.items]
                return py.list_(self.parts(hinted, block, scope))
            case tree.RecordNode():
                values = self.parts(node.fields, block, scope)
                keys = [name for name, _ in node.fields]
                return py.dict_(list(zip(keys, values, strict=True)))
            case tree.CallNode():
                return self.call(node, block, scope)
            case tree.LetNode():
                return self.expression(node.body, block, self.bind(node, block, scope), hint)
            case tree.IfNode() | tree.MapNode() if self.uses.needs_statements(node):
                variable = self.names.variable(hint)
                self.add(node, block, scope, self.bound(variable))
                return py.name(variable)
            case tree.IfNode():
                test = self.expression(node.test, block, scope, "test")
                then = self.expression(node.then, block, scope, hint)
                otherwise = self.expression(node.otherwise, block, scope, hint)
                return py.conditional(then, test, otherwise)
            case tree.MapNode():
                return self.comprehension(node, block, scope)
            case tree.CoerceNode():
                return self.coerced(node, block, scope, hint)
            case _:
                assert_never(node)

    def parts(
        self, parts: Iterable[tuple[str, tree.Checked]], block: Block, scope: Scope
    ) -> list[Expression]:
        """The values of parts that are evaluated one after the other."""
        done: list[_Part] = []
        for hint, node in parts:
            above: Block = []
            value = self.expression(node, above, scope, hint)
            if above:
                done[:] = [self._kept(*one, block) for one in done]
            block += above
            done.append((hint, node, value))
        return [value for _, _, value in done]

    def _kept(self, hint: str, node: tree.Checked, value: Expression, block: Block) -> _Part:
        """A part whose effects come before those of statements that follow it."""
        if node.pure or isinstance(value, cst.Name):
            return hint, node, value
        variable = self.names.variable(hint)
        block.append(py.line(py.assignment(py.name(variable), value)))
        return hint, node, py.name(variable)

    def comprehension(self, node: tree.MapNode, block: Block, scope: Scope) -> Expression:
        over = self.expression(node.over, block, scope, "items")
        visible = {python for name, python in scope.items() if name != node.variable}
        variable = self.names.element(node.variable, visible)
        inside = {**scope, node.variable: variable}
        item = self.expression(node.body, block, inside, "item")
        test = None
        if node.where is not None:
            test = self.expression(node.where, block, inside, "test")
        return comprehension(item, variable, over, test)

    def coerced(self, node: tree.CoerceNode, block: Block, scope: Scope, hint: str) -> Expression:
        try:
            return constant(coerced_constant(node))
        except LookupError:
            value = self.expression(node.operand, block, scope, hint)
            made = coerced(self.names, value, node, set(scope.values()))
            self.awaits = self.awaits or has_await(made)
            return made

    # Calls

    def call(self, node: tree.CallNode, block: Block, scope: Scope) -> Expression:
        definition = node.definition
        values = self.parts(node.arguments, block, scope)
        given = {name: value for (name, _), value in zip(node.arguments, values, strict=True)}
        if not keeps_order(definition, list(given)):
            for name, part in node.arguments:
                given[name] = self._kept(name, part, given[name], block)[2]
        made = called(self.names.tool(definition.function), node, given)
        if is_async(definition.function):
            self.awaits = True
            return py.awaited(made)
        return made


def _appended(to: Expression) -> _Use:
    """`to.append(value)`."""
    append = py.attribute(to, "append")
    return _Use(lambda value: cst.Expr(py.call(append, [value])), "item")


def _if(test: Expression, then: Block, otherwise: Block) -> cst.If:
    """`if`, with `else` where there is something else to do; an `if` alone in that is `elif`."""
    if not then:
        return cst.If(py.negated(test), py.block(otherwise))
    body = py.block(then)
    match otherwise:
        case []:
            return cst.If(test, body)
        case [cst.If() as only]:
            return cst.If(test, body, only)
        case _:
            return cst.If(test, body, cst.Else(py.block(otherwise)))
