"""Types after an edit: what is known of the parts of a script that it does not touch is kept.

A part is inferred again when it has changed, when something was reported of it, or when what it
needs of others is not what it was: the types of the variables that it reads, what the functions
that it calls take and give, and for a function that is only called, what its calls pass. That is
found out step by step. The parts that certainly need it are inferred, beside all that is known of
the others. If they say something new to these, those that hear it are inferred as well, and so on,
until nobody hears anything new. Types only grow while they are inferred, so each step begins from
what was known before the edit.

What all parts may see has to be the same: types, imports, histories, and that no call and no shape
of an object has made a second look necessary (see `units`). Otherwise everything is inferred anew.
"""

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import is_

from saftc.semantics.facts import Facts, FunctionFacts
from saftc.semantics.history import History, Keeper
from saftc.semantics.inference.context import Inference, Unit
from saftc.semantics.inference.expressions import type_of
from saftc.semantics.inference.units import (
    Inferred,
    asked_of,
    declared,
    doubtful_of,
    infer_units,
    units_of,
)
from saftc.semantics.names import Code, Scope, Symbol
from saftc.semantics.parameters import only_called
from saftc.semantics.parts import Part, defaults_of, nodes_of_parts
from saftc.semantics.resolution import Resolved
from saftc.semantics.shapes import Shapes, placed_literals
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

# After so many steps the edit is heard of everywhere.
_MOST_STEPS = 4


@dataclass(frozen=True, slots=True)
class Before:
    """What a script was until now."""

    facts: Facts
    resolved: Resolved
    inferred: Inferred


def infer_after(
    before: Before, facts: Facts, resolved: Resolved, kept: Set[Part]
) -> Inferred | None:
    """As `infer_types`, of a script that has kept these parts; None where that has to be asked."""
    if not before.inferred.is_first or not _is_seen_as_before(before.facts, facts):
        return None
    edit = _Edit(before, facts, resolved, kept)
    if not edit.has_same_histories():
        return None
    for _ in range(_MOST_STEPS):
        inferred = None if len(edit.again) == len(edit.reads) else edit.infer()
        if inferred is None:
            break
        if not edit.spread():
            return inferred
    edit.undo()
    return None


def _is_seen_as_before(before: Facts, facts: Facts) -> bool:
    """Whether imports, and the types that are written out, mean what they did."""
    one, other = _imported(before), _imported(facts)
    return (
        len(one) == len(other)
        and all(map(is_, one, other))
        and all(before.schemas.get(node, type_) is type_ for node, type_ in facts.schemas.items())
    )


def _imported(facts: Facts) -> list[object]:
    tables = (facts.imported, facts.modules, facts.python)
    return [*facts.scripts, *chain.from_iterable(table.values() for table in tables)]


class _Edit:
    """An edit: what was known before it, what is known of names after it, and the parts to infer.

    `again` are those parts; `reads` are all, with the symbols that each reads, also as the first
    value of another one.
    """

    def __init__(
        self, before: Before, facts: Facts, resolved: Resolved, kept: Set[Part]
    ) -> None:
        self.before = before.facts
        self.known = known = before.inferred
        self.facts = facts
        self.units = units_of(facts.module)
        self.asked = asked_of(facts.module, facts)
        self.only = only_called(facts.module, facts)
        # The statements of the top level, and those that it had.
        self.tops = set(facts.module.statements)
        self.were_tops = set(before.facts.module.statements)
        self.history = facts.history.copy()
        self.reads = {
            part: {origin for symbol in symbols for origin in symbol.origins()}
            for part, symbols in resolved.read.items()
        }
        self.earlier = before.resolved.read
        self.again = set(self.reads) - kept
        # The functions of the top level, and what of them and of variables is not as it was.
        self.functions = {
            symbol: symbol.node
            for symbol in facts.own_names.values()
            if isinstance(symbol.node, n.FunctionDef)
        }
        self.news: set[Symbol] = set()
        for symbol, function in self.functions.items():
            if function not in before.facts.functions:
                self.news.add(symbol)
            elif known.asked[function] != self.asked[function] or (
                (function in known.only) != (function in self.only)
            ):
                self.news.add(symbol)
                self.again.add(self._part(function))
        self.news.update(self._with_other_prompts())
        self.spread_news()

    @cached_property
    def changed(self) -> set[n.Node]:
        """The nodes of statements that the edit has put in or taken out."""
        return {node for statement in self.were_tops ^ self.tops for node in walk(statement)}

    def _part(self, function: n.FunctionDef) -> Part:
        return function if function in self.tops else None

    # Who hears what

    def spread(self) -> bool:
        """Notes what the parts that were inferred say anew; whether that is news to others."""
        known, size = self.before.functions, len(self.again)
        for unit in self.units:
            if isinstance(unit, n.FunctionDef) and unit in known and self._is_again(unit):
                now, then = self.facts.functions[unit], known[unit]
                if (now.parameters, now.returns) != (then.parameters, then.returns):
                    self.news.update(self._known_by(unit))
        if None in self.again:
            self.news.update(self._other_variables())
        self.spread_news()
        return len(self.again) > size

    def spread_news(self) -> None:
        """Adds the parts that hear the news, and those that are to be inferred with them."""
        size = -1
        while size < len(self.again):
            size = len(self.again)
            for part, symbols in self.reads.items():
                if not symbols.isdisjoint(self.news):
                    self.again.add(part)
            for symbol, function in self.functions.items():
                if function in self.only:
                    # What it takes is what all its calls pass, together.
                    owner = self._part(function)
                    both = chain(self.reads.items(), self.earlier.items())
                    calling = {part for part, symbols in both if symbol in symbols}
                    if not self.again.isdisjoint({owner, *calling}):
                        self.again |= self.reads.keys() & {owner, *calling}
            if any(one is not None and defaults_of(one) for one in self.again):
                self.again.add(None)

    def _known_by(self, function: n.FunctionDef) -> Iterator[Symbol]:
        """The names by which others know a function, or the one that it is in."""
        for symbol, one in self.functions.items():
            if one is function:
                yield symbol
                return
        for symbol, one in self.functions.items():
            if self._part(one) is self.part_of[function]:
                yield symbol

    def _other_variables(self) -> Iterator[Symbol]:
        """The variables of the top level that are not what they were."""
        before, facts = self.before, self.facts
        other = {
            symbol
            for symbol in facts.own_names.values()
            if symbol not in self.functions
            and (
                before.symbols.get(symbol) is not facts.symbols.get(symbol)
                or before.declared.get(symbol) is not facts.declared.get(symbol)
                or _looked_into(before, symbol) is not _looked_into(facts, symbol)
            )
        }
        size = -1
        while size < len(other):
            # What a name is bound to once is looked at where it is read.
            size = len(other)
            for symbol, value in facts.bound_once.items():
                if not other.isdisjoint(one for one, _ in facts.names.read(value)):
                    other.add(symbol)
        yield from other

    def _with_other_prompts(self) -> Iterator[Symbol]:
        """The names of the top level whose histories are not those of the same prompts."""
        known, facts = self.known.history.conversations, self.facts
        for keeper, prompts in facts.history.conversations.items():
            if known.get(keeper) != prompts:
                name = keeper.name.text if isinstance(keeper, n.FunctionDef) else keeper.name
                symbol = facts.own_names.get(name)
                if symbol is not None:
                    yield symbol

    def has_same_histories(self) -> bool:
        """Whether what is known of histories is the same, but for what is inside of changes."""
        return self._data_of(self.known.history) == self._data_of(self.facts.history)

    def _data_of(self, history: History) -> object:
        scope = self.facts.names.scopes[self.facts.module]

        def data(keeper: Keeper) -> object:
            if isinstance(keeper, Symbol):
                is_top, node, name = keeper.scope is scope, keeper.node, keeper.name
            else:
                is_top = keeper in self.tops or keeper in self.were_tops
                node, name = keeper, keeper.name.text
            return name if is_top else None if node in self.changed else (name, node)

        kept = (history.can, history.untyped, history.does, history.conversations)
        bindings = (one.name for one in set(history.bindings.values()) if one.scope is scope)
        return (
            [Counter(filter(None, map(data, one))) for one in kept],
            history.streams - self.changed,
            Counter(bindings),
        )

    # Inferring

    @cached_property
    def part_of(self) -> dict[Unit, Part]:
        """The part that each unit is in."""
        return {unit: self._part_around(self.facts.names.scopes[unit]) for unit in self.units}

    def _part_around(self, scope: Scope | None) -> Part:
        """The part that a scope is in, also one that is gone."""
        while scope is not None:
            owner = scope.owner
            if isinstance(owner, Code) and (owner in self.tops or owner in self.were_tops):
                return owner
            scope = scope.parent
        return None

    def _is_again(self, unit: Unit) -> bool:
        return self.part_of[unit] in self.again

    def infer(self) -> Inferred | None:
        """Infers the parts of `again`; None where that makes a second look necessary."""
        before, facts = self.before, self.facts
        self._take_over()
        again = [unit for unit in self.units if self._is_again(unit)]
        for function, types in self.asked.items():
            if self._is_again(function):
                facts.functions[function] = declared(facts.functions[function], types, self.only)
            else:
                facts.functions[function] = replace(before.functions[function])
        facts.placed = placed_literals(facts.module, self.only, facts)
        inference = Inference(facts, type_of, facts.module, facts.uses_python)
        kept = [unit for unit in self.units if not self._is_again(unit)]
        inference.reached.update(one for one in kept if isinstance(one, n.FunctionDef))
        inference.notes = {unit: self.known.notes[self._earlier(unit)] for unit in kept}
        for node in (node for note in inference.notes.values() for node in note.whole):
            keeper = facts.result_of(node)
            if keeper is not None and not isinstance(keeper, n.Prompt):
                facts.history.keep(keeper)
        infer_units(inference, again)
        only = self.only.intersection(again)
        if doubtful_of(inference, only) or Shapes().learn(facts, self.only):
            return None
        mistakes = [one for unit in again for one in inference.mistakes[unit]]
        return Inferred(
            *(self.asked, frozenset(self.only), self.history, inference.notes, mistakes),
            is_first=True,
        )

    def undo(self) -> None:
        """Has functions and histories be known as before anything was inferred."""
        functions = self.facts.functions
        for function, types in self.asked.items():
            functions[function] = FunctionFacts(function, types, functions[function].declared)
        self.facts.history.does = set(self.history.does)

    def _earlier(self, unit: Unit) -> Unit:
        return self.before.module if isinstance(unit, n.Module) else unit

    def _take_over(self) -> None:
        """Takes over the tables of what is not inferred again."""
        before, facts, kept = self.before, self.facts, self.reads.keys() - self.again
        gone = nodes_of_parts(before.module, self.earlier.keys() - kept)
        facts.take_over(before, gone, lambda one: self._part_around(one.scope) in kept)
        facts.history.does = set(self.history.does)


def _looked_into(facts: Facts, symbol: Symbol) -> n.Expression | None:
    """What a variable is bound to once, if that says more than its type."""
    value = facts.bound_once.get(symbol)
    return value if isinstance(value, n.Name | n.Member | n.Call | n.ListLiteral) else None
