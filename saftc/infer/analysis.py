"""Runs the passes that compute the facts about a script: names, schemas, imports, types."""

from saftc.check.bindings import variable_annotations
from saftc.check.facts import Facts, FunctionFacts
from saftc.check.history import WHOLE_RESULT, find_history
from saftc.check.imports import Loader, link_imports, no_modules, report_unused
from saftc.check.resolution import resolve
from saftc.check.schemas import resolve_schemas
from saftc.diagnostics.model import Collector
from saftc.infer.parameters import parameter_uses
from saftc.infer.programs import check_programs, note_stored_programs
from saftc.infer.rules.units import infer_types
from saftc.infer.tools import check_tools
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.types import ANY, RESULT, members, union


def analyze(
    module: n.Module,
    mistakes: Collector,
    load: Loader = no_modules,
    *,
    keeps_results: bool = False,
) -> Facts:
    """Computes the facts about `module`.

    Diagnostics go to `mistakes`, and `load` finds the imported modules. If `keeps_results`, every
    name or function that can keep the history of a prompt keeps it.
    """
    names = resolve(module, mistakes)
    facts = Facts(module, names)
    imports = link_imports(module, facts, load, mistakes)
    resolve_schemas(module, facts, mistakes)
    facts.schemas[WHOLE_RESULT] = RESULT
    facts.held = variable_annotations(module, names)
    facts.history = find_history(
        module,
        names,
        facts.held,
        lambda schema, name: any(
            facts.has_field(member, name) for member in members(facts.schemas[schema])
        ),
        facts.meaning_of,
    )
    if keeps_results:
        facts.history.does |= facts.history.can
    _declare_functions(module, facts)
    for mistake in infer_types(module, facts):
        mistakes.add(mistake)
    check_programs(module, facts, mistakes)
    check_tools(module, facts, mistakes)
    note_stored_programs(module, facts)
    report_unused(imports, facts, mistakes)
    return facts


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
    for function in functions:
        _note_uses(function, facts)


def _note_uses(function: n.FunctionDef, facts: Facts) -> None:
    """Sets the types of a function's bare parameters (without an annotation) by their uses."""
    uses, known = parameter_uses(function, facts), facts.functions[function]
    known.parameters = tuple(
        type_ if parameter.schema else uses.get(facts.names.of(parameter.name), ANY)
        for parameter, type_ in zip(function.parameters, known.parameters, strict=True)
    )
