"""The names of a compiled plan: what it imports, and its variables.

A name of the plan is kept, with an underscore after it only where it is taken: by a function that
the plan calls, by a name that the output itself needs (`float`), or by another variable. What the
output needs is known when it has been written, so it is written again until nothing new is needed.
"""

import keyword
import re
from dataclasses import dataclass, field

from saftc.codegen import python as py
from saftc.codegen.imports import Imports, is_imported
from saftc.codegen.python import Expression
from saftc.plans.tools import Tools


class NotWritable(Exception):
    """What the plan means has no Python form; the text says why."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The names that are not free for variables: the output's own, and those of the tools."""

    own: frozenset[str] = frozenset(["main"])
    tools: frozenset[str] = frozenset()


@dataclass(slots=True)
class PlanNames:
    """The names of one writing; `taken` are those of the writing before."""

    tools: Tools
    taken: Taken
    imports: Imports = field(default_factory=Imports)
    own: set[str] = field(default_factory=lambda: {"main"})
    called: set[str] = field(default_factory=set[str])
    variables: set[str] = field(default_factory=set[str])

    def all_taken(self) -> Taken:
        """The names that are taken by what has been written."""
        return Taken(self.taken.own | self.own, frozenset(self.called))

    def built_in(self, name: str) -> Expression:
        """A name of Python, or one that `runtime_support` gives."""
        self.own.add(name)
        if is_imported(name):
            self.imports.names.add(name)
        return py.name(name)

    def module(self, name: str) -> Expression:
        """A module of the standard library."""
        self.own.add(name)
        self.imports.own.add((name, "", name))
        return py.name(name)

    def coerce(self) -> Expression:
        """The runtime's function that coerces a value."""
        self.own.add("coerce")
        self.imports.own.add(("runtime_support.programs", "coerce", "coerce"))
        return py.name("coerce")

    def tool(self, thing: object) -> Expression:
        """A function or class that the plan uses."""
        try:
            module, name = self.tools.place_of(thing)
        except LookupError as unknown:
            raise NotWritable(f"{unknown} stands in no module, and cannot be imported") from None
        alias = name
        while alias in self.taken.own:
            alias += "_"
        self.called.add(alias)
        self.imports.own.add((module, name, alias))
        return py.name(alias)

    def variable(self, text: str) -> str:
        """A new variable of the function."""
        name = self._free(text, self.variables)
        self.variables.add(name)
        return name

    def element(self, text: str, visible: set[str]) -> str:
        """The variable of a comprehension; those that are `visible` in it are not hidden."""
        return self._free(text, visible)

    def _free(self, text: str, others: set[str]) -> str:
        name = re.sub(r"\W", "_", text)
        name = name if name.isidentifier() else f"_{name}"
        taken = self.taken.own | self.taken.tools | others
        while keyword.iskeyword(name) or name in taken:
            name += "_"
        return name
