"""Lists that are queues: a script takes their first item, again and again, and adds to their end.

    while len(queue) > 0:               while len(queue) > 0:
        first = queue[0]                    first = queue.popleft()
        queue = queue[1:]

Of a long list, to take out the first item moves all others. A person would write a deque, and so is
a variable of a function that nothing else is done with than to ask how long it is or whether it is
empty, to add to it, and to take its first item where there certainly is one. Of any other list, a
variable at the top level as well, which whoever imports the module sees, that is `queue.pop(0)`.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import zip_longest

from saftc.flow.forward import ends
from saftc.flow.statements import all_statements, assigned_by, blocks_of, bound_by
from saftc.schedule.plan import Plan
from saftc.semantics.facts import Facts
from saftc.semantics.forms import Append, BuiltinCall, Cut, Extend, Form, Growth
from saftc.semantics.names import Symbol
from saftc.semantics.types import ListType
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk

_Growing = Mapping[n.Statement, Growth]

# Comparisons with their sides exchanged, and those that hold when they do not.
_EXCHANGED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(slots=True)
class Queues:
    """The variables that are queues; `taken` are the statements that take the first item of a list
    which certainly has one, each with the one below it that drops the item; `asked` are the
    comparisons of a queue with `[]`, with its name.
    """

    symbols: set[Symbol] = field(default_factory=set[Symbol])
    taken: dict[n.Statement, n.Statement] = field(default_factory=dict[n.Statement, n.Statement])
    asked: dict[n.Comparison, n.Name] = field(default_factory=dict[n.Comparison, n.Name])


def find_queues(facts: Facts, plan: Plan, growth: _Growing) -> Queues:
    """The queues of a module, by the assignments that change the value of their name in place."""
    found = Queues()
    captured = {symbol for captured in facts.names.captures.values() for symbol in captured}
    functions = nodes_of(facts.module, n.FunctionDef)
    for body in (facts.module.statements, *(function.body for function in functions)):
        inside = list(all_statements(body))
        cuts = {one for one in inside if _is_cut(growth.get(one))}
        if not cuts or any(one in plan.loops for one in inside):
            continue  # what runs ahead has variables of its own
        pairs = dict(_pairs(facts, body, cuts, frozenset()))
        found.taken |= pairs
        if body is facts.module.statements:
            continue
        for symbol in {facts.names.of(name) for one in cuts for name in assigned_by(one)}:
            own = [cut for cut in pairs.values() if _binds(facts, cut, symbol)]
            is_paired = len(own) == sum(_binds(facts, cut, symbol) for cut in cuts)
            if is_paired and symbol not in captured:
                asked = _asked_of_queue(facts, body, symbol, len(own), growth)
                if asked is not None:
                    found.symbols.add(symbol)
                    found.asked |= asked
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


# What takes the first item of a list that has one


def _pairs(
    facts: Facts,
    block: Sequence[n.Statement],
    cuts: Set[n.Statement],
    certain: frozenset[Symbol],
) -> Iterator[tuple[n.Statement, n.Statement]]:
    """What takes the first item of a list that certainly has one, with what drops it below.

    `certain` are the lists that have an item where the block begins.
    """
    for one, below in zip_longest(block, block[1:]):
        symbol = _first_of(facts, one)
        if symbol in certain and below in cuts and _binds(facts, below, symbol):
            yield one, below
        for inner, known in _blocks(facts, one, certain):
            yield from _pairs(facts, inner, cuts, known)
        changed = (name for each in all_statements([one]) for name in bound_by(each))
        certain -= {facts.names.of(name) for name in changed}
        certain |= _known_below(facts, one)


def _blocks(
    facts: Facts, statement: n.Statement, certain: frozenset[Symbol]
) -> Iterator[tuple[Sequence[n.Statement], frozenset[Symbol]]]:
    """The blocks of a statement, with the lists that certainly have an item where they begin."""
    match statement:
        case n.IfStmt():
            for branch in statement.branches:
                yield branch.body, certain | _filled(facts, branch.condition, True)
                certain |= _filled(facts, branch.condition, False)
            yield statement.other, certain
        case n.WhileStmt():
            yield statement.body, _filled(facts, statement.condition, True)
        case _:
            yield from ((block, frozenset()) for block in blocks_of(statement))


def _known_below(facts: Facts, statement: n.Statement) -> frozenset[Symbol]:
    """The lists that certainly have an item below an `if` that leaves where they have none."""
    match statement:
        case n.IfStmt(other=()) if all(ends(branch.body) for branch in statement.branches):
            known = (_filled(facts, branch.condition, False) for branch in statement.branches)
            return frozenset[Symbol]().union(*known)
        case _:
            return frozenset()


def _filled(facts: Facts, condition: n.Expression, truth: bool) -> frozenset[Symbol]:
    """The lists that have an item when a condition comes to `truth`."""
    match condition:
        case n.Logical():
            left = _filled(facts, condition.left, truth)
            right = _filled(facts, condition.right, truth)
            return left | right if (condition.operator == "and") == truth else left & right
        case n.Unary(operator="not"):
            return _filled(facts, condition.operand, not truth)
        case n.Comparison(operator="==" | "!=") if (read := _beside_empty(condition)) is not None:
            is_filled = (condition.operator == "!=") == truth
            return frozenset({facts.names.of(read)} if is_filled else ())
        case n.Comparison():
            symbol = _counted(facts, condition, truth)
            return frozenset(() if symbol is None else {symbol})
        case _:
            return frozenset()


def _beside_empty(comparison: n.Comparison) -> n.Name | None:
    """The name that is compared with `[]`."""
    match comparison.left, comparison.right:
        case n.Name() as read, n.ListLiteral(items=()):
            return read
        case n.ListLiteral(items=()), n.Name() as read:
            return read
        case _:
            return None


def _counted(facts: Facts, comparison: n.Comparison, truth: bool) -> Symbol | None:
    """The list whose length is compared with a number, if it has an item when that is `truth`."""
    operator, counted, limit = comparison.operator, comparison.left, comparison.right
    if isinstance(counted, n.Literal):
        operator, counted, limit = _EXCHANGED.get(operator, operator), limit, counted
    if not isinstance(limit, n.Literal) or type(limit.value) is not int:
        return None
    operator = operator if truth else _OPPOSITES.get(operator, operator)
    match operator:
        case ">":
            is_filled = limit.value >= 0
        case ">=" | "==":
            is_filled = limit.value >= 1
        case "!=":
            is_filled = limit.value == 0
        case _:
            is_filled = False
    return _length_of(facts, counted) if is_filled else None


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


def _length_of(facts: Facts, node: n.Node) -> Symbol | None:
    """The name whose length is asked for."""
    if not isinstance(node, n.Call):
        return None
    match facts.forms.calls.get(node):
        case BuiltinCall(builtin=builtin, form=Form.NATIVE, arguments=(n.Name() as read,)):
            return facts.names.of(read) if builtin.name == "len" else None
        case _:
            return None


# What is done with a list


def _asked_of_queue(
    facts: Facts,
    body: Sequence[n.Statement],
    symbol: Symbol,
    taken: int,
    growth: _Growing,
) -> dict[n.Comparison, n.Name] | None:
    """The comparisons with `[]` of a variable that is a queue; None when it is not one.

    `taken` is how often its first item is taken.
    """
    if symbol.kind != "variable" or symbol.starts_from is not None:
        return None
    asked: dict[n.Comparison, n.Name] = {}
    reads, known = 0, taken
    for node in (node for statement in body for node in walk(statement)):
        if isinstance(node, n.Name) and facts.names.of(node) is symbol:
            reads += 1
        known += _length_of(facts, node) is symbol
        if isinstance(node, n.Comparison) and node.operator in ("==", "!="):
            read = _beside_empty(node)
            is_native = facts.forms.operators.get(node) == Form.NATIVE
            if read is not None and facts.names.of(read) is symbol and is_native:
                asked[node] = read
    for statement in all_statements(body):
        if not _binds(facts, statement, symbol):
            continue
        if not isinstance(statement, n.AssignStmt | n.AugmentedAssignStmt):
            return None
        is_list = isinstance(facts.type_of(statement.value), ListType)
        if not is_list or facts.keeps_history(statement.name):
            return None
        if statement in growth:
            if not isinstance(growth[statement], Append | Extend | Cut):
                return None
            known += 1
    return asked if reads == known + len(asked) else None
