"""Expressions, schemas and patterns as documents: nodes in, text that may break over lines out.

Parentheses stand where the grammar needs them, and where a script has them to make clear how
operators bind; others go. Numbers, one-line strings and the text of prompts are as written.
"""

from collections.abc import Sequence
from typing import assert_never

from saftc.formatter.documents import Doc, Hard, Nest, Rigid, Spread, is_spread
from saftc.formatter.listings import WHEN_BROKEN, Brackets, Part
from saftc.formatter.original import Original
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.texts import without_margin

# How tightly an expression binds; an operand that binds less than its place asks for has
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


class ExpressionWriter:
    """Writes what stands inside a statement."""

    def __init__(self, original: Original) -> None:
        self.original = original
        self.brackets = Brackets(original)

    # Expressions

    def expression(self, node: n.Expression) -> Doc:
        """An expression in a place that takes any."""
        match node:
            case n.Name():
                return node.text
            case n.Literal():
                return self._literal(node)
            case n.ListLiteral():
                return self._items("[]", node.items, node)
            case n.TupleLiteral():
                return self._items("()", node.items, node)
            case n.ObjectLiteral():
                return self._object(node)
            case n.Call():
                return self._call(node)
            case n.Index():
                return (self.operand(node.value, _POSTFIX), "[", self.expression(node.key), "]")
            case n.Slice():
                start = self.expression(node.start) if node.start is not None else ""
                stop = self.expression(node.stop) if node.stop is not None else ""
                return (self.operand(node.value, _POSTFIX), "[", start, ":", stop, "]")
            case n.Member():
                return (self._member_base(node.value), ".", node.name.text)
            case n.TupleMember():
                return (self._member_base(node.value), ".", str(node.position))
            case n.Unary() | n.Binary() | n.Comparison() | n.Logical() | n.Conditional():
                return self._operation(node, "")
            case n.Comprehension():
                return self._comprehension(node)
            case n.Prompt():
                return self._prompt(node)
            case _:
                assert_never(node)

    def operand(self, node: n.Expression, level: int) -> Doc:
        """An expression where one is asked for that binds at least as tightly as `level`."""
        is_clear = level <= _level(node)
        match node:
            case n.Unary() | n.Binary() | n.Comparison() | n.Logical() | n.Conditional():
                is_clear = is_clear and not self._is_grouped(node)
                return self._operation(node, "" if is_clear else "()")
            case _:
                doc = self.expression(node)
                return doc if is_clear else ("(", doc, ")")

    def _is_grouped(self, node: _Operation) -> bool:
        match node:
            case n.Unary():
                return self.original.text.startswith("(", node.span.start)
            case n.Conditional():
                return self.original.is_grouped(node, node.then)
            case _:
                return self.original.is_grouped(node, node.left)

    def _alone(self, node: n.Expression) -> Doc:
        """An expression that brackets hold and nothing else."""
        match node:
            case n.Binary() | n.Comparison() | n.Logical() | n.Conditional():
                return self._operation(node, None)
            case _:
                return self.expression(node)

    def _operation(self, node: _Operation, brackets: str | None) -> Doc:
        if isinstance(node, n.Unary):
            operand = self.operand(node.operand, _level(node))
            is_twice = isinstance(operand, tuple) and operand[0] == "-"
            doc = ("- " if is_twice else _PREFIXES[node.operator], operand)
            return ("(", doc, ")") if brackets else doc
        hugs = isinstance(node, n.Binary | n.Comparison) and isinstance(
            node.right, n.ListLiteral | n.TupleLiteral | n.ObjectLiteral | n.Comprehension | n.Call
        )
        return self.brackets.chain(brackets, self._operands(node), node.span, hugs=hugs)

    def _operands(self, node: n.Expression) -> list[Part]:
        """The operands of a chain of operators that bind alike, each with the word before it."""
        match node:
            case n.Binary():
                level = _OPERATORS[node.operator]
                right = self.operand(node.right, level + 1)
            case n.Logical():
                level = _OPERATORS[node.operator]
                right = self.operand(node.right, level + 1)
            case n.Comparison():
                left = Part(node.left, self.operand(node.left, _SUM))
                return [left, Part(node.right, self.operand(node.right, _SUM), f"{node.operator} ")]
            case n.Conditional():
                then = Part(node.then, self.operand(node.then, _OR))
                condition = Part(node.condition, self.operand(node.condition, _OR), "if ")
                other = Part(node.other, self.operand(node.other, _CONDITIONAL), "else ")
                return [then, condition, other]
            case _:
                return [Part(node, self.operand(node, _CONDITIONAL))]
        left = node.left
        is_chain = isinstance(left, n.Binary | n.Logical) and not self._is_grouped(left)
        if is_chain and _level(left) == level:
            parts = self._operands(left)
        else:
            parts = [Part(left, self.operand(left, level))]
        return [*parts, Part(node.right, right, f"{node.operator} ")]

    def _member_base(self, node: n.Expression) -> Doc:
        is_number = isinstance(node, n.Literal) and type(node.value) in (int, float)
        doc = self.operand(node, _POSTFIX)
        return ("(", doc, ")") if is_number else doc

    def _literal(self, node: n.Literal | n.LiteralSchema) -> Doc:
        start = self.original.core(node.span)
        if self.original.text.startswith("-", start):
            return "-" + self.original.token_at(self.original.skip(start + 1))
        return self._token(start)

    def _token(self, start: int) -> Doc:
        written = self.original.token_at(start)
        if not written.startswith('"""') or "\n" not in written:
            return written
        first, *rest = without_margin(written[3:-3]).split("\n")
        closing: list[Doc] = ['"""']
        if not rest[-1]:
            rest.pop()
            closing.insert(0, Hard())
        lines = [part for line in rest for part in (Hard(), line)]
        return Spread(('"""' + first, Nest(tuple(lines)), *closing))

    # Sequences

    def _items(
        self, brackets: str, items: Sequence[n.Expression], node: n.ListLiteral | n.TupleLiteral
    ) -> Doc:
        written = self._alone if len(items) == 1 else self.expression
        parts = [Part(item, written(item)) for item in items]
        is_single_tuple = brackets == "()" and len(items) == 1
        spread = node.is_spread or (len(parts) > 1 and _has_spread(parts)) or _has_lines(parts)
        # What looks like parentheses around a tuple are its own.
        start = node.span.start if brackets == "()" else self.original.core(node.span)
        return self.brackets.sequence(
            brackets,
            parts,
            Span(start, node.span.end),
            one_a_line=spread,
            last_comma="," if is_single_tuple else WHEN_BROKEN,
        )

    def _object(self, node: n.ObjectLiteral) -> Doc:
        parts = [
            Part(field, (self._token(field.key.span.start), ": ", self.expression(field.value)))
            for field in node.fields
        ]
        spread = node.is_spread or (len(parts) > 1 and _has_spread(parts))
        inside = Span(self.original.core(node.span), node.span.end)
        return self.brackets.sequence("{}", parts, inside, one_a_line=spread)

    def _call(self, node: n.Call) -> Doc:
        function = self.operand(node.function, _POSTFIX)
        match node.arguments:
            case (n.Argument(name=None) as only,):
                parts = [Part(only, self._alone(only.value))]
            case _:
                parts = [Part(argument, self._argument(argument)) for argument in node.arguments]
        spread = node.is_spread or _has_spread(parts[:-1]) or _has_lines(parts)
        inside = Span(self.original.skip(node.function.span.end), node.span.end)
        return (function, self.brackets.sequence("()", parts, inside, one_a_line=spread))

    def _argument(self, argument: n.Argument) -> Doc:
        value = self.expression(argument.value)
        return (argument.name.text, ": ", value) if argument.name is not None else value

    def _comprehension(self, node: n.Comprehension) -> Doc:
        parts = [Part(node.item, self.expression(node.item))]
        for clause in node.clauses:
            lead = f"for {self.pattern(clause.pattern)} in "
            parts.append(Part(clause.iterable, self.operand(clause.iterable, _OR), lead))
            parts += [
                Part(condition, self.operand(condition, _OR), "if ")
                for condition in clause.conditions
            ]
        inside = Span(self.original.core(node.span), node.span.end)
        return self.brackets.chain("[]", parts, inside, hugs=False)

    # Prompts

    def _prompt(self, node: n.Prompt) -> Doc:
        holes = [part for part in node.parts if isinstance(part, n.Hole)]
        texts, has_lines = self.original.prompt_text(node, holes)
        inside: list[Doc] = []
        for number, text in enumerate(texts):
            first, *rest = text.split("\n")
            inside += [first, *(part for line in rest for part in (Hard(), line))]
            if number < len(holes):
                inside.append(self._hole(holes[number]))
        before = "" if node.mode == "plain" else f"{node.mode} "
        text: Doc
        if not any(texts) and not holes:
            text = (before, "$ $")
        elif has_lines:
            text = (before, Spread(("$", Nest((Hard(), *inside)), Hard(), "$")))
        else:
            text = (before, "$ ", *inside, " $")
        return text if node.options is None else (text, " with ", self.expression(node.options))

    def _hole(self, hole: n.Hole) -> Doc:
        value = self.expression(hole.value)
        # A `$` beside a brace would be hard to read.
        pad = " " if isinstance(hole.value, n.Prompt) and not is_spread(value) else ""
        return ("{" + pad, Rigid(value), pad, ":raw}" if hole.is_raw else "}")

    # Schemas

    def schema(self, node: n.Schema) -> Doc:
        """A schema in a place that takes any."""
        match node:
            case n.NamedSchema():
                return node.text
            case n.LiteralSchema():
                return self._literal(node)
            case n.ListSchema():
                return ("[", self.schema(node.item), "]")
            case n.TupleSchema():
                return self._tuple_schema(node)
            case n.ObjectSchema():
                parts = [Part(field, self._schema_field(field)) for field in node.fields]
                inside = Span(self.original.core(node.span), node.span.end)
                spread = self.ends_with_comma(parts) or (len(parts) > 1 and _has_spread(parts))
                return self.brackets.sequence("{}", parts, inside, one_a_line=spread)
            case n.UnionSchema():
                return self._union(node, "")
            case n.OptionalSchema():
                match node.schema:
                    case n.UnionSchema() as union:
                        inner = self._union(union, "()")
                    case n.OptionalSchema() as optional:
                        inner = ("(", self.schema(optional), ")")
                    case schema:
                        inner = self.schema(schema)
                return (inner, "?")
            case _:
                assert_never(node)

    def _union(self, node: n.UnionSchema, brackets: str) -> Doc:
        parts: list[Part] = []
        for member in node.members:
            is_union = isinstance(member, n.UnionSchema)
            doc = self._union(member, "()") if is_union else self.schema(member)
            parts.append(Part(member, doc, "| " if parts else ""))
        return self.brackets.chain(brackets, parts, node.span, hugs=False)

    def _tuple_schema(self, node: n.TupleSchema) -> Doc:
        parts = [Part(item, self.schema(item)) for item in node.items]
        is_single = len(parts) == 1
        spread = not is_single and (self.ends_with_comma(parts) or _has_spread(parts))
        return self.brackets.sequence(
            "()",
            parts,
            node.span,
            one_a_line=spread,
            last_comma="," if is_single else WHEN_BROKEN,
        )

    def _schema_field(self, field: n.SchemaField) -> Doc:
        return (self._token(field.name.span.start), ": ", self.schema(field.schema))

    # Parameters and patterns

    def parameters(self, parameters: Sequence[n.Parameter], inside: Span) -> Doc:
        """The parameters of a function or the fields of a record, in their parentheses."""
        parts = [Part(parameter, self._parameter(parameter)) for parameter in parameters]
        spread = self.ends_with_comma(parts) or _has_spread(parts)
        return self.brackets.sequence("()", parts, inside, one_a_line=spread)

    def _parameter(self, parameter: n.Parameter) -> Doc:
        schema = (": ", self.schema(parameter.schema)) if parameter.schema is not None else ""
        default = parameter.default
        value = (" = ", self.expression(default)) if default is not None else ""
        return (parameter.name.text, schema, value)

    def pattern_fields(self, fields: Sequence[n.PatternField], inside: Span) -> Doc:
        """The fields of a destructuring, in their braces."""
        parts = [
            Part(field, (field.name.text, ": ", self.schema(field.schema))) for field in fields
        ]
        spread = self.ends_with_comma(parts) or _has_spread(parts)
        return self.brackets.sequence("{}", parts, inside, one_a_line=spread)

    def pattern(self, node: n.Pattern) -> str:
        """What `for` binds."""
        match node:
            case n.NamePattern():
                return node.name.text
            case n.TuplePattern():
                return ", ".join(
                    f"({self.pattern(item)})"
                    if isinstance(item, n.TuplePattern)
                    else self.pattern(item)
                    for item in node.items
                )
            case _:
                assert_never(node)

    def ends_with_comma(self, parts: Sequence[Part]) -> bool:
        """Whether a comma stands behind the last item in the script."""
        return bool(parts) and self.original.has_comma(parts[-1].span.end)


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
            # Options behind a prompt would look as if they took what follows.
            return _ATOM if node.options is None else _NEGATION
        case n.Call() | n.Index() | n.Slice() | n.Member() | n.TupleMember():
            return _POSTFIX
        case _:
            return _ATOM


def _has_lines(parts: Sequence[Part]) -> bool:
    """Whether the only item is a chain with an operand a line, and no brackets of its own."""
    match parts:
        case [Part(n.Argument(value=value), Spread()) | Part(value, Spread())]:
            return isinstance(value, n.Binary | n.Comparison | n.Logical | n.Conditional)
        case _:
            return False


def _has_spread(parts: Sequence[Part]) -> bool:
    return any(is_spread(part.doc) for part in parts)
