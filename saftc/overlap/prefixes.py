"""The head of a loop: the statements above its prompts that select the items to ask for.

    for mail in mails:                                  def each_mail() -> Iterator[str]:
        assert mail.title != "", "no title"                 for mail in mails:
        if mail.is_spam:                                        assert mail.title != "", ...
            continue                                            if mail.is_spam:
        title = mail.title                                          continue
        print($ Translate {title}. $)                           title = mail.title
                                                                yield title

A generator runs the head ahead of the loop. If the head fails, the failure is raised at the turn of
its item. After a failure or a `break`, the loop sends prompts for no further item. So the head may
fail and skip items if these rules hold.

    H1  the head has no effects, so that its timing is not observable; but it may read files if the
        rest of the loop writes none
    H2  the head certainly ends, and ends nothing but its item or its loop
    H3  the head reads no result of an item's prompts or of the rest
    H4  nothing else in the loop reads or assigns the variables that the head carries from item to
        item, nor does code that may run after a failure
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from saftc.check.facts import Facts
from saftc.check.names import Symbol
from saftc.check.statements import all_statements
from saftc.effects.awaits import Awaits
from saftc.effects.certainty import TO_HEAD, Reason
from saftc.effects.effects import Effects
from saftc.effects.variables import continues_of
from saftc.overlap.loop_values import LoopOutput
from saftc.syntax import nodes as n
from saftc.types.builtins import Effect
from saftc.types.types import MapType

# Why a loop stays in order, and the way out.
DEFINES = "the loop defines a function", "define it above the loop"
SKIPS = "`continue` skips what has to stay in order", TO_HEAD


@dataclass(frozen=True, slots=True)
class LoopPrefix:
    """The head of a loop, as a generator called `name`.

    The head is the first statements of the body, and `end` is their number. For each item that
    needs a prompt, the generator yields the variables in `gives`. `keeps` are outer variables whose
    values the head carries from item to item. The rest of the loop neither reads nor changes them.
    """

    end: int
    name: str
    gives: tuple[LoopOutput, ...]
    keeps: tuple[Symbol, ...]


class PrefixFinder:
    """Decides how far the head of a loop may reach, and whether it may run ahead."""

    def __init__(self, effects: Effects, awaits: Awaits | None) -> None:
        self.facts = effects.facts
        self.flow = effects.flow
        self.effects = effects
        self.certainty = effects.certainty
        self.awaits = awaits

    def ends(self, loop: n.ForStmt) -> Iterable[int]:
        """The possible numbers of statements in the head of a loop that sends prompts.

        The head ends above the prompts: after the last statement that may stop the script or end
        the loop, or after the last one that may do this or skip an item. The number is 0 if there
        is no such statement.
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
        """The variables that a head carries to the next item.

        The head reads them before it assigns them.
        """
        head = loop.body[:end]
        early = self.flow.early_reads(head, set(self.flow.bound(loop)))
        return early & self.flow.assigned(head)

    def prevents(self, loop: n.ForStmt, end: int) -> Reason | None:
        """Why a head of `end` statements cannot run ahead. None if it can."""
        head, rest = loop.body[:end], loop.body[end:]
        for one in all_statements(head):
            if isinstance(one, n.FunctionDef):
                return Reason(one, *DEFINES)
        if self._is_observable(head, rest) or self._waits(loop, end):
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
        """The variables that a head needs but cannot read, or that it would change too early."""
        head, rest = loop.body[:end], loop.body[end:]
        targets, changed = set(self.flow.bound(loop)), self.flow.assigned(rest)
        kept, own = self.kept(loop, end), self.flow.assigned(head) | targets
        needed = self.flow.early_reads(head, set(targets)) - kept
        needed |= self.effects.read_in_functions(*head)
        lost = needed & (changed | own)
        # The generator cannot read an outer variable if it assigns to a variable of this name.
        lost |= self.flow.read(loop.iterable) & (own - kept)
        lost |= kept & (changed | targets | self.flow.read(*rest))
        return lost | {one for one in kept if one.starts_from is not None}

    def _is_observable(self, head: Sequence[n.Statement], rest: Sequence[n.Statement]) -> bool:
        """Whether running the head early would be observable."""
        reads: set[Effect] = set() if "writes" in self.effects.of(*rest) else {"reads"}
        return bool(self.effects.of(*head) - reads)

    def _waits(self, loop: n.ForStmt, end: int) -> bool:
        """Whether the head would have to await, which the generator cannot do.

        The result is also true if the loop's iterable sends prompts.
        """
        if "asks" in self.effects.of(loop.iterable):
            return True
        parts = (loop.iterable, *loop.body[:end])
        return self.awaits is not None and self.awaits.in_(parts)


def needs(symbols: Iterable[Symbol], facts: Facts) -> tuple[str, str]:
    """Returns two texts: what an item needs of the previous one, and what to write instead."""
    found = sorted(symbols, key=lambda symbol: symbol.name)
    names = " and ".join(f"`{symbol.name}`" for symbol in found)
    way_out = "if it only collects, add with `+=` and read it below the loop"
    if isinstance(facts.symbols.get(found[0]), MapType):
        name = found[0].name
        count = f"`{name} = {{...{name}, [key]: get({name}, key, 0) + 1}}`"
        way_out = f"if it only counts, write {count} and read it below the loop"
    return f"it needs {names} of the item before", way_out
