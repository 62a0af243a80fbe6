"""Types of bare parameters (without an annotation), from their uses and from calls.

    f square(x):                    f dist(a, b):
        ret x * x                       ret abs(a.x - b.x)

`square` needs a number on every path through it, so `x` is `int | float`, and a call with anything
else is an error at the call. Only uses that are certainly reached count: a use in the condition of
an `if` counts, but a use in a single branch does not.

If every use of a function in its script is a call, the type of a bare parameter is the join of the
arguments' types.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from saftc.check.facts import Facts
from saftc.check.forward import ForwardAnalysis
from saftc.check.names import Symbol
from saftc.check.statements import bound_by, evaluated_by
from saftc.syntax import nodes as n
from saftc.syntax.walk import children, nodes_of
from saftc.types.builtins import BUILTINS, TABLE, TEXT, WHOLE, Kinds
from saftc.types.types import (
    ANY,
    DATAFRAME,
    FLOAT,
    INT,
    NEVER,
    NIL,
    NUMBER,
    RESULT,
    STRING,
    BuiltinType,
    FunctionType,
    ListType,
    LiteralType,
    ObjectType,
    Type,
    UnionType,
    is_known,
    is_only,
    members,
    never_to_any,
    widened,
    within,
)

Uses = dict[Symbol, Type]

_OF_KINDS: dict[Kinds, Type] = {
    TEXT: STRING,
    WHOLE: INT,
    TABLE: DATAFRAME,
    frozenset({"int", "float"}): NUMBER,
}


def parameter_uses(function: n.FunctionDef, facts: Facts) -> Uses:
    """Maps the bare parameters of `function` to the types that their uses require.

    A bare parameter has no annotation.
    """
    parameters = {
        facts.names.of(parameter.name)
        for parameter in function.parameters
        if parameter.schema is None
    }
    if not parameters:
        return {}
    finder = _UseFinder(facts, parameters)
    below = finder.block(function.body, _State({}, frozenset()))
    ends = [*finder.ends, *([below] if below is not None else [])]
    return finder.join(ends).uses if ends else {}


class _State(NamedTuple):
    """The types required on every path to this point, and the parameters reassigned so far."""

    uses: Uses
    assigned: frozenset[Symbol]


class _UseFinder(ForwardAnalysis[_State]):
    def __init__(self, facts: Facts, parameters: set[Symbol]) -> None:
        super().__init__()
        self.facts = facts
        self.parameters = parameters
        # The states at each exit of the function.
        self.ends: list[_State] = []

    def plain(self, statement: n.Statement, state: _State) -> _State | None:
        below = super().plain(statement, state)
        if below is None:
            asked = dict(state.uses)
            for node in evaluated_by(statement):
                self._merge(asked, self._expression(node), state.assigned)
            self.ends.append(_State(asked, state.assigned))
        return below

    def evaluate(self, node: n.Expression, statement: n.Statement, state: _State) -> _State:
        uses = dict(state.uses)
        self._merge(uses, self._expression(node), state.assigned)
        return state._replace(uses=uses)

    def bind(self, statement: n.Statement, state: _State) -> _State:
        bound = map(self.facts.names.of, bound_by(statement))
        return state._replace(assigned=state.assigned | self.parameters.intersection(bound))

    def join(self, states: Sequence[_State]) -> _State:
        first, *others = states
        uses = {
            symbol: type_
            for symbol, type_ in first.uses.items()
            if all(other.uses.get(symbol) == type_ for other in others)
        }
        return _State(uses, first.assigned.union(*(other.assigned for other in others)))

    def _merge(self, uses: Uses, more: Uses, assigned: Collection[Symbol] = ()) -> None:
        for symbol, type_ in more.items():
            known = uses.get(symbol)
            if symbol not in assigned and (known is None or (known == NUMBER and type_ == INT)):
                uses[symbol] = type_

    def _expression(self, node: n.Expression) -> Uses:
        uses: Uses = {}
        self._visit(node, uses)
        return uses

    def _visit(self, node: n.Node, uses: Uses) -> None:
        """Collects the requirements of `node` and of the parts that are certainly evaluated."""
        match node:
            case n.Conditional():
                self._visit(node.condition, uses)
            case n.Logical():
                self._visit(node.left, uses)
            case n.Comprehension():
                self._visit(node.clauses[0].iterable, uses)
            case _:
                for child in children(node):
                    self._visit(child, uses)
        match node:
            case n.Binary():
                self._operator(node.operator, node.left, node.right, uses)
            case n.Comparison(operator="<" | "<=" | ">" | ">="):
                self._alike(node.left, node.right, uses)
            case n.Unary(operator="-"):
                self._ask(node.operand, NUMBER, uses)
            case n.Call(function=n.Name() as function):
                self._call(node, function, uses)
            case n.Prompt():
                self._ask(node.after, RESULT, uses)
            case _:
                pass

    def _operator(self, operator: str, left: n.Expression, right: n.Expression, uses: Uses) -> None:
        if operator == "+":
            self._alike(left, right, uses)
            return
        wanted = INT if operator == "%" else NUMBER
        self._ask(left, wanted, uses)
        self._ask(right, wanted, uses)

    def _alike(self, left: n.Expression, right: n.Expression, uses: Uses) -> None:
        """Collects the requirements of an operator on two numbers or two strings.

        If the type of one operand is known, the other operand must have the same type.
        """
        for one, other in ((left, right), (right, left)):
            known = self._known(one, uses)
            if is_only(known, "string"):
                self._ask(other, STRING, uses)
            elif is_only(known, "int", "float"):
                self._ask(other, NUMBER, uses)

    def _call(self, node: n.Call, function: n.Name, uses: Uses) -> None:
        symbol = self.facts.names.of(function)
        if symbol.kind == "builtin":
            way = BUILTINS[symbol.name].select_overload([(None, ANY)] * len(node.arguments))
            for position, argument in enumerate(node.arguments):
                parameter = way.parameter(position)
                wanted = _OF_KINDS.get(parameter.kinds) if parameter else None
                if wanted is not None and argument.name is None:
                    self._ask(argument.value, wanted, uses)
        elif symbol.kind == "function" and isinstance(symbol.node, n.FunctionDef):
            types = self.facts.functions[symbol.node].parameters
            for argument, type_ in zip(node.arguments, types, strict=False):
                if argument.name is None and is_known(type_):
                    self._ask(argument.value, type_, uses)

    def _ask(self, node: n.Expression | None, wanted: Type, uses: Uses) -> None:
        if isinstance(node, n.Name):
            symbol = self.facts.names.of(node)
            if symbol in self.parameters:
                self._merge(uses, {symbol: wanted})

    def _known(self, node: n.Expression, uses: Uses) -> Type:
        """The type of an operand, or `ANY` if the type is unknown before inference."""
        match node:
            case n.Literal(value=str()):
                return STRING
            case n.Literal(value=bool()) | n.Literal(value=None):
                return ANY
            case n.Literal():
                return NUMBER
            case n.Name():
                symbol = self.facts.names.of(node)
                return uses.get(symbol) or self.facts.declared.get(symbol, ANY)
            case n.Binary(operator="+"):
                left = self._known(node.left, uses)
                return left if left != ANY else self._known(node.right, uses)
            case n.Binary():
                return NUMBER
            case n.Prompt():
                return STRING
            case _:
                return ANY


# Types from calls


def only_called(
    module: n.Module, facts: Facts, has: Callable[[n.Parameter], bool]
) -> set[n.FunctionDef]:
    """The functions of a module that are used only by calls, or as the `by` of a builtin.

    The builtin calls the `by` function with the items. Conversions are excluded, and so are
    functions that have no parameter for which `has` returns True.
    """
    found: set[n.FunctionDef] = set()
    for function in nodes_of(module, n.FunctionDef):
        if not function.is_conversion and any(map(has, function.parameters)):
            found.add(function)
    if not found:
        return found
    calls = nodes_of(module, n.Call)
    called = {call.function for call in calls}
    called |= {
        argument.value
        for call in calls
        for argument in call.arguments
        if argument.name is not None
        and argument.name.text == "by"
        and isinstance(call.function, n.Name)
        and facts.names.of(call.function).kind == "builtin"
    }
    used = {facts.names.of(name).node for name in nodes_of(module, n.Name) if name not in called}
    for scope in facts.names.scopes.values():
        for symbol in scope.symbols.values():
            if symbol.starts_from is not None:
                # The function is the initial value of a variable.
                used.add(symbol.starts_from.node)
    return found - used


def passed(type_: Type) -> Type:
    """The type that an argument of `type_` implies for the parameter.

    It is `ANY` for a function, because one function as an argument implies nothing about others.
    """
    if any(isinstance(part, FunctionType | BuiltinType) for part in within(type_)):
        return ANY
    return widened(type_)


def settled(type_: Type) -> Type:
    """The final type of a parameter whose arguments have the joined type `type_`.

    It is `ANY` if all arguments are nil, empty lists or empty objects.
    """
    says_something = any(
        member not in (NIL, NEVER, ListType(NEVER), ObjectType((), is_declared=False))
        for member in members(type_)
    )
    return never_to_any(type_) if says_something else ANY


def is_mixed(type_: Type) -> bool:
    """Whether a value of `type_` may be of several kinds, or contain such a value.

    Different kinds of numbers count as one kind, and nil does not count.
    """
    return any(
        isinstance(part, UnionType) and len(set(_kinds_of(part.members))) > 1
        for part in within(type_)
    )


def _kinds_of(types: Iterable[Type]) -> Iterator[Type]:
    for type_ in types:
        base = type_.base if isinstance(type_, LiteralType) else type_
        if base != NIL:
            yield INT if base == FLOAT else base
