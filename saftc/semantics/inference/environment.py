"""What is known of the variables at a point of the flow.

A `Slot` holds a variable's type and what tests have shown about its members (`if ticket.reply_by:`
shows that the member is not nil); assigning makes a new slot. A part of an expression that is
evaluated on some paths only has an environment inside of that of the statement.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from saftc.semantics.names import Names, Symbol
from saftc.semantics.types import NEVER, Type, members, union
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
    """The slots of the variables of one call, at one point of the flow.

    It has what is new at this point, over what is known at an `outer` one, which must not change
    as long as this is in use. Of what is evaluated on some paths inside of an expression, it is a
    part of the one around. `has_ended`: the flow does not reach it.
    """

    def __init__(self, outer: "Environment | None" = None, *, is_part: bool = True) -> None:
        self.outer = outer
        self.is_part = is_part and outer is not None
        self.slots: dict[Symbol, Slot] = {}
        self.has_ended: bool = outer is not None and outer.has_ended

    def copy(self) -> "Environment":
        """The same at another point of the flow."""
        return Environment(self, is_part=False)

    def get(self, symbol: Symbol) -> Slot | None:
        """What is known of a variable, or None when nothing has been assigned to it yet."""
        environment: Environment | None = self
        while environment is not None:
            slot = environment.slots.get(symbol)
            if slot is not None:
                return slot
            environment = environment.outer
        return None

    def narrowed(self, target: Target | None) -> Type | None:
        """What tests have shown of a member of a variable, if anything."""
        slot = None if target is None else self.get(target[0])
        return None if slot is None or target is None else slot.member(target[1])

    def assign(self, symbol: Symbol, type_: Type) -> None:
        """Notes that `symbol` has a new value of `type_`."""
        self.slots[symbol] = Slot(type_)

    def put(self, symbol: Symbol, slot: Slot) -> None:
        """Notes that `symbol` may be what `slot` says, beside what is known of it."""
        known = self.get(symbol)
        self.slots[symbol] = slot if known is None or known is slot else _joined(known, slot)

    def narrow(self, symbol: Symbol, path: Path, type_: Type) -> None:
        """Notes that a test has shown `symbol`, or its member at `path`, to be of `type_`."""
        slot = self.get(symbol) or Slot(NEVER)
        if path:
            self.slots[symbol] = slot.with_member(path, type_)
        else:
            self.slots[symbol] = replace(slot, type=type_)

    def forget(self, changes: Callable[[Type, Path], bool]) -> None:
        """Forgets what tests have shown of members that may have changed since."""
        known: dict[Symbol, Slot] = {}
        for environment in self.around():
            known = {**environment.slots, **known}
        for symbol, slot in known.items():
            kept = tuple(one for one in slot.members if not changes(slot.type, one[0]))
            if kept != slot.members:
                self.slots[symbol] = replace(slot, members=kept)
        if self.is_part and self.outer is not None:
            self.outer.forget(changes)

    def around(self) -> "Iterator[Environment]":
        """This and those that it is over, innermost first."""
        environment: Environment | None = self
        while environment is not None:
            yield environment
            environment = environment.outer

    def become(self, later: "Environment") -> bool:
        """Takes over what a later one over it has; whether it is one. That is not used any more."""
        news: dict[Symbol, Slot] = {}
        for environment in later.around():
            if environment is self:
                self.slots.update(news)
                self.has_ended = later.has_ended
                return True
            news = {**environment.slots, **news}
        return False


def join(environments: Sequence[Environment]) -> Environment:
    """What is known where several ways meet; those that have ended do not count."""
    reached = [one for one in environments if not one.has_ended] or environments
    first, *others = reached
    met = Environment(_base(first, others), is_part=False)
    met.has_ended = first.has_ended
    base, symbols = met.outer, dict[Symbol, None]()
    for one in reached:
        for layer in one.around():
            if layer is base:
                break
            symbols.update(dict.fromkeys(layer.slots))
    for symbol in symbols:
        slots = [slot for one in reached if (slot := one.get(symbol)) is not None]
        before = None if base is None else base.get(symbol)
        met.slots[symbol] = _in_order(reduce(_joined, slots), before)
    return met


def _in_order(slot: Slot, before: Slot | None) -> Slot:
    """The slot with the members of its type in the order that they had before the branches."""
    found = members(slot.type)
    known = () if before is None or len(found) == 1 else members(before.type)
    if not set(found) <= set(known):
        return slot
    return replace(slot, type=union(one for one in known if one in found))


def _base(first: Environment, others: Sequence[Environment]) -> Environment | None:
    """The innermost one that all are over."""
    common = list(first.around())
    for other in others:
        above = set(map(id, other.around()))
        common = [one for one in common if id(one) in above]
    return common[0] if common else None


def _joined(one: Slot, other: Slot) -> Slot:
    if one is other:
        return one
    shared = [
        (path, union((type_, known)))
        for path, type_ in one.members
        if (known := other.member(path)) is not None
    ]
    return Slot(union((one.type, other.type)), tuple(shared))


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
