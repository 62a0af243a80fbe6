"""The tools of a prompt: the functions that the model may call, and their names.

    $ Greet the customer. You have {find_orders}. $ with {tools: [refund, shop.cancel]}
    $ Help {mail}. You have {refund:approve}. $ with {tools: [look, approve(shop.cancel)]}
    $ {line:raw} $ after history

Tools come from the text, from `tools`, and from the prompt after `after`, whose conversation this
prompt continues. That prompt is known if `after` has a name that is bound to prompts only, or to a
call of a function that is declared to return a whole result. A parameter, a member, an item or data
after `after` provides no tools. An empty list, `with {tools: []}`, removes the inherited tools.

A list is known if it is a literal, or a name that is bound to a literal once. Approval is part of a
function's type, so it is tracked through variables, lists, fields and results. The approval of a
Python function is tracked only through names that are bound once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from saftc.check.facts import Facts
from saftc.check.names import Symbol
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector, Diagnostic
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk
from saftc.types.foreign import Function, Namespace, PythonClass, Value
from saftc.types.relations import Assignability, fit
from saftc.types.results import CONVERSATION
from saftc.types.types import ANY, BuiltinType, CallableType, FunctionType, Type, members, show

_IN_PLACE = "write the list in place: `with {tools: [look_up, refund]}`"


# Whether calls by a model wait for approval.
Waits = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A function that a prompt offers as a tool.

    `name`: the tool's name. `value`: the expression for the function, in the script of `facts`.
    `is_listed`: the list `tools` has the function. `waits`: whether calls by the model wait for
    approval.
    """

    name: str
    value: n.Expression
    facts: Facts
    is_listed: bool = False
    waits: Waits = "no"

    @property
    def type(self) -> Type:
        """The type of the function."""
        return self.facts.types.get(self.value, ANY)

    @property
    def is_known_to_python(self) -> bool:
        """Whether a Python module defines the function."""
        return isinstance(self.facts.declared_by_python(self.value), Function)

    def is_same(self, other: "OfferedTool") -> bool:
        """Whether both tools certainly have the same function, name and approval."""
        one, same = self.type, other.type
        if not isinstance(one, FunctionType) or not isinstance(same, FunctionType):
            return False
        is_one = one.definition is same.definition and self.facts.is_evaluated_once(one.definition)
        is_known = self.name == other.name and self.waits == other.waits != "unknown"
        return is_one and is_known

    @property
    def is_function(self) -> bool:
        """Whether the tool is known to be a function. A value in a hole may also be text."""
        return self.is_listed or is_known_function(self.facts, self.value)


def is_known_function(facts: Facts, node: n.Expression) -> bool:
    """Whether a value may be a known function: of a script, of Python, or a builtin.

    A value of unknown type counts, too, if `approve` was applied to it.
    """
    types = _types(facts, node)
    return (
        any(isinstance(one, FunctionType | BuiltinType) for one in types)
        or isinstance(facts.declared_by_python(node), Function)
        or (ANY in types and function_behind(facts, node).is_approved)
    )


def may_be_function(facts: Facts, node: n.Expression) -> bool:
    """Whether a value may be a function. A value of unknown type may be one."""
    return ANY in _types(facts, node) or is_known_function(facts, node)


def own_tools(facts: Facts, node: n.Prompt) -> list[OfferedTool]:
    """The tools from a prompt's text and its `tools`, including values that may be functions."""
    return _shown_tools(facts, node) + (listed_tools(facts, node.tools) or [])


def _shown_tools(facts: Facts, node: n.Prompt) -> list[OfferedTool]:
    found: list[OfferedTool] = []
    numbered = 0
    waiting = {value.text for value in map(partial(approved_in, facts), node.holes) if value}
    for hole in node.holes:
        value = approved(facts, hole.value) or hole.value
        if may_be_function(facts, value):
            is_named = isinstance(value, n.Name)
            numbered += not is_named and is_known_function(facts, value)
            name = value.text if isinstance(value, n.Name) else f"tool_{numbered}"
            is_told = hole.is_approved or name in waiting
            waits = "yes" if is_told else waits_for_approval(facts, hole.value)
            found.append(OfferedTool(name, value, facts, waits=waits))
    return found


@dataclass(frozen=True, slots=True)
class ResolvedFunction:
    """The expression that a value resolves to, without `approve`, in the script of `facts`.

    `is_approved`: `approve` was applied to the value.
    """

    value: n.Expression
    facts: Facts
    is_approved: bool = False


def function_behind(facts: Facts, node: n.Expression) -> ResolvedFunction:
    """Resolves a value through `approve` and through names that are bound once."""
    found, seen = ResolvedFunction(node, facts), set[Symbol]()
    while True:
        value, facts = found.value, found.facts
        inner = approved(facts, value)
        if inner is not None:
            found = ResolvedFunction(inner, facts, is_approved=True)
            continue
        symbol = facts.names.symbols.get(value) if isinstance(value, n.Name) else None
        if symbol is None:
            return found
        owner, meant = _resolved_name(facts, symbol)
        bound = owner.bound_once.get(meant)
        if bound is None or meant in seen:
            return found
        seen.add(meant)
        found = ResolvedFunction(bound, owner, found.is_approved)


def waits_for_approval(facts: Facts, node: n.Expression) -> Waits:
    """Whether calls by a model wait for approval if the value `node` is offered as a tool."""
    behind = function_behind(facts, node)
    if behind.is_approved:
        return "yes"
    found: set[Waits] = set()
    for one in _types(facts, node):
        if isinstance(one, FunctionType | BuiltinType):
            found.add("yes" if one.waits else "no")
        elif one == ANY:
            found.add("no" if _is_bare(behind) else "unknown")
    return found.pop() if len(found) == 1 else "unknown" if found else "no"


def _is_bare(behind: ResolvedFunction) -> bool:
    """True if a value of unknown type cannot be a function that waits for approval.

    `behind` is what the value resolves to.
    """
    if behind.facts.record_of(behind.value) is not None:
        return True
    match behind.facts.declared_by_python(behind.value):
        case Function(signatures=signatures):
            return bool(signatures)  # without signatures, a decorator returned it
        case PythonClass() | Namespace():
            return True
        case _:
            return False


def approved(facts: Facts, node: n.Expression) -> n.Expression | None:
    """The argument of a call such as `approve(refund)`, or None for any other expression."""
    match node:
        case n.Call(
            function=n.Name() as callee, arguments=(n.Argument(name=None) as given,)
        ) if _is_approve(facts, callee):
            return given.value
        case _:
            return None


def approved_in(facts: Facts, hole: n.Hole) -> n.Name | None:
    """The name of the function in a hole such as `{refund:approve}`, or None for other holes.

    All holes of the prompt with this name are the same tool.
    """
    value = approved(facts, hole.value) or (hole.value if hole.is_approved else None)
    return value if isinstance(value, n.Name) else None


def listed_tools(facts: Facts, node: n.Expression | None) -> list[OfferedTool] | None:
    """The tools in a known list (see the module), or None for any other value."""
    if node is None:
        return None
    found = _list(facts, node, set())
    if found is None:
        return None
    return [tool for item, owner in found for tool in listed_tool(owner, item)]


def listed_tool(facts: Facts, node: n.Expression) -> list[OfferedTool]:
    """The tool for an item of `tools`, as a list that is empty if the item is invalid."""
    value = approved(facts, node) or node
    name = _own_name(value)
    if name is None or not may_be_function(facts, value):
        return []
    waits = waits_for_approval(facts, node)
    return [OfferedTool(name, value, facts, is_listed=True, waits=waits)]


def offered(facts: Facts, node: n.Prompt) -> list[OfferedTool]:
    """All tools that a prompt may offer, in the order that the runtime uses.

    First come the tools in the text, then the tools inherited from previous prompts, and then
    `tools`.
    """
    return _offered(facts, node, set())


def _offered(facts: Facts, node: n.Prompt, seen: set[n.Prompt]) -> list[OfferedTool]:
    if node in seen:
        return []
    seen.add(node)
    kept = [tool for one in _before(facts, node) for tool in _offered(facts, one, seen)]
    return [*_shown_tools(facts, node), *kept, *(listed_tools(facts, node.tools) or [])]


def certainly_kept(facts: Facts, node: n.Prompt) -> list[OfferedTool]:
    """The tools that a prompt inherits from every prompt that it may continue."""
    return _kept(facts, node, frozenset())


def _kept(facts: Facts, node: n.Prompt, around: frozenset[n.Prompt]) -> list[OfferedTool]:
    if node in around:
        return []  # the first turn of a loop has none of the turns before
    each = [
        [*own_tools(facts, one), *_kept(facts, one, around | {node})]
        for one in _before(facts, node)
    ]
    first, *others = each or [[]]
    return [tool for tool in first if all(any(map(tool.is_same, one)) for one in others)]


def waiting_functions(facts: Facts) -> set[object]:
    """The functions that the script may apply `approve` to, also builtins and those of Python.

    If the script approves a value that may be any function, the result includes all functions that
    the script uses as values.
    """
    calls = nodes_of(facts.module, n.Call)
    offers = [one for node in nodes_of(facts.module, n.Prompt) for one in own_tools(facts, node)]
    found = {function for one in offers for function, _ in _waiting(one)}
    values = [value for call in calls if (value := approved(facts, call)) is not None]
    values += [one.value for one in offers if one.waits == "yes"]
    found |= {one.definition for value in values for one in _functions(facts, value)}
    callees = {call.function for call in calls}
    names = [name for name in nodes_of(facts.module, n.Name) if name not in callees]
    if any(_is_approve(facts, name) for name in names) or any(
        _may_be_any_function(facts, value) for value in values
    ):
        found |= {one.definition for name in names for one in _functions(facts, name)}
    return found


def _functions(facts: Facts, node: n.Expression) -> list[FunctionType]:
    return [one for one in _types(facts, node) if isinstance(one, FunctionType)]


def _is_approve(facts: Facts, node: n.Name) -> bool:
    symbol = facts.names.symbols.get(node)
    return node.text == "approve" and symbol is not None and symbol.kind == "builtin"


def _may_be_any_function(facts: Facts, node: n.Expression) -> bool:
    is_unknown = any(one == ANY or isinstance(one, CallableType) for one in _types(facts, node))
    return is_unknown and not isinstance(facts.declared_by_python(node), Function)


def keeps_tools(facts: Facts, node: n.Prompt) -> bool:
    """Whether a prompt may inherit tools from the conversation that it continues."""
    return any(offered(facts, one) for one in _before(facts, node))


def _before(facts: Facts, node: n.Prompt) -> Sequence[n.Prompt]:
    """The prompts from which the prompt `node` may inherit tools."""
    known = conversation(facts, node.after)
    takes_away = isinstance(node.tools, n.ListLiteral) and not node.tools.items
    return () if known is None or takes_away else known


def conversation(facts: Facts, node: n.Expression | None) -> Sequence[n.Prompt] | None:
    """The prompts whose result a name may hold. None if unknown, or if `node` is no name."""
    return _given_by(facts, node) if isinstance(node, n.Name) else None


def _given_by(facts: Facts, node: n.Expression) -> Sequence[n.Prompt] | None:
    """The prompts whose result a prompt, name or call may be, or None if they are unknown."""
    if isinstance(node, n.Prompt):
        return (node,)
    keeper = facts.history.source(node, facts.names)
    return None if keeper is None else facts.history.conversations.get(keeper)


def streams_in(facts: Facts, node: n.Expression) -> Sequence[n.Prompt]:
    """The streamed prompts whose stream a prompt, name or call may be.

    The result is empty if the value may be something other than a stream.
    """
    if isinstance(node, n.Prompt):
        return (node,) if node.is_streamed else ()
    known = _given_by(facts, node) or ()
    return known if all(one in facts.history.streams for one in known) else ()


def _types(facts: Facts, node: n.Expression) -> Sequence[Type]:
    return members(facts.types.get(node, ANY))


def _own_name(node: n.Expression) -> str | None:
    match node:
        case n.Name():
            return node.text
        case n.Member():
            return node.name.text
        case _:
            return None


def _list(
    facts: Facts, node: n.Expression, around: set[Symbol]
) -> list[tuple[n.Expression, Facts]] | None:
    """The items of a known list, each with the facts of its script, or None for another value."""
    if isinstance(node, n.Name):
        symbol = facts.names.of(node)
        owner, meant = _resolved_name(facts, symbol)
        value = owner.bound_once.get(meant)
        return None if value is None or meant in around else _list(owner, value, around | {meant})
    if not isinstance(node, n.ListLiteral):
        return None
    found: list[tuple[n.Expression, Facts]] = []
    for item in node.items:
        if not isinstance(item, n.Spread):
            found.append((item, facts))
            continue
        inner = _list(facts, item.value, around)
        if inner is None:
            return None
        found += inner
    return found


def _resolved_name(facts: Facts, symbol: Symbol) -> tuple[Facts, Symbol]:
    """The symbol of a name in the script that defines it, with the facts of that script."""
    target = facts.imported.get(symbol)
    if target is None:
        return facts, symbol
    for script in facts.scripts:
        if script.own_names.get(target.name) is target:
            return _resolved_name(script, target)
    return facts, symbol


def is_field_of_tools(entry: n.Entry) -> bool:
    """Whether an entry of a prompt's options is the field `tools`."""
    return isinstance(entry, n.Field) and entry.key.text == "tools"


def check_tools(module: n.Module, facts: Facts, mistakes: Collector) -> None:
    """Reports unknown tools, duplicate names, missing approvals, captured data and lost tools."""
    prompts = nodes_of(module, n.Prompt)
    for node in prompts:
        for find in (_problems, _calls_without_approval, _tools_of_something_untold):
            for diagnostic in find(facts, node):
                mistakes.add(diagnostic)
    if any(offers_any(facts, one) for one in prompts):
        for node in prompts:
            if _loses_tools(facts, node):
                assert node.after is not None
                hint = "list them, `with {tools: [look_up]}`; `with {tools: []}` means none"
                mistakes.add(catalogue.TOOLS_LOST.at(node.after.span, hint=hint))


def _calls_without_approval(facts: Facts, node: n.Prompt) -> Iterator[Diagnostic]:
    """Reports tools that call, without approval, a function that the model needs approval for."""
    tools = offered(facts, node)
    waiting = [(one, function, name) for one in tools for function, name in _waiting(one)]
    own = {one.value for one in own_tools(facts, node)} if waiting else set[n.Expression]()
    for one in tools:
        if not waiting or not isinstance(one.type, FunctionType):
            continue
        named = named_in(facts, one.type.definition)
        for other, function, name in waiting:
            # If an earlier prompt offers both, it is reported there.
            if function in named and not own.isdisjoint((one.value, other.value)):
                hint = f"only calls by the model wait; `approve({one.name})` makes these wait, too"
                yield catalogue.CALLS_WITHOUT_APPROVAL.at(
                    _place(node, one).span,
                    name=one.name,
                    other=name,
                    hint=None if one.waits == "yes" else hint,
                )
                break


def _tools_of_something_untold(facts: Facts, node: n.Prompt) -> Iterator[Diagnostic]:
    """Reports tools that read an outer parameter or loop item, in a prompt without any data.

    A journal finds replies by the text of the request. Such a prompt has the same text for each
    value of the parameter or item, so the journal cannot tell the requests apart.
    """
    values = [approved(facts, hole.value) or hole.value for hole in node.holes]
    if node.after is not None or not all(is_known_function(facts, one) for one in values):
        return
    named = {symbol for symbol, _ in facts.names.read(node)}
    for one in own_tools(facts, node):
        own = facts.names.symbols.get(one.value)  # None for a call that returns a function
        if own is None or own.scope is None or not isinstance(one.type, FunctionType):
            continue
        around = list(own.scope.around())
        for symbol in _captured(facts, one.type.definition):
            if symbol.scope in around and symbol not in named and _differs_by_call(symbol):
                told = f"write `{{{symbol.name}}}` into the prompt"
                hint = f"{told}: a journal finds answers by their requests"
                yield catalogue.NOT_TOLD_APART.at(
                    _place(node, one).span, name=one.name, other=symbol.name, hint=hint
                )
                break


def _captured(facts: Facts, definition: n.FunctionDef) -> list[Symbol]:
    """The outer names that a function reads, itself or through functions that it uses."""
    found = list(facts.names.captures.get(definition, {}))
    for symbol in found:
        if isinstance(symbol.node, n.FunctionDef):
            inner = facts.names.captures.get(symbol.node, {})
            found += [one for one in inner if one not in found]
    return found


def _differs_by_call(symbol: Symbol) -> bool:
    """Whether the value of a name differs by call or turn, as for a parameter or a loop's item."""
    is_item = isinstance(symbol.node, n.ForStmt | n.ComprehensionClause)
    return symbol.kind == "parameter" or is_item


def _waiting(one: OfferedTool) -> Iterator[tuple[object, str]]:
    """Yields the functions that a tool may be and whose calls wait for approval.

    Each function comes with its name.
    """
    known = [part for part in members(one.type) if isinstance(part, FunctionType)]
    for part in known:
        if one.waits == "yes" or part.waits:
            yield part.definition, part.name
    if one.waits == "yes" and not known:
        yield _function(one), one.name


def named_in(facts: Facts, definition: n.FunctionDef) -> set[object]:
    """The functions that a function calls or passes on, directly or through other functions.

    Functions that the code approves or offers with approval are excluded.
    """
    pending, seen, found = [definition], set[n.FunctionDef](), set[object]()
    while pending:
        function = pending.pop()
        if function in seen:
            continue
        seen.add(function)
        owner = next((one for one in (facts, *facts.scripts) if one.is_own(function)), None)
        if owner is None:
            continue
        nodes = [node for statement in function.body for node in walk(statement)]
        prompts = [one for one in nodes if isinstance(one, n.Prompt)]
        waits = {
            one.value
            for prompt in prompts
            for one in own_tools(owner, prompt)
            if one.waits == "yes"
        }
        # A variable bound to `approve(f)`: only its uses count.
        bound = (one.value for one in nodes if isinstance(one, n.AssignStmt))
        waits |= {given for one in bound if (given := approved(owner, one)) is not None}
        for node in nodes:
            if isinstance(node, n.Name | n.Member) and node not in waits:
                one = OfferedTool("", node, owner)
                if one.is_function:
                    found.add(_function(one))
                    pending += [] if not isinstance(one.type, FunctionType) else [
                        one.type.definition
                    ]
    return found


def offers_any(facts: Facts, node: n.Prompt) -> bool:
    """Whether the tools in a prompt's text or its `tools` include a known function."""
    return any(one.is_function for one in own_tools(facts, node))


def _loses_tools(facts: Facts, node: n.Prompt) -> bool:
    """Whether a prompt without tools continues a conversation that may contain tool calls."""
    after = node.after
    if after is None or node.tools is not None or own_tools(facts, node):
        return False
    is_written = isinstance(after, n.ListLiteral)
    if is_written and all(isinstance(one, n.ObjectLiteral) for one in after.items):
        return False  # messages that are written in place have no calls
    known = _given_by(facts, after)
    if known is None:
        return fit(facts.types.get(after, ANY), CONVERSATION) != Assignability.NEVER
    return not isinstance(after, n.Name) and any(offered(facts, one) for one in known)


def _problems(facts: Facts, node: n.Prompt) -> Iterator[Diagnostic]:
    if node.tools is not None:
        yield from _problems_of_list(facts, node.tools)
    own: dict[str, OfferedTool] = {}
    for one in own_tools(facts, node):
        if _is_other(own.setdefault(one.name, one), one):
            yield _twice(node, one)
            return
    every = offered(facts, node)
    for one in every:
        if one.name in own and _is_other(own[one.name], one):
            yield _twice(node, own[one.name])
            return
    waiting = [one for one in every if one.waits == "yes"]
    for one in every:
        for other in waiting:
            if one.waits == "no" and _is_same(one, other):
                yield catalogue.WITH_AND_WITHOUT.at(_place(node, one).span, name=one.name)
                return


def _twice(node: n.Prompt, tool: OfferedTool) -> Diagnostic:
    return catalogue.TOOL_NAME_TWICE.at(_place(node, tool).span, name=tool.name)


def _place(node: n.Prompt, tool: OfferedTool) -> n.Node:
    """The node of a prompt at which to report a tool."""
    return tool.value if tool.value in node.shown else node.tools or node


def _is_same(one: OfferedTool, other: OfferedTool) -> bool:
    """Whether two tools have the same function, even under two names."""
    is_named_so = one.name == other.name and not _is_other(one, other)
    return is_named_so or _function(one) == _function(other)


def _is_other(one: OfferedTool, other: OfferedTool) -> bool:
    """Whether two tools certainly have different functions."""
    both = (one.type, other.type)
    known = all(isinstance(type_, FunctionType | BuiltinType) for type_ in both)
    return known and one.is_function and other.is_function and _function(one) != _function(other)


def _function(one: OfferedTool) -> object:
    match one.type:
        case FunctionType(definition=definition):
            return definition
        case BuiltinType(name=name):
            return name
        case _:
            behind = function_behind(one.facts, one.value)
            declared = behind.facts.declared_by_python(behind.value)
            is_unknown = declared is None or isinstance(declared, Value)
            return behind.value if is_unknown else declared


def _problems_of_list(facts: Facts, node: n.Expression) -> Iterator[Diagnostic]:
    """Reports a value of `tools` that is not a known list of named functions."""
    found = _list(facts, node, set())
    if found is None:
        yield catalogue.TOOLS_NOT_KNOWN.at(node.span, hint=_hint_of_list(facts, node))
        return
    for item, owner in found:
        place = item if owner is facts and item.span.start >= node.span.start else node
        if not may_be_function(owner, item):
            found_type = show(owner.types.get(item, ANY))
            yield catalogue.TYPE_MISMATCH.at(place.span, expected="a function", found=found_type)
        elif _own_name(approved(owner, item) or item) is None:
            hint = "give it a name first: `look_up = ...`, and list that"
            yield catalogue.TOOLS_NOT_KNOWN.at(place.span, hint=hint)


def _hint_of_list(facts: Facts, node: n.Expression) -> str:
    if isinstance(node, n.Name | n.Member) and is_known_function(facts, node):
        return f"write a list: `[{_own_name(node)}]`"
    if isinstance(node, n.Binary):
        return "`[...some, look_up]` adds to a list that is known"
    return _IN_PLACE
