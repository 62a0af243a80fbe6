"""The table of builtin functions: parameters, result, effects, and the equivalent Python.

A row of the table defines a builtin completely, except that the code generator has special code for
the few builtins whose form is `own`. A builtin has one or more overloads (its `ways`), and the
arguments select one of them. A call is *proved* if the types of all arguments certainly suit the
parameters. A proved call is compiled to plain Python, any other call to a call of
`runtime_support.ops`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from saftc.types.types import (
    ANY,
    BOOL,
    DATAFRAME,
    DATE,
    DATETIME,
    DECIMAL,
    DURATION,
    FILE,
    FLOAT,
    IMAGE,
    INT,
    KEYS,
    NEVER,
    NIL,
    NUMBER,
    ROW,
    STRING,
    TIME,
    BuiltinType,
    FunctionType,
    ListType,
    MapType,
    ObjectType,
    Scalar,
    TupleType,
    Type,
    is_only,
    item_type,
    keys_of,
    kinds,
    members,
    parts,
    union,
    values_of,
    widened,
    within,
)

Kinds = frozenset[str]
Result = Callable[[Sequence[Type]], Type]

TEXT = frozenset({"string"})
WHOLE = frozenset({"int"})
NUMBERS = frozenset({"int", "float"})
ITEMS = frozenset({"list", "tuple"})
OBJECT = frozenset({"object"})
# The kinds of object keys.
KEYED = frozenset(one.kind for one in KEYS)
TRUTH = frozenset({"bool"})
TABLE = frozenset({"dataframe"})
PROGRAM = frozenset({"program"})
FUNCTION = frozenset({"function"})
DECIMALS = frozenset({"decimal", "int"})
DURATIONS = frozenset({"duration"})
# The kinds of dates and durations: two values of the same entry can be ordered.
DATES = (DURATIONS, *(frozenset({one}) for one in ("date", "datetime", "time")))
# Anything at all.
VALUE: Kinds = frozenset()

# The side effects of evaluating something (see `saftc.effects.effects`).
Effect = Literal["asks", "prints", "reads", "writes", "unknown"]
# When a call may fail: never; only if an argument is of a wrong kind; also because of something
# outside the script, such as a file; or for other reasons, such as an argument's value.
Fails = Literal["never", "on other kinds", "by accident", "maybe"]
# Which parts of the arguments the result of a call may contain: none, the arguments' items, the one
# argument that the call selects, the default, or any argument.
Holds = Literal["nothing", "items", "one", "default", "arguments"]

_OPS, PACKAGE = "runtime_support.ops", "runtime_support"
PROGRAMS = "runtime_support.programs"


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter and the kinds of values that it accepts.

    `items`: sets of kinds for the items of a list. All items must belong to the same set.
    `is_keyword`: in Python, the argument must be passed by name.
    """

    name: str
    kinds: Kinds
    items: tuple[Kinds, ...] = ()
    is_required: bool = True
    is_keyword: bool = False


@dataclass(frozen=True, slots=True)
class PythonForm:
    """The Python form of a proved call.

    `how` is "function" for `name(x)` (imported from `module` unless it is a Python builtin),
    "method" for `x.name()`, "attribute" for `x.name`, "itself" for `x`, "operation" for the
    operation of the runtime, and "own" for special code of the emitter. If `is_iterator`, the
    Python form returns an iterator over the items instead of a list.
    """

    how: Literal["function", "method", "attribute", "itself", "operation", "own"]
    name: str = ""
    module: str = ""
    is_iterator: bool = False


_OWN, _OPERATION = PythonForm("own"), PythonForm("operation")


@dataclass(frozen=True, slots=True)
class Overload:
    """An overload of a builtin.

    `gives`: the type of the result, or a function that computes the type from the types of the
    arguments other than `by`. `by`: a required parameter that is passed by name only. `repeats`:
    the last parameter is variadic, and a call has at least `least` arguments. `alike`: sets of
    kinds. If there are any, all arguments of a proved call must belong to the same set.
    """

    parameters: tuple[Param, ...]
    gives: Type | Result
    python: PythonForm
    by: Param | None = None
    repeats: bool = False
    least: int = 0
    alike: tuple[Kinds, ...] = ()

    def result(self, arguments: Sequence[Type]) -> Type:
        """The type of the value that a call with arguments of these types returns."""
        return self.gives(arguments) if callable(self.gives) else self.gives

    def named(self, name: str) -> Param | None:
        """The parameter with this name, or None."""
        parameters = (*self.parameters, *([self.by] if self.by else []))
        return next((one for one in parameters if one.name == name), None)

    def parameter(self, position: int) -> Param | None:
        """The parameter for the argument at `position`, or None if there are too many arguments."""
        if position < len(self.parameters):
            return self.parameters[position]
        return self.parameters[-1] if self.repeats else None

    def given(self, position: int, name: str | None) -> Param | None:
        """The parameter for an argument.

        An argument with a name is matched by `name`, any other by `position`.
        """
        if name is not None:
            return self.named(name)
        return None if self.is_named else self.parameter(position)

    @property
    def is_named(self) -> bool:
        """Whether all parameters must be passed by name, as in `duration(days: 3)`."""
        return bool(self.parameters) and all(one.is_keyword for one in self.parameters)

    def is_proved(self, arguments: Sequence[Type]) -> bool:
        """Whether a call with `arguments` is certainly valid, so that it becomes plain Python.

        `arguments` are the types of all arguments except `by`.
        """
        needed = sum(parameter.is_required for parameter in self.parameters)
        if len(arguments) < max(needed, self.least):
            return False
        if self.alike and not any(is_only(union(arguments), *one) for one in self.alike):
            return False
        taken = zip(map(self.parameter, range(len(arguments))), arguments, strict=True)
        return all(one is not None and takes(one, type_) is True for one, type_ in taken)


@dataclass(frozen=True, slots=True)
class Builtin:
    """A builtin function.

    `ways`: the overloads; `select_overload` selects one of them by the arguments. `effect`: the
    side effect, or None for a pure function. `goes_over`: whether the function consumes all items
    of a list ("all"), only as many as it needs ("some"), or each item lazily, while the function's
    result is iterated ("later"). `takes_names`: the function accepts arguments of any name.
    """

    name: str
    ways: tuple[Overload, ...]
    effect: Effect | None = "unknown"
    fails: Fails = "maybe"
    holds: Holds = "arguments"
    goes_over: Literal["all", "some", "later"] | None = None
    takes_names: bool = False
    # The name of the function in `runtime_support.ops`, if that is different.
    in_ops: str = ""

    @property
    def is_pure(self) -> bool:
        """Whether a call has no side effects."""
        return self.effect is None

    @property
    def is_of_objects(self) -> bool:
        """Whether the first parameter accepts only objects, with any keys."""
        return self.ways[0].parameters[:1] != () and self.ways[0].parameters[0].kinds == OBJECT

    @property
    def names(self) -> list[str]:
        """The names of the parameters of all overloads."""
        ways = self.ways
        names = [one.name for way in ways for one in way.parameters]
        return list(dict.fromkeys([*names, *(way.by.name for way in ways if way.by)]))

    def select_overload(self, arguments: Sequence[tuple[str | None, Type]]) -> Overload:
        """Selects the overload for arguments, given as pairs of a name (or None) and a type.

        Returns the last overload that certainly accepts the arguments, as more general overloads
        come first. If no overload certainly accepts them, returns the first that may accept them.
        If all reject them, returns the overload that accepts the most arguments from the left, for
        the error message.
        """
        if len(self.ways) == 1:
            return self.ways[0]
        fits = [(*_fit(way, arguments), way) for way in self.ways]
        certain = [way for fit, _, way in fits if fit == _CERTAIN]
        return certain[-1] if certain else max(fits, key=lambda one: one[:2])[2]


_CERTAIN = 2


def _fit(way: Overload, arguments: Sequence[tuple[str | None, Type]]) -> tuple[int, int]:
    """How well an overload fits the arguments: a rank, and a number of accepted arguments.

    The rank is `_CERTAIN` if the overload certainly fits, 1 if it may fit, and 0 or less if it does
    not fit. The number of accepted arguments, counted from the left, is computed only for overloads
    that do not fit.
    """
    if way.by is not None and all(name != way.by.name for name, _ in arguments):
        return -1, 0
    given, taken, is_certain = set[str](), 0, True
    for position, (name, type_) in enumerate(arguments):
        parameter = way.given(position, name)
        found = None if parameter is None else takes(parameter, type_)
        if parameter is None or found is False:
            return -1 if name is not None and parameter is None else 0, taken
        given.add(parameter.name)
        is_certain = is_certain and found is True
        taken += 1
    is_whole = len(arguments) - (way.by is not None) >= way.least
    if not is_whole or any(one.is_required and one.name not in given for one in way.parameters):
        return 0, taken
    return _CERTAIN if is_certain else 1, 0


def takes(parameter: Param, argument: Type) -> bool | None:
    """Whether a parameter accepts a value of the type, or None if that depends on the value."""
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


def _takes_items(parameter: Param, argument: Type) -> bool | None:
    if not is_only(argument, *ITEMS):
        return True
    found = kinds(item_type(argument))
    if found is None:
        return None
    if any(found <= wanted for wanted in parameter.items):
        return True
    # If no kind of item is accepted, only an empty list would be valid: report the argument.
    return None if any(found & wanted for wanted in parameter.items) else False


def wrong_members(parameter: Param, argument: Type) -> Type:
    """The members of the type `argument` that the parameter rejects.

    The result is `NEVER` if there are none, or if the type is unknown.
    """
    if not parameter.kinds or kinds(argument) is None:
        return NEVER
    return union(one for one in members(argument) if not (kinds(one) or set()) <= parameter.kinds)


def possible_items(parameter: Param, argument: Type) -> tuple[Type, Type]:
    """The types of the items of a list: those that the parameter may accept, and those it rejects.

    Both are `NEVER` if the parameter says nothing about items, or `argument` may be no list.
    """
    if not parameter.items or not is_only(argument, *ITEMS):
        return NEVER, NEVER
    wanted = frozenset[str]().union(*parameter.items)
    found = members(item_type(argument))
    taken = [one for one in found if (kinds(one) or wanted) & wanted]
    return union(taken), union(one for one in found if one not in taken)


def taken_words(parameter: Param, argument: Type) -> str:
    """The types that a parameter accepts, in words, for an error about `argument`."""
    if not parameter.items or not is_only(argument, *ITEMS):
        return " or ".join(sorted(parameter.kinds))
    is_of_dates = set(DATES) <= set(parameter.items)
    words = [_ITEM_WORDS[items] for items in parameter.items if items in _ITEM_WORDS]
    words = list(dict.fromkeys(words[:-1] if is_of_dates else words))
    words += ["dates or the like"] if is_of_dates else []
    return f"a list of {' or of '.join(words)}"


_ITEM_WORDS = {
    NUMBERS: "numbers",
    TEXT: "strings",
    TRUTH: "bools",
    DECIMALS: "numbers",
    DURATIONS: "durations",
}


# Result types


def _approved(arguments: Sequence[Type]) -> Type:
    return union(
        replace(one, waits=True) if isinstance(one, FunctionType | BuiltinType) else one
        for one in members(arguments[0])
    )


def _list_of_items(arguments: Sequence[Type]) -> Type:
    return ListType(item_type(arguments[0]))


def _zip(arguments: Sequence[Type]) -> Type:
    return ListType(TupleType(tuple(item_type(argument) for argument in arguments)))


def _enumerate(arguments: Sequence[Type]) -> Type:
    return ListType(TupleType((INT, item_type(arguments[0]))))


def _keys(arguments: Sequence[Type]) -> Type:
    return ListType(key_type(arguments[0]))


def _values(arguments: Sequence[Type]) -> Type:
    objects = _objects(arguments[0])
    return ListType(ANY if objects is None else union(v for one in objects for v in values_of(one)))


def key_type(type_: Type) -> Type:
    """The type of the keys of an object, or `ANY` if the object's type is unknown."""
    objects = _objects(type_)
    return ANY if objects is None else union(map(keys_of, objects))


def _objects(type_: Type) -> list[ObjectType | MapType] | None:
    """The object types that a value may have, or None if it may be anything else."""
    found = [one for one in members(type_) if isinstance(one, ObjectType | MapType)]
    return found if len(found) == len(members(type_)) else None


def _items(arguments: Sequence[Type]) -> Type:
    return ListType(TupleType((key_type(arguments[0]), item_type(_values(arguments)))))


def _get(arguments: Sequence[Type]) -> Type:
    default = arguments[2] if len(arguments) > 2 else NIL
    return union((item_type(_values(arguments)), default))


def _sum(arguments: Sequence[Type]) -> Type:
    item = widened(item_type(arguments[0]))
    if item in (DECIMAL, DURATION):
        return item
    if is_only(item, *DECIMALS) and DECIMAL in members(item):
        return DECIMAL
    # The sum of an empty list is the int 0.
    return ANY if item == ANY else union((INT, item))


def _extreme(arguments: Sequence[Type]) -> Type:
    if len(arguments) == 1 and is_only(arguments[0], *ITEMS):
        return item_type(arguments[0])
    return ANY if len(arguments) == 1 else union(arguments)


def _same_number(arguments: Sequence[Type]) -> Type:
    if is_only(arguments[0], *NUMBERS, "decimal", "duration"):
        return arguments[0]
    return ANY if arguments[0] == ANY else NUMBER


def _round(arguments: Sequence[Type]) -> Type:
    return INT if len(arguments) == 1 else _same_number(arguments)


def _env(arguments: Sequence[Type]) -> Type:
    return union((STRING, NIL)) if len(arguments) == 1 else union((STRING, arguments[1]))


# The rows


def _method(name: str) -> PythonForm:
    return PythonForm("method", name)


def _function(name: str, module: str = "") -> PythonForm:
    return PythonForm("function", name, module)


def _iterator(name: str) -> PythonForm:
    return PythonForm("function", name, is_iterator=True)


def _view(name: str) -> PythonForm:
    return PythonForm("method", name, is_iterator=True)


def _maybe(name: str, taken: Kinds) -> Param:
    """Makes an optional parameter that accepts values of the kinds `taken`."""
    return Param(name, taken, is_required=False)


def _pure(
    name: str,
    *ways: Overload,
    fails: Fails = "on other kinds",
    holds: Holds | None = None,
    goes_over: Literal["all", "some", "later"] | None = None,
) -> Builtin:
    """Makes the table's row for a function without side effects."""
    return Builtin(name, ways, None, fails, holds or _held(ways), goes_over)


def _effect(effect: Effect, name: str, *ways: Overload, fails: Fails = "by accident") -> Builtin:
    """Makes the table's row for a function with a side effect."""
    return Builtin(name, ways, effect, fails, _held(ways))


def _held(ways: Sequence[Overload]) -> Holds:
    """Which parts of a call's arguments the result may contain.

    If the results of all overloads consist of scalars only, they contain nothing of the arguments.
    """
    return "nothing" if all(map(_gives_plain, ways)) else "arguments"


def _gives_plain(way: Overload) -> bool:
    """Whether the result of an overload consists of numbers, strings and other scalars only."""
    if callable(way.gives):
        return False
    plain = (one for one in within(way.gives) if not list(parts(one)))
    return all(isinstance(one, Scalar) and one != ANY for one in plain)


ORDERED = (NUMBERS, DECIMALS, TEXT, *DATES)
ORDERED_KINDS = frozenset[str]().union(*ORDERED)
_BY = Param("by", FUNCTION)
_REVERSE = Param("reverse", TRUTH, is_required=False, is_keyword=True)
_TEXT, _PATH, _PART = Param("text", TEXT), Param("path", TEXT), Param("part", TEXT)
_NUMERIC = Param("value", NUMBERS | TEXT | DECIMALS)
_OPTIONS = Param("options", ITEMS)
_ANY, _OBJECT, _TABLE = Param("value", VALUE), Param("object", OBJECT), Param("table", TABLE)
_ITEMS, _OF_TEXTS = Param("items", ITEMS), Param("items", ITEMS, (TEXT,))
_OF_SUMMED = Param("items", ITEMS, (NUMBERS, DECIMALS, DURATIONS))
_OF_NUMBERS, _OF_ORDERED = Param("items", ITEMS, (NUMBERS,)), Param("items", ITEMS, ORDERED)
_OF_BOOLS = Param("items", ITEMS, (TRUTH,))
# A dataframe and the name of a column.
_COLUMN = (Param("items", TABLE), Param("column", TEXT))


def _extreme_of(name: str) -> Builtin:
    """Makes the table's row for `min` or `max`.

    A call takes a dataframe and the name of a column, or else a list or several values, with or
    without a function `by`.
    """
    several, found = Param("items", ITEMS | ORDERED_KINDS, ORDERED), _function(name)
    return _pure(
        name,
        Overload((_OF_ORDERED,), _extreme, found),
        Overload((several,), _extreme, found, repeats=True, least=2, alike=ORDERED),
        Overload(_COLUMN, ANY, _OPERATION),
        Overload((_ITEMS,), _extreme, found, by=_BY),
        Overload((Param("items", VALUE),), _extreme, found, by=_BY, repeats=True, least=2),
        fails="maybe",
        holds="one",
        goes_over="all",
    )


_UNITS = ("weeks", "days", "hours", "minutes", "seconds")

_ROWS = (
    # text
    _pure("upper", Overload((_TEXT,), STRING, _method("upper"))),
    _pure("lower", Overload((_TEXT,), STRING, _method("lower"))),
    _pure("strip", Overload((_TEXT,), STRING, _method("strip"))),
    _pure(
        "split",
        Overload((_TEXT, _maybe("separator", TEXT)), ListType(STRING), _method("split")),
        fails="maybe",
    ),
    _pure(
        "join",
        Overload((_OF_TEXTS, _maybe("separator", TEXT)), STRING, _OWN),
        Overload((Param("separator", TEXT), _OF_TEXTS), STRING, _OWN),
        goes_over="all",
    ),
    _pure(
        "replace",
        Overload((_TEXT, Param("old", TEXT), Param("new", TEXT)), STRING, _method("replace")),
    ),
    _pure(
        "contains",
        Overload((Param("container", TEXT | ITEMS | OBJECT), Param("item", VALUE)), BOOL, _OWN),
    ),
    _pure("matches", Overload((_TEXT, Param("pattern", TEXT)), BOOL, _OWN), fails="maybe"),
    _pure("chars", Overload((_TEXT,), ListType(STRING), _function("list"))),
    _pure("starts_with", Overload((_TEXT, _PART), BOOL, _method("startswith"))),
    _pure("ends_with", Overload((_TEXT, _PART), BOOL, _method("endswith"))),
    # collections
    _pure(
        "len",
        Overload((Param("value", TEXT | ITEMS | OBJECT | TABLE),), INT, _OWN),
        Overload((Param("value", TABLE),), INT, PythonForm("attribute", "height")),
    ),
    _pure(
        "range",
        Overload(
            (Param("start", WHOLE), _maybe("stop", WHOLE), _maybe("step", WHOLE)),
            ListType(INT),
            _iterator("range"),
        ),
        fails="maybe",
    ),
    _pure(
        "sorted",
        Overload((_OF_ORDERED, _REVERSE), _list_of_items, _function("sorted")),
        Overload((_ITEMS, _REVERSE), _list_of_items, _function("sorted"), by=_BY),
        holds="items",
        goes_over="all",
    ),
    _pure("unique", Overload((_ITEMS,), _list_of_items, _function("unique", _OPS)), holds="items"),
    _pure("reversed", Overload((_ITEMS,), _list_of_items, _iterator("reversed")), holds="items"),
    _pure(
        "zip",
        Overload((_ITEMS,), _zip, _iterator("zip"), repeats=True),
        holds="items",
        goes_over="later",
    ),
    _pure(
        "enumerate",
        Overload((_ITEMS, _maybe("start", WHOLE)), _enumerate, _iterator("enumerate")),
        holds="items",
        goes_over="later",
    ),
    _pure(
        "keys", Overload((_OBJECT,), _keys, PythonForm("itself", is_iterator=True)), holds="nothing"
    ),
    _pure("values", Overload((_OBJECT,), _values, _view("values")), holds="items"),
    _pure("items", Overload((_OBJECT,), _items, _view("items")), holds="items"),
    _pure(
        "get",
        Overload((_OBJECT, Param("key", KEYED), _maybe("default", VALUE)), _get, _method("get")),
        holds="default",
    ),
    _pure(
        "sum",
        Overload((_OF_SUMMED,), _sum, _OWN),
        Overload(_COLUMN, union((NUMBER, DECIMAL)), _OPERATION),
        holds="nothing",
        goes_over="all",
    ),
    _extreme_of("min"),
    _extreme_of("max"),
    _pure("any", Overload((_OF_BOOLS,), BOOL, _function("any")), goes_over="some"),
    _pure("all", Overload((_OF_BOOLS,), BOOL, _function("all")), goes_over="some"),
    # kinds
    _pure("type", Overload((_ANY,), STRING, _function("kind", _OPS)), fails="never"),
    Builtin("str", (Overload((_ANY,), STRING, _OWN),), None, "never", "nothing"),
    _pure("int", Overload((_NUMERIC,), INT, _function("int")), fails="maybe"),
    _pure("float", Overload((_NUMERIC,), FLOAT, _function("float")), fails="maybe"),
    _pure(
        "round",
        Overload(
            (Param("value", NUMBERS | DECIMALS), _maybe("digits", WHOLE)),
            _round,
            _function("round"),
        ),
        fails="maybe",
        holds="nothing",
    ),
    _pure(
        "abs",
        Overload((Param("value", NUMBERS | DECIMALS | DURATIONS),), _same_number, _function("abs")),
        holds="nothing",
    ),
    Builtin(
        "div",
        (Overload((Param("a", NUMBERS), Param("b", NUMBERS)), INT, _OWN),),
        None,
        "maybe",
        "nothing",
        in_ops="floordiv",
    ),
    _pure("json", Overload((_ANY,), STRING, _function("to_json", _OPS)), fails="maybe"),
    _pure("parse", Overload((_TEXT,), ANY, _function("parse", _OPS)), fails="maybe"),
    # dates and decimals
    _pure("date", Overload((_TEXT,), DATE, _function("to_date", _OPS)), fails="maybe"),
    _pure("datetime", Overload((_TEXT,), DATETIME, _function("to_datetime", _OPS)), fails="maybe"),
    _pure("time", Overload((_TEXT,), TIME, _function("to_time", _OPS)), fails="maybe"),
    _pure(
        "duration",
        Overload((_TEXT,), DURATION, _function("to_duration", _OPS)),
        Overload(
            tuple(Param(unit, NUMBERS, is_required=False, is_keyword=True) for unit in _UNITS),
            DURATION,
            _function("to_duration", _OPS),
            least=1,
        ),
        fails="maybe",
    ),
    _pure(
        "decimal",
        Overload((Param("value", TEXT | DECIMALS),), DECIMAL, _function("to_decimal", _OPS)),
        fails="maybe",
    ),
    _effect("reads", "today", Overload((), DATE, _function("today", _OPS))),
    # Not pure: in another order of statements, `now` would return another time.
    _effect("writes", "now", Overload((), DATETIME, _function("now", _OPS))),
    # effects
    _effect(
        "prints",
        "print",
        Overload((_maybe("value", VALUE),), NIL, _OWN, repeats=True),
        fails="never",
    ),
    _effect("prints", "write", Overload((_ANY,), NIL, _OWN), fails="never"),
    _effect("reads", "read_text", Overload((_PATH,), STRING, _function("read_text", _OPS))),
    _effect(
        "reads",
        "list_files",
        Overload((Param("pattern", TEXT),), ListType(STRING), _function("list_files", _OPS)),
    ),
    _effect("writes", "write_text", Overload((_PATH, _TEXT), NIL, _function("write_text", _OPS))),
    _effect("writes", "append_text", Overload((_PATH, _TEXT), NIL, _function("append_text", _OPS))),
    _effect(
        "writes",
        "input",
        Overload((_maybe("question", TEXT),), union((STRING, NIL)), _function("read_line", _OPS)),
    ),
    _effect("reads", "env", Overload((Param("name", TEXT), _maybe("default", VALUE)), _env, _OWN)),
    # tables
    _effect("reads", "read", Overload((_PATH,), DATAFRAME, _function("read", _OPS))),
    _pure("shape", Overload((_TABLE,), TupleType((INT, INT)), PythonForm("attribute", "shape"))),
    _pure("columns", Overload((_TABLE,), ListType(STRING), PythonForm("attribute", "columns"))),
    _pure("rows", Overload((_TABLE,), ListType(ROW), _method("to_dicts")), holds="items"),
    _pure(
        "head",
        Overload((_TABLE, _maybe("count", WHOLE)), DATAFRAME, _method("head")),
        fails="maybe",
    ),
    # polars treats some names as patterns, and type checkers cannot resolve the type of its method
    # without numpy.
    _pure(
        "select",
        Overload((_TABLE, Param("names", TEXT | ITEMS, (TEXT,))), DATAFRAME, _OPERATION),
        fails="maybe",
    ),
    _pure(
        "mean",
        Overload((_OF_NUMBERS,), FLOAT, _function("mean", _OPS)),
        Overload(_COLUMN, FLOAT, _function("mean", _OPS)),
        fails="maybe",
    ),
    # media
    _effect("reads", "image", Overload((_PATH,), IMAGE, _function("image", PACKAGE))),
    _effect("reads", "file", Overload((_PATH,), FILE, _function("file", PACKAGE))),
    # tools
    _pure(
        "approve",
        Overload((Param("function", FUNCTION),), _approved, _function("approve", PACKAGE)),
        holds="one",
    ),
    # programs
    _effect(
        "unknown",
        "run",
        Overload((Param("plan", PROGRAM),), ANY, _function("run", PROGRAMS)),
        fails="maybe",
    ),
    Builtin(
        "option",
        (Overload((_TEXT, _maybe("value", VALUE)), ANY, _function("option", PROGRAMS)),),
        None,
        "never",
        takes_names=True,
    ),
    _pure(
        "ambiguous",
        Overload((Param("message", TEXT), _OPTIONS), ANY, _function("ambiguous", PROGRAMS)),
        fails="maybe",
    ),
)
BUILTINS: dict[str, Builtin] = {row.name: row for row in _ROWS}

# `df.height` and so on, as polars names them; `length` is Saft's word for the height.
DATAFRAME_MEMBERS: dict[str, Type] = {
    "columns": ListType(STRING),
    "height": INT,
    "length": INT,
    "shape": TupleType((INT, INT)),
    "width": INT,
}
