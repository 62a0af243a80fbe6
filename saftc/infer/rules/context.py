"""What the functions of inference share: the facts, and the unit that is being inferred.

A *unit* is the module or one function. Units are inferred one at a time until nothing changes;
`readers` remembers which unit has read what, so that a unit is inferred again only when something
it has read has grown.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from saftc.check.facts import Coercion, Facts
from saftc.check.names import Code, Symbol
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.infer.rules.environment import Environment, Target, path_of
from saftc.syntax import nodes as n
from saftc.types.relations import Assignability
from saftc.types.types import (
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
    show,
    union,
    unrolled,
    without,
)

Unit = n.Module | Code
# What a unit says that still grows when it is inferred again after so many rounds is any value.
_MOST_ROUNDS = 20
# Gives the type of an expression; the last is what its place asks for, if anything.
TypeOf = Callable[["Inference", n.Expression, Environment, Type | None], Type]


def _test_for(target: Target | None, found: Type) -> str | None:
    """How a script tests for a part of what a value can be, and goes on with the others."""
    tested = None if target is None else ".".join([target[0].name, *map(str, target[1])])
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
    readers: dict[Symbol | n.FunctionDef, dict[Unit, None]] = field(
        default_factory=dict[Symbol | n.FunctionDef, dict[Unit, None]]
    )
    # The units to be inferred, in this order, and how often each was.
    outdated: dict[Unit, None] = field(default_factory=dict[Unit, None])
    rounds: Counter[Unit] = field(default_factory=Counter[Unit])
    # The functions that are inferred: those that are only called, once they have been.
    reached: set[n.FunctionDef] = field(default_factory=set[n.FunctionDef])
    # Of each unit, the mistakes when it was inferred last, on types that are final; and None where
    # it asks a value what it is although its type leaves no doubt about it.
    found: dict[Unit, list[Diagnostic | None]] = field(
        default_factory=dict[Unit, list[Diagnostic | None]]
    )
    # The types of expressions that may be functions of a type, which the facts have as any value.
    of_functions: dict[n.Node, Type] = field(default_factory=dict[n.Node, Type])

    def expression(self, node: n.Expression, env: Environment, wanted: Type | None = None) -> Type:
        """The type of an expression; `wanted` is what its place asks for, if anything."""
        return self.keep(node, self.type_of(self, node, env, wanted))

    @property
    def mistakes(self) -> list[Diagnostic | None]:
        """What was found in the unit so far."""
        return self.found[self.unit]

    def report(self, diagnostic: Diagnostic) -> None:
        """Keeps a mistake, unless the current unit is inferred again."""
        self.mistakes.append(diagnostic)

    def doubt(self) -> None:
        """Notes that a test asks a value what its type has told."""
        self.mistakes.append(None)

    def may_fail(self, node: n.Expression, found: Type, problem: str) -> None:
        """Warns of a value that is wrong here if it is `found`, one part of what it can be."""
        if isinstance(node, n.Member) and self.facts.types.get(node.value) == TOOL_CALL:
            # Of its error and its result one is nil, and the script knows which by the other.
            return
        hint = _test_for(path_of(self.facts.names, node), found)
        mistake = catalogue.MAY_FAIL.at(node.span, found=show(found), problem=problem, hint=hint)
        self.report(mistake)

    def keep(self, node: n.Node, type_: Type) -> Type:
        """Notes the type of an expression."""
        if not isinstance(type_, Scalar):
            type_ = unrolled(type_)
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

    def coerce(self, node: n.Node, fit: Assignability, wanted: Type) -> None:
        """Notes what the place of `node` does with its value."""
        if fit == Assignability.EXACT:
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
        """What is known of a value that may be of `type_`, too; what grows for too long is any."""
        grown = union((known, type_))
        if grown == known:
            return known
        if self.rounds[self.unit] > _MOST_ROUNDS:
            return ANY
        # Beside nil, which some paths give, a declared type stays what it is.
        is_either = without(grown, NIL) in (without(known, NIL), without(type_, NIL))
        return grown if is_either else bounded(grown)

    def outdate(self, what: Symbol | n.FunctionDef) -> None:
        """Has the units that read `what` inferred again."""
        self.outdated.update(self.readers.get(what, {}))

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
        """Notes a call of a function, which is inferred from then on."""
        if definition not in self.reached and self.facts.is_own(definition):
            self.reached.add(definition)
            self.outdated[definition] = None

    def take(
        self, definition: n.FunctionDef, position: int, type_: Type, node: n.Expression
    ) -> None:
        """Adds what `node` passes, or is by default, to what a parameter can be."""
        function = self.facts.functions[definition]
        types = list(function.parameters)
        types[position] = self.joined(types[position], type_)
        if types[position] != function.parameters[position]:
            function.from_calls[position].append(node)
            self.give(definition, types)

    def give(self, definition: n.FunctionDef, types: Iterable[Type]) -> None:
        """Has the parameters of a function be of these types."""
        self.facts.functions[definition].parameters = tuple(types)
        self.outdate(definition)
        if definition in self.reached:
            self.outdated[definition] = None

    def result_of(self, definition: n.FunctionDef) -> Type:
        """The type of the value of a call of a function of this module."""
        self.readers.setdefault(definition, {})[self.unit] = None
        function = self.facts.functions.get(definition)
        return ANY if function is None else function.returns
