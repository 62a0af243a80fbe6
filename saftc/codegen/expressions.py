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
from saftc.codegen.comments import lies_in, with_comments
from saftc.codegen.python import Expression
from saftc.semantics.builtins import BUILTINS, ITEMS
from saftc.semantics.history import MEMBERS
from saftc.semantics.operators import negate, operate
from saftc.semantics.relations import Fit
from saftc.semantics.tables import MEMBERS_OF_TABLE
from saftc.semantics.types import (
    ANY,
    BOOL,
    DATAFRAME,
    NEVER,
    NIL,
    STRING,
    FunctionType,
    ListType,
    ObjectType,
    RecordType,
    TupleType,
    Type,
    is_only,
    item_type,
    may_be,
    members,
    union,
    without,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

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
}

# `type(x) == "string"` as a test that Python's type checkers understand.
_CLASSES = {
    "string": "str",
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
        inner = [comment for comment in self.inner_comments if lies_in(comment, node.span)]
        if inner and items:
            for comment in inner:
                self.inner_comments.remove(comment)
            return with_comments(made, [item.span for item in items], inner, self.source)
        # The comma of `(a,)` makes the tuple; it says nothing about lines.
        is_spread = node.is_spread and count and not (count == 1 and isinstance(made, cst.Tuple))
        return py.spread(made) if is_spread else made

    # Calls

    def _call(self, node: n.Call, *, is_iterated: bool = False) -> Expression:
        function = self.type_of(node.function)
        is_record = isinstance(node.function, n.Name) and (
            self.facts.meaning_of(self.facts.names.of(node.function)).kind == "record"
        )
        if isinstance(node.function, n.Name):
            symbol = self.facts.names.of(node.function)
            if symbol.kind == "builtin":
                made = self.builtin_call(node, symbol.name, is_iterated=is_iterated)
                if (
                    isinstance(made, cst.Call)
                    and len(made.args) == len(node.arguments)
                    and is_as_written(node, BUILTINS[symbol.name])
                ):
                    return self._spread(node, made, node.arguments)
                return made
        positional = [self.emit(a.value) for a in node.arguments if a.name is None]
        if isinstance(function, FunctionType) or is_record or self._is_imported(node.function):
            parameters = self._parameter_names(node, function)
            named = [
                (parameters.get(a.name.text, a.name.text), self.emit(a.value))
                for a in node.arguments
                if a.name is not None
            ]
            made = py.call(self.emit(node.function), positional, named)
            if isinstance(function, FunctionType) and (
                function.definition in self.facts.history.does
            ):
                self.origins.note(made, node.span)
                return py.attribute(self._spread(node, made, node.arguments), "value")
        else:
            named = [
                (py.field_name(a.name.text), self.emit(a.value)) for a in node.arguments if a.name
            ]
            made = py.call(self.operation("call"), [self.emit(node.function), *positional], named)
            return self._spread(node, made, (node.function, *node.arguments))
        return self._spread(node, made, node.arguments)

    def _parameter_names(self, node: n.Call, function: Type) -> dict[str, str]:
        """The Python names of a function's parameters by their Saft names."""
        if not isinstance(function, FunctionType):
            called = node.function.text if isinstance(node.function, n.Name) else ""
            record = self.facts.records.get(called)
            return {field: py.field_name(field) for field in record.fields} if record else {}
        return {
            parameter.name.text: self._parameter_name(parameter)
            for parameter in function.definition.parameters
        }

    def _parameter_name(self, parameter: n.Parameter) -> str:
        symbol = self.facts.names.symbols.get(parameter.name)
        return py.field_name(parameter.name.text) if symbol is None else self.names[symbol]

    def _is_imported(self, node: n.Expression) -> bool:
        """Whether `node` is an imported name, or a member of one: Python's own to call."""
        while isinstance(node, n.Member):
            node = node.value
        return isinstance(node, n.Name) and self.facts.names.of(node).kind == "import"

    # Members and items

    def _member(self, node: n.Member) -> Expression:
        type_ = self.type_of(node.value)
        field = node.name.text
        if type_ == ANY and self._is_imported(node.value):
            return py.attribute(self.emit(node.value), py.field_name(field))
        if self.facts.asks_history(node):
            is_structure = field == "value" and type_ == STRING
            name = "data" if is_structure else MEMBERS[field]
            return py.attribute(self.whole_result(node.value), name)
        if type_ == STRING and field != "length":
            structure = py.attribute(self.whole_result(node.value), "data")
            return py.call(self.operation("member"), [structure, py.constant(field)])
        value = self.emit(node.value)
        if type_ == DATAFRAME and field in MEMBERS_OF_TABLE:
            return py.attribute(value, "height" if field == "length" else field)
        owners = members(type_)
        if type_ not in (ANY, NEVER):
            if all(isinstance(o, ObjectType) and o.field(field) for o in owners):
                return py.subscript(value, py.constant(field))
            if all(isinstance(o, RecordType) and self._has_field(o, field) for o in owners):
                return py.attribute(value, py.field_name(field))
            if field == "length" and is_only(type_, "string", "object", *ITEMS):
                has_field = any(isinstance(o, ObjectType) and o.field(field) for o in owners)
                if not has_field:
                    return self.length(value)
        return py.call(self.operation("member"), [value, py.constant(field)])

    def _has_field(self, record: RecordType, field: str) -> bool:
        return field in self.facts.fields_of(record)

    def _tuple_member(self, node: n.TupleMember) -> Expression:
        value = self.emit(node.value)
        position = py.constant(node.position)
        if all(_has_item(owner, node.position) for owner in members(self.type_of(node.value))):
            return py.subscript(value, position)
        return py.call(self.operation("item"), [value, position])

    def _index(self, node: n.Index) -> Expression:
        if self.type_of(node.value) == STRING and self.facts.result_of(node.value):
            structure = py.attribute(self.whole_result(node.value), "data")
            return py.call(self.operation("index"), [structure, self.emit(node.key)])
        value, key = self.emit(node.value), self.emit(node.key)
        owner, key_type = self.type_of(node.value), self.type_of(node.key)
        if is_only(owner, "string", *ITEMS) and is_only(key_type, "int"):
            return py.subscript(value, key)
        if is_only(owner, "object") and is_only(key_type, "string"):
            is_written = isinstance(node.key, n.Literal)
            owners = [member for member in members(owner) if isinstance(member, ObjectType)]
            # A class of objects takes only keys that are written out.
            if is_written and all(o.field(str(node.key.value)) for o in owners):  # type: ignore[union-attr]
                return py.subscript(value, key)
            if not is_written and not any(o.is_declared for o in owners):
                return py.subscript(value, key)
        return py.call(self.operation("index"), [value, key])

    def _slice(self, node: n.Slice) -> Expression:
        value = self.emit(node.value)
        start = self.emit(node.start) if node.start is not None else None
        stop = self.emit(node.stop) if node.stop is not None else None
        ends = [end for end in (node.start, node.stop) if end is not None]
        if is_only(self.type_of(node.value), "string", *ITEMS) and all(
            is_only(self.type_of(end), "int") for end in ends
        ):
            return py.slice_(value, start, stop)
        nothing = py.constant(None)
        return py.call(self.operation("slice"), [value, start or nothing, stop or nothing])

    # Operators

    def _unary(self, node: n.Unary) -> Expression:
        if node.operator == "not":
            return self._truth(node)
        operand = self.emit(node.operand)
        if negate(self.type_of(node.operand)).is_proved:
            return py.negation(operand)
        return py.call(self.operation("neg"), [operand])

    def _binary(self, node: n.Binary) -> Expression:
        left, right = self.emit(node.left), self.emit(node.right)
        proved = operate(node.operator, self.type_of(node.left), self.type_of(node.right)).is_proved
        if proved:
            return py.binary(left, node.operator, right)
        return py.call(self.operation(_OPERATIONS[node.operator]), [left, right])

    def _comparison(self, node: n.Comparison) -> Expression:
        match node.operator:
            case "==" | "!=":
                return self._equality(node)
            case "in" | "not in":
                return self._containment(node)
            case _:
                pass
        left, right = self.emit(node.left), self.emit(node.right)
        if operate(node.operator, self.type_of(node.left), self.type_of(node.right)).is_proved:
            return py.comparison(left, node.operator, right)
        return py.call(self.operation(_OPERATIONS[node.operator]), [left, right])

    def _equality(self, node: n.Comparison) -> Expression:
        is_equal = node.operator == "=="
        kind_test = self._kind_test(node)
        if kind_test is not None:
            return kind_test if is_equal else py.negated(kind_test)
        left, right = self.emit(node.left), self.emit(node.right)
        for one, other, tested, known in (
            (left, right, node.left, node.right),
            (right, left, node.right, node.left),
        ):
            # Python warns of `is` with a number or a string that is written out.
            if _is_singleton(known) and not _is_written_out(tested):
                return py.comparison(one, "is" if is_equal else "is not", other)
        is_exact = self.facts.equals_as_python(self.type_of(node.left), self.type_of(node.right))
        if is_exact and not _is_singleton(node.left) and not _is_singleton(node.right):
            return py.comparison(left, node.operator, right)
        return py.call(self.operation(_OPERATIONS[node.operator]), [left, right])

    def _kind_test(self, node: n.Comparison) -> Expression | None:
        """`type(x) == "string"` as `isinstance(x, str)`."""
        match node:
            case n.Comparison(
                left=n.Call(
                    function=n.Name() as function, arguments=(n.Argument(name=None, value=tested),)
                ),
                right=n.Literal(value=str() as word),
            ) if self.facts.names.of(function).kind == "builtin" and function.text == "type":
                pass
            case _:
                return None
        if _is_written_out(tested):
            return None
        value = self.emit(tested)
        if word == "nil":
            return py.comparison(value, "is", py.constant(None))
        if word == "int":
            if may_be(self.type_of(tested), BOOL):
                return py.comparison(
                    py.call(self.global_("type"), [value]), "is", self.global_("int")
                )
            return py.call(self.global_("isinstance"), [value, self.global_("int")])
        if word in self.facts.records:
            return py.call(self.global_("isinstance"), [value, py.name(self.type_name(word))])
        if word == "dataframe" and self.type_of(tested) != ANY:
            return py.call(self.global_("isinstance"), [value, self.dataframe_class()])
        if word in _CLASSES:
            return py.call(self.global_("isinstance"), [value, self.global_(_CLASSES[word])])
        return None

    def _containment(self, node: n.Comparison) -> Expression:
        left, right = self.emit(node.left), self.emit(node.right)
        if self.is_exact_in(self.type_of(node.left), self.type_of(node.right)):
            return py.comparison(left, node.operator, right)
        found = py.call(self.operation("is_in"), [left, right])
        return py.negated(found) if node.operator == "not in" else found

    def is_exact_in(self, item: Type, container: Type) -> bool:
        if not operate("in", item, container).is_proved:
            return False
        for owner in members(container):
            items = item_type(owner) if isinstance(owner, ListType | TupleType) else STRING
            if not self.facts.equals_as_python(item, items):
                return False
        return True

    # Conditions

    def condition(self, node: n.Expression) -> Expression:
        match node:
            case n.Logical():
                return py.both(self.condition(node.left), node.operator, self.condition(node.right))
            case n.Unary(operator="not"):
                return self._not(node.operand)
            case _:
                if union((self.type_of(node), BOOL, NIL)) == union((BOOL, NIL)):
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
        type_ = self.type_of(node)
        value = self.emit(node)
        if is_only(type_, "bool"):
            return value
        if is_only(type_, "bool", "nil"):
            return py.comparison(value, "is", py.constant(True))
        if NIL in members(type_) and not may_be(without(type_, NIL), BOOL) and type_ != NIL:
            return py.comparison(value, "is not", py.constant(None))
        return py.call(self.operation("truthy"), [value])

    def _not(self, operand: n.Expression) -> Expression:
        if is_only(self.type_of(operand), "bool", "nil") and not isinstance(
            operand, n.Logical | n.Unary
        ):
            return py.negated(self.emit(operand))
        return py.negated(self._truth(operand))

    # Loops

    def iterable(self, node: n.Expression) -> Expression:
        """What a loop goes over."""
        type_ = self.type_of(node)
        if is_only(type_, "int", "string", "bool"):
            return self.emit(node)
        is_builtin = isinstance(node, n.Call) and isinstance(node.function, n.Name)
        if is_builtin and isinstance(node, n.Call) and node not in self.facts.coercions:
            value = self._call(node, is_iterated=True)
        else:
            value = self.emit(node)
        if is_only(type_, *ITEMS):
            return value
        made = py.call(self.operation("each"), [value])
        self.origins.note(made, node.span)
        return made

    def loop_over(self, pattern: n.Pattern, node: n.Expression) -> Expression:
        """What a loop with `pattern` goes over: unpacking is checked where it is not proved."""
        if isinstance(pattern, n.NamePattern) or self._unpacks(
            pattern, item_type(self.type_of(node))
        ):
            return self.iterable(node)
        assert isinstance(pattern, n.TuplePattern)
        is_flat = all(isinstance(item, n.NamePattern) for item in pattern.items)
        shape = py.constant(len(pattern.items)) if is_flat else _shape(pattern)
        made = py.call(self.operation("each_of"), [self.emit(node), shape])
        self.origins.note(made, node.span)
        return made

    def _unpacks(self, pattern: n.Pattern, type_: Type) -> bool:
        if isinstance(pattern, n.NamePattern):
            return True
        if type_ == NEVER:
            return True
        return all(
            isinstance(member, TupleType)
            and len(member.items) == len(pattern.items)
            and all(
                self._unpacks(inner, item)
                for inner, item in zip(pattern.items, member.items, strict=True)
            )
            for member in members(type_)
        )

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
            iterable = self.loop_over(clause.pattern, clause.iterable)
            conditions = [self.condition(condition) for condition in clause.conditions]
            clauses.append((self.pattern(clause.pattern), iterable, conditions))
        item = self.emit(node.item)
        self.scope = outer
        return py.comprehension(item, clauses)


def _is_written_out(node: n.Expression) -> bool:
    """Whether Python knows the value of `node`, other than None, True and False, beforehand.

    It warns of `is` beside such a value.
    """
    if _is_singleton(node):
        return False
    unknown = n.Name | n.Call | n.Prompt | n.Comprehension
    return not any(isinstance(inner, unknown) for inner in walk(node))


def _is_singleton(node: n.Expression) -> bool:
    """Whether `node` is `nil`, `true` or `false`, which Python compares with `is`."""
    return isinstance(node, n.Literal) and (node.value is None or isinstance(node.value, bool))


def _shape(pattern: n.Pattern) -> Expression:
    """A nested pattern as a value that mirrors it: `("a", ("b", "c"))`."""
    match pattern:
        case n.NamePattern():
            return py.constant(pattern.name.text)
        case n.TuplePattern():
            return py.tuple_([_shape(item) for item in pattern.items])
        case _:
            assert_never(pattern)


def _has_item(owner: Type, position: int) -> bool:
    return isinstance(owner, TupleType) and position < len(owner.items)


def _block(text: str) -> Expression:
    """A text of several lines: one string a line, joined by Python, when it is a longer one."""
    lines = text.splitlines(keepends=True)
    if len(repr(text)) <= _SHORT_TEXT or len(lines) == 1:
        return py.constant(text)
    return py.joined(lines)
