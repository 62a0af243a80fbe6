"""The overlap plan: loops with a first part that runs ahead, comprehensions, and groups.

    plan(facts)     Plan(effects, loops, ends, maps, groups, prints, notes)

The first part of a loop ends with the last statement that sends prompts. The first part runs ahead
for the next items; the rest runs in the order of the items. The statements above the prompts, the
head, may select the items (see `prefixes`). Running ahead is correct if

    L1  no effect in the loop is unknown, and nothing above the rest changes files
    L2  taking the items, one after the other, cannot fail
    L3  below the head, only a prompt or a file that fails can end the loop
    L4  the first part needs nothing from the previous item
    L5  the first part only adds to variables that grow, and returns the additions
    L6  the first part has certainly assigned all that it returns to the rest
    L7  a `continue` in the first part skips nothing below the first part

A comprehension is planned like a loop without a rest. A group consists of consecutive statements
with prompts, none of which needs the reply to another.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import count, product

from saftc.check.facts import Facts
from saftc.check.forms import IN_PARTS, BuiltinCall, DirectCall
from saftc.check.names import Scope, Symbol
from saftc.check.statements import all_statements, blocks_of, bound_by, evaluated_by
from saftc.effects.awaits import Awaits
from saftc.effects.certainty import (
    ANNOTATE,
    GIVE_VALUE,
    STREAMED,
    TO_HEAD,
    UNSTREAMED,
    Certainty,
    Reason,
    of_effect,
)
from saftc.effects.effects import UNKNOWN, Effect, Effects
from saftc.effects.variables import continues_of
from saftc.overlap.loop_values import LoopOutput, counted_in, growing, loop_output
from saftc.overlap.prefixes import DEFINES, SKIPS, LoopPrefix, PrefixFinder, needs
from saftc.overlap.settings import DEFAULT, Overlapping
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk
from saftc.types.types import FunctionType, LiteralType, UnionType, is_known

MOST_TOGETHER = 8
# The way out for a comprehension.
A_LOOP = "write a loop, with this at its head"
# Code that runs ahead of its turn has no other effects.
_AHEAD = frozenset[Effect]({"asks", "prints", "reads"})


@dataclass(frozen=True, slots=True)
class PipelinedLoop:
    """A loop whose statements from `start` to `cut` run ahead, in a function called `name`.

    The statements above `start` are its `head`. The function takes an item, or the values that the
    head yields for it. The parameter is called `item` if the item has no single name. The function
    returns the variables in `gives`, which it assigns and other code reads. It also returns the
    additions to the variables in `grows`, under the names `added`. `counts` are those variables in
    `grows` that are objects of counts. If the function returns no value, the loop's target is
    called `nothing`.
    """

    head: LoopPrefix | None
    cut: int
    name: str
    item: str
    gives: tuple[LoopOutput, ...]
    grows: tuple[Symbol, ...]
    added: tuple[str, ...]
    counts: frozenset[Symbol]
    nothing: str

    @property
    def start(self) -> int:
        """The number of statements in the head."""
        return 0 if self.head is None else self.head.end


@dataclass(frozen=True, slots=True)
class Mapped:
    """A comprehension that sends the prompts of several items at once.

    `symbols` are the loop variables that the prompts need. If the comprehension only calls a
    function with one such variable, or a part of it, `call` is this call, and the function itself
    runs concurrently. Otherwise a function called `name` is defined above the statement; its
    parameter is called `item` if there are several symbols. If both `call` and `name` are None, a
    lambda is used.
    """

    symbols: tuple[Symbol, ...]
    call: n.Call | None
    name: str | None
    item: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about code that sends prompts. `words` say how it may overlap with other code.

    If the code stays in order, `reason` says why.
    """

    node: n.Node
    words: str
    reason: Reason | None = None


@dataclass(slots=True)
class Plan:
    """The decisions about the code of a script, by the nodes of its tree.

    If `prints`, code may print ahead of its turn. `awaits` is the code that waits in the async
    form. It is None in the plain form. `suffix` is appended to the module names of scripts.
    `defaults` are the settings that the module embeds, in JSON.
    """

    effects: Effects
    loops: dict[n.ForStmt, PipelinedLoop] = field(default_factory=dict[n.ForStmt, PipelinedLoop])
    # The `continue` statements that end a call of a function that runs ahead.
    ends: dict[n.ContinueStmt, PipelinedLoop] = field(
        default_factory=dict[n.ContinueStmt, PipelinedLoop]
    )
    maps: dict[n.Comprehension, Mapped] = field(default_factory=dict[n.Comprehension, Mapped])
    groups: dict[n.Statement, tuple[n.Statement, ...]] = field(
        default_factory=dict[n.Statement, tuple[n.Statement, ...]]
    )
    prints: bool = False
    notes: list[Decision] = field(default_factory=list[Decision])
    awaits: Awaits | None = None
    suffix: str = ""
    defaults: str = ""
    waits_at_top: bool = False
    taken: Set[str] | None = None
    # Whether a setting keeps everything in order.
    is_off: bool = False

    @property
    def certainty(self) -> Certainty:
        """The finder of the reasons why code may stop the script."""
        return self.effects.certainty


def plan(facts: Facts, overlapping: Overlapping = DEFAULT) -> Plan:
    """Plans which code of a script runs at the same time."""
    effects = Effects(facts, overlapping.pure)
    awaits = effects.awaits if overlapping.is_async else None
    if awaits is not None and overlapping.suffix and not awaits.has_form:
        awaits = None  # both forms of the script have the same module
    may_ask = facts.scripts or bool(nodes_of(facts.module, n.Prompt))
    if not may_ask or not overlapping.is_on:
        planned = Plan(effects, awaits=awaits, is_off=not overlapping.is_on)
    else:
        planned = _Planner(effects, awaits, overlapping.taken or frozenset()).run()
    planned.suffix = "" if awaits is None else overlapping.suffix
    return planned


def call_of_item(facts: Facts, node: n.Node, item: Symbol) -> n.Call | None:
    """Returns `node` if it is a call whose only argument is the item or a part of it.

    A part is a member such as `item.id`. Returns None for other nodes, and if the value of the call
    is converted or has a history.
    """
    match node:
        case n.Call(function=function, arguments=(n.Argument(name=None, value=given),)) as call:
            is_name = isinstance(function, n.Name) or facts.is_imported(function)
            form = facts.forms.calls[call]
        case _:
            return None
    if not isinstance(form, DirectCall) or not isinstance(form.definition, n.FunctionDef):
        return None
    if form.definition in facts.history.does or call in facts.coercions:
        return None
    while isinstance(given, n.Member | n.Index) and given not in facts.coercions:
        given = given.value
    is_item = isinstance(given, n.Name) and facts.names.of(given) is item
    return call if is_name and is_item and given not in facts.coercions else None


_Reads = tuple[Set[Symbol], ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """The scope of a block of statements, and what may be read after its statements.

    `after` holds the variables that may be read later, in one set for each enclosing block, the
    innermost first. `failed` holds, in the same way, the variables that may be read if a statement
    fails and the failure is caught. `added` are the names for the additions of the enclosing loops.
    """

    scope: Scope
    after: _Reads = ()
    failed: _Reads = ()
    added: frozenset[str] = frozenset()


class _Planner:
    def __init__(self, effects: Effects, awaits: Awaits | None, taken: Set[str]) -> None:
        self.facts = facts = effects.facts
        self.effects = effects
        self.plan = Plan(effects, prints=effects.prints_in_turn, awaits=awaits)
        self.certainty = effects.certainty
        self.flow = effects.flow
        self.heads = PrefixFinder(effects, awaits)
        # A name of the script may have got an underscore at its end.
        scopes = facts.names.scopes.values()
        self.taken = {name.rstrip("_") for scope in scopes for name in scope.symbols} | taken
        self.read_names = {node.text for node in nodes_of(facts.module, n.Name)}
        # The names of the functions made in each scope, and the candidates for further ones.
        self.made = defaultdict[Scope, set[str]](set)
        self.names: dict[tuple[Scope, str], Iterator[str]] = {}
        functions = self.functions = nodes_of(facts.module, n.FunctionDef)
        # Functions may read the variables around them at any time.
        self.read_anytime = {s for one in functions for s in effects.outer(one)}

    def run(self) -> Plan:
        scopes = self.facts.names.scopes
        module = self.facts.module
        self._block(module.statements, _Place(scopes[module]))
        for function in self.functions:
            self._block(function.body, _Place(scopes[function]))
        return self.plan

    def _block(self, statements: Sequence[n.Statement], place: _Place) -> None:
        position, below = 0, self._read_below(statements)
        while position < len(statements):
            statement = statements[position]
            group = self._group(statements[position : position + MOST_TOGETHER], place)
            if len(group) > 1:
                self.plan.groups[statement] = group
                self._begins_ahead(*group)
                for one in group:
                    self._note(one, "with those that are beside it")
            else:
                group = (statement,)
                after = (below.get(statement, frozenset()), *place.after)
                self._inside(statement, replace(place, after=after))
            position += len(group)

    def _read_below(self, statements: Sequence[n.Statement]) -> Mapping[n.Statement, Set[Symbol]]:
        """Maps each statement with blocks to the variables that may be read below it.

        Variables that are assigned before they are read do not count. One pass from the last
        statement upwards is enough.
        """
        below, found = frozenset[Symbol](), dict[n.Statement, Set[Symbol]]()
        for statement in reversed(statements):
            if blocks_of(statement):
                found[statement] = below
            read, assigned = self.flow.of_statement(statement)
            below = read if assigned is None else read | (below - assigned)
        return found

    def _inside(self, statement: n.Statement, place: _Place) -> None:
        """Decides about a statement and its blocks.

        `place.after` has the variables that may be read below the statement.
        """
        self._comprehensions(_own_nodes(statement), place)
        after, added = place.after, place.added
        if isinstance(statement, n.ForStmt):
            self._for(statement, place)
            if statement in self.plan.loops:
                added = added.union(self.plan.loops[statement].added)
        if isinstance(statement, n.ForStmt | n.WhileStmt):
            after = (self.flow.early_reads((statement,), set()), *after)
        for block in blocks_of(statement):
            failed = place.failed
            if isinstance(statement, n.TryStmt) and block is statement.body:
                failed = (self.flow.early_reads(statement.handler, set()), *after, *failed)
            self._block(block, _Place(place.scope, after, failed, added))

    def _note(self, node: n.Node, words: str, reason: Reason | None = None) -> None:
        self.plan.notes.append(Decision(node, words, reason))

    def _begins_ahead(self, *nodes: n.Node) -> None:
        if "prints" in self.effects.of(*nodes):
            self.plan.prints = True

    # Loops

    def _for(self, loop: n.ForStmt, place: _Place) -> None:
        if "asks" not in self.effects.of(*loop.body):
            return
        reason = self._prevents(loop)
        first = 1 + max(i for i, one in enumerate(loop.body) if "asks" in self.effects.of(one))
        cuts = dict.fromkeys((first, len(loop.body)))
        for end, cut in product(self.heads.ends(loop), cuts) if reason is None else ():
            found = self._cut(loop, end, cut, place)
            if isinstance(found, PipelinedLoop):
                ahead = loop.body[end:cut]
                self.plan.loops[loop] = found
                self.plan.ends |= dict.fromkeys(continues_of(ahead), found)
                self._begins_ahead(*ahead)
                self._note(loop, "for the next items of the loop")
                return
            reason = reason or found
        self._note(loop, "", reason)

    def _prevents(self, loop: n.ForStmt) -> Reason | None:
        """Why a loop stays in order, no matter where its first part ends.

        Returns None if nothing prevents overlap.
        """
        if self.facts.forms.loops[loop] in IN_PARTS:
            return Reason(loop.iterable, STREAMED, UNSTREAMED)
        unknown = self.effects.first_unknown(*loop.body, kinds=UNKNOWN)
        if unknown is not None:
            return of_effect(self.effects, unknown)
        return self.certainty.unpacks(loop)

    def _cut(self, loop: n.ForStmt, end: int, cut: int, place: _Place) -> PipelinedLoop | Reason:
        head, first, rest = loop.body[:end], loop.body[end:cut], loop.body[cut:]
        in_head, in_first, in_rest = map(self.flow.assigned, (head, first, rest))
        reason = self.heads.prevents(loop, end) if end else None
        reason = reason or self.certainty.block((*first, *rest))
        if reason is not None:
            return reason
        unknown = self.effects.first_unknown(*first)
        if unknown is not None:
            return of_effect(self.effects, unknown)
        for statement in all_statements(first):
            if isinstance(statement, n.FunctionDef):
                return Reason(statement, *DEFINES)
        targets = self.flow.bound(loop)
        grows = [symbol for symbol in self._growing(loop) if symbol in in_first]
        if in_rest.intersection(grows):
            changed_below = min(symbol.name for symbol in in_rest.intersection(grows))
            words = f"`{changed_below}` grows with the prompts and below them"
            return Reason(rest[0], words, "add to it in one place")
        kept = self.heads.kept(loop, end)
        assigned = {*targets, *in_head, *in_first}
        own = assigned - kept - set(grows)
        certain = set(targets)
        self.flow.early_reads(head, certain)
        above = certain & own
        carried = self._carried(first, certain, assigned | in_rest) - set(grows)
        carried |= self._read_in_functions(first, assigned | in_rest)
        if carried:
            return Reason(self._reading(first, carried), *needs(carried, self.facts))
        lost = self._read_after_failure(assigned, place)
        if lost is not None:
            words = f"`{lost.name}` may be read when a prompt has failed"
            return Reason(loop, words, "catch the failure inside the loop")
        needed = self._needed(rest, set(grows))
        later = self._needed_later(own, place)
        needed |= later | (own & self.read_anytime)
        gives = [symbol for symbol in self._in_order(loop) if symbol in own & needed]
        early = next(continues_of(first), None)
        if early is not None and (rest or gives):
            return Reason(early, *SKIPS)
        reason = _missing_value(loop, gives, certain, later)
        if reason is not None:
            return reason
        given = self._given(loop, cut, gives, are_known=bool(rest))
        if isinstance(given, Reason):
            return given
        made = None
        if end:
            anew = set[Symbol]()
            read = self.flow.early_reads(first, anew) | (set(gives) - anew)
            taken = [symbol for symbol in self._in_order(loop) if symbol in above & read]
            made = self._head(loop, end, taken, place)
            if isinstance(made, Reason):
                return made
        name = self._new_function(f"ask_{self._item_of(loop)}", place.scope)
        added = tuple(self._new_name(f"new_{symbol.name}", place.added) for symbol in grows)
        item = self._new_name("item")
        nothing = item if "_" in self.read_names else "_"
        counts = frozenset(counted_in(self.flow, loop).intersection(grows))
        return PipelinedLoop(made, cut, name, item, given, tuple(grows), added, counts, nothing)

    def _head(
        self, loop: n.ForStmt, end: int, gives: Sequence[Symbol], place: _Place
    ) -> LoopPrefix | Reason:
        given = self._given(loop, end, gives or self.flow.bound(loop)[:1], are_known=False)
        if isinstance(given, Reason):
            return given
        kept = self.heads.kept(loop, end)
        name = self._new_function(f"each_{self._item_of(loop)}", place.scope)
        keeps = tuple(one for one in self._in_order(loop) if one in kept)
        return LoopPrefix(end, name, given, keeps)

    def _given(
        self, loop: n.ForStmt, cut: int, symbols: Sequence[Symbol], *, are_known: bool
    ) -> tuple[LoopOutput, ...] | Reason:
        """The variables that the loop's first `cut` statements pass on, or why they cannot.

        If `are_known`, the types of these variables must be known.
        """
        statements = (loop, *all_statements(loop.body[:cut]))
        given: list[LoopOutput] = []
        for symbol in symbols:
            one = loop_output(self.facts, symbol, statements)
            if one is None:
                words = f"`{symbol.name}` is a whole result on some paths only"
                return Reason(loop, words, "bind it to a prompt on all of them")
            if are_known and not is_known(one.type):
                words = f"`{symbol.name}` is of unknown type, and is needed below"
                return Reason(loop, words, ANNOTATE)
            given.append(one)
        return tuple(given)

    def _item_of(self, loop: n.ForStmt) -> str:
        """The loop's name for an item.

        With `enumerate`, the name of the number is the last choice.
        """
        names = [one.text for one in bound_by(loop)]
        if isinstance(loop.iterable, n.Call):
            form = self.facts.forms.calls[loop.iterable]
            if isinstance(form, BuiltinCall) and form.builtin.name == "enumerate":
                names = [*names[1:], *names[:1]]
        return next((one for one in names if one != "_"), "item")

    def _carried(
        self, first: Sequence[n.Statement], certain: set[Symbol], changed: set[Symbol]
    ) -> set[Symbol]:
        """The variables among `changed` that the first part may read from earlier items.

        `certain` grows by the variables that the first part assigns.
        """
        return self.flow.early_reads(first, certain) & changed

    def _read_in_functions(self, first: Sequence[n.Statement], changed: set[Symbol]) -> set[Symbol]:
        """The variables among `changed` that are read in functions which the first part calls."""
        return self.effects.read_in_functions(*first) & changed

    def _needed(self, rest: Sequence[n.Statement], certain: set[Symbol]) -> set[Symbol]:
        return self.flow.early_reads(rest, certain)

    def _read_after_failure(self, assigned: set[Symbol], place: _Place) -> Symbol | None:
        """A variable in `assigned` that may be read after a failure has been caught, or None.

        A function that runs ahead returns no values for such variables if it fails.
        """
        if not place.failed:
            return None
        read = (self.read_anytime, *place.failed)
        found = (symbol for symbol in assigned if _is_in(symbol, read))
        return min(found, key=lambda symbol: symbol.name, default=None)

    def _needed_later(self, assigned: set[Symbol], place: _Place) -> set[Symbol]:
        """The variables in `assigned` that may be read after the loop."""
        return {one for one in assigned if _is_in(one, place.after)}

    def _reading(self, statements: Sequence[n.Statement], symbols: set[Symbol]) -> n.Node:
        """The first node in `statements` that reads one of `symbols`, directly or in a function."""
        for statement in statements:
            for node in walk(statement):
                if isinstance(node, n.Name | n.Prompt) and self.flow.read(node) & symbols:
                    return node
        return statements[0]

    def _growing(self, loop: n.ForStmt) -> list[Symbol]:
        """The variables to which the loop only adds, and which it reads for nothing else."""
        return growing(self.flow, loop)

    def _in_order(self, loop: n.ForStmt) -> list[Symbol]:
        """The variables that the loop assigns, in the order of their first assignments."""
        statements = (loop, *all_statements(loop.body))
        return list(dict.fromkeys(s for one in statements for s in self.flow.bound(one)))

    def _new_name(self, wanted: str, others: Set[str] = frozenset()) -> str:
        """The name `wanted`, with a number if the script or `others` already contain it."""
        free = (one for one in _numbered(wanted) if one.rstrip("_") not in self.taken)
        return next(one for one in free if one not in others)

    def _new_function(self, wanted: str, scope: Scope) -> str:
        """The name `wanted`, with a number if the script or another new function uses the name."""
        names, made = self.names.setdefault((scope, wanted), _numbered(wanted)), self.made[scope]
        name = next(one for one in names if one.rstrip("_") not in self.taken and one not in made)
        made.add(name)
        return name

    # Comprehensions

    def _comprehensions(self, nodes: Iterable[n.Node], place: _Place) -> None:
        """Decides about the comprehensions in a statement, outer ones first."""
        inside = set[n.Node]()
        for node in nodes:
            if isinstance(node, n.Comprehension):
                self._comprehension(node, place, is_inside=node in inside)
                # A function that is made above the statement asks for its items.
                if node not in self.plan.maps or self.plan.maps[node].name is None:
                    inside.update(walk(node))
            elif isinstance(node, n.RecordDef):
                inside.update(walk(node))

    def _comprehension(self, node: n.Comprehension, place: _Place, *, is_inside: bool) -> None:
        if "asks" not in self.effects.of(node):
            return
        reason = self._keeps_in_order(node)
        found = None if reason else self._mapped(node, place, is_inside)
        if reason is None and found is None:
            reason = Reason(node, "it is inside of another comprehension", "move it to a function")
        if found is not None:
            self.plan.maps[node] = found
            self._begins_ahead(node.item)
        self._note(node, "for several items at once", reason)

    def _mapped(self, node: n.Comprehension, place: _Place, is_inside: bool) -> Mapped | None:
        """Decides how the prompts of a comprehension's items are sent.

        Returns None if no function can send them. A comprehension inside of another one may read
        the variables of the outer one, so a function above the statement cannot send its prompts.
        """
        bound = [symbol for clause in node.clauses for symbol in self.flow.bound(clause)]
        read = {symbol for symbol, _ in self.facts.names.read(node.item)}
        first, *others = [one for one in dict.fromkeys(bound) if one in read] or bound[:1]
        symbols = (first, *others)
        call = None if others else call_of_item(self.facts, node.item, first)
        item = self._new_name("item")
        if call is not None:
            return Mapped(symbols, call, None, item)
        if is_inside:
            is_async = self.plan.awaits is not None
            return None if is_async or others else Mapped(symbols, None, None, item)
        name = self._new_function(f"ask_{first.name if first.name != '_' else 'item'}", place.scope)
        return Mapped(symbols, None, name, item)

    def _keeps_in_order(self, node: n.Comprehension) -> Reason | None:
        first, *others = node.clauses
        if self.facts.forms.loops[first] in IN_PARTS:
            return Reason(first.iterable, STREAMED, UNSTREAMED)
        # All items are taken and tested before the first is asked for.
        lists = [one.iterable for one in others]
        tests = [*lists, *(one for clause in node.clauses for one in clause.conditions)]
        for test in tests:
            what = "the list that it loops over" if test in lists else "the condition"
            if "asks" in self.effects.of(test):
                return Reason(test, f"{what} sends prompts", "collect the answers in a list first")
            unknown = self.effects.first_unknown(test)
            if unknown is not None:
                return of_effect(self.effects, unknown)
            if self._is_told_by_tests(test):
                prints = "prints" in self.effects.of(test)
                words = f"{what} {'prints' if prints else 'reads'}"
                return Reason(test, words, A_LOOP)
        if "asks" not in self.effects.of(node.item):
            words = "only the list that it loops over sends prompts"
            return Reason(node, words, "give that list a name above")
        unknown = self.effects.first_unknown(node.item)
        if unknown is not None:
            return of_effect(self.effects, unknown)
        reason = self.certainty.unpacks(first) or self.certainty.expression(node.item)
        for clause in others:
            reason = reason or self.certainty.unpacks(clause)
        for test in tests:
            reason = reason or self.certainty.expression(test)
        in_a_loop = reason is not None and TO_HEAD in reason.way_out
        return replace(reason, way_out=A_LOOP) if reason and in_a_loop else reason

    def _is_told_by_tests(self, condition: n.Expression) -> bool:
        """Whether testing all items before the first prompt would reorder visible effects."""
        return bool(self.effects.of(condition))

    # Groups

    def _group(self, statements: Sequence[n.Statement], place: _Place) -> tuple[n.Statement, ...]:
        """The leading statements that may send their prompts at the same time."""
        group: list[n.Statement] = []
        assigned = set[Symbol]()
        for statement in statements:
            value = self._early_prompt(statement)
            if value is None:
                break
            read, bound = self.flow.read(value), set(self.flow.bound(statement))
            if (
                (group and self._shows_its_place(value))
                or self._depends(read | bound, assigned)
                or self._read_after_failure(assigned, place) is not None
            ):
                break
            group.append(statement)
            assigned |= bound
        return tuple(group)

    def _depends(self, read: set[Symbol], assigned: set[Symbol]) -> bool:
        """Whether a member of a group needs values of earlier members."""
        return not read.isdisjoint(assigned)

    def _early_prompt(self, statement: n.Statement) -> n.Expression | None:
        """The prompt or call of a statement if it may begin before its turn, else None."""
        match statement:
            case n.AssignStmt(value=n.Prompt() as value):
                if isinstance(self.facts.prompts.get(value), UnionType | LiteralType):
                    return None  # its name needs an annotation
            case n.AssignStmt(value=n.Call() as value) | n.DestructureStmt(value=value):
                pass
            case _:
                return None
        keeps = any(self.facts.keeps_history(one) for one in bound_by(statement))
        # Groups return values, not whole results.
        if keeps or value in self.facts.coercions or value in self.facts.whole_results:
            return None
        match value:
            case n.Prompt():
                pass
            case n.Call(function=function):
                form = self.facts.forms.calls[value]
                is_own = isinstance(form, DirectCall) and isinstance(form.definition, n.FunctionDef)
                is_name = isinstance(function, n.Name) or self.facts.is_imported(function)
                if not is_own or not is_name:
                    return None
            case _:
                return None
        effects = self.effects.of(value)
        if "asks" not in effects or not effects <= _AHEAD:
            return None
        if self.effects.of(*self._made_first(value)) - {"reads"}:
            return None
        return value if self.certainty.expression(value) is None else None

    def _made_first(self, value: n.Expression) -> list[n.Expression]:
        """The expressions that are evaluated before a prompt is sent or a function is called."""
        if isinstance(value, n.Prompt):
            parts = [*value.shown, *value.options_set]
            parts += [] if value.after is None else [value.after]
        else:
            assert isinstance(value, n.Call)
            parts = [argument.value for argument in value.arguments]
        # A function is only shown to the model.
        return [one for one in parts if not isinstance(self.facts.types.get(one), FunctionType)]

    def _shows_its_place(self, value: n.Expression) -> bool:
        """Whether evaluating the arguments of a prompt or call early would be observable."""
        parts = self._made_first(value)
        reasons = (self.certainty.expression(one) for one in parts)
        return bool(self.effects.of(*parts)) or any(one is not None for one in reasons)


def _missing_value(
    loop: n.ForStmt, gives: Sequence[Symbol], certain: Set[Symbol], later: Set[Symbol]
) -> Reason | None:
    """Why a variable in `gives` may have no value after a turn or after the loop, or None.

    Python's checkers do not know that a loop over `overlap(...)` has a turn.
    """
    for symbol in gives:
        if symbol not in certain:
            words = f"`{symbol.name}` is assigned on some paths only"
            return Reason(loop, words, "assign to it on all of them")
        if symbol in later and symbol.node and symbol.node.span.start > loop.span.start:
            return Reason(loop, f"`{symbol.name}` may have no value after the loop", GIVE_VALUE)
    return None


def _is_in(symbol: Symbol, reads: _Reads) -> bool:
    return any(symbol in one for one in reads)


def _numbered(name: str) -> Iterator[str]:
    """Yields the name, then numbered names: `ask_mail`, `ask_mail_2`, `ask_mail_3`, ..."""
    yield name
    for number in count(2):
        yield f"{name}_{number}"


def _own_nodes(statement: n.Statement) -> Iterator[n.Node]:
    """Yields the nodes of a statement, without the nodes of the statements inside of it."""
    if isinstance(statement, n.RecordDef):
        yield from walk(statement)
    elif not isinstance(statement, n.FunctionDef):
        for node in evaluated_by(statement):
            yield from walk(node)
