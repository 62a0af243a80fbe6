"""What is known of the variables at a point of the flow.

An `Environment` is a stack of layers: a branch writes into a layer of its own, and where branches
meet, what they wrote is joined. A `Slot` holds a variable's type and what tests have shown about
its members (`if ticket.reply_by:` shows that the member is not nil); assigning makes a new slot.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from saftc.semantics.names import Names, Symbol
from saftc.semantics.types import NEVER, Type, union
from saftc.syntax import nodes as n

Path = tuple[str | int, ...]
# What a test can narrow: a variable, or a member of one.
Target = tuple[Symbol, Path]


@dataclass(frozen=True, slots=True)
class Slot:
    """A variable's type, and the types of members that tests have narrowed."""

    type: Type
    members: tuple[tuple[Path, Type], ...] = ()

    def member(self, path: Path) -> Type | None:
        """The narrowed type of the member at `path`, or None."""
        return next((type_ for known, type_ in self.members if known == path), None)

    def with_member(self, path: Path, type_: Type) -> "Slot":
        """This slot with one more narrowed member."""
        kept = tuple(entry for entry in self.members if entry[0] != path)
        return replace(self, members=(*kept, (path, type_)))


class Environment:
    """The slots of the variables of one call, at one point of the flow."""

    def __init__(
        self, outer: "Environment | None" = None, asked: set[Symbol] | None = None
    ) -> None:
        self.outer = outer
        # Takes the variables of which this layer, or one around it, has been asked.
        self.asked = asked
        self.slots: dict[Symbol, Slot] = {}
        self.has_ended = False

    def slot(self, symbol: Symbol) -> Slot | None:
        """What is known of `symbol`, or None when nothing has been assigned to it yet."""
        environment: Environment | None = self
        while environment is not None:
            if environment.asked is not None:
                environment.asked.add(symbol)
            slot = environment.slots.get(symbol)
            if slot is not None:
                return slot
            environment = environment.outer
        return None

    def narrowed(self, target: Target | None) -> Type | None:
        """What tests have shown of a member of a variable, if anything."""
        slot = None if target is None else self.slot(target[0])
        return None if slot is None or target is None else slot.member(target[1])

    def assign(self, symbol: Symbol, type_: Type) -> None:
        """Notes that `symbol` has a new value of `type_`."""
        self.slots[symbol] = Slot(type_)

    def narrow(self, symbol: Symbol, path: Path, type_: Type) -> None:
        """Notes that a test has shown `symbol`, or its member at `path`, to be of `type_`."""
        slot = self.slot(symbol) or Slot(NEVER)
        if path:
            self.slots[symbol] = slot.with_member(path, type_)
        else:
            self.slots[symbol] = replace(slot, type=type_)

    def forget(self, changes: Callable[[Type, Path], bool]) -> None:
        """Forgets what tests have shown of members that may have changed since."""
        environment: Environment | None = self
        while environment is not None:
            for symbol, slot in environment.slots.items():
                kept = tuple(one for one in slot.members if not changes(slot.type, one[0]))
                if kept != slot.members:
                    environment.slots[symbol] = replace(slot, members=kept)
            environment = environment.outer

    def join(self, branches: Sequence["Environment"]) -> None:
        """Goes on where `branches`, layers of this environment, meet; ended ones do not count."""
        reached = [branch for branch in branches if not branch.has_ended]
        changed = {symbol: None for branch in reached for symbol in branch.slots}
        for symbol in changed:
            slots = [slot for branch in reached if (slot := branch.slot(symbol)) is not None]
            self.slots[symbol] = _joined(slots)


def _joined(slots: Sequence[Slot]) -> Slot:
    first, *others = slots
    shared = [
        (path, union((type_, *(other.member(path) or NEVER for other in others))))
        for path, type_ in first.members
        if all(other.member(path) is not None for other in others)
    ]
    return Slot(union(slot.type for slot in slots), tuple(shared))


def path_of(names: Names, node: n.Expression) -> Target | None:
    """The variable and the members that lead to `node`, if it is such a path."""
    match node:
        case n.Name():
            symbol = names.of(node)
            return (symbol, ()) if symbol.kind in ("variable", "parameter", "field") else None
        case n.Member():
            inner = path_of(names, node.value)
            return (inner[0], (*inner[1], node.name.text)) if inner else None
        case n.TupleMember():
            inner = path_of(names, node.value)
            return (inner[0], (*inner[1], node.position)) if inner else None
        case _:
            return None
