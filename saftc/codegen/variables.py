"""The annotations of variables: what Python's type checkers cannot see in the values themselves.

    notes: list[str] = []             it is filled later
    total: int | float = 0            it holds another kind of number later
    row: dict[str, Any] = {...}       its fields differ in type, and are read one by one

    d: str | None                     it is read as `str` before it holds None
    d = doubt(x)

A name has one annotation: beside its first value, or in a line above what binds it first. That is
so where the script counts on the first value (mypy knows no more of a name with an annotation
beside its value than the annotation), and where no `=` binds it: by a loop, an unpacking, or
prompts that are asked together. A function that runs ahead for a loop has variables of its own.
Other variables have none, as a person would write them. The names of a destructuring are any value
to checkers; one that a function returns is declared above it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from saftc.codegen import python as py
from saftc.codegen.annotations import annotation, is_plain_dict
from saftc.codegen.context import Binding, Bindings, Context
from saftc.codegen.python import Expression, Statement
from saftc.flow.statements import assigned_by, blocks_of
from saftc.schedule.awaits import Wait
from saftc.schedule.loop_values import bound_types
from saftc.schedule.plan import Plan
from saftc.semantics.facts import Facts
from saftc.semantics.names import Symbol
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
    ANY,
    FLOAT,
    INT,
    NEVER,
    NIL,
    BuiltinType,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    TupleType,
    Type,
    UnionType,
    is_known,
    item_type,
    members,
    parts,
    union,
    within,
    without,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk


def bindings_of(module: n.Module, facts: Facts, plan: Plan) -> Bindings:
    """Where each variable of Python gets its values, in source order."""
    found: dict[tuple[Symbol, n.ForStmt | None], list[Binding]] = {}

    def add(symbol: Symbol, frame: n.ForStmt | None, binding: Binding) -> None:
        found.setdefault((symbol, frame), []).append(binding)

    def visit(statements: Iterable[n.Statement], frame: n.ForStmt | None) -> None:
        for one in statements:
            ahead = plan.loops.get(one) if isinstance(one, n.ForStmt) else None
            if isinstance(one, n.FunctionDef):
                for parameter in one.parameters:
                    add(facts.names.of(parameter.name), None, Binding(one, ANY, is_taken=True))
                visit(one.body, None)
                continue
            inner = frame if ahead is None else one
            assert inner is None or isinstance(inner, n.ForStmt)
            value = one.value if isinstance(one, n.AssignStmt | n.AugmentedAssignStmt) else None
            for name in assigned_by(one):
                of = bound_types(facts, one, name) if value is None else [facts.type_of(value)]
                is_result = facts.keeps_history(name)
                binding = Binding(one, union(of), is_result, value, is_taken=ahead is not None)
                add(facts.names.of(name), inner, binding)
            if ahead is None:
                for block in blocks_of(one):
                    visit(block, frame)
                continue
            assert isinstance(one, n.ForStmt)
            for symbol in ahead.grows:
                add(symbol, inner, Binding(one, ANY, is_taken=True))
            for given in ahead.gives:
                add(given.symbol, frame, Binding(one, given.type, given.is_result))
            visit(one.body[: ahead.cut], inner)
            visit(one.body[ahead.cut :], frame)

    visit(module.statements, None)
    return found


def reads_of(module: n.Module, facts: Facts) -> Mapping[Symbol, Sequence[n.Name]]:
    """Where each name is read."""
    found: dict[Symbol, list[n.Name]] = {}
    for node in nodes_of(module, n.Name):
        found.setdefault(facts.names.of(node), []).append(node)
    return found


def returned_symbols(module: n.Module, facts: Facts) -> set[Symbol]:
    """The variables that some function with a known type returns, as they are or in parts."""
    sources: dict[Symbol, list[Symbol]] = {}
    pending: list[Symbol] = []
    for node in nodes_of(module):
        match node:
            case n.AssignStmt() | n.AugmentedAssignStmt():
                held = sources.setdefault(facts.names.of(node.name), [])
                held += _parts_of(node.value, facts)
            case n.FunctionDef() if facts.functions[node].returns != ANY:
                for inner in walk(node):
                    if isinstance(inner, n.RetStmt) and inner.value is not None:
                        pending += _parts_of(inner.value, facts)
            case _:
                pass
    found: set[Symbol] = set()
    while pending:
        symbol = pending.pop()
        if symbol not in found:
            found.add(symbol)
            pending += sources.get(symbol, ())
    return found


def _parts_of(value: n.Expression, facts: Facts) -> Iterator[Symbol]:
    """The variables for whose sake checkers take a value for any, if they take them for any."""
    match value:
        case n.Name():
            yield facts.names.of(value)
        case n.Member() | n.TupleMember() | n.Index() | n.Slice():
            yield from _parts_of(value.value, facts)
        case n.Unary():
            yield from _parts_of(value.operand, facts)
        case n.Binary() | n.Comparison() | n.Logical():
            yield from _parts_of(value.left, facts)
            yield from _parts_of(value.right, facts)
        case n.Conditional():
            yield from _parts_of(value.then, facts)
            yield from _parts_of(value.other, facts)
        case n.Call() if isinstance(facts.types.get(value.function), BuiltinType):
            for argument in value.arguments:
                yield from _parts_of(argument.value, facts)
        case _:
            return


def variable_annotation(
    context: Context, statement: n.AssignStmt | n.AugmentedAssignStmt
) -> Expression | None:
    """The annotation beside the name that `statement` assigns to, if it needs one there."""
    found = _annotated(context, context.facts.names.of(statement.name), statement)
    return None if found is None or found.is_above else found.type


def declarations(context: Context, statements: Sequence[n.Statement]) -> list[Statement]:
    """`name: str` above statements that are written as one, for names that need it there."""
    made: list[Statement] = []
    for statement in statements:
        for symbol in _bound_outside(context, statement):
            found = _annotated(context, symbol, statement)
            if found is not None and found.is_above:
                made.append(py.line(py.annotated(py.name(context.names[symbol]), found.type)))
                context.note(made[-1], statement.span)
    return made


def _bound_outside(context: Context, statement: n.Statement) -> list[Symbol]:
    """The variables that a statement binds in the place around it."""
    ahead = context.plan.loops.get(statement) if isinstance(statement, n.ForStmt) else None
    if ahead is not None:
        return [one.symbol for one in ahead.gives]
    return [context.facts.names.of(name) for name in assigned_by(statement)]


class _Annotated(NamedTuple):
    """The one annotation of a variable: beside its first value, or in a line above."""

    type: Expression
    is_above: bool


def _annotated(context: Context, symbol: Symbol, statement: n.Statement) -> _Annotated | None:
    """The annotation of a variable, where `statement` is the first that binds it."""
    first, *others = bindings = _bindings(context, symbol)
    if first.statement is not statement or first.is_taken or symbol in context.shared:
        return None
    if symbol.name == "_":
        return None  # nothing reads it
    own, type_ = _kept_annotation(context, first), _held(context, symbol, bindings)
    value = None if first.is_result else first.value
    if _is_mixed_result(bindings):
        return _Annotated(_with_results(context, bindings), is_above=True)
    if own is not None and all(_holds_for(context, own, one) for one in others):
        type_ = own
    elif _changes_type(bindings) and (value is None or not _holds_empty(value)):
        if first.is_result:
            return _Annotated(_with_results(context, bindings), is_above=True)
        if not is_known(type_):
            type_ = ANY
    elif value is None:
        return _returned_field(context, symbol, statement)
    elif any(one.value and _is_of_class(context, one.value) for one in bindings):
        pass
    elif not _holds_empty(value) and not (
        _has_object(value) and is_known(type_) and _is_read(context, type_)
    ):
        return None
    if own is None and not _is_known_to_checkers(bindings, type_):
        type_ = ANY
    is_above = value is None or _is_read_as_less(context, symbol, type_)
    return _Annotated(annotation(context, type_), is_above)


def _is_mixed_result(bindings: Sequence[Binding]) -> bool:
    """Whether some of what the variable holds are whole results of prompts, and some are values."""
    return len({one.is_result for one in bindings}) > 1


def _with_results(context: Context, bindings: Sequence[Binding]) -> Expression:
    """`Result[str] | str`."""
    kinds = {one.type: None for one in bindings if one.is_result}
    made = [py.subscript(context.global_("Result"), annotation(context, of)) for of in kinds]
    plain = union(one.type for one in bindings if not one.is_result)
    return py.union([*made, *([annotation(context, plain)] if plain != NEVER else [])])


def _holds_for(context: Context, own: Type, binding: Binding) -> bool:
    """Whether the annotation of a variable allows what another place binds it to."""
    statement = binding.statement
    if isinstance(statement, n.AssignStmt):
        held = context.facts.held.get(statement.name)
        if held is not None and context.facts.schemas[held] == own:
            return True  # as Saft itself sees to
    return fit(binding.type, own) == Fit.EXACT


def _bindings(context: Context, symbol: Symbol) -> Sequence[Binding]:
    found = context.output.bindings
    return found.get((symbol, context.frame)) or found.get((symbol, None), ())


def _returned_field(context: Context, symbol: Symbol, statement: n.Statement) -> _Annotated | None:
    """That of a name of a destructuring that a function returns: checkers know no type of it."""
    if not isinstance(statement, n.DestructureStmt) or symbol not in context.output.returned:
        return None
    of = {context.facts.names.of(one.name): one.schema for one in statement.fields}
    type_ = annotation(context, context.facts.schemas[of[symbol]])
    if _bindings(context, symbol)[0].is_result:
        type_ = py.subscript(context.global_("Result"), type_)
    return _Annotated(type_, is_above=True)


def _is_read_as_less(context: Context, symbol: Symbol, type_: Type) -> bool:
    """Whether the script counts on what the first value is, where the name may hold more later.

    Of a name with an annotation beside its first value mypy knows no more than the annotation.
    """
    first, *others = _bindings(context, symbol)
    kinds = set(members(type_))
    if len(kinds) < 2 or kinds <= {INT, FLOAT} or all(map(is_plain_dict, kinds)):
        return False
    if first.type == NIL or not is_known(type_):
        return False
    growth = context.output.growth
    wider = [
        one.statement
        for one in others
        if one.statement not in growth and not _takes(first.type, one.type)
    ]
    end = min((one.span.end for one in wider), default=None)
    if any(one.statement in growth for one in others):
        return True
    return any(
        first.statement.span.end <= read.span.start
        and (end is None or read.span.start < end)
        and fit(type_, context.facts.types.get(read, ANY)) != Fit.EXACT
        for read in context.output.reads.get(symbol, ())
    )


def declaration(context: Context, symbol: Symbol) -> Statement:
    """`name: str` of a variable that gets its value elsewhere."""
    type_ = annotation(context, context.facts.lasting_type(symbol))
    if symbol in context.facts.history.does:
        type_ = py.subscript(context.global_("Result"), type_)
    made = py.line(py.annotated(py.name(context.names[symbol]), type_))
    if symbol.node is not None:
        context.note(made, symbol.node.span)
    return made


def _held(context: Context, symbol: Symbol, bindings: Sequence[Binding]) -> Type:
    """What a variable holds. What grows in place is one list or object, whatever is added to it."""
    schemas = (_kept_annotation(context, one) or NEVER for one in bindings)
    type_ = union((*schemas, *(one.type for one in bindings)))
    if ANY in within(type_) or NEVER in within(type_):
        type_ = context.facts.symbols.get(symbol, NEVER)
    found = members(type_)
    if len(found) > 1 and any(one.statement in context.output.growth for one in bindings):
        if all(isinstance(member, ListType) for member in found):
            return ListType(item_type(type_))
        if all(isinstance(member, MapType) for member in found):
            return MapType(union(value for member in found for value in parts(member)))
    return type_


def reads_as_any(context: Context, value: n.Expression) -> bool:
    """Whether checkers take a value of a known type for any: `row["price"]` of a mixed dict."""
    pending, seen = [value], set[Symbol]()
    while pending:
        match pending.pop():
            case n.Name() as name:
                symbol = context.facts.names.of(name)
                bindings = _bindings(context, symbol)
                if symbol in seen or symbol in context.facts.history.does or not bindings:
                    continue
                seen.add(symbol)
                first = bindings[0].value
                if not _changes_type(bindings):
                    pending += [] if first is None else [first]
                elif not _is_known_to_checkers(bindings, _held(context, symbol, bindings)):
                    return True
            case n.Member(value=owner) | n.Index(value=owner):
                if _is_mixed(context.type_of(owner)):
                    return True
                pending.append(owner)
            case n.Binary() as binary:
                pending += [binary.left, binary.right]
            case n.Conditional() as conditional:
                pending += [conditional.then, conditional.other]
            case n.Call() as call if context.wait(call) == Wait.THREAD:
                return True
            case _:
                pass
    return False


def _is_mixed(type_: Type) -> bool:
    """Whether it is an object without a class, whose fields differ in type: `dict[str, Any]`."""
    return any(
        isinstance(member, ObjectType)
        and not member.is_declared
        and len({field.type for field in member.fields}) != 1
        for member in members(type_)
    )


def _kept_annotation(context: Context, binding: Binding) -> Type | None:
    """A name's annotation in the script, where it says what the value does not say by itself."""
    statement = binding.statement
    if not isinstance(statement, n.AssignStmt) or statement.schema is None or binding.is_result:
        return None
    wanted = context.facts.schemas[statement.schema]
    if isinstance(statement.value, n.Prompt):
        return wanted if isinstance(wanted, UnionType | LiteralType) else None
    return wanted


def _holds_empty(value: n.Expression) -> bool:
    """Whether a list or object without anything in it is the value, or a part of it."""
    match value:
        case n.ListLiteral(items=items):
            parts_ = (item.value if isinstance(item, n.Spread) else item for item in items)
            return not items or any(map(_holds_empty, parts_))
        case n.TupleLiteral(items=items):
            return any(map(_holds_empty, items))
        case n.ObjectLiteral(fields=fields):
            return not fields or any(_holds_empty(field.value) for field in fields)
        case n.Conditional(then=then, other=other):
            return _holds_empty(then) or _holds_empty(other)
        case _:
            return False


def _changes_type(bindings: Sequence[Binding]) -> bool:
    """Whether the variable holds what the type of its first value does not allow."""
    first, *others = bindings
    later = {part for one in others for part in members(one.type)} - {ANY}
    if first.type == NIL and first.value is not None:
        # Python's checkers wait for the first value that is not None.
        return len(later - {NIL}) > 1
    return not all(_takes(first.type, type_) for type_ in later)


def _takes(first: Type, type_: Type) -> bool:
    """Whether Python lets a variable that began as `first` hold a `type_`."""
    if isinstance(first, ListType) and isinstance(type_, ListType):
        return all(_takes(first.item, part) for part in members(type_.item))
    return fit(type_, first) == Fit.EXACT or (type_ == INT and FLOAT in members(first))


def _is_known_to_checkers(bindings: Sequence[Binding], type_: Type) -> bool:
    """Whether checkers read a variable of the type as Saft does, right after it was assigned.

    Of a list beside something else they know its items by where it was made, and what a
    destructuring gives is any value to them.
    """
    found = set(members(without(type_, NIL)))
    if len(found) < 2 or all(map(is_plain_dict, found)):
        return True
    if any(isinstance(one, ListType | TupleType) or is_plain_dict(one) for one in found):
        return False
    return not any(isinstance(one.statement, n.DestructureStmt) for one in bindings)


def _is_of_class(context: Context, value: n.Expression) -> bool:
    """Whether an object literal in a value is of a class that only its place tells."""
    return any(
        node in context.facts.placed and context.facts.types[node] in context.facts.classes.values()
        for node in walk(value)
        if isinstance(node, n.ObjectLiteral)
    )


def _has_object(value: n.Expression) -> bool:
    return any(isinstance(node, n.ObjectLiteral) for node in walk(value))


def _is_read(context: Context, type_: Type) -> bool:
    if isinstance(type_, ObjectType) and type_.fields in context.facts.read_shapes:
        differ = len({field.type for field in type_.fields}) > 1
        return differ or any(_is_read(context, part) for part in parts(type_))
    return any(_is_read(context, part) for part in parts(type_))
