"""Lists that are queues: a function takes their first item, again and again, and adds to their end.

    while len(queue) > 0:               while len(queue) > 0:
        first = queue[0]                    first = queue.popleft()
        queue = queue[1:]

Of a long list, to take out the first item moves all others. A person would write a deque, and so is
a variable of a function that nothing else is done with than to ask how long it is, to add to it,
and to take its first item in a loop that goes on as long as there is one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from saftc.flow.statements import all_statements, assigned_by, blocks_of
from saftc.schedule.plan import Plan
from saftc.semantics.facts import Facts
from saftc.semantics.forms import Append, BuiltinCall, Cut, Extend, Form, Growth
from saftc.semantics.names import Symbol
from saftc.semantics.types import ListType
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk

_Growing = Mapping[n.Statement, Growth]


@dataclass(slots=True)
class Queues:
    """The variables that are queues; `taken` are the statements that take the first item of one,
    each with the one below it that drops the item.
    """

    symbols: set[Symbol] = field(default_factory=set[Symbol])
    taken: dict[n.Statement, n.Statement] = field(default_factory=dict[n.Statement, n.Statement])


def find_queues(facts: Facts, plan: Plan, growth: _Growing) -> Queues:
    """The queues of a module, by the assignments that change the value of their name in place."""
    found = Queues()
    captured = {symbol for captured in facts.names.captures.values() for symbol in captured}
    for function in nodes_of(facts.module, n.FunctionDef):
        cuts = [one for one in all_statements(function.body) if _is_cut(growth.get(one))]
        if not cuts or any(node in plan.loops for node in walk(function)):
            continue  # what runs ahead has variables of its own
        pairs = dict(_pairs(facts, function.body, set(cuts)))
        symbols = {facts.names.of(name) for one in cuts for name in assigned_by(one)}
        for symbol in symbols - captured:
            own = {one: cut for one, cut in pairs.items() if _binds(facts, cut, symbol)}
            is_paired = len(own) == sum(_binds(facts, cut, symbol) for cut in cuts)
            if is_paired and _is_queue(facts, function, symbol, own, growth):
                found.symbols.add(symbol)
                found.taken |= own
    return found


def _is_cut(growth: Growth | None) -> bool:
    """Whether a list loses its first item, and no other."""
    match growth:
        case Cut(start=n.Literal(value=1), stop=None):
            return True
        case _:
            return False


def _binds(facts: Facts, statement: n.Statement, symbol: Symbol) -> bool:
    return any(facts.names.of(name) is symbol for name in assigned_by(statement))


def _pairs(
    facts: Facts, statements: Iterable[n.Statement], cuts: set[n.Statement]
) -> Iterator[tuple[n.Statement, n.Statement]]:
    """What takes the first item of a list that certainly has one, with what drops it below."""
    for statement in statements:
        for block in blocks_of(statement):
            yield from _pairs(facts, block, cuts)
        if not isinstance(statement, n.WhileStmt):
            continue
        for one, cut in pairwise(statement.body):
            symbol = _first_of(facts, one)
            if symbol is None or cut not in cuts or not _binds(facts, cut, symbol):
                continue
            above = statement.body[: statement.body.index(cut)]
            inside = [inner for inner in all_statements(above) if _binds(facts, inner, symbol)]
            if not inside and _asks_whether_any(facts, statement.condition, symbol):
                yield one, cut


def _first_of(facts: Facts, statement: n.Statement) -> Symbol | None:
    """The list of which `item = items[0]` takes the first item."""
    match statement:
        case n.AssignStmt(name=name, value=n.Index(value=n.Name() as read, key=key) as value):
            is_first = isinstance(key, n.Literal) and key.value == 0 and key.value is not False
            symbol = facts.names.of(read)
            is_plain = value not in facts.coercions and facts.names.of(name) is not symbol
            is_native = facts.forms.items.get(value) == Form.NATIVE
            return symbol if is_first and is_plain and is_native else None
        case _:
            return None


def _asks_whether_any(facts: Facts, condition: n.Expression, symbol: Symbol) -> bool:
    """Whether a condition that holds shows that a list has items: `len(items) > 0 and ...`."""
    match condition:
        case n.Logical(operator="and", left=left, right=right):
            return _asks_whether_any(facts, left, symbol) or _asks_whether_any(
                facts, right, symbol
            )
        case n.Comparison(operator=">" | "!=", left=left, right=n.Literal(value=0)):
            return _length_of(facts, left) is symbol
        case _:
            return False


def _length_of(facts: Facts, node: n.Node) -> Symbol | None:
    """The name whose length is asked for."""
    if not isinstance(node, n.Call):
        return None
    match facts.forms.calls.get(node):
        case BuiltinCall(builtin=builtin, form=Form.NATIVE, arguments=(n.Name() as read,)):
            return facts.names.of(read) if builtin.name == "len" else None
        case _:
            return None


def _is_queue(
    facts: Facts,
    function: n.FunctionDef,
    symbol: Symbol,
    taken: Mapping[n.Statement, n.Statement],
    growth: _Growing,
) -> bool:
    """Whether nothing else is done with a variable."""
    if symbol.kind != "variable" or symbol.starts_from is not None or symbol.scope is None:
        return False
    reads = known = 0
    for node in walk(function):
        if isinstance(node, n.Name) and facts.names.of(node) is symbol:
            reads += 1
        known += _length_of(facts, node) is symbol
    known += len(taken)
    for statement in all_statements(function.body):
        if not _binds(facts, statement, symbol):
            continue
        if not isinstance(statement, n.AssignStmt | n.AugmentedAssignStmt):
            return False
        is_list = isinstance(facts.type_of(statement.value), ListType)
        if not is_list or facts.keeps_history(statement.name):
            return False
        if statement in growth:
            if not isinstance(growth[statement], Append | Extend | Cut):
                return False
            known += 1
    return reads == known
