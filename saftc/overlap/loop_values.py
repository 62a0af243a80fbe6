"""The values that the pipelined part of a loop body returns to the rest of the loop.

The pipelined part runs ahead, for later items. It returns two kinds of variables:

    title = $ ... $                     gets a new value for each item
    found += [title]                    only grows: each item adds to it, and nothing reads it
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from saftc.check.facts import Facts
from saftc.check.forms import BuiltinCall, Form, parts_of
from saftc.check.names import Symbol
from saftc.check.statements import all_statements, bound_by
from saftc.effects.variables import VariableFlow
from saftc.syntax import nodes as n
from saftc.syntax.walk import children, walk
from saftc.types.types import ANY, INT, STRING, ListType, MapType, Type, is_known, union


@dataclass(frozen=True, slots=True)
class LoopOutput:
    """A variable that a part of a loop returns, with its type.

    If `is_result`, the variable holds the whole result of a prompt.
    """

    symbol: Symbol
    type: Type
    is_result: bool


def loop_output(
    facts: Facts, symbol: Symbol, statements: Iterable[n.Statement]
) -> LoopOutput | None:
    """The output of a loop in the variable `symbol`, with its type.

    Returns None if only some of the statements bind the variable to a prompt's whole result.
    `statements` are all statements of the loop, including nested ones.
    """
    bound = [
        (one, name)
        for one in statements
        for name in bound_by(one)
        if facts.names.of(name) is symbol
    ]
    kept = {facts.keeps_history(name) for _, name in bound}
    if len(kept) != 1:
        return None
    types = {type_ for one, name in bound for type_ in bound_types(facts, one, name)}
    # An empty list does not show its item type: then take the variable's type in the whole scope.
    is_told = all(map(is_known, types))
    whole = facts.symbols.get(symbol, ANY)
    return LoopOutput(symbol, union(types) if is_told else whole, kept.pop())


def bound_types(facts: Facts, statement: n.Statement, name: n.Identifier) -> Iterator[Type]:
    """Yields the types of the values that a statement may bind to a name."""
    match statement:
        case n.AssignStmt(schema=None) | n.AugmentedAssignStmt():
            yield facts.type_of(statement.value)
        case n.AssignStmt(schema=schema) if schema is not None:
            yield facts.schemas[schema]
        case n.DestructureStmt():
            yield from (facts.schemas[one.schema] for one in statement.fields if one.name is name)
        case n.UnpackStmt():
            yield from _in_pattern(statement.pattern, facts.type_of(statement.value), name)
        case n.ForStmt():
            yield from _in_pattern(statement.pattern, facts.item_of(statement), name)
        case _:
            yield ANY


def _in_pattern(pattern: n.Pattern, type_: Type, name: n.Identifier) -> Iterator[Type]:
    for part, own in parts_of(pattern, type_):
        if isinstance(part, n.NamePattern) and part.name is name:
            yield own


@dataclass(frozen=True, slots=True)
class _Growth:
    """How a statement adds to a variable.

    `reads` is the number of times that it reads the variable. If `is_count`, the variable is an
    object, and the statement adds to the number under a key. A missing number counts as 0.
    """

    symbol: Symbol
    reads: int = 1
    is_count: bool = False


def growing(flow: VariableFlow, loop: n.ForStmt) -> list[Symbol]:
    """The variables to which the loop only adds, always in the same way.

    The loop and the functions that it calls read these variables for nothing else.
    """
    names = flow.facts.names
    adding: dict[Symbol, list[_Growth]] = {}
    for one in _growths(flow, loop):
        adding.setdefault(one.symbol, []).append(one)
    in_functions = flow.effects.read_in_functions(*loop.body)
    reads = [
        names.of(node)
        for statement in loop.body
        for node in walk(statement)
        if isinstance(node, n.Name)
    ]
    binds = [s for one in (loop, *all_statements(loop.body)) for s in flow.bound(one)]
    return [
        symbol
        for symbol, found in adding.items()
        if reads.count(symbol) == sum(one.reads for one in found)
        and binds.count(symbol) == len(found)
        and len({one.is_count for one in found}) == 1
        and symbol not in in_functions
        and symbol.starts_from is None
    ]


def counted_in(flow: VariableFlow, loop: n.ForStmt) -> set[Symbol]:
    """The variables that hold counts: the loop adds to the numbers under the keys of an object."""
    return {one.symbol for one in _growths(flow, loop) if one.is_count}


def _growths(flow: VariableFlow, loop: n.ForStmt) -> Iterator[_Growth]:
    for statement in all_statements(loop.body):
        found = _growth_of(flow, statement)
        if found is not None:
            yield found


def _growth_of(flow: VariableFlow, statement: n.Statement) -> _Growth | None:
    """How a statement adds to a list, an object with any keys, a text or a whole number.

        xs = xs + others        xs += others        xs = [...xs, other]
        counts = {...counts, [key]: other}          text += other           total += 1
        counts = {...counts, [key]: get(counts, key, 0) + 1}

    In these cases, adding the items one by one has the same result as adding them all at once.
    Returns None for other statements.
    """
    facts = flow.facts
    match statement:
        case n.AssignStmt(
            schema=None, value=n.Binary(operator="+", left=n.Name() as own, right=added) as value
        ) | n.AugmentedAssignStmt(
            value=n.Binary(operator="+", left=n.Name() as own, right=added) as value
        ):
            parts: tuple[n.Node, ...] = (added,)
            are_lists = {type(facts.type_of(one)) for one in (own, added)} == {ListType}
            is_growth = are_lists or _is_sum(facts, value, own)
        case n.AssignStmt(
            schema=None, value=n.ListLiteral(items=(n.Spread(value=n.Name() as own), *items))
        ):
            parts, is_growth = tuple(items), isinstance(facts.type_of(own), ListType)
        case n.AssignStmt(
            schema=None, value=n.ObjectLiteral(fields=(n.Spread(value=n.Name() as own), *entries))
        ):
            types = (facts.type_of(own), facts.type_of(statement.value))
            is_growth = bool(entries) and all(isinstance(one, MapType) for one in types)
            counted = [_counted(facts, own, entry) for entry in entries]
            if is_growth and all(counted):
                parts = tuple(part for one in counted for part in one)
                reads = 1 + len(entries)
                return _growth(flow, statement, own, parts, reads=reads, is_count=True)
            parts = tuple(entries)
        case _:
            return None
    return _growth(flow, statement, own, parts) if is_growth else None


def _growth(
    flow: VariableFlow,
    statement: n.AssignStmt | n.AugmentedAssignStmt,
    own: n.Name,
    added: Iterable[n.Node],
    *,
    reads: int = 1,
    is_count: bool = False,
) -> _Growth | None:
    symbol = flow.facts.names.of(statement.name)
    if flow.facts.names.of(own) is not symbol or symbol in flow.read(*added):
        return None
    return _Growth(symbol, reads, is_count)


def _counted(facts: Facts, own: n.Name, entry: n.Entry) -> tuple[n.Node, ...]:
    """The key and the addend of `[key]: get(counts, key, 0) + 1`. Empty for other entries."""
    match entry:
        case n.Field(key=key, value=n.Binary(operator="+") as value):
            pass
        case n.ComputedField(key=key, value=n.Binary(operator="+") as value):
            pass
        case _:
            return ()
    is_native = facts.forms.operators[value] == Form.NATIVE and facts.type_of(value) == INT
    for read, added in ((value.left, value.right), (value.right, value.left)):
        match read:
            case n.Call(
                arguments=(
                    n.Argument(name=None, value=n.Name() as counts),
                    n.Argument(name=None, value=taken),
                    n.Argument(name=None, value=n.Literal(value=0)),
                )
            ):
                form = facts.forms.calls[read]
                is_get = isinstance(form, BuiltinCall) and form.builtin.name == "get"
                is_own = facts.names.of(counts) is facts.names.of(own)
                if is_native and is_get and is_own and _is_alike(facts, key, taken):
                    return (taken, added)
            case _:
                pass
    return ()


def _is_alike(facts: Facts, key: n.Node, taken: n.Node) -> bool:
    """Whether two keys are equal expressions made of names, literals, members, items and texts."""
    match key, taken:
        case n.Identifier(text=text), n.Literal(value=str() as again):
            return text == again
        case n.Name(), n.Name():
            return facts.names.of(key) is facts.names.of(taken)
        case n.Literal(value=value), n.Literal(value=again):
            return value == again and type(value) is type(again)
        case n.Identifier(text=text), n.Identifier(text=again):
            return text == again
        case n.FormatText(text=text), n.FormatText(text=again):
            return text == again
        case n.FormatHole(spec=spec), n.FormatHole(spec=again) if spec != again:
            return False
        case (n.Member() | n.Index() | n.FormattedString() | n.FormatHole()), _ if (
            type(key) is type(taken)
        ):
            parts, others = children(key), children(taken)
            are_as_many = len(parts) == len(others)
            return are_as_many and all(map(_is_alike, [facts] * len(parts), parts, others))
        case _:
            return False


def _is_sum(facts: Facts, value: n.Binary, own: n.Name) -> bool:
    """Whether `value` adds whole numbers or texts to `own`.

    Floats do not count, since their sum depends on the order.
    """
    type_ = facts.type_of(own)
    is_native = facts.forms.operators[value] == Form.NATIVE
    return is_native and type_ in (INT, STRING) and facts.symbols.get(facts.names.of(own)) == type_
