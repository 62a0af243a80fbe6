"""The rules of records neither ask nor have effects: they are checked whenever a record is made."""

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.schedule.effects import Effects
from saftc.semantics.facts import Facts
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk


def check_rules(facts: Facts, mistakes: Collector) -> None:
    """Reports rules of records that ask a model, or have or may have effects."""
    # No rule calls Python, whatever is known of it.
    effects = Effects(facts, calculating=frozenset())
    for record in nodes_of(facts.module, n.RecordDef):
        for rule in record.rules:
            for node in walk(rule):
                problem = _problem(node, effects)
                if problem is not None:
                    hint = "it is checked whenever a record is made, also from a reply"
                    mistakes.add(catalogue.RULE_EFFECT.at(node.span, problem=problem, hint=hint))
                    break


def _problem(node: n.Node, effects: Effects) -> str | None:
    if not isinstance(node, n.Name | n.Member | n.Call | n.Prompt):
        return None  # to compare what it is given is what a rule is for
    found = effects.of_node(node)
    if isinstance(node, n.Call) and isinstance(node.function, n.Member):
        found |= effects.of(node.function)  # shown as a whole
    if "asks" in found:
        return "ask a model"
    if not found:
        return None
    facts = effects.facts
    is_known = isinstance(node, n.Name) and facts.meaning_of(facts.names.of(node)).kind != "import"
    return "have effects" if is_known else "call what may have effects"
