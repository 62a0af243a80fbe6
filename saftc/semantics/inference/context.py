"""What the functions of inference share: the facts, and the unit that is being inferred.

A *unit* is the module or one function. Units are inferred one at a time until nothing changes;
`readers` remembers which unit has read what, so that a unit is inferred again only when something
it has read has grown.
"""

from collections.abc import Callable, Set
from dataclasses import dataclass, field

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.semantics.facts import Coercion, Facts
from saftc.semantics.failure import path_of
from saftc.semantics.inference.environment import Environment
from saftc.semantics.names import Code, Symbol
from saftc.semantics.relations import Fit
from saftc.semantics.types import (
    ANY,
    NEVER,
    NIL,
    TOOL_CALL,
    Scalar,
    Type,
    bounded,
    erased,
    kind_word,
    members,
    opened,
    show,
    union,
    without,
)
from saftc.syntax import nodes as n

Unit = n.Module | Code
# The mistakes of the unit, and whether it doubts a type.
Snapshot = tuple[tuple[Diagnostic, ...], bool]
# Gives the type of an expression; the last is what its place asks for, if anything.
TypeOf = Callable[["Inference", n.Expression, Environment, Type | None], Type]


def _test_for(node: n.Expression, found: Type) -> str | None:
    """How a script tests for a part of what a value can be, and goes on with the others."""
    inner = node
    while isinstance(inner, n.Member | n.TupleMember):
        inner = inner.value
    tested = path_of(node) if isinstance(inner, n.Name) else None
    kinds = [kind_word(member) for member in members(found)]
    if NIL in members(found):
        test = f"if {tested or 'x'} != nil:"
    elif len(kinds) == 1 and kinds[0] is not None:
        test = f'if type({tested or "x"}) != "{kinds[0]}":'
    else:
        return None
    return f"test first: `{test}`" if tested else f"give it a name, and test that: `{test}`"


@dataclass(slots=True)
class Inference:
    """The state of inference and its small steps. `type_of` knows every kind of expression."""

    facts: Facts
    type_of: TypeOf
    unit: Unit
    # Whether there may be objects of Python among the values.
    uses_python: bool = False
    # What loops read, where that was asked.
    reads: dict[n.Statement, Set[Symbol]] = field(default_factory=dict[n.Statement, Set[Symbol]])
    readers: dict[Symbol | n.FunctionDef, dict[Unit, None]] = field(
        default_factory=dict[Symbol | n.FunctionDef, dict[Unit, None]]
    )
    # The units to be inferred, in this order.
    outdated: dict[Unit, None] = field(default_factory=dict[Unit, None])
    # The functions that have been called so far; of those that are only called, no other is known.
    reached: set[n.FunctionDef] = field(default_factory=set[n.FunctionDef])
    # Units that ask a value what it is although its type leaves no doubt about it.
    doubting: set[Unit] = field(default_factory=set[Unit])
    # Units that have assigned more to their own variables than they had read there before.
    read_own: set[Unit] = field(default_factory=set[Unit])
    # Whether what grows is any value from now on: it takes too long to find out what.
    widens: bool = False
    # Of each unit, the mistakes when it was inferred last: on types that are final.
    mistakes: dict[Unit, list[Diagnostic]] = field(default_factory=dict[Unit, list[Diagnostic]])
    # The types of expressions that may be functions of a type, which the facts have as any value.
    of_functions: dict[n.Node, Type] = field(default_factory=dict[n.Node, Type])

    def expression(self, node: n.Expression, env: Environment, wanted: Type | None = None) -> Type:
        """The type of an expression; `wanted` is what its place asks for, if anything."""
        return self.keep(node, self.type_of(self, node, env, wanted))

    def read_in(self, loop: n.Statement) -> Set[Symbol]:
        """The variables that a loop reads."""
        found = self.reads.get(loop)
        if found is None:
            found = self.reads[loop] = {symbol for symbol, _ in self.facts.names.read(loop)}
        return found

    def snapshot(self) -> Snapshot:
        """What was found in the unit so far."""
        return tuple(self.mistakes[self.unit]), self.unit in self.doubting

    def go_back(self, snapshot: Snapshot) -> None:
        """Drops what was found in the unit since a snapshot: it is gone through again."""
        mistakes, doubts = snapshot
        self.mistakes[self.unit][:] = mistakes
        if not doubts:
            self.doubting.discard(self.unit)

    def report(self, diagnostic: Diagnostic) -> None:
        """Keeps a mistake, unless the current unit is inferred again."""
        self.mistakes[self.unit].append(diagnostic)

    def may_fail(self, node: n.Expression, found: Type, problem: str) -> None:
        """Warns of a value that is wrong here if it is `found`, one part of what it can be.

        In a loop a later round knows more parts, and says it anew.
        """
        if isinstance(node, n.Member) and self.facts.types.get(node.value) == TOOL_CALL:
            # Of its error and its result one is nil, and the script knows which by the other.
            return
        mistakes, span = self.mistakes[self.unit], node.span
        code = catalogue.MAY_FAIL
        mistakes[:] = [m for m in mistakes if m.code != code.number or m.span != span]
        hint = _test_for(node, found)
        self.report(code.at(span, found=show(found), problem=problem, hint=hint))

    def keep(self, node: n.Node, type_: Type) -> Type:
        """Notes the type of an expression."""
        if not isinstance(type_, Scalar):
            type_ = opened(type_)
        known = self.facts.types[node] = erased(type_)
        if known is not type_:
            self.of_functions[node] = type_
        return type_

    def known(self, node: n.Node) -> Type:
        """The type of an expression that has been inferred; of a function, what it takes and gives
        as well.
        """
        known = self.facts.types.get(node, ANY)
        return self.of_functions.get(node, ANY) if known == ANY else known

    def coerce(self, node: n.Node, fit: Fit, wanted: Type) -> None:
        """Notes what the place of `node` does with its value."""
        if fit == Fit.EXACT:
            self.facts.coercions.pop(node, None)
        else:
            self.facts.coercions[node] = Coercion(fit, wanted)

    # Variables

    def read(self, symbol: Symbol, env: Environment) -> Type:
        """The type of a variable where it is read."""
        slot = env.get(symbol)
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
        env.assign(symbol, type_)
        self.grow(symbol, type_)

    def grow(self, symbol: Symbol, type_: Type) -> None:
        """Adds `type_` to what a variable can hold for those that read it from elsewhere."""
        known = self.facts.symbols.get(symbol, NEVER)
        if known == type_:
            return
        grown = self.joined(known, type_)
        if grown != known:
            self.facts.symbols[symbol] = grown
            self.outdate(symbol)

    def joined(self, known: Type, type_: Type) -> Type:
        """What is known of a value that may be of `type_`, too."""
        grown = union((known, type_))
        if grown == known:
            return known
        if self.widens:
            return ANY
        # Beside nil, which some paths give, a declared type stays what it is.
        is_either = without(grown, NIL) in (without(known, NIL), without(type_, NIL))
        return grown if is_either else bounded(grown)

    def outdate(self, what: Symbol | n.FunctionDef) -> None:
        """Has the units that read `what` inferred again, the current one last of all."""
        for unit in self.readers.get(what, ()):
            if unit is self.unit and isinstance(what, Symbol):
                self.read_own.add(unit)
            else:
                self.outdated[unit] = None

    def next_outdated(self) -> Unit:
        """Takes out the unit that is to be inferred next."""
        unit = next(iter(self.outdated))
        del self.outdated[unit]
        return unit

    def look_again(self) -> bool:
        """Has the units of `read_own` inferred again; whether there are any."""
        self.outdated.update(dict.fromkeys(self.read_own))
        self.read_own.clear()
        return bool(self.outdated)

    def returned(self, type_: Type) -> None:
        """Notes a value that the current function gives."""
        if not isinstance(self.unit, n.FunctionDef):
            return
        function = self.facts.functions[self.unit]
        grown = self.joined(function.gives, type_)
        if grown != function.gives:
            function.gives = grown
            self.outdate(self.unit)

    def reach(self, definition: n.FunctionDef) -> None:
        """Notes a call of a function: one that is only called is inferred from then on."""
        if definition not in self.reached and self.facts.is_own(definition):
            self.reached.add(definition)
            if self.facts.functions[definition].from_calls:
                self.outdated[definition] = None

    def take(
        self, definition: n.FunctionDef, position: int, type_: Type, node: n.Expression
    ) -> None:
        """Adds what `node` passes, or is by default, to what a parameter can be."""
        function = self.facts.functions[definition]
        types = list(function.parameters)
        types[position] = self.joined(types[position], type_)
        if types[position] != function.parameters[position]:
            function.parameters = tuple(types)
            function.from_calls[position].append(node)
            self.outdate(definition)
            if definition in self.reached:
                self.outdated[definition] = None

    def is_waiting(self) -> bool:
        """Whether the calls so far say nothing of a parameter of the unit, as they all pass `nil`.

        What only other values get to is of no type yet: else it would be of any.
        """
        if not isinstance(self.unit, n.FunctionDef):
            return False
        known = self.facts.functions[self.unit]
        return any(known.parameters[position] == NIL for position in known.from_calls)

    def result_of(self, definition: n.FunctionDef) -> Type:
        """The type of the value of a call of a function of this module."""
        self.readers.setdefault(definition, {})[self.unit] = None
        function = self.facts.functions.get(definition)
        return ANY if function is None else function.returns
