"""Bounds the requests of a body in one pass over its statements.

The bounds of consecutive statements add up. Of several branches, the largest bound counts. A loop
multiplies the bound of its body by its iterations. A `break` does not lower the bound.
"""

from collections.abc import Sequence
from typing import get_args

from saftc.check.statements import evaluated_by
from saftc.cost.algebra import ONE
from saftc.cost.bound import NOTHING, Bound, CallSite, largest_bound
from saftc.cost.lengths import At, Loop, parts_of
from saftc.cost.script_bounds import A_BUDGET, ScriptBounds
from saftc.syntax import nodes as n
from saftc.syntax.constructs import CONSTRUCTS
from saftc.syntax.walk import children

# Nodes that send requests only through their parts, like calls of MCP tools and of Python. All
# other nodes have rules here.
_ONLY_PARTS = tuple(kind for kind, known in CONSTRUCTS.items() if known.asks == "parts")
_STATEMENTS = tuple(kind for kind in CONSTRUCTS if kind in get_args(n.Statement))

_A_COUNTER = (
    "a counter that every iteration increases bounds it, as in `while tries < 3`, and so does "
    "a budget of the run (`--budget-requests`)"
)
_LEAVES = n.RetStmt | n.FailStmt | n.BreakStmt | n.ContinueStmt


class BodyBounds:
    """Bounds the requests of a body.

    `pieces` collects the prompts, calls and loops that may send requests, in order of evaluation.
    """

    def __init__(self, script: ScriptBounds) -> None:
        self.script = script
        self.pieces: list[CallSite] = []

    def block(self, statements: Sequence[n.Statement]) -> tuple[Bound, bool]:
        """The bound for the requests of a block, and whether control never continues below it."""
        asked, left = NOTHING, list[Bound]()
        for statement in statements:
            match statement:
                case n.IfStmt():
                    going = list[Bound]()
                    for branch in (*statement.branches, None):
                        if branch is not None:
                            asked += self.callee_requests(branch.condition, statement)
                        body = statement.other if branch is None else branch.body
                        way, is_over = self.block(body)
                        (left if is_over else going).append(asked + way)
                    asked = largest_bound(going)
                    if not going:
                        return largest_bound(left), True
                case n.AssertStmt(condition=condition, message=message):
                    asked += self.callee_requests(condition, statement)
                    if message is not None:
                        left.append(asked + self.callee_requests(message, statement))
                case n.ForStmt() | n.WhileStmt():
                    asked += self._loop(statement)
                case n.TryStmt():
                    asked += self.block(statement.body)[0] + self.block(statement.handler)[0]
                case _ if type(statement) in _STATEMENTS:
                    for node in evaluated_by(statement):
                        asked += self.callee_requests(node, statement)
                case _:
                    words = f"no rule says what {type(statement).__name__} asks"
                    asked += self.script.unknown(statement, words)
            if isinstance(statement, _LEAVES):
                return largest_bound((*left, asked)), True
        return largest_bound((*left, asked)), False

    def _loop(self, loop: Loop) -> Bound:
        first, tests, turn = NOTHING, list[Bound](), BodyBounds(self.script)
        if isinstance(loop, n.ForStmt):
            first = self.callee_requests(loop.iterable, loop)
        else:
            tests = [turn.callee_requests(one, loop.body[0]) for one in parts_of(loop.condition)]
        once = sum(tests, NOTHING) + turn.block(loop.body)[0]
        ahead = self.script.lookahead(loop)
        if ahead is not None:
            # If the part that runs ahead reads a file too early, it runs again in its iteration.
            once += BodyBounds(self.script).block(loop.body[: ahead.cut])[0]
        return first + self._repeated(loop, once, tests, turn, loop)

    def _clauses(
        self, node: n.Comprehension, clauses: Sequence[n.ComprehensionClause], at: At
    ) -> Bound:
        if not clauses:
            return self.callee_requests(node.item, at)
        clause, *others = clauses
        first, turn = self.callee_requests(clause.iterable, at), BodyBounds(self.script)
        tests = [turn.callee_requests(one, at) for one in clause.conditions]
        once = sum(tests, NOTHING) + turn._clauses(node, others, at)
        return first + self._repeated(clause, once, [], turn, at)

    def _repeated(
        self,
        loop: Loop | n.ComprehensionClause,
        once: Bound,
        tests: list[Bound],
        turn: "BodyBounds",
        at: At,
    ) -> Bound:
        """The bound for the requests of all iterations of a loop.

        `once` is the bound for one iteration. `tests` has the bounds for the operands of a `while`
        condition.
        """
        if once.is_zero:
            return NOTHING
        lengths = self.script.lengths
        turns = lengths.turns(loop, at)
        over = loop if isinstance(loop, n.WhileStmt) else loop.iterable
        if turns is not None:
            most = turns.most
            asked = once.times(most) + sum(tests[: turns.part + 1], NOTHING)
            words = f"`while`, at most {most.text} iteration{'' if most == ONE else 's'}"
        elif over is loop:
            often = "`while` repeats an unknown number of times"
            asked, words = once + self.script.unknown(loop, often, _A_COUNTER), "`while`"
        else:
            often = "a stream comes in as many parts as the server sends"
            asked, words = once + self.script.unknown(over, often, A_BUDGET), "for each part"
        if turns is not None and not isinstance(over, n.WhileStmt):
            words = f"for each of {lengths.written(over, at).shown}"
        piece = CallSite(loop, self.script.source, asked, words, tuple(turn.pieces))
        return self._note(piece)

    def _note(self, piece: CallSite) -> Bound:
        self.pieces.append(piece)
        return piece.bound

    def callee_requests(self, node: n.Node, at: At) -> Bound:
        """The bound for the requests of an expression, including those of the functions it calls.

        Adds the prompts and calls in the expression to `pieces`.
        """
        match node:
            case n.Conditional(condition=condition, then=then, other=other):
                ways = [self.callee_requests(one, at) for one in (then, other)]
                return self.callee_requests(condition, at) + largest_bound(ways)
            case n.Comprehension(clauses=clauses):
                return self._clauses(node, clauses, at)
            case _ if isinstance(node, (n.Prompt, n.Call, *_ONLY_PARTS)):
                asked = sum((self.callee_requests(one, at) for one in children(node)), NOTHING)
            case _:
                return self.script.unknown(node, f"no rule says what {type(node).__name__} asks")
        piece = None
        if isinstance(node, n.Prompt):
            piece = self.script.prompt(node, at)
        elif isinstance(node, n.Call):
            piece = self.script.call(node, at)
        return asked if piece is None else asked + self._note(piece)
