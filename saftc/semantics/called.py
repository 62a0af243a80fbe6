"""What the calls of a function say about it: which functions are only called, and with what shapes.

    f dist(a, b):
        ret abs(a.x - b.x)

    home = {x: 1, y: 2}
    print(dist(home, {x: 3, y: 4}))

A function whose every use in its script is a call takes what these calls pass, and nothing else; so
the types of its bare parameters are the join of the arguments. An object literal that it takes is
of a class then, `class Home(TypedDict)`, wherever Python's checkers see from the place of the
literal that it is meant: `home: Home = {...}`. An object whose keys are not all written out where
it is read is a dict, whatever it holds.
"""

from collections.abc import Iterable, Iterator, Mapping, Set

from saftc.semantics.facts import Facts, Shape
from saftc.semantics.names import Symbol
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
    ANY,
    FLOAT,
    INT,
    NEVER,
    NIL,
    BuiltinType,
    FieldType,
    FunctionType,
    ListType,
    LiteralType,
    ObjectType,
    Type,
    UnionType,
    filled,
    members,
    union,
    widened,
    within,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of


def only_called(module: n.Module, facts: Facts) -> set[n.FunctionDef]:
    """The functions of a module that are not conversions and whose every use is a call, or the `by`
    of a builtin, which calls them with the items.
    """
    found: set[n.FunctionDef] = set()
    for function in nodes_of(module, n.FunctionDef):
        if not function.is_conversion and any(one.schema is None for one in function.parameters):
            found.add(function)
    if not found:
        return found
    calls = nodes_of(module, n.Call)
    called = {call.function for call in calls}
    called |= {
        argument.value
        for call in calls
        for argument in call.arguments
        if argument.name is not None
        and argument.name.text == "by"
        and isinstance(call.function, n.Name)
        and facts.names.of(call.function).kind == "builtin"
    }
    used = {facts.names.of(name).node for name in nodes_of(module, n.Name) if name not in called}
    for scope in facts.names.scopes.values():
        for symbol in scope.symbols.values():
            if symbol.starts_from is not None:
                # The function is the first value of a variable.
                used.add(symbol.starts_from.node)
    return found - used


def passed(type_: Type) -> Type:
    """What a parameter is known to be that is given a value of `type_`.

    Which function it is given says nothing of the others that it could be given.
    """
    if any(isinstance(part, FunctionType | BuiltinType) for part in within(type_)):
        return ANY
    return widened(type_)


def settled(type_: Type) -> Type:
    """What all the arguments of a parameter say of it: nothing, when they are empty or nil."""
    says_something = any(
        member not in (NIL, NEVER, ListType(NEVER), ObjectType((), is_declared=False))
        for member in members(type_)
    )
    return filled(type_) if says_something else ANY


def is_mixed(type_: Type) -> bool:
    """Whether a value, or a part of it, may be of several kinds, numbers and nil aside."""
    return any(
        isinstance(part, UnionType) and len(set(_kinds_of(part.members))) > 1
        for part in within(type_)
    )


def _kinds_of(types: Iterable[Type]) -> Iterator[Type]:
    for type_ in types:
        base = type_.base if isinstance(type_, LiteralType) else type_
        if base != NIL:
            yield INT if base == FLOAT else base


# Shapes


def placed_literals(
    module: n.Module, only: Set[n.FunctionDef], facts: Facts
) -> dict[n.Node, Symbol | None]:
    """The object literals from whose place Python's checkers see which class is meant.

    That is the value of a variable, which is given with it, of a bare parameter of one of the
    functions `only`, or of a `ret`, or a part of such a value.
    """
    found: dict[n.Node, Symbol | None] = {}
    kinds = (n.AssignStmt, n.AugmentedAssignStmt, n.RetStmt, n.Call, n.FunctionDef)
    for node in nodes_of(module, *kinds):
        match node:
            case n.AssignStmt(schema=None) | n.AugmentedAssignStmt():
                symbol = facts.names.of(node.name)
                if isinstance(symbol.node, n.AssignStmt) and symbol.starts_from is None:
                    found |= dict.fromkeys(_literals(node.value), symbol)
            case n.RetStmt(value=value) if value is not None:
                found |= dict.fromkeys(_literals(value))
            case n.Call(function=n.Name() as function):
                if facts.names.of(function).node in only:
                    for argument in node.arguments:
                        found |= dict.fromkeys(_literals(argument.value))
            case n.FunctionDef() if node in only:
                for parameter in node.parameters:
                    if parameter.default is not None:
                        found |= dict.fromkeys(_literals(parameter.default))
            case _:
                pass
    return found


def _literals(value: n.Expression) -> Iterator[n.ObjectLiteral]:
    """The object literals that are a value, or a part of it."""
    match value:
        case n.ObjectLiteral(fields=fields):
            # What is spread into one may be a plain dict.
            if len(value.named) == len(fields):
                yield value
            for field in fields:
                yield from _literals(field.value)
        case n.ListLiteral(items=items) | n.TupleLiteral(items=items):
            for item in items:
                yield from _literals(item.value if isinstance(item, n.Spread) else item)
        case n.Conditional(then=then, other=other):
            yield from _literals(then)
            yield from _literals(other)
        case n.Binary(operator="+", left=left, right=right):
            yield from _literals(left)
            yield from _literals(right)
        case n.Comprehension(item=item):
            yield from _literals(item)
        case _:
            return


class Shapes:
    """The classes of object literals, found by inferring again and again until nothing is new.

    `dicts` are the names of fields whose objects stay plain dicts.
    """

    def __init__(self) -> None:
        self.classes: dict[Shape, ObjectType] = {}
        self.dicts: set[frozenset[str]] = set()

    def learn(self, facts: Facts, only: Set[n.FunctionDef]) -> bool:
        """Takes over what functions take, as it was inferred last; whether that is news.

        A literal that stands where no checker sees its class keeps all like it from having one.
        """
        before = facts.classes
        self.dicts.update(map(_names, facts.keyed_shapes))
        for literal, symbol in facts.placed.items():
            type_ = facts.types.get(literal, ANY)
            if isinstance(type_, ObjectType) and symbol and facts.symbols.get(symbol) == ANY:
                self.dicts.add(_names(type_.fields))
        for function in only:
            known = facts.functions[function]
            types = (known.parameters[position] for position in known.from_calls)
            objects = [one for type_ in types for one in _objects(type_)]
            self._drop(objects, before)
            self._classify(objects)
        for given, taken in facts.taken:
            self._drop(_objects(given), before)
            self._adopt(_objects(given), _objects(taken))
        self.classes = {
            shape: one for shape, one in self.classes.items() if _names(shape) not in self.dicts
        }
        return self.classes != before

    def _drop(self, objects: Iterable[ObjectType], known: Mapping[Shape, ObjectType]) -> None:
        for one in objects:
            if not one.is_declared and one.fields in known:
                self.dicts.add(_names(one.fields))

    def _adopt(self, given: Iterable[ObjectType], taken: Iterable[ObjectType]) -> None:
        """Gives objects the classes that functions of other scripts take."""
        for one in given:
            for class_ in taken:
                if not one.is_declared and class_.is_declared and _is_like(one, class_):
                    self.classes.setdefault(one.fields, class_)

    def _classify(self, objects: Iterable[ObjectType]) -> None:
        """Gives what one function takes its classes: objects with the same names have one."""
        own = set(self.classes.values())
        alike: dict[frozenset[str], list[ObjectType]] = {}
        for one in objects:
            if (not one.is_declared or one in own) and _names(one.fields) not in self.dicts:
                alike.setdefault(_names(one.fields), []).append(one)
        for same in alike.values():
            # What is inside of them has its classes first.
            if (len(same) > 1 or same[0] not in own) and all(map(self._is_ready, same)):
                class_ = _joined(same)
                self.classes |= {one.fields: class_ for one in same}
                self.classes |= {s: class_ for s, known in self.classes.items() if known in same}

    def _is_ready(self, type_: ObjectType) -> bool:
        """Whether the objects inside have classes, or are dicts."""
        inside = (part for field in type_.fields for part in _objects(field.type))
        return all(part.is_declared or _names(part.fields) in self.dicts for part in inside)


def _objects(type_: Type) -> list[ObjectType]:
    """The objects with fields in a type."""
    return [part for part in within(type_) if isinstance(part, ObjectType) and part.fields]


def _is_like(one: ObjectType, class_: ObjectType) -> bool:
    """Whether an object has just the fields of a class."""
    return _names(one.fields) == _names(class_.fields) and all(
        (wanted := class_.field(field.name)) is not None
        and fit(field.type, wanted.type) == Fit.EXACT
        for field in one.fields
    )


def _names(shape: Shape) -> frozenset[str]:
    return frozenset(field.name for field in shape)


def _joined(objects: Iterable[ObjectType]) -> ObjectType:
    """The class of objects with the same names: each field is what it is in any of them."""
    first, *others = objects
    fields: list[FieldType] = []
    for field in first.fields:
        same = (other.field(field.name) for other in others)
        types = (field.type, *(one.type for one in same if one is not None))
        fields.append(FieldType(field.name, filled(union(types)), field.doc))
    return ObjectType(tuple(fields), is_declared=True)
