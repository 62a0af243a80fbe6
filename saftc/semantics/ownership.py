"""Which assignments may change a list or an object in place, because no other name holds the value.

    found = []                          found = []
    for word in words:                  for word in words:
        found = found + [word]              found.append(word)

Values are never changed in Saft, and where only one name holds a value, no one can tell. A name
*owns* its list or object from an assignment of a new one (a literal, a comprehension, a sum) until
the value gets anywhere else: into another name or value, into a function, out of the call. Names
that inner functions read never own theirs. While a `for` goes over a value, a name may own it, but
it must not grow.

This is a forward analysis over each function and the module. Its state is the names that own their
values, each with the loops that go over its value; where paths meet, a name owns its value if it
does so on all of them. What is inside of statements and expressions that are not known here counts
as handed on.

What an object that a name owns holds, it may own as well: what it was made with, until that gets
anywhere else. Then the list in it grows in place.

    state = {seen: []}                          state = {"seen": []}
    state = {...state, seen: state.seen + [i]}  state["seen"].append(i)
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from saftc.flow.forward import Forward, Loop
from saftc.flow.statements import bound_by
from saftc.semantics.builtins import Holds
from saftc.semantics.facts import Facts
from saftc.semantics.failure import never_fails
from saftc.semantics.forms import (
    Added,
    Append,
    BuiltinCall,
    Cut,
    Extend,
    Form,
    Grown,
    Growth,
    Put,
    Within,
)
from saftc.semantics.names import Symbol
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import ANY, NEVER, ListType, MapType, ObjectType, is_only, members
from saftc.syntax import nodes as n
from saftc.syntax.constructs import construct_of
from saftc.syntax.walk import children, walk

# They are done with what they evaluate, and keep none of it.
_DROPS = (n.ExpressionStmt, n.IfStmt, n.ForStmt, n.WhileStmt, n.AssertStmt)
_Assignment = n.AssignStmt | n.AugmentedAssignStmt


class _Inside(NamedTuple):
    """What the object of a name holds under a key; None: under each key that it has."""

    symbol: Symbol
    key: str | None


_Place = Symbol | _Inside
_Entries = Sequence[n.Entry]
# The names and what is inside of them that own their values, each with the loops that went over it.
# What is inside is owned where the name owns its object, too.
_State = dict[_Place, frozenset[Loop]]


def find_growth(facts: Facts) -> dict[n.Statement, Growth]:
    """The assignments that change the value of their name in place, and how."""
    captured = _captured(facts)
    found: dict[n.Statement, Growth] = {}
    for owner in facts.names.scopes:
        if isinstance(owner, n.Module):
            _Finder(facts, captured, found).block(owner.statements, {})
        elif isinstance(owner, n.FunctionDef):
            _Finder(facts, captured, found).block(owner.body, {})
    return found


def _captured(facts: Facts) -> set[Symbol]:
    """What functions read of the scopes around them."""
    return {symbol for captured in facts.names.captures.values() for symbol in captured}


class _Finder(Forward[_State]):
    def __init__(
        self,
        facts: Facts,
        captured: set[Symbol],
        found: dict[n.Statement, Growth],
    ) -> None:
        super().__init__()
        self.facts = facts
        self.captured = captured
        self.found = found

    # Statements

    def evaluate(self, node: n.Expression, statement: n.Statement, state: _State) -> _State:
        # What the object of the name itself holds, it goes on to hold.
        entries = self._changed(statement)
        nodes = (node,) if entries is None else entries
        is_kept = not isinstance(statement, _DROPS)
        state = _without(state, (p for one in nodes for p in self._handed_on(one, is_kept=is_kept)))
        if isinstance(statement, n.ForStmt):
            viewed = set(self._viewed(node))
            marked = [place for place in state if _touches(place, viewed)]
            state = state | {place: state[place] | {statement} for place in marked}
        return state

    def bind(self, statement: n.Statement, state: _State) -> _State:
        if isinstance(statement, _Assignment):
            return self._assign(statement, state)
        return _without(state, map(self.facts.names.of, bound_by(statement)))

    def join(self, states: Sequence[_State]) -> _State:
        """A name owns its value if it does so on all ways."""
        first, *others = states
        met = dict(first)
        for other in others:
            met = {place: loops | other[place] for place, loops in met.items() if place in other}
        return met

    def _assign(self, statement: _Assignment, state: _State) -> _State:
        symbol = self.facts.names.of(statement.name)
        growth = self._growth(statement, symbol, state)
        if growth is not None and self._may_change(symbol, state):
            self.found[statement] = growth
        else:
            self.found.pop(statement, None)
        if not self._is_new(statement.value) or symbol in self.captured:
            return _without(state, (symbol,))
        entries = self._changed(statement)
        if entries is None:
            state, entries = _emptied(symbol, statement.value, state)
        return {**self._filled(symbol, entries, state), symbol: frozenset()}

    def _filled(self, symbol: Symbol, entries: _Entries, state: _State) -> _State:
        """The state when the object of a name has got entries."""
        for entry in entries:
            is_new = not isinstance(entry, n.Spread) and self._is_new(entry.value)
            if not isinstance(entry, n.Field):
                state = state if is_new else _without(state, (_Inside(symbol, None),))
            elif is_new:
                state = {**state, _Inside(symbol, entry.key.text): frozenset()}
            else:
                state = _without(state, (_Inside(symbol, entry.key.text),))
        return state

    def _changed(self, statement: n.Statement) -> _Entries | None:
        """What `name = {...name, key: value}` gives the object of its name anew."""
        match statement:
            case n.AssignStmt(
                name=name,
                value=n.ObjectLiteral(fields=(n.Spread(value=n.Name() as read), *entries)),
            ) if self.facts.names.of(read) is self.facts.names.of(name):
                return entries
            case _:
                return None

    def _may_change(self, place: _Place, state: _State) -> bool:
        """Whether a value can be changed in place: it is owned, and no loop goes over it."""
        loops = state.get(place)
        return loops is not None and self._around.isdisjoint(loops)

    @property
    def _around(self) -> set[Loop]:
        """The loops around, the values of which must not grow."""
        return {turn.loop for turn in self.turns}

    def _place(self, node: n.Node) -> _Place | None:
        """The place that an expression reads, if it can be owned."""
        match node:
            case n.Name():
                return self.facts.names.of(node)
            case n.Member(value=n.Name() as owner, name=name):
                return _Inside(self.facts.names.of(owner), name.text)
            case n.Index(value=n.Name() as owner):
                return _Inside(self.facts.names.of(owner), None)
            case n.Call(arguments=(n.Argument(value=n.Name() as owner), *_)):
                is_get = self._holds(node) == "default"
                return _Inside(self.facts.names.of(owner), None) if is_get else None
            case _:
                return None

    def _mentioned(self, node: n.Node) -> Iterator[Symbol]:
        for inner in walk(node):
            symbol = self.facts.names.symbols.get(inner)
            if symbol is not None:
                yield symbol

    # Expressions

    def _handed_on(self, node: n.Node, *, is_kept: bool) -> Iterator[_Place]:
        """The places whose values somebody else may hold afterwards."""
        match node:
            case n.Name():
                symbol = self.facts.names.of(node)
                yield symbol if is_kept else _Inside(symbol, None)
            case n.Literal():
                return
            case n.ListLiteral() | n.TupleLiteral():
                for item in node.items:
                    yield from self._handed_on(item, is_kept=True)
            case n.ObjectLiteral():
                for entry in node.fields:
                    yield from self._handed_on(entry, is_kept=True)
            case n.Spread():
                yield from self._handed_on(node.value, is_kept=False)
            case n.Field():
                yield from self._handed_on(node.value, is_kept=True)
            case n.ComputedField():
                yield from self._handed_on(node.key, is_kept=False)
                yield from self._handed_on(node.value, is_kept=True)
            case n.Call():
                yield from self._handed_to(node, is_kept=is_kept)
            case n.Index() | n.Member() if (place := self._place(node)) is not None:
                if is_kept:
                    yield place
                if isinstance(node, n.Index):
                    yield from self._handed_on(node.key, is_kept=False)
            case n.Index():
                yield from self._handed_on(node.value, is_kept=False)
                yield from self._handed_on(node.key, is_kept=False)
            case n.Member() | n.TupleMember():
                yield from self._handed_on(node.value, is_kept=False)
            case n.Slice():
                for part in (node.value, node.start, node.stop, node.step):
                    if part is not None:
                        yield from self._handed_on(part, is_kept=False)
            case n.Unary():
                yield from self._handed_on(node.operand, is_kept=False)
            case n.Binary() | n.Comparison() | n.Logical():
                yield from self._handed_on(node.left, is_kept=False)
                yield from self._handed_on(node.right, is_kept=False)
            case n.Conditional():
                yield from self._handed_on(node.condition, is_kept=False)
                yield from self._handed_on(node.then, is_kept=is_kept)
                yield from self._handed_on(node.other, is_kept=is_kept)
            case n.Comprehension():
                yield from self._handed_on(node.item, is_kept=True)
                for clause in node.clauses:
                    for part in (clause.iterable, *clause.conditions):
                        yield from self._handed_on(part, is_kept=False)
            case n.FormattedString() | n.Prompt(mode="plain" | "do", options=None, after=None):
                # What is interpolated is text from then on.
                for part in node.parts:
                    is_hole = isinstance(part, n.FormatHole | n.Hole)
                    if is_hole and not isinstance(part.value, n.Name):
                        yield from self._handed_on(part.value, is_kept=False)
            case _:
                yield from self._mentioned(node)

    def _handed_to(self, node: n.Call, *, is_kept: bool) -> Iterator[_Place]:
        yield from self._handed_on(node.function, is_kept=False)
        place = self._place(node)
        if is_kept and place is not None:
            yield place
        for position, argument in enumerate(node.arguments):
            is_looked_at = self._is_looked_at(node, position)
            is_whole = self._holds(node) == "nothing" or place is not None
            if not (isinstance(argument.value, n.Name) and is_looked_at and is_whole):
                yield from self._handed_on(argument.value, is_kept=not is_looked_at)

    def _is_looked_at(self, node: n.Call, position: int) -> bool:
        """Whether a call is done with an argument when it gives its value."""
        if node.arguments[position].name is not None:
            return False
        match self._holds(node):
            case "nothing" | "items":
                return True
            case "default":
                return position < 2
            case "one":
                return sum(argument.name is None for argument in node.arguments) == 1
            case "arguments":
                return False

    def _holds(self, node: n.Expression) -> Holds:
        """What of its arguments the value of a call may hold."""
        form = self._builtin(node)
        return "arguments" if form is None else form.builtin.holds

    def _builtin(self, node: n.Expression) -> BuiltinCall | None:
        """The call of a builtin by its name."""
        form = self.facts.forms.calls.get(node) if isinstance(node, n.Call) else None
        return form if isinstance(form, BuiltinCall) else None

    def _is_new(self, node: n.Expression) -> bool:
        """Whether the value is a list or an object that nothing has held before."""
        match node:
            case n.ListLiteral() | n.ObjectLiteral() | n.Comprehension():
                return True
            case n.Binary(operator="+") | n.Slice():
                return is_only(self.facts.type_of(node), "list")
            case n.Call():
                is_list = is_only(self.facts.types.get(node, ANY), "list")
                return is_list and self._holds(node) in ("nothing", "items")
            case n.Conditional():
                return self._is_new(node.then) and self._is_new(node.other)
            case _:
                return False

    def _viewed(self, node: n.Expression) -> Iterator[_Place]:
        """The places whose values are gone over where the value of `node` is."""
        place = self._place(node)
        match node:
            case _ if place is not None:
                yield place
            case n.Conditional():
                yield from self._viewed(node.then)
                yield from self._viewed(node.other)
            case n.Call() if (form := self._builtin(node)) and form.way.python.is_iterator:
                for argument in node.arguments:
                    yield from self._viewed(argument.value)
            case _:
                return

    # How a name's value grows

    def _growth(self, statement: _Assignment, symbol: Symbol, state: _State) -> Growth | None:
        is_annotated = isinstance(statement, n.AssignStmt) and statement.schema is not None
        if is_annotated:
            return None
        read, growth = self._grown(statement.value, state)
        if growth is None or self._place(read) is not symbol:
            return None
        # The first assignment can be annotated with what the name holds later.
        is_told = isinstance(symbol.node, n.AssignStmt) or self.facts.types.get(
            read
        ) == self.facts.types.get(statement.value)
        return growth if is_told else None

    def _grown(self, value: n.Expression, state: _State) -> tuple[n.Expression, Growth | None]:
        """What a list or object was before it grew or shrank to `value`, and how it did."""
        match value:
            case n.Binary(operator="+", left=read, right=right):
                growth = self._grown_list(right) if self._is_native(value) else None
                kind = "list"
            case n.ListLiteral(items=(n.Spread(value=read), first, *others)):
                is_alone = isinstance(first, n.Spread) and not others
                growth = Extend(first) if is_alone else Append((first, *others))
                kind = "list"
            case n.Slice(value=read, start=start, stop=stop, step=None):
                is_native = self.facts.forms.items.get(value) == Form.NATIVE
                is_cut = is_native and (start is None) != (stop is None)
                growth = Cut(start, stop) if is_cut else None
                kind = "list"
            case n.ObjectLiteral(fields=(n.Spread(value=read), first, *others)):
                growth = self._grown_object(read, (first, *others), state)
                kind = "object"
            case _:
                return value, None
        type_, place = self.facts.types.get(read), self._place(read)
        is_known = type_ is not None and is_only(type_, kind) and place is not None
        if growth is None or not is_known or value in self.facts.coercions:
            return read, None
        return read, None if place in self._viewed_by(growth) else growth

    def _is_native(self, node: n.Binary) -> bool:
        return self.facts.forms.operators.get(node) == Form.NATIVE

    def _grown_list(self, added: n.Expression) -> Growth | None:
        match added:
            case n.ListLiteral(items=()):
                return None
            case n.ListLiteral(items=(one,)) if isinstance(one, n.Expression):
                return Append((one,))
            case _:
                return Extend(added)

    def _grown_object(
        self, read: n.Expression, entries: tuple[n.Entry, ...], state: _State
    ) -> Growth | None:
        owners = members(self.facts.types.get(read, ANY))
        declared = [o for o in owners if isinstance(o, ObjectType) and o.is_declared]
        if not all(isinstance(owner, ObjectType | MapType) for owner in owners):
            return None
        if not all(self._has_fields(owner, entries) for owner in declared):
            return None
        within = self._within(read, entries, state) if isinstance(read, n.Name) else None
        if within is not None:
            return within
        match entries:
            case (n.Field() | n.ComputedField() as one,):
                is_in_order = isinstance(one, n.Field) or self._in_any_order(one)
                return Put(entries, is_item=is_in_order)
            case _:
                return Put(entries, is_item=False)

    def _within(self, read: n.Name, entries: tuple[n.Entry, ...], state: _State) -> Within | None:
        """How what an object holds grows: entry by entry, as if all were made before one changes.

        So none but the first may fail, or read what those before it have changed.
        """
        symbol = self.facts.names.of(read)
        found: list[tuple[n.Field | n.ComputedField, Grown | Added | None]] = []
        changed: set[str | None] = set()
        for entry in entries:
            if isinstance(entry, n.Spread):
                return None
            key = entry.key.text if isinstance(entry, n.Field) else None
            seen = set(self._keys_read(symbol, entry))
            is_told = key is not None and None not in seen and changed.isdisjoint(seen)
            if changed and not (is_told and never_fails(self.facts, entry.value)):
                return None
            grown = self._grown_inside(symbol, entry, state)
            if grown is None and isinstance(entry, n.ComputedField):
                return None
            changed.add(key)
            found.append((entry, grown or self._added(symbol, entry)))
        grows = any(isinstance(grown, Grown) for _, grown in found)
        return Within(tuple(found)) if grows else None

    def _added(self, symbol: Symbol, entry: n.Field | n.ComputedField) -> Added | None:
        """What is added to the number or text that an entry of the object of a name replaces."""
        match entry:
            case n.Field(value=n.Binary(left=n.Member() as read, right=right) as value):
                is_same = self._place(read) == _Inside(symbol, entry.key.text)
            case _:
                return None
        is_item = self.facts.forms.members.get(read) == Form.ITEM
        is_plain = not {read, value} & self.facts.coercions.keys()
        is_added = is_same and is_item and is_plain and self.facts.adds_alike(value)
        return Added(value.operator, right) if is_added else None

    def _grown_inside(
        self, symbol: Symbol, entry: n.Field | n.ComputedField, state: _State
    ) -> Grown | None:
        """How what an entry of the object of a name replaces grows to be the value of the entry."""
        if entry.value in self.facts.coercions:
            return None
        read, growth = self._grown(entry.value, {})
        match entry, read:
            case n.Field(), n.Member():
                is_same = self._place(read) == _Inside(symbol, entry.key.text)
                is_written = self.facts.forms.members.get(read) == Form.ITEM
            case n.ComputedField(key=key), n.Call(arguments=(_, taken, default)):
                # What is missing is put in before what is added to it is known.
                is_same = self._is_same(key, taken.value) and isinstance(growth, Append)
                is_same = is_same and never_fails(self.facts, entry.value)
                is_same = is_same and [*self._keys_read(symbol, entry.value)] == [None]
                form = self.facts.forms.calls.get(read)
                is_empty = isinstance(default.value, n.ListLiteral) and not default.value.items
                is_written = is_empty and isinstance(form, BuiltinCall) and form.form == Form.NATIVE
            case n.ComputedField(key=key), n.Index():
                is_same = self._is_same(key, read.key)
                is_written = self.facts.forms.items.get(read) == Form.NATIVE
            case _:
                return None
        place = self._place(read)
        is_own = place is not None and self._may_change(place, state)
        is_inside = isinstance(place, _Inside) and place.symbol is symbol
        # Nothing tells Python's checkers of a list in an object that it holds something else.
        before, after = self.facts.type_of(read), self.facts.type_of(entry.value)
        is_told = fit(after, before) == Fit.EXACT or before == ListType(NEVER)
        if growth is None or not (is_same and is_written and is_own and is_inside and is_told):
            return None
        assert not isinstance(growth, Within)
        return Grown(read, growth)

    def _is_same(self, one: n.Expression, other: n.Expression) -> bool:
        """Whether two names or literals give the same value."""
        match one, other:
            case n.Name(), n.Name():
                return self.facts.names.of(one) is self.facts.names.of(other)
            case n.Literal(value=str() as text), n.Literal(value=str() as again):
                return text == again
            case _:
                return False

    def _keys_read(self, symbol: Symbol, node: n.Node) -> Iterator[str | None]:
        """What is read of the object of a name; None: some or all of it."""
        if isinstance(node, n.Member) and self._place(node) == _Inside(symbol, node.name.text):
            yield node.name.text
            return
        if isinstance(node, n.Name) and self.facts.names.of(node) is symbol:
            yield None
        for child in children(node):
            yield from self._keys_read(symbol, child)

    def _has_fields(self, owner: ObjectType, entries: Sequence[n.Entry]) -> bool:
        """Whether a class of objects has the fields, so that Python's checkers take them."""
        return all(
            isinstance(entry, n.Field)
            and (known := owner.field(entry.key.text)) is not None
            and fit(self.facts.type_of(entry.value), known.type) == Fit.EXACT
            for entry in entries
        )

    def _in_any_order(self, entry: n.ComputedField) -> bool:
        """Whether Python may evaluate the value before the key, as `x[key] = value` does."""
        is_proved = self.facts.forms.keys.get(entry.key) == Form.NATIVE
        return (is_proved and self._is_settled(entry.key)) or self._is_settled(entry.value)

    def _is_settled(self, node: n.Expression) -> bool:
        """Whether it gives the same whenever it is evaluated, and never fails."""
        return never_fails(self.facts, node) and all(map(self._stays, walk(node)))

    def _stays(self, node: n.Node) -> bool:
        """Whether it gives the same as long as its parts do."""
        if isinstance(node, n.Call):
            form = self.facts.forms.calls.get(node)
            return isinstance(form, BuiltinCall) and form.builtin.is_pure
        return construct_of(node).stays

    def _viewed_by(self, growth: Growth) -> set[_Place]:
        """The places whose values are gone over while a value grows."""
        match growth:
            case Extend(added):
                return set(self._viewed(added.value if isinstance(added, n.Spread) else added))
            case Put(entries=(n.Spread(value=value),)):
                return set(self._viewed(value))
            case Append() | Put() | Cut() | Within():
                return set()


def _touches(place: _Place, others: Set[_Place]) -> bool:
    """Whether a place is one of these, or may be, or is inside of one."""
    if isinstance(place, Symbol) or place in others:
        return place in others
    if place.symbol in others or _Inside(place.symbol, None) in others:
        return True
    is_any = place.key is None
    return is_any and any(isinstance(o, _Inside) and o.symbol is place.symbol for o in others)


def _without(state: _State, places: Iterable[_Place]) -> _State:
    """The state when some places do not own their values any more, nor what is inside of those."""
    gone = set(places)
    if not any((one if isinstance(one, Symbol) else one.symbol) in state for one in gone):
        return state
    return {place: loops for place, loops in state.items() if not _touches(place, gone)}


def _emptied(symbol: Symbol, value: n.Expression, state: _State) -> tuple[_State, _Entries]:
    """The state when a name gets a new value, and the entries that tell what is inside of it."""
    state = _without(state, (symbol,))
    if not isinstance(value, n.ObjectLiteral):
        return state, ()
    spreads = [place for place, one in enumerate(value.fields) if isinstance(one, n.Spread)]
    if spreads:
        return state, value.fields[spreads[-1] + 1 :]
    return {**state, _Inside(symbol, None): frozenset()}, value.fields
