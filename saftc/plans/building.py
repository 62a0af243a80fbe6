"""A checked program as the tree of a script, with the facts about it, from which its module is
written.

    {"$let": {"bind": {"here": {"locate": "Oslo"}},
              "in": {"$map": {"over": {"places": {}}, "as": "p",
                              "do": {"gap": {"a": {"$ref": "here"}, "b": {"$ref": "p"}}}}}}}

    f main():
        here = locate("Oslo")
        ret [gap(a: here, b: p) for p in places()]

The checker knows the types, so nothing is inferred: each construct has Python's own form, and what
the checker puts between an argument and its parameter is the coercion of its place.

    a Book where a string is asked for    name_of(author_of(book))
    [Book] for [Author]                   [author_of(item) for item in books]
    true for a number                     int(flag)
    any for a number                      coerce(value, int | float)

Python's own functions are where they do just what the rule says. Where the value decides, it is
left to `runtime_support.programs.coerce`, which applies the same rules when the plan runs.

Calls nest as they do in the program. What needs statements (a `$let` inside of something) is
written above the statement that it is in; then what comes before it there, and may have
effects, is bound to a name first, so that everything still happens in the order of the program.
A variable that nothing refers to is left out; what is bound to it happens for its effects.
"""

import inspect
import keyword
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, assert_never, cast

from runtime_support.programs import Registry
from saftc.codegen.module import generate
from saftc.diagnostics.model import Collector
from saftc.plans.tools import Tools
from saftc.plans.types import ANY_TUPLE, NOWHERE, NotWritable, Types, place_of
from saftc.runtime import MOST_CONVERSIONS, Definition, Function, Parameter, readings
from saftc.runtime import program_tree as tree
from saftc.runtime import program_types as types
from saftc.runtime import schema_model as model
from saftc.schedule.plan import plan
from saftc.schedule.settings import Overlapping
from saftc.semantics import types as t
from saftc.semantics.facts import Coercion, Facts, FunctionFacts
from saftc.semantics.forms import Attribute, DirectCall, Form, Forms, Test
from saftc.semantics.relations import Fit
from saftc.semantics.resolution import resolve
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.depth import fitting_interpreter
from saftc.syntax.walk import nodes_of

Block: TypeAlias = list[n.Statement]
# A variable of a `$let`, by the node that binds it and its name there.
Key: TypeAlias = tuple[int, str]
_Part: TypeAlias = tuple[str, tree.Checked, n.Expression]
_Node = TypeVar("_Node", bound=n.Expression)

_MOST_LOOPS = 20
_MAIN = "main"


def write_plan(name: str, root: tree.Checked, tools: Tools) -> str:
    """The module of the program with this checked root, from a file called `name`."""
    known = _Used()
    while True:
        builder = _Builder(tools, known)
        main = builder.main(root)
        # Which variables are read, and which functions they must not hide, is known only now.
        if builder.used == known:
            break
        known = builder.used
    module = n.Module(NOWHERE, (*builder.imports(), main))
    facts = builder.facts(module, main, root.type)
    overlapping = Overlapping(is_on=False, is_async=builder.awaits)
    with fitting_interpreter():
        planned = plan(facts, overlapping)
        planned.is_of_program = True
        return generate(Source.from_text(name, ""), module, facts, planned).text


@dataclass(frozen=True, slots=True)
class _Variable:
    """What a variable is called; one of a `$let` has its key."""

    text: str
    key: Key | None = None


Scope: TypeAlias = Mapping[str, _Variable]


@dataclass(slots=True)
class _Used:
    """What a tree uses: imported names, variables, and the types that these are given to as they
    are.
    """

    imported: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    variables: dict[Key, list[types.Type]] | None = None


@dataclass(frozen=True, slots=True)
class _Use:
    """What becomes of a value: its statement. `hint` is what a variable for it would be called.

    It may be bound to a variable of this `name`; where it `is_dropped`, only its effects count.
    """

    statement: Callable[[n.Expression], n.Statement]
    hint: str
    name: str | None = None
    is_dropped: bool = False


_RETURNED = _Use(lambda value: n.RetStmt(NOWHERE, value), "result")
_DROPPED = _Use(lambda value: n.ExpressionStmt(NOWHERE, value), "_unused", is_dropped=True)


class _Builder:
    """One tree; `known` is what the one before it used."""

    def __init__(self, tools: Tools, known: _Used) -> None:
        self.tools = tools
        self.known = known
        self.used = _Used(variables={})
        self.types = Types(tools)
        self.awaits = False
        self.loops = 0
        self.variables: set[str] = set()
        self.lets: dict[int, bool] = {}
        # What is known of the nodes.
        self.forms = Forms()
        self.type_of: dict[n.Node, t.Type] = {}
        self.schemas: dict[n.Node, t.Type] = {}
        self.coercions: dict[n.Node, Coercion] = {}

    # The module

    def main(self, root: tree.Checked) -> n.FunctionDef:
        """The function that does what the program does."""
        gives_nothing = root.type == types.NULL
        body = self.block(root, {}, _DROPPED if gives_nothing else _RETURNED)
        body = body or [n.RetStmt(NOWHERE, n.Literal(NOWHERE, None))]
        return n.FunctionDef(NOWHERE, _identifier(_MAIN), (), None, tuple(body), False)

    def imports(self) -> list[n.FromImport]:
        """The imports of what is called."""
        return [
            n.FromImport(
                NOWHERE,
                _identifier(module),
                (n.ImportedName(NOWHERE, _identifier(name), _identifier(alias)),),
            )
            for alias, (module, name) in self.used.imported.items()
        ]

    def facts(self, module: n.Module, main: n.FunctionDef, gives: types.Type) -> Facts:
        """The facts about the finished tree."""
        names = resolve(module, Collector()).names
        imported = names.scopes[module].symbols
        for coercion in self.coercions.values():
            for one in coercion.by or ():
                names.symbols[one] = imported[one.text]
                imported[one.text].is_read = True
        facts = Facts(module, names)
        facts.siblings = {Path(script.source.name).stem for script in self.tools.siblings}
        facts.forms, facts.types = self.forms, self.type_of
        facts.schemas, facts.coercions = self.schemas, self.coercions
        for node in nodes_of(module, n.AssignStmt):
            symbol, type_ = names.of(node.name), facts.type_of(node.value)
            facts.symbols[symbol] = t.union((facts.symbols.get(symbol, t.NEVER), type_))
        returned = self.types.of(types.widen(gives))
        facts.functions[main] = FunctionFacts(main, (), None, returned)
        for record in self.types.records.values():
            facts.record_facts[record.node] = record
            for alias, place in self.used.imported.items():
                if place == (record.module, record.node.name.text):
                    facts.records[alias] = record
        return facts

    # Names

    def tool(self, thing: object) -> n.Name:
        """A function or class that the plan uses."""
        module, name = place_of(self.tools, thing)
        alias = f"{name}_" if name == _MAIN else name
        while self.used.imported.get(alias, (module, name)) != (module, name):
            alias += "_"
        self.used.imported[alias] = (module, name)
        return n.Name(NOWHERE, alias)

    def variable(self, text: str) -> str:
        """A new variable of the function."""
        name = self.element(text, self.variables)
        self.variables.add(name)
        return name

    def element(self, text: str, visible: Iterable[str]) -> str:
        """The variable of a comprehension; those that are `visible` in it are not hidden."""
        name = re.sub(r"\W", "_", text)
        name = name if name.isidentifier() else f"_{name}"
        taken = {_MAIN, *self.known.imported, *visible}
        while name in taken or keyword.iskeyword(name):
            name += "_"
        return name

    def read(self, text: str, type_: t.Type) -> n.Name:
        """A variable that is read."""
        return self.typed(n.Name(NOWHERE, text), type_)

    def typed(self, made: _Node, type_: t.Type) -> _Node:
        """The node, whose type is noted."""
        self.type_of[made] = type_
        return made

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
            case tree.IfNode() | tree.MapNode() if use.is_dropped and not _calls_inside(node):
                self.add(tree.children(node)[0], block, scope, use)
            case tree.IfNode() if use.is_dropped or self.needs_statements(node):
                test = self.test(node.test, block, scope)
                then = self.block(node.then, scope, use)
                block.append(self.choice(test, then, self.block(node.otherwise, scope, use)))
            case tree.MapNode() if use.is_dropped:
                over = self.expression(node.over, block, scope, "items")
                self.loop(node, block, scope, use, over)
            case tree.MapNode() if use.name is not None and self.needs_statements(node):
                over = self.expression(node.over, block, scope, "items")
                type_ = self.types.of(node.type)
                empty = self.typed(n.ListLiteral(NOWHERE, (), False), type_)
                block.append(n.AssignStmt(NOWHERE, _identifier(use.name), None, empty))
                self.loop(node, block, scope, self.appended(use.name, type_), over)
            case _:
                block.append(use.statement(self.expression(node, block, scope, use.hint)))

    def choice(self, test: n.Expression, then: Block, other: Block) -> n.IfStmt:
        """`if`, with `else` where there is something else to do."""
        if not then:
            test, then, other = n.Unary(NOWHERE, "not", test), other, []
        return n.IfStmt(NOWHERE, (n.Branch(NOWHERE, test, tuple(then)),), tuple(other))

    def loop(
        self, node: tree.MapNode, block: Block, scope: Scope, use: _Use, over: n.Expression
    ) -> None:
        """A loop that uses the elements of the list `over`."""
        variable = self.variable(node.variable)
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
            test = self.test(node.where, body, inside)
            body.append(self.choice(test, self.block(node.body, inside, use), []))
        self.loops -= 1
        made = n.ForStmt(NOWHERE, _pattern(variable), None, over, tuple(body))
        self.forms.loops[made] = Form.NATIVE
        block.append(made)

    def appended(self, name: str, type_: t.Type) -> _Use:
        """`name += [value]`."""

        def statement(value: n.Expression) -> n.Statement:
            added = self.typed(n.ListLiteral(NOWHERE, (value,), False), type_)
            longer = self.typed(n.Binary(NOWHERE, "+", self.read(name, type_), added), type_)
            self.forms.operators[longer] = Form.NATIVE
            return n.AugmentedAssignStmt(NOWHERE, _identifier(name), longer)

        return _Use(statement, "item")

    def bind(self, node: tree.LetNode, block: Block, scope: Scope) -> Scope:
        """The bindings of a `$let` as assignments; gives the scope of its body."""
        inside = dict(scope)
        for name, bound in node.bindings:
            key = (id(node), name)
            if self.known.variables is not None and key not in self.known.variables:
                self.add(bound, block, inside, _DROPPED)
                continue
            variable = self.variable(name)
            self.add(bound, block, inside, self.bound(variable, self.asked_of(key)))
            inside[name] = _Variable(variable, key)
        return inside

    def asked_of(self, key: Key) -> types.Type | None:
        """The type of the parameters that a variable is given to, if it is one type."""
        found = (self.known.variables or {}).get(key) or [types.ANY]
        first, *others = found
        return None if first == types.ANY or any(other != first for other in others) else first

    def bound(self, name: str, wanted: types.Type | None = None) -> _Use:
        """An assignment; a list or object written out says what it is to be used as."""

        def statement(value: n.Expression) -> n.Statement:
            schema = None
            if wanted is not None and isinstance(value, n.ListLiteral | n.ObjectLiteral):
                type_ = self.types.of(wanted)
                schema = n.NamedSchema(NOWHERE, t.show(type_))
                self.schemas[schema] = type_
            return n.AssignStmt(NOWHERE, _identifier(name), schema, value)

        return _Use(statement, name, name)

    # Expressions

    def expression(self, node: tree.Checked, block: Block, scope: Scope, hint: str) -> n.Expression:
        """The value of the node, once the statements that are added to the block have run.

        `hint` is what a variable for it would be called.
        """
        made = self._expression(node, block, scope, hint)
        self.type_of.setdefault(made, self.types.of(types.widen(node.type)))
        return made

    def _expression(
        self, node: tree.Checked, block: Block, scope: Scope, hint: str
    ) -> n.Expression:
        match node:
            case tree.ConstantNode():
                return self.literal(node.value)
            case tree.RefNode():
                return self.reference(node, scope)
            case tree.ListNode():
                hinted = [("item", item) for item in node.items]
                return n.ListLiteral(NOWHERE, tuple(self.parts(hinted, block, scope)), False)
            case tree.RecordNode():
                values = self.parts(node.fields, block, scope)
                fields = zip(node.fields, values, strict=True)
                made = (n.Field(NOWHERE, _identifier(name), value) for (name, _), value in fields)
                return n.ObjectLiteral(NOWHERE, tuple(made), False)
            case tree.CallNode():
                return self.call(node, block, scope)
            case tree.LetNode():
                return self.expression(node.body, block, self.bind(node, block, scope), hint)
            case tree.IfNode() | tree.MapNode() if self.needs_statements(node):
                variable = self.variable(hint)
                self.add(node, block, scope, self.bound(variable))
                return n.Name(NOWHERE, variable)
            case tree.IfNode():
                test = self.test(node.test, block, scope)
                then = self.expression(node.then, block, scope, hint)
                return n.Conditional(
                    NOWHERE, test, then, self.expression(node.otherwise, block, scope, hint)
                )
            case tree.MapNode():
                return self.comprehension(node, block, scope)
            case tree.CoerceNode():
                return self.coerced(node, block, scope, hint)
            case _:
                assert_never(node)

    def test(self, node: tree.Checked, block: Block, scope: Scope) -> n.Expression:
        """A condition."""
        made = self.expression(node, block, scope, "test")
        self.forms.tests[made] = Test.BOOL
        return made

    def reference(self, node: tree.RefNode, scope: Scope) -> n.Name:
        """A variable that the program reads."""
        variable = scope[node.name]
        self.asked(variable)
        return n.Name(NOWHERE, variable.text)

    def asked(self, variable: _Variable, *wanted: types.Type) -> None:
        """Notes that a variable is read, and given to a parameter of this type."""
        assert self.used.variables is not None
        if variable.key is not None:
            self.used.variables.setdefault(variable.key, []).extend(wanted)

    def parts(
        self, parts: Iterable[tuple[str, tree.Checked]], block: Block, scope: Scope
    ) -> list[n.Expression]:
        """The values of parts that are evaluated one after the other."""
        done: list[_Part] = []
        for hint, node in parts:
            above: Block = []
            value = self.expression(node, above, scope, hint)
            if above:
                done[:] = [self.kept(*one, block) for one in done]
            block += above
            done.append((hint, node, value))
        return [value for _, _, value in done]

    def kept(self, hint: str, node: tree.Checked, value: n.Expression, block: Block) -> _Part:
        """A part whose effects come before those of statements that follow it."""
        if node.pure or (isinstance(value, n.Name) and value not in self.coercions):
            return hint, node, value
        variable = self.variable(hint)
        block.append(n.AssignStmt(NOWHERE, _identifier(variable), None, value))
        return hint, node, self.read(variable, self.type_of[value])

    def comprehension(self, node: tree.MapNode, block: Block, scope: Scope) -> n.Expression:
        over = self.expression(node.over, block, scope, "items")
        visible = {one.text for name, one in scope.items() if name != node.variable}
        variable = self.element(node.variable, visible)
        inside = {**scope, node.variable: _Variable(variable)}
        item = self.expression(node.body, block, inside, "item")
        tests = () if node.where is None else (self.test(node.where, block, inside),)
        return self.for_each(item, variable, over, tests)

    def for_each(
        self,
        item: n.Expression,
        variable: str,
        over: n.Expression,
        tests: tuple[n.Expression, ...] = (),
    ) -> n.Comprehension:
        """`[item for variable in over if test]`."""
        clause = n.ComprehensionClause(NOWHERE, _pattern(variable), over, tests)
        self.forms.loops[clause] = Form.NATIVE
        return n.Comprehension(NOWHERE, item, (clause,))

    def literal(self, value: int | float | str | bool | None) -> n.Literal:
        return self.typed(n.Literal(NOWHERE, value), t.base_of_value(value))

    def constant(self, value: object) -> n.Expression | None:
        """A value as it can be written out, if it can."""
        match value:
            case Enum():
                made = n.Member(NOWHERE, self.tool(type(value)), _identifier(value.name))
                self.forms.members[made] = Attribute(value.name)
                return self.typed(made, self.types.record(type(value)).type)
            case list() | tuple():
                found = [self.constant(one) for one in cast("Iterable[object]", value)]
                items = tuple(one for one in found if one is not None)
                if len(items) < len(found):
                    return None
                kind = n.ListLiteral if isinstance(value, list) else n.TupleLiteral
                return kind(NOWHERE, items, False)
            case bool() | int() | float() | str() | None:
                return self.literal(value)
            case _:
                return None

    def needs_statements(self, node: tree.IfNode | tree.MapNode) -> bool:
        """Whether a `$let` is in what is evaluated sometimes, or for each element."""
        return any(map(self._has_let, tree.children(node)[1:]))

    def _has_let(self, node: tree.Checked) -> bool:
        known = self.lets.get(id(node))
        if known is None:
            known = isinstance(node, tree.LetNode) or any(map(self._has_let, tree.children(node)))
            self.lets[id(node)] = known
        return known

    # Calls

    def call(self, node: tree.CallNode, block: Block, scope: Scope) -> n.Call:
        definition = node.definition
        for name, part in node.arguments:
            parameter = definition.parameter(name)
            if isinstance(part, tree.RefNode) and parameter is not None:
                self.asked(scope[part.name], parameter.schema)
        values = self.parts(node.arguments, block, scope)
        given = {name: value for (name, _), value in zip(node.arguments, values, strict=True)}
        if not _keeps_order(definition, list(given)):
            for name, part in node.arguments:
                given[name] = self.kept(name, part, given[name], block)[2]
        python = {one.name: one.python_name for one in definition.parameters}
        if node.form == "bare" and _takes_positions(definition, *(python[name] for name in given)):
            return self.called(definition.function, list(given.values()))
        by_position, has_rest = self.positional(definition, given)
        named = {python[name]: value for name, value in given.items()}
        return self.called(definition.function, by_position, named, has_rest=has_rest)

    def called(
        self,
        function: Function,
        positional: Iterable[n.Expression],
        named: Mapping[str, n.Expression] | None = None,
        *,
        has_rest: bool = False,
    ) -> n.Call:
        """The call of a function or class, awaited where it has to be."""
        arguments = [n.Argument(NOWHERE, None, one) for one in positional]
        arguments += [
            n.Argument(NOWHERE, _identifier(name), value) for name, value in (named or {}).items()
        ]
        made = n.Call(NOWHERE, self.tool(function), tuple(arguments), False)
        waits: Literal["yes", "no"] = "yes" if _is_async(function) else "no"
        self.awaits = self.awaits or waits == "yes"
        self.forms.calls[made] = DirectCall(None, waits, has_rest)
        return made

    def positional(
        self, definition: Definition, named: dict[str, n.Expression]
    ) -> tuple[list[n.Expression], bool]:
        """The arguments that Python takes by position alone, which are taken out of `named`.

        Whether the last of them is a list of several.
        """
        by_position = [one for one in definition.parameters if one.by_position or one.takes_rest]
        while by_position and by_position[-1].name not in named:
            by_position.pop()
        positional: list[n.Expression] = []
        for one in by_position:
            if one.takes_rest:
                rest = named.pop(one.name)
                if not isinstance(rest, n.ListLiteral):
                    return [*positional, rest], True
                positional += cast("tuple[n.Expression, ...]", rest.items)
            elif one.name in named:
                positional.append(named.pop(one.name))
            else:
                positional.append(self.default(definition, one))
        return positional, False

    def default(self, definition: Definition, parameter: Parameter) -> n.Expression:
        default = parameter.default_value()
        if default is None or isinstance(default, bool | int | float | str):
            return self.literal(default)
        raise NotWritable(
            f"{definition.name} takes '{parameter.name}' by position, before what the plan gives; "
            "its default cannot be written, so the plan has to give it"
        )

    # What the checker puts between a value and its place

    def coerced(self, node: tree.CoerceNode, block: Block, scope: Scope, hint: str) -> n.Expression:
        operand = node.operand
        visible = {one.text for one in scope.values()}
        value = self.expression(operand, block, scope, hint)
        if isinstance(operand, tree.ConstantNode):
            # The checker has tried the same: it gives one value.
            match node.coercion:
                case tree.Widens():
                    made = self.constant(types.conform(operand.value, node.type))
                    return made or self.by_value(value, node.type, visible)
                case tree.Hops():
                    made = self.constant(readings(operand.value, node.type)[0][1])
                    return made or self.by_value(value, node.type, visible)
                case _:
                    pass
        made = self.native(value, types.widen(operand.type), node.type, node.coercion, visible)
        return self.by_value(value, node.type, visible) if made is None else made

    def native(
        self,
        value: n.Expression,
        source: types.Type,
        target: types.Type,
        coercion: tree.Coercion,
        around: set[str],
    ) -> n.Expression | None:
        """Ordinary Python that does the same for every value, if there is such."""
        match coercion:
            case tree.Fits():
                return value
            case tree.Converts(path):
                for conversion in path:
                    value = self.called(conversion.function, [value])
                    self.typed(value, self.types.of(conversion.result))
                return value
            case tree.Each(item):
                return self.each(value, source, target, item, around)
            case tree.Widens():
                return self.widened(value, source, target, around)
            case tree.Hops():
                return self.hopped(value, source, target)
            case _:
                return None

    def each(
        self,
        value: n.Expression,
        source: types.Type,
        target: types.Type,
        coercion: tree.Coercion,
        around: set[str],
    ) -> n.Expression | None:
        lists = [one for one in types.members_of(target) if types.item_of(one) is not None]
        item = types.item_of(source)
        if item is None or len(lists) != 1 or not isinstance(lists[0], model.ListSchema):
            return None
        name = self.element("item", around)
        read = self.read(name, self.types.of(item))
        made = self.native(read, item, lists[0].item, coercion, {*around, name})
        if made is None:
            return None
        return self.typed(self.for_each(made, name, value), self.types.of(lists[0]))

    def widened(
        self, value: n.Expression, source: types.Type, target: types.Type, around: set[str]
    ) -> n.Expression | None:
        if target == types.FLOAT and source in types.NUMBERS:
            return self.converted(value, t.FLOAT)
        item, wanted = types.item_of(source), types.item_of(target)
        if isinstance(target, model.TupleSchema) and wanted is None:
            return self.as_tuple(value)
        if item is None or wanted is None:
            return None
        if isinstance(target, model.TupleSchema):
            return self.as_tuple(value) if types.fits(item, wanted) else None
        return self.each(value, source, target, tree.Widens(), around)

    def as_tuple(self, value: n.Expression) -> n.Expression:
        """A list as a tuple; one that is written out, as a tuple written out."""
        if isinstance(value, n.ListLiteral):
            items = cast("tuple[n.Expression, ...]", value.items)
            return self.typed(n.TupleLiteral(NOWHERE, items, False), ANY_TUPLE)
        return self.converted(value, ANY_TUPLE)

    def hopped(
        self, value: n.Expression, source: types.Type, target: types.Type
    ) -> n.Expression | None:
        if source in types.NUMBERS and target == types.STRING:
            return self.converted(value, t.STRING)
        if source == types.BOOLEAN and target in types.NUMBERS:
            return self.converted(value, t.FLOAT if target == types.FLOAT else t.INT)
        if source == model.ListSchema(types.STRING) and target == types.STRING:
            comma = n.Literal(NOWHERE, ",")
            join = n.Member(NOWHERE, comma, _identifier("join"))
            self.forms.members[join] = Attribute("join")
            made = n.Call(NOWHERE, join, (n.Argument(NOWHERE, None, value),), False)
            self.forms.calls[made] = DirectCall(None)
            return self.typed(made, t.STRING)
        return None

    def converted(self, value: n.Expression, wanted: t.Type) -> n.Expression:
        self.coercions[value] = Coercion(Fit.CONVERT, wanted)
        return value

    def by_value(self, value: n.Expression, target: types.Type, around: set[str]) -> n.Expression:
        """What the runtime makes of a value when it is there."""
        item = types.item_of(target)
        if isinstance(target, model.TupleSchema) and item is not None:
            # Saft has no type for it: the list is made first.
            made = self.by_value(value, model.ListSchema(item), around)
            name = self.element("item", around)
            type_ = self.types.of(item)
            whole = self.for_each(self.read(name, type_), name, made)
            return self.as_tuple(self.typed(whole, t.ListType(type_)))
        wanted = self.types.exactly(target)
        leading = _leading_to(target, self.tools.registry)
        by = tuple(self.tool(one.function) for one in leading)
        self.coercions[value] = Coercion(Fit.CHECK, wanted, by=by)
        return value


def _identifier(text: str) -> n.Identifier:
    return n.Identifier(NOWHERE, text)


def _pattern(variable: str) -> n.NamePattern:
    return n.NamePattern(NOWHERE, _identifier(variable))


def _calls_inside(node: tree.IfNode | tree.MapNode) -> bool:
    """Whether something is called in what is evaluated sometimes, or for each element."""
    return any(one.calls for one in tree.children(node)[1:])


def _is_async(function: Function) -> bool:
    """Whether a call of the function has to be awaited."""
    plain = inspect.unwrap(function)
    return inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(type(plain).__call__)


def _keeps_order(definition: Definition, given: list[str]) -> bool:
    """Whether Python evaluates the arguments in the order in which the program has them."""
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
    """The conversions by which a value, or a part of it, may become a part of the target."""
    wanted = _parts(target, registry, [])
    leading: list[Definition] = []
    for _ in range(MOST_CONVERSIONS):
        further = [
            one
            for one in registry.conversions
            if one not in leading and any(types.fits(one.result, part) for part in wanted)
        ]
        leading += further
        wanted += [one.parameters[0].schema for one in further]
    return [one for one in registry.conversions if one in leading]


def _parts(type_: types.Type, registry: Registry, seen: list[types.Type]) -> list[types.Type]:
    """The type, and the types of its items and fields."""
    if type_ in seen or isinstance(type_, model.AnySchema):
        return seen
    seen.append(type_)
    constructor = registry.constructor_of(type_)
    if constructor is None:
        inside = model.parts_of(type_)
    else:
        inside = tuple(parameter.schema for parameter in constructor.parameters)
    for part in inside:
        _parts(part, registry, seen)
    return seen
