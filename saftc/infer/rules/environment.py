"""The types of variables at a point of the control flow.

A `Slot` has a variable's type and the narrowed types of the variable's members: after
`if ticket.reply_by:`, the member is not nil. An assignment creates a new slot. An environment has
the slots of all variables. It is copied at branches, and joined where paths meet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from saftc.check.names import Names, Symbol
from saftc.syntax import nodes as n
from saftc.types.types import NEVER, Type, members, union

Path = tuple[str, ...]
# What a test can narrow: a variable, or a member of one.
Target = tuple[Symbol, Path]
# A narrowed member: its path, its type, and whether code may change it.
_Narrowed = tuple[Path, Type, bool]


@dataclass(frozen=True, slots=True)
class Slot:
    """A variable's type, and the types of members that tests have narrowed.

    `assigned`: the variable's type before narrowing, which determines the order of a union's
    members.
    """

    type: Type
    assigned: Type = field(compare=False)
    members: tuple[_Narrowed, ...] = ()

    def member(self, path: Path) -> _Narrowed | None:
        """The narrowed member at `path`, or None."""
        return next((one for one in self.members if one[0] == path), None)

    def joined(self, other: "Slot") -> "Slot":
        """The slot of a variable that has this slot on one path and `other` on another path."""
        if self is other:
            return self
        type_ = union((self.type, other.type))
        assigned = self.assigned if self.assigned is other.assigned else type_
        found = members(type_)
        if len(found) > 1 and set(found) <= set(members(assigned)):
            type_ = union(one for one in members(assigned) if one in found)
        shared = [
            (path, union((narrowed, known[1])), is_mutable)
            for path, narrowed, is_mutable in self.members
            if (known := other.member(path)) is not None
        ]
        return Slot(type_, assigned, tuple(shared))


@dataclass(slots=True)
class Environment:
    """The slots of the variables of one call, at one point of the control flow.

    `has_ended`: the point is unreachable.
    """

    slots: dict[Symbol, Slot] = field(default_factory=dict[Symbol, Slot])
    has_ended: bool = False

    def copy(self) -> "Environment":
        """A copy of the environment, for another point of the control flow."""
        return Environment(self.slots.copy(), self.has_ended)

    def get(self, symbol: Symbol) -> Slot | None:
        """The slot of a variable, or None if it has not been assigned yet."""
        return self.slots.get(symbol)

    def narrowed(self, target: Target | None) -> Type | None:
        """The narrowed type of a member of a variable, or None."""
        slot = None if target is None else self.get(target[0])
        known = None if slot is None or target is None else slot.member(target[1])
        return None if known is None else known[1]

    def assign(self, symbol: Symbol, type_: Type) -> None:
        """Records the assignment of a value of `type_` to `symbol`."""
        self.slots[symbol] = Slot(type_, type_)

    def add(self, symbol: Symbol, slot: Slot) -> None:
        """Joins `slot` into the slot of `symbol`."""
        known = self.slots.get(symbol)
        self.slots[symbol] = slot if known is None else known.joined(slot)

    def narrow(
        self, symbol: Symbol, path: Path, type_: Type, *, is_mutable: bool = False
    ) -> None:
        """Narrows `symbol`, or its member at `path`, to `type_`.

        `is_mutable`: code may change the member.
        """
        slot = self.get(symbol) or Slot(NEVER, NEVER)
        if path:
            kept = tuple(one for one in slot.members if one[0] != path)
            self.slots[symbol] = replace(slot, members=(*kept, (path, type_, is_mutable)))
        else:
            self.slots[symbol] = replace(slot, type=type_)

    def forget(self) -> None:
        """Drops the narrowed types of the members that code may change."""
        for symbol, slot in self.slots.items():
            kept = tuple(one for one in slot.members if not one[2])
            if kept != slot.members:
                self.slots[symbol] = replace(slot, members=kept)


def join(environments: Sequence[Environment]) -> Environment:
    """The environment where several paths meet.

    Unreachable paths are ignored, unless all paths are unreachable.
    """
    first, *others = [one for one in environments if not one.has_ended] or environments
    met = first.copy()
    for other in others:
        for symbol, slot in other.slots.items():
            met.add(symbol, slot)
    return met


def target_of(names: Names, node: n.Expression) -> Target | None:
    """The variable and the path of members that `node` reads, or None."""
    match node:
        case n.Name():
            symbol = names.of(node)
            return (symbol, ()) if symbol.kind in ("variable", "parameter", "field") else None
        case n.Member():
            inner = target_of(names, node.value)
            return (inner[0], (*inner[1], node.name.text)) if inner else None
        case _:
            return None
