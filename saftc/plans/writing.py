"""A checked program as the text of a Python module.

    {"$let": {"bind": {"here": {"locate": "Oslo"}},
              "in": {"$map": {"over": {"places": {}}, "as": "p",
                              "do": {"gap": {"a": {"$ref": "here"}, "b": {"$ref": "p"}}}}}}}

    def main() -> list[float]:
        here = locate("Oslo")
        return [gap(a=here, b=p) for p in places()]

Calls nest as they do in the program. What needs statements (a `$let` inside of something) is
written above the statement that it stands in; then what comes before it there, and may have
effects, is bound to a name first, so that everything still happens in the order of the program.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias, assert_never

import libcst as cst

from runtime_support._schema import model
from runtime_support.programs import _tree as tree
from runtime_support.programs import _types as types
from saftc.codegen import python as py
from saftc.codegen.imports import Imports
from saftc.codegen.layout import code_of, lay_out
from saftc.codegen.python import Expression
from saftc.plans.annotating import annotation
from saftc.plans.calling import called, constant, keeps_order
from saftc.plans.coercing import coerced, coerced_constant, comprehension, has_await, is_async
from saftc.plans.naming import NotWritable, PlanNames, Taken
from saftc.plans.tools import Tools
from saftc.plans.uses import Uses

Block: TypeAlias = list[py.Statement]
Scope: TypeAlias = Mapping[str, str]
_Part: TypeAlias = tuple[str, tree.Checked, Expression]

# What Python prints as Saft's `print` does.
_PRINTED_ALIKE = {"int", "number", "float", "string"}
_LONGEST_TYPE = 60
_MOST_LOOPS = 20


def write_plan(name: str, root: tree.Checked, tools: Tools) -> str:
    """The module of the program with this checked root, from a file called `name`."""
    taken, uses = Taken(), Uses(root)
    siblings = {Path(script.source.name).stem for script in tools.siblings}
    while True:
        names = PlanNames(tools, taken, Imports(siblings))
        text = _Writer(names, uses).module(name, root)
        if names.all_taken() == taken:
            return text
        taken = names.all_taken()


class _Writer:
    def __init__(self, names: PlanNames, uses: Uses) -> None:
        self.names = names
        self.uses = uses
        self.awaits = False
        self.gives_nothing = False
        self.loops = 0

    def module(self, name: str, root: tree.Checked) -> str:
        self.gives_nothing = root.type == types.NULL
        body: Block = []
        self.tail(root, body, {})
        returns = self.returns(types.widened(root.type))
        parameters = py.parameters([])
        function = py.function("main", parameters, returns, py.block(body), is_async=self.awaits)
        called: Expression = py.call(py.name("main"))
        if self.awaits:
            called = py.call(py.attribute(self.names.module("asyncio"), "run"), [called])
        if not self.gives_nothing:
            called = py.call(self.names.built_in("print"), [self._shown(called, root.type)])
        is_main = py.comparison(py.name("__name__"), "==", py.constant("__main__"))
        run = cst.If(is_main, py.block([py.line(cst.Expr(called))]))
        imports = self.names.imports.statements()
        if not imports:
            function = function.with_changes(leading_lines=[py.BLANK])
        return lay_out(cst.Module([*imports, function, run], header=[py.header(name)]))

    def returns(self, type_: types.Type) -> Expression:
        """The annotation of the function; of a type that is long to write, the outermost part."""
        whole = annotation(PlanNames(self.names.tools, self.names.taken), type_)
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
        members = map(types.widened, types.members_of(type_))
        kinds = {getattr(member, "kind", None) for member in members}
        if kinds <= _PRINTED_ALIKE:
            return value
        return py.call(self.names.built_in("show"), [value])

    # Statements

    def tail(self, node: tree.Checked, block: Block, scope: Scope) -> None:
        """The end of the function: the value of the node is returned."""
        match node:
            case tree.LetNode():
                self.tail(node.body, block, self.bind(node, block, scope))
            case tree.IfNode() if self.gives_nothing or self._has_let_in_branches(node):
                test = self.expression(node.test, block, scope, "test")
                then: Block = []
                otherwise: Block = []
                self.tail(node.then, then, scope)
                self.tail(node.otherwise, otherwise, scope)
                block.append(_if(test, then, otherwise))
            case tree.CallNode() if self.gives_nothing:
                block.append(py.line(cst.Expr(self.call(node, block, scope))))
            case _:
                value = self.expression(node, block, scope, "result")
                block.append(py.line(py.returned(value)))

    def _has_let_in_branches(self, node: tree.IfNode) -> bool:
        return self.uses.has_let(node.then, node.otherwise)

    def assign(
        self,
        name: str,
        node: tree.Checked,
        block: Block,
        scope: Scope,
        wanted: types.Type | None = None,
    ) -> None:
        """Binds a variable to the value of the node."""
        match node:
            case tree.LetNode():
                self.assign(name, node.body, block, self.bind(node, block, scope), wanted)
            case tree.IfNode() if self._has_let_in_branches(node):
                self._choose(name, node, block, scope)
            case tree.MapNode() if self.uses.has_let(node.where, node.body):
                self._collect(name, node, block, scope)
            case _:
                value = self.expression(node, block, scope, name)
                block.append(self._bound(name, value, wanted))

    def _bound(self, name: str, value: Expression, wanted: types.Type | None) -> py.Statement:
        """An assignment; a list or object written out says what it is to be used as."""
        if wanted is None or not isinstance(value, cst.List | cst.Dict):
            return py.line(py.assignment(py.name(name), value))
        return py.line(py.annotated(py.name(name), annotation(self.names, wanted), value))

    def _choose(self, name: str, node: tree.IfNode, block: Block, scope: Scope) -> None:
        """`if test: name = ... else: name = ...`"""
        test = self.expression(node.test, block, scope, "test")
        then: Block = []
        otherwise: Block = []
        self.assign(name, node.then, then, scope)
        self.assign(name, node.otherwise, otherwise, scope)
        block.append(_if(test, then, otherwise))

    def _collect(self, name: str, node: tree.MapNode, block: Block, scope: Scope) -> None:
        """A loop that puts the elements together."""
        over = self.expression(node.over, block, scope, "items")
        block.append(py.line(py.assignment(py.name(name), py.list_([]))))
        variable = self.names.variable(node.variable)
        inside = {**scope, node.variable: variable}
        self.loops += 1
        if self.loops > _MOST_LOOPS:
            raise NotWritable(
                f"more than {_MOST_LOOPS} loops in each other are too many for Python"
            )
        body: Block = []
        if node.where is None:
            self._append(name, node.body, body, inside)
        else:
            test = self.expression(node.where, body, inside, "test")
            kept: Block = []
            self._append(name, node.body, kept, inside)
            body.append(cst.If(test, py.block(kept)))
        self.loops -= 1
        block.append(cst.For(py.name(variable), over, py.block(body)))

    def _append(self, name: str, node: tree.Checked, block: Block, scope: Scope) -> None:
        value = self.expression(node, block, scope, "item")
        append = py.call(py.attribute(py.name(name), "append"), [value])
        block.append(py.line(cst.Expr(append)))

    def bind(self, node: tree.LetNode, block: Block, scope: Scope) -> Scope:
        """The bindings of a `$let` as assignments; gives the scope of its body."""
        inside = dict(scope)
        for name, bound in node.bindings:
            if not self.uses.is_used(node, name):
                self._drop(bound, block, inside)
                continue
            variable = self.names.variable(name)
            self.assign(variable, bound, block, inside, self.uses.asked_of(node, name))
            inside[name] = variable
        return inside

    def _drop(self, node: tree.Checked, block: Block, scope: Scope) -> None:
        """A value that nothing refers to: it is there for its effects."""
        if isinstance(node, tree.LetNode):
            self._drop(node.body, block, self.bind(node, block, scope))
        elif node.calls:
            value = self.expression(node, block, scope, "_unused")
            if not isinstance(value, cst.Name):
                block.append(py.line(cst.Expr(value)))

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
            case tree.IfNode():
                return self.conditional(node, block, scope, hint)
            case tree.MapNode():
                return self.map(node, block, scope, hint)
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
        block.append(self._bound(variable, value, None))
        return hint, node, py.name(variable)

    def conditional(self, node: tree.IfNode, block: Block, scope: Scope, hint: str) -> Expression:
        if self._has_let_in_branches(node):
            variable = self.names.variable(hint)
            self._choose(variable, node, block, scope)
            return py.name(variable)
        test = self.expression(node.test, block, scope, "test")
        then = self.expression(node.then, block, scope, hint)
        return py.conditional(then, test, self.expression(node.otherwise, block, scope, hint))

    def map(self, node: tree.MapNode, block: Block, scope: Scope, hint: str) -> Expression:
        if self.uses.has_let(node.where, node.body):
            variable = self.names.variable(hint)
            self._collect(variable, node, block, scope)
            return py.name(variable)
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


def _if(test: Expression, then: Block, otherwise: Block) -> cst.If:
    """`if` with `else`; an `if` alone in that is `elif`."""
    match otherwise:
        case [cst.If() as only]:
            return cst.If(test, py.block(then), only)
        case _:
            return cst.If(test, py.block(then), cst.Else(py.block(otherwise)))
