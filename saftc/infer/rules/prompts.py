"""Prompts: their types, tools and options."""

from collections.abc import Mapping

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Hint
from saftc.diagnostics.near import did_you_mean, meant_to_be
from saftc.infer.prompt_hints import options_of_another_wire
from saftc.infer.rules.context import Inference
from saftc.infer.rules.environment import Environment
from saftc.infer.rules.expected import as_written, check_assignable, fit_into
from saftc.infer.rules.hints import conversation_hint, mismatch_hint
from saftc.syntax import nodes as n
from saftc.types.relations import Assignability, fit
from saftc.types.results import CONVERSATION, MESSAGE, OPTIONS
from saftc.types.types import (
    ANY,
    RESULT,
    STRING,
    BuiltinType,
    CallableType,
    FunctionType,
    ListType,
    LiteralType,
    ObjectType,
    Type,
    holds_dataframe,
    literal_type,
    members,
    show,
    show_value,
    within,
)

_WITHOUT = "leave `stream` out"
_DRAFTS = "leave `stream` out, or loop over its drafts: `for draft: {} in stream $ ... $:`"
_TOOLS_APART = "write them beside the other options: `with {...fast, tools: [look_up, refund]}`"
_ANY_OBJECT = ObjectType((), is_declared=False)


def prompt(inference: Inference, node: n.Prompt, env: Environment, wanted: Type | None) -> Type:
    """The type of a prompt's value: the expected type, if there is one.

    If none is expected, it is string, or `ANY` for a program.
    """
    for part in node.parts:
        if isinstance(part, n.Hole):
            type_ = inference.expression(part.value, env)
            _no_functions_inside(inference, part.value, type_)
            _no_module(inference, part.value)
            if part.is_approved and not _may_be_function(type_):
                inference.report(
                    catalogue.TYPE_MISMATCH.at(
                        part.value.span,
                        expected="a function",
                        found=show(type_),
                        hint="`:approve` is for a function that the model may call",
                    )
                )
            if part.is_raw and fit(type_, STRING) == Assignability.NEVER:
                inference.report(
                    catalogue.RAW_NEEDS_STRING.at(
                        part.value.span,
                        found=show(type_),
                        hint="leave `:raw` out: other values are inserted as JSON",
                    )
                )
    if node.options is not None:
        _options(inference, node.options, inference.expression(node.options, env))
    if node.after is not None:
        _after(inference, node.after, env)
    if node.is_streamed:
        wanted = _streamed(inference, node, wanted)
    unasked = ANY if node.mode == "program" else STRING
    asked = unasked if wanted is None else wanted
    if node.mode != "program":
        asked_of_model(inference, node, asked)
        _tools_without_tables(inference, node)
    inference.facts.prompts[node] = asked
    return asked


def _no_module(inference: Inference, node: n.Expression) -> None:
    """Reports a module in a hole, which has no form as text and is no tool."""
    if inference.facts.names_of_module(node) is not None:
        hint = "insert a name of the module, as `{module.name}`"
        inference.report(
            catalogue.TYPE_MISMATCH.at(node.span, expected="a value", found="a module", hint=hint)
        )


def _may_be_function(type_: Type) -> bool:
    functions = FunctionType | BuiltinType | CallableType
    return any(one == ANY or isinstance(one, functions) for one in members(type_))


def _streamed(inference: Inference, node: n.Prompt, wanted: Type | None) -> Type | None:
    """The type that a streamed prompt asks for, or None for string. Reports unsupported types."""
    history = inference.facts.history
    if node.mode == "program":
        found, hint = "a program", _WITHOUT
    elif node in history.drafted:
        return wanted
    elif wanted is None or fit(STRING, wanted) != Assignability.NEVER:
        return None
    elif node in history.streams:
        return wanted
    else:
        found = show(wanted)
        hint = _DRAFTS.format(found)
    inference.report(catalogue.STREAM_OF_TEXT.at(node.span, found=found, hint=hint))
    return wanted


def _after(inference: Inference, node: n.Expression, env: Environment) -> None:
    """Checks the operand of `after`, which must be a whole result or a list of messages."""
    if inference.facts.result_of(node) is not None:
        fit_into(inference, node, RESULT, env)
        return
    type_ = inference.expression(node, env)
    is_of_others = isinstance(type_, ListType) and fit(type_.item, MESSAGE) == Assignability.NEVER
    if fit(type_, CONVERSATION) == Assignability.NEVER or is_of_others:
        hint = conversation_hint(inference.facts, node)
        inference.report(catalogue.NO_CONVERSATION.at(node.span, found=show(type_), hint=hint))
    else:
        check_assignable(inference, node, type_, CONVERSATION)


def _no_functions_inside(inference: Inference, node: n.Expression, type_: Type) -> None:
    """Reports a value that contains functions, because only a function itself can be a tool."""
    for member in members(type_):
        if not isinstance(member, FunctionType | BuiltinType | CallableType) and any(
            isinstance(inner, FunctionType | BuiltinType | CallableType) for inner in within(member)
        ):
            inference.report(
                catalogue.TYPE_MISMATCH.at(
                    node.span,
                    expected="a value with a JSON form, or a function",
                    found=show(type_),
                    hint="list functions beside the text, `with {tools: [look_up, refund]}`, or "
                    "give each its own braces: `{look_up} {refund}`",
                )
            )
            return


def asked_of_model(inference: Inference, node: n.Node, wanted: Type) -> None:
    """Reports a prompt whose type contains values that a model cannot return."""
    hint = None
    if any(isinstance(one, CallableType) for one in within(wanted)):
        hint = "a model cannot return a function; `program $ ... $` returns calls of functions"
    elif holds_dataframe(wanted):
        hint = "JSON has no dataframes; `program $ ... $` can return one"
    if hint is not None:
        code = catalogue.TYPE_MISMATCH
        inference.report(code.at(node.span, expected=show(wanted), found="a prompt", hint=hint))


def _tools_without_tables(inference: Inference, node: n.Prompt) -> None:
    for value in node.shown:
        function = inference.facts.types.get(value)
        if not isinstance(function, FunctionType):
            continue
        definition = function.definition
        types = inference.facts.functions[definition].parameters
        for parameter, type_ in zip(definition.parameters, types, strict=True):
            is_function = any(isinstance(one, CallableType) for one in within(type_))
            if is_function or holds_dataframe(type_):
                missing = "function" if is_function else "dataframe"
                hint = f"JSON has no {missing} for `{parameter.name.text}`; "
                hint += "in `program $ ... $` a call can return it"
                code, found = catalogue.TYPE_MISMATCH, show(function)
                inference.report(code.at(value.span, expected="a tool", found=found, hint=hint))


def _hint_of_option(name: str) -> str | Hint:
    if name == "functions":
        return "list them as `tools`: `with {tools: [look_up, refund]}`"
    from runtime_support._core.settings.checks import OPTIONS_ELSEWHERE
    from runtime_support._values import renamed as renaming

    if new := renaming.SETTINGS.get(name):
        words = renaming.renamed(name, new)
        return Hint(words, new) if new in OPTIONS else f"{words}, and bounds a run, not a prompt"
    meant = did_you_mean(OPTIONS_ELSEWHERE.get(name, name), OPTIONS)
    return (
        meant
        or f"write an option of one server into `extra_body`: `extra_body: {{{name}: ...}}`"
    )


def _options(inference: Inference, node: n.Name | n.ObjectLiteral, type_: Type) -> None:
    """Checks the options of a prompt, as far as they are known."""
    if not isinstance(type_, ObjectType):
        if fit(type_, _ANY_OBJECT) == Assignability.NEVER:
            inference.report(
                catalogue.TYPE_MISMATCH.at(
                    node.span, expected="an object of options", found=show(type_)
                )
            )
        return
    written = {f.key.text: f for f in node.named} if isinstance(node, n.ObjectLiteral) else {}
    wire = type_.field("api")
    own = written.get("api")
    if wire is not None:
        chosen = as_written(own.value, wire.type, OPTIONS["api"]) if own else wire.type
        known = chosen.value if isinstance(chosen, LiteralType) else ""
        for mistake in options_of_another_wire(node, type_, str(known)):
            inference.report(mistake)
    for field in type_.fields:
        key = written.get(field.name)
        if field.name == "tools":
            if key is None:
                inference.report(catalogue.TOOLS_NOT_KNOWN.at(node.span, hint=_TOOLS_APART))
            continue
        if field.name not in OPTIONS:
            inference.report(
                catalogue.UNKNOWN_OPTION.at(
                    key.key.span if key else node.span,
                    name=field.name,
                    hint=_hint_of_option(field.name) if key else None,
                )
            )
            continue
        if field.name == "fallback" and key is not None:
            _check_models(inference, key.value, written)
        wanted = OPTIONS[field.name]
        given = as_written(key.value, field.type, wanted) if key else field.type
        if fit(given, wanted) == Assignability.NEVER:
            inference.report(
                catalogue.TYPE_MISMATCH.at(
                    key.value.span if key else node.span,
                    expected=show(wanted),
                    found=show(given),
                    hint=_hint_of_value(field.name, given)
                    or mismatch_hint(inference.facts, given, wanted),
                )
            )


def _check_models(
    inference: Inference, node: n.Expression, written: Mapping[str, n.Field]
) -> None:
    """Reports an empty `fallback`, items that are not strings, and duplicate models."""
    if not isinstance(node, n.ListLiteral):
        return
    if not node.items:
        mistake = catalogue.TYPE_MISMATCH.at(node.span, expected="a model", found="an empty list")
        inference.report(mistake)
    first = (written["model"].value,) if "model" in written else ()
    asked = set[str]()
    for item in (*first, *node.items):
        type_ = inference.facts.types.get(item, ANY)
        if fit(type_, STRING) == Assignability.NEVER:
            mistake = catalogue.TYPE_MISMATCH.at(item.span, expected="string", found=show(type_))
            inference.report(mistake)
        if isinstance(item, n.Literal) and isinstance(item.value, str):
            if item.value in asked:
                found = f"{show_value(item.value)} again"
                inference.report(
                    catalogue.TYPE_MISMATCH.at(item.span, expected="another model", found=found)
                )
            asked.add(item.value)


def _hint_of_value(option: str, given: Type) -> Hint | None:
    """The hint with the new name of an option's value, if `given` is a former name, or None."""
    from runtime_support._values import renamed as renaming

    values = renaming.VALUES.get(option, {}).items()
    new = next((new for old, new in values if given == literal_type(old)), None)
    return None if new is None else meant_to_be(f'"{new}"')
