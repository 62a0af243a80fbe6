"""Expressions and calls in the reference interpreter."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import assert_never

from saftc.source import Span
from saftc.syntax import nodes as n
from tests.oracle import operators
from tests.oracle import values as v
from tests.oracle.asking import Asking, messages_of
from tests.oracle.model import Script
from tests.oracle.operators import calculated, compared, member, negated
from tests.oracle.schemas import Types
from tests.oracle.values import (
    Builtin,
    Callable_,
    Constructor,
    Fault,
    Frame,
    Function,
    Record,
    Value,
    Wrong,
    kind_of,
)

MOST_STEPS = 20_000

_BOOL = n.NamedSchema(Span(0, 0), "bool")


class TooLong(Exception):
    """The script takes more steps than a test has time for."""


class Evaluation(Asking):
    """The part of the interpreter that knows expressions.

    `evaluated` holds the places of what was evaluated without a fault.
    """

    def __init__(self, types: Types, script: Script) -> None:
        super().__init__(types, script)
        self.evaluated: set[Span] = set()
        self.steps = 0

    @abstractmethod
    def entered(self, definition: n.FunctionDef, frame: Frame) -> Value:
        """What the body of a function gives."""

    @abstractmethod
    def check_rules(self, record: Record) -> None:
        """Holds a new record against its rules; Wrong when it breaks one."""

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong

    def placed(self, node: n.Expression, frame: Frame, schema: n.Schema | None) -> Value:
        """The value of an expression whose place may ask for a schema."""
        value = self.evaluate(node, frame, schema)
        if schema is None:
            return value
        # Whether a part that fails is met before another that does, the language leaves open.
        is_made_of_parts = not isinstance(node, n.Name | n.Literal)
        return self.fitted_here(value, schema, node.span, is_order_open=is_made_of_parts)

    def fitted_here(
        self, value: Value, schema: n.Schema, span: Span, *, is_order_open: bool
    ) -> Value:
        """The value as the schema of its place has it.

        What is known to be a text is refused where a date is asked for; data that is read is not.
        """
        self.types.has_read = False
        fitted = self.fitted(value, schema, span, is_order_open=is_order_open)
        if self.types.has_read:
            self.evaluated = {one for one in self.evaluated if not _is_within(one, span)}
        return fitted

    def holds(self, node: n.Expression, frame: Frame) -> bool:
        """The truth of a condition; a prompt there is asked for a bool."""
        return v.truth_of(self.evaluate(node, frame, _BOOL if _is_prompt(node) else None))

    def evaluate(self, node: n.Expression, frame: Frame, asked: n.Schema | None = None) -> Value:
        """The value of an expression; `asked` is what its place asks a prompt for."""
        try:
            value = self.evaluate_unplaced(node, frame, asked)
        except Wrong as wrong:
            raise wrong.at(node.span) from None
        self.evaluated.add(node.span)
        return value

    def evaluate_unplaced(self, node: n.Expression, frame: Frame, asked: n.Schema | None) -> Value:
        match node:
            case n.Literal():
                return node.value
            case n.Name():
                return self.read(node, frame)
            case n.ListLiteral():
                item = self.types.item_of(asked)
                return [one for part in node.items for one in self.items_from(part, frame, item)]
            case n.TupleLiteral():
                asked_items = self.types.items_of(asked, len(node.items))
                pairs = zip(node.items, asked_items, strict=True)
                return tuple(self.evaluate(one, frame, item) for one, item in pairs)
            case n.ObjectLiteral(fields=(n.Spread(value=spread), *changes)) if isinstance(
                copied := self.evaluate(spread, frame), Record
            ):
                return self.changed(copied, changes, frame, node.span)
            case n.ObjectLiteral(fields=(n.Spread(), *others)):
                if not isinstance(copied, dict):
                    # A record or an object: which, is found out before or behind the others.
                    said = f"`...` of {kind_of(copied)} in an object"
                    raise Fault("value", node.fields[0].span, said, is_order_open=True)
                return self.filled(dict(copied), others, frame, asked)
            case n.ObjectLiteral():
                return self.filled({}, node.fields, frame, asked)
            case n.Call():
                return self.call(node, frame)
            case n.Index():
                value = self.evaluate(node.value, frame)
                return operators.item(value, self.evaluate(node.key, frame))
            case n.Slice():
                return self.slice(node, frame)
            case n.Member(name=name) if (said := self.said_in(node.value, frame)) is not None:
                value = self.evaluate(node.value, frame)
                if name.text == "messages":
                    return messages_of(said)
                return value if name.text == "text" else member(value, name.text)
            case n.Member():
                return member(self.evaluate(node.value, frame), node.name.text)
            case n.TupleMember():
                value = self.evaluate(node.value, frame)
                if not isinstance(value, tuple):
                    raise Wrong(f"`.{node.position}` of {kind_of(value)}")
                return operators.item(value, node.position)
            case n.Unary(operator="not"):
                return not self.holds(node.operand, frame)
            case n.Unary():
                return negated(self.evaluate(node.operand, frame))
            case n.Binary():
                left = self.evaluate(node.left, frame)
                return calculated(node.operator, left, self.evaluate(node.right, frame))
            case n.Comparison():
                left = self.evaluate(node.left, frame)
                return compared(node.operator, left, self.evaluate(node.right, frame))
            case n.Logical():
                if self.holds(node.left, frame) == (node.operator == "or"):
                    return node.operator == "or"
                return self.holds(node.right, frame)
            case n.Conditional():
                chosen = node.then if self.holds(node.condition, frame) else node.other
                return self.evaluate(chosen, frame, asked)
            case n.Comprehension():
                return self.comprehension(node, frame, asked)
            case n.FormattedString():
                return "".join(self.formatted(part, frame) for part in node.parts)
            case n.Prompt():
                return self.prompted(node, frame, asked)
            case _:
                assert_never(node)

    def read(self, node: n.Name, frame: Frame) -> Value:
        owner = frame.find(node.text)
        if owner is None:
            raise Fault("name", node.span, f"`{node.text}` has no value yet")
        value = owner.names[node.text]
        if isinstance(value, v.Stream):
            value, owner.talks[node.text] = value.read(node.span)
        return value

    def formatted(self, part: n.FormatText | n.FormatHole, frame: Frame) -> str:
        if isinstance(part, n.FormatText):
            return part.text
        value = self.evaluate(part.value, frame)
        if part.spec is None:
            return v.text_of(value)
        if type(value) not in (int, float, str, Decimal, date, datetime, time):
            raise Wrong(f"a format of {kind_of(value)}")
        if type(value) in (date, datetime, time) and "%" not in part.spec:
            raise Wrong(f"no format for {kind_of(value)}")
        try:
            return format(value, part.spec)
        except ValueError as error:
            raise Wrong(str(error)) from None

    def items_from(
        self, part: n.Expression | n.Spread, frame: Frame, asked: n.Schema | None
    ) -> list[Value] | tuple[Value, ...]:
        """What a part of a list literal puts into it."""
        if not isinstance(part, n.Spread):
            return [self.evaluate(part, frame, asked)]
        value = self.evaluate(part.value, frame)
        if not v.is_sequence(value):
            raise Fault("value", part.span, f"`...` of {kind_of(value)} in a list")
        return value

    def filled(
        self,
        made: dict[str, Value],
        entries: Sequence[n.Entry],
        frame: Frame,
        asked: n.Schema | None,
    ) -> dict[str, Value]:
        """The object with the entries, whose keys are all of one kind."""
        for entry in entries:
            made.update(self.fields_from(entry, frame, asked))
            if len(set(map(type, made))) > 1:
                raise Fault("value", entry.span, "keys of several kinds")
        return made

    def fields_from(self, entry: n.Entry, frame: Frame, asked: n.Schema | None) -> dict[str, Value]:
        """What an entry of an object literal puts into it."""
        match entry:
            case n.Field(key=key, value=value):
                wanted = self.types.field_of(asked, key.text)
                return {key.text: self.evaluate(value, frame, wanted)}
            case n.ComputedField(key=key, value=value):
                name = self.evaluate(key, frame)
                if not v.is_key(name):
                    raise Fault("value", key.span, f"{kind_of(name)} as a key")
                return {name: self.evaluate(value, frame, self.types.field_of(asked, None))}
            case n.Spread(value=value):
                return self.fields_of(self.evaluate(value, frame), entry)

    def fields_of(self, value: Value, entry: n.Entry) -> dict[str, Value]:
        """What a spread puts into an object."""
        if not isinstance(value, dict):
            raise Fault("value", entry.span, f"`...` of {kind_of(value)} in an object")
        return value

    def changed(self, record: Record, changes: list[n.Entry], frame: Frame, span: Span) -> Record:
        """A copy of a record in which some fields are others; its rules hold for it, too."""
        schemas = {field.name.text: field.schema for field in record.definition.fields}
        fields = dict(record.fields)
        for entry in changes:
            if isinstance(entry, n.Field) and entry.key.text in schemas:
                value = self.evaluate(entry.value, frame, schemas[entry.key.text])
                changed: dict[str, Value] = {entry.key.text: value}
            else:
                changed = self.fields_from(entry, frame, None)
            for name, value in changed.items():
                if name not in schemas:
                    said = f"no field `{name}` of the record"
                    raise Fault("value", span, said, is_order_open=True, failure="missing")
                fields[name] = self.argument(value, schemas[name], span)
        made = Record(record.definition, fields)
        self.check_rules(made)
        return made

    def slice(self, node: n.Slice, frame: Frame) -> Value:
        value = self.evaluate(node.value, frame)
        parts = (node.start, node.stop, node.step)
        ends = [None if end is None else self.evaluate(end, frame) for end in parts]
        if any(end is not None and type(end) is not int for end in ends):
            raise Wrong("a slice takes ints")
        if not isinstance(value, str | list | tuple):
            raise Wrong(f"cannot slice {kind_of(value)}")
        if ends[2] == 0:
            raise Wrong("the step of a slice is zero")
        return value[ends[0] : ends[1] : ends[2]]

    def comprehension(
        self, node: n.Comprehension, frame: Frame, asked: n.Schema | None
    ) -> list[Value] | dict[str, Value]:
        item = self.types.item_of(asked)
        found: list[Value] = []
        filled: dict[str, Value] = {}

        def go(position: int, inner: Frame) -> None:
            self.step()
            if position == len(node.clauses):
                if isinstance(node.item, n.ComputedField):
                    self.filled(filled, [node.item], inner, asked)
                else:
                    found.append(self.evaluate(node.item, inner, item))
                return
            clause = node.clauses[position]
            for value in self.items_of(clause.iterable, inner):
                self.bind(clause.pattern, value, inner)
                if all(self.holds(condition, inner) for condition in clause.conditions):
                    go(position + 1, inner)

        go(0, Frame(frame))
        return filled if isinstance(node.item, n.ComputedField) else found

    def items_of(
        self, node: n.Expression, frame: Frame, schema: n.Schema | None = None
    ) -> list[Value] | tuple[Value, ...]:
        """What a loop goes over; `schema` is the type of the drafts that it asks for."""
        owner = frame.find(node.text) if isinstance(node, n.Name) else None
        is_stream = owner is not None and isinstance(owner.names[node.text], v.Stream)
        value = self.evaluate(node, frame, schema)
        if isinstance(value, v.Stream):
            is_stream, (value, _) = True, value.read(node.span)
        if schema is not None:
            return self.types.drafts(value, schema)
        is_prompt = isinstance(node, n.Prompt) and node.is_streamed
        if is_prompt or (is_stream and isinstance(value, str)):
            return [value]  # queued replies come in one piece
        if not v.is_sequence(value):
            raise Fault("value", node.span, f"cannot go over {kind_of(value)}")
        return value

    def bind(self, pattern: n.Pattern, value: Value, frame: Frame) -> None:
        """Gives the names of a pattern their values, all of them or none."""
        for name, part in _parts(pattern, value).items():
            frame.bind(name, part)

    # Calls

    def call(self, node: n.Call, frame: Frame) -> Value:
        try:
            function = self.evaluate(node.function, frame)
        except Fault as fault:
            # A method is looked up before or behind the arguments.
            is_method = isinstance(node.function, n.Member) and fault.span == node.function.span
            fault.is_order_open = fault.is_order_open or is_method
            raise
        positional: list[Value] = []
        named: v.Bound = {}
        for position, argument in enumerate(node.arguments):
            name = argument.name.text if argument.name is not None else None
            asked = _parameter_schema(function, position, name)
            value = self.evaluate(argument.value, frame, asked)
            if name is None:
                positional.append(value)
            elif name in named:
                raise Wrong(f"`{name}` is given twice")
            else:
                named[name] = value
        if not isinstance(function, Callable_):
            raise Wrong(f"cannot call {kind_of(function)}")
        value = self.called(function, positional, named, node.span)
        if "by" in named and value == []:
            # Nothing was compared, so nothing says that the function could be asked.
            self.evaluated -= {one.value.span for one in node.arguments if one.name is not None}
        return value

    def called(
        self, function: Callable_, positional: list[Value], named: v.Bound, span: Span
    ) -> Value:
        match function:
            case Builtin(name="sorted" | "min" | "max") if "by" in named:
                rest = {name: value for name, value in named.items() if name != "by"}
                return self.ordered(function.name, positional, rest, named["by"], span)
            case Builtin():
                return _run_builtin(function, positional, named)
            case Constructor(definition=record, defaults=defaults):
                optional = {
                    field.name.text: None
                    for field in record.fields
                    if field.schema is not None and self.types.admits_nil(field.schema)
                }
                given = self.bound(record.fields, {**optional, **defaults}, positional, named, span)
                made = Record(record, given)
                self.check_rules(made)
                return made
            case Function(definition=definition, frame=outer, defaults=defaults):
                inner = Frame(outer)
                inner.names.update(
                    self.bound(definition.parameters, defaults, positional, named, span)
                )
                return self.entered(definition, inner)
            case v.Approved(function=function):
                return self.called(function, positional, named, span)
            case v.Held(function=function, schema=schema):
                pairs = zip(positional, schema.parameters, strict=True)
                given = [self.argument(value, asked, span) for value, asked in pairs]
                return self.argument(self.called(function, given, named, span), schema.result, span)
            case _:
                assert_never(function)

    def ordered(
        self, name: str, positional: list[Value], named: v.Bound, by: Value, span: Span
    ) -> Value:
        """What `sorted`, `min` or `max` gives when a function says what is compared."""
        items = named.pop("items") if "items" in named else positional.pop(0)
        reverse = positional.pop(0) if positional and name == "sorted" else False
        reverse = named.pop("reverse", reverse)
        if not isinstance(reverse, bool) or named:
            raise Wrong(f"arguments of `{name}`")
        given = [items, *positional] if positional else items
        if not v.is_sequence(given) or not isinstance(by, Callable_):
            raise Wrong(f"`{name}` of {kind_of(given)} by {kind_of(by)}")
        keys = [self.called(by, [one], {}, span) for one in given]
        v.check_ordered(keys)
        if name == "sorted":
            order = sorted(range(len(keys)), key=lambda one: keys[one], reverse=reverse)
            return [given[one] for one in order]
        if not keys:
            raise Wrong("no items")
        best = 0
        for one, key in enumerate(keys):
            if key < keys[best] if name == "min" else key > keys[best]:
                best = one
        return given[best]

    def bound(
        self,
        parameters: tuple[n.Parameter, ...],
        defaults: v.Bound,
        positional: list[Value],
        named: v.Bound,
        span: Span,
    ) -> v.Bound:
        """The parameters' values, in the parameters' order."""
        names = [parameter.name.text for parameter in parameters]
        if len(positional) > len(names):
            raise Wrong("too many arguments")
        given = dict(zip(names, positional, strict=False))
        for name, value in named.items():
            if name not in names or name in given:
                raise Wrong(f"argument `{name}`")
            given[name] = value
        schemas = {parameter.name.text: parameter.schema for parameter in parameters}
        for name in names:
            if name not in given and name not in defaults:
                raise Wrong(f"argument `{name}` is missing")
        return {
            name: self.argument(given[name], schemas[name], span)
            if name in given
            else defaults[name]
            for name in names
        }

    def argument(self, value: Value, schema: n.Schema | None, span: Span) -> Value:
        if schema is None:
            return value
        return self.fitted_here(value, schema, span, is_order_open=True)


def _is_within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _parts(pattern: n.Pattern, value: Value) -> v.Bound:
    match pattern:
        case n.NamePattern():
            return {pattern.name.text: value}
        case n.TuplePattern(items=items):
            if not v.is_sequence(value) or len(value) != len(items):
                raise Fault("value", pattern.span, f"cannot unpack {kind_of(value)}")
            found: v.Bound = {}
            for part, inner in zip(items, value, strict=True):
                found |= _parts(part, inner)
            return found
        case _:
            assert_never(pattern)


def _is_prompt(node: n.Expression) -> bool:
    return isinstance(node, n.Prompt)


def _parameter_schema(function: Value, position: int, name: str | None) -> n.Schema | None:
    """What the parameter asks for that an argument is for."""
    match function:
        case Function(definition=definition):
            parameters = definition.parameters
        case Constructor(definition=record):
            parameters = record.fields
        case v.Held(schema=schema):
            return schema.parameters[position] if position < len(schema.parameters) else None
        case v.Approved(function=inner):
            return _parameter_schema(inner, position, name)
        case _:
            return None
    if name is None:
        return parameters[position].schema if position < len(parameters) else None
    return next((one.schema for one in parameters if one.name.text == name), None)


def _run_builtin(function: Builtin, positional: list[Value], named: v.Bound) -> Value:
    try:
        return function.run(*positional, **named)
    except TypeError as error:
        raise Wrong(str(error)) from None
