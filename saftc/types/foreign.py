"""What Python declares, as far as Saft has a use for it: data that semantics asks for by name.

A module, a class and what an expression gives are asked for their members; nothing is looked at
before it is asked for. Who reads Python is not decided here: see `saftc.project`.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from saftc.syntax import nodes as n
from saftc.types.types import ANY, Type

# Whether a call of a function gives what is to be awaited.
Waiting = Literal["no", "yes", "perhaps"]


@dataclass(frozen=True, slots=True, eq=False)
class Namespace:
    """What has members: a module, a class, or a value of a class. `names` are those it has."""

    name: str
    find: "Callable[[str], Declared | None]"
    names: Callable[[], Collection[str]]


@dataclass(frozen=True, slots=True)
class Value:
    """What Python gives: its type, and its members where its class is not a type here."""

    type: Type = ANY
    members: Namespace | None = None


UNKNOWN = Value()


@dataclass(frozen=True, slots=True, eq=False)
class PythonClass:
    """A class: what a call of it gives, and its own members.

    `schema` is the type that it is in schemas; a record has its `definition`.
    """

    name: str
    given: Value
    members: Namespace
    schema: Type | None = None
    definition: n.RecordDef | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """One way to call a function, and what it gives then.

    `takes` says of the types of the arguments, those by position and those by name, whether they
    can be meant for it.
    """

    takes: Callable[[tuple[Type, ...], dict[str, Type]], bool]
    gives: Callable[[tuple[Type, ...], dict[str, Type]], Value]


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function, or a method of the value that it is a member of.

    `waits`: a call gives what is awaited, or perhaps it does.
    """

    signatures: tuple[Signature, ...]
    waits: Waiting = "no"

    def given(self, arguments: tuple[Type, ...], named: dict[str, Type]) -> Value:
        """What a call gives: that of which all signatures agree that can be meant.

        Where there is one alone, it is meant.
        """
        meant = self.signatures
        if len(meant) > 1:
            meant = tuple(one for one in meant if one.takes(arguments, named))
        found = {one.gives(arguments, named) for one in meant}
        return found.pop() if len(found) == 1 else UNKNOWN


@dataclass(frozen=True, slots=True, eq=False)
class Alias:
    """A name for a type."""

    schema: Type


Declared = Namespace | Value | PythonClass | Function | Alias
