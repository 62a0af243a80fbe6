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
rules below hold. Where it reaches down to the prompts, it looks up, too, what these are about and
what may be missing:

    for mail in mails:                                  def each_mail() -> Iterator[str]:
        print($ {mail} for {teams[mail]} $)                 for mail in mails:
                                                                yield mail, teams[mail]

    H1  it has no effects, so that no one can tell when it runs, but that it may read files where
        the rest of the loop writes none
    H2  it certainly comes to an end, and ends nothing but its item or its loop
    H3  it needs nothing that the prompts of an item or the rest give
    H4  what it carries from item to item itself, nothing else in the loop reads or assigns, nor
        does what may run when something has failed
"""

import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from keyword import iskeyword

from saftc.flow.statements import all_statements, evaluated_by
from saftc.schedule.awaits import Awaits
from saftc.schedule.certainty import TO_HEAD, Certainty, Reason
from saftc.schedule.flow import Flow, continues_of
from saftc.schedule.loop_values import Given
from saftc.semantics.builtins import Effect
from saftc.semantics.facts import Facts
from saftc.semantics.failure import failures_of, parts_of
from saftc.semantics.forms import BuiltinCall, Form
from saftc.semantics.names import Symbol
from saftc.semantics.types import MapType, is_known
from saftc.syntax import nodes as n
from saftc.syntax.walk import children, walk

# Why a loop stays in order, and the way out.
DEFINES = "the loop defines a function", "define it above the loop"
SKIPS = "`continue` skips what has to stay in order", TO_HEAD


@dataclass(frozen=True, slots=True)
class LookUp:
    """An item that may be missing, and what it is called in what runs ahead."""

    node: n.Index
    name: str


@dataclass(frozen=True, slots=True)
class Head:
    """The first `end` statements of a loop, in a generator called `name`.

    It gives `gives`, in this order, of each item that is to be asked for, and then what it `looks`
    up. What it `keeps` are variables of the place around the loop, which it alone changes.
    """

    end: int
    name: str
    gives: tuple[Given, ...]
    looks: tuple[LookUp, ...]
    keeps: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a head reaches: so many statements, and what it looks up in the next one."""

    end: int = 0
    looks: tuple[n.Index, ...] = ()

    def __bool__(self) -> bool:
        return self.end > 0 or bool(self.looks)


class Heads:
    """Says how far the head of a loop may reach, and whether it may run ahead."""

    def __init__(self, flow: Flow, certainty: Certainty, awaits: Awaits | None) -> None:
        self.facts = flow.facts
        self.flow = flow
        self.effects = flow.effects
        self.certainty = certainty
        self.awaits = awaits

    def reaches(self, loop: n.ForStmt) -> Iterator[Reach]:
        """How far the head of a loop that asks may reach: not at all, where none is needed; over
        what may stop the script or end the loop; over what may leave out an item; and over all that
        is above the prompts, with what these look up.
        """
        checks = skips = above = 0
        for above, statement in enumerate(loop.body):
            if "asks" in self.effects.of(statement):
                break
            if self.certainty.block((statement,)) is not None:
                checks = skips = above + 1
            elif next(continues_of((statement,)), None) is not None:
                skips = above + 1
        yield from dict.fromkeys((Reach(checks), Reach(skips)))
        looks = self._looked_up(loop.body[above])
        if looks:
            yield Reach(above, looks)

    def _looked_up(self, statement: n.Statement) -> tuple[n.Index, ...]:
        """The items that a statement which asks looks up in any case, before it does anything else,
        and that may be missing.
        """
        found: list[n.Index] = []
        match statement:
            case n.IfStmt(branches=(first, *_)):
                parts: Sequence[n.Expression] = (first.condition,)
            case n.ForStmt(iterable=iterable):
                parts = (iterable,)
            case n.WhileStmt() | n.TryStmt():
                parts = ()
            case _:
                parts = evaluated_by(statement)
        for part in parts:
            if not self._look(part, found):
                break
        return tuple(found)

    def _look(self, node: n.Expression, found: list[n.Index]) -> bool:
        """Collects them from an expression; whether it does nothing but give a value."""
        if isinstance(node, n.Index) and self._may_be_looked_up(node):
            found.append(node)
            return True
        match node:
            case n.Conditional(condition=first) | n.Logical(left=first):
                self._look(first, found)
                return False  # what comes next is evaluated on some paths only
            case n.Comprehension(clauses=(clause, *_)):
                self._look(clause.iterable, found)
                return False  # or many times
            case _:
                parts = (one for part in parts_of(node) for one in _outermost(part))
        if not all(self._look(one, found) for one in parts):
            return False
        return not self.effects.of_node(node)

    def _may_be_looked_up(self, node: n.Index) -> bool:
        """Whether an item may be missing, and nothing else can happen where it is looked up."""
        facts = self.facts
        is_plain = facts.forms.items[node] == Form.NATIVE and is_known(facts.type_of(node))
        calls = (one for one in walk(node) if isinstance(one, n.Call))
        return (
            is_plain
            and node not in facts.whole_results
            and any(not one.is_rare for one in failures_of(facts, node))
            and not self.effects.of(node)
            and all(isinstance(facts.forms.calls[one], BuiltinCall) for one in calls)
        )

    def failing(self, reach: Reach) -> set[tuple[n.Node, str]]:
        """What may fail in what a head looks up, with the words about it."""
        nodes = (inner for one in reach.looks for inner in walk(one))
        return {(node, one.words) for node in nodes for one in failures_of(self.facts, node)}

    def kept(self, loop: n.ForStmt, end: int) -> set[Symbol]:
        """What a head carries from one item to the next: it reads that before it assigns it."""
        head = loop.body[:end]
        early = self.flow.early_reads(head, set(self.flow.bound(loop)))
        return early & self.flow.assigned(head)

    def prevents(self, loop: n.ForStmt, reach: Reach) -> Reason | None:
        """What keeps a head from running ahead."""
        head, rest = loop.body[: reach.end], loop.body[reach.end :]
        for one in all_statements(head):
            if isinstance(one, n.FunctionDef):
                return Reason(one, *DEFINES)
        if self._is_told(head, rest) or self._waits(loop, reach):
            early = next(continues_of(head), None)
            skips = early and Reason(early, *SKIPS)
            return self.certainty.block((*head, rest[0])) or skips
        endless = self.certainty.unending(head)
        if endless is not None:
            return endless
        lost = self._lost(loop, reach)
        if lost:
            return Reason(loop.body[0], *needs(lost, self.facts))
        return None

    def _lost(self, loop: n.ForStmt, reach: Reach) -> set[Symbol]:
        """What a head needs and does not find, or would change too early."""
        head, rest = loop.body[: reach.end], loop.body[reach.end :]
        targets, changed = set(self.flow.bound(loop)), self.flow.assigned(rest)
        kept, own = self.kept(loop, reach.end), self.flow.assigned(head) | targets
        certain = set(targets)
        needed = self.flow.early_reads(head, certain) - kept
        needed |= self.flow.read(*reach.looks) - certain - kept
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

    def _waits(self, loop: n.ForStmt, reach: Reach) -> bool:
        """Whether something would have to be awaited in the generator, which is a plain one."""
        if "asks" in self.effects.of(loop.iterable):
            return True
        parts = (loop.iterable, *loop.body[: reach.end], *reach.looks)
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


def name_of_look_up(node: n.Index) -> str:
    """What an item may be called: `team` of `teams[mail]`, `found_key` of `found[key]`."""
    owner = node.value
    while isinstance(owner, n.Index):
        owner = owner.value
    match owner:
        case n.Name(text=text) | n.Member(name=n.Identifier(text=text)):
            pass
        case _:
            text = "items"
    single = _single(text)
    if single is not None:
        return single
    return f"{text}_{node.key.text}" if isinstance(node.key, n.Name) else f"{text}_item"


def _single(text: str) -> str | None:
    """One of what a word names several of; None where that is not clear."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("s", "")):
        if text.endswith(ending) and not text.endswith(("ss", "us", "is")):
            found = text.removesuffix(ending) + instead
            is_free = found.isidentifier() and not iskeyword(found) and not hasattr(builtins, found)
            return found if is_free else None
    return None


def _outermost(node: n.Node) -> Iterator[n.Expression]:
    """A node that is an expression, or the outermost ones in it."""
    if isinstance(node, n.Expression):
        yield node
    else:
        for one in children(node):
            yield from _outermost(one)
