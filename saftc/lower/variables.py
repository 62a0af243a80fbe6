"""The annotations of variables that Python's type checkers cannot infer from the values.

    notes: list[str] = []             it is filled later
    total: int | float = 0            it holds another kind of number later
    row: dict[str, Any] = {...}       its fields differ in type, and are read one by one

    d: str | None                     it holds None later
    d = doubt(x)

A variable has at most one annotation: beside its first value, or in a line above its first binding.
The annotation is above if the first value has fewer types than the variable and is not just None.
(If the annotation were beside the value, mypy would know only the annotation.) It is also above if
the variable is not bound by `=`, but by a loop, an unpacking, or prompts that are asked together.

Variables whose types the checkers can infer have no annotation, as a person would write them. A
function that runs ahead for a loop has its own variables. Type checkers see destructured names as
`Any`; if a function returns such a name, a line above the destructuring declares it.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from saftc.check.facts import Facts
from saftc.check.forms import Form
from saftc.check.names import Symbol
from saftc.check.statements import all_statements, assigned_by, blocks_of
from saftc.effects.awaits import Wait
from saftc.overlap.async_main import MainSplit
from saftc.overlap.loop_values import bound_types
from saftc.overlap.plan import Plan
from saftc.overlap.prefixes import LoopPrefix
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk
from saftc.types.relations import Assignability, fit
from saftc.types.types import (
    ANY,
    FLOAT,
    INT,
    NEVER,
    NIL,
    RESULT,
    FunctionType,
    ListType,
    LiteralType,
    ObjectType,
    TupleType,
    Type,
    UnionType,
    is_known,
    is_plain_dict,
    item_type,
    members,
    union,
    within,
    without,
)

# A function that runs ahead for a loop, or for the head of a loop, has its own variables. None
# means the variables of the script's own function or module.
Frame = n.ForStmt | LoopPrefix | None


@dataclass(frozen=True, slots=True)
class Annotation:
    """The annotation of a variable that holds plain values, whole results of prompts, or both.

    `type` is the type of the plain values. `results` has `str` if the variable may hold a
    `Result[str]`. If `is_above`, the annotation is in a separate line above the binding.
    """

    type: Type
    is_above: bool
    results: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class _Binding:
    """A statement that binds a variable to a value of `type`, as far as the type is known.

    `value` is the whole assigned expression. It is None if the variable gets a part of a value, or
    an item of a loop. If `is_taken`, Python knows the type by other means, as for a parameter or
    for a list that a loop adds to.
    """

    statement: n.Statement
    type: Type
    is_result: bool = False
    value: n.Expression | None = None
    is_taken: bool = False


class Variables:
    """Decides about the annotations of the variables in the Python module of a script.

    `growth` are the assignments that change the value of their name in place. `entry` has the part
    of the script that `main` runs. Variables that `main` declares global have no annotation there,
    because Python allows none.
    """

    def __init__(
        self,
        facts: Facts,
        plan: Plan,
        growth: Container[n.Statement],
        entry: MainSplit,
    ) -> None:
        self.facts = facts
        self.plan = plan
        self.of = facts.names.of
        self.growth = growth
        self.shared = set(entry.shared)
        self.in_main = set(all_statements(entry.inside))
        self.around: dict[Frame, Frame] = {}
        self.bindings = self._all_bindings()
        self.open = set(self._open_parameters())
        self.returned = set(self._returned_symbols())

    def beside(
        self, statement: n.AssignStmt | n.AugmentedAssignStmt, frame: Frame
    ) -> Annotation | None:
        """The annotation beside the name that `statement` assigns to.

        Returns None if no annotation is needed there.
        """
        found = self._annotated(self.of(statement.name), statement, frame)
        return None if found is None or found.is_above else found

    def list_of_draft(self, statement: n.ForStmt, frame: Frame) -> str:
        """The name of the list that grows in a loop over drafts of a streamed list.

        A draft is the part of the streamed list that has arrived so far.
        """
        (symbol,) = self._bound_outside(statement)
        bindings = (one.statement for one in self._bindings(symbol, frame))
        forms = self.facts.forms.loops
        loops = [o for o in bindings if isinstance(o, n.ForStmt) and forms[o] == Form.GROWING]
        number = loops.index(statement)
        return f"{symbol.name}_so_far_{number + 1}" if number else f"{symbol.name}_so_far"

    def above(
        self, statements: Iterable[n.Statement], frame: Frame
    ) -> Iterator[tuple[n.Statement, Symbol, Annotation]]:
        """Yields the annotations to write in lines above statements that are emitted together.

        Each annotation comes with its statement and its variable.
        """
        for statement in statements:
            for symbol in self._bound_outside(statement):
                found = self._annotated(symbol, statement, frame)
                if found is not None and found.is_above:
                    yield statement, symbol, found

    def _open_parameters(self) -> Iterator[Symbol]:
        """Yields the parameters without a schema to which a value of another type is assigned.

        Type checkers take them for `Any`.
        """
        for function in nodes_of(self.facts.module, n.FunctionDef):
            types = self.facts.functions[function].parameters
            for parameter, type_ in zip(function.parameters, types, strict=True):
                symbol = self.of(parameter.name)
                others = (one.type for one in self._bindings(symbol, None)[1:])
                if parameter.schema is None and any(
                    fit(o, type_) != Assignability.EXACT for o in others
                ):
                    yield symbol

    def _returned_symbols(self) -> Iterator[Symbol]:
        """Yields the variables that decide which type a returned value has for type checkers."""
        for function in nodes_of(self.facts.module, n.FunctionDef):
            if self.facts.functions[function].returns != ANY:
                for node in walk(function):
                    if isinstance(node, n.RetStmt) and node.value is not None:
                        parts = self._sources(node.value, None)
                        yield from (self.of(part) for part in parts if isinstance(part, n.Name))

    def declared(self, symbol: Symbol) -> Annotation:
        """The annotation that declares a module variable which only `main` assigns."""
        type_ = self.facts.lasting_type(symbol)
        is_result = symbol in self.facts.history.does
        return _of_results([type_]) if is_result else Annotation(type_, is_above=True)

    def reads_as_any(self, value: n.Expression, frame: Frame) -> bool:
        """Whether type checkers take a value for `Any`, such as `row["price"]` of a mixed dict."""
        return any(self._is_any(part, frame) for part in self._sources(value, frame))

    def _is_any(self, part: n.Expression, frame: Frame) -> bool:
        match part:
            case n.Name():
                symbol = self.of(part)
                bindings = self._bindings(symbol, frame)
                is_result = symbol in self.facts.history.does
                return symbol in self.open or (
                    not is_result
                    and _changes_type(bindings)
                    and not is_known_to_checkers(bindings, self._held(symbol, bindings))
                )
            case n.Member(value=owner) | n.Index(value=owner):
                return _is_mixed(self.facts.type_of(owner))
            case n.Call():
                awaits = self.plan.awaits
                return awaits is not None and awaits.of(part) == Wait.THREAD
            case _:
                return False

    def _sources(self, value: n.Expression, frame: Frame) -> Iterator[n.Expression]:
        """Yields a value and its parts that decide whether type checkers see the value as `Any`."""
        pending, seen = [value], set[Symbol]()
        while pending:
            part = pending.pop()
            yield part
            match part:
                case n.Name() if (symbol := self.of(part)) not in seen:
                    seen.add(symbol)
                    bindings = self._bindings(symbol, frame)
                    is_followed = bindings and symbol not in self.facts.history.does
                    if is_followed and not _changes_type(bindings) and bindings[0].value:
                        pending.append(bindings[0].value)
                case n.Member() | n.TupleMember() | n.Index() | n.Slice():
                    pending.append(part.value)
                case n.Unary():
                    pending.append(part.operand)
                case n.Binary() | n.Comparison() | n.Logical():
                    pending += [part.left, part.right]
                case n.Conditional():
                    pending += [part.then, part.other]
                case _:
                    pass

    def is_global(self, symbol: Symbol, frame: Frame) -> bool:
        """Whether code in `frame` that uses a symbol refers to a variable of the module.

        Otherwise it refers to a variable of a function.
        """
        is_at_top = symbol.scope is self.facts.names.scopes[self.facts.module]
        is_here = is_at_top and self._frame_of(symbol, frame) is None
        return is_here and (self.plan.awaits is None or symbol in self.shared)

    def _frame_of(self, symbol: Symbol, frame: Frame) -> Frame:
        """The frame whose variable the code in `frame` uses for a symbol.

        A frame is a function that runs ahead for a loop. Returns `frame` itself or the nearest
        frame around it that binds the symbol, or None if there is none.
        """
        while frame is not None and not self.bindings.get((symbol, frame)):
            frame = self.around.get(frame)
        return frame

    def _bindings(self, symbol: Symbol, frame: Frame) -> Sequence[_Binding]:
        return self.bindings.get((symbol, self._frame_of(symbol, frame)), ())

    def _all_bindings(self) -> dict[tuple[Symbol, Frame], list[_Binding]]:
        """Maps each Python variable (a symbol in a frame) to its bindings in source order."""
        facts, plan, of = self.facts, self.plan, self.of
        self.bindings = found = dict[tuple[Symbol, Frame], list[_Binding]]()

        def add(symbol: Symbol, frame: Frame, binding: _Binding) -> None:
            if isinstance(frame, LoopPrefix) and symbol in frame.keeps:
                frame = self._frame_of(symbol, self.around[frame])
            found.setdefault((symbol, frame), []).append(binding)

        def visit(statements: Iterable[n.Statement], frame: Frame) -> None:
            for one in statements:
                ahead = plan.loops.get(one) if isinstance(one, n.ForStmt) else None
                if isinstance(one, n.FunctionDef):
                    for parameter in one.parameters:
                        add(of(parameter.name), None, _Binding(one, ANY, is_taken=True))
                    visit(one.body, None)
                    continue
                inner: Frame = frame
                if ahead is not None and isinstance(one, n.ForStmt):
                    inner = ahead.head or one
                    self.around |= {one: frame, inner: frame}
                value = one.value if isinstance(one, n.AssignStmt | n.AugmentedAssignStmt) else None
                for name in assigned_by(one):
                    types = [facts.type_of(value)] if value else bound_types(facts, one, name)
                    types = [RESULT] if value in facts.whole_results else types
                    is_result, is_taken = facts.keeps_history(name), ahead is not None
                    binding = _Binding(one, union(types), is_result, value, is_taken)
                    add(of(name), inner, binding)
                if ahead is None:
                    for block in blocks_of(one):
                        visit(block, frame)
                    continue
                assert isinstance(one, n.ForStmt)
                for symbol in ahead.grows:
                    add(symbol, one, _Binding(one, ANY, is_taken=True))
                for given in ahead.gives:
                    add(given.symbol, frame, _Binding(one, given.type, given.is_result))
                if ahead.head is not None:
                    visit(one.body[: ahead.start], ahead.head)
                    for given in ahead.head.gives:
                        add(given.symbol, one, _Binding(one, ANY, is_taken=True))
                visit(one.body[ahead.start : ahead.cut], one)
                visit(one.body[ahead.cut :], frame)

        visit(facts.module.statements, None)
        return found

    def _bound_outside(self, statement: n.Statement) -> list[Symbol]:
        """The variables that a statement binds for the code around it.

        If a part of a loop runs ahead, these are the variables that this part returns.
        """
        ahead = self.plan.loops.get(statement) if isinstance(statement, n.ForStmt) else None
        if ahead is not None:
            return [one.symbol for one in ahead.gives]
        return [self.of(name) for name in assigned_by(statement)]

    def _annotated(self, symbol: Symbol, statement: n.Statement, frame: Frame) -> Annotation | None:
        """The annotation that a variable gets at its first binding.

        Returns None if `statement` is not the first binding, or if no annotation is needed.
        """
        first, *others = bindings = self._bindings(symbol, frame)
        if first.statement is not statement or first.is_taken:
            return None
        if symbol.name == "_" or (symbol in self.shared and statement in self.in_main):
            return None  # nothing reads it, or it is declared global
        own, type_ = self._kept(first), self._held(symbol, bindings)
        value = None if first.is_result else first.value
        if len({one.is_result for one in bindings}) > 1:
            return _of_bindings(bindings)
        if own is not None and all(self._holds_for(own, one) for one in others):
            type_ = own
        elif _changes_type(bindings) and (value is None or not _holds_empty(value)):
            if first.is_result:
                return _of_bindings(bindings)
            if not is_known(type_):
                type_ = ANY
        elif value is None:
            return self.returned_field(symbol, statement, first)
        elif not _holds_empty(value) and not (
            (_has_object(value) and is_known(type_) and self._is_read(type_))
            or self._lists_functions(type_)
        ):
            return None
        if own is None and not is_known_to_checkers(bindings, type_):
            type_ = ANY
        return Annotation(type_, value is None or says_less(first.type, type_))

    def returned_field(
        self, symbol: Symbol, statement: n.Statement, first: _Binding
    ) -> Annotation | None:
        """The annotation of a destructured name that a function returns. None for other names.

        Type checkers take destructured names for `Any`.
        """
        if not isinstance(statement, n.DestructureStmt) or symbol not in self.returned:
            return None
        of = {self.of(one.name): one.schema for one in statement.fields}
        type_ = self.facts.schemas[of[symbol]]
        return _of_results([type_]) if first.is_result else Annotation(type_, is_above=True)

    def _held(self, symbol: Symbol, bindings: Sequence[_Binding]) -> Type:
        """The type of all values that a variable holds.

        A list that grows in place has a single list type.
        """
        schemas = (self._kept(one) or NEVER for one in bindings)
        type_ = union((*schemas, *(one.type for one in bindings)))
        if ANY in within(type_) or NEVER in within(type_):
            type_ = self.facts.symbols.get(symbol, NEVER)
        found = members(type_)
        is_list = all(isinstance(member, ListType) for member in found)
        if is_list and len(found) > 1 and any(one.statement in self.growth for one in bindings):
            return ListType(item_type(type_))
        return type_

    def _kept(self, binding: _Binding) -> Type | None:
        """The annotation that the script has for a name at a binding.

        None if Python needs no annotation. Python needs none for most prompts, since the call of
        `prompt` already has the type.
        """
        statement = binding.statement
        if not isinstance(statement, n.AssignStmt) or statement.schema is None or binding.is_result:
            return None
        wanted = self.facts.schemas[statement.schema]
        if isinstance(statement.value, n.Prompt):
            return wanted if isinstance(wanted, UnionType | LiteralType) else None
        return wanted

    def _holds_for(self, own: Type, binding: _Binding) -> bool:
        """Whether a variable with the annotation `own` may hold the value of another binding."""
        statement = binding.statement
        if isinstance(statement, n.AssignStmt):
            held = self.facts.held.get(statement.name)
            if held is not None and self.facts.schemas[held] == own:
                return True  # Saft itself has checked this
        return fit(binding.type, own) == Assignability.EXACT

    def _lists_functions(self, type_: Type) -> bool:
        """Whether a type is a list of functions with different parameters.

        mypy takes such functions for `function`, which is not callable.
        """
        items = members(type_.item) if isinstance(type_, ListType) else ()
        known = (one.definition for one in items if isinstance(one, FunctionType))
        functions = [self.facts.functions[one] for one in known]
        return len({one.parameters for one in functions}) > 1

    def _is_read(self, type_: Type) -> bool:
        """Whether a type includes an object type whose fields the script reads one by one.

        The object type counts only if it has no class and its fields differ in type.
        """
        return any(
            one.fields in self.facts.read_shapes and len({field.type for field in one.fields}) > 1
            for one in within(type_)
            if isinstance(one, ObjectType)
        )


def _of_results(types: Iterable[Type]) -> Annotation:
    return Annotation(NEVER, is_above=True, results=tuple(dict.fromkeys(types)))


def _of_bindings(bindings: Sequence[_Binding]) -> Annotation:
    """The annotation of a variable that holds results and plain values: `Result[str] | str`."""
    results = dict.fromkeys(one.type for one in bindings if one.is_result)
    plain = union(one.type for one in bindings if not one.is_result)
    return Annotation(plain, is_above=True, results=tuple(results))


def _is_mixed(type_: Type) -> bool:
    """Whether a type includes an object without a class whose fields differ in type.

    Its annotation is `dict[str, Any]`.
    """
    return any(
        isinstance(member, ObjectType)
        and not member.is_declared
        and len({field.type for field in member.fields}) != 1
        for member in members(type_)
    )


def _holds_empty(value: n.Expression) -> bool:
    """Whether the value is an empty list or object, or contains one."""
    match value:
        case n.ListLiteral(items=items):
            parts_ = (item.value if isinstance(item, n.Spread) else item for item in items)
            return not items or any(map(_holds_empty, parts_))
        case n.TupleLiteral(items=items):
            return any(map(_holds_empty, items))
        case n.ObjectLiteral(fields=fields):
            return not fields or any(_holds_empty(field.value) for field in fields)
        case n.Conditional(then=then, other=other):
            return _holds_empty(then) or _holds_empty(other)
        case _:
            return False


def _changes_type(bindings: Sequence[_Binding]) -> bool:
    """Whether a variable later holds a value of a type that its first value does not have."""
    if not bindings:
        return False
    first, *others = bindings
    later = {part for one in others for part in members(one.type)} - {ANY}
    if first.type == NIL and first.value is not None:
        # Python's checkers wait for the first value that is not None.
        return len(later - {NIL}) > 1
    return any(fit(type_, first.type) != Assignability.EXACT for type_ in later)


def says_less(first: Type, type_: Type) -> bool:
    """Whether the first value of a variable of `type_` has fewer types, and is not just None.

    Numbers count as one type, and so do plain dicts. Such a variable is annotated in a line above:
    mypy would know only the annotation if it were beside the value.
    """
    kinds = set(members(type_))
    is_one = len(kinds) < 2 or kinds <= {INT, FLOAT} or all(map(is_plain_dict, kinds))
    return not is_one and first != NIL and fit(type_, first) != Assignability.EXACT


def is_known_to_checkers(bindings: Sequence[_Binding], type_: Type) -> bool:
    """Whether type checkers know the type of a variable right after an assignment to it.

    They do not know a union with a list or tuple, whose item type they infer from the value. Nor do
    they know a union if a destructuring binds the variable: its names are `Any` to them.
    """
    found = members(without(type_, NIL))
    is_list = any(isinstance(one, ListType | TupleType) for one in found)
    is_any = any(isinstance(one.statement, n.DestructureStmt) for one in bindings)
    return len(found) < 2 or not (is_list or is_any)


def _has_object(value: n.Expression) -> bool:
    return any(isinstance(node, n.ObjectLiteral) for node in walk(value))
