"""A script in the making: the nodes of its `main`, and what is known of each, for the emitter.

Nothing is inferred, since the checker of programs knows the types: each construct has Python's own
form. What a program can say and a script cannot are facts about its nodes: that a place has a value
coerced, or that the last argument of a call is a list of several.
"""

import inspect
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeVar, cast

from saftc.codegen.module import generate
from saftc.diagnostics.model import Collector
from saftc.plans.tools import Tools
from saftc.plans.types import NOWHERE, Types
from saftc.runtime import Function
from saftc.runtime import program_types as types
from saftc.schedule.plan import plan
from saftc.schedule.settings import Overlapping
from saftc.semantics import types as t
from saftc.semantics.facts import Coercion, Facts, FunctionFacts
from saftc.semantics.forms import Attribute, DirectCall, Form, Forms
from saftc.semantics.relations import Fit
from saftc.semantics.resolution import resolve
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.depth import fitting_interpreter
from saftc.syntax.walk import nodes_of

_Node = TypeVar("_Node", bound=n.Expression)
_MAIN = "main"


class Script:
    """A script whose variables do not have the names that are `taken`.

    `imported` are the functions and classes that it uses: their modules and names, by what they are
    called here.
    """

    def __init__(self, tools: Tools, taken: Iterable[str]) -> None:
        self.tools = tools
        self.taken = {_MAIN, *taken}
        self.imported: dict[str, tuple[str, str]] = {}
        self.types = Types(tools)
        self.forms = Forms()
        self.coercions: dict[n.Node, Coercion] = {}
        self._schemas: dict[n.Node, t.Type] = {}
        self._type_of: dict[n.Node, t.Type] = {}
        self._variables: set[str] = set()
        self._awaits = False

    # Names

    def variable(self, text: str) -> str:
        """A new variable of `main`."""
        name = self.element(text, self._variables)
        self._variables.add(name)
        return name

    def element(self, text: str, visible: Iterable[str]) -> str:
        """The variable of a comprehension; those that are `visible` in it are not hidden."""
        name = re.sub(r"\W", "_", text)
        name = name if name.isidentifier() else f"_{name}"
        while name in self.taken or name in visible or keyword.iskeyword(name):
            name += "_"
        return name

    def tool(self, thing: object) -> n.Name:
        """A function or class that the plan uses."""
        place = self.tools.place_of(thing)
        alias = f"{_MAIN}_" if place[1] == _MAIN else place[1]
        while self.imported.setdefault(alias, place) != place:
            alias += "_"
        return n.Name(NOWHERE, alias)

    # Expressions

    def typed(self, made: _Node, type_: types.Type) -> _Node:
        """The node, whose type is noted if it is not known yet."""
        if made not in self._type_of:
            self._type_of[made] = self.types.of(types.widen(type_))
        return made

    def alike(self, made: _Node, other: n.Expression) -> _Node:
        """The node, which has the type of another."""
        self._type_of[made] = self._type_of[other]
        return made

    def constant(self, value: object) -> n.Expression | None:
        """A value as it can be written out, if it can: JSON, tuples, members of an Enum."""
        match value:
            case Enum():
                made = n.Member(NOWHERE, self.tool(type(value)), identifier(value.name))
                self.forms.members[made] = Attribute(value.name)
                return made
            case list() | tuple():
                found = list(map(self.constant, cast("Sequence[object]", value)))
                items = tuple(one for one in found if one is not None)
                kind = n.ListLiteral if isinstance(value, list) else n.TupleLiteral
                return kind(NOWHERE, items, False) if len(items) == len(found) else None
            case bool() | int() | float() | str() | None:
                return n.Literal(NOWHERE, value)
            case _:
                return None

    def called(
        self,
        function: Function,
        positional: Sequence[n.Expression],
        named: Mapping[str, n.Expression] | None = None,
        *,
        has_rest: bool = False,
    ) -> n.Call:
        """The call of a function or class, awaited where it has to be.

        `has_rest`: the last argument by position is a list of several.
        """
        arguments = [n.Argument(NOWHERE, None, value) for value in positional]
        for name, value in (named or {}).items():
            arguments.append(n.Argument(NOWHERE, identifier(name), value))
        made = n.Call(NOWHERE, self.tool(function), tuple(arguments), False)
        waits = _is_async(function)
        self._awaits = self._awaits or waits
        self.forms.calls[made] = DirectCall(None, "yes" if waits else "no", has_rest)
        return made

    def joined(self, texts: n.Expression) -> n.Call:
        """`",".join(texts)`."""
        join = n.Member(NOWHERE, n.Literal(NOWHERE, ","), identifier("join"))
        self.forms.members[join] = Attribute("join")
        made = n.Call(NOWHERE, join, (n.Argument(NOWHERE, None, texts),), False)
        self.forms.calls[made] = DirectCall(None)
        return made

    def for_each(
        self,
        item: n.Expression,
        variable: str,
        over: n.Expression,
        tests: tuple[n.Expression, ...] = (),
    ) -> n.Comprehension:
        """`[item for variable in over if test]`."""
        clause = n.ComprehensionClause(NOWHERE, pattern(variable), over, tests)
        self.forms.loops[clause] = Form.NATIVE
        return n.Comprehension(NOWHERE, item, (clause,))

    def converted(self, value: n.Expression, wanted: t.Type) -> n.Expression:
        """`int(value)`."""
        self.coercions[value] = Coercion(Fit.CONVERT, wanted)
        return value

    def coerced(
        self, value: n.Expression, wanted: types.Type, by: Iterable[Function]
    ) -> n.Expression:
        """`coerce(value, wanted, by)`."""
        names = tuple(map(self.tool, by))
        self.coercions[value] = Coercion(Fit.CHECK, self.types.exactly(wanted), names)
        return value

    # Statements

    def assigned(
        self, name: str, value: n.Expression, wanted: types.Type | None = None
    ) -> n.AssignStmt:
        """`name = value`, `name: wanted = value`."""
        schema = None
        if wanted is not None:
            schema = n.NamedSchema(NOWHERE, types.type_notation(wanted))
            self._schemas[schema] = self.types.of(wanted)
        return n.AssignStmt(NOWHERE, identifier(name), schema, value)

    def appended(self, name: str, value: n.Expression, whole: types.Type) -> n.AugmentedAssignStmt:
        """`name += [value]`, of a list of the type `whole`."""
        read = self.typed(n.Name(NOWHERE, name), whole)
        added = self.typed(n.ListLiteral(NOWHERE, (value,), False), whole)
        longer = self.typed(n.Binary(NOWHERE, "+", read, added), whole)
        self.forms.operators[longer] = Form.NATIVE
        return n.AugmentedAssignStmt(NOWHERE, identifier(name), longer)

    # The module

    def text(self, name: str, body: Sequence[n.Statement], gives: types.Type) -> str:
        """The module whose `main` does this, from a file called `name`."""
        main = n.FunctionDef(NOWHERE, identifier(_MAIN), (), None, tuple(body), False)
        module = n.Module(NOWHERE, (*self._imports(), main))
        facts = self._facts(module)
        returned = self.types.of(types.widen(gives))
        facts.functions[main] = FunctionFacts(main, (), None, returned)
        self._note_classes(facts)
        with fitting_interpreter():
            planned = plan(facts, Overlapping(is_on=False, is_async=self._awaits))
            planned.is_of_program = True
            return generate(Source.from_text(name, ""), module, facts, planned).text

    def _imports(self) -> Iterable[n.FromImport]:
        for alias, (module, name) in self.imported.items():
            imported = n.ImportedName(NOWHERE, identifier(name), identifier(alias))
            yield n.FromImport(NOWHERE, identifier(module), (imported,))

    def _facts(self, module: n.Module) -> Facts:
        names = resolve(module, Collector())
        for coercion in self.coercions.values():
            for one in coercion.by or ():
                names.symbols[one] = names.scopes[module].symbols[one.text]
                names.symbols[one].is_read = True
        facts = Facts(module, names)
        facts.siblings = {Path(script.source.name).stem for script in self.tools.siblings}
        facts.forms, facts.types = self.forms, self._type_of
        facts.schemas, facts.coercions = self._schemas, self.coercions
        for node in nodes_of(module, n.AssignStmt):
            symbol, type_ = names.of(node.name), facts.type_of(node.value)
            facts.symbols[symbol] = t.union((facts.symbols.get(symbol, t.NEVER), type_))
        return facts

    def _note_classes(self, facts: Facts) -> None:
        for record in self.types.records.values():
            facts.record_facts[record.node] = record
            for alias, place in self.imported.items():
                if place == (record.module, record.node.name.text):
                    facts.records[alias] = record


def identifier(text: str) -> n.Identifier:
    """A name that is introduced, or that of an argument or a member."""
    return n.Identifier(NOWHERE, text)


def pattern(variable: str) -> n.NamePattern:
    """What a loop binds."""
    return n.NamePattern(NOWHERE, identifier(variable))


def _is_async(function: Function) -> bool:
    plain = inspect.unwrap(function)
    return inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(type(plain).__call__)
