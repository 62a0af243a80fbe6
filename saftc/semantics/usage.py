"""What the use of a bare parameter asks for.

    f square(x):
        ret x * x

asks for a number, on every path through the function; so `x` is `int | float`, and a call with
anything else is an error at the call. Only uses that are certain to be reached count: the
condition of an `if` does, what only one branch does with a parameter does not.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import assert_never

from saftc.semantics.builtins import BUILTINS, TABLE, TEXT, WHOLE, Kinds, meant
from saftc.semantics.facts import Facts
from saftc.semantics.scopes import Symbol, bound_by, inner_statements
from saftc.semantics.types import ANY, DATAFRAME, INT, NUMBER, STRING, Type, is_known, is_only
from saftc.syntax import nodes as n

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
        found: Uses = {}
        assigned: set[Symbol] = set()
        for position, statement in enumerate(statements):
            if isinstance(statement, n.IfStmt):
                rest = self.block(statements[position + 1 :])
                self._merge(found, self._if(statement, rest), assigned)
                return found
            self._merge(found, self._statement(statement), assigned)
            if isinstance(statement, n.RetStmt | n.BreakStmt | n.ContinueStmt):
                return found
            assigned |= self._assigned_in((statement,))
        return found

    def _statement(self, statement: n.Statement) -> Uses:
        match statement:
            case n.AssignStmt() | n.DestructureStmt() | n.ExpressionStmt():
                return self._expression(statement.value)
            case n.RetStmt():
                return self._expression(statement.value) if statement.value is not None else {}
            case n.AssertStmt() | n.WhileStmt():
                return self._expression(statement.condition)
            case n.ForStmt():
                return self._expression(statement.iterable)
            case n.IfStmt():
                return self._if(statement, {})
            case (
                n.FunctionDef()
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
        found = self._expression(statement.branches[0].condition)
        paths = [self.block(branch.body) for branch in statement.branches]
        paths.append(self.block(statement.other))
        bodies = [*(branch.body for branch in statement.branches), statement.other]
        for body, path in zip(bodies, paths, strict=True):
            if not _ends(body):
                self._merge(path, rest, self._assigned_in(body))
        first, *others = paths
        for symbol, type_ in first.items():
            if all(other.get(symbol) == type_ for other in others):
                found.setdefault(symbol, type_)
        return found

    def _assigned_in(self, statements: Iterable[n.Statement]) -> set[Symbol]:
        """The parameters that are no longer the argument below: they may be assigned anew."""
        found: set[Symbol] = set()
        for statement in statements:
            found |= {self.facts.names.of(identifier) for identifier in bound_by(statement)}
            found |= self._assigned_in(inner_statements(statement))
        return found & self.parameters

    def _merge(self, found: Uses, more: Uses, assigned: Collection[Symbol] = ()) -> None:
        for symbol, type_ in more.items():
            known = found.get(symbol)
            if symbol not in assigned and (known is None or (known == NUMBER and type_ == INT)):
                found[symbol] = type_

    def _expression(self, node: n.Expression) -> Uses:
        found: Uses = {}
        self._visit(node, found)
        return found

    def _visit(self, node: n.Expression, found: Uses) -> None:
        """Collects what is certain when `node` is evaluated."""
        match node:
            case n.Binary():
                self._visit(node.left, found)
                self._visit(node.right, found)
                self._operator(node.operator, node.left, node.right, found)
            case n.Comparison():
                self._visit(node.left, found)
                self._visit(node.right, found)
                if node.operator in ("<", "<=", ">", ">="):
                    self._alike(node.left, node.right, found)
            case n.Unary():
                self._visit(node.operand, found)
                if node.operator == "-":
                    self._ask(node.operand, NUMBER, found)
            case n.Call():
                self._call(node, found)
            case n.Conditional():
                self._visit(node.condition, found)
                then, other = self._expression(node.then), self._expression(node.other)
                self._merge(found, {s: t for s, t in then.items() if other.get(s) == t})
            case n.Logical():
                self._visit(node.left, found)
            case n.Comprehension():
                self._visit(node.clauses[0].iterable, found)
            case n.Prompt():
                for part in node.parts:
                    if isinstance(part, n.Hole):
                        self._visit(part.value, found)
            case n.ListLiteral() | n.TupleLiteral():
                for item in node.items:
                    self._visit(item, found)
            case n.ObjectLiteral():
                for field in node.fields:
                    self._visit(field.value, found)
            case n.Index():
                self._visit(node.value, found)
                self._visit(node.key, found)
            case n.Slice():
                self._visit(node.value, found)
                for end in (node.start, node.stop):
                    if end is not None:
                        self._visit(end, found)
                        self._ask(end, INT, found)
            case n.Member() | n.TupleMember():
                self._visit(node.value, found)
            case n.Name() | n.Literal():
                pass
            case _:
                assert_never(node)

    def _operator(
        self, operator: str, left: n.Expression, right: n.Expression, found: Uses
    ) -> None:
        if operator == "+":
            self._alike(left, right, found)
            return
        wanted = INT if operator == "%" else NUMBER
        self._ask(left, wanted, found)
        self._ask(right, wanted, found)

    def _alike(self, left: n.Expression, right: n.Expression, found: Uses) -> None:
        """Both operands are numbers, or both are strings: one of them tells about the other."""
        for one, other in ((left, right), (right, left)):
            known = self._known(one, found)
            if is_only(known, "string"):
                self._ask(other, STRING, found)
            elif is_only(known, "int", "float"):
                self._ask(other, NUMBER, found)

    def _call(self, node: n.Call, found: Uses) -> None:
        self._visit(node.function, found)
        for argument in node.arguments:
            self._visit(argument.value, found)
        if not isinstance(node.function, n.Name):
            return
        symbol = self.facts.names.of(node.function)
        if symbol.kind == "builtin":
            builtin = meant(BUILTINS[symbol.name], [(None, ANY)] * len(node.arguments))
            for position, argument in enumerate(node.arguments):
                parameter = builtin.parameter(position)
                wanted = _OF_KINDS.get(parameter.kinds) if parameter else None
                if wanted is not None and argument.name is None:
                    self._ask(argument.value, wanted, found)
        elif symbol.kind == "function" and isinstance(symbol.node, n.FunctionDef):
            types = self.facts.functions[symbol.node].parameters
            for argument, type_ in zip(node.arguments, types, strict=False):
                if argument.name is None and is_known(type_):
                    self._ask(argument.value, type_, found)

    def _ask(self, node: n.Expression, wanted: Type, found: Uses) -> None:
        if isinstance(node, n.Name):
            symbol = self.facts.names.of(node)
            if symbol in self.parameters:
                self._merge(found, {symbol: wanted})

    def _known(self, node: n.Expression, found: Uses) -> Type:
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
                return found.get(symbol) or self.facts.declared.get(symbol, ANY)
            case n.Binary(operator="+"):
                left = self._known(node.left, found)
                return left if left != ANY else self._known(node.right, found)
            case n.Binary():
                return NUMBER
            case n.Call(function=n.Name() as function):
                symbol = self.facts.names.of(function)
                if symbol.kind == "builtin":
                    gives = BUILTINS[symbol.name].gives
                    return ANY if callable(gives) else gives
                if isinstance(symbol.node, n.FunctionDef):
                    return self.facts.functions[symbol.node].declared or ANY
                return ANY
            case n.Prompt():
                return STRING
            case _:
                return ANY


def _ends(body: Iterable[n.Statement]) -> bool:
    """Whether a block never goes on below it."""
    for statement in body:
        if isinstance(statement, n.RetStmt | n.BreakStmt | n.ContinueStmt):
            return True
        if isinstance(statement, n.IfStmt):
            bodies = [*(branch.body for branch in statement.branches), statement.other]
            if all(_ends(inner) for inner in bodies):
                return True
    return False
