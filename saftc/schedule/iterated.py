"""Lists that are only gone over: what runs ahead gives their items without a list around it.

    sum([grade(one) for one in texts])          sum(overlap(grade, texts))

    for grade in [grade(one) for one in texts]:     for grade in overlap(grade, texts):
        total += grade                                  total += grade

There an item is used before a later one may fail, so nothing may see that it has been; and all of
them are taken, so that all are asked.
"""

from collections.abc import Iterator, Sequence

from saftc.flow.statements import all_statements
from saftc.schedule.certainty import Certainty
from saftc.schedule.flow import Flow
from saftc.semantics.failure import failures_of
from saftc.semantics.forms import BuiltinCall, Form
from saftc.semantics.names import Symbol
from saftc.syntax import nodes as n


class Unlisted:
    """Finds the comprehensions in a statement whose items alone are wanted."""

    def __init__(self, flow: Flow, certainty: Certainty) -> None:
        self.facts = flow.facts
        self.flow = flow
        self.certainty = certainty

    def in_expression(self, node: n.Node) -> Iterator[n.Comprehension]:
        """Those that a call of a builtin, or another comprehension, goes over."""
        match node:
            case n.Call():
                form = self.facts.forms.calls[node]
                if not isinstance(form, BuiltinCall) or form.form == Form.OPS:
                    return
                is_plain = form.by is None or form.builtin.name == "sorted"
                given = form.arguments or ()
                is_total = not any(one.is_rare for one in failures_of(self.facts, node))
                if form.builtin.goes_over == "all" and is_plain and is_total:
                    yield from (found for one in given if (found := self._list(one)) is not None)
            case n.Comprehension(clauses=(clause,)):
                found = self._list(clause.iterable)
                parts = (node.item, *clause.conditions)
                stops = any(self.certainty.expression(one, strictly=True) for one in parts)
                if found is not None and not stops and self._is_unseen(parts):
                    yield found
            case _:
                pass

    def in_loop(self, loop: n.ForStmt) -> tuple[n.Comprehension, set[Symbol]] | None:
        """The one that a loop goes over, with what is assigned before all its items are there."""
        found = self._list(loop.iterable)
        if found is None or self.facts.forms.loops[loop] != Form.NATIVE:
            return None
        assigned = self.flow.assigned((loop, *all_statements(loop.body)))
        if self._depends(found, assigned) or self.certainty.block(loop.body, strictly=True):
            return None
        return (found, assigned) if self._is_unseen(loop.body) else None

    def _depends(self, found: n.Comprehension, assigned: set[Symbol]) -> bool:
        """Whether later items are made of what is assigned for earlier ones."""
        return not assigned.isdisjoint(self.flow.read(found))

    def _list(self, node: n.Expression) -> n.Comprehension | None:
        """The comprehension that something is, or whose items it counts."""
        if node in self.facts.coercions:
            return None
        if isinstance(node, n.Call):
            form = self.facts.forms.calls[node]
            if isinstance(form, BuiltinCall) and form.builtin.name == "enumerate":
                is_native = form.form == Form.NATIVE and form.arguments is not None
                return self._list(form.arguments[0]) if is_native and form.arguments else None
        is_entry = isinstance(node, n.Comprehension) and isinstance(node.item, n.ComputedField)
        return node if isinstance(node, n.Comprehension) and not is_entry else None

    def _is_unseen(self, nodes: Sequence[n.Node]) -> bool:
        """Whether no one can tell that this has been done."""
        no_value = self.flow.read(*nodes) & self.facts.names.unset
        return not no_value and not self.flow.effects.of(*nodes)
