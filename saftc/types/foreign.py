"""The data model for declarations of Python modules, which the checker looks up by name.

Modules, classes and values have members, which are looked up only when a script uses them.
`saftc.project.python` creates these objects from Python source.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from saftc.syntax import nodes as n
from saftc.types.types import ANY, Type

# Whether a call of a function returns an awaitable.
Waiting = Literal["no", "yes", "perhaps"]


@dataclass(frozen=True, slots=True, eq=False)
class Namespace:
    """The members of a module, a class, or a value of a class.

    `find` returns the declaration of a member. `names` returns the names of all members.
    """

    name: str
    find: "Callable[[str], Declared | None]"
    names: Callable[[], Collection[str]]


@dataclass(frozen=True, slots=True)
class Value:
    """A value from Python: its type, and its members if Saft has no type for its class."""

    type: Type = ANY
    members: Namespace | None = None


UNKNOWN = Value()


@dataclass(frozen=True, slots=True, eq=False)
class PythonClass:
    """A class: the value that a call of the class returns, and the members of the class itself.

    `schema`: the type that the name of the class means in schemas. `definition`: the record that
    represents the class, or None if the class is not a record.
    """

    name: str
    given: Value
    members: Namespace
    schema: Type | None = None
    definition: n.RecordDef | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """One signature of a function.

    `takes` returns whether a call with positional and named arguments of given types may match the
    signature. `gives` returns the value of a call with arguments of given types.
    """

    takes: Callable[[tuple[Type, ...], dict[str, Type]], bool]
    gives: Callable[[tuple[Type, ...], dict[str, Type]], Value]


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function, or a bound method.

    `waits`: whether a call returns an awaitable.
    """

    signatures: tuple[Signature, ...]
    waits: Waiting = "no"

    def given(self, arguments: tuple[Type, ...], named: dict[str, Type]) -> Value:
        """The result of a call with arguments of these types.

        If all matching signatures give the same result, that result is returned, and otherwise
        `UNKNOWN`. A function's only signature is assumed to match.
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
