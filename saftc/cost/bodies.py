"""Bounds the requests of a body in one pass over its statements.

The bounds of consecutive statements add up. Of several branches, the largest bound counts. A loop
multiplies the bound of its body by its iterations. A `break` does not lower the bound.
"""

from collections.abc import Mapping, Sequence
from typing import get_args

from saftc.check.names import Symbol
from saftc.check.statements import blocks_of, evaluated_by
from saftc.cost.bound import ZERO, Bound, CallSite, largest
from saftc.cost.lengths import Value
from saftc.cost.script_bounds import ScriptBounds
from saftc.cost.variables import Loop, LoopBound, Variables, parts_of
from saftc.syntax import nodes as n
from saftc.syntax.constructs import CONSTRUCTS
from saftc.syntax.walk import children

# Nodes that send requests only through their parts, like calls of MCP tools and of Python. All
# other nodes have rules here.
_ONLY_PARTS = tuple(kind for kind, known in CONSTRUCTS.items() if known.asks == "parts")
_STATEMENTS = tuple(kind for kind in CONSTRUCTS if kind in get_args(n.Statement))

_LEAVES = n.RetStmt | n.FailStmt | n.BreakStmt | n.ContinueStmt


class BodyBounds:
    """Bounds the requests of a body, where variables have the values in `known` at first.

    `pieces` collects the prompts, calls and loops that may send requests, in order of evaluation.
    """

    def __init__(
        self,
        script: ScriptBounds,
        known: Mapping[Symbol, Value],
        pieces: list[CallSite] | None = None,
    ) -> None:
        self.script = script
        self.variables = Variables(script.lengths, dict(known))
        self.pieces = list[CallSite]() if pieces is None else pieces

    def block(self, statements: Sequence[n.Statement]) -> tuple[Bound, bool]:
        """The bound for the requests of a block, and whether control never continues below it."""
        asked, left = ZERO, list[Bound]()
        for statement in statements:
            match statement:
                case n.IfStmt():
                    before, going = self.variables.known, list[Bound]()
                    after = self.variables.after(statement)
                    for branch in (*statement.branches, None):
                        if branch is not None:
                            asked += self.requests(branch.condition)
                        body = statement.other if branch is None else branch.body
                        way, is_over = BodyBounds(self.script, before, self.pieces).block(body)
                        (left if is_over else going).append(asked + way)
                    asked, self.variables.known = largest(going), after
                    if not going:
                        return largest(left), True
                case n.AssertStmt(condition=condition, message=message):
                    asked += self.requests(condition)
                    if message is not None:
                        left.append(asked + self.requests(message))
                case n.ForStmt() | n.WhileStmt():
                    asked += self._loop(statement)
                case n.TryStmt():
                    known = self.variables.known = self.variables.after(statement)
                    for body in blocks_of(statement):
                        asked += BodyBounds(self.script, known, self.pieces).block(body)[0]
                case _ if type(statement) in _STATEMENTS:
                    asked += sum(map(self.requests, evaluated_by(statement)), ZERO)
                    self.variables.assign(statement)
                case _:
                    words = f"no rule says what {type(statement).__name__} asks"
                    asked += self.script.unknown(statement, words)
            if isinstance(statement, _LEAVES):
                return largest((*left, asked)), True
        return largest((*left, asked)), False

    def _loop(self, loop: Loop) -> Bound:
        first, tests = ZERO, list[Bound]()
        if isinstance(loop, n.ForStmt):
            first = self.requests(loop.iterable)
        turns = self.variables.turns(loop)
        known = self.variables.known = self.variables.after(loop, turns.most)
        turn = BodyBounds(self.script, known)
        if isinstance(loop, n.WhileStmt):
            tests = [turn.requests(one) for one in parts_of(loop.condition)]
        once = sum(tests, turn.block(loop.body)[0])
        once += BodyBounds(self.script, known).block(self.script.runs_again(loop))[0]
        last = sum(tests[: turns.part + 1], ZERO)
        return first + self._repeated(loop, once, turns, turn.pieces, last)

    def _clauses(self, node: n.Comprehension, clauses: Sequence[n.ComprehensionClause]) -> Bound:
        if not clauses:
            return self.requests(node.item)
        clause, *others = clauses
        first, turn = self.requests(clause.iterable), BodyBounds(self.script, self.variables.known)
        once = sum(map(turn.requests, clause.conditions), ZERO) + turn._clauses(node, others)
        return first + self._repeated(clause, once, self.variables.turns(clause), turn.pieces)

    def _repeated(
        self,
        loop: Loop | n.ComprehensionClause,
        once: Bound,
        turns: LoopBound,
        inner: Sequence[CallSite],
        last: Bound = ZERO,
    ) -> Bound:
        """The bound for the requests of all iterations of a loop.

        `once` is the bound for one iteration. `last` is the bound for the operands of a `while`
        condition that are evaluated once more.
        """
        most, is_known = turns.most, not turns.most.reasons
        if isinstance(loop, n.WhileStmt):
            iterations = "iteration" if most.number == 1 else "iterations"
            words = f"`while`, at most {most.text} {iterations}" if is_known else "`while`"
        else:
            written = self.script.lengths.written(loop.iterable).shown
            words = f"for each of {written}" if is_known else "for each part"
        asked = once * most + last
        return self._note(CallSite(loop, self.script.source, asked, words, tuple(inner)))

    def _note(self, piece: CallSite) -> Bound:
        """The bound of a call site, which is collected if it may send requests."""
        if not piece.bound.is_zero:
            self.pieces.append(piece)
        return piece.bound

    def requests(self, node: n.Node) -> Bound:
        """The bound for the requests of an expression, including those of the functions it calls.

        Adds the prompts and calls in the expression to `pieces`.
        """
        match node:
            case n.Conditional(condition=condition, then=then, other=other):
                ways = [self.requests(one) for one in (then, other)]
                return self.requests(condition) + largest(ways)
            case n.Comprehension(clauses=clauses):
                return self._clauses(node, clauses)
            case n.Prompt():
                inner = sum(map(self.requests, children(node)), ZERO)
                return inner + self._note(self.script.prompt(node, self.variables.known))
            case n.Call():
                inner = sum(map(self.requests, children(node)), ZERO)
                return inner + self._note(self.script.call(node, self.variables.known))
            case _ if isinstance(node, _ONLY_PARTS):
                return sum(map(self.requests, children(node)), ZERO)
            case _:
                return self.script.unknown(node, f"no rule says what {type(node).__name__} asks")
