"""What the use of a bare parameter asks for.

    f square(x):
        ret x * x

asks for a number, on every path through the function; so `x` is `int | float`, and a call with
anything else is an error at the call. Only uses that are certain to be reached count: the
condition of an `if` does, what only one branch does with a parameter does not.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import assert_never

from saftc.flow.forward import ends
from saftc.flow.statements import all_statements, blocks_of, bound_by
from saftc.semantics.builtins import BUILTINS, TABLE, TEXT, WHOLE, Kinds
from saftc.semantics.facts import Facts
from saftc.semantics.names import Symbol
from saftc.semantics.types import (
    ANY,
    DATAFRAME,
    INT,
    NUMBER,
    RESULT,
    STRING,
    Type,
    is_known,
    is_only,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import children

Uses = dict[Symbol, Type]

_OF_KINDS: dict[Kinds, Type] = {
    TEXT: STRING,
    WHOLE: INT,
    TABLE: DATAFRAME,
    frozenset({"int", "float"}): NUMBER,
}


def parameter_uses(function: n.FunctionDef, facts: Facts) -> Uses:
    """What the uses in `function` ask of its own bare parameters."""
    parameters = {
        facts.names.of(parameter.name)
        for parameter in function.parameters
        if parameter.schema is None
    }
    if not parameters:
        return {}
    finder = _Finder(facts, parameters)
    return finder.block(function.body)


class _Finder:
    def __init__(self, facts: Facts, parameters: set[Symbol]) -> None:
        self.facts = facts
        self.parameters = parameters

    def block(self, statements: Sequence[n.Statement]) -> Uses:
        uses: Uses = {}
        assigned: set[Symbol] = set()
        for position, statement in enumerate(statements):
            if isinstance(statement, n.IfStmt):
                rest = self.block(statements[position + 1 :])
                self._merge(uses, self._if(statement, rest), assigned)
                return uses
            self._merge(uses, self._statement(statement), assigned)
            is_try = isinstance(statement, n.TryStmt)
            if ends((statement,)) or (is_try and any(map(ends, blocks_of(statement)))):
                return uses
            assigned |= self._assigned_in((statement,))
        return uses

    def _statement(self, statement: n.Statement) -> Uses:
        match statement:
            case (
                n.AssignStmt()
                | n.AugmentedAssignStmt()
                | n.UnpackStmt()
                | n.DestructureStmt()
                | n.ExpressionStmt()
            ):
                return self._expression(statement.value)
            case n.RetStmt():
                return self._expression(statement.value) if statement.value is not None else {}
            case n.AssertStmt() | n.WhileStmt():
                return self._expression(statement.condition)
            case n.ForStmt():
                return self._expression(statement.iterable)
            case n.FailStmt():
                return self._expression(statement.value)
            case n.IfStmt():
                return self._if(statement, {})
            case (
                # What fails in a `try` is caught: it asks for nothing.
                n.FunctionDef()
                | n.TryStmt()
                | n.BreakStmt()
                | n.ContinueStmt()
                | n.TypeAlias()
                | n.RecordDef()
                | n.ImportStmt()
                | n.FromImport()
            ):
                return {}
            case _:
                assert_never(statement)

    def _if(self, statement: n.IfStmt, rest: Uses) -> Uses:
        uses = self._expression(statement.branches[0].condition)
        bodies = blocks_of(statement)
        paths = [self.block(body) for body in bodies]
        for body, path in zip(bodies, paths, strict=True):
            if not ends(body):
                self._merge(path, rest, self._assigned_in(body))
        first, *others = paths
        for symbol, type_ in first.items():
            if all(other.get(symbol) == type_ for other in others):
                uses.setdefault(symbol, type_)
        return uses

    def _assigned_in(self, statements: Iterable[n.Statement]) -> set[Symbol]:
        """The parameters that are no longer the argument below: they may be assigned anew."""
        return self.parameters & {
            self.facts.names.of(identifier)
            for statement in all_statements(statements)
            for identifier in bound_by(statement)
        }

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
        """Collects what is certain when `node` is evaluated."""
        match node:
            case n.Conditional():
                self._visit(node.condition, uses)
                then, other = self._expression(node.then), self._expression(node.other)
                self._merge(uses, {s: t for s, t in then.items() if other.get(s) == t})
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
            case n.Slice():
                for end in (node.start, node.stop, node.step):
                    self._ask(end, INT, uses)
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
        """Both operands are numbers, or both are strings: one of them tells about the other."""
        for one, other in ((left, right), (right, left)):
            known = self._known(one, uses)
            if is_only(known, "string"):
                self._ask(other, STRING, uses)
            elif is_only(known, "int", "float"):
                self._ask(other, NUMBER, uses)

    def _call(self, node: n.Call, function: n.Name, uses: Uses) -> None:
        symbol = self.facts.names.of(function)
        if symbol.kind == "builtin":
            way = BUILTINS[symbol.name].meant([(None, ANY)] * len(node.arguments))
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
        """The type of an operand, as far as it can be told without inference."""
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
            case n.Call(function=n.Name() as function):
                symbol = self.facts.names.of(function)
                if symbol.kind == "builtin":
                    gives = {way.gives for way in BUILTINS[symbol.name].ways}
                    only = gives.pop() if len(gives) == 1 else ANY
                    return ANY if callable(only) else only
                if isinstance(symbol.node, n.FunctionDef):
                    return self.facts.functions[symbol.node].declared or ANY
                return ANY
            case n.Prompt():
                return STRING
            case _:
                return ANY
