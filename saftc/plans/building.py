"""A checked program as a script, statement by statement.

    {"$let": {"bind": {"here": {"locate": "Oslo"}},
              "in": {"$map": {"over": {"places": {}}, "as": "p",
                              "do": {"gap": {"a": {"$ref": "here"}, "b": {"$ref": "p"}}}}}}}

    f main():
        here = locate("Oslo")
        ret [gap(a: here, b: p) for p in places()]

Calls nest as they do in the program. What needs statements (a `$let` inside of something) is
written above the statement that it is in; then what comes before it there, and may have
effects, is bound to a name first, so that everything still happens in the order of the program.
A variable that nothing refers to is left out; what is bound to it happens for its effects.

What the checker puts between an argument and its parameter becomes ordinary calls:

    a Book where a string is asked for    name_of(author_of(book))
    [Book] for [Author]                   [author_of(item) for item in books]
    true for a number                     int(flag)
    any for a number                      coerce(value, int | float)

Python's own functions are where they do just what the rule says. Where the value decides, it is
left to `runtime_support.programs.coerce`, which applies the same rules when the plan runs.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never, cast

from runtime_support.programs import Registry
from saftc.plans.scripts import Script, identifier, pattern
from saftc.plans.tools import NotWritable, Tools
from saftc.plans.types import ANY_TUPLE, NOWHERE
from saftc.runtime import Definition, Parameter, conversions
from saftc.runtime import program_tree as tree
from saftc.runtime import program_types as types
from saftc.runtime import schema_model as model
from saftc.semantics import types as t
from saftc.semantics.forms import Form, Test
from saftc.syntax import nodes as n

Block: TypeAlias = list[n.Statement]
# A variable of a `$let`, by the node that binds it and its name there.
Key: TypeAlias = tuple[int, str]
_Part: TypeAlias = tuple[str, tree.Checked, n.Expression]

_MOST_LOOPS = 20


def write_plan(name: str, root: tree.Checked, tools: Tools) -> str:
    """The module of the program with this checked root, from a file called `name`."""
    taken, read = frozenset[str](), None
    while True:
        builder = _Builder(Script(tools, taken), read)
        body = builder.body(root)
        if builder.script.imported.keys() == taken and builder.read == read:
            return builder.script.text(name, body, root.type)
        # Which functions a variable must not hide, and which variables are read, is known only now.
        taken, read = frozenset(builder.script.imported), builder.read


@dataclass(frozen=True, slots=True)
class _Variable:
    """What a variable is called; one of a `$let` has its key."""

    text: str
    key: Key | None = None


Scope: TypeAlias = Mapping[str, _Variable]


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
    """Adds the statements of a program to a script.

    `known` are the variables that were read when it was built before, and `read` those that are
    now, each with the types of the parameters that it is given to as it is.
    """

    def __init__(self, script: Script, known: Mapping[Key, list[types.Type]] | None) -> None:
        self.script = script
        self.known = known
        self.read: dict[Key, list[types.Type]] = {}
        self.loops = 0
        self.lets: dict[int, bool] = {}

    # Statements

    def body(self, root: tree.Checked) -> Block:
        """What `main` does."""
        gives_nothing = root.type == types.NULL
        body = self.block(root, {}, _DROPPED if gives_nothing else _RETURNED)
        return body or [n.RetStmt(NOWHERE, n.Literal(NOWHERE, None))]

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
                block.append(_choice(test, then, self.block(node.otherwise, scope, use)))
            case tree.MapNode() if use.is_dropped:
                over = self.expression(node.over, block, scope, "items")
                block.append(self.loop(node, scope, use, over))
            case tree.MapNode() if use.name is not None and self.needs_statements(node):
                name, type_ = use.name, node.type
                over = self.expression(node.over, block, scope, "items")
                empty = self.script.typed(n.ListLiteral(NOWHERE, (), False), type_)
                block.append(self.script.assigned(name, empty))
                append = _Use(lambda value: self.script.appended(name, value, type_), "item")
                block.append(self.loop(node, scope, append, over))
            case _:
                block.append(use.statement(self.expression(node, block, scope, use.hint)))

    def loop(self, node: tree.MapNode, scope: Scope, use: _Use, over: n.Expression) -> n.ForStmt:
        """A loop that uses the elements of the list `over`."""
        variable = self.script.variable(node.variable)
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
            body.append(_choice(test, self.block(node.body, inside, use), []))
        self.loops -= 1
        made = n.ForStmt(NOWHERE, pattern(variable), None, over, tuple(body))
        self.script.forms.loops[made] = Form.NATIVE
        return made

    def bind(self, node: tree.LetNode, block: Block, scope: Scope) -> Scope:
        """The bindings of a `$let` as assignments; gives the scope of its body."""
        inside = dict(scope)
        for name, bound in node.bindings:
            key = (id(node), name)
            if self.known is not None and key not in self.known:
                self.add(bound, block, inside, _DROPPED)
                continue
            variable = self.script.variable(name)
            self.add(bound, block, inside, self.bound(variable, self.asked_of(key)))
            inside[name] = _Variable(variable, key)
        return inside

    def asked_of(self, key: Key) -> types.Type | None:
        """The type of the parameters that a variable is given to, if it is one type."""
        first, *others = (self.known or {}).get(key) or [types.ANY]
        return None if first == types.ANY or any(other != first for other in others) else first

    def bound(self, name: str, wanted: types.Type | None = None) -> _Use:
        """An assignment; a list or object written out says what it is to be used as."""

        def statement(value: n.Expression) -> n.Statement:
            is_written_out = isinstance(value, n.ListLiteral | n.ObjectLiteral)
            return self.script.assigned(name, value, wanted if is_written_out else None)

        return _Use(statement, name, name)

    # Expressions

    def expression(self, node: tree.Checked, block: Block, scope: Scope, hint: str) -> n.Expression:
        """The value of the node, once the statements that are added to the block have run.

        `hint` is what a variable for it would be called.
        """
        try:
            return self.script.typed(self._expression(node, block, scope, hint), node.type)
        except NotWritable as problem:
            problem.path = node.path if problem.path is None else problem.path
            raise

    def _expression(
        self, node: tree.Checked, block: Block, scope: Scope, hint: str
    ) -> n.Expression:
        match node:
            case tree.ConstantNode():
                return n.Literal(NOWHERE, node.value)
            case tree.RefNode():
                return n.Name(NOWHERE, self.variable_read(node, scope))
            case tree.ListNode():
                hinted = [("item", item) for item in node.items]
                return n.ListLiteral(NOWHERE, tuple(self.parts(hinted, block, scope)), False)
            case tree.RecordNode():
                values = self.parts(node.fields, block, scope)
                keys = [identifier(name) for name, _ in node.fields]
                fields = (n.Field(NOWHERE, *one) for one in zip(keys, values, strict=True))
                return n.ObjectLiteral(NOWHERE, tuple(fields), False)
            case tree.CallNode():
                return self.call(node, block, scope)
            case tree.LetNode():
                return self.expression(node.body, block, self.bind(node, block, scope), hint)
            case tree.IfNode() | tree.MapNode() if self.needs_statements(node):
                variable = self.script.variable(hint)
                self.add(node, block, scope, self.bound(variable))
                return n.Name(NOWHERE, variable)
            case tree.IfNode():
                test = self.test(node.test, block, scope)
                then = self.expression(node.then, block, scope, hint)
                other = self.expression(node.otherwise, block, scope, hint)
                return n.Conditional(NOWHERE, test, then, other)
            case tree.MapNode():
                return self.comprehension(node, block, scope)
            case tree.CoerceNode():
                return self.coerced(node, block, scope, hint)
            case _:
                assert_never(node)

    def test(self, node: tree.Checked, block: Block, scope: Scope) -> n.Expression:
        """A condition."""
        made = self.expression(node, block, scope, "test")
        self.script.forms.tests[made] = Test.BOOL
        return made

    def variable_read(self, node: tree.RefNode, scope: Scope, *wanted: types.Type) -> str:
        """What a variable is called; notes that it is read, and given to such parameters."""
        variable = scope[node.name]
        if variable.key is not None:
            self.read.setdefault(variable.key, []).extend(wanted)
        return variable.text

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
        if node.pure or (isinstance(value, n.Name) and value not in self.script.coercions):
            return hint, node, value
        variable = self.script.variable(hint)
        block.append(self.script.assigned(variable, value))
        return hint, node, self.script.alike(n.Name(NOWHERE, variable), value)

    def comprehension(self, node: tree.MapNode, block: Block, scope: Scope) -> n.Expression:
        over = self.expression(node.over, block, scope, "items")
        visible = {one.text for name, one in scope.items() if name != node.variable}
        variable = self.script.element(node.variable, visible)
        inside = {**scope, node.variable: _Variable(variable)}
        item = self.expression(node.body, block, inside, "item")
        tests = () if node.where is None else (self.test(node.where, block, inside),)
        return self.script.for_each(item, variable, over, tests)

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
                self.variable_read(part, scope, parameter.schema)
        values = self.parts(node.arguments, block, scope)
        given = {name: value for (name, _), value in zip(node.arguments, values, strict=True)}
        if not _keeps_order(definition, list(given)):
            for name, part in node.arguments:
                given[name] = self.kept(name, part, given[name], block)[2]
        python = {one.name: one.python_name for one in definition.parameters}
        if node.form == "bare" and _takes_positions(definition, *(python[name] for name in given)):
            return self.script.called(definition.function, list(given.values()))
        positional, has_rest = self.positional(definition, given)
        named = {python[name]: value for name, value in given.items()}
        return self.script.called(definition.function, positional, named, has_rest=has_rest)

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
                positional.append(_default(definition, one))
        return positional, False

    # What the checker puts between a value and its place

    def coerced(self, node: tree.CoerceNode, block: Block, scope: Scope, hint: str) -> n.Expression:
        target, around = node.type, {one.text for one in scope.values()}
        value = self.expression(node.operand, block, scope, hint)
        operand = node.operand
        if isinstance(target, model.TupleSchema) and (
            isinstance(operand, tree.ListNode)
            or (isinstance(operand, tree.MapNode) and target.rest is not None)
        ):
            return self.as_tuple(value)  # of the items that it asks for
        is_constant = isinstance(operand, tree.ConstantNode)
        source = operand.type if is_constant else types.widen(operand.type)
        made = self.native(value, source, target, around)
        return made or self.by_value(value, target, around)

    def native(
        self, value: n.Expression, source: types.Type, target: types.Type, around: set[str]
    ) -> n.Expression | None:
        """Ordinary Python that does the same for every value, if there is such."""
        item, wanted = types.item_of(source), types.item_of(target)
        match conversions.step(source, target, self.script.tools.registry):
            case conversions.Fits(is_same=True):
                return value
            # Of a constant, the checker has tried the same: it gives one value.
            case conversions.Fits() if isinstance(source, model.LiteralSchema):
                return self.script.constant(types.conform(source.value, target))
            case conversions.Read(values=((_, known),)):
                return self.script.constant(known)
            case conversions.Route(chains=(chain,), levels=0):
                for one in chain:
                    value = self.script.called(one.function, [value])
                    self.script.typed(value, one.result)
                return value
            case conversions.Fits() if target == types.FLOAT and source in types.NUMBERS:
                return self.script.converted(value, t.FLOAT)
            case conversions.Fits() if isinstance(target, model.TupleSchema):
                is_same = item is not None and wanted is not None and types.fits(item, wanted)
                return self.as_tuple(value) if wanted is None or is_same else None
            case conversions.Read() if source in types.NUMBERS and target == types.STRING:
                return self.script.converted(value, t.STRING)
            case conversions.Read() if source == types.BOOLEAN and target in types.NUMBERS:
                return self.script.converted(value, t.FLOAT if target == types.FLOAT else t.INT)
            case conversions.Read() if target == types.STRING and item == types.STRING:
                return self.script.joined(value)
            case _:
                return self.each(value, item, target, around)

    def each(
        self, value: n.Expression, item: types.Type | None, target: types.Type, around: set[str]
    ) -> n.Expression | None:
        lists = [one for one in types.members_of(target) if types.item_of(one) is not None]
        if item is None or len(lists) != 1 or not isinstance(lists[0], model.ListSchema):
            return None
        name = self.script.element("item", around)
        read = self.script.typed(n.Name(NOWHERE, name), item)
        made = self.native(read, item, lists[0].item, {*around, name})
        return made and self.script.typed(self.script.for_each(made, name, value), lists[0])

    def as_tuple(self, value: n.Expression) -> n.Expression:
        """A list as a tuple; one that is written out, as a tuple written out."""
        if isinstance(value, n.ListLiteral):
            items = cast("tuple[n.Expression, ...]", value.items)
            return n.TupleLiteral(NOWHERE, items, False)
        return self.script.converted(value, ANY_TUPLE)

    def by_value(self, value: n.Expression, target: types.Type, around: set[str]) -> n.Expression:
        """What the runtime makes of a value when it is there."""
        item = types.item_of(target)
        if isinstance(target, model.TupleSchema) and item is not None:
            # Saft has no type for it: the list is made first.
            made = self.by_value(value, model.ListSchema(item), around)
            name = self.script.element("item", around)
            read = self.script.typed(n.Name(NOWHERE, name), item)
            return self.as_tuple(self.script.for_each(read, name, made))
        leading = _leading_to(target, self.script.tools.registry)
        return self.script.coerced(value, target, (one.function for one in leading))


def _choice(test: n.Expression, then: Block, other: Block) -> n.IfStmt:
    """`if`, with `else` where there is something else to do."""
    if not then:
        test, then, other = n.Unary(NOWHERE, "not", test), other, []
    return n.IfStmt(NOWHERE, (n.Branch(NOWHERE, test, tuple(then)),), tuple(other))


def _calls_inside(node: tree.IfNode | tree.MapNode) -> bool:
    """Whether something is called in what is evaluated sometimes, or for each element."""
    return any(one.calls for one in tree.children(node)[1:])


def _default(definition: Definition, parameter: Parameter) -> n.Literal:
    default = parameter.default_value()
    if default is None or isinstance(default, bool | int | float | str):
        return n.Literal(NOWHERE, default)
    raise NotWritable(
        f"{definition.name} takes '{parameter.name}' by position, before what the plan gives; its "
        "default cannot be written, so the plan has to give it"
    )


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
    for _ in range(conversions.MOST_CONVERSIONS):
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
