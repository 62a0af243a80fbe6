"""Decides which statements of a script's top level become `main` in the async form.

    limit = 3                           limit = 3
    found = []
    for mail in mails:                  async def main() -> None:
        found += [ask(mail)]                found = []
    print(found)                            for mail in mails:
                                                found.append(await ask(mail))
                                            print(found)

`main` contains all statements from the first one that awaits a prompt. It also contains earlier
assignments of constants to variables that it changes. Definitions stay in the module, so that other
modules can import them. A variable that `main` sets is global if definitions read the variable, or
if nothing reads it. Imports and classes cannot await. If they would have to, `check_waits` reports
them.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass

from saftc.check.facts import Facts
from saftc.check.imports import later_imports
from saftc.check.names import Symbol
from saftc.check.statements import all_statements, bound_by
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.effects.awaits import Awaits
from saftc.overlap.plan import Plan
from saftc.syntax import nodes as n
from saftc.syntax.constructs import is_constant
from saftc.syntax.walk import nodes_of, walk

_STAYS = n.ImportStmt | n.FromImport | n.ServerImport | n.TypeAlias | n.RecordDef


@dataclass(frozen=True, slots=True)
class MainSplit:
    """The split of a script's top level into the function `main` and the rest of the module.

    `inside` are the statements of `main`, and `outside` those of the rest. `shared` are the
    variables that `main` declares global.
    """

    inside: tuple[n.Statement, ...]
    outside: tuple[n.Statement, ...]
    shared: tuple[Symbol, ...] = ()
    # The shared names that no statement of the module outside of `main` sets.
    undeclared: tuple[Symbol, ...] = ()


def entry_of(plan: Plan, in_place: Container[n.Statement] = ()) -> MainSplit:
    """Splits the top level of a script into `main` and the rest of the module.

    `in_place` are the assignments that are compiled to a change of the value in place.
    """
    effects, awaits = plan.effects, plan.awaits
    facts, statements = effects.facts, effects.facts.module.statements
    first = None if awaits is None else _first(awaits)
    if awaits is None or first is None or plan.waits_at_top:
        return MainSplit((), statements)
    inside = {one for one in statements[first:] if not isinstance(one, n.FunctionDef | _STAYS)}
    set_inside = _bound(facts, inside)
    below = [one for one in statements[first:] if isinstance(one, n.FunctionDef)]
    while moved := {
        one
        for one in below
        if one not in inside
        and any(_keeps_place(node, plan, awaits, set_inside) for node in one.defaults)
    }:
        inside |= moved
        set_inside = _bound(facts, inside)
    used = {
        symbol for symbol, _ in facts.names.read(*(one for one in statements if one not in inside))
    }
    starts = [one for one in statements[:first] if isinstance(one, n.AssignStmt)]
    for symbol in set_inside - used:
        own = {one for one in statements[:first] if symbol in _bound(facts, [one])}
        if own <= {one for one in starts if is_constant(one.value)}:
            inside |= own
    outside = tuple(one for one in statements if one not in inside)
    ordered = tuple(one for one in statements if one in inside)
    set_outside = _bound(facts, outside)
    anew = [one for one in all_statements(ordered) if one not in in_place]
    set_anew = dict.fromkeys(facts.names.of(name) for one in anew for name in bound_by(one))
    # Also global: variables that may have no value, so that reading one fails as in a module, and
    # variables that nothing reads, for importers.
    used |= facts.names.unset | {
        symbol
        for one in ordered
        if isinstance(one, n.AssignStmt) and not (symbol := facts.names.of(one.name)).is_read
    }
    shared = [symbol for symbol in set_anew if symbol in used or symbol in set_outside]
    undeclared = [one for one in shared if one not in set_outside]
    return MainSplit(ordered, outside, tuple(shared), tuple(undeclared))


def check_waits(plan: Plan, mistakes: Collector) -> None:
    """Reports code that would have to await in the async form where Python allows no `await`."""
    awaits = plan.awaits
    if awaits is None:
        return
    facts = awaits.facts
    for name, script in facts.named_scripts.items():
        if any(one.facts is script and _first(one) is not None for one in awaits.scripts):
            _report(
                mistakes,
                name,
                f"`{name.text}` cannot be imported: it asks a model at its top level",
            )
    for node in nodes_of(facts.module, n.ImportStmt) if plan.suffix else ():
        name = node.module
        script = facts.named_scripts.get(name)
        is_renamed = script is not None and awaits.suffix_of(script, plan.suffix)
        if node.alias is None and "." in name.text and is_renamed:
            package, _, last = name.text.rpartition(".")
            what = f"`{name.text}` is the module `{name.text}{plan.suffix}`, which has another name"
            hint = f"write `from {package} import {last}`"
            mistakes.add(catalogue.CANNOT_WAIT.at(node.span, what=what, hint=hint))
    statements = facts.module.statements
    first = None if plan.waits_at_top else _first(awaits)
    set_inside = _bound(facts, entry_of(plan).inside)
    later = later_imports(facts.module)
    for position, statement in enumerate(statements):
        if first is not None and position > first and statement in later:
            what = "this import cannot be below a prompt at the top level"
            hint = "move it to the top of the script"
            mistakes.add(catalogue.CANNOT_WAIT.at(statement.span, what=what, hint=hint))
        for node in statement.defaults if isinstance(statement, n.RecordDef) else ():
            is_below = first is not None and position > first
            if awaits.in_([node]) or (is_below and _keeps_place(node, plan, awaits, set_inside)):
                _report(mistakes, node, "the default of a field cannot be awaited")


def _report(mistakes: Collector, node: n.Node, what: str) -> None:
    hint = (
        "move that prompt into a function"
        if isinstance(node, n.Identifier)
        else "give the value in each call"
    )
    mistakes.add(catalogue.CANNOT_WAIT.at(node.span, what=what, hint=hint))


def _first(awaits: Awaits) -> int | None:
    """The index of the first statement of the module that awaits, or None.

    Imports and definitions of types do not count.
    """
    statements = enumerate(awaits.facts.module.statements)
    found = (i for i, one in statements if not isinstance(one, _STAYS) and awaits.in_([one]))
    return next(found, None)


def _keeps_place(
    node: n.Expression, plan: Plan, awaits: Awaits, set_inside: set[Symbol]
) -> bool:
    """Whether an expression must be evaluated in `main`, after the statements above it."""
    names = {awaits.facts.names.of(one) for one in walk(node) if isinstance(one, n.Name)}
    does_nothing = not plan.effects.of(node) and plan.certainty.expression(node) is None
    return awaits.in_([node]) or not does_nothing or not names.isdisjoint(set_inside)


def _bound(facts: Facts, statements: Iterable[n.Statement]) -> set[Symbol]:
    bound = (name for one in all_statements(statements) for name in bound_by(one))
    return {facts.names.of(name) for name in bound}
