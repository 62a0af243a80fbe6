"""Which code of a script waits for a model, and is `async` in the script's async form.

    f ask(mail):                    async def ask(mail: str) -> str:
        ret $ Sum up {mail}. $          return (await prompt.aio("Sum up {mail}.", mail=mail)).value

    ask(mail)                       await ask(mail)
    g(mail)                         await ops.acall(g, mail), of a `g` that may be `ask`
    sorted(mails, by: ask)          await in_thread(sorted, mails, key=ask)

A function waits if its own body contains code that waits. A value of unknown type may be a function
that waits, if the script or one that it imports asks a model.
"""

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from functools import cached_property

from saftc.check.facts import Facts
from saftc.check.forms import IN_PARTS, BuiltinCall, DirectCall, Form
from saftc.check.names import Symbol
from saftc.infer.tools import approved
from saftc.syntax import nodes as n
from saftc.syntax.walk import children, nodes_of, walk
from saftc.types.types import ANY, BuiltinType, CallableType, FunctionType, Type, members


class Wait(Enum):
    """How a node waits."""

    # A prompt, a loop over the parts of one, or a call of an `async` function.
    AWAITED = auto()
    # A call of a value that may be an `async` function: `ops.acall`, or `maybe_await`.
    VALUE = auto()
    # A call of a plain function that calls such a function in turn: `in_thread`.
    THREAD = auto()


class Awaits:
    """The waiting code of a script; `functions` are all that wait, with those it may import."""

    def __init__(self, facts: Facts, known: "dict[int, Awaits] | None" = None) -> None:
        known = {} if known is None else known
        self.facts = facts
        known[id(facts)] = self
        self.scripts = [known.get(id(one)) or Awaits(one, known) for one in facts.scripts]
        self.functions: set[n.FunctionDef] = set().union(*(s.functions for s in self.scripts))
        own, known_before = [*nodes_of(facts.module, n.FunctionDef)], -1
        while known_before != len(self.functions):
            known_before = len(self.functions)
            # Most functions are above or below all their callees, which are in the set by then.
            self.functions.update(f for f in own if f not in self.functions and self.in_(f.body))
            own.reverse()

    @cached_property
    def asks(self) -> bool:
        """Whether the script, or one that it imports, asks a model or a server."""
        module = self.facts.module
        return (
            bool(nodes_of(module, n.Prompt, n.ServerCall))
            or any(self._is_run(node) for node in nodes_of(module, n.Name))
            or any(one.asks for one in self.scripts)
        )

    @cached_property
    def has_form(self) -> bool:
        """Whether the script has an async form, as it or a script that it imports waits.

        All other scripts have one module, and both forms share its types.
        """
        module = self.facts.module
        return (
            any(one.has_form for one in self.scripts)
            or any(self.of(node) is not None for node in walk(module))
            or (self.values_wait and bool(nodes_of(module, n.FunctionSchema)))
        )

    def suffix_of(self, script: Facts, suffix: str) -> str:
        """The suffix of the module name of an imported script; empty without an async form."""
        return suffix if any(one.facts is script and one.has_form for one in self.scripts) else ""

    @cached_property
    def values_wait(self) -> bool:
        """Whether a value of a function type may be an `async` function.

        So it is if the script asks, uses Python, or may get one from another script inside of
        another value. Other scripts take only plain functions: a waiting one that is passed to them
        runs in the event loop, and the call of the script runs in a thread (see `_of_call`).
        """
        return (
            self.asks
            or self.facts.uses_python
            or any(one.values_wait for one in self.scripts)
            or self._keeps_functions
        )

    @property
    def _keeps_functions(self) -> bool:
        """Whether a function type is part of another type or has a name.

        Scripts pass lists and fields to each other without conversion.
        """
        module = self.facts.module
        own = nodes_of(module, n.FunctionDef)
        plain = [one.schema for function in own for one in function.parameters]
        plain += [function.returns for function in own]
        plain += [one.schema for one in nodes_of(module, n.AssignStmt)]
        plain = [one.schema if isinstance(one, n.OptionalSchema) else one for one in plain]
        return any(one not in plain for one in nodes_of(module, n.FunctionSchema))

    def in_(self, nodes: Iterable[n.Node]) -> bool:
        """Whether evaluating the nodes waits."""
        return any(self.of(inner) is not None for node in nodes for inner in evaluated(node))

    def of(self, node: n.Node) -> Wait | None:
        """How a node itself waits; None if it does not."""
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
        form = self.facts.forms.calls.get(node)
        match form:
            case BuiltinCall(builtin=builtin, by=by):
                if builtin.name == "run":
                    return Wait.AWAITED
                return Wait.THREAD if by is not None and self._may_wait(by) else None
            case DirectCall(definition=n.FunctionDef() as definition):
                if definition in self.functions:
                    return Wait.AWAITED
                if self.facts.is_own(definition):
                    return None
                may_wait = self._is_given_any(node) or self._passes_function(node, definition)
                return Wait.THREAD if may_wait else None
            case DirectCall(definition=n.RecordDef() as record):
                known = self.facts.record_facts.get(record)
                has_code = known is None or (known.module is not None and not known.is_plain)
                return Wait.THREAD if has_code and self._is_given_any(node) else None
            case DirectCall(definition=None, waits="yes"):
                return Wait.AWAITED
            case DirectCall(definition=None, waits="perhaps"):
                return Wait.VALUE
            case DirectCall(definition=None):
                if self._is_waiting(node.function) or self._may_be_of_script(node.function):
                    return Wait.VALUE
                return Wait.THREAD if self._is_given_any(node) else None
            case Form.NATIVE:
                return Wait.VALUE if self.values_wait else None
            case Form.SEND:
                if self._is_given_any(node):
                    return Wait.THREAD
                return Wait.VALUE if self._passes_any or self.facts.uses_python else None
            case Form.OPS:
                is_open = self.facts.uses_python and ANY in members(self._type(node.function))
                return Wait.VALUE if is_open or self._may_wait(node.function) else None
            case _:
                return None

    def _is_given_any(self, node: n.Call) -> bool:
        """Whether an argument is, or may be, a function that waits."""
        return any(
            self._is_waiting(argument.value)
            or (ANY in members(self._type(argument.value)) and self._passes_any)
            for argument in node.arguments
        )

    def _passes_function(self, node: n.Call, definition: n.FunctionDef) -> bool:
        """Whether a call passes a function that may wait to a script that takes plain ones.

        Only the type of the passed function is known.
        """
        taken = self.facts.functions[definition].parameters
        if not any(isinstance(one, CallableType) for type_ in taken for one in members(type_)):
            return False
        is_plain = any(
            one.facts.is_own(definition) and not one.values_wait for one in self.scripts
        )
        given = (self.facts.type_of(argument.value) for argument in node.arguments)
        return is_plain and self.values_wait and ANY in given

    def _is_waiting(self, node: n.Expression) -> bool:
        return any(map(self._waits, members(self._type(node))))

    def _may_wait(self, node: n.Expression) -> bool:
        return self._is_waiting(node) or (ANY in members(self._type(node)) and self.asks)

    def _waits(self, type_: Type) -> bool:
        match type_:
            case FunctionType(definition=definition):
                return definition in self.functions
            case BuiltinType(name=name):
                return name == "run"
            case _:
                return False

    def _type(self, node: n.Expression) -> Type:
        return self.facts.types.get(node, ANY)

    def _may_be_of_script(self, node: n.Expression) -> bool:
        """Whether a name is imported and may be a script's function of unknown type."""
        facts, is_member = self.facts, isinstance(node, n.Member)
        meant = facts.member_of_module(node) if isinstance(node, n.Member) else None
        while meant is None and isinstance(node, n.Member):
            node = node.value
        symbol = facts.names.of(node) if isinstance(node, n.Name) else None
        if meant is None and symbol is not None:
            meant = facts.imported.get(symbol)
            if meant is None:  # several scripts may give it
                return symbol in self._of_scripts and symbol not in facts.modules and self.asks
            if is_member:
                return meant.kind == "variable" and self._passes_any
        return meant is not None and meant.kind == "variable" and self.asks

    @cached_property
    def _of_scripts(self) -> set[Symbol]:
        """The symbols that imports of scripts bind."""
        facts, found = self.facts, set[Symbol]()
        for node in nodes_of(facts.module, n.ImportStmt, n.FromImport):
            is_script = node.module in facts.named_scripts
            if isinstance(node, n.FromImport):
                names = [one for one in node.names if is_script or one.name in facts.named_scripts]
                found |= {facts.names.of(one.alias or one.name) for one in names}
            elif is_script:
                found.add(facts.names.of(node.alias or node.module))
        return found

    def _is_run(self, node: n.Name) -> bool:
        symbol = self.facts.names.of(node)
        return symbol.kind == "builtin" and symbol.name == "run"

    @property
    def _passes_any(self) -> bool:
        """Whether a waiting function is used as a value other than as callee or tool."""
        return any(any(map(one._is_waiting, one._values)) for one in (self, *self.scripts))

    @cached_property
    def _values(self) -> list[n.Expression]:
        return function_values(self.facts)


def function_values(facts: Facts) -> list[n.Expression]:
    """The function names that are neither called nor shown to a model."""
    module = facts.module
    others = {call.function for call in nodes_of(module, n.Call)}
    shown = [one for node in nodes_of(module, n.Prompt) for one in node.shown]
    others |= {approved(facts, one) or one for one in shown}
    names = (node for node in nodes_of(module, n.Name, n.Member) if node not in others)
    functions = FunctionType | BuiltinType
    return [one for one in names if isinstance(facts.types.get(one, ANY), functions)]


def evaluated(node: n.Node) -> Iterator[n.Node]:
    """The nodes that are evaluated with a node; of a function definition, only the defaults."""
    yield node
    parts = node.defaults if isinstance(node, n.FunctionDef | n.RecordDef) else children(node)
    for one in parts:
        yield from evaluated(one)

