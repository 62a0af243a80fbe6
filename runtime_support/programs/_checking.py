"""Checks a program before it runs: turns JSON data into the checked tree, or reports all mistakes.

    {"add": {"a": {"ad": {}}, "c": 2}}                          a program with three mistakes:

    unknown function 'ad', did you mean add?
    unknown parameter 'c' of add, which takes a, b
    missing required parameter 'b' of add

Checking is bidirectional: an expected type is pushed inwards, to the places where coercions are
inserted; without an expected type (`any`) the type is inferred. A constant is converted at once,
since its value is known: `"two"` for a number is a mistake, and `"a,b"` for a list is an ambiguity.
Each mistake is reported only once, because an invalid part gets a type that fits everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from runtime_support._schema import model as m
from runtime_support._values.kinds import is_list, is_object
from runtime_support._values.names import near
from runtime_support.programs import _tree as n
from runtime_support.programs import _types
from runtime_support.programs._choices import (
    Choice,
    chain_choices,
    innermost,
    point_at,
    reading_choices,
    ways,
)
from runtime_support.programs._conversions import (
    Fits,
    Impossible,
    Read,
    Route,
    calls_of,
    is_by_position,
    refusal,
    step,
)
from runtime_support.programs._outcomes import (
    Ambiguous,
    Diagnostic,
    Point,
    ProgramFailure,
    compact,
    invalid,
)
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import FORMS, Path, at, offer_names, pointer

Data: TypeAlias = dict[str, Any]
Shape: TypeAlias = m.MapSchema | m.ObjectSchema | Definition
"""What an object can be: one of any keys, a record, or an instance of a class."""
Word: TypeAlias = Literal["parameter", "field"]


@dataclass(slots=True, eq=False)
class Variable:
    """A variable of a `$let`.

    The expression is checked in the order of the `$let`, or earlier if the expression of an earlier
    variable refers to this variable. `scope` has the names that are visible in the `$let`. `needs`
    are the names of the variables of the same `$let` that the expression refers to. `done` lists
    the variables of the `$let` that have been checked, in the order of evaluation.
    """

    name: str
    expression: Any
    path: Path
    scope: Scope
    done: list[Variable]
    needs: set[str] = field(default_factory=set[str])
    type: _types.Type = _types.ANY
    node: n.Checked | None = None


Scope: TypeAlias = Mapping[str, "_types.Type | Variable"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place of a program where a type is expected. `label` names the place in messages.

    If the place is an argument written without its name, `bare` is the name of the parameter.
    """

    type: _types.Type = _types.ANY
    label: str = ""
    bare: str | None = None

    def inside(self, type_: _types.Type) -> Slot:
        return Slot(type_, self.label)

    def says(self, message: str) -> str:
        return f"{self.label}: {message}" if self.label else message


def check_program(
    program: Any,
    registry: Registry,
    returns: _types.Type = _types.ANY,
    diagnostics: Iterable[Diagnostic] = (),
) -> n.CheckedProgram | ProgramFailure | Ambiguous:
    """Checks a program in JSON data. `diagnostics` are the mistakes found when it was read."""
    checker = Checker(program, registry, diagnostics)
    slot = Slot(returns, "the result" if returns != _types.ANY else "")
    root = checker.check(program, (), slot, {})
    if checker.diagnostics:
        return invalid(checker.diagnostics)
    if checker.points:
        return Ambiguous(innermost(checker.points))
    return n.CheckedProgram(program, root, registry)


class Checker:
    """Checks one program in one pass; collects its mistakes and its ambiguous places."""

    def __init__(self, program: Any, registry: Registry, diagnostics: Iterable[Diagnostic]) -> None:
        self._program = program
        self._registry = registry
        self.diagnostics = list(diagnostics)
        self.points: list[tuple[Path, Point]] = []
        self._begun: list[Variable] = []

    def _wrong(self, message: str, path: Path) -> n.ConstantNode:
        """Reports a mistake. Returns a node that fits everywhere, in place of the expression."""
        mistake = Diagnostic(message, pointer(path))
        if mistake not in self.diagnostics:
            self.diagnostics.append(mistake)
        return n.ConstantNode(path, _types.ANY, None)

    def check(self, value: Any, path: Path, slot: Slot, scope: Scope) -> n.Checked:
        """Checks the expression at the path. Returns its node, coerced to the slot's type."""
        if is_list(value):
            return self._list(value, path, slot, scope)
        if not is_object(value):
            type_ = _types.NULL if value is None else m.LiteralSchema(value)
            return self._fit(n.ConstantNode(path, type_, value), slot)
        if any(name.startswith("$") for name in value):
            return self._form(value, path, slot, scope)
        if len(value) == 1:
            ((name, body),) = value.items()
            return self._apply(name, body, path, slot, scope)
        return self._record(value, path, path, slot, scope)

    def _form(self, value: Data, path: Path, slot: Slot, scope: Scope) -> n.Checked:
        for name in value:
            if len(value) > 1 and name in FORMS:
                return self._wrong(f"'{name}' must be the only key of its object", path)
            if name.startswith("$") and name not in FORMS:
                offered = offer_names(near(name, FORMS))
                return self._wrong(f"unknown form '{name}'{offered}", (*path, name))
        ((name, body),) = value.items()
        inside = (*path, name)
        if name == "$ref":
            if isinstance(body, str):
                return self._ref(body, path, slot, scope)
            return self._wrong("'$ref' takes the name of a variable", inside)
        if not is_object(body):
            takes = ", ".join(FORMS[name]) or "fields"
            return self._wrong(f"'{name}' takes an object of {takes}", inside)
        if name == "$object":
            return self._record(body, path, inside, slot, scope)
        if not self._has_names(body, FORMS[name], "key", f" of '{name}'", inside):
            return n.ConstantNode(path, _types.ANY, None)
        match name:
            case "$let":
                return self._let(body["bind"], body["in"], path, slot, scope)
            case "$map":
                return self._map(body, path, slot, scope)
            case _:
                return self._if(body, path, slot, scope)

    def _check_variable(self, name: str, path: Path) -> None:
        if not name or "$" in name:
            self._wrong(f"'{name}' cannot be the name of a variable", path)

    # Lists

    def _list(self, value: list[Any], path: Path, slot: Slot, scope: Scope) -> n.Checked:
        wanted = _only_list(slot.type)
        inner = None if wanted is None else _types.item_of(wanted)
        types: tuple[_types.Type, ...] = (_types.ANY if inner is None else inner,) * len(value)
        if isinstance(wanted, m.TupleSchema) and inner is None:
            types = wanted.items
            if len(types) != len(value):
                count = f"expected {_types.type_notation(wanted)}, got a list of {len(value)}"
                return self._wrong(slot.says(count), path)
        items = tuple(
            self.check(item, (*path, index), slot.inside(type_), scope)
            for index, (item, type_) in enumerate(zip(value, types, strict=True))
        )
        if inner is None or inner == _types.ANY:
            inner = _types.union_of(_types.widen(item.type) for item in items)
        node = n.ListNode(path, m.ListSchema(inner), items)
        return self._settled(node, wanted, slot)

    def _settled(
        self, node: n.Checked, wanted: m.ListSchema | m.TupleSchema | None, slot: Slot
    ) -> n.Checked:
        """Returns the node of a list, coerced to the slot's type if needed.

        `wanted` is the list type that the elements were checked against, or None.
        """
        if wanted is None:
            return self._fit(node, slot)
        if isinstance(wanted, m.TupleSchema):
            return n.CoerceNode(node.path, wanted, node, bare=slot.bare)
        return node

    def _map(self, body: Data, path: Path, slot: Slot, scope: Scope) -> n.Checked:
        start, variable = (*path, "$map"), body["as"]
        if not isinstance(variable, str):
            return self._wrong("'as' takes the name of a variable", (*start, "as"))
        self._check_variable(variable, (*start, "as"))
        each = Slot(m.ListSchema(_types.ANY), "'over' of $map, a list")
        over = self.check(body["over"], (*start, "over"), each, scope)
        inside = {**scope, variable: _types.item_of(over.type) or _types.ANY}
        where = None
        if "where" in body:
            test = Slot(_types.BOOLEAN, "'where' of $map")
            where = self.check(body["where"], (*start, "where"), test, inside)
        wanted = _only_list(slot.type)
        item = None if wanted is None else _types.item_of(wanted)
        wanted = None if item is None else wanted
        do = self.check(body["do"], (*start, "do"), slot.inside(item or _types.ANY), inside)
        found = _types.widen(do.type) if item is None or item == _types.ANY else item
        node = n.MapNode(path, m.ListSchema(found), over, variable, where, do)
        return self._settled(node, wanted, slot)

    # Records

    def _record(self, body: Data, path: Path, start: Path, slot: Slot, scope: Scope) -> n.Checked:
        """Checks a record. `body` has its fields, and `path` is the path of the record.

        If the record is wrapped in `$object`, `start` is the path of the object inside of
        `$object`. Otherwise, `start` equals `path`.
        """
        shapes = self._shapes(slot.type)
        found = [one for one in shapes if _may_have(one, body)]
        similar = [one for one in shapes if body.keys() & {f.name for f in _fields_of(one)}]
        if found or len(similar) == 1:
            return self._shaped(body, path, start, [*found, *similar][0], scope, slot)
        fields = tuple(
            (name, self.check(part, (*start, name), Slot(), scope)) for name, part in body.items()
        )
        known = tuple(m.Field(name, _types.widen(node.type)) for name, node in fields)
        return self._fit(n.RecordNode(path, m.ObjectSchema(None, known), fields), slot)

    def _shaped(
        self, body: Data, path: Path, start: Path, shape: Shape, scope: Scope, slot: Slot
    ) -> n.Checked:
        """Checks a record against its shape: a record type, a mapping type or a constructor."""
        nodes = self._named(body, start, shape, "field", scope)
        if isinstance(shape, Definition):
            return n.CallNode(path, shape.result, shape, nodes, "record")
        if isinstance(shape, m.ObjectSchema):
            # Missing fields whose default is null become null.
            absent = [one for one in shape.fields if not one.required and one.default is None]
            null = n.ConstantNode(path, _types.NULL, None)
            nodes += tuple((one.name, null) for one in absent if one.name not in body)
        elif shape.key != m.TEXT:
            # The keys are still strings; the coercion at this place turns them into dates and the
            # like.
            return self._fit(n.RecordNode(path, m.MapSchema(shape.value), nodes), slot)
        return n.RecordNode(path, shape, nodes)

    # Calls

    def _apply(self, name: str, body: Any, path: Path, slot: Slot, scope: Scope) -> n.Checked:
        """Checks an object with one key: a call if the key names a callable, otherwise a record."""
        definition = self._registry.definitions.get(name)
        if definition is not None:
            return self._call(definition, body, path, slot, scope)
        for shape in self._shapes(slot.type):
            if not isinstance(shape, m.MapSchema) and _may_have(shape, {name}):
                return self._shaped({name: body}, path, path, shape, scope, slot)
        inside = (*path, name)
        parts = [((*inside, key), one) for key, one in body.items()] if is_object(body) else []
        for place, part in parts or [(inside, body)]:
            self.check(part, place, Slot(), scope)
        return self._unknown_function(name, body, path, slot)

    def _call(
        self, definition: Definition, body: Any, path: Path, slot: Slot, scope: Scope
    ) -> n.Checked:
        inside, single = (*path, definition.name), definition.single
        form: Literal["call", "bare"] = "call"
        if is_object(body):
            nodes = self._named(body, inside, definition, "parameter", scope)
        elif single is not None and not is_by_position(body, single.schema, self._registry):
            form = "bare"
            label = f"parameter '{single.name}' of {definition.name}"
            place = Slot(single.schema, label, single.name)
            nodes = ((single.name, self.check(body, inside, place, scope)),)
        else:
            takes = ", ".join(one.name for one in definition.parameters) or "nothing"
            message = f"{definition.name} takes an object of arguments, with {takes}"
            return self._wrong(message, inside)
        return self._fit(n.CallNode(path, definition.result, definition, nodes, form), slot)

    def _named(
        self, body: Data, path: Path, shape: Shape, word: Word, scope: Scope
    ) -> tuple[tuple[str, n.Checked], ...]:
        """Returns the checked arguments or fields, each with its name.

        Reports unknown names and missing names.
        """
        if isinstance(shape, m.MapSchema):
            slot = Slot(shape.value)
            return tuple((k, self.check(v, (*path, k), slot, scope)) for k, v in body.items())
        # The name of an object type is internal, so messages do not show it.
        owner = f" of {shape.name}" if isinstance(shape, Definition) else ""
        declared = {one.name: one for one in _fields_of(shape)}
        hint = self._of_bare_call(body, shape)
        nodes: list[tuple[str, n.Checked]] = []
        for name, part in body.items():
            if name in declared:
                slot = Slot(declared[name].schema, f"{word} '{name}'{owner}")
                nodes.append((name, self.check(part, (*path, name), slot, scope)))
            elif not hint:
                self.check(part, (*path, name), Slot(), scope)
        required = {one.name: one.required for one in declared.values()}
        self._has_names(body, required, word, owner, path, hint)
        return tuple(nodes)

    def _of_bare_call(self, body: Data, shape: m.ObjectSchema | Definition) -> str:
        """Returns a hint for messages if the object of arguments is itself a call, or else "".

        The hint shows the call as the value of the only required parameter.
        """
        single, name = getattr(shape, "single", None), next(iter(body), "")
        is_call = name in FORMS or name in self._registry.definitions
        if single is None or not is_call or name == single.name or len(body) > 1:
            return ""
        return f'; write {{"{single.name}": {{"{name}": ...}}}}'

    def _has_names(
        self,
        given: Data,
        declared: Mapping[str, bool],
        word: str,
        owner: str,
        path: Path,
        hint: str = "",
    ) -> bool:
        """True if the object has all required keys and no undeclared ones. Reports each mistake.

        `declared` maps each declared key to whether it is required.
        """
        before = len(self.diagnostics)
        known = ", ".join(declared) or "nothing"
        for name in [one for one in given if one not in declared]:
            others = offer_names(near(name, [one for one in declared if one not in given]))
            message = f"unknown {word} '{name}'{owner}, which takes {known}{others}{hint}"
            self._wrong(message, (*path, name))
        for name, required in declared.items():
            if required and name not in given:
                kind = "required parameter" if word == "parameter" else word
                self._wrong(f"missing {kind} '{name}'{owner}", path)
        return len(self.diagnostics) == before

    # Variables and choices

    def _let(self, bound: Any, body: Any, path: Path, slot: Slot, scope: Scope) -> n.Checked:
        start = (*path, "$let", "bind")
        if not is_object(bound):
            return self._wrong("'bind' takes an object of variables", start)
        for name in bound:
            self._check_variable(name, (*start, name))
        inside = dict(scope)
        done: list[Variable] = []
        variables = [
            Variable(name, one, (*start, name), inside, done) for name, one in bound.items()
        ]
        inside |= {one.name: one for one in variables}
        for one in variables:
            self._type_of(one)
        result = self.check(body, (*path, "$let", "in"), slot.inside(slot.type), inside)
        nodes = tuple((one.name, one.node) for one in done if one.node is not None)
        needs = tuple(frozenset(one.needs) for one in done)
        return n.LetNode(path, result.type, nodes, needs, result)

    def _type_of(self, variable: Variable) -> _types.Type:
        """Returns the type of a variable. Checks the variable's expression first if necessary."""
        others = [one for one in self._begun if one.scope is variable.scope]
        if others:
            others[-1].needs.add(variable.name)
        if variable in others:
            cycle = [one.name for one in others[others.index(variable) :]]
            message = " -> ".join([*cycle, variable.name])
            self._wrong(f"the variables of a $let form a cycle: {message}", variable.path)
        elif variable.node is None:
            self._begun.append(variable)
            node = self.check(variable.expression, variable.path, Slot(), variable.scope)
            self._begun.pop()
            variable.node, variable.type = node, node.type
            variable.done.append(variable)
        return variable.type

    def _ref(self, name: str, path: Path, slot: Slot, scope: Scope) -> n.Checked:
        found = scope.get(name)
        if found is None:
            return self._wrong(f"unknown variable '{name}'{offer_names(near(name, scope))}", path)
        type_ = self._type_of(found) if isinstance(found, Variable) else found
        return self._fit(n.RefNode(path, type_, name), slot)

    def _if(self, body: Data, path: Path, slot: Slot, scope: Scope) -> n.Checked:
        here, branch = (*path, "$if"), slot.inside(slot.type)
        test = self.check(
            body["test"], (*here, "test"), Slot(_types.BOOLEAN, "'test' of $if"), scope
        )
        then = self.check(body["then"], (*here, "then"), branch, scope)
        otherwise = self.check(body["else"], (*here, "else"), branch, scope)
        found = slot.type
        if isinstance(found, m.AnySchema):
            found = _types.union_of([_types.widen(then.type), _types.widen(otherwise.type)])
        return n.IfNode(path, found, test, then, otherwise)

    # Coercions

    def _fit(self, node: n.Checked, slot: Slot) -> n.Checked:
        """Returns the node, wrapped in a coercion if its values may have to change to fit the slot.

        Reports a mistake if no coercion is possible, and an ambiguous place if several are.
        """
        found = step(node.type, slot.type, self._registry)
        match found:
            case Fits(True):
                return node
            case Impossible():
                message = refusal(node.type, slot.type, self._registry)
                return self._wrong(slot.says(message), node.path)
            case Route(chains, levels) if len(chains) > 1:
                source, target = node.type, slot.type
                for _ in range(levels):
                    source, target = _item_within(source), _item_within(target)
                choices = chain_choices(chains, lambda: at(self._program, node.path), levels)
                self._unclear(_types.found_notation(source), target, choices, node, slot)
            case Read(values) if len(values) > 1 and isinstance(node.type, m.LiteralSchema):
                given = compact(node.type.value)
                self._unclear(given, slot.type, reading_choices(values), node, slot)
            case _:
                pass
        return n.CoerceNode(node.path, slot.type, node, calls_of(found), slot.bare)

    def _unclear(
        self, given: str, wanted: _types.Type, choices: list[Choice], node: n.Checked, slot: Slot
    ) -> None:
        message = ways(given, wanted, choices)
        point = point_at(message, choices, self._program, (node.path, slot.bare))
        self.points.append((node.path, point))

    # Names

    def _shapes(self, type_: _types.Type) -> list[Shape]:
        """Returns the shapes that an object may have where this type is expected.

        Record types come first, then mapping types, then constructors.
        """
        members = _types.members_of(type_)
        records = (one for one in members if isinstance(one, m.ObjectSchema))
        shapes: list[Shape] = [one for one in records if one.build is None]
        shapes += [one for one in members if isinstance(one, m.MapSchema)]
        constructors = map(self._registry.constructor_of, members)
        return shapes + [one for one in constructors if one is not None]

    def _unknown_function(self, name: str, body: Any, path: Path, slot: Slot) -> n.Checked:
        """Reports an object whose only key names neither a callable nor a field."""
        shapes = self._shapes(slot.type)
        fields = [one.name for shape in shapes for one in _fields_of(shape)]
        known = self._registry.definitions
        makers = [o.name for o in known.values() if o.kind == "type" and _may_have(o, {name})]
        others = [*near(name, known), *near(name, fields), *makers]
        is_data = isinstance(slot.type, m.AnySchema) and not is_object(body) and not others
        message = f"unknown function '{name}'{offer_names(others)}"
        if is_data or any(isinstance(shape, m.MapSchema) for shape in shapes):
            message += '; a record of one key is written {"$object": {...}}'
        return self._wrong(message, path)


def _fields_of(shape: Shape) -> tuple[m.Field, ...]:
    if isinstance(shape, m.MapSchema):
        return ()
    return shape.parameters if isinstance(shape, Definition) else shape.fields


def _may_have(shape: Shape, names: Iterable[str]) -> bool:
    """True if objects of the shape may have exactly these keys."""
    return isinstance(shape, m.MapSchema) or _types.names_fit(set(names), _fields_of(shape))


def _item_within(type_: _types.Type) -> _types.Type:
    """Returns the item type of a list type, or of the first list type in a union.

    For any other type, the result is `any`.
    """
    items = map(_types.item_of, _types.members_of(type_))
    return next((one for one in items if one is not None), _types.ANY)


def _only_list(type_: _types.Type) -> m.ListSchema | m.TupleSchema | None:
    """Returns the list or tuple type among the members of a type.

    Returns None if there is no such type, or if there are several.
    """
    lists = _types.lists_of(type_)
    return lists[0] if len(lists) == 1 else None
