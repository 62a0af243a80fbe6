"""Loops and unpackings: the type of a loop's items, and the names that patterns bind."""

from typing import assert_never

from saftc.check.forms import Form, PartsForm, loop_form, parts_of, unpack_form
from saftc.diagnostics import catalogue
from saftc.infer.rules.context import Inference
from saftc.infer.rules.environment import Environment
from saftc.infer.rules.expected import check_annotation
from saftc.infer.tools import streams_in
from saftc.syntax import nodes as n
from saftc.types.types import (
    ANY,
    NEVER,
    STRING,
    ListType,
    TupleType,
    Type,
    is_none_of,
    item_type,
    kind_word,
    members,
    show,
    union,
    unrolled,
)

# Hints for loops over a value without items, by its kind.
_ITEMS_OF = {
    "object": "loop over `keys(x)`, `values(x)` or `items(x)`",
    "string": "`split(x)` gives words, `chars(x)` the characters",
    "int": "`range(n)` counts from 0",
}


def iterated(inference: Inference, loop: n.ForStmt | n.ComprehensionClause, iterable: Type) -> Type:
    """The type of a loop's item.

    A value that is not a list, a tuple, a dataframe or a stream is reported.
    """
    node = loop.iterable
    streams = streams_in(inference.facts, node)
    if streams:
        asked = union(inference.facts.prompts.get(one, STRING) for one in streams)
        form, part = _part(inference, loop, asked)
        inference.facts.forms.loops[loop], inference.facts.forms.parts[loop] = form, part
        return part
    inference.facts.forms.loops[loop] = loop_form(loop.pattern, iterable)
    if isinstance(loop, n.ForStmt) and loop.schema is not None:
        _no_stream(inference, node, loop.schema, iterable)
        return item_type(iterable)
    if iterable == STRING and inference.facts.result_of(node):
        hint = "write `stream $ ... $` to get its pieces" if isinstance(node, n.Prompt) else None
        inference.report(catalogue.RESULT_NOT_ITERABLE.at(node.span, hint=hint))
        return ANY
    if is_none_of(iterable, "list", "tuple", "dataframe"):
        words = [kind_word(member) or "" for member in members(iterable)]
        hint = next((hint for word, hint in _ITEMS_OF.items() if word in words), None)
        inference.report(catalogue.NOT_ITERABLE.at(node.span, found=show(iterable), hint=hint))
        return ANY
    wrong = union(m for m in members(iterable) if is_none_of(m, "list", "tuple", "dataframe"))
    if wrong != NEVER:
        inference.may_fail(node, wrong, "and `for` needs a list or a tuple")
    return item_type(iterable)


def _part(
    inference: Inference, loop: n.ForStmt | n.ComprehensionClause, asked: Type
) -> tuple[PartsForm, Type]:
    """The form of a loop over a stream of a model's reply, and the type of the loop's item.

    `asked` is the type that the prompt asks the model for.
    """
    schema = loop.schema if isinstance(loop, n.ForStmt) else None
    if schema is not None:
        wanted = inference.facts.schemas[schema]
        if ANY not in (wanted, asked) and wanted != asked:
            inference.report(
                catalogue.TYPE_MISMATCH.at(
                    schema.span,
                    expected=show(asked),
                    found=show(wanted),
                    hint="the stream has this type",
                )
            )
        if isinstance(asked, ListType):
            return Form.GROWING, asked
        return Form.DRAFTS, inference.facts.draft_of(asked)
    if asked == STRING:
        return Form.PIECES, STRING
    if isinstance(asked, ListType):
        return Form.ITEMS, item_type(asked)
    hint = f"`for draft: {show(asked)} in ...` gets its finished part, again and again"
    inference.report(
        catalogue.NOT_ITERABLE.at(loop.iterable.span, found=f"a stream of {show(asked)}", hint=hint)
    )
    return Form.PIECES, ANY


def _no_stream(inference: Inference, node: n.Expression, schema: n.Schema, iterable: Type) -> None:
    """Reports a loop that declares a type for its item but does not iterate over a stream."""
    if isinstance(node, n.Prompt):
        found, hint = "a prompt", "write `stream` before the prompt: the loop gets its drafts"
    else:
        found, hint = show(iterable), "leave the type out: the list has types for its items"
    inference.report(catalogue.DRAFTS_OF_STREAM.at(schema.span, found=found, hint=hint))


def bind(inference: Inference, pattern: n.Pattern, type_: Type, env: Environment) -> None:
    """Assigns the parts of a value of `type_` to the names in a pattern."""
    for part, taken in parts_of(pattern, type_):
        match part:
            case n.NamePattern():
                check_annotation(inference, part.name, unrolled(taken))
                inference.assign(inference.facts.names.of(part.name), unrolled(taken), env)
            case n.TuplePattern():
                count = len(part.items)
                if not any(_may_unpack(member, count) for member in members(taken)):
                    inference.report(catalogue.UNPACK.at(part.span, found=show(taken), count=count))
            case _:
                assert_never(part)


def unpack(inference: Inference, node: n.UnpackStmt, type_: Type, env: Environment) -> None:
    """Assigns the parts of a value of `type_` to the names in an unpacking."""
    inference.facts.forms.unpackings[node] = unpack_form(node.pattern, type_)
    count = len(node.pattern.items)
    written = node.value.items if isinstance(node.value, n.ListLiteral) else None
    if written is not None and len(written) != count:
        found = f"a list of {len(written)}"
        inference.report(catalogue.UNPACK.at(node.pattern.span, found=found, count=count))
    elif type_ == STRING and inference.facts.result_of(node.value) is not None:
        hint = "give it a type first: `pair: (string, string) = $ ... $`"
        found = "the text of a prompt"
        inference.report(
            catalogue.UNPACK.at(node.pattern.span, found=found, count=count, hint=hint)
        )
    else:
        bind(inference, node.pattern, type_, env)
        return
    bind(inference, node.pattern, ANY, env)


def _may_unpack(type_: Type, count: int) -> bool:
    """Whether a value of `type_`, which is not a union, may have `count` items."""
    if isinstance(type_, TupleType):
        return len(type_.items) == count
    return isinstance(type_, ListType) or type_ in (ANY, NEVER)
