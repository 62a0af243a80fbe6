"""Emits prompts as calls of `prompt`.

    x: [int] = $ compute {square} for {nums}, {limit + 1} at most $

becomes

    x = prompt(
        "compute {square} for {nums}, {0} at most",
        limit + 1,
        square=square,
        nums=nums,
        returns=list[int],
    ).value

A multi-line text stays multi-line, so that it reads and diffs as in the script. In the tree, a
placeholder replaces the text; the layout inserts the text when its indentation is known.
"""

import keyword
from collections.abc import Mapping, Sequence

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.annotations import annotation, field_annotation
from saftc.codegen.comments import one_a_line
from saftc.codegen.context import Context
from saftc.codegen.expressions.calls import emit_call
from saftc.codegen.expressions.literals import emit_entry, emit_object
from saftc.codegen.layout import WIDTH, mark
from saftc.codegen.python import Expression, Statement
from saftc.infer.programs import conversions_of, functions_above
from saftc.infer.tools import (
    OfferedTool,
    approved_in,
    certainly_kept,
    is_field_of_tools,
    keeps_tools,
    listed_tool,
    listed_tools,
    own_tools,
    waiting_functions,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from saftc.types.types import ANY, STRING, BuiltinType, FunctionType, Type

# The parameters of `prompt` and `program`, which cannot be keywords for holes.
_PARAMETERS = {
    *("template", "returns", "fields", "rounds", "options", "after", "tools", "stream"),
    *("conversions", "pure"),
}
# The comment on the tools that are `pure`.
_TOGETHER = "may be called at the same time"

_Named = list[tuple[str, Expression]]


def emit_prompt(context: Context, node: n.Prompt) -> Expression:
    """Emits a prompt as `prompt(...).value`."""
    return py.attribute(_asked(context, node, _returns(context, node)), "value")


def emit_parts(context: Context, node: n.Expression, parts: str) -> Expression:
    """Emits `prompt(..., stream=True).pieces()`, or `reply.pieces()` for a stream in a variable.

    `parts` is the name of the method.
    """
    if isinstance(node, n.Prompt):
        wanted = [*_returns(context, node), ("stream", py.constant(True))]
        whole: Expression = _asking(context, node, wanted)
    elif context.facts.result_of(node) is not None:
        whole = emit_result(context, node)
    else:
        whole = context.emit(node)
    return py.call(py.attribute(whole, parts))


def emit_result(context: Context, node: n.Expression) -> Expression:
    """Emits a prompt without `.value`, so that the expression is the prompt's whole result.

    The node may also be a name or call that keeps a prompt's history.
    """
    match node:
        case n.Prompt():
            return _asked(context, node, _returns(context, node))
        case n.Name():
            return context.note(py.name(context.name_of(node)), node.span)
        case n.Call():
            made = emit_call(context, node)
            assert isinstance(made, cst.Attribute)
            return py.unwrapped(made.value)
        case _:
            raise AssertionError(f"{type(node).__name__} keeps no history")


def emit_destructured(
    context: Context, node: n.Prompt, fields: Sequence[n.PatternField]
) -> Expression:
    """Emits a prompt whose reply is destructured. The expression is the prompt's whole result."""
    facts, docs = context.facts, context.module.docs
    types = [
        (
            field.name.text,
            field_annotation(context, facts.schemas[field.schema], docs.get(field)),
        )
        for field in fields
    ]
    return _asked(context, node, [("fields", py.dict_(types))])


def emit_kept_program(context: Context, node: n.Expression, value: Expression) -> Expression:
    """Emits `Plan.read(value, ...)`, which checks a value as a stored program."""
    functions = functions_above(node.span, context.module, context.facts)
    symbols = context.facts.names.scopes[context.module].symbols
    names = {name: py.name(context.names[symbols[name]]) for name in functions}
    only_asks = context.plan.effects.only_asks
    waiting = waiting_functions(context.facts)
    pure = [names[name] for name, one in functions.items() if only_asks(one) and one not in waiting]
    plain = [
        (name, _approved(context, names[name]) if one in waiting else names[name])
        for name, one in functions.items()
        if not one.is_conversion
    ]
    converting = [names[name] for name, one in functions.items() if one.is_conversion]
    named: _Named = []
    if converting:
        named.append(("conversions", py.list_(converting)))
    if pure:
        named.append(("pure", py.list_(pure)))
    function = py.attribute(context.global_("Plan"), "read")
    return py.call(function, [value, py.dict_(plain)], named)


def _returns(context: Context, node: n.Prompt) -> _Named:
    """The named arguments of `prompt` or `program` that describe the type of the reply.

    A program also gets its conversions, and the functions that may be called at the same time.
    """
    asked = context.facts.prompts[node]
    if node.mode != "program":
        return [("returns", _asked_type(context, asked))] if asked != STRING else []
    wanted: _Named = []
    # A program may use all conversions of the module.
    conversions = conversions_of(context.module, context.facts)
    symbols = context.facts.names.scopes[context.module].symbols
    converting = {name: context.names[symbols[name]] for name in conversions}
    asking = [
        py.name(converting[name])
        for name, definition in conversions.items()
        if context.plan.effects.only_asks(definition)
    ]
    pure = [*_functions_that_only_ask(context, node, set(conversions)), *asking]
    if pure:
        wanted.append(("pure", py.list_(pure)))
    if converting:
        wanted.append(("conversions", py.list_(list(map(py.name, converting.values())))))
    return wanted if asked == ANY else [*wanted, ("returns", _asked_type(context, asked))]


def _asked_type(context: Context, asked: Type) -> Expression:
    """The annotation for the type of a reply.

    If a function returns the reply, a union of three or more types is written `A | (str | None)`,
    which mypy accepts as a type.
    """
    made = annotation(context, asked)
    return py.nested_union(made) if context.is_returned else made


def _functions_that_only_ask(
    context: Context, node: n.Prompt, conversions: set[str]
) -> list[Expression]:
    """The functions that a program may call and that have no effects other than prompts.

    Conversions and functions that wait for approval are left out.
    """
    found: dict[str, Expression] = {}
    waiting = {tool.name for tool in own_tools(context.facts, node) if tool.waits == "yes"}
    for part in node.parts:
        if isinstance(part, n.Hole) and isinstance(part.value, n.Name):
            if part.value.text in conversions or part.value.text in waiting:
                continue
            function = context.facts.types.get(part.value)
            effects = context.plan.effects
            if isinstance(function, FunctionType) and effects.only_asks(function.definition):
                found[part.value.text] = py.name(context.name_of(part.value))
    return list(found.values())


def _asked(context: Context, node: n.Prompt, wanted: _Named) -> Expression:
    if node in context.facts.history.streams:
        return _asking(context, node, [*wanted, ("stream", py.constant(True))])
    made = _asking(context, node, wanted)
    return context.awaited(made, node.span) if context.is_async else made


def _asking(context: Context, node: n.Prompt, wanted: _Named) -> cst.Call:
    found = context.choices.names_of_holes(node)
    names = {hole: keyword_of(name) for hole, name in found.items()}
    template = template_of(node, names)
    positional, named = _holes(context, node, names)
    named += wanted
    if node.mode == "do":
        named.append(("rounds", py.constant(1)))
    options = _options(context, node)
    if options is not None:
        named.append(("options", options))
    after = None if node.after is None else context.emit(node.after)
    if after is not None:
        named.append(("after", after))
    tools = _tools(context, node, after)
    if tools is not None:
        named.append(("tools", tools))
    beside = None if node.mode == "program" else context.choices.combined_tools(node)
    if beside is not None:
        named.append(("pure", py.list_(list(map(context.emit, beside)))))
    function: Expression = context.global_("program" if node.mode == "program" else "prompt")
    if context.is_async:
        function = py.attribute(function, "aio")
    made = py.call(function, [_text(context, template), *positional], named)
    if beside:
        made = py.with_remark(made, _TOGETHER)
    elif "\n" in template or context.deeper().is_long(made):
        made = py.spread(made)
    context.output.prompts[node] = made
    return context.note(made, node.span)


def template_of(node: n.Prompt, names: Mapping[n.Hole, str]) -> str:
    """The template of a prompt. A hole is written as its name in `names`, or else as a number."""
    text: list[str] = []
    count = 0
    for part in node.parts:
        if isinstance(part, n.PromptText):
            text.append(part.text.replace("{", "{{").replace("}", "}}"))
            continue
        hole = names.get(part)
        if hole is None:
            hole, count = str(count), count + 1
        text.append("{" + hole + (":raw}" if part.is_raw else "}"))
    return "".join(text)


def _holes(
    context: Context, node: n.Prompt, names: Mapping[n.Hole, str]
) -> tuple[list[Expression], _Named]:
    """The values of the holes: positional arguments, and named ones for the holes in `names`."""
    positional: list[Expression] = []
    named: dict[str, Expression] = {}
    waiting = [one for one in node.holes if approved_in(context.facts, one) is not None]
    # If one hole makes a function wait for approval, so do all holes with the same name.
    first = {names[one]: one for one in reversed(waiting)}
    for part in node.parts:
        if isinstance(part, n.Hole) and part not in names:
            positional.append(_hole(context, part))
        elif isinstance(part, n.Hole) and names[part] not in named:
            named[names[part]] = _hole(context, first.get(names[part], part))
    return positional, list(named.items())


def _hole(context: Context, hole: n.Hole) -> Expression:
    value = context.emit(hole.value)
    return _approved(context, value) if hole.is_approved else value


def _approved(context: Context, value: Expression) -> Expression:
    return py.call(context.global_("approve"), [value])


def _options(context: Context, node: n.Prompt) -> Expression | None:
    """Emits the options without `tools`, or returns None if there are none.

    The tools are a separate argument.
    """
    written = node.options
    if written is None:
        return None
    if not isinstance(written, n.ObjectLiteral):
        return context.emit(written)
    fields = [one for one in written.fields if not is_field_of_tools(one)]
    if len(fields) == len(written.fields):
        return _with_short_lines(context, context.emit(written))
    match fields:
        case []:
            return None
        case [n.Spread() as whole]:
            return emit_entry(context, whole)[1]
        case _:
            return _with_short_lines(context, emit_object(context, written, fields))


def _with_short_lines(context: Context, made: Expression) -> Expression:
    """Splits long texts in the options, such as the text of `system`, into several lines."""
    if not isinstance(made, cst.Dict):
        return made
    inside = context.deeper().deeper()

    def shortened(element: cst.BaseDictElement) -> cst.BaseDictElement:
        text = element.value
        if not isinstance(text, cst.SimpleString) or not inside.is_long(element):
            return element
        return element.with_changes(value=py.in_lines(text, WIDTH - 4 * (inside.depth + 1)))

    return made.with_changes(elements=list(map(shortened, made.elements)))


def _tools(context: Context, node: n.Prompt, after: Expression | None) -> Expression | None:
    """Emits the tools that are not in the prompt's text, or returns None if there are none.

    These are the tools of the conversation that the prompt continues, and those in its options.
    """
    kept = None
    if after is not None and keeps_tools(context.facts, node):
        kept = py.attribute(after, "tools")
    listed = [] if node.tools is None else _listed(context, node, node.tools)
    if kept is not None and not listed:
        return kept
    items = [*([] if kept is None else [py.starred(kept)]), *listed]
    match items:
        case []:
            return None
        case [cst.StarredElement(value=whole)]:
            return whole
        case _:
            made = py.list_(items)
            if kept is None and isinstance(node.tools, n.ListLiteral):
                return one_a_line(context, node.tools, made, node.tools.items)
            return made


def _listed(context: Context, prompt: n.Prompt, node: n.Expression) -> list[Expression]:
    """Emits the items of a list of tools, without tools that the conversation has already.

    An item is a function if its Python name is the tool's name, else a pair of name and function.
    """
    if isinstance(node, n.ListLiteral):
        found: list[Expression] = []
        kept = certainly_kept(context.facts, prompt)
        for item in node.items:
            if isinstance(item, n.Spread):
                found += _listed(context, prompt, item.value)
                continue
            (tool,) = listed_tool(context.facts, item)
            if not any(map(tool.is_same, kept)):
                found.append(_tool(context, item, tool))
        return found
    tools = listed_tools(context.facts, node) or []
    whole = context.emit(node)
    if all(_is_called_so(context, one) for one in tools):
        return [py.starred(whole)]
    each = (py.subscript(whole, py.constant(number)) for number in range(len(tools)))
    return [_with_name(one.name, value) for one, value in zip(tools, each, strict=True)]


def _tool(context: Context, node: n.Expression, tool: OfferedTool) -> Expression:
    value = context.emit(node)
    return value if _is_called_so(context, tool) else _with_name(tool.name, value)


def _with_name(name: str, function: Expression) -> Expression:
    return py.tuple_([py.constant(name), function])


def _is_called_so(context: Context, tool: OfferedTool) -> bool:
    """True if the Python name of a tool's function is certainly the tool's name."""
    symbol = tool.facts.names.of(tool.value) if isinstance(tool.value, n.Name) else None
    is_own = tool.facts is context.facts
    if symbol is not None and is_own and context.names.get(symbol) != tool.name:
        return False
    match tool.type:
        case FunctionType(definition=definition):
            return definition.name.text == tool.name
        case BuiltinType():
            return False
        case _:
            imported = None if symbol is None else symbol.node
            is_alias = isinstance(imported, n.ImportedName) and imported.alias is not None
            return tool.is_known_to_python and not is_alias


_About = (
    cst.Assign
    | cst.AnnAssign
    | cst.AugAssign
    | cst.Return
    | cst.Expr
    | cst.Raise
    | cst.Pass
    | cst.Del
)


def spread_line(context: Context, node: n.Node, small: _About) -> list[Statement]:
    """Emits the line of a statement.

    If the line is too long and contains a call of `prompt`, each argument of the call gets a line.
    """
    value = None if isinstance(small, cst.Pass | cst.Raise | cst.Del) else small.value
    asking = _asking_in(value)
    if (
        isinstance(asking, cst.Call)
        and not py.is_spread(asking)
        and context.is_long(small)
        and any(asking is context.output.prompts.get(one) for one in _prompts(node))
    ):
        assert value is not None
        spread = value.deep_replace(asking, py.spread(asking))
        small = small.with_changes(value=spread)
    return [py.line(small)]


def _asking_in(value: Expression | None) -> Expression | None:
    """Removes attributes and `await`: returns `call` for `(await call).value`."""
    while isinstance(value, cst.Attribute | cst.Await):
        value = value.value if isinstance(value, cst.Attribute) else value.expression
    return value


def _prompts(node: n.Node) -> list[n.Prompt]:
    return [one for one in walk(node) if isinstance(one, n.Prompt)]


def _text(context: Context, text: str) -> Expression:
    if "\n" not in text:
        return py.constant(text)
    context.output.texts.append(text)
    return mark(len(context.output.texts) - 1)


def keyword_of(name: str) -> str:
    """The keyword argument for a name of the script.

    A reserved name gets an underscore, which the runtime removes again.
    """
    return name + "_" if keyword.iskeyword(name) or name in _PARAMETERS else name
