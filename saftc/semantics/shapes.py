"""Object literals that are of a class, as functions that are only called take them.

    home = {x: 1, y: 2}                 home: Home = {"x": 1, "y": 2}
    print(dist(home, {x: 3, y: 4}))

An object literal that such a function takes is of a class, `class Home(TypedDict)`, wherever
Python's checkers see from the place of the literal that it is meant. An object whose keys are not
all written out where it is read is a dict, whatever it holds.
"""

from collections.abc import Iterable, Iterator, Mapping, Set

from saftc.semantics.facts import Facts, Shape
from saftc.semantics.names import Symbol
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
    ANY,
    FieldType,
    ObjectType,
    Type,
    filled,
    union,
    within,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of


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

        A literal in a place where no checker sees its class keeps all like it from having one.
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
