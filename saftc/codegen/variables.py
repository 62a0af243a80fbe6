"""The annotations of variables: what Python's type checkers cannot see in the values themselves.

    notes: list[str] = []             it is filled later
    total: int | float = 0            it holds another kind of number later
    row: dict[str, Any] = {...}       its fields differ in type, and are read one by one

The first assignment to a name carries the annotation. Other variables have none, as a person would
write them. The names of a destructuring are any value to checkers; they are declared above it when
a function returns one of them.
"""

from collections.abc import Iterator, Mapping

from saftc.codegen import python as py
from saftc.codegen.annotations import annotation, is_plain_dict
from saftc.codegen.context import Context
from saftc.codegen.python import Expression, Statement
from saftc.schedule.awaits import Wait
from saftc.semantics.facts import Facts
from saftc.semantics.forms import Append, Growth, Put, parts_of
from saftc.semantics.names import Symbol
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
    ANY,
    FAILURE,
    FLOAT,
    INT,
    NEVER,
    NIL,
    BuiltinType,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    Type,
    UnionType,
    is_known,
    item_type,
    members,
    parts,
    union,
    without,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk


def values_of(module: n.Module, facts: Facts) -> Mapping[Symbol, list[n.Expression]]:
    """What is assigned to each variable, in source order."""
    found: dict[Symbol, list[n.Expression]] = {}
    for node in nodes_of(module):
        if isinstance(node, n.AssignStmt | n.AugmentedAssignStmt):
            found.setdefault(facts.names.of(node.name), []).append(node.value)
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
    """The annotation of the name that `statement` assigns to, if it needs one."""
    if context.facts.names.of(statement.name) in context.shared:
        return None  # Python takes it at the top of the module alone
    if isinstance(statement, n.AssignStmt) and statement.schema is not None:
        wanted = context.facts.schemas[statement.schema]
        if _keeps_annotation(context, statement, wanted):
            return annotation(context, wanted)
    symbol = context.facts.names.of(statement.name)
    if symbol.node is not statement:
        return None
    type_ = _held(context, symbol)
    if any(_is_of_class(context, value) for value in context.output.values[symbol]):
        return annotation(context, type_)
    if _holds_empty(statement.value):
        return None if _tells_items(context, symbol) else annotation(context, type_)
    if _changes_type(context, symbol):
        return annotation(context, type_ if _is_clear(type_) else ANY)
    if _has_object(statement.value) and is_known(type_) and _is_read(context, type_):
        return annotation(context, type_)
    return None


def declaration(context: Context, symbol: Symbol) -> Statement:
    """`name: str` of a variable that gets its value elsewhere."""
    type_ = annotation(context, context.facts.lasting_type(symbol))
    if symbol in context.facts.history.does:
        type_ = py.subscript(context.global_("Result"), type_)
    made = py.line(py.annotated(py.name(context.names[symbol]), type_))
    if symbol.node is not None:
        context.note(made, symbol.node.span)
    return made


def _held(context: Context, symbol: Symbol) -> Type:
    """What a variable holds. What grows in place is one list or object, whatever is added to it."""
    type_ = context.facts.symbols.get(symbol, NEVER)
    found = members(type_)
    if len(found) > 1 and any(
        isinstance(statement, n.AssignStmt | n.AugmentedAssignStmt)
        and context.facts.names.of(statement.name) is symbol
        for statement in context.output.growth
    ):
        if all(isinstance(member, ListType) for member in found):
            return ListType(item_type(type_))
        if all(isinstance(member, MapType) for member in found):
            return MapType(union(value for member in found for value in parts(member)))
    return type_


def declarations(context: Context, statement: n.DestructureStmt) -> list[Statement]:
    """`name: str` above a destructuring, for each name, when a checker asks for a type."""
    symbols = [context.facts.names.of(field.name) for field in statement.fields]
    if context.output.returned.isdisjoint(symbols) or not context.shared.isdisjoint(symbols):
        return []
    made: list[Statement] = []
    for field, symbol in zip(statement.fields, symbols, strict=True):
        type_ = annotation(context, context.facts.schemas[field.schema])
        if symbol in context.facts.history.does:
            type_ = py.subscript(context.global_("Result"), type_)
        made.append(py.line(py.annotated(py.name(context.names[symbol]), type_)))
    return made


def unpacked_declarations(context: Context, statement: n.UnpackStmt) -> list[Statement]:
    """`names: list[str]` above an unpacking, for each name that later holds more than it gets."""
    made: list[Statement] = []
    for part, taken in parts_of(statement.pattern, context.type_of(statement.value)):
        if isinstance(part, n.NamePattern):
            symbol = context.facts.names.of(part.name)
            held = context.facts.symbols.get(symbol, NEVER)
            # `_` is what nobody reads.
            is_first = symbol.node is statement and symbol.name != "_"
            is_first = is_first and symbol not in context.shared
            if is_first and fit(held, taken) != Fit.EXACT:
                type_ = annotation(context, held if _is_clear(held) else ANY)
                made.append(py.line(py.annotated(py.name(context.names[symbol]), type_)))
    return made


def reads_as_any(context: Context, value: n.Expression) -> bool:
    """Whether checkers take a value of a known type for any: `row["price"]` of a mixed dict."""
    pending, seen = [value], set[Symbol]()
    while pending:
        match pending.pop():
            case n.Name() as name:
                symbol = context.facts.names.of(name)
                values = context.output.values.get(symbol, ())
                if symbol in seen or symbol in context.facts.history.does or not values:
                    continue
                seen.add(symbol)
                if not _changes_type(context, symbol):
                    pending.append(values[0])
                elif not _is_clear(context.facts.symbols.get(symbol, NEVER)):
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


def _keeps_annotation(context: Context, statement: n.AssignStmt, wanted: Type) -> bool:
    """Whether a name's annotation says what the value does not say by itself."""
    if isinstance(statement.value, n.Prompt):
        return isinstance(wanted, UnionType | LiteralType)
    symbol = context.facts.names.of(statement.name)
    if context.facts.declared.get(symbol) != wanted:
        return False
    # Python's type checkers hold every assignment against the annotation, Saft those below it.
    return fit(context.facts.symbols.get(symbol, NEVER), wanted) == Fit.EXACT


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


def _tells_items(context: Context, symbol: Symbol) -> bool:
    """Whether a function's own name begins as `[]` or `{}` and its items come one by one.

        failed = []
        for path in paths:
            failed.append((path, "not found"))

    People write no annotation there. mypy takes the type from the first item, unless the item
    itself reads the name; pyright never does, and reports the name in its strict mode alone. What
    a module holds is annotated: it can be imported.
    """
    first, *others = context.output.values[symbol]
    is_local = symbol.scope is not None and isinstance(symbol.scope.owner, n.FunctionDef)
    match first, context.facts.symbols.get(symbol):
        case n.ListLiteral(items=()), ListType(item=held):
            pass
        case n.ObjectLiteral(fields=()), MapType(value=held):
            pass
        case _:
            return False
    if not is_local or not others or not is_known(held):
        return False
    added = dict(_added_items(context.output.growth))
    return all(
        (item := added.get(value)) is not None
        and context.type_of(item) == held
        and not _has_object(item)
        and not _holds_empty(item)
        and not _has_kind(context, item)
        for value in others
    )


def _added_items(
    grown: Mapping[n.Statement, Growth],
) -> Iterator[tuple[n.Expression, n.Expression]]:
    """The values by which a list or object grows by one item, each with that item."""
    for statement, growth in grown.items():
        assert isinstance(statement, n.AssignStmt | n.AugmentedAssignStmt)
        match growth:
            case Append(items=(item,)) if not isinstance(item, n.Spread):
                yield statement.value, item
            case Put(entries=(n.ComputedField(value=item),), is_item=True):
                yield statement.value, item
            case _:
                pass


def _changes_type(context: Context, symbol: Symbol) -> bool:
    """Whether the variable holds what the type of its first value does not allow."""
    first, *others = map(context.type_of, context.output.values[symbol])
    later = {part for type_ in others for part in members(type_)} - {ANY}
    if first == NIL:
        # Python's checkers wait for the first value that is not None.
        return len(later - {NIL}) > 1
    return not all(_takes(first, type_) for type_ in later)


def _takes(first: Type, type_: Type) -> bool:
    """Whether Python lets a variable that began as `first` hold a `type_`."""
    if isinstance(first, ListType) and isinstance(type_, ListType):
        return all(_takes(first.item, part) for part in members(type_.item))
    return fit(type_, first) == Fit.EXACT or (type_ == INT and FLOAT in members(first))


def _is_clear(type_: Type) -> bool:
    """Whether checkers read a variable of the type as Saft does, right after it was assigned."""
    found = set(members(without(type_, NIL)))
    is_one = len(found) == 1 or found <= {INT, FLOAT} or all(map(is_plain_dict, found))
    return is_known(type_) and is_one


def _is_of_class(context: Context, value: n.Expression) -> bool:
    """Whether an object literal in a value is of a class that only its place tells."""
    return any(
        node in context.facts.placed and context.facts.types[node] in context.facts.classes.values()
        for node in walk(value)
        if isinstance(node, n.ObjectLiteral)
    )


def _has_object(value: n.Expression) -> bool:
    return any(isinstance(node, n.ObjectLiteral) for node in walk(value))


def _has_kind(context: Context, value: n.Expression) -> bool:
    """Whether the kind of a failure is in a value, which checkers know more of than its type."""
    return any(
        isinstance(node, n.Member)
        and node.name.text == "kind"
        and context.type_of(node.value) == FAILURE
        for node in walk(value)
    )


def _is_read(context: Context, type_: Type) -> bool:
    if isinstance(type_, ObjectType) and type_.fields in context.facts.read_shapes:
        differ = len({field.type for field in type_.fields}) > 1
        return differ or any(_is_read(context, part) for part in parts(type_))
    return any(_is_read(context, part) for part in parts(type_))
