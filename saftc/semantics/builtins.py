"""The builtin functions as data: what they take and what they give.

A row says the parameters by the kinds of value they take, and how the result's type follows from
the arguments'. When every argument is certainly of a kind that its parameter takes, the call is
*proved*, and the output uses Python's own form of it (see `codegen/builtins.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from saftc.semantics.types import (
    ANY,
    BOOL,
    DATAFRAME,
    FILE,
    FLOAT,
    IMAGE,
    INT,
    NEVER,
    NIL,
    NUMBER,
    ROW,
    STRING,
    ListType,
    MapType,
    ObjectType,
    TupleType,
    Type,
    is_only,
    item_type,
    kinds,
    members,
    parts,
    union,
    widened,
)

Kinds = frozenset[str]
Result = Callable[[Sequence[Type]], Type]

TEXT = frozenset({"string"})
WHOLE = frozenset({"int"})
NUMBERS = frozenset({"int", "float"})
ITEMS = frozenset({"list", "tuple"})
OBJECT = frozenset({"object"})
TRUTH = frozenset({"bool"})
TABLE = frozenset({"dataframe"})
PROGRAM = frozenset({"program"})
FUNCTION = frozenset({"function"})
# Anything at all.
VALUE: Kinds = frozenset()


@dataclass(frozen=True, slots=True)
class Taken:
    """A parameter: the kinds it takes, and for a list the kinds its items must all be of one of."""

    name: str
    kinds: Kinds
    items: tuple[Kinds, ...] = ()
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class Builtin:
    """A builtin function. `repeats`: its last parameter may be given any number of times;
    `takes_names`: it takes arguments of any name; `by` is a parameter that is given by name alone.

    `gives` is the result's type, or how it follows from the types of the arguments but `by`.
    """

    name: str
    parameters: tuple[Taken, ...]
    gives: Type | Result
    repeats: bool = False
    takes_names: bool = False
    is_pure: bool = False
    by: Taken | None = None

    @property
    def names(self) -> list[str]:
        """The names that its arguments may have."""
        return [one.name for one in (*self.parameters, *([self.by] if self.by else []))]

    def named(self, name: str) -> Taken | None:
        """The parameter of this name, or None."""
        parameters = (*self.parameters, *([self.by] if self.by else []))
        return next((one for one in parameters if one.name == name), None)

    def result(self, arguments: Sequence[Type]) -> Type:
        """The type of a call's value."""
        return self.gives(arguments) if callable(self.gives) else self.gives

    def parameter(self, position: int) -> Taken | None:
        """The parameter that the argument at `position` is for, or None when it is one too many."""
        if position < len(self.parameters):
            return self.parameters[position]
        return self.parameters[-1] if self.repeats else None


def takes(parameter: Taken, argument: Type) -> bool | None:
    """Whether `argument` is certainly right (True), certainly wrong (False), or neither."""
    if not parameter.kinds:
        return True
    found = kinds(argument)
    if found is None:
        return None
    if not found & parameter.kinds:
        return not found
    if not found <= parameter.kinds:
        return None
    return True if not parameter.items else _takes_items(parameter, argument)


def _takes_items(parameter: Taken, argument: Type) -> bool | None:
    if not is_only(argument, *ITEMS):
        return True
    found = kinds(item_type(argument))
    if found is None:
        return None
    if any(found <= wanted for wanted in parameter.items):
        return True
    # Only an empty list of such items would do.
    return None if any(found & wanted for wanted in parameter.items) else False


def wrong_members(parameter: Taken, argument: Type) -> Type:
    """What `argument` may be that the parameter does not take; `NEVER` when nothing is known."""
    if not parameter.kinds or kinds(argument) is None:
        return NEVER
    return union(one for one in members(argument) if not (kinds(one) or set()) <= parameter.kinds)


def taken_words(parameter: Taken, argument: Type) -> str:
    """What a parameter takes instead of `argument`, in words."""
    if not parameter.items or not is_only(argument, *ITEMS):
        return " or ".join(sorted(parameter.kinds))
    return f"a list of {' or of '.join(_ITEM_WORDS[items] for items in parameter.items)}"


_ITEM_WORDS = {NUMBERS: "numbers", TEXT: "strings", TRUTH: "bools"}


def _list_of_items(arguments: Sequence[Type]) -> Type:
    return ListType(item_type(arguments[0]))


def _zip(arguments: Sequence[Type]) -> Type:
    return ListType(TupleType(tuple(item_type(argument) for argument in arguments)))


def _enumerate(arguments: Sequence[Type]) -> Type:
    return ListType(TupleType((INT, item_type(arguments[0]))))


def _values(arguments: Sequence[Type]) -> Type:
    owners = members(arguments[0])
    if not all(isinstance(owner, ObjectType | MapType) for owner in owners):
        return ListType(ANY)
    return ListType(union(value for owner in owners for value in parts(owner)))


def _items(arguments: Sequence[Type]) -> Type:
    return ListType(TupleType((STRING, item_type(_values(arguments)))))


def _get(arguments: Sequence[Type]) -> Type:
    default = arguments[2] if len(arguments) > 2 else NIL
    return union((item_type(_values(arguments)), default))


def _sum(arguments: Sequence[Type]) -> Type:
    item = widened(item_type(arguments[0]))
    # The sum of an empty list is the int 0.
    return ANY if item == ANY else union((INT, item))


def _extreme(arguments: Sequence[Type]) -> Type:
    if len(arguments) == 1 and is_only(arguments[0], *ITEMS):
        return item_type(arguments[0])
    return ANY if len(arguments) == 1 else union(arguments)


def _same_number(arguments: Sequence[Type]) -> Type:
    return arguments[0] if is_only(arguments[0], *NUMBERS) else NUMBER


def _round(arguments: Sequence[Type]) -> Type:
    return INT if len(arguments) == 1 else _same_number(arguments)


def _env(arguments: Sequence[Type]) -> Type:
    return union((STRING, NIL)) if len(arguments) == 1 else union((STRING, arguments[1]))


_ORDERED = (NUMBERS, TEXT)
_BY = Taken("by", FUNCTION, is_required=False)
_REVERSE = Taken("reverse", TRUTH, is_required=False)
_SEVERAL = Taken("items", ITEMS | NUMBERS | TEXT, _ORDERED)

_ROWS = (
    # text
    Builtin("upper", (Taken("text", TEXT),), STRING),
    Builtin("lower", (Taken("text", TEXT),), STRING),
    Builtin("strip", (Taken("text", TEXT),), STRING),
    Builtin(
        "split",
        (Taken("text", TEXT), Taken("separator", TEXT, is_required=False)),
        ListType(STRING),
    ),
    Builtin(
        "join",
        (
            Taken("items", ITEMS | TEXT, (TEXT,)),
            Taken("separator", ITEMS | TEXT, (TEXT,), is_required=False),
        ),
        STRING,
    ),
    Builtin("replace", (Taken("text", TEXT), Taken("old", TEXT), Taken("new", TEXT)), STRING),
    Builtin(
        "contains",
        (Taken("container", TEXT | ITEMS | OBJECT), Taken("item", VALUE)),
        BOOL,
    ),
    Builtin("starts_with", (Taken("text", TEXT), Taken("part", TEXT)), BOOL),
    Builtin("ends_with", (Taken("text", TEXT), Taken("part", TEXT)), BOOL),
    # collections
    Builtin("len", (Taken("value", TEXT | ITEMS | OBJECT | TABLE),), INT),
    Builtin(
        "range",
        (
            Taken("start", WHOLE),
            Taken("stop", WHOLE, is_required=False),
            Taken("step", WHOLE, is_required=False),
        ),
        ListType(INT),
    ),
    Builtin(
        "sorted",
        (Taken("items", ITEMS, _ORDERED), _REVERSE),
        _list_of_items,
        by=_BY,
    ),
    Builtin("reversed", (Taken("items", ITEMS),), _list_of_items),
    Builtin("zip", (Taken("items", ITEMS),), _zip, repeats=True),
    Builtin(
        "enumerate",
        (Taken("items", ITEMS), Taken("start", WHOLE, is_required=False)),
        _enumerate,
    ),
    Builtin("keys", (Taken("object", OBJECT),), ListType(STRING)),
    Builtin("values", (Taken("object", OBJECT),), _values),
    Builtin("items", (Taken("object", OBJECT),), _items),
    Builtin(
        "get",
        (
            Taken("object", OBJECT),
            Taken("key", TEXT),
            Taken("default", VALUE, is_required=False),
        ),
        _get,
    ),
    Builtin("sum", (Taken("items", ITEMS, (NUMBERS,)),), _sum),
    Builtin("min", (_SEVERAL,), _extreme, repeats=True, by=_BY),
    Builtin("max", (_SEVERAL,), _extreme, repeats=True, by=_BY),
    Builtin("any", (Taken("items", ITEMS, (TRUTH,)),), BOOL),
    Builtin("all", (Taken("items", ITEMS, (TRUTH,)),), BOOL),
    # kinds
    Builtin("type", (Taken("value", VALUE),), STRING),
    Builtin("str", (Taken("value", VALUE),), STRING),
    Builtin("int", (Taken("value", NUMBERS | TEXT),), INT),
    Builtin("float", (Taken("value", NUMBERS | TEXT),), FLOAT),
    Builtin("round", (Taken("value", NUMBERS), Taken("digits", WHOLE, is_required=False)), _round),
    Builtin("abs", (Taken("value", NUMBERS),), _same_number),
    Builtin("div", (Taken("a", NUMBERS), Taken("b", NUMBERS)), INT),
    Builtin("json", (Taken("value", VALUE),), STRING),
    Builtin("parse", (Taken("text", TEXT),), ANY),
    # effects
    Builtin(
        "print",
        (Taken("value", VALUE, is_required=False),),
        NIL,
        repeats=True,
    ),
    Builtin("write", (Taken("value", VALUE),), NIL),
    Builtin("read_text", (Taken("path", TEXT),), STRING),
    Builtin("list_files", (Taken("pattern", TEXT),), ListType(STRING)),
    Builtin("write_text", (Taken("path", TEXT), Taken("text", TEXT)), NIL),
    Builtin("append_text", (Taken("path", TEXT), Taken("text", TEXT)), NIL),
    Builtin(
        "input",
        (Taken("question", TEXT, is_required=False),),
        union((STRING, NIL)),
    ),
    Builtin(
        "env",
        (Taken("name", TEXT), Taken("default", VALUE, is_required=False)),
        _env,
    ),
    # tables
    Builtin("read", (Taken("path", TEXT),), DATAFRAME),
    Builtin("shape", (Taken("table", TABLE),), TupleType((INT, INT))),
    Builtin("columns", (Taken("table", TABLE),), ListType(STRING)),
    Builtin("rows", (Taken("table", TABLE),), ListType(ROW)),
    Builtin("head", (Taken("table", TABLE), Taken("count", WHOLE, is_required=False)), DATAFRAME),
    Builtin("select", (Taken("table", TABLE), Taken("names", TEXT | ITEMS, (TEXT,))), DATAFRAME),
    Builtin("mean", (Taken("items", ITEMS, (NUMBERS,)),), FLOAT),
    # media
    Builtin("image", (Taken("path", TEXT),), IMAGE),
    Builtin("file", (Taken("path", TEXT),), FILE),
    # programs
    Builtin("run", (Taken("plan", PROGRAM),), ANY),
    Builtin(
        "option",
        (Taken("text", TEXT), Taken("value", VALUE, is_required=False)),
        ANY,
        takes_names=True,
    ),
    Builtin("ambiguous", (Taken("message", TEXT), Taken("options", ITEMS)), ANY),
)

# `df.height` and so on, as polars names them; `length` is Saft's word for the height.
DATAFRAME_MEMBERS: dict[str, Type] = {
    "columns": ListType(STRING),
    "height": INT,
    "length": INT,
    "shape": TupleType((INT, INT)),
    "width": INT,
}

# Those that only calculate; what others do, the schedule has to be told.
_PURE = frozenset(
    (
        *("upper", "lower", "strip", "split", "join", "replace", "contains", "starts_with"),
        *("ends_with", "len", "range", "sorted", "reversed", "zip", "enumerate", "keys", "values"),
        *("items", "get", "sum", "min", "max", "any", "all", "type", "str", "int", "float"),
        *("round", "abs", "div", "json", "parse", "shape", "columns", "rows", "head", "select"),
        *("mean", "option", "ambiguous"),
    )
)
BUILTINS: dict[str, Builtin] = {
    row.name: replace(row, is_pure=row.name in _PURE) for row in _ROWS
}

_COLUMN = (Taken("items", TABLE), Taken("column", TEXT))

# The same functions of one column of a dataframe.
OF_COLUMN: dict[str, Builtin] = {
    "sum": Builtin("sum", _COLUMN, NUMBER),
    "mean": Builtin("mean", _COLUMN, FLOAT),
    "min": Builtin("min", _COLUMN, union((INT, FLOAT, STRING))),
    "max": Builtin("max", _COLUMN, union((INT, FLOAT, STRING))),
}

# The same functions with a function that says what the items are ordered by.
ORDERED_BY: dict[str, Builtin] = {
    "sorted": Builtin("sorted", (Taken("items", ITEMS), _REVERSE), _list_of_items, by=_BY),
    "min": Builtin("min", (Taken("items", VALUE),), _extreme, repeats=True, by=_BY),
    "max": Builtin("max", (Taken("items", VALUE),), _extreme, repeats=True, by=_BY),
}


def meant(builtin: Builtin, arguments: Sequence[tuple[str | None, Type]]) -> Builtin:
    """The builtin itself, or its form for a column or with `by`, as the arguments, named or not,
    tell.
    """
    if builtin.by is not None and any(name == builtin.by.name for name, _ in arguments):
        return ORDERED_BY[builtin.name]
    of_column = OF_COLUMN.get(builtin.name)
    first = next((type_ for name, type_ in arguments if name in (None, "items")), None)
    if of_column is None or first is None:
        return builtin
    is_named = any(name == "column" for name, _ in arguments)
    has_column = is_named or (len(arguments) == 2 and not builtin.repeats)
    may_be_table = any(member in (ANY, DATAFRAME) for member in members(first))
    return of_column if first == DATAFRAME or (may_be_table and has_column) else builtin


def is_proved(builtin: Builtin, arguments: Sequence[Type]) -> bool:
    """Whether a call with `arguments`, `by` not among them, is certain to be right, so that
    Python's own form does.
    """
    if not arguments:
        return not any(parameter.is_required for parameter in builtin.parameters)
    if builtin in ORDERED_BY.values() and builtin.repeats:
        return len(arguments) > 1 or is_only(arguments[0], *ITEMS)
    if builtin in OF_COLUMN.values():
        return all(takes(p, a) is True for p, a in zip(builtin.parameters, arguments, strict=False))
    if builtin.name in ("min", "max") and len(arguments) > 1:
        found = kinds(union(arguments))
        return found is not None and (found <= NUMBERS or found <= TEXT)
    if builtin.name in ("min", "max", "join") and not is_only(arguments[0], *ITEMS):
        return (
            builtin.name == "join" and is_proved(builtin, (arguments[1], arguments[0]))
            if (len(arguments) == 2 and is_only(arguments[1], *ITEMS))
            else False
        )
    if builtin.name == "join" and len(arguments) == 2 and not is_only(arguments[1], *TEXT):
        return False
    for position, argument in enumerate(arguments):
        parameter = builtin.parameter(position)
        if parameter is None or takes(parameter, argument) is not True:
            return False
    return True
