"""Which code of a script waits for a model, and is `async` in the script's async form.

    f ask(mail):                    async def ask(mail: str) -> str:
        ret $ Sum up {mail}. $          return (await prompt.aio("Sum up {mail}.", mail=mail)).value

    ask(mail)                       await ask(mail)
    g(mail)                         await ops.acall(g, mail), if `g` may be `ask`
    sorted(mails, by: ask)          await in_thread(sorted, mails, key=ask)

A function waits if its own body contains code that waits (see `Summary.waits`). If it is unknown
which function a value is, calling the value may wait, so each such call is awaited.
"""

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING

from saftc.check.facts import Facts
from saftc.check.forms import IN_PARTS, BuiltinCall, DirectCall, Form
from saftc.check.names import Symbol
from saftc.check.statements import imported_by
from saftc.infer.tools import approved
from saftc.syntax import nodes as n
from saftc.syntax.walk import children, nodes_of, walk
from saftc.types.types import ANY, BuiltinType, CallableType, FunctionType, Type, members

if TYPE_CHECKING:
    from saftc.effects.effects import Effects


class Wait(Enum):
    """How the async form waits at a node."""

    # A prompt, a loop over the pieces of a streamed answer, or a call of an `async` function.
    AWAITED = auto()
    # A call of a value that may be an `async` function: `ops.acall`, or `maybe_await`.
    VALUE = auto()
    # A call of a plain function that may call an `async` function: `in_thread`.
    THREAD = auto()


class Awaits:
    """Finds the code of a script that waits."""

    def __init__(self, effects: "Effects") -> None:
        self.effects = effects
        self.facts = effects.facts

    @property
    def scripts(self) -> "list[Awaits]":
        """The `Awaits` of the scripts that this script imports, directly or indirectly."""
        return [one.awaits for one in self.effects.scripts]

    @cached_property
    def functions(self) -> set[n.FunctionDef]:
        """The functions that wait, in this script and in the scripts that it imports."""
        own = nodes_of(self.facts.module, n.FunctionDef)
        waiting = {one for one in own if self.effects.summary(one).waits}
        return waiting.union(*(one.functions for one in self.scripts))

    @cached_property
    def has_form(self) -> bool:
        """Whether the script has an async form: the script waits, or imports a script that waits.

        Any other script has a single module, so both forms of a script that imports it use the same
        types.
        """
        return any(one.has_form for one in self.scripts) or any(
            self.of(node) is not None for node in walk(self.facts.module)
        )

    def suffix_of(self, script: Facts, suffix: str) -> str:
        """The suffix of an imported script's module name, or "" if the script has no async form."""
        return suffix if any(one.facts is script and one.has_form for one in self.scripts) else ""

    def in_(self, nodes: Iterable[n.Node]) -> bool:
        """Whether evaluating the nodes waits."""
        return any(self.of(inner) is not None for node in nodes for inner in evaluated(node))

    def of(self, node: n.Node) -> Wait | None:
        """How a node itself waits, apart from its parts. Returns None if it does not wait."""
        match node:
            case n.Prompt() | n.ServerCall():
                return Wait.AWAITED
            case n.Call():
                return self._of_call(node)
            case n.ForStmt() | n.ComprehensionClause():
                return Wait.AWAITED if self.facts.forms.loops.get(node) in IN_PARTS else None
            case _:
                return None

    def _of_call(self, node: n.Call) -> Wait | None:
        match self.facts.forms.calls.get(node):
            case BuiltinCall(builtin=builtin) if builtin.name == "run":
                return Wait.AWAITED
            case BuiltinCall(by=by) if by is not None:
                return Wait.THREAD if self._may_wait(by) else None
            case DirectCall(definition=n.FunctionDef() as definition):
                is_own = self.facts.is_own(definition)
                waits = self.effects.summary(definition).waits
                return Wait.AWAITED if waits else None if is_own else self._in_thread(node)
            case DirectCall(definition=n.RecordDef() as record):
                known = self.facts.record_facts.get(record)
                has_code = known is None or (known.module is not None and not known.is_plain)
                return self._in_thread(node) if has_code else None
            case DirectCall(waits="yes"):
                return Wait.AWAITED
            case DirectCall(waits="perhaps"):
                return Wait.VALUE
            case DirectCall():
                is_of_script = self._is_of_script(node.function)
                return Wait.VALUE if is_of_script else self._in_thread(node)
            case Form.NATIVE:
                return Wait.VALUE
            case Form.SEND:
                return self._in_thread(node) or Wait.VALUE
            case Form.OPS:
                return Wait.VALUE if self._may_wait(node.function) else None
            case _:
                return None

    def _in_thread(self, node: n.Call) -> Wait | None:
        """How a call of Python code waits, because it may call its arguments.

        Returns None if no argument may be a function that waits.
        """
        types = [self.facts.types.get(one.value, ANY) for one in node.arguments]
        known = (one for type_ in types for one in members(type_) if one != ANY)
        is_given = any(map(self._waits, known)) or (ANY in types and self._passes_functions)
        return Wait.THREAD if is_given else None

    def _may_wait(self, node: n.Expression) -> bool:
        return any(map(self._waits, members(self.facts.types.get(node, ANY))))

    def _waits(self, type_: Type) -> bool:
        """Whether a value of this type is, or may be, a function that waits."""
        match type_:
            case FunctionType(definition=definition):
                return self.effects.summary(definition).waits
            case BuiltinType(name=name):
                return name == "run"
            case _:
                return type_ == ANY or isinstance(type_, CallableType)

    def _is_of_script(self, node: n.Expression) -> bool:
        """Whether a name is a variable of an imported script.

        Python functions that the imported script imports are no such variables.
        """
        meant: Symbol | None = None
        while isinstance(node, n.Member):
            meant = meant or self.facts.member_of_module(node)
            node = node.value
        symbol = self.facts.names.of(node) if isinstance(node, n.Name) else None
        if meant is None and symbol is not None:
            meant = self.facts.imported.get(symbol)
            if meant is None:  # several scripts may define the name
                return symbol in self._of_scripts and symbol not in self.facts.modules
        return meant is not None and meant.kind == "variable"

    @cached_property
    def _of_scripts(self) -> set[Symbol]:
        """The symbols that imports of scripts bind."""
        scripts = self.facts.named_scripts
        return {
            self.facts.names.of(name)
            for node in nodes_of(self.facts.module, n.ImportStmt, n.FromImport)
            for name, imported in imported_by(node)
            if node.module in scripts or imported in scripts
        }

    @cached_property
    def _passes_functions(self) -> bool:
        """Whether functions are used as values, so that a value of unknown type may be one."""
        return any(function_values(one.facts) for one in (self, *self.scripts))


def function_values(facts: Facts) -> list[n.Expression]:
    """The names of functions that are used as values: neither called nor shown to a model."""
    module = facts.module
    others = {call.function for call in nodes_of(module, n.Call)}
    shown = [one for node in nodes_of(module, n.Prompt) for one in node.shown]
    others |= {approved(facts, one) or one for one in shown}
    names = (node for node in nodes_of(module, n.Name, n.Member) if node not in others)
    functions = FunctionType | BuiltinType
    return [one for one in names if isinstance(facts.types.get(one, ANY), functions)]


def evaluated(node: n.Node) -> Iterator[n.Node]:
    """The node and all nodes that are evaluated with it.

    If the node is a definition, only its defaults are evaluated.
    """
    yield node
    parts = node.defaults if isinstance(node, n.FunctionDef | n.RecordDef) else children(node)
    for one in parts:
        yield from evaluated(one)
