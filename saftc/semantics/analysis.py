"""The tree of a script to the facts about it: one pass after another fills the tables in."""

from bisect import bisect_right
from collections.abc import Set
from dataclasses import dataclass

from saftc.diagnostics.model import Collector
from saftc.semantics.bindings import held_annotations
from saftc.semantics.facts import Facts, FunctionFacts
from saftc.semantics.history import find_history
from saftc.semantics.imports import Loader, link_imports, no_modules, report_unused
from saftc.semantics.inference.edits import Before, infer_after
from saftc.semantics.inference.units import Inferred, infer_types
from saftc.semantics.parameters import parameter_uses
from saftc.semantics.parts import Part, kept_parts
from saftc.semantics.programs import check_programs, note_kept_programs
from saftc.semantics.resolution import Resolved, resolve, resolve_after
from saftc.semantics.schemas import resolve_schemas
from saftc.semantics.tools import check_tools
from saftc.semantics.types import ANY, members, union
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of


@dataclass(frozen=True, slots=True)
class Analysis:
    """The facts about a script, and what of them those of its next text can keep.

    `wrong` are the statements of the top level that something was reported of.
    """

    facts: Facts
    resolved: Resolved
    inferred: Inferred
    wrong: Set[n.Statement]


def analyze(
    module: n.Module,
    mistakes: Collector,
    load: Loader = no_modules,
    *,
    keeps_results: bool = False,
    before: Analysis | None = None,
) -> Analysis:
    """The facts about `module`; mistakes go to `mistakes`, and `load` finds what it imports.

    `keeps_results`: whatever can keep the history of a prompt does so. `before` is the analysis of
    what the script was until now, of which the statements that stay are the same trees; it is spent
    by that.
    """
    kept: Set[Part] = frozenset()
    after: Resolved | None = None
    if before is not None:
        kept = kept_parts(before.facts.module, module, before.wrong)
        after = resolve_after(before.resolved, module, kept, mistakes) if kept else None
    resolved = resolve(module, mistakes) if after is None else after
    names = resolved.names
    facts = Facts(module, names)
    imports = link_imports(module, facts, load, mistakes)
    resolve_schemas(module, facts, mistakes)
    facts.held = held_annotations(module, names)
    facts.history = find_history(
        module,
        names,
        facts.held,
        lambda schema, name: any(
            facts.has_field(member, name) for member in members(facts.schemas[schema])
        ),
    )
    if keeps_results:
        facts.history.does |= facts.history.can
    _declare_functions(module, facts)
    inferred: Inferred | None = None
    if before is not None and after is not None:
        known = Before(before.facts, before.resolved, before.inferred)
        inferred = infer_after(known, facts, after, kept)
    inferred = inferred or infer_types(module, facts)
    for mistake in inferred.mistakes:
        mistakes.add(mistake)
    check_programs(module, facts, mistakes)
    check_tools(module, facts, mistakes)
    note_kept_programs(module, facts)
    report_unused(imports, facts, mistakes)
    return Analysis(facts, resolved, inferred, _reported(module, mistakes))


def _reported(module: n.Module, mistakes: Collector) -> set[n.Statement]:
    """The statements of the top level that something was reported of."""
    starts = [one.span.start for one in module.statements]
    return {
        module.statements[bisect_right(starts, place) - 1]
        for place in mistakes.places
        if starts and place >= starts[0]
    }


def _declare_functions(module: n.Module, facts: Facts) -> None:
    functions = nodes_of(module, n.FunctionDef)
    for function in functions:
        types = tuple(
            facts.schemas[parameter.schema] if parameter.schema else ANY
            for parameter in function.parameters
        )
        declared = facts.schemas[function.returns] if function.returns else None
        facts.functions[function] = FunctionFacts(function, types, declared)
        for parameter, type_ in zip(function.parameters, types, strict=True):
            if parameter.schema is not None:
                facts.declared[facts.names.of(parameter.name)] = type_
    for node in nodes_of(module, n.AssignStmt):
        if node.schema is not None:
            symbol = facts.names.of(node.name)
            earlier = facts.declared.get(symbol)
            type_ = facts.schemas[node.schema]
            facts.declared[symbol] = type_ if earlier is None else union((earlier, type_))
    # What one function's use of a parameter asks for may follow from another's.
    for _ in range(3):
        news = [_note_uses(function, facts) for function in functions]
        if not any(news):
            break


def _note_uses(function: n.FunctionDef, facts: Facts) -> bool:
    """Takes what the uses of a function's bare parameters ask for; whether that is news."""
    uses, known = parameter_uses(function, facts), facts.functions[function]
    before = known.parameters
    known.parameters = tuple(
        type_ if parameter.schema else uses.get(facts.names.of(parameter.name), ANY)
        for parameter, type_ in zip(function.parameters, before, strict=True)
    )
    return known.parameters != before
