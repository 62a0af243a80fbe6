"""The names of a compiled plan: what it imports, and its variables.

A name of the plan is kept, with an underscore after it only where it is taken: by a function that
the plan calls, by a name that such modules need themselves (`float`), or by another variable.
"""

import keyword
import re
from dataclasses import dataclass, field

from saftc.codegen import python as py
from saftc.codegen.imports import Imports, is_imported
from saftc.codegen.python import Expression
from saftc.plans.tools import Tools

# The names that stand in the output for what they are everywhere.
_IMPORTED = ("Any", "Literal", "asyncio", "coerce", "show")
OWN = frozenset(
    (*_IMPORTED, "bool", "dict", "float", "int", "list", "main", "print", "str", "tuple")
)


class NotWritable(Exception):
    """What the plan means has no Python form; the text says why."""


@dataclass(slots=True)
class PlanNames:
    """The names of one writing; variables cannot have those that are `taken`."""

    tools: Tools
    taken: frozenset[str]
    imports: Imports = field(default_factory=Imports)
    called: set[str] = field(default_factory=set[str])
    variables: set[str] = field(default_factory=set[str])

    def own(self, name: str) -> Expression:
        """One of the output's own names: of Python, or imported."""
        assert name in OWN, name
        if name == "coerce":
            self.imports.own.add(("runtime_support.programs", name, name))
        elif is_imported(name):
            self.imports.names.add(name)
        return py.name(name)

    def tool(self, thing: object) -> Expression:
        """A function or class that the plan uses."""
        try:
            module, name = self.tools.place_of(thing)
        except LookupError as unknown:
            raise NotWritable(f"{unknown} stands in no module, and cannot be imported") from None
        alias = name
        while alias in OWN:
            alias += "_"
        self.called.add(alias)
        self.imports.own.add((module, name, alias))
        return py.name(alias)

    def variable(self, text: str) -> str:
        """A new variable of the function."""
        name = self.element(text, self.variables)
        self.variables.add(name)
        return name

    def element(self, text: str, visible: set[str]) -> str:
        """The variable of a comprehension; those that are `visible` in it are not hidden."""
        name = re.sub(r"\W", "_", text)
        name = name if name.isidentifier() else f"_{name}"
        while keyword.iskeyword(name) or name in self.taken or name in visible:
            name += "_"
        return name
