"""Hints about prompts: types that servers cannot enforce, and text that they cannot cache.

    type Offer(name: string, extra: {[string]: float})
    offer: Offer = $ {mail} ... two pages of rules ... $

Providers enforce the fields of a type, but not the keys of a map. They cache the constant text at
the start of requests. That text ends where the prompt inserts the first data.
"""

from collections.abc import Iterator

from saftc.check.facts import Facts
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.results import WIRES
from saftc.types.types import (
    ANY,
    STRING,
    BuiltinType,
    FunctionType,
    ListType,
    MapType,
    ObjectType,
    RecordType,
    TupleType,
    Type,
    UnionType,
    members,
)

# Longer constant text after data is reported: caches start at about 1,024 tokens.
_MOST_BEHIND = 2_000


def hints_of_prompts(module: n.Module, facts: Facts) -> Iterator[Diagnostic]:
    """The hints about the prompts of a module, in no particular order."""
    # The model sends the value of each field of these by a separate tool call.
    by_fields = {node.value for node in nodes_of(module, n.DestructureStmt)}
    for node in nodes_of(module, n.Prompt):
        yield from _hint_of_text(node, facts)
        asked = facts.prompts.get(node, STRING)
        if node.mode == "program" or node in by_fields or asked in (STRING, ANY):
            continue
        losses = tuple(dict.fromkeys(_losses(asked, facts, "", frozenset())))
        if losses:
            told = " and ".join(losses)
            yield catalogue.NOT_ENFORCED.at(node.span, losses=told, hint=_advice(losses))


def options_without_field(module: n.Module, facts: Facts, wire: str) -> Iterator[Diagnostic]:
    """Reports options in prompts if requests to the API `wire` have no field for them.

    Only prompts whose options name no `api` and no `provider` are checked.
    """
    for node in nodes_of(module, n.Prompt):
        known = None if node.options is None else facts.types.get(node.options)
        if node.options is None or not isinstance(known, ObjectType):
            continue
        if known.field("api") is None and known.field("provider") is None:
            yield from options_of_another_wire(node.options, known, wire)


def options_of_another_wire(
    node: n.Name | n.ObjectLiteral, type_: ObjectType, wire: str
) -> Iterator[Diagnostic]:
    """Reports options of a prompt if requests to the API `wire` have no field for them.

    `type_` is the type of the options.
    """
    written = node.named if isinstance(node, n.ObjectLiteral) else ()
    keys = {one.key.text: one.key.span for one in written}
    for name in WIRES.get(wire, ()):
        if type_.field(name) is not None:
            span, code = keys.get(name, node.span), catalogue.OPTION_OF_ANOTHER_WIRE
            hint = f'leave `{name}` out, or choose the API "chat"'
            yield code.at(span, api=wire, name=name, hint=hint)


def _advice(losses: tuple[str, ...]) -> str:
    if any(one.endswith("is a map") for one in losses):
        return "a list of pairs, such as `[{name: string, value: float}]`, can be enforced"
    return "records, lists and unions of them can be enforced"


def _losses(type_: Type, facts: Facts, path: str, around: frozenset[Type]) -> Iterator[str]:
    """Yields a phrase for each part of a type that a server cannot enforce.

    `path`: the names of the fields that lead to the type. `around`: the records that contain it.
    """
    where = f'"{path}"' if path else "the value"
    if type_ == ANY:
        yield f"{where} may be anything"
    match type_:
        case ListType(item):
            yield from _losses(item, facts, path, around)
        case UnionType():
            for member in members(type_):
                yield from _losses(member, facts, path, around)
        case MapType():
            yield f"{where} is a map"
        case TupleType():
            yield f"{where} is a tuple"
        case ObjectType(fields):
            for field in fields:
                yield from _losses(field.type, facts, _inner(path, field.name), around)
        case RecordType() if type_ not in around:
            for name, inner in facts.fields_of(type_).items():
                yield from _losses(inner, facts, _inner(path, name), around | {type_})
        case _:
            return


def _inner(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _hint_of_text(node: n.Prompt, facts: Facts) -> Iterator[Diagnostic]:
    last: n.Hole | None = None
    behind = 0
    for part in node.parts:
        if isinstance(part, n.PromptText):
            behind += len(part.text)
        elif not isinstance(facts.types.get(part.value), FunctionType | BuiltinType):
            last, behind = part, 0
    if last is not None and behind > _MOST_BEHIND:
        hole = f"`{{{last.value.text}}}`" if isinstance(last.value, n.Name) else "this"
        hint = "put them before it, so that providers can cache them"
        yield catalogue.CONSTANT_BEHIND.at(last.span, count=f"{behind:,}", hole=hole, hint=hint)
