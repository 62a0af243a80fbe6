"""What a program does with its variables, and where it needs statements.

A variable is told by the `$let` that binds it and its name there. One that only an unused variable
refers to is unused, too: what is bound to it stands there for its effects.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from saftc.runtime import runtime

Scope: TypeAlias = Mapping[str, tuple[int, str]]


class Uses:
    """The uses in one program."""

    def __init__(self, root: Any) -> None:
        self.tree: Any = runtime("programs._tree")
        self.children: Any = runtime("programs._tree").children
        self.used: set[tuple[int, str]] = set()
        self.asked: dict[tuple[int, str], list[Any]] = {}
        self.lets: dict[int, bool] = {}
        self._note(root, {})

    def is_used(self, let: Any, name: str) -> bool:
        """Whether anything refers to this variable."""
        return (id(let), name) in self.used

    def asked_of(self, let: Any, name: str) -> Any:
        """The type of the parameters that the variable is given to, if it is one type."""
        first, *others = self.asked.get((id(let), name), [None])
        is_any = first == runtime("programs._types").ANY
        return None if is_any or any(other != first for other in others) else first

    def has_let(self, *nodes: Any) -> bool:
        """Whether a `$let` is in one of the nodes, so that it needs statements; None has none."""
        return any(node is not None and self._has_let(node) for node in nodes)

    def _has_let(self, node: Any) -> bool:
        found = self.lets.get(id(node))
        if found is None:
            found = isinstance(node, self.tree.LetNode) or self.has_let(*self.children(node))
            self.lets[id(node)] = found
        return found

    def _note(self, node: Any, scope: Scope) -> None:
        """Notes the uses in a node whose value is used."""
        match node:
            case self.tree.LetNode():
                self._note_let(node, scope, self._note)
                return
            case self.tree.MapNode():
                self._note(node.over, scope)
                inside = {name: of for name, of in scope.items() if name != node.variable}
                for part in (node.where, node.body):
                    if part is not None:
                        self._note(part, inside)
                return
            case self.tree.RefNode():
                if node.name in scope:
                    self.used.add(scope[node.name])
            case self.tree.CallNode():
                for name, argument in node.arguments:
                    if isinstance(argument, self.tree.RefNode) and argument.name in scope:
                        asked = self.asked.setdefault(scope[argument.name], [])
                        asked.append(node.definition.parameter(name).schema)
            case _:
                pass
        for child in self.children(node):
            self._note(child, scope)

    def _note_effects(self, node: Any, scope: Scope) -> None:
        """Notes the uses in a node that is there for its effects alone."""
        if isinstance(node, self.tree.LetNode):
            self._note_let(node, scope, self._note_effects)
        elif node.calls:
            self._note(node, scope)

    def _note_let(self, node: Any, scope: Scope, note_body: Callable[[Any, Scope], None]) -> None:
        """The body first: it tells whether the bindings are used, the last of them first."""
        own = {name: (id(node), name) for name, _ in node.bindings}
        inside = {**scope, **own}
        note_body(node.body, inside)
        for name, bound in reversed(node.bindings):
            note = self._note if own[name] in self.used else self._note_effects
            note(bound, inside)
