"""The syntax tree becomes the checked tree; everything that is wrong is found before it runs.

    {"add": {"a": {"ad": {}}, "c": 2}}

    unknown function 'ad', did you mean add?
    unknown parameter 'c' of add, which takes a, b
    missing required parameter 'b' of add

Checking has two directions, as in any bidirectional type system: with an expected type it is
pushed inwards, down to the places where coercions are put; without one (`any`) the type is found.
A constant is tried right there, since its value is known: `"two"` for a number is a mistake, and
`"a,b"` for a list is an ambiguity. One mistake is reported once: a broken part fits everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from runtime_support._schema.model import (
    AnySchema,
    Field,
    ListSchema,
    MapSchema,
    ObjectSchema,
    TupleSchema,
)
from runtime_support.programs import _syntax as syntax
from runtime_support.programs._candidates import (
    Findings,
    Place,
    by_name,
    write,
)
from runtime_support.programs._coercion import is_by_position
from runtime_support.programs._naming import (
    Fitter,
    Names,
    Shape,
    Slot,
    Word,
    broken,
    coerced,
    fields_of,
    owner,
)
from runtime_support.programs._outcomes import Ambiguous, Diagnostic, Failure, invalid
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import Path, at, did_you_mean, near, order_of, references
from runtime_support.programs._tree import (
    CallNode,
    Checked,
    CheckedProgram,
    ConstantNode,
    IfNode,
    LetNode,
    ListNode,
    MapNode,
    RecordNode,
    RefNode,
    Widens,
)
from runtime_support.programs._types import (
    ANY,
    BOOLEAN,
    NULL,
    Type,
    item_of,
    literal_type,
    members_of,
    names_fit,
    notation,
    union_of,
    widened,
)

Scope = Mapping[str, Type]


def check_program(
    program: Any,
    registry: Registry,
    returns: Type = ANY,
    diagnostics: Iterable[Diagnostic] = (),
) -> CheckedProgram | Failure | Ambiguous:
    """The checked tree of JSON data; `diagnostics` are those of reading it."""
    findings = Findings(program, diagnostics)
    checker = Checker(registry, findings)
    root = checker.check_at((), Slot(returns, "the result" if returns != ANY else ""))
    if findings.diagnostics:
        corrected = findings.all_edits_made()
        if corrected is not None:
            again = check_program(corrected.program, registry, returns)
            corrected = None if isinstance(again, Failure) else corrected
        return invalid(findings.diagnostics, corrected)
    if findings.points:
        return Ambiguous(findings.points)
    return CheckedProgram(program, root, registry)


class Checker:
    """One walk over one program."""

    def __init__(self, registry: Registry, findings: Findings) -> None:
        self._registry = registry
        self._findings = findings
        self._fitter = Fitter(registry, findings)
        self._names = Names(registry, findings)
        self._parser = syntax.Parser(findings.misspelt)

    def check_at(self, path: Path, slot: Slot) -> Checked:
        expression = self._parser.parse(at(self._findings.program, path), path)
        return self.check(expression, slot, {})

    def check(self, expression: syntax.Expression, slot: Slot, scope: Scope) -> Checked:
        """The expression as a value of the slot's type, all its parts checked."""
        match expression:
            case syntax.Malformed(path):
                return broken(path)
            case syntax.Constant(path, value):
                node = ConstantNode(path, literal_type(value), True, False, value)
                return self._fitter.fit(node, slot)
            case syntax.ListOf():
                return self._list(expression, slot, scope)
            case syntax.Record():
                return self._record(expression, slot, scope)
            case syntax.Apply():
                return self._apply(expression, slot, scope)
            case syntax.Let():
                return self._let(expression, slot, scope)
            case syntax.Ref():
                return self._ref(expression, slot, scope)
            case syntax.Map():
                return self._map(expression, slot, scope)
            case syntax.If():
                return self._if(expression, slot, scope)

    # Lists

    def _list(self, expression: syntax.ListOf, slot: Slot, scope: Scope) -> Checked:
        wanted = _only_list(slot.type)
        inner = None if wanted is None else item_of(wanted)
        if isinstance(wanted, TupleSchema) and inner is None:
            if len(wanted.items) != len(expression.items):
                count = f"expected {notation(wanted)}, got a list of {len(expression.items)}"
                self._findings.wrong(slot.says(count), expression.path)
                return broken(expression.path)
            types = list(wanted.items)
        else:
            types = [ANY if inner is None else inner] * len(expression.items)
        items = tuple(
            self.check(item, slot.inside(type_), scope)
            for item, type_ in zip(expression.items, types, strict=True)
        )
        found: Type = ListSchema(union_of(widened(item.type) for item in items))
        if inner is not None and inner != ANY:
            found = ListSchema(inner)
        node = ListNode(expression.path, found, *_effects(items), items)
        return self._settled(node, wanted, slot)

    def _settled(
        self, node: Checked, wanted: ListSchema | TupleSchema | None, slot: Slot
    ) -> Checked:
        """A list whose elements were checked against `wanted`, if there was such a type."""
        if wanted is None:
            return self._fitter.fit(node, slot)
        if isinstance(wanted, TupleSchema):
            return coerced(node, wanted, Widens(), self._registry, slot.bare)
        return node

    def _map(self, expression: syntax.Map, slot: Slot, scope: Scope) -> Checked:
        over = self.check(expression.over, Slot(ListSchema(ANY), "'over' of $map, a list"), scope)
        item = item_of(over.type) or ANY
        inside = {**scope, expression.variable: item}
        where = None
        if expression.where is not None:
            where = self.check(expression.where, Slot(BOOLEAN, "'where' of $map"), inside)
        wanted = _only_list(slot.type)
        wanted_item = None if wanted is None else item_of(wanted)
        if wanted_item is None:
            wanted = None
        body = self.check(expression.body, slot.inside(wanted_item or ANY), inside)
        known = None if wanted_item == ANY else wanted_item
        found = ListSchema(known or widened(body.type))
        parts = [over, body] if where is None else [over, where, body]
        node = MapNode(
            expression.path, found, *_effects(parts), over, expression.variable, where, body
        )
        return self._settled(node, wanted, slot)

    # Records

    def _record(self, expression: syntax.Record, slot: Slot, scope: Scope) -> Checked:
        names = {name for name, _ in expression.fields}
        shapes = self._names.shapes(slot.type)
        for shape in shapes:
            if isinstance(shape, MapSchema) or names_fit(names, fields_of(shape)):
                return self._shaped(expression, shape, slot, scope)
        near_misses = [s for s in shapes if names & {field.name for field in fields_of(s)}]
        if len(near_misses) == 1:
            return self._shaped(expression, near_misses[0], slot, scope)
        fields = tuple((name, self.check(e, Slot(), scope)) for name, e in expression.fields)
        known = tuple(Field(name, widened(node.type)) for name, node in fields)
        parts = [node for _, node in fields]
        found = ObjectSchema(None, known)
        return self._fitter.fit(RecordNode(expression.path, found, *_effects(parts), fields), slot)

    def _shaped(
        self,
        expression: syntax.Record,
        shape: Shape,
        slot: Slot,
        scope: Scope,
    ) -> Checked:
        """The record as one of this shape: an object, or a call of the constructor."""
        nodes = self._named(expression.fields, shape, expression.start, "field", scope)
        if isinstance(shape, ObjectSchema):
            nodes += _absent_fields(shape, {name for name, _ in nodes}, expression.path)
        parts = [node for _, node in nodes]
        if not isinstance(shape, Definition):
            return RecordNode(expression.path, shape, *_effects(parts), nodes)
        return CallNode(
            expression.path, shape.result, _effects(parts)[0], True, shape, nodes, "record"
        )

    # Calls

    def _apply(self, expression: syntax.Apply, slot: Slot, scope: Scope) -> Checked:
        definition = self._registry.definitions.get(expression.name)
        if definition is not None:
            return self._call(expression, definition, slot, scope)
        for shape in self._names.shapes(slot.type):
            if not isinstance(shape, MapSchema) and names_fit({expression.name}, fields_of(shape)):
                field = (expression.name, self._parser.operand_of(expression))
                record = syntax.Record(expression.path, expression.path, (field,))
                return self._shaped(record, shape, slot, scope)
        self._names.unknown_function(expression, slot)
        arguments = self._parser.arguments_of(expression)
        if arguments is None:
            arguments = (("", self._parser.operand_of(expression)),)
        for _, argument in arguments:
            self.check(argument, Slot(), scope)
        return broken(expression.path)

    def _call(
        self, expression: syntax.Apply, definition: Definition, slot: Slot, scope: Scope
    ) -> Checked:
        arguments = self._parser.arguments_of(expression)
        inside = (*expression.path, expression.name)
        form: Literal["call", "bare"] = "call"
        if arguments is not None:
            nodes = self._named(arguments, definition, inside, "parameter", scope)
        elif (single := definition.single) is not None and not is_by_position(
            expression.body, single.schema, self._registry
        ):
            form = "bare"
            operand = self._parser.operand_of(expression)
            place = Slot(single.schema, _label("parameter", single.name, definition), single.name)
            nodes = ((single.name, self.check(operand, place, scope)),)
        else:
            takes = ", ".join(one.name for one in definition.parameters) or "nothing"
            message = f"{definition.name} takes an object of arguments, with {takes}"
            self._findings.wrong(message, inside, by_name(expression.body, definition, inside))
            return broken(expression.path)
        pure = definition.pure and all(node.pure for _, node in nodes)
        node = CallNode(expression.path, definition.result, pure, True, definition, nodes, form)
        return self._fitter.fit(node, slot)

    def _named(
        self,
        fields: syntax.Fields,
        shape: Shape,
        path: Path,
        word: Word,
        scope: Scope,
    ) -> tuple[tuple[str, Checked], ...]:
        """Arguments or fields against their declarations; unknown and missing ones are reported."""
        if isinstance(shape, MapSchema):
            wanted = Slot(shape.value)
            return tuple((name, self.check(child, wanted, scope)) for name, child in fields)
        declared = {field.name: field for field in fields_of(shape)}
        given = [name for name, _ in fields]
        nodes: list[tuple[str, Checked]] = []
        for name, child in fields:
            if name in declared:
                where = Slot(declared[name].schema, _label(word, name, shape))
                nodes.append((name, self.check(child, where, scope)))
            else:
                self._names.unknown_name(name, given, shape, (*path, name), word)
                if not self._names.is_operator(name):
                    self.check(child, Slot(), scope)
        self._names.missing_names(given, shape, path, word)
        return tuple(nodes)

    # Variables and choices

    def _let(self, expression: syntax.Let, slot: Slot, scope: Scope) -> Checked:
        path = (*expression.path, "$let", "bind")
        bindings = dict(expression.bindings)
        bound = at(self._findings.program, path)
        needs = {name: references(bound[name]) & bindings.keys() for name in bindings}
        order = order_of(needs)
        for cycle in order.cycles:
            message = f"the variables of a $let form a cycle: {' -> '.join(cycle)}"
            self._findings.wrong(message, (*path, cycle[0]))
        inside = {**scope, **dict.fromkeys(bindings, ANY)}
        nodes: list[tuple[str, Checked]] = []
        for name in order.names:
            node = self.check(bindings[name], Slot(), inside)
            inside[name] = node.type
            nodes.append((name, node))
        body = self.check(expression.body, slot.inside(slot.type), inside)
        parts = [*(node for _, node in nodes), body]
        return LetNode(
            expression.path,
            body.type,
            *_effects(parts),
            tuple(nodes),
            tuple(needs[name] for name, _ in nodes),
            body,
        )

    def _ref(self, expression: syntax.Ref, slot: Slot, scope: Scope) -> Checked:
        if expression.name in scope:
            node = RefNode(expression.path, scope[expression.name], True, False, expression.name)
            return self._fitter.fit(node, slot)
        others = near(expression.name, scope)
        place = Place((*expression.path, "$ref"))
        edits = [write(f"with {other}", place, other) for other in others]
        message = f"unknown variable '{expression.name}'{did_you_mean(others)}"
        self._findings.wrong(message, expression.path, edits)
        return broken(expression.path)

    def _if(self, expression: syntax.If, slot: Slot, scope: Scope) -> Checked:
        test = self.check(expression.test, Slot(BOOLEAN, "'test' of $if"), scope)
        then = self.check(expression.then, slot.inside(slot.type), scope)
        otherwise = self.check(expression.otherwise, slot.inside(slot.type), scope)
        found = slot.type
        if isinstance(found, AnySchema):
            found = union_of([widened(then.type), widened(otherwise.type)])
        parts = [test, then, otherwise]
        return IfNode(expression.path, found, *_effects(parts), test, then, otherwise)


def _only_list(type_: Type) -> ListSchema | TupleSchema | None:
    """The list type that a list must be here, when there is exactly one."""
    lists = [one for one in members_of(type_) if isinstance(one, ListSchema | TupleSchema)]
    return lists[0] if len(lists) == 1 else None


def _absent_fields(
    record: ObjectSchema, given: set[str], path: Path
) -> tuple[tuple[str, Checked], ...]:
    """The fields that take a value when they are absent: those that may be null."""
    return tuple(
        (field.name, ConstantNode(path, NULL, True, False, None))
        for field in record.fields
        if field.name not in given and not field.required and field.default is None
    )


def _label(word: str, name: str, shape: ObjectSchema | Definition) -> str:
    return f"{word} '{name}'{owner(shape)}"


def _effects(parts: Iterable[Checked]) -> tuple[bool, bool]:
    """Whether all parts are pure, and whether any calls something."""
    parts = list(parts)
    return all(part.pure for part in parts), any(part.calls for part in parts)
