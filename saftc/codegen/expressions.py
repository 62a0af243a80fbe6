"""Expressions: native Python where the types prove that it does what Saft means, `ops` elsewhere.

a + b       a + b               or  ops.add(a, b)
row.price   row["price"]        or  row.price (a record)  or  ops.member(row, "price")
if x:       if x is not None:   or  if x: (a bool)        or  if ops.truthy(x):
"""

import re
from collections.abc import Sequence
from typing import assert_never

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.annotations import Annotations
from saftc.codegen.builtins import Builtins, is_as_written
from saftc.codegen.comments import with_comments
from saftc.codegen.python import Expression
from saftc.semantics.forms import (
    Attribute,
    BuiltinCall,
    DirectCall,
    Form,
    IsTest,
    KindTest,
    OfResult,
    Test,
)
from saftc.semantics.relations import Fit
from saftc.semantics.types import ObjectType
from saftc.syntax import nodes as n
from saftc.syntax.comments import take

_OPERATIONS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "mod",
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "in": "is_in",
    "not in": "is_in",
}

# `type(x) == "string"` as a test that Python's type checkers understand.
_CLASSES = {
    "string": "str",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "list": "list",
    "tuple": "tuple",
    "object": "dict",
}


_NUMBER = re.compile(r"[0-9][0-9_]*(\.[0-9_]+)?([eE][+-]?[0-9_]+)?")

# What fits on a line is written as one string; black would join the parts of it anyway.
_SHORT_TEXT = 80


class Expressions(Annotations, Builtins):
    """The part of the emitter that knows expressions."""

    def emit(self, node: n.Expression) -> Expression:
        value = self._plain(node)
        self.origins.note(value, node.span)
        coercion = self.facts.coercions.get(node)
        if coercion is None:
            return value
        if coercion.fit == Fit.TO_FLOAT:
            value = self.to_float(node, value)
        else:
            value = self.checked(value, coercion.wanted)
        self.origins.note(value, node.span)
        return value

    def _plain(self, node: n.Expression) -> Expression:
        match node:
            case n.Literal():
                return self._literal(node)
            case n.Name():
                return self._name(node)
            case n.ListLiteral():
                items = [self.emit(item) for item in node.items]
                return self._spread(node, py.list_(items), node.items)
            case n.TupleLiteral():
                items = [self.emit(item) for item in node.items]
                return self._spread(node, py.tuple_(items), node.items)
            case n.ObjectLiteral():
                return self._object(node)
            case n.Call():
                return self._call(node)
            case n.Index():
                return self._index(node)
            case n.Slice():
                return self._slice(node)
            case n.Member():
                return self._member(node)
            case n.TupleMember():
                return self._tuple_member(node)
            case n.Unary():
                return self._unary(node)
            case n.Binary():
                return self._binary(node)
            case n.Comparison():
                return self._comparison(node)
            case n.Logical():
                return self._truth(node)
            case n.Conditional():
                return py.conditional(
                    self.emit(node.then), self.condition(node.condition), self.emit(node.other)
                )
            case n.Comprehension():
                return self._comprehension(node)
            case n.Prompt():
                return self.prompt(node)
            case _:
                assert_never(node)

    # Literals and names

    def _literal(self, node: n.Literal) -> Expression:
        if isinstance(node.value, str) and self.source.text.startswith('"""', node.span.start):
            return _block(node.value)
        written = self.source.at(node.span)
        if isinstance(node.value, int | float) and _NUMBER.fullmatch(written):
            # As it is written, `1_000` too; Python's own way to write it is another.
            return py.as_written(written)
        return py.constant(node.value)

    def _name(self, node: n.Name) -> Expression:
        symbol = self.facts.names.of(node)
        if symbol.kind == "builtin":
            return self.builtin_value(symbol.name)
        if symbol in self.facts.history.does:
            return py.attribute(py.name(self.names[symbol]), "value")
        return py.name(self.names[symbol])

    def whole_result(self, node: n.Expression) -> Expression:
        """A prompt, or a name or call that keeps one's history, with the history."""
        match node:
            case n.Prompt():
                return self.result(node)
            case n.Name():
                return py.name(self.name_of(node))
            case n.Call():
                made = self._call(node)
                assert isinstance(made, cst.Attribute)
                return made.value
            case _:
                raise AssertionError(f"{type(node).__name__} keeps no history")

    def _object(self, node: n.ObjectLiteral) -> Expression:
        entries = [(field.key.text, self.emit(field.value)) for field in node.fields]
        given = {key for key, _ in entries}
        wanted = self.facts.types.get(node)
        if isinstance(wanted, ObjectType):
            # An optional field that is absent is nil.
            entries += [(f.name, py.constant(None)) for f in wanted.fields if f.name not in given]
        return self._spread(node, py.dict_(entries), node.fields)

    def _spread(
        self,
        node: n.ListLiteral | n.TupleLiteral | n.ObjectLiteral | n.Call,
        made: py.Listing,
        items: Sequence[n.Node],
    ) -> Expression:
        """Keeps one item a line where the source has it so, and the comments between items."""
        if py.is_spread(made):
            # `str(x)` is `x`, and has its comments already.
            return made
        count = len(py.items_of(made))
        inner = take(self.inner_comments, *node.span) if items else []
        if inner:
            return with_comments(made, [item.span for item in items], inner, self.source)
        # The comma of `(a,)` makes the tuple; it says nothing about lines.
        is_spread = node.is_spread and count and not (count == 1 and isinstance(made, cst.Tuple))
        return py.spread(made) if is_spread else made

    # Calls

    def _call(self, node: n.Call, *, is_iterated: bool = False) -> Expression:
        form = self.facts.forms.calls[node]
        positional = [a.value for a in node.arguments if a.name is None]
        match form:
            case BuiltinCall():
                made = self.builtin_call(node, form, is_iterated=is_iterated)
                if (
                    isinstance(made, cst.Call)
                    and len(made.args) == len(node.arguments)
                    and is_as_written(node, form.builtin)
                ):
                    return self._spread(node, made, node.arguments)
                return made
            case DirectCall():
                parameters = self._parameter_names(form.definition)
                named = [
                    (parameters.get(a.name.text, a.name.text), self.emit(a.value))
                    for a in node.arguments
                    if a.name is not None
                ]
                function = self.emit(node.function)
                made = py.call(function, [self.emit(value) for value in positional], named)
                made = self._spread(node, made, node.arguments)
                if form.definition not in self.facts.history.does:
                    return made
                self.origins.note(made, node.span)
                return py.attribute(made, "value")
            case Form.OPS:
                named = [
                    (py.field_name(a.name.text), self.emit(a.value))
                    for a in node.arguments
                    if a.name
                ]
                given = [self.emit(value) for value in (node.function, *positional)]
                made = py.call(self.operation("call"), given, named)
                return self._spread(node, made, (node.function, *node.arguments))
            case _:
                assert_never(form)

    def _parameter_names(self, definition: n.FunctionDef | n.RecordDef | None) -> dict[str, str]:
        """The Python names of parameters or fields by their Saft names."""
        match definition:
            case n.FunctionDef():
                return {p.name.text: self._parameter_name(p) for p in definition.parameters}
            case n.RecordDef():
                return {f.name.text: py.field_name(f.name.text) for f in definition.fields}
            case None:
                return {}
            case _:
                assert_never(definition)

    def _parameter_name(self, parameter: n.Parameter) -> str:
        symbol = self.facts.names.symbols.get(parameter.name)
        return py.field_name(parameter.name.text) if symbol is None else self.names[symbol]

    # Members and items

    def _member(self, node: n.Member) -> Expression:
        form, field = self.facts.forms.members[node], node.name.text
        match form:
            case Attribute():
                return py.attribute(self.emit(node.value), py.field_name(form.name))
            case OfResult():
                return py.attribute(self.whole_result(node.value), form.attribute)
            case Form.STRUCTURE:
                structure = py.attribute(self.whole_result(node.value), "data")
                return py.call(self.operation("member"), [structure, py.constant(field)])
            case Form.ITEM:
                return py.subscript(self.emit(node.value), py.constant(field))
            case Form.LENGTH:
                return self.length(self.emit(node.value))
            case Form.OPS:
                given = [self.emit(node.value), py.constant(field)]
                return py.call(self.operation("member"), given)
            case _:
                assert_never(form)

    def _tuple_member(self, node: n.TupleMember) -> Expression:
        value = self.emit(node.value)
        position = py.constant(node.position)
        if self.facts.forms.items[node] == Form.NATIVE:
            return py.subscript(value, position)
        return py.call(self.operation("item"), [value, position])

    def _index(self, node: n.Index) -> Expression:
        form = self.facts.forms.items[node]
        if form == Form.STRUCTURE:
            value = py.attribute(self.whole_result(node.value), "data")
        else:
            value = self.emit(node.value)
        key = self.emit(node.key)
        if form == Form.NATIVE:
            return py.subscript(value, key)
        return py.call(self.operation("index"), [value, key])

    def _slice(self, node: n.Slice) -> Expression:
        value = self.emit(node.value)
        start = self.emit(node.start) if node.start is not None else None
        stop = self.emit(node.stop) if node.stop is not None else None
        if self.facts.forms.items[node] == Form.NATIVE:
            return py.slice_(value, start, stop)
        nothing = py.constant(None)
        return py.call(self.operation("slice"), [value, start or nothing, stop or nothing])

    # Operators

    def _unary(self, node: n.Unary) -> Expression:
        if node.operator == "not":
            return self._truth(node)
        operand = self.emit(node.operand)
        if self.facts.forms.operators[node] == Form.NATIVE:
            return py.negation(operand)
        return py.call(self.operation("neg"), [operand])

    def _binary(self, node: n.Binary) -> Expression:
        left, right = self.emit(node.left), self.emit(node.right)
        if self.facts.forms.operators[node] == Form.NATIVE:
            return py.binary(left, node.operator, right)
        return py.call(self.operation(_OPERATIONS[node.operator]), [left, right])

    def _comparison(self, node: n.Comparison) -> Expression:
        form = self.facts.forms.operators[node]
        is_negative = node.operator in ("!=", "not in")
        match form:
            case KindTest() if form.by != "text":
                made = self._kind_test(form)
                return py.negated(made) if is_negative else made
            case IsTest():
                operator = "is not" if is_negative else "is"
                return py.comparison(self.emit(form.tested), operator, self.emit(form.constant))
            case Form.NATIVE | KindTest():
                return py.comparison(self.emit(node.left), node.operator, self.emit(node.right))
            case Form.OPS:
                operation = self.operation(_OPERATIONS[node.operator])
                made = py.call(operation, [self.emit(node.left), self.emit(node.right)])
                return py.negated(made) if node.operator == "not in" else made
            case _:
                assert_never(form)

    def _kind_test(self, test: KindTest) -> Expression:
        """`type(x) == "string"` as `isinstance(x, str)`."""
        value = self.emit(test.tested)
        if test.by == "none":
            return py.comparison(value, "is", py.constant(None))
        if test.by == "exact":
            kind = py.call(self.global_("type"), [value])
            return py.comparison(kind, "is", self.global_(_CLASSES[test.word]))
        return py.call(self.global_("isinstance"), [value, self._class_of_kind(test.word)])

    def _class_of_kind(self, word: str) -> Expression:
        if word in self.facts.records:
            return py.name(self.type_name(word))
        return self.dataframe_class() if word == "dataframe" else self.global_(_CLASSES[word])

    # Conditions

    def condition(self, node: n.Expression) -> Expression:
        match node:
            case n.Logical():
                return py.both(self.condition(node.left), node.operator, self.condition(node.right))
            case n.Unary(operator="not"):
                return self._not(node.operand)
            case _:
                if self.facts.forms.tests[node] in (Test.BOOL, Test.BOOL_OR_NIL):
                    return self.emit(node)
                return self._truth(node)

    def _truth(self, node: n.Expression) -> Expression:
        """An expression that gives `True` or `False` as `node` is true or not in Saft."""
        match node:
            case n.Logical():
                return py.both(self._truth(node.left), node.operator, self._truth(node.right))
            case n.Unary(operator="not"):
                return self._not(node.operand)
            case _:
                pass
        value, test = self.emit(node), self.facts.forms.tests[node]
        match test:
            case Test.BOOL:
                return value
            case Test.BOOL_OR_NIL:
                return py.comparison(value, "is", py.constant(True))
            case Test.NOT_NIL:
                return py.comparison(value, "is not", py.constant(None))
            case Test.TRUTHY:
                return py.call(self.operation("truthy"), [value])
            case _:
                assert_never(test)

    def _not(self, operand: n.Expression) -> Expression:
        """`not operand`; of what is `True`, `False` or None, Python's own does."""
        if self.facts.forms.tests.get(operand) == Test.BOOL_OR_NIL:
            return py.negated(self.emit(operand))
        return py.negated(self._truth(operand))

    # Loops

    def iterable(self, node: n.Expression) -> Expression:
        if isinstance(node, n.Call) and node not in self.facts.coercions:
            value = self._call(node, is_iterated=True)
            self.origins.note(value, node.span)
            return value
        return self.emit(node)

    def loop_over(self, loop: n.ForStmt | n.ComprehensionClause) -> Expression:
        """What a loop goes over: unpacking is checked where it is not proved."""
        form = self.facts.forms.loops[loop]
        match form:
            case Form.NATIVE:
                return self.iterable(loop.iterable)
            case Form.EACH:
                made = py.call(self.operation("each"), [self.iterable(loop.iterable)])
            case Form.EACH_OF:
                assert isinstance(loop.pattern, n.TuplePattern)
                items = loop.pattern.items
                is_flat = all(isinstance(item, n.NamePattern) for item in items)
                shape = py.constant(len(items)) if is_flat else _shape(loop.pattern)
                given = [self.emit(loop.iterable), shape]
                made = py.call(self.operation("each_of"), given)
            case _:
                assert_never(form)
        self.origins.note(made, loop.iterable.span)
        return made

    def pattern(self, pattern: n.Pattern) -> Expression:
        """The names that a loop binds."""
        match pattern:
            case n.NamePattern():
                return py.name(self.name_of(pattern.name))
            case n.TuplePattern():
                return py.tuple_([self.pattern(item) for item in pattern.items])
            case _:
                assert_never(pattern)

    def _comprehension(self, node: n.Comprehension) -> Expression:
        outer, self.scope = self.scope, self.facts.names.scopes[node]
        clauses: list[py.Clause] = []
        for clause in node.clauses:
            iterable = self.loop_over(clause)
            conditions = [self.condition(condition) for condition in clause.conditions]
            clauses.append((self.pattern(clause.pattern), iterable, conditions))
        item = self.emit(node.item)
        self.scope = outer
        return py.comprehension(item, clauses)


def _shape(pattern: n.Pattern) -> Expression:
    """A nested pattern as a value that mirrors it: `("a", ("b", "c"))`."""
    match pattern:
        case n.NamePattern():
            return py.constant(pattern.name.text)
        case n.TuplePattern():
            return py.tuple_([_shape(item) for item in pattern.items])
        case _:
            assert_never(pattern)


def _block(text: str) -> Expression:
    """A text of several lines: one string a line, joined by Python, when it is a longer one."""
    lines = text.splitlines(keepends=True)
    if len(repr(text)) <= _SHORT_TEXT or len(lines) == 1:
        return py.constant(text)
    return py.joined(lines)
