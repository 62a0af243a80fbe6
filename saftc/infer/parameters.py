"""Types of bare parameters (without an annotation), from their uses and from calls.

    f square(x):                    f dist(a, b):
        ret x * x                       ret abs(a.x - b.x)

`square` needs a number in every call, so `x` is `int | float`, and a call with anything else is an
error at the call. Only uses that every call reaches count: a use in the condition of an `if` does,
but a use in a branch does not, nor does one below a statement that may leave the function.

If every use of a function in its script is a call, the type of a bare parameter is the join of the
arguments' types.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from saftc.check.facts import Facts
from saftc.check.names import Symbol
from saftc.check.statements import all_statements, bound_by, evaluated_by
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
    base_of_value,
    is_known,
    is_only,
    members,
    never_to_any,
    parts,
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
    finder.visit_block(function.body)
    return finder.uses


class _UseFinder:
    """Finds the types that the certain uses of a function's `parameters` require."""

    def __init__(self, facts: Facts, parameters: set[Symbol]) -> None:
        self.facts = facts
        # The parameters that have not been reassigned so far.
        self.parameters = parameters
        self.uses: Uses = {}

    def visit_block(self, statements: Sequence[n.Statement]) -> None:
        """Collects the uses up to the first statement that may leave the function."""
        for statement in statements:
            for node in evaluated_by(statement)[:1]:
                self._visit(node)
            inner = list(all_statements([statement]))
            if any(isinstance(one, n.RetStmt | n.FailStmt) for one in inner):
                return
            bound = (one for each in inner for one in bound_by(each))
            self.parameters = self.parameters.difference(map(self.facts.names.of, bound))

    def _visit(self, node: n.Node) -> None:
        """Collects the requirements of `node` and of the parts that are certainly evaluated."""
        match node:
            case n.Conditional():
                self._visit(node.condition)
            case n.Logical():
                self._visit(node.left)
            case n.Comprehension():
                self._visit(node.clauses[0].iterable)
            case _:
                for child in children(node):
                    self._visit(child)
        match node:
            case n.Binary():
                self._operator(node.operator, node.left, node.right)
            case n.Comparison(operator="<" | "<=" | ">" | ">="):
                self._alike(node.left, node.right)
            case n.Unary(operator="-"):
                self._ask(node.operand, NUMBER)
            case n.Call(function=n.Name() as function):
                self._call(node, function)
            case n.Prompt():
                self._ask(node.after, RESULT)
            case _:
                pass

    def _operator(self, operator: str, left: n.Expression, right: n.Expression) -> None:
        if operator == "+":
            self._alike(left, right)
            return
        wanted = INT if operator == "%" else NUMBER
        self._ask(left, wanted)
        self._ask(right, wanted)

    def _alike(self, left: n.Expression, right: n.Expression) -> None:
        """Collects the requirements of an operator on two numbers or two strings.

        If the type of one operand is known, the other operand must have the same type.
        """
        for one, other in ((left, right), (right, left)):
            known = self._known(one)
            if is_only(known, "string"):
                self._ask(other, STRING)
            elif is_only(known, "int", "float"):
                self._ask(other, NUMBER)

    def _call(self, node: n.Call, function: n.Name) -> None:
        symbol = self.facts.names.of(function)
        if symbol.kind == "builtin":
            way = BUILTINS[symbol.name].select_overload([(None, ANY)] * len(node.arguments))
            for position, argument in enumerate(node.arguments):
                parameter = way.parameter(position)
                wanted = _OF_KINDS.get(parameter.kinds) if parameter else None
                if wanted is not None and argument.name is None:
                    self._ask(argument.value, wanted)
        elif symbol.kind == "function" and isinstance(symbol.node, n.FunctionDef):
            types = self.facts.functions[symbol.node].parameters
            for argument, type_ in zip(node.arguments, types, strict=False):
                if argument.name is None and is_known(type_):
                    self._ask(argument.value, type_)

    def _ask(self, node: n.Expression | None, wanted: Type) -> None:
        if isinstance(node, n.Name):
            symbol = self.facts.names.of(node)
            known = self.uses.get(symbol)
            if symbol in self.parameters and (known is None or (known, wanted) == (NUMBER, INT)):
                self.uses[symbol] = wanted

    def _known(self, node: n.Expression) -> Type:
        """The type of a literal or a name, or `ANY` if the type is unknown before inference."""
        match node:
            case n.Literal():
                return base_of_value(node.value)
            case n.Name():
                symbol = self.facts.names.of(node)
                return self.uses.get(symbol) or self.facts.declared.get(symbol, ANY)
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


def is_nested(type_: Type) -> bool:
    """Whether one member of a union may contain another one, as in `[int] | [[int]]`."""
    containers = {one for one in members(type_) if list(parts(one))}
    return any(part in containers for one in containers for part in within(one) if part != one)


def _kinds_of(types: Iterable[Type]) -> Iterator[Type]:
    for type_ in types:
        base = type_.base if isinstance(type_, LiteralType) else type_
        if base != NIL:
            yield INT if base == FLOAT else base
