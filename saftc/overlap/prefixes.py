"""The head of a loop: what stands above its prompts, and says which items they are for.

    for mail in mails:                                  def each_mail() -> Iterator[str]:
        assert mail.title != "", "no title"                 for mail in mails:
        if mail.is_spam:                                        assert mail.title != "", ...
            continue                                            if mail.is_spam:
        title = mail.title                                          continue
        print($ Translate {title}. $)                           title = mail.title
                                                                yield title

It is gone through ahead, by a generator. What fails in it is raised at the turn of its item, and
behind that, and behind a `break`, nothing is asked. So it may fail and leave items out, when the
rules below hold.

    H1  it has no effects, so that no one can tell when it runs, but that it may read files where
        the rest of the loop writes none
    H2  it certainly comes to an end, and ends nothing but its item or its loop
    H3  it needs nothing that the prompts of an item or the rest give
    H4  what it carries from item to item itself, nothing else in the loop reads or assigns, nor
        does what may run when something has failed
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from saftc.check.facts import Facts
from saftc.check.names import Symbol
from saftc.check.statements import all_statements
from saftc.effects.awaits import Awaits
from saftc.effects.certainty import TO_HEAD, Certainty, Reason
from saftc.effects.variables import Flow, continues_of
from saftc.overlap.loop_values import LoopOutput
from saftc.syntax import nodes as n
from saftc.types.builtins import Effect
from saftc.types.types import MapType

# Why a loop stays in order, and the way out.
DEFINES = "the loop defines a function", "define it above the loop"
SKIPS = "`continue` skips what has to stay in order", TO_HEAD


@dataclass(frozen=True, slots=True)
class LoopPrefix:
    """The first `end` statements of a loop, in a generator called `name`.

    It gives `gives`, in this order, of each item that is to be asked for. What it `keeps` are
    variables of the place around the loop, which it alone changes.
    """

    end: int
    name: str
    gives: tuple[LoopOutput, ...]
    keeps: tuple[Symbol, ...]


class PrefixFinder:
    """Says how far the head of a loop may reach, and whether it may run ahead."""

    def __init__(self, flow: Flow, certainty: Certainty, awaits: Awaits | None) -> None:
        self.facts = flow.facts
        self.flow = flow
        self.effects = flow.effects
        self.certainty = certainty
        self.awaits = awaits

    def ends(self, loop: n.ForStmt) -> Iterable[int]:
        """How many statements the head of a loop that asks may have: none, where none is needed;
        those that may stop the script or end the loop; and those that may leave out an item.
        """
        checks = skips = 0
        for above, statement in enumerate(loop.body):
            if "asks" in self.effects.of(statement):
                break
            if self.certainty.block((statement,)) is not None:
                checks = skips = above + 1
            elif next(continues_of((statement,)), None) is not None:
                skips = above + 1
        return dict.fromkeys((checks, skips))

    def kept(self, loop: n.ForStmt, end: int) -> set[Symbol]:
        """What a head carries from one item to the next: it reads that before it assigns it."""
        head = loop.body[:end]
        early = self.flow.early_reads(head, set(self.flow.bound(loop)))
        return early & self.flow.assigned(head)

    def prevents(self, loop: n.ForStmt, end: int) -> Reason | None:
        """What keeps a head from running ahead."""
        head, rest = loop.body[:end], loop.body[end:]
        for one in all_statements(head):
            if isinstance(one, n.FunctionDef):
                return Reason(one, *DEFINES)
        if self._is_told(head, rest) or self._waits(loop, end):
            early = next(continues_of(head), None)
            skips = early and Reason(early, *SKIPS)
            return self.certainty.block((*head, rest[0])) or skips
        endless = self.certainty.unending(head)
        if endless is not None:
            return endless
        lost = self._lost(loop, end)
        if lost:
            return Reason(loop.body[0], *needs(lost, self.facts))
        return None

    def _lost(self, loop: n.ForStmt, end: int) -> set[Symbol]:
        """What a head needs and does not find, or would change too early."""
        head, rest = loop.body[:end], loop.body[end:]
        targets, changed = set(self.flow.bound(loop)), self.flow.assigned(rest)
        kept, own = self.kept(loop, end), self.flow.assigned(head) | targets
        needed = self.flow.early_reads(head, set(targets)) - kept
        needed |= self.flow.effects.read_in_functions(*head)
        lost = needed & (changed | own)
        # It has no variable of the place around the loop that is called as one of its own.
        lost |= self.flow.read(loop.iterable) & (own - kept)
        lost |= kept & (changed | targets | self.flow.read(*rest))
        return lost | {one for one in kept if one.starts_from is not None}

    def _is_told(self, head: Sequence[n.Statement], rest: Sequence[n.Statement]) -> bool:
        """Whether it can be told that a head has run ahead of what stands before it."""
        reads: set[Effect] = set() if "writes" in self.effects.of(*rest) else {"reads"}
        return bool(self.effects.of(*head) - reads)

    def _waits(self, loop: n.ForStmt, end: int) -> bool:
        """Whether something would have to be awaited in the generator, which is a plain one."""
        if "asks" in self.effects.of(loop.iterable):
            return True
        parts = (loop.iterable, *loop.body[:end])
        return self.awaits is not None and self.awaits.in_(parts)


def needs(symbols: Iterable[Symbol], facts: Facts) -> tuple[str, str]:
    """That an item needs what the one before has given, and the way out where it does not."""
    found = sorted(symbols, key=lambda symbol: symbol.name)
    names = " and ".join(f"`{symbol.name}`" for symbol in found)
    way_out = "if it only collects, add with `+=` and read it below the loop"
    if isinstance(facts.symbols.get(found[0]), MapType):
        name = found[0].name
        count = f"`{name} = {{...{name}, [key]: get({name}, key, 0) + 1}}`"
        way_out = f"if it only counts, write {count} and read it below the loop"
    return f"it needs {names} of the item before", way_out
