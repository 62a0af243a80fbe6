"""What the parts of inference share: the facts, the collector, and the unit being inferred.

A *unit* is the module or one function. Units are inferred one at a time until nothing changes;
`Dependencies` remembers which unit has read what, so that a unit is inferred again only when
something it has read has grown.
"""

from abc import ABC, abstractmethod
from typing import Literal

from saftc.diagnostics.model import Diagnostic
from saftc.semantics.environment import Environment
from saftc.semantics.facts import Coercion, Facts
from saftc.semantics.relations import Fit
from saftc.semantics.scopes import Scope, Symbol
from saftc.semantics.types import ANY, NEVER, Scalar, Type, bounded, opened, union
from saftc.syntax import nodes as n

Unit = n.Module | n.FunctionDef
LoopLog = dict[Symbol, Type]


class Base(ABC):
    """The state of inference and its small steps."""

    def __init__(self, module: n.Module, facts: Facts) -> None:
        self.module = module
        self.facts = facts
        self.unit: Unit = module
        self.scope: Scope = facts.names.scopes[module]
        # The types that each loop around the current place has assigned.
        self.loop_logs: list[LoopLog] = []
        self.readers: dict[Symbol | n.FunctionDef, dict[Unit, None]] = {}
        self.outdated: dict[Unit, None] = {}
        # Units that have assigned more to their own variables than they had read there before.
        self.read_own: set[Unit] = set()
        # Of each unit, what was found when it was inferred last: on types that are final.
        self.mistakes: dict[Unit, list[Diagnostic]] = {}

    @abstractmethod
    def expression(self, node: n.Expression, env: Environment, wanted: Type | None = None) -> Type:
        """The type of an expression; `wanted` is what its place asks for, if anything."""

    @abstractmethod
    def place(self, node: n.Expression, wanted: Type, env: Environment) -> Type:
        """Puts an expression where `wanted` is asked for; notes what the place has to do."""

    @abstractmethod
    def adopting(self, node: n.Expression, model: Type, env: Environment) -> Type:
        """The type of an expression beside values of type `model`."""

    @abstractmethod
    def settle(self, node: n.Expression, found: Type, wanted: Type) -> Type:
        """Holds a value of type `found` against what its place asks for."""

    @abstractmethod
    def condition(self, node: n.Expression, env: Environment) -> None:
        """An expression as a condition: prompts in it are asked for a bool."""

    @abstractmethod
    def narrow(self, node: n.Expression, env: Environment, *, truth: bool) -> None:
        """Notes in `env` what follows from `node` being true, or not."""

    @abstractmethod
    def call(self, node: n.Call, env: Environment) -> Type:
        """The type of a call."""

    @abstractmethod
    def bind(self, pattern: n.Pattern, type_: Type, env: Environment) -> None:
        """Assigns a value of `type_` to the names of a pattern."""

    def report(self, diagnostic: Diagnostic) -> None:
        """Keeps a mistake, unless the current unit is inferred again."""
        self.mistakes[self.unit].append(diagnostic)

    def keep(self, node: n.Node, type_: Type) -> Type:
        """Notes the type of an expression."""
        if not isinstance(type_, Scalar):
            type_ = bounded(opened(type_))
        self.facts.types[node] = type_
        return type_

    def coerce(self, node: n.Node, fit: Fit, wanted: Type) -> None:
        """Notes what the place of `node` does with its value."""
        if fit == Fit.EXACT:
            self.facts.coercions.pop(node, None)
        else:
            self.facts.coercions[node] = Coercion(fit, wanted)

    # Variables

    def read(self, symbol: Symbol, env: Environment) -> Type:
        """The type of a variable where it is read."""
        slot = env.slot(symbol)
        if slot is not None:
            return slot.type
        return self.lasting(symbol)

    def lasting(self, symbol: Symbol) -> Type:
        """The type of a variable of another unit: whatever is assigned to it anywhere."""
        self.readers.setdefault(symbol, {})[self.unit] = None
        # An annotation holds for its own assignment; others may bring something else.
        declared = self.facts.declared.get(symbol, NEVER)
        return union((declared, self.facts.symbols.get(symbol, NEVER)))

    def assign(self, symbol: Symbol, type_: Type, env: Environment) -> None:
        """Notes an assignment."""
        type_ = bounded(type_)
        env.assign(symbol, type_)
        for log in self.loop_logs:
            log[symbol] = union((log.get(symbol, NEVER), type_))
        self.grow(symbol, type_)

    def grow(self, symbol: Symbol, type_: Type) -> None:
        """Adds `type_` to what a variable can hold for those that read it from elsewhere."""
        known = self.facts.symbols.get(symbol, NEVER)
        if known == type_:
            return
        grown = bounded(union((known, type_)))
        if grown != known:
            self.facts.symbols[symbol] = grown
            self.outdate(symbol)

    def outdate(self, what: Symbol | n.FunctionDef) -> None:
        """Has the units that read `what` inferred again, the current one last of all."""
        for unit in self.readers.get(what, ()):
            if unit is self.unit and isinstance(what, Symbol):
                self.read_own.add(unit)
            else:
                self.outdated[unit] = None

    def returned(self, type_: Type) -> None:
        """Notes a value that the current function gives."""
        if not isinstance(self.unit, n.FunctionDef):
            return
        function = self.facts.functions[self.unit]
        grown = bounded(union((function.gives, type_)))
        if grown != function.gives:
            function.gives = grown
            self.outdate(self.unit)

    def result_of(self, definition: n.FunctionDef) -> Type:
        """The type of the value of a call of a function of this module."""
        self.readers.setdefault(definition, {})[self.unit] = None
        function = self.facts.functions.get(definition)
        return ANY if function is None else function.returns


Truth = Literal["always", "never", "either"]
