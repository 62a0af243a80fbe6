"""Formats expressions and patterns, as documents.

Parentheses are written where the grammar needs them, and kept where they show how operators bind.
All other parentheses are removed. Numbers, one-line strings and the text of prompts stay as
written.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from saftc.formatter.documents import Doc, Forced, Hard, Nest, Rigid, is_spread
from saftc.formatter.listings import WHEN_BROKEN, Part, write_chain, write_sequence
from saftc.formatter.original import Original
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.texts import without_margin

# The precedence of an expression. An operand whose precedence is lower than its place requires gets
# parentheses.
_CONDITIONAL, _OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _NEGATION, _POSTFIX, _ATOM = range(10)

_OPERATORS = {
    "or": _OR,
    "and": _AND,
    "not": _NOT,
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
    "%": _PRODUCT,
}

_PREFIXES = {"not": "not ", "-": "-"}

_Operation = n.Unary | n.Binary | n.Comparison | n.Logical | n.Conditional


# Expressions


def write_expression(original: Original, node: n.Expression) -> Doc:
    """Returns the document of an expression."""
    match node:
        case n.Name():
            return node.text
        case n.Literal():
            return write_literal(original, node)
        case n.ListLiteral():
            return _write_items(original, "[]", node)
        case n.TupleLiteral():
            return _write_items(original, "()", node)
        case n.ObjectLiteral():
            return _write_object(original, node)
        case n.Call():
            return _write_call(original, node)
        case n.Index():
            value = write_operand(original, node.value, _POSTFIX)
            return (value, "[", write_expression(original, node.key), "]")
        case n.Slice():
            value = write_operand(original, node.value, _POSTFIX)
            start, stop = (write_behind(original, "", part) for part in (node.start, node.stop))
            step = write_behind(original, ":", node.step)
            return (value, "[", start, ":", stop, step, "]")
        case n.Member():
            return (_write_member_base(original, node.value), ".", node.name.text)
        case n.TupleMember():
            return (_write_member_base(original, node.value), ".", str(node.position))
        case n.Unary() | n.Binary() | n.Comparison() | n.Logical() | n.Conditional():
            return _write_operation(original, node, "")
        case n.Comprehension():
            return _write_comprehension(original, node)
        case n.FormattedString():
            return _write_formatted(original, node)
        case n.Prompt():
            return _write_prompt(original, node)
        case n.ServerCall():
            raise AssertionError("no script has one")
        case _:
            assert_never(node)


def write_behind(original: Original, before: str, node: n.Expression | None) -> Doc:
    """Returns the text `before` with the document of an expression, or "" without an expression."""
    return (before, write_expression(original, node)) if node is not None else ""


def write_operand(original: Original, node: n.Expression, level: int) -> Doc:
    """Returns the document of an operand, in parentheses if its precedence is below `level`.

    Parentheses around an operation are also kept if the script has them.
    """
    is_clear = level <= _level(node)
    match node:
        case n.Unary() | n.Binary() | n.Comparison() | n.Logical() | n.Conditional():
            is_clear = is_clear and not _is_grouped(original, node)
            return _write_operation(original, node, "" if is_clear else "()")
        case _:
            doc = write_expression(original, node)
            return doc if is_clear else ("(", doc, ")")


def _is_grouped(original: Original, node: _Operation) -> bool:
    match node:
        case n.Unary():
            return original.text.startswith("(", node.span.start)
        case n.Conditional():
            return original.is_grouped(node, node.then)
        case _:
            return original.is_grouped(node, node.left)


def _write_alone(original: Original, node: n.Expression) -> Doc:
    """Returns the document of an expression that is alone inside brackets."""
    match node:
        case n.Binary() | n.Comparison() | n.Logical() | n.Conditional():
            return _write_operation(original, node, None)
        case _:
            return write_expression(original, node)


def _write_operation(original: Original, node: _Operation, brackets: str | None) -> Doc:
    if isinstance(node, n.Unary):
        operand = write_operand(original, node.operand, _level(node))
        is_twice = isinstance(operand, tuple) and operand[0] == "-"
        doc = ("- " if is_twice else _PREFIXES[node.operator], operand)
        return ("(", doc, ")") if brackets else doc
    hugs = isinstance(node, n.Binary | n.Comparison) and isinstance(
        node.right, n.ListLiteral | n.TupleLiteral | n.ObjectLiteral | n.Comprehension | n.Call
    )
    return write_chain(original, brackets, _operands(original, node), node.span, hugs=hugs)


def _operands(original: Original, node: n.Expression) -> list[Part]:
    """Returns the operands of operators of equal precedence, each with the operator before it."""
    match node:
        case n.Binary():
            level = _OPERATORS[node.operator]
            right = write_operand(original, node.right, level + 1)
        case n.Logical():
            level = _OPERATORS[node.operator]
            right = write_operand(original, node.right, level + 1)
        case n.Comparison():
            left = Part(node.left, write_operand(original, node.left, _SUM))
            right = write_operand(original, node.right, _SUM)
            return [left, Part(node.right, right, f"{node.operator} ")]
        case n.Conditional():
            then = Part(node.then, write_operand(original, node.then, _OR))
            condition = Part(node.condition, write_operand(original, node.condition, _OR), "if ")
            if isinstance(node.other, n.Conditional) and not _is_grouped(original, node.other):
                first, *others = _operands(original, node.other)
                return [then, condition, replace(first, lead="else "), *others]
            other = Part(node.other, write_operand(original, node.other, _CONDITIONAL), "else ")
            return [then, condition, other]
        case _:
            return [Part(node, write_operand(original, node, _CONDITIONAL))]
    left = node.left
    is_chain = isinstance(left, n.Binary | n.Logical) and not _is_grouped(original, left)
    if is_chain and _level(left) == level:
        parts = _operands(original, left)
    else:
        parts = [Part(left, write_operand(original, left, level))]
    return [*parts, Part(node.right, right, f"{node.operator} ")]


def _write_member_base(original: Original, node: n.Expression) -> Doc:
    is_number = isinstance(node, n.Literal) and type(node.value) in (int, float)
    doc = write_operand(original, node, _POSTFIX)
    return ("(", doc, ")") if is_number else doc


def write_literal(original: Original, node: n.Literal | n.LiteralSchema) -> Doc:
    start = original.core(node.span)
    if original.text.startswith("-", start):
        return "-" + original.token_at(original.skip(start + 1))
    return write_token(original, start)


def write_token(original: Original, start: int) -> Doc:
    return _write_text(original.token_at(start))


def _write_text(written: str) -> Doc:
    """Returns the document of a number, word or string.

    The lines of a string in triple quotes are indented like the code around it.
    """
    opening, quote, inside = written.partition('"""')
    if not quote or "\n" not in written or opening not in ("", "f"):
        return written
    first, *rest = without_margin(inside.removesuffix(quote)).split("\n")
    closing: list[Doc] = [quote]
    if not rest[-1]:
        rest.pop()
        closing.insert(0, Hard())
    lines = [part for line in rest for part in (Hard(), line)]
    return Forced((opening + quote + first, Nest(tuple(lines)), *closing))


def _write_formatted(original: Original, node: n.FormattedString) -> Doc:
    """Returns the document of a formatted string, which stays as written."""
    start = original.core(node.span)
    quote = '"""' if original.text.startswith('f"""', start) else '"'
    last = node.parts[-1].span.end if node.parts else start + 1 + len(quote)
    end = original.text.index(quote, last) + len(quote)
    return _write_text(original.text[start:end])


# Sequences


def _write_items(original: Original, brackets: str, node: n.ListLiteral | n.TupleLiteral) -> Doc:
    write = _write_alone if len(node.items) == 1 else write_expression
    parts = [
        Part(item, _write_spread(original, item))
        if isinstance(item, n.Spread)
        else Part(item, write(original, item))
        for item in node.items
    ]
    is_single_tuple = brackets == "()" and len(parts) == 1
    spread = node.is_spread or (len(parts) > 1 and has_spread(parts)) or _has_lines(parts)
    # The parentheses of a tuple belong to it.
    start = node.span.start if brackets == "()" else original.core(node.span)
    return write_sequence(
        original,
        brackets,
        parts,
        Span(start, node.span.end),
        one_a_line=spread,
        last_comma="," if is_single_tuple else WHEN_BROKEN,
    )


def _write_spread(original: Original, node: n.Spread) -> Doc:
    return ("...", write_expression(original, node.value))


def _write_object(original: Original, node: n.ObjectLiteral) -> Doc:
    parts: list[Part] = []
    for entry in node.fields:
        match entry:
            case n.Field():
                key: Doc = write_token(original, entry.key.span.start)
                doc: Doc = (key, ": ", write_expression(original, entry.value))
            case n.ComputedField():
                doc = _write_computed(original, entry)
            case n.Spread():
                doc = _write_spread(original, entry)
        parts.append(Part(entry, doc))
    spread = node.is_spread or (len(parts) > 1 and has_spread(parts))
    inside = Span(original.core(node.span), node.span.end)
    return write_sequence(original, "{}", parts, inside, one_a_line=spread)


def _write_computed(original: Original, node: n.ComputedField) -> Doc:
    key = ("[", _write_alone(original, node.key), "]")
    return (key, ": ", write_expression(original, node.value))


def _write_call(original: Original, node: n.Call) -> Doc:
    function = write_operand(original, node.function, _POSTFIX)
    match node.arguments:
        case (n.Argument(name=None) as only,):
            parts = [Part(only, _write_alone(original, only.value))]
        case _:
            parts = [Part(one, _write_argument(original, one)) for one in node.arguments]
    spread = node.is_spread or has_spread(parts[:-1]) or _has_lines(parts)
    inside = Span(original.skip(node.function.span.end), node.span.end)
    return (function, write_sequence(original, "()", parts, inside, one_a_line=spread))


def _write_argument(original: Original, argument: n.Argument) -> Doc:
    value = write_expression(original, argument.value)
    return (argument.name.text, ": ", value) if argument.name is not None else value


def _write_comprehension(original: Original, node: n.Comprehension) -> Doc:
    match node.item:
        case n.ComputedField() as entry:
            brackets, item = "{}", _write_computed(original, entry)
        case item_:
            brackets, item = "[]", write_expression(original, item_)
    parts = [Part(node.item, item)]
    for clause in node.clauses:
        lead = f"for {write_pattern(clause.pattern)} in "
        parts.append(Part(clause.iterable, write_operand(original, clause.iterable, _OR), lead))
        parts += [
            Part(condition, write_operand(original, condition, _OR), "if ")
            for condition in clause.conditions
        ]
    inside = Span(original.core(node.span), node.span.end)
    return write_chain(original, brackets, parts, inside, hugs=False)


# Prompts


def _write_prompt(original: Original, node: n.Prompt) -> Doc:
    holes = [part for part in node.parts if isinstance(part, n.Hole)]
    texts, has_lines = original.prompt_text(node, holes)
    inside: list[Doc] = []
    for number, text in enumerate(texts):
        first, *rest = text.split("\n")
        inside += [first, *(part for line in rest for part in (Hard(), line))]
        if number < len(holes):
            inside.append(_write_hole(original, holes[number]))
    before = "stream " if node.is_streamed else ""
    before += "" if node.mode == "plain" else f"{node.mode} "
    text: Doc
    if not any(texts) and not holes:
        text = (before, "$ $")
    elif has_lines:
        text = (before, Forced(("$", Nest((Hard(), *inside)), Hard(), "$")))
    else:
        text = (before, "$ ", *inside, " $")
    behind: list[tuple[str, n.Expression | None]] = [(" with ", node.options)]
    if node.after is not None:
        is_first = node.options is None or node.after.span.start < node.options.span.start
        behind.insert(0 if is_first else 1, (" after ", node.after))
    return (text, *(_write_operand_behind(original, *one) for one in behind))


def _write_operand_behind(original: Original, word: str, node: n.Expression | None) -> Doc:
    return "" if node is None else (word, write_operand(original, node, _POSTFIX))


def _write_hole(original: Original, hole: n.Hole) -> Doc:
    value = write_expression(original, hole.value)
    # A `$` next to a brace is hard to read.
    pad = " " if isinstance(hole.value, n.Prompt) and not is_spread(value) else ""
    format_ = ":raw" if hole.is_raw else ":approve" if hole.is_approved else ""
    return ("{" + pad, Rigid(value), pad, format_ + "}")


# Patterns


def write_pattern(node: n.Pattern) -> str:
    """Returns the text of the pattern of a `for` or an unpacking."""
    match node:
        case n.NamePattern():
            return node.name.text
        case n.TuplePattern():
            return ", ".join(
                f"({write_pattern(item)})"
                if isinstance(item, n.TuplePattern)
                else write_pattern(item)
                for item in node.items
            )
        case _:
            assert_never(node)


def _level(node: n.Expression) -> int:
    match node:
        case n.Conditional():
            return _CONDITIONAL
        case n.Logical() | n.Binary():
            return _OPERATORS[node.operator]
        case n.Comparison():
            return _COMPARISON
        case n.Unary():
            return _NOT if node.operator == "not" else _NEGATION
        case n.Prompt():
            # As an operand, a prompt with `after` gets parentheses: the code that follows would
            # look like a part of the prompt.
            if node.after is not None:
                return _NOT
            return _ATOM if node.options is None else _NEGATION
        case n.Call() | n.Index() | n.Slice() | n.Member() | n.TupleMember():
            return _POSTFIX
        case _:
            return _ATOM


def _has_lines(parts: Sequence[Part]) -> bool:
    """True if the only part is an operation without brackets that has one operand per line."""
    match parts:
        case [Part(n.Argument(value=value), Forced()) | Part(value, Forced())]:
            return isinstance(value, n.Binary | n.Comparison | n.Logical | n.Conditional)
        case _:
            return False


def has_spread(parts: Sequence[Part]) -> bool:
    return any(is_spread(part.doc) for part in parts)
