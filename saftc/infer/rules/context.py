"""The shared state of inference: the facts, and the current unit.

A *unit* is the module, one function, or one record's rules. Units are inferred one at a time up to
a fixpoint; `readers` records which unit has read what, so that a unit is inferred again only if
something that it has read has grown.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from saftc.check.facts import Coercion, Facts
from saftc.check.names import Code, Symbol
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.infer.rules.environment import Environment, Target, target_of
from saftc.syntax import nodes as n
from saftc.types.relations import Assignability
from saftc.types.types import (
    ANY,
    NEVER,
    NIL,
    TOOL_CALL,
    Scalar,
    Type,
    erased,
    kind_word,
    members,
    show,
    union,
    unrolled,
)

Unit = n.Module | Code
# A type that still grows after a unit was inferred more often than this becomes `ANY`.
_MOST_ROUNDS = 20
# Infers the type of an expression; the last argument is the type that its place expects, if any.
TypeOf = Callable[["Inference", n.Expression, Environment, Type | None], Type]


def _test_for(target: Target | None, found: Type) -> str | None:
    """A hint with a test that excludes values of type `found`, or None."""
    tested = None if target is None else ".".join([target[0].name, *target[1]])
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
    """The state of inference and its basic operations.

    `type_of` infers an expression of any kind. `unit` is the unit (the module, a function or a
    record's rules) that is being inferred.
    """

    facts: Facts
    type_of: TypeOf
    unit: Unit
    # Whether values may be Python objects.
    uses_python: bool = False
    readers: dict[Symbol | n.FunctionDef, dict[Unit, None]] = field(
        default_factory=dict[Symbol | n.FunctionDef, dict[Unit, None]]
    )
    # The units to be inferred, in this order, and how often each has been inferred.
    outdated: dict[Unit, None] = field(default_factory=dict[Unit, None])
    rounds: Counter[Unit] = field(default_factory=Counter[Unit])
    # The functions that take part in inference; a function that is only called joins at its first
    # call.
    reached: set[n.FunctionDef] = field(default_factory=set[n.FunctionDef])
    # The diagnostics of each unit from its last inference; None stands for a needless type test,
    # which is not reported but makes the types doubtful.
    found: dict[Unit, list[Diagnostic | None]] = field(
        default_factory=dict[Unit, list[Diagnostic | None]]
    )
    # The types of expressions that may be functions known only by type; the facts have `ANY`.
    of_functions: dict[n.Node, Type] = field(default_factory=dict[n.Node, Type])

    def expression(self, node: n.Expression, env: Environment, wanted: Type | None = None) -> Type:
        """Infers and records the type of an expression. The context expects the type `wanted`."""
        return self.keep(node, self.type_of(self, node, env, wanted))

    @property
    def mistakes(self) -> list[Diagnostic | None]:
        """The diagnostics so far of the function, rules or module that is being inferred."""
        return self.found[self.unit]

    def report(self, diagnostic: Diagnostic) -> None:
        """Records a diagnostic. Another inference of the same function or module drops it."""
        self.mistakes.append(diagnostic)

    def doubt(self) -> None:
        """Records that the script tests a type, although the inferred type decides the result."""
        self.mistakes.append(None)

    def may_fail(self, node: n.Expression, found: Type, problem: str) -> None:
        """Warns that a value may be of type `found`, which is a part of its type and wrong here."""
        if isinstance(node, n.Member) and self.facts.types.get(node.value) == TOOL_CALL:
            # Either its error or its result is nil, and the script may test the other one.
            return
        hint = _test_for(target_of(self.facts.names, node), found)
        mistake = catalogue.MAY_FAIL.at(node.span, found=show(found), problem=problem, hint=hint)
        self.report(mistake)

    def keep(self, node: n.Node, type_: Type) -> Type:
        """Records and returns the type of an expression."""
        if isinstance(type_, Scalar):
            self.facts.types[node] = type_
            return type_
        type_ = unrolled(type_)
        known = self.facts.types[node] = erased(type_)
        if known is not type_:
            self.of_functions[node] = type_
        return type_

    def known(self, node: n.Node) -> Type:
        """The inferred type of an expression.

        The facts have `ANY` for function types; this method returns the function types, too.
        """
        known = self.facts.types.get(node, ANY)
        return self.of_functions.get(node, ANY) if known == ANY else known

    def coerce(self, node: n.Node, fit: Assignability, wanted: Type) -> None:
        """Records how the value of `node` is converted to the type `wanted`."""
        if fit == Assignability.EXACT:
            self.facts.coercions.pop(node, None)
        else:
            self.facts.coercions[node] = Coercion(fit, wanted)

    # Variables

    def read(self, symbol: Symbol, env: Environment) -> Type:
        """The type of a variable at the point of the control flow that `env` describes."""
        slot = env.get(symbol)
        if slot is not None:
            return slot.type
        return self.lasting(symbol)

    def lasting(self, symbol: Symbol) -> Type:
        """The type of a variable of another function or module: the union of all assigned types."""
        self.readers.setdefault(symbol, {})[self.unit] = None
        # An annotation covers its own assignment; others may add types.
        declared = self.facts.declared.get(symbol, NEVER)
        return union((declared, self.facts.symbols.get(symbol, NEVER)))

    def assign(self, symbol: Symbol, type_: Type, env: Environment) -> None:
        """Records an assignment of a value of `type_` to a variable."""
        env.assign(symbol, type_)
        self.grow(symbol, type_)

    def grow(self, symbol: Symbol, type_: Type) -> None:
        """Adds `type_` to the type that a variable has in other functions."""
        known = self.facts.symbols.get(symbol, NEVER)
        if known == type_:
            return
        grown = self.joined(known, type_)
        if grown != known:
            self.facts.symbols[symbol] = grown
            self.outdate(symbol)

    def joined(self, known: Type, type_: Type) -> Type:
        """The union of two types.

        If the current function or module has been inferred too often, a union that grows becomes
        `ANY`.
        """
        grown = union((known, type_))
        if grown == known:
            return known
        if self.rounds[self.unit] > _MOST_ROUNDS:
            return ANY
        return grown

    def outdate(self, what: Symbol | n.FunctionDef) -> None:
        """Schedules all functions (and other units) that read `what` to be inferred again."""
        self.outdated.update(self.readers.get(what, {}))

    def returned(self, type_: Type) -> None:
        """Adds `type_` to the result type of the function that is being inferred."""
        if not isinstance(self.unit, n.FunctionDef):
            return
        function = self.facts.functions[self.unit]
        grown = self.joined(function.gives, type_)
        if grown != function.gives:
            function.gives = grown
            self.outdate(self.unit)

    def reach(self, definition: n.FunctionDef) -> None:
        """Records that a function of the script is used, and must be inferred from now on."""
        if definition not in self.reached and self.facts.is_own(definition):
            self.reached.add(definition)
            self.outdated[definition] = None

    def take(
        self, definition: n.FunctionDef, position: int, type_: Type, node: n.Expression
    ) -> None:
        """Adds the type of an argument or default (`node`) to the type of a parameter."""
        function = self.facts.functions[definition]
        types = list(function.parameters)
        types[position] = self.joined(types[position], type_)
        if types[position] != function.parameters[position]:
            function.from_calls[position].append(node)
            self.give(definition, types)

    def give(self, definition: n.FunctionDef, types: Iterable[Type]) -> None:
        """Sets the types of a function's parameters."""
        self.facts.functions[definition].parameters = tuple(types)
        self.outdate(definition)
        if definition in self.reached:
            self.outdated[definition] = None

    def result_of(self, definition: n.FunctionDef) -> Type:
        """The result type of a function."""
        self.readers.setdefault(definition, {})[self.unit] = None
        function = self.facts.functions.get(definition)
        return ANY if function is None else function.returns
