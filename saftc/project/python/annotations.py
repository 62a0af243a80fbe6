"""Python annotations as types of Saft, or as the classes that they name.

    list[int] | None        [int]?
    float                   int | float, as Python's checkers accept an int for a float
    Annotated[str, ...]     string
    Callable[[int], str]    (int) -> string
    date                    any value, with the members of the class

Annotations are believed, as by Python's type checkers. If Saft has no type for an annotation, any
value is assumed.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from saftc.types.foreign import UNKNOWN, Value
from saftc.types.types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    KEYS,
    NIL,
    NUMBER,
    STRING,
    CallableType,
    ListType,
    MapType,
    ObjectType,
    Scalar,
    TupleType,
    Type,
    base,
    item_type,
    literal_type,
    members,
    union,
    widened,
)

PLAIN: dict[str, Type] = {
    "builtins.bool": BOOL,
    "builtins.float": NUMBER,
    "builtins.int": INT,
    "exact.float": FLOAT,
    "builtins.list": ListType(ANY),
    "builtins.str": STRING,
    "typing.List": ListType(ANY),
    "typing.LiteralString": STRING,
    "types.NoneType": NIL,
    # Pydantic's constrained numbers and strings.
    **dict.fromkeys(("pydantic.StrictInt", "pydantic.PositiveInt", "pydantic.NegativeInt"), INT),
    **dict.fromkeys(("pydantic.NonNegativeInt", "pydantic.NonPositiveInt"), INT),
    **dict.fromkeys(("pydantic.StrictFloat", "pydantic.PositiveFloat"), NUMBER),
    **dict.fromkeys(("pydantic.NegativeFloat", "pydantic.NonNegativeFloat"), NUMBER),
    "pydantic.StrictBool": BOOL,
    **dict.fromkeys(("pydantic.StrictStr", "pydantic.EmailStr"), STRING),
}
# Qualifiers around the type of a field or name.
AROUND = ("Annotated", "ClassVar", "Final", "NotRequired", "ReadOnly", "Required")

# The builtin classes that accept values of a kind.
_CLASSES: dict[Scalar, tuple[type, ...]] = {
    STRING: (str,),
    INT: (int, float, complex),
    FLOAT: (float, complex),
    BOOL: (bool, int, float, complex),
}
_CONCRETE: dict[str, type] = {
    f"builtins.{one.__name__}": one
    for one in (
        *(str, int, float, complex, bool, bytes, bytearray, memoryview),
        *(list, tuple, dict, set, frozenset, slice, range, type),
    )
}
_ITERABLE = ("Sequence", "Iterable", "Collection", "MutableSequence", "Container", "Reversible")
# The results of numbers for protocols with one of these methods alone.
_OF_NUMBERS = {"__floor__": INT, "__ceil__": INT, "__trunc__": INT}


class Named(Protocol):
    """A class or type alias that an annotation names."""

    @property
    def value(self) -> Value:
        """The type or members of a value, such as a parameter, that has this annotation."""
        ...

    def admits(self, type_: Type) -> bool:
        """Whether a value of this Saft type can have this annotation."""
        ...

    @property
    def only_method(self) -> str | None:
        """The name of the only method that a protocol requires; None for other classes."""
        ...

    @property
    def is_told(self) -> bool:
        """Whether a model's field of this type is checked without running code of the user."""
        ...


@dataclass(frozen=True, slots=True)
class Variable:
    """A type variable. `bounds` are its constraints, if it has any."""

    name: str
    bounds: tuple[ast.expr, ...] = ()


# The meaning of a name in an annotation; for a well-known module, the name with that of the
# module, such as `typing.Optional`.
Meaning = str | Named | Variable | None
Scope = Callable[[ast.expr], Meaning]


def read(node: ast.expr | None, scope: Scope, variables: Mapping[str, Type] | None = None) -> Value:
    """The type, or the members, of values that have an annotation.

    `variables` maps the names of type variables to their types.
    """
    known: Mapping[str, Type] = {} if variables is None else variables

    def type_of(part: ast.expr) -> Type:
        return read(part, scope, known).type

    match node:
        case None:
            return UNKNOWN
        case ast.Constant(value=None):
            return Value(NIL)
        case ast.Constant(value=str() as text):
            return read(quoted(text), scope, known)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Value(union((type_of(left), type_of(right))))
        case ast.Subscript(value=value, slice=inside):
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            meaning = scope(value)
            if isinstance(meaning, str):
                return _generic(meaning, parts, scope, known)
            return UNKNOWN if meaning is None or isinstance(meaning, Variable) else meaning.value
        case _:
            pass
    match scope(node):
        case None:
            return UNKNOWN
        case str() as name:
            return Value(PLAIN.get(name, ANY))
        case Variable(name):
            return Value(known.get(name, ANY))
        case named:
            return named.value


def _generic(
    name: str, parts: Sequence[ast.expr], scope: Scope, known: Mapping[str, Type]
) -> Value:
    def type_of(part: ast.expr) -> Type:
        return read(part, scope, known).type

    match name.split(".")[-1], parts:
        case "list" | "List", [item]:
            return Value(ListType(type_of(item)))
        case "tuple" | "Tuple", [*items] if not any(map(_is_ellipsis, items)):
            return Value(TupleType(tuple(map(type_of, items))))
        case "dict" | "Dict", [key, value]:
            kind = type_of(key)
            if isinstance(kind, Scalar) and kind in KEYS:
                return Value(MapType(type_of(value), kind))
            return UNKNOWN
        case "Callable", [ast.List(elts=taken), given]:
            result = type_of(given)
            # Any value may be an awaitable.
            return (
                UNKNOWN
                if result == ANY
                else Value(CallableType(tuple(map(type_of, taken)), result))
            )
        case "Optional", [item]:
            return Value(union((type_of(item), NIL)))
        case "Union", [*items]:
            return Value(union(map(type_of, items)))
        case "Literal", [*items]:
            return Value(union(map(literal_of, items)))
        case word, [item, *_] if word in AROUND:
            return read(item, scope, known)
        case _:
            return UNKNOWN


def quoted(text: str) -> ast.expr | None:
    """Parses a quoted annotation. The result is None if it is not an expression."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def literal_of(node: ast.expr) -> Type:
    """The literal type of a Python literal. It is `any` for other expressions."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return literal_type(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return literal_type(-value)
        case _:
            return ANY


def constant_type(node: ast.expr) -> Type:
    """The type of a literal value, as Python's type checkers infer it.

    The type is `any` if the value's parts differ in type, or if the value is empty or computed.
    """
    match node:
        case ast.List(elts=items) if items:
            return _made_of(map(constant_type, items), ListType)
        case ast.Tuple(elts=items) if items:
            types = tuple(map(constant_type, items))
            return ANY if ANY in types else TupleType(types)
        case ast.Dict(keys=keys, values=values) if keys:
            are_texts = all(one is not None and constant_type(one) == STRING for one in keys)
            return _made_of(map(constant_type, values), MapType) if are_texts else ANY
        case _:
            found = widened(literal_of(node))
            return ANY if found == NIL else found


def _made_of(parts: Iterable[Type], made: Callable[[Type], Type]) -> Type:
    """A collection type if all parts have the same type; otherwise `any`."""
    types = set(parts)
    return made(types.pop()) if len(types) == 1 and ANY not in types else ANY


# Arguments


def admits(node: ast.expr | None, scope: Scope, type_: Type) -> bool:
    """Whether a parameter with this annotation can accept an argument of this type."""
    return any(_admits(node, scope, member) for member in members(widened(type_)))


def _admits(node: ast.expr | None, scope: Scope, type_: Type) -> bool:
    if type_ == ANY:
        return True
    match node:
        case ast.Constant(value=None):
            return type_ == NIL
        case ast.Constant(value=str() as text):
            return _admits(quoted(text), scope, type_)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _admits(left, scope, type_) or _admits(right, scope, type_)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)):
            head, inside = value, parts
        case ast.Subscript(value=value, slice=part):
            head, inside = value, [part]
        case ast.expr():
            head, inside = node, []
        case None:
            return True
    match scope(head):
        case None:
            return True
        case Variable(bounds=bounds):
            return not bounds or any(_admits(one, scope, type_) for one in bounds)
        case "typing.Literal":
            values = union(map(literal_of, inside))
            return any(base(one) in (type_, ANY) for one in members(values))
        case "typing.Union":
            return any(_admits(one, scope, type_) for one in inside)
        case "typing.Optional":
            return type_ == NIL or any(_admits(one, scope, type_) for one in inside)
        case str() as name:
            return name not in _CONCRETE or _CONCRETE[name] in classes_of(type_)
        case named:
            return named.admits(type_)


def classes_of(type_: Type) -> tuple[type, ...]:
    """The builtin classes that values of a type can be instances of."""
    match type_:
        case ListType():
            return (list,)
        case TupleType():
            return (tuple,)
        case ObjectType() | MapType():
            return (dict,)
        case Scalar():
            return _CLASSES.get(type_, ())
        case _:
            return tuple(_CONCRETE.values())


def solve(node: ast.expr | None, scope: Scope, type_: Type, found: dict[str, Type]) -> None:
    """Adds to `found` the types of the type variables in a parameter's annotation.

    The types are inferred from `type_`, the type of the argument.
    """
    match node:
        case ast.Subscript(value=value, slice=part) if not isinstance(part, ast.Tuple):
            meaning, inner = scope(value), scope(part)
            item = _item(type_, meaning)
            if item is not None:
                solve(part, scope, item, found)
            elif isinstance(inner, Variable):
                found[inner.name] = ANY
        case ast.Name() | ast.Attribute():
            variable = scope(node)
            if isinstance(variable, Variable):
                asked = [
                    read(one, scope).type for one in variable.bounds if _admits(one, scope, type_)
                ]
                given = union(asked) if variable.bounds else widened(type_)
                found[variable.name] = union((found.get(variable.name, given), given))
        case ast.expr():
            for part in ast.walk(node):
                variable = scope(part) if isinstance(part, ast.Name | ast.Attribute) else None
                if isinstance(variable, Variable):
                    found[variable.name] = ANY
        case None:
            return


def _item(type_: Type, meaning: Meaning) -> Type | None:
    """The type that the only type variable of a generic class gets from an argument.

    `type_` is the type of the argument, and `meaning` the class that annotates the parameter. The
    result is None if nothing is known about the variable.
    """
    match meaning:
        case None | Variable():
            return None
        case str() as name:
            is_list = name in ("builtins.list", "typing.List")
            word = name.split(".")[-1]
            if type_ == STRING and word in _ITERABLE:
                return STRING
            found = item_type(type_) if is_list or word in _ITERABLE else ANY
        case named:
            method = named.only_method or ""
            if method in _OF_NUMBERS:
                is_number = all(one in (BOOL, *NUMBER.members) for one in members(type_))
                return _OF_NUMBERS[method] if is_number else None
            is_sequence = named.only_method == "__getitem__"
            found = ANY if not is_sequence else STRING if type_ == STRING else item_type(type_)
    return None if found == ANY else found
