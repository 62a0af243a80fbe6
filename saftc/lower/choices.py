"""Chooses between Python forms where the types alone do not decide.

`check.forms` has the forms that a construct's types decide. The choices here also depend on
effects, possible failures, and other reads of a name. The code generator asks for them and writes
the code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword

from saftc.check.facts import Facts, FunctionFacts
from saftc.check.forms import Form, Growth
from saftc.check.names import Scope, Symbol
from saftc.check.statements import all_statements, assigned_by
from saftc.infer.parameters import only_called
from saftc.infer.tools import approved, own_tools
from saftc.lower.ownership import find_growth
from saftc.lower.values import Values, is_made_anew
from saftc.lower.variables import Frame, Variables
from saftc.overlap.async_main import MainSplit, entry_of
from saftc.overlap.plan import Plan
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk
from saftc.types.builtins import ITEMS, Builtin
from saftc.types.relations import Assignability, fit
from saftc.types.types import (
    ANY,
    FLOAT,
    NIL,
    STRING,
    FunctionType,
    LiteralType,
    Type,
    is_known,
    is_only,
    item_type,
    may_be,
    members,
)


@dataclass(frozen=True, slots=True)
class CountCall:
    """`items.count(value)` for `len([x for x in items if x == value])`."""

    items: n.Expression
    value: n.Expression


class Choices:
    """Chooses the Python forms in a module, by the facts about the module and its overlap plan."""

    def __init__(self, facts: Facts, plan: Plan) -> None:
        self.facts = facts
        self.plan = plan

    @cached_property
    def values(self) -> Values:
        """The chooser of the Python forms of values."""
        return Values(self.facts)

    @cached_property
    def made_in_calls(self) -> set[n.Parameter]:
        """The parameters whose default is created anew in each call that omits the argument.

        In Python, a default such as `None` marks an omitted argument, so nil must not be a possible
        argument. Therefore the type of the parameter does not include nil, and its function is
        never used as a value or as a tool of a model.
        """
        functions = only_called(self.facts.module, self.facts, is_made_anew)
        return {
            parameter
            for one in functions
            for parameter, type_ in zip(
                one.parameters, self.facts.functions[one].parameters, strict=True
            )
            if is_made_anew(parameter) and NIL not in members(type_)
        }

    @cached_property
    def growth(self) -> Mapping[n.Statement, Growth]:
        """Maps each assignment that may change a value in place to the form of the change."""
        return find_growth(self.facts)

    @cached_property
    def entry(self) -> MainSplit:
        """The split of the top level into `main` and the rest of the module, for the async form."""
        return entry_of(self.plan, self.growth)

    @cached_property
    def variables(self) -> Variables:
        """The chooser of the annotations of variables."""
        return Variables(self.facts, self.plan, self.growth, self.entry)

    def is_plain(self, node: n.Expression) -> bool:
        """Whether the script cannot observe when, or how often, an expression is evaluated."""
        return not self.plan.effects.of(node) and self._is_certain(node)

    def _is_certain(self, node: n.Expression) -> bool:
        return self.plan.certainty.expression(node) is None

    def combined_tools(self, node: n.Prompt) -> list[n.Expression] | None:
        """The tools of a prompt whose calls may run at the same time. If None, the runtime decides.

        In an event loop, the runtime would run all `async def` tools in parallel. This is wrong for
        tools of a script that must run in order.
        """
        found: dict[str, n.Expression] = {}
        has_order = is_needed = False
        for tool in own_tools(self.facts, node):
            if tool.waits == "yes":
                continue
            effects, awaits = self.plan.effects, self.plan.awaits
            match tool.type:
                case FunctionType(definition=definition):
                    if tool.facts is self.facts and effects.only_waits(definition):
                        found[tool.name] = tool.value
                        is_needed |= awaits is None or definition not in awaits.functions
                    elif awaits is not None and definition in awaits.functions:
                        has_order = True
                case _:
                    if tool.facts is self.facts and effects.is_declared_pure(tool.value):
                        found[tool.name] = tool.value
                        is_needed = True
        return list(found.values()) if is_needed or has_order else None

    # Functions

    @cached_property
    def bare_functions(self) -> set[n.FunctionDef]:
        """The functions that are emitted without annotations, since the script has none for them.

        Their types are unknown, and a call passes them a value that the script declares as `any`.
        The author of such a script has chosen dynamic types. Other functions with unknown types get
        `Any` annotations, for Python's strict checkers.
        """
        facts, docs = self.facts, self.facts.module.docs
        found: set[n.FunctionDef] = set()
        for node in nodes_of(facts.module, n.Call):
            function = facts.types.get(node.function)
            values = (argument.value for argument in node.arguments)
            if isinstance(function, FunctionType) and any(map(self._is_declared_any, values)):
                found.add(function.definition)
        return {
            one
            for one in found
            if _is_unknown(facts.functions[one])
            # The annotation of a parameter holds its documentation.
            and docs.keys().isdisjoint(one.parameters)
        }

    def _is_declared_any(self, node: n.Expression) -> bool:
        declared = self.facts.declared
        return isinstance(node, n.Name) and declared.get(self.facts.names.of(node)) == ANY

    def has_opposite(self, node: n.Comparison) -> bool:
        """Whether `>=` is the opposite of `<` for two values.

        This is not so for floats, which may be NaN.
        """
        types = (self.facts.type_of(node.left), self.facts.type_of(node.right))
        return not any(may_be(one, FLOAT) for one in types)

    def is_checked(self, value: n.Expression, wanted: Type, frame: Frame) -> bool:
        """Whether a function checks `value` before it returns the value.

        The check tells type checkers the type of a value that they take for `Any`.
        """
        coercion = self.facts.coercions.get(value)
        is_as_it_is = coercion is None or coercion.fit == Assignability.EXACT
        return is_known(wanted) and is_as_it_is and self.variables.reads_as_any(value, frame)

    def keeps_failure(self, error: Symbol) -> bool:
        """Whether a caught failure has a variable beside the variable of the exception.

        If one `except` block of a function needs the variable, all blocks with the same name for
        the failure have it: mypy rejects a variable that Python deletes after another block.
        """
        return _variable(error) in self._kept_failures

    @cached_property
    def _kept_failures(self) -> set[tuple[Scope | None, str]]:
        """The variables that `except` blocks need for their failures."""
        return {
            _variable(error)
            for statement in nodes_of(self.facts.module, n.TryStmt)
            if statement.error is not None
            and self._needs_variable(statement, error := self.facts.names.of(statement.error))
        }

    def _needs_variable(self, statement: n.TryStmt, error: Symbol) -> bool:
        """Whether an `except` block needs a variable for the failure.

        This is the case if the script reads the failure more than once, or may read it after the
        block has ended, or if the block assigns a name that is called somewhere.
        """
        facts, plan = self.facts, self.plan
        nodes = [node for one in statement.handler for node in walk(one)]
        reads = [one for one in nodes if isinstance(one, n.Name) and facts.names.of(one) is error]
        passed_on = [one for one in nodes if one in facts.names.passed_on]
        assigned = {
            facts.names.of(name)
            for one in all_statements(statement.handler)
            for name in assigned_by(one)
        }
        called = (call.function for call in nodes_of(facts.module, n.Call))
        return (
            len(reads) - len(passed_on) > 1
            or error.is_captured
            or any(node in plan.loops or node in plan.maps for node in nodes)
            or any(isinstance(one, n.Name) and facts.names.of(one) in assigned for one in called)
        )

    # Items

    def is_lazy(self, builtin: Builtin, node: n.Expression) -> bool:
        """Whether `builtin` may read the items of `node` lazily without observable effects."""
        awaits = self.plan.awaits
        if awaits is not None and any(awaits.of(one) is not None for one in walk(node)):
            return False  # Python has other generators for what waits
        if builtin.goes_over == "some":
            return self.is_plain(node)  # it leaves out the rest
        # A sum of integers and floats may itself fail, and an exception of Python code ends a
        # generator.
        item = item_type(self.facts.type_of(node))
        kinds = ("int", "float", "decimal", "duration")
        adds_alike = builtin.name != "sum" or any(is_only(item, kind) for kind in kinds)
        is_known_to_end = "unknown" not in self.plan.effects.of(node)
        return is_known_to_end and (adds_alike or self._is_certain(node))

    def counted(self, node: n.Expression) -> CountCall | None:
        """The operands of `items.count(value)` if `node` is `[x for x in items if x == value]`.

        Returns None for other expressions, and if `count` may differ from the length of the list.
        """
        facts = self.facts
        match node:
            case n.Comprehension(
                item=n.Name() as item,
                clauses=(
                    n.ComprehensionClause(
                        pattern=n.NamePattern(name=bound),
                        iterable=iterable,
                        conditions=(n.Comparison(operator="==", left=left, right=right) as test,),
                    ),
                ),
            ):
                symbol = facts.names.of(bound)
            case _:
                return None
        others = [one for one in (left, right) if not self._is_name_of(one, symbol)]
        if not self._is_name_of(item, symbol) or len(others) != 1 or node in self.plan.maps:
            return None
        value, items = others[0], facts.type_of(iterable)
        type_ = facts.type_of(value)
        if isinstance(value, n.Literal) and isinstance(value.value, str):
            type_ = LiteralType(value.value, STRING)
        names = (facts.names.of(one) for one in walk(value) if isinstance(one, n.Name))
        is_alike = (
            is_only(items, *ITEMS)
            and facts.forms.loops[node.clauses[0]] == Form.NATIVE
            and facts.forms.operators[test] == Form.NATIVE
            and facts.contains_as_python(facts.type_of(value), items)
            and fit(type_, item_type(items)) == Assignability.EXACT
            and not any(part in facts.coercions for part in (item, left, right))
        )
        is_once = self.is_plain(value) and {symbol, *facts.names.unset}.isdisjoint(names)
        return CountCall(iterable, value) if is_alike and is_once else None

    def _is_name_of(self, node: n.Expression, symbol: Symbol) -> bool:
        return isinstance(node, n.Name) and self.facts.names.of(node) is symbol

    # Prompts

    def names_of_holes(self, node: n.Prompt) -> dict[n.Hole, str]:
        """Maps holes to their names: the variable in the hole, or `title` for `ticket.title`.

        The last word of `ticket.title` is the name only if no other hole has this name. Holes
        without a name are left out.
        """
        holes = [part for part in node.parts if isinstance(part, n.Hole)]
        values = {one: approved(self.facts, one.value) or one.value for one in holes}
        named = {one: value.text for one, value in values.items() if isinstance(value, n.Name)}
        found = dict(named)
        for one in holes:
            word = self._last_word(one.value)
            if word is not None and word not in found.values():
                found[one] = word
        if len(found) == len(holes):
            return found
        # Python evaluates positional arguments first: a later named one must not be observable.
        return {
            one: name for one, name in found.items() if one in named or self.is_plain(one.value)
        }

    def _last_word(self, node: n.Expression) -> str | None:
        """The last field name of the expression in a hole, or None.

        A value that may be a function has no such name, since the model would see the name.
        """
        type_ = self.facts.type_of(node)
        if not is_known(type_):
            return None
        match node:
            case n.Member():
                word = node.name.text
            case n.Index(key=n.Literal(value=str() as word)):
                pass
            case _:
                return None
        return word if word.isidentifier() and not iskeyword(word) else None


def _is_unknown(facts: FunctionFacts) -> bool:
    schemas = [facts.node.returns, *(parameter.schema for parameter in facts.node.parameters)]
    types = [facts.gives, *facts.parameters]
    return not any(schemas) and not any(map(is_known, types))


def _variable(error: Symbol) -> tuple[Scope | None, str]:
    """The function around the `except` block of a failure, and the name of the failure."""
    return None if error.scope is None else error.scope.call, error.name
