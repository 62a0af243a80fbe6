"""Formats schemas, parameters, record fields and destructuring patterns, as documents."""

from collections.abc import Sequence
from typing import assert_never

from saftc.formatter.documents import Doc
from saftc.formatter.expressions import has_spread, write_behind, write_literal, write_token
from saftc.formatter.listings import WHEN_BROKEN, Part, write_chain, write_sequence
from saftc.formatter.original import Original
from saftc.source import Span
from saftc.syntax import nodes as n


def write_schema(original: Original, node: n.Schema) -> Doc:
    """Returns the document of a schema."""
    match node:
        case n.NamedSchema():
            return node.text
        case n.LiteralSchema():
            return write_literal(original, node)
        case n.ListSchema():
            return ("[", write_schema(original, node.item), "]")
        case n.TupleSchema():
            return _write_tuple_schema(original, node)
        case n.FunctionSchema():
            return _write_function_schema(original, node)
        case n.ObjectSchema():
            parts = [Part(field, _write_schema_field(original, field)) for field in node.fields]
            inside = Span(original.core(node.span), node.span.end)
            spread = _ends_with_comma(original, parts) or (len(parts) > 1 and has_spread(parts))
            return write_sequence(original, "{}", parts, inside, one_a_line=spread)
        case n.MapSchema():
            key, value = write_schema(original, node.key), write_schema(original, node.value)
            return ("{[", key, "]: ", value, "}")
        case n.UnionSchema():
            return _write_union(original, node, "")
        case n.OptionalSchema():
            match node.schema:
                case n.UnionSchema() as union:
                    inner = _write_union(original, union, "()")
                case n.OptionalSchema() | n.FunctionSchema() as bracketed:
                    inner = ("(", write_schema(original, bracketed), ")")
                case other:
                    inner = write_schema(original, other)
            return (inner, "?")
        case _:
            assert_never(node)


def write_annotation(original: Original, before: str, node: n.Schema | None) -> Doc:
    """Returns the text `before` with the document of a schema, or "" without a schema."""
    return (before, write_schema(original, node)) if node is not None else ""


def _write_union(original: Original, node: n.UnionSchema, brackets: str) -> Doc:
    parts: list[Part] = []
    for member in node.members:
        is_union = isinstance(member, n.UnionSchema)
        doc = _write_union(original, member, "()") if is_union else write_schema(original, member)
        if isinstance(member, n.FunctionSchema):
            doc = ("(", doc, ")")
        parts.append(Part(member, doc, "| " if parts else ""))
    return write_chain(original, brackets, parts, node.span, hugs=False)


def _write_tuple_schema(original: Original, node: n.TupleSchema) -> Doc:
    parts = [Part(item, write_schema(original, item)) for item in node.items]
    is_single = len(parts) == 1
    spread = not is_single and (_ends_with_comma(original, parts) or has_spread(parts))
    return write_sequence(
        original,
        "()",
        parts,
        node.span,
        one_a_line=spread,
        last_comma="," if is_single else WHEN_BROKEN,
    )


def _write_function_schema(original: Original, node: n.FunctionSchema) -> Doc:
    parts = [Part(one, write_schema(original, one)) for one in node.parameters]
    inside = Span(original.core(node.span), node.result.span.start)
    written = write_sequence(original, "()", parts, inside, one_a_line=has_spread(parts))
    return (written, " -> ", write_schema(original, node.result))


def _write_schema_field(original: Original, field: n.SchemaField) -> Doc:
    name = write_token(original, field.name.span.start)
    return (name, write_annotation(original, ": ", field.schema))


# Parameters and destructuring


def write_parameters(original: Original, parameters: Sequence[n.Parameter], inside: Span) -> Doc:
    """Returns the document of a function's parameters or a record's fields, in parentheses."""
    parts = [Part(parameter, _write_parameter(original, parameter)) for parameter in parameters]
    spread = _ends_with_comma(original, parts) or has_spread(parts)
    return write_sequence(original, "()", parts, inside, one_a_line=spread)


def _write_parameter(original: Original, parameter: n.Parameter) -> Doc:
    schema = write_annotation(original, ": ", parameter.schema)
    return (parameter.name.text, schema, write_behind(original, " = ", parameter.default))


def write_pattern_fields(original: Original, fields: Sequence[n.PatternField], inside: Span) -> Doc:
    """Returns the document of the fields of a destructuring pattern, in braces."""
    parts = [
        Part(field, (field.name.text, write_annotation(original, ": ", field.schema)))
        for field in fields
    ]
    spread = _ends_with_comma(original, parts) or has_spread(parts)
    return write_sequence(original, "{}", parts, inside, one_a_line=spread)


def _ends_with_comma(original: Original, parts: Sequence[Part]) -> bool:
    """True if the script has a comma after the last item."""
    return bool(parts) and original.has_comma(parts[-1].span.end)
