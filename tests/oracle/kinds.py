"""The types that generated scripts are written in, as data, with their notation and sample values.

A type says what a value really is; whether the script tells the compiler so is another matter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kind:
    """A scalar: int float bool string nil any, or one of dates and decimals."""

    word: str


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[item]`."""

    item: "Type"


@dataclass(frozen=True, slots=True)
class TupleOf:
    """`(A, B)`."""

    items: "tuple[Type, ...]"


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """`{name: T}`; a field whose type is optional may be absent."""

    fields: "tuple[tuple[str, Type], ...]"


@dataclass(frozen=True, slots=True)
class MapOf:
    """`{[string]: T}`, or with dates or datetimes as keys."""

    value: "Type"
    key: Kind = Kind("string")


@dataclass(frozen=True, slots=True)
class Either:
    """`A | B`; with nil as the second, `A?`."""

    members: "tuple[Type, ...]"


@dataclass(frozen=True, slots=True)
class Exactly:
    """`"low" | "high"`: one of these values."""

    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class RecordOf:
    """A record that the script defines; the fields from `required` on have defaults."""

    name: str
    fields: "tuple[tuple[str, Type], ...]"
    required: int


Type = RecordOf | Kind | ListOf | TupleOf | ObjectOf | MapOf | Either | Exactly

INT, FLOAT, BOOL, STRING, NIL, ANY = map(Kind, ("int", "float", "bool", "string", "nil", "any"))
DATE, DATETIME, TIME, DURATION, DECIMAL = map(
    Kind, ("date", "datetime", "time", "duration", "decimal")
)
OF_DATES = (DATE, DECIMAL, DATETIME, DURATION, TIME)
SCALARS = (INT, FLOAT, BOOL, STRING, *OF_DATES)
LABEL = Exactly(("low", "high"))
CITY = RecordOf("City", (("name", STRING), ("size", FLOAT), ("country", Either((STRING, NIL)))), 2)
TOUR = RecordOf("Tour", (("stops", ListOf(CITY)), ("label", LABEL)), 2)
# A record that holds itself, to a depth at which it is left out.
_LEAF = RecordOf("Tree", (("size", FLOAT),), 1)
_BRANCH = RecordOf("Tree", (("size", FLOAT), ("parts", ListOf(_LEAF))), 1)
TREE = RecordOf("Tree", (("size", FLOAT), ("parts", ListOf(_BRANCH))), 1)
BILL = RecordOf("Bill", (("day", DATE), ("total", DECIMAL), ("due", Either((DATE, NIL)))), 2)
DAYS = MapOf(INT, DATE)
RECORDS = (
    "type Tree(size: float, parts: [Tree] = [])",
    'type Label = "low" | "high"',
    "type City(name: string, size: float, country: string? = nil)",
    "type Tour(stops: [City], label: Label):",
    # Samples, which replies are made of, keep these.
    '    assert len(stops) < 4, "at most three stops"',
    "    assert len([stop for stop in stops if stop.size > 2]) < 2",
    "type Bill(day: date, total: decimal, due: date? = nil):",
    '    assert total < 1000, f"{total} is too much"',
    "    assert day.year > 1000 and (due == nil or day.year - due.year < 5)",
)
TYPES: tuple[Type, ...] = (
    *(INT, INT, INT, FLOAT, STRING, STRING, BOOL),
    *(ListOf(INT), ListOf(STRING), ListOf(FLOAT), ListOf(ListOf(INT)), ListOf(BOOL)),
    *(TupleOf((INT, STRING)), TupleOf((STRING, TupleOf((INT, BOOL))))),
    ObjectOf((("id", INT), ("name", STRING))),
    ObjectOf((("size", FLOAT), ("note", Either((STRING, NIL))))),
    ListOf(ObjectOf((("id", INT), ("tags", ListOf(STRING))))),
    ListOf(TupleOf((INT, STRING))),
    *(Either((INT, NIL)), Either((STRING, NIL)), Either((INT, STRING)), Either((FLOAT, BOOL))),
    *(LABEL, CITY, CITY, ListOf(CITY), TOUR, TREE, ListOf(TREE), Either((TREE, NIL))),
    *(MapOf(INT), MapOf(INT), MapOf(ListOf(INT)), MapOf(STRING)),
    *(*OF_DATES, DATE, DECIMAL, DECIMAL, ListOf(DATE), ListOf(DECIMAL), ListOf(DECIMAL)),
    *(
        Either((DATE, NIL)),
        Either((DECIMAL, NIL)),
        Either((DATE, DATETIME)),
        Either((DATE, STRING)),
    ),
    *(BILL, BILL, ListOf(BILL), MapOf(DECIMAL), TupleOf((DATE, DECIMAL))),
    *(DAYS, DAYS, MapOf(STRING, DATETIME)),
    ObjectOf((("at", DATETIME), ("took", DURATION))),
)


def notation(type_: Type) -> str:
    """The type as a schema of a script."""
    match type_:
        case Kind(word=word):
            return word
        case ListOf(item=item):
            return f"[{notation(item)}]"
        case TupleOf(items=items):
            return "(" + ", ".join(map(notation, items)) + ")"
        case ObjectOf(fields=fields):
            return "{" + ", ".join(f"{name}: {notation(inner)}" for name, inner in fields) + "}"
        case MapOf(value=value, key=key):
            return f"{{[{key.word}]: {notation(value)}}}"
        case Either(members=(inner, Kind(word="nil"))):
            return notation(inner) + "?"
        case Either(members=members):
            return " | ".join(map(notation, members))
        case RecordOf(name=name):
            return name
        case Exactly(values=values):
            return " | ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in values)


def members(type_: Type) -> tuple[Type, ...]:
    """The members of a union, or the type alone."""
    return type_.members if isinstance(type_, Either) else (type_,)


def sample(type_: Type, choose: "Callable[[Sequence[Any]], Any]") -> Any:
    """JSON data of the type, for the replies of a model."""
    match type_:
        case Kind(word=word):
            return choose(_SAMPLES[word])
        case ListOf(item=item):
            return [sample(item, choose) for _ in range(choose((1, 2, 0, 3)))]
        case TupleOf(items=items):
            return [sample(item, choose) for item in items]
        case ObjectOf(fields=fields) | RecordOf(fields=fields):
            return {name: sample(inner, choose) for name, inner in fields}
        case MapOf(value=value, key=Kind(word="string")):
            return {key: sample(value, choose) for key in choose((("a", "b"), ("id",), ()))}
        case MapOf(value=value, key=Kind(word=word)):
            names = choose((_SAMPLES[word][:1], _SAMPLES[word], ()))
            return {name: sample(value, choose) for name in names}
        case Either(members=members):
            return sample(choose(members), choose)
        case Exactly(values=values):
            return choose(values)


_SAMPLES: dict[str, tuple[Any, ...]] = {
    "int": (3, 0, -2, 12),
    "float": (1.5, 2, -0.25),
    "bool": (True, False),
    "string": ("one", "two words", "Zoë", 'a "b"'),
    "nil": (None,),
    "date": ("2026-01-31", "2024-02-29", "2025-12-01"),
    "datetime": ("2026-01-31T09:30:00+01:00", "2025-12-31T23:59:59Z"),
    "time": ("09:30:00", "23:59"),
    "duration": ("PT90M", "P1DT2H", "-P3D", "PT0S"),
    "decimal": ("12.30", 3, "0.10", -2.5, "7.005"),
    "any": (1, "a", None, [1, 2], {"id": 1}, True),
}
