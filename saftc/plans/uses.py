"""What a program does with its variables, and where it needs statements.

A variable is identified by the `$let` that binds it and its name there. One that only an unused
variable refers to is unused, too: what is bound to it is there for its effects.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from saftc.runtime import program_tree as tree
from saftc.runtime import program_types as types

Scope: TypeAlias = Mapping[str, tuple[int, str]]


class Uses:
    """The uses in one program; one that gives nothing is there for its effects."""

    def __init__(self, root: tree.Checked) -> None:
        self.used: set[tuple[int, str]] = set()
        self.asked: dict[tuple[int, str], list[types.Type]] = {}
        self.lets: dict[int, bool] = {}
        note = self._note_effects if root.type == types.NULL else self._note
        note(root, {})

    def is_used(self, let: tree.LetNode, name: str) -> bool:
        """Whether anything refers to this variable."""
        return (id(let), name) in self.used

    def asked_of(self, let: tree.LetNode, name: str) -> types.Type | None:
        """The type of the parameters that the variable is given to, if it is one type."""
        first, *others = self.asked.get((id(let), name), [types.ANY])
        return None if first == types.ANY or any(other != first for other in others) else first

    def needs_statements(self, node: tree.IfNode | tree.MapNode) -> bool:
        """Whether a `$let` is in what is evaluated sometimes, or for each element."""
        return any(map(self._has_let, tree.children(node)[1:]))

    def _has_let(self, node: tree.Checked) -> bool:
        known = self.lets.get(id(node))
        if known is None:
            known = isinstance(node, tree.LetNode) or any(map(self._has_let, tree.children(node)))
            self.lets[id(node)] = known
        return known

    def _note(self, node: tree.Checked, scope: Scope) -> None:
        """Notes the uses in a node whose value is used."""
        match node:
            case tree.LetNode():
                self._note_let(node, scope, self._note)
                return
            case tree.MapNode():
                self._note(node.over, scope)
                inside = {name: of for name, of in scope.items() if name != node.variable}
                for part in tree.children(node)[1:]:
                    self._note(part, inside)
                return
            case tree.RefNode():
                if node.name in scope:
                    self.used.add(scope[node.name])
            case tree.CallNode():
                for name, argument in node.arguments:
                    if isinstance(argument, tree.RefNode) and argument.name in scope:
                        parameter = node.definition.parameter(name)
                        assert parameter is not None
                        asked = self.asked.setdefault(scope[argument.name], [])
                        asked.append(parameter.schema)
            case _:
                pass
        for child in tree.children(node):
            self._note(child, scope)

    def _note_effects(self, node: tree.Checked, scope: Scope) -> None:
        """Notes the uses in a node that is there for its effects alone."""
        match node:
            case tree.LetNode():
                self._note_let(node, scope, self._note_effects)
            case tree.IfNode() if calls_inside(node):
                self._note(node.test, scope)
                self._note_effects(node.then, scope)
                self._note_effects(node.otherwise, scope)
            case tree.IfNode() | tree.MapNode() if not calls_inside(node):
                self._note_effects(tree.children(node)[0], scope)
            case _ if node.calls:
                self._note(node, scope)
            case _:
                pass

    def _note_let(
        self, node: tree.LetNode, scope: Scope, note_body: Callable[[tree.Checked, Scope], None]
    ) -> None:
        """The body first: it tells whether the bindings are used, the last of them first."""
        own = {name: (id(node), name) for name, _ in node.bindings}
        inside = {**scope, **own}
        note_body(node.body, inside)
        for name, bound in reversed(node.bindings):
            note = self._note if own[name] in self.used else self._note_effects
            note(bound, inside)


def calls_inside(node: tree.IfNode | tree.MapNode) -> bool:
    """Whether something is called in what is evaluated sometimes, or for each element."""
    return any(one.calls for one in tree.children(node)[1:])
