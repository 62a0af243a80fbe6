"""The reference interpreter: what a script does, straight from the language's reference.

    run(module, script)     Run(output, names, fault, asked, evaluated)

It walks the tree and shares nothing with the compiler's inference and code generation or with the
operations of the runtime, so that two independent readings of the language can be compared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import assert_never

from saftc.source import Span
from saftc.syntax import nodes as n
from tests.oracle import values as v
from tests.oracle.builtins import builtins
from tests.oracle.evaluation import Evaluation, TooLong
from tests.oracle.model import Asked, Script
from tests.oracle.schemas import Types
from tests.oracle.values import Constructor, Fault, Frame, Function, Value

MOST_CALLS = 50
_STRING = n.NamedSchema(Span(0, 0), "string")


@dataclass(frozen=True, slots=True)
class Run:
    """What a run gave. `evaluated` holds the places of what was evaluated without a fault, `caught`
    the faults that were caught.
    """

    output: tuple[str, ...]
    names: dict[str, Value]
    fault: Fault | None
    asked: tuple[Asked, ...]
    decisions: tuple[tuple[str, str], ...]
    evaluated: frozenset[Span]
    caught: tuple[Fault, ...] = ()


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


def _settled(value: Value) -> list[Value]:
    """The value of a name; that of a stream where it was asked."""
    if isinstance(value, v.Stream):
        return [] if value.answer is None else [value.answer[0]]
    return [value]


def is_kept(name: str) -> bool:
    """Whether a stream that is bound to the name is kept, since a loop goes over it."""
    return name.startswith("flow_")


def run(module: n.Module, script: Script) -> Run:
    """What the script does; TooLong when it does not come to an end soon."""
    return _Interpreter(module, script).run()


class _Interpreter(Evaluation):
    def __init__(self, module: n.Module, script: Script) -> None:
        super().__init__(Types(module), script)
        self.module = module
        self.held: dict[n.Statement, n.Schema] = {}
        self.hold(module.statements, {})
        self.types.check_rules = self.check_rules
        self.frame = Frame()
        self.output: list[str] = []
        self.calls = 0
        self.caught: list[Fault] = []

    def run(self) -> Run:
        outermost = Frame()
        outermost.names.update(builtins(self.output))
        frame = self.frame = Frame(outermost)
        fault = None
        try:
            self.block(self.module.statements, frame, None)
            main = frame.names.get("main")
            if isinstance(main, Function) and not main.definition.parameters:
                self.called(main, [], {}, main.definition.span)
        except Fault as failure:
            fault = failure
        return Run(
            v.lines_of("".join(self.output)),
            {name: one for name, value in frame.names.items() for one in _settled(value)},
            fault,
            tuple(self.asked),
            tuple(self.decisions),
            frozenset(self.evaluated),
            tuple(self.caught),
        )

    def hold(self, statements: tuple[n.Statement, ...], latest: dict[str, n.Schema]) -> None:
        """Notes the annotations that hold for the assignments below them in a call."""
        for node in statements:
            match node:
                case n.AssignStmt(schema=n.Node() as schema):
                    latest[node.name.text] = schema
                case n.AssignStmt() | n.AugmentedAssignStmt() if node.name.text in latest:
                    self.held[node] = latest[node.name.text]
                case n.DestructureStmt():
                    latest |= {field.name.text: field.schema for field in node.fields}
                case n.FunctionDef():
                    schemas = {one.name.text: one.schema for one in node.parameters}
                    self.hold(node.body, {name: one for name, one in schemas.items() if one})
                case n.IfStmt():
                    for branch in node.branches:
                        self.hold(branch.body, latest)
                    self.hold(node.other, latest)
                case n.TryStmt():
                    self.hold(node.body, latest)
                    self.hold(node.handler, latest)
                case n.ForStmt() | n.WhileStmt():
                    self.hold(node.body, latest)
                case _:
                    pass

    # Statements

    def block(
        self, statements: tuple[n.Statement, ...], frame: Frame, returns: n.Schema | None
    ) -> None:
        for statement in statements:
            self.step()
            self.statement(statement, frame, returns)

    def statement(self, node: n.Statement, frame: Frame, returns: n.Schema | None) -> None:
        match node:
            case n.FunctionDef():
                defaults = self.defaults(node.parameters, frame)
                frame.bind(node.name.text, Function(node, frame, defaults))
            case n.RecordDef():
                defaults = self.defaults(node.fields, frame)
                self.types.defaults[node] = defaults
                frame.bind(node.name.text, Constructor(node, defaults))
            case n.AssignStmt(value=n.Prompt(is_streamed=True) as asked) if is_kept(node.name.text):
                frame.bind(node.name.text, self.stream_of(asked, frame, node.schema))
            case n.AssignStmt():
                value = self.placed(node.value, frame, node.schema or self.held.get(node))
                talk = self.talk if isinstance(node.value, n.Prompt) else None
                frame.bind(node.name.text, value, talk)
            case n.AugmentedAssignStmt():
                frame.bind(node.name.text, self.placed(node.value, frame, self.held.get(node)))
            case n.UnpackStmt():
                self.bind(node.pattern, self.evaluate(node.value, frame), frame)
            case n.DestructureStmt():
                assert isinstance(node.value, n.Prompt)
                for name, value in self.destructured(node, node.value, frame).items():
                    frame.bind(name, value, self.talk)
            case n.IfStmt():
                self.if_stmt(node, frame, returns)
            case n.ForStmt():
                self.loop(self.for_stmt(node, frame, returns))
            case n.WhileStmt():
                self.loop(self.while_stmt(node, frame, returns))
            case n.TryStmt():
                self.try_stmt(node, frame, returns)
            case n.FailStmt():
                value = self.evaluate(node.value, frame)
                if isinstance(value, v.Failure):
                    raise value.fault
                said = self.fitted(value, _STRING, node.value.span)
                raise Fault("fail", node.span, said, failure="failed")
            case n.BreakStmt():
                raise _Break
            case n.ContinueStmt():
                raise _Continue
            case n.RetStmt():
                raise _Return(self.returned(node, frame, returns))
            case n.AssertStmt():
                self.assert_stmt(node, frame)
            case n.ExpressionStmt():
                self.evaluate(node.value, frame)
            case n.TypeAlias():
                pass
            case n.ImportStmt() | n.FromImport():
                raise NotImplementedError(type(node).__name__)
            case _:
                assert_never(node)

    def defaults(self, parameters: tuple[n.Parameter, ...], frame: Frame) -> v.Bound:
        return {
            parameter.name.text: self.placed(parameter.default, frame, parameter.schema)
            for parameter in parameters
            if parameter.default is not None
        }

    def if_stmt(self, node: n.IfStmt, frame: Frame, returns: n.Schema | None) -> None:
        for branch in node.branches:
            if self.holds(branch.condition, frame):
                self.block(branch.body, frame, returns)
                return
        self.block(node.other, frame, returns)

    def try_stmt(self, node: n.TryStmt, frame: Frame, returns: n.Schema | None) -> None:
        try:
            self.block(node.body, frame, returns)
        except Fault as fault:
            self.caught.append(fault)
            inner = frame.failures.setdefault(node, Frame(frame, home=frame.home))
            if node.error is not None:
                inner.names[node.error.text] = v.Failure(fault)
            self.block(node.handler, inner, returns)

    def loop(self, turn: Callable[[], bool]) -> None:
        """Takes turns until there is no next one, or a `break`."""
        while True:
            self.step()
            try:
                if not turn():
                    return
            except _Continue:
                continue
            except _Break:
                return

    def while_stmt(
        self, node: n.WhileStmt, frame: Frame, returns: n.Schema | None
    ) -> Callable[[], bool]:
        def turn() -> bool:
            if not self.holds(node.condition, frame):
                return False
            self.block(node.body, frame, returns)
            return True

        return turn

    def for_stmt(
        self, node: n.ForStmt, frame: Frame, returns: n.Schema | None
    ) -> Callable[[], bool]:
        items = iter(self.items_of(node.iterable, frame, node.schema))

        def turn() -> bool:
            for item in islice(items, 1):
                self.bind(node.pattern, item, frame)
                self.block(node.body, frame, returns)
                return True
            return False

        return turn

    def returned(self, node: n.RetStmt, frame: Frame, returns: n.Schema | None) -> Value:
        if isinstance(returns, n.NamedSchema) and returns.text == "stream":
            assert node.value is not None
            is_prompt = isinstance(node.value, n.Prompt)
            ask = self.stream_of if is_prompt else self.evaluate
            return ask(node.value, frame, None)
        if node.value is not None:
            return self.placed(node.value, frame, returns)
        return None if returns is None else self.fitted(None, returns, node.span)

    def assert_stmt(self, node: n.AssertStmt, frame: Frame) -> None:
        if self.holds(node.condition, frame):
            return
        said = "" if node.message is None else v.text_of(self.evaluate(node.message, frame))
        raise Fault("assert", node.span, said)

    def check_rules(self, record: v.Record) -> None:
        frame = Frame(self.frame)
        frame.names.update(record.fields)
        for rule in record.definition.rules:
            if not self.holds(rule.condition, frame):
                said = "" if rule.message is None else self.evaluate(rule.message, frame)
                raise v.Wrong(f"a rule is broken: {v.text_of(said)}")

    # Calls

    def entered(self, definition: n.FunctionDef, frame: Frame) -> Value:
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise TooLong
        try:
            self.block(definition.body, frame, definition.returns)
        except _Return as returned:
            self.evaluated.add(definition.name.span)
            return returned.value
        finally:
            self.calls -= 1
        if definition.returns is not None:
            self.fitted(None, definition.returns, definition.name.span)
        self.evaluated.add(definition.name.span)
        return None


__all__ = ["Run", "TooLong", "run"]
