"""Reasons why later prompts must not start before this code has finished.

A prompt may fail, and so may reading and writing files. Overlap accepts the risk of these
accidents. Every other failure (see `failures`) is a reason, unless a `try` catches it. Code that
may run forever is a reason, too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from saftc.check.statements import blocks_of
from saftc.infer.failures import (
    Cause,
    Failure,
    failures_in,
    failures_of,
    of_unknown_type,
    path_of,
    shown,
)
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.types.types import ANY

if TYPE_CHECKING:
    from saftc.effects.effects import Effects

STREAMED = "a stream delivers its pieces in order"
# Ways out: what to write instead, so that prompts need not stay in order.
UNSTREAMED = "leave out `stream`"
ANNOTATE = "annotate it"
GIVE_VALUE = "give it a value above"
TO_HEAD = "move it to the head of the loop, above its prompts and prints"
TO_OTHER_LOOP = f"{TO_HEAD}, or to another loop below"
CATCH = f"{TO_HEAD}, or catch it with `try` and continue"
# The statements that end a loop from inside its body, and from inside an inner loop.
_ENDING = (n.BreakStmt, n.RetStmt)
_ENDING_ALL = (n.RetStmt,)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a prompt or statement must run in source order, and the node that prevents overlap.

    `way_out` says what to write instead. If `is_caught`, a `try` around the node catches the
    failure and the script continues. `source` is the source of the node if it is in another script.
    """

    node: n.Node
    words: str
    way_out: str
    is_caught: bool = True
    source: Source | None = None


_Reasons = Iterator[Reason]
_Ending = tuple[type[n.Statement], ...]


class Certainty:
    """Finds code that may stop a script."""

    def __init__(self, effects: "Effects") -> None:
        self.facts = effects.facts
        self.effects = effects

    def block(self, statements: Iterable[n.Statement]) -> Reason | None:
        """The first reason why statements of a loop may keep the loop from its next item."""
        return next(self._block(statements, _ENDING), None)

    def unending(self, statements: Iterable[n.Statement]) -> Reason | None:
        """The first reason why statements of a loop may run forever, or end more than the loop."""
        for one in self._block(statements, _ENDING):
            if not one.is_caught and not isinstance(one.node, n.BreakStmt):
                return one
        return None

    def expression(self, node: n.Expression | n.ComputedField) -> Reason | None:
        """The first reason why an expression may stop the script."""
        return next(self._reasons(failures_in(self.facts, node)), None)

    def unpacks(self, loop: n.ForStmt | n.ComprehensionClause) -> Reason | None:
        """Why taking the items of a loop may stop the script.

        Returns None if it certainly does not.
        """
        return next(self._reasons(failures_of(self.facts, loop)), None)

    # Functions

    def of_function(self, definition: n.FunctionDef) -> tuple[Reason, ...]:
        """The reasons why a function may stop the scripts that call it, for its `Summary`."""
        first: dict[bool, Reason] = {}
        for reason in self._function(definition):
            first.setdefault(reason.is_caught, reason)
        return tuple(first.values())

    def _function(self, definition: n.FunctionDef) -> _Reasons:
        if self.effects.summary(definition).calls_itself:
            # Its body is not analysed, so that the analysis ends here.
            words = f"`{definition.name.text}` calls itself, and may never end"
            yield Reason(definition.name, words, "write a loop with `for` instead", is_caught=False)
            return
        known = self.facts.functions[definition]
        if known.declared is not None and known.can_lack_value:
            words = f"`{definition.name.text}` may end without a value"
            yield Reason(definition.name, words, "end it with a `ret`")
        yield from self._block(definition.body)

    # Statements

    def _block(self, statements: Iterable[n.Statement], ending: _Ending = ()) -> _Reasons:
        """Why statements may stop the script or end the loop around them.

        `ending` has the types of the statements that end this loop.
        """
        for statement in statements:
            yield from self._statement(statement, ending)

    def _statement(self, node: n.Statement, ending: _Ending) -> _Reasons:
        match node:
            case n.WhileStmt():
                words = "`while` may never end"
                yield Reason(node, words, "loop over a `range` with `for`", is_caught=False)
                return
            case n.TryStmt():
                yield from self._try(node, ending)
                return
            case n.BreakStmt() | n.RetStmt() if isinstance(node, ending):
                is_break = isinstance(node, n.BreakStmt)
                word = "break" if is_break else "ret"
                way_out = TO_OTHER_LOOP if is_break else "`break` at the head, and `ret` below it"
                yield Reason(node, f"`{word}` may end the loop", way_out, is_caught=False)
            case n.ForStmt():
                ending = _ENDING_ALL if ending else ()
            case _:
                pass
        yield from self._reasons(failures_in(self.facts, node))
        for block in blocks_of(node):
            yield from self._block(block, ending)

    def _try(self, node: n.TryStmt, ending: _Ending) -> _Reasons:
        """Why a `try` statement may stop the script.

        Failures of the handler do not count if only an accident, such as a failed prompt, leads to
        the handler. The handler then decides how to treat the accident, as in
        `except error: fail error`.
        """
        is_by_accident = True
        for reason in self._block(node.body, ending):
            is_by_accident &= not reason.is_caught
            if not reason.is_caught:
                yield reason
        for reason in self._block(node.handler, ending):
            if not (is_by_accident and reason.is_caught):
                yield reason

    # What may fail

    def _reasons(self, failures: Iterable[Failure]) -> _Reasons:
        """The reasons for those failures that prevent overlap."""
        for one in failures:
            match one.cause:
                case Cause.CALL:
                    assert one.function is not None
                    yield from self._called(one.function)
                case Cause.ACCIDENT:
                    pass
                case Cause.UNSET:
                    yield Reason(one.node, one.words, GIVE_VALUE)
                case Cause.PYTHON if self._is_declared(one.node):
                    pass
                case Cause.UNKNOWN:
                    yield Reason(one.node, one.words, "move it out of the loop", is_caught=False)
                case Cause.PYTHON:
                    yield Reason(one.node, one.words, declare(self._path(one.node)))
                case _:
                    way_out = self._way_out(one.node)
                    yield Reason(one.node, one.words, way_out)

    def _called(self, definition: n.FunctionDef) -> _Reasons:
        """Why a call of a function may stop the script."""
        source = self.facts.sources.get(definition)
        for reason in self.effects.summary(definition).reasons:
            yield reason if source is None or reason.source else replace(reason, source=source)

    def _way_out(self, node: n.Node) -> str:
        """What to write instead of code that may fail."""
        match node:
            case n.AssertStmt() | n.FailStmt():
                return TO_OTHER_LOOP
            case n.Member(value=value) | n.Index(value=value) if self._is_any(value):
                return f"annotate {shown(value)}"
            case n.Index(value=value):
                words = "look it up at the head of the loop"
                return f"{words}, or with `get({path_of(value) or 'rows'}, key, default)`"
            case n.Call(function=n.Name(text="int" | "float" as name)):
                hint = "or catch it with `try` and continue"
                return f"ask for the type: `x: {name} = $ ... $`; {hint}"
            case _ if isinstance(node, n.Expression) and self._is_any(node):
                return ANNOTATE
            case _:
                return CATCH

    def _is_any(self, node: n.Expression) -> bool:
        return self.facts.types.get(node, ANY) == ANY

    def _is_declared(self, node: n.Node) -> bool:
        """Whether a node calls Python code that is declared pure, or known to have no effects."""
        is_standard = isinstance(node, n.Call) and self.effects.is_standard(node)
        return is_standard or self.effects.is_pure(self._path(node))

    def _path(self, node: n.Node) -> str | None:
        """The path of the Python function or class that a node calls, in the notation of `pure`."""
        if isinstance(node, n.Call):
            record = self.facts.record_of(node.function)
            return record.path if record else self.effects.python_name(node.function)
        assert isinstance(node, n.ObjectLiteral)
        copied = self.facts.forms.copies[node].record
        record = None if copied is None else self.facts.record_facts.get(copied)
        return None if record is None else record.path


def declare(path: str | None) -> str:
    """The hint for a Python function that may be pure: what to write in the project file.

    If `path` is None, the hint says that the function must be called by its name.
    """
    if path is None:
        return "call a function by its name"
    return f'if it has no effects and does not fail: pure = ["{path}"]'


def of_effect(effects: "Effects", node: n.Node) -> Reason:
    """Why a node has an effect that other code may observe."""
    script, place, function = effects.origin_of(node)
    source = None if function is None else effects.facts.sources.get(function)
    return Reason(place, *_words(script, place), source=source)


def _words(effects: "Effects", node: n.Node) -> tuple[str, str]:
    """The effect of a node in words, and what to write instead."""
    facts = effects.facts
    match node:
        case n.Name() if facts.names.of(node).kind == "builtin":
            match node.text:
                case "input":
                    return "`input` waits for the user", "call it above the loop"
                case "print" | "write" as name:
                    words = f"`{name}` in another script would print out of order"
                    return words, "return the text, and print it here"
                case "run":
                    return "`run` may do anything", "run the program above or below"
                case name:
                    words = f"`{name}` must wait for everything before it"
                    return words, "move it below the prompts of the loop"
        case n.Name() | n.Member():
            path = effects.path_in_python(node)
            return f"the effects of {shown(node)} of Python are not known", declare(path)
        case n.Call():
            words = f"the effects of {shown(node.function)}, called here, are not known"
            return words, "call a function by its name"
        case n.ServerCall():
            words = f"`{node.tool}` of the MCP server `{node.server}` may change something"
            return words, f'if it does not: pure = ["mcp({node.server}).{node.tool}"]'
        case n.Prompt(is_streamed=True):
            return STREAMED, UNSTREAMED
        case n.Prompt():
            for one in node.shown:
                if effects.shows_unknown(one):
                    words = f"{of_unknown_type(one)}, and might be a function, and so a tool"
                    return words, ANNOTATE
            return "the effects of a function that it offers to the model are not known", ANNOTATE
        case _:
            return "the effects of Python on a value here are not known", ANNOTATE
