"""Builds the nodes of the syntax tree.

The parser calls a method of `Builder` for each grammar rule. A method gets the rule's children in
order: all tokens, so that spans are exact, and the results of inner rules. The builder has no
state. If the grammar allows a mistake, a method raises `Mistake`, and the parser reports its
diagnostic.
"""

import keyword
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.mistakes.habits import ALL_FAILURES
from saftc.syntax.texts import dedent, prompt_value, string_value, without_margin
from saftc.syntax.tokens import HOLE_FORMATS, Token

# Replaces a hole while the indentation of a prompt's text is measured; no text contains it.
_HOLE = "\0"
# Class names, which other languages have after `except`.
_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*", re.ASCII)


class Mistake(Exception):
    """A mistake that the grammar does not exclude."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class CommaList(NamedTuple):
    """The nodes of a comma-separated list, its span, and whether it ends with a comma."""

    items: tuple[Any, ...]
    span: Span
    ends_with_comma: bool


class Comparator(NamedTuple):
    """A comparison operator and its span."""

    text: str
    span: Span


class Block(NamedTuple):
    """The statements of a block and its span."""

    statements: tuple[n.Statement, ...]
    span: Span


_NOTHING = CommaList((), Span(0, 0), False)


class Builder:
    """The methods for grammar rules, named like the rules and aliases in grammar.lark."""

    # Statements

    def block(self, children: list[Any]) -> Block:
        statements = tuple(child for child in children if isinstance(child, n.Node))
        return Block(statements, Span(statements[0].span.start, statements[-1].span.end))  # type: ignore[arg-type]

    def statement(self, children: list[Any]) -> n.Statement:
        return children[0]

    def function_def(self, children: list[Any]) -> n.FunctionDef:
        parameters = _sequence(children)
        _check_default_order(parameters.items)
        return n.FunctionDef(
            _span(children),
            _identifier(children[1]),
            parameters.items,
            _after(children, "ARROW"),
            children[-1].statements,
            children[0].kind == "CONV",
        )

    def parameters(self, children: list[Any]) -> CommaList:
        return _items(children)

    def parameter(self, children: list[Any]) -> n.Parameter:
        return n.Parameter(
            _span(children),
            _identifier(children[0]),
            _after(children, "COLON"),
            _after(children, "ASSIGN"),
        )

    def assign_stmt(self, children: list[Any]) -> n.AssignStmt:
        return n.AssignStmt(
            _span(children), _identifier(children[0]), _after(children, "COLON"), children[-1]
        )

    def augmented_assign_stmt(self, children: list[Any]) -> n.AugmentedAssignStmt:
        name, operator, operand = children
        value = n.Binary(_span(children), operator.text[0], self.name([name]), operand)
        return n.AugmentedAssignStmt(value.span, _identifier(name), value)

    def unpack_stmt(self, children: list[Any]) -> n.UnpackStmt:
        return n.UnpackStmt(_span(children), children[0], children[2])

    def unpack_targets(self, children: list[Any]) -> n.TuplePattern:
        return n.TuplePattern(_span(children), tuple(map(_target, _items(children).items)))

    def destructure_stmt(self, children: list[Any]) -> n.DestructureStmt:
        value = children[-1]
        if not isinstance(value, n.Prompt):
            raise Mistake(
                catalogue.NOT_A_PROMPT.at(
                    value.span, hint="name the value, then read its members: `value.name`"
                )
            )
        if value.is_streamed:
            raise Mistake(
                catalogue.STREAM_OF_TEXT.at(value.span, found="fields", hint="leave `stream` out")
            )
        if value.mode == "program":
            raise Mistake(
                catalogue.NOT_A_PROMPT.at(
                    value.span,
                    hint="a program returns one value: name it, then read its members",
                )
            )
        fields = _sequence(children).items
        if not fields:
            raise Mistake(
                catalogue.PATTERN_FIELD.at(
                    _span(children[:2]), problem="no field", hint="write `{name: string} = $...$`"
                )
            )
        return n.DestructureStmt(_span(children), fields, value)

    def pattern_fields(self, children: list[Any]) -> CommaList:
        return _items(children)

    def pattern_field(self, children: list[Any]) -> n.PatternField:
        span = _span(children)
        if children[0].kind == "ELLIPSIS":
            raise Mistake(
                catalogue.PATTERN_FIELD.at(
                    span, problem="a rest", hint="name every field with its type"
                )
            )
        schema, default = _after(children, "COLON"), _after(children, "ASSIGN")
        name = _identifier(children[0])
        if schema is None:
            raise Mistake(
                catalogue.PATTERN_FIELD.at(
                    span,
                    problem=f"no type for `{name.text}`",
                    hint=f"write `{name.text}: string`",
                )
            )
        if default is not None:
            raise Mistake(
                catalogue.PATTERN_FIELD.at(
                    span,
                    problem=f"a default for `{name.text}`",
                    hint=f"write `{name.text}: T?` and test it for nil below",
                )
            )
        return n.PatternField(span, name, schema)

    def if_stmt(self, children: list[Any]) -> n.IfStmt:
        first = n.Branch(_span(children[:4]), children[1], children[3].statements)
        more = tuple(child for child in children[4:] if isinstance(child, n.Branch))
        other = (
            children[-1].statements if isinstance(children[-1], Block) and len(children) > 4 else ()
        )
        return n.IfStmt(_span(children), (first, *more), other)

    def elif_branch(self, children: list[Any]) -> n.Branch:
        return n.Branch(_span(children), children[1], children[3].statements)

    def else_branch(self, children: list[Any]) -> Block:
        return children[2]

    def for_stmt(self, children: list[Any]) -> n.ForStmt:
        _, pattern, *_, iterable, _, block = children
        schema = _after(children[: children.index(iterable)], "COLON")
        if schema is not None and not isinstance(pattern, n.NamePattern):
            hint = "a draft has one name: `for draft: T in stream $ ... $:`"
            found = catalogue.UNEXPECTED.at(
                pattern.span, expected="one name", found="several", hint=hint
            )
            raise Mistake(found)
        return n.ForStmt(_span(children), pattern, schema, iterable, block.statements)

    def while_stmt(self, children: list[Any]) -> n.WhileStmt:
        return n.WhileStmt(_span(children), children[1], children[3].statements)

    def try_stmt(self, children: list[Any]) -> n.TryStmt:
        name = _identifier(children[4]) if children[4].kind == "NAME" else None
        if name is not None and _CLASS.fullmatch(name.text):
            raise Mistake(
                catalogue.UNEXPECTED.at(
                    name.span,
                    expected="a name for the failure",
                    found=f"the class `{name.text}`",
                    hint=ALL_FAILURES.format("error"),
                )
            )
        return n.TryStmt(_span(children), children[2].statements, name, children[-1].statements)

    def break_stmt(self, children: list[Any]) -> n.BreakStmt:
        return n.BreakStmt(_span(children))

    def continue_stmt(self, children: list[Any]) -> n.ContinueStmt:
        return n.ContinueStmt(_span(children))

    def ret_stmt(self, children: list[Any]) -> n.RetStmt:
        return n.RetStmt(_span(children), children[1] if len(children) > 1 else None)

    def assert_stmt(self, children: list[Any]) -> n.AssertStmt:
        return n.AssertStmt(_span(children), children[1], _after(children, "COMMA"))

    def fail_stmt(self, children: list[Any]) -> n.FailStmt:
        return n.FailStmt(_span(children), children[1])

    def expression_stmt(self, children: list[Any]) -> n.ExpressionStmt:
        return n.ExpressionStmt(_span(children), children[0])

    def type_alias(self, children: list[Any]) -> n.TypeAlias:
        return n.TypeAlias(_span(children), _identifier(children[1]), children[3])

    def record_def(self, children: list[Any]) -> n.RecordDef:
        fields = _sequence(children).items
        for field in fields:
            if field.schema is None:
                raise Mistake(
                    catalogue.UNEXPECTED.at(
                        field.span,
                        expected="a type",
                        found=f"field `{field.name.text}` without one",
                        hint=f"write `{field.name.text}: string`",
                    )
                )
        # An optional field may be omitted at any position.
        _check_default_order(
            [field for field in fields if not isinstance(field.schema, n.OptionalSchema)]
        )
        rules = _rules(children[-1].statements) if isinstance(children[-1], Block) else ()
        return n.RecordDef(_span(children), _identifier(children[1]), fields, rules)

    def import_stmt(self, children: list[Any]) -> n.ImportStmt:
        return n.ImportStmt(_span(children), children[1], _alias(children))

    def from_import(self, children: list[Any]) -> n.FromImport:
        names = tuple(child for child in children if isinstance(child, n.ImportedName))
        return n.FromImport(_span(children), children[1], names)

    def server_import(self, children: list[Any]) -> n.ServerImport:
        names = tuple(child for child in children if isinstance(child, n.ImportedName))
        return n.ServerImport(_span(children), _identifier(children[3]), names)

    def imported_name(self, children: list[Any]) -> n.ImportedName:
        return n.ImportedName(_span(children), _identifier(children[0]), _alias(children))

    def dotted_name(self, children: list[Any]) -> n.Identifier:
        for token in children:
            # Python cannot import such a module.
            if keyword.iskeyword(token.text):
                raise Mistake(
                    catalogue.BROKEN_MODULE.at(
                        token.span,
                        problem=f"no module can be named `{token.text}`: it is a word of Python",
                        hint=f"give it another name, such as `{token.text}_`",
                    )
                )
        return n.Identifier(_span(children), "".join(token.text for token in children))

    def relative_name(self, children: list[Any]) -> n.Identifier:
        parts = [child for child in children if child is not None]
        return n.Identifier(_span(parts), "".join(part.text for part in parts))

    # Patterns

    def name_pattern(self, children: list[Any]) -> n.NamePattern:
        return n.NamePattern(_span(children), _identifier(children[0]))

    def tuple_pattern(self, children: list[Any]) -> n.TuplePattern:
        return n.TuplePattern(_span(children), _items(children).items)

    def grouped_pattern(self, children: list[Any]) -> n.Pattern:
        return replace(children[1], span=_span(children))

    # Schemas

    def union_schema(self, children: list[Any]) -> n.UnionSchema:
        return n.UnionSchema(_span(children), _nodes(children))

    def optional_schema(self, children: list[Any]) -> n.OptionalSchema:
        return n.OptionalSchema(_span(children), children[0])

    def named_schema(self, children: list[Any]) -> n.NamedSchema:
        text = "".join(token.text for token in children)
        return n.NamedSchema(_span(children), text)

    def literal_schema(self, children: list[Any]) -> n.LiteralSchema:
        value = _literal_value(children[-1])
        if len(children) == 2:
            assert isinstance(value, int | float)
            value = -value
        return n.LiteralSchema(_span(children), value)

    def list_schema(self, children: list[Any]) -> n.ListSchema:
        return n.ListSchema(_span(children), children[1])

    def grouped_schema(self, children: list[Any]) -> n.Schema:
        return replace(children[1], span=_span(children))

    def tuple_schema(self, children: list[Any]) -> n.TupleSchema:
        return n.TupleSchema(_span(children), (children[1], *_sequence(children).items))

    def function_schema(self, children: list[Any]) -> n.FunctionSchema:
        is_bare = not isinstance(children[1], n.Node)
        parameters = () if is_bare else (children[1], *_sequence(children).items)
        return n.FunctionSchema(_span(children), parameters, children[-1])

    def object_schema(self, children: list[Any]) -> n.ObjectSchema:
        return n.ObjectSchema(_span(children), _sequence(children).items)

    def map_schema(self, children: list[Any]) -> n.MapSchema:
        return n.MapSchema(_span(children), children[2], children[5])

    def schema_items(self, children: list[Any]) -> CommaList:
        return _items(children)

    def schema_fields(self, children: list[Any]) -> CommaList:
        return _items(children)

    def schema_field(self, children: list[Any]) -> n.SchemaField:
        return n.SchemaField(_span(children), _identifier(children[0]), children[2])

    # Expressions

    def conditional(self, children: list[Any]) -> n.Conditional:
        return n.Conditional(_span(children), children[2], children[0], children[4])

    def logical(self, children: list[Any]) -> n.Logical:
        operator = "and" if children[1].kind == "AND" else "or"
        return n.Logical(_span(children), operator, children[0], children[2])

    def unary(self, children: list[Any]) -> n.Unary:
        operator = "not" if children[0].kind == "NOT" else "-"
        return n.Unary(_span(children), operator, children[1])

    def comparison(self, children: list[Any]) -> n.Comparison:
        left, comparator, right = children[:3]
        if len(children) > 3:
            second = children[3]
            raise Mistake(
                catalogue.CHAINED_COMPARISON.at(
                    second.span,
                    hint=f"write `a {comparator.text} b and b {second.text} c`",
                )
            )
        return n.Comparison(_span([left, right]), comparator.text, left, right)

    def comparator(self, children: list[Any]) -> Comparator:
        return Comparator(" ".join(token.text for token in children), _span(children))

    def binary(self, children: list[Any]) -> n.Binary:
        return n.Binary(_span(children), children[1].text, children[0], children[2])  # type: ignore[arg-type]

    def call(self, children: list[Any]) -> n.Call:
        arguments = _sequence(children)
        named = False
        for argument in arguments.items:
            if argument.name is None and named:
                raise Mistake(catalogue.ARGUMENT_ORDER.at(argument.span))
            named = named or argument.name is not None
        return n.Call(_span(children), children[0], arguments.items, arguments.ends_with_comma)

    def arguments(self, children: list[Any]) -> CommaList:
        return _items(children)

    def argument(self, children: list[Any]) -> n.Argument:
        name = _identifier(children[0]) if len(children) > 1 else None
        return n.Argument(_span(children), name, children[-1])

    def index(self, children: list[Any]) -> n.Index:
        return n.Index(_span(children), children[0], children[2])

    def slice(self, children: list[Any]) -> n.Slice:
        value, _, *inside = children[:-1]
        parts: list[Any] = [None]
        for child in inside:
            if isinstance(child, n.Node):
                parts[-1] = child
            else:
                parts.append(None)
        start, stop, step = [*parts, None][:3]
        if step is not None and _is_zero(step):
            raise Mistake(catalogue.ZERO_STEP.at(step.span, hint="`xs[::1]` takes every item"))
        return n.Slice(_span(children), value, start, stop, step)

    def member(self, children: list[Any]) -> n.Member:
        return n.Member(_span(children), children[0], _identifier(children[2]))

    def tuple_member(self, children: list[Any]) -> n.TupleMember:
        return n.TupleMember(_span(children), children[0], int(children[2].text))

    def name(self, children: list[Any]) -> n.Name:
        return n.Name(_span(children), children[0].text)

    def literal(self, children: list[Any]) -> n.Literal:
        return n.Literal(_span(children), _literal_value(children[0]))

    def grouped(self, children: list[Any]) -> n.Expression:
        return replace(children[1], span=_span(children))

    def tuple_literal(self, children: list[Any]) -> n.TupleLiteral:
        if len(children) == 2:
            return n.TupleLiteral(_span(children), (), False)
        more = _sequence(children)
        return n.TupleLiteral(_span(children), (children[1], *more.items), more.ends_with_comma)

    def list_literal(self, children: list[Any]) -> n.ListLiteral:
        items = _sequence(children)
        return n.ListLiteral(_span(children), items.items, items.ends_with_comma)

    def object_literal(self, children: list[Any]) -> n.ObjectLiteral:
        fields = _sequence(children)
        return n.ObjectLiteral(_span(children), fields.items, fields.ends_with_comma)

    def items(self, children: list[Any]) -> CommaList:
        return _items(children)

    def list_items(self, children: list[Any]) -> CommaList:
        return _items(children)

    def spread(self, children: list[Any]) -> n.Spread:
        return n.Spread(_span(children), children[1])

    def fields(self, children: list[Any]) -> CommaList:
        return _items(children)

    def field(self, children: list[Any]) -> n.Field:
        return n.Field(_span(children), _identifier(children[0]), children[2])

    def computed_field(self, children: list[Any]) -> n.ComputedField:
        return n.ComputedField(_span(children), children[1], children[4])

    def comprehension(self, children: list[Any]) -> n.Comprehension:
        return n.Comprehension(_span(children), children[1], tuple(children[2:-1]))

    def comprehension_clause(self, children: list[Any]) -> n.ComprehensionClause:
        conditions = _nodes(children[4:])
        return n.ComprehensionClause(_span(children), children[1], children[3], conditions)

    def formatted_string(self, children: list[Any]) -> n.FormattedString:
        parts = children[1:-1]
        whole = "".join(_HOLE if isinstance(part, n.FormatHole) else part.text for part in parts)
        is_block = children[0].text.endswith('"""')
        texts = (without_margin(whole) if is_block else whole).split(_HOLE)
        holes = [part for part in parts if isinstance(part, n.FormatHole)]
        made: list[n.FormatText | n.FormatHole] = []
        for number, (text, span) in enumerate(zip(texts, _text_spans(parts), strict=True)):
            if text:
                value = string_value(text.replace("{{", "{").replace("}}", "}"))
                made.append(n.FormatText(span, value))
            made += holes[number : number + 1]
        return n.FormattedString(_span(children), tuple(made))

    def format_hole(self, children: list[Any]) -> n.FormatHole:
        spec = children[2].text[1:] if len(children) > 3 else None
        return n.FormatHole(_span(children), children[1], spec or None)

    def hole(self, children: list[Any]) -> n.Hole:
        format_ = children[3].text if len(children) > 3 else None
        if format_ not in (None, *HOLE_FORMATS):
            raise Mistake(
                catalogue.UNKNOWN_FORMAT.at(
                    children[3].span,
                    format=format_,
                    hint=r"the formats are `raw` and `approve`; write `\{` for a brace in the text",
                )
            )
        return n.Hole(_span(children), children[1], format_ == "raw", format_ == "approve")

    def prompt(self, children: list[Any]) -> n.Prompt:
        if isinstance(children[0], n.Prompt):
            return _continued(children)
        words = [child.kind for child in children[:2] if isinstance(child, Token)]
        has_options = isinstance(children[-2], Token) and children[-2].kind == "WITH"
        parts = [
            child
            for child in children[: -2 if has_options else len(children)]
            if isinstance(child, n.Hole) or child.kind == "PROMPT_TEXT"
        ]
        return n.Prompt(
            _span(children),
            "STREAM" in words,
            "do" if "DO" in words else "program" if "PROGRAM" in words else "plain",
            _prompt_parts(parts),
            children[-1] if has_options else None,
            None,
        )


def _continued(children: list[Any]) -> n.Prompt:
    """Returns the prompt with the `after` behind it, and with the options behind this `after`."""
    prompt, options = children[0], _after(children, "WITH")
    if options is not None and prompt.options is not None:
        raise Mistake(
            catalogue.UNEXPECTED.at(children[3].span, expected="one `with`", found="a second one")
        )
    span, options = _span(children), prompt.options or options
    return replace(prompt, span=span, options=options, after=children[2])


def _prompt_parts(parts: list[Any]) -> tuple[n.PromptText | n.Hole, ...]:
    """Returns the parts of a prompt; removes the common indentation and resolves escapes."""
    whole = "".join(_HOLE if isinstance(part, n.Hole) else part.text for part in parts)
    texts = dedent(whole).split(_HOLE)
    holes = [part for part in parts if isinstance(part, n.Hole)]
    places = iter(_text_spans(parts))
    result: list[n.PromptText | n.Hole] = []
    for number, text in enumerate(texts):
        span = next(places)
        if text:
            result.append(n.PromptText(span, prompt_value(text)))
        if number < len(holes):
            result.append(holes[number])
    return tuple(result)


def _text_spans(parts: list[Any]) -> Iterable[Span]:
    """Yields the span of the text before each hole, and of the text after the last hole."""
    start = end = parts[0].span.start if parts else 0
    for part in parts:
        if isinstance(part, n.Hole | n.FormatHole):
            yield Span(start, part.span.start)
            start = part.span.end
        end = part.span.end
    yield Span(start, end)


def _span(children: Sequence[Any]) -> Span:
    return Span(children[0].span.start, children[-1].span.end)


def _identifier(token: Token) -> n.Identifier:
    return n.Identifier(token.span, token.text)


def _target(node: n.Expression) -> n.Pattern:
    """Returns the pattern for an expression on the left side of an unpacking."""
    match node:
        case n.Name():
            return n.NamePattern(node.span, n.Identifier(node.span, node.text))
        case n.TupleLiteral(items=(_, _, *_)):
            return n.TuplePattern(node.span, tuple(map(_target, node.items)))
        case n.Index() | n.Slice() | n.Member() | n.TupleMember():
            hint = "values are immutable: make a new one and assign it to a name"
        case _:
            hint = "write `a, b = pair`"
    raise Mistake(catalogue.NOT_A_NAME.at(node.span, hint=hint))


def _is_zero(node: n.Expression) -> bool:
    number = node.operand if isinstance(node, n.Unary) else node
    return isinstance(number, n.Literal) and type(number.value) is int and number.value == 0


def _nodes(children: list[Any]) -> tuple[Any, ...]:
    return tuple(child for child in children if isinstance(child, n.Node))


def _items(children: list[Any]) -> CommaList:
    ends_with_comma = isinstance(children[-1], Token)
    return CommaList(_nodes(children), _span(children), ends_with_comma)


def _sequence(children: list[Any]) -> CommaList:
    return next((child for child in children if isinstance(child, CommaList)), _NOTHING)


def _after(children: list[Any], kind: str) -> Any:
    """Returns the node after the first token of `kind`, or None if there is no such token."""
    for position, child in enumerate(children[:-1]):
        if isinstance(child, Token) and child.kind == kind:
            following = children[position + 1]
            return following if isinstance(following, n.Node) else None
    return None


def _alias(children: list[Any]) -> n.Identifier | None:
    has_alias = len(children) > 2 and children[-2].kind == "AS"
    return _identifier(children[-1]) if has_alias else None


def _literal_value(token: Token) -> int | float | str | bool | None:
    match token.kind:
        case "INTEGER":
            return int(token.text)
        case "FLOAT":
            return float(token.text)
        case "STRING":
            return token.text
        case "TRUE":
            return True
        case "FALSE":
            return False
        case _:
            return None


def _rules(statements: Sequence[n.Statement]) -> tuple[n.AssertStmt, ...]:
    found: list[n.AssertStmt] = []
    for statement in statements:
        if not isinstance(statement, n.AssertStmt):
            hint = _instead_of_rule(statement)
            raise Mistake(catalogue.RULE_EXPECTED.at(statement.span, hint=hint))
        found.append(statement)
    return tuple(found)


def _instead_of_rule(statement: n.Statement) -> str:
    """Returns the hint for a statement that is not allowed in the block of a record."""
    match statement:
        case n.FunctionDef():
            return "write the function outside of the record, with the record as a parameter"
        case n.AssignStmt():
            return "write fields and their defaults in the parentheses: `type Name(count: int = 0)`"
        case n.IfStmt():
            return "write `assert not a or b`: if a holds, b must hold"
        case _:
            return "write `assert condition, message`"


def _check_default_order(parameters: Sequence[n.Parameter]) -> None:
    defaulted = None
    for parameter in parameters:
        if parameter.default is not None:
            defaulted = parameter
        elif defaulted is not None:
            raise Mistake(
                catalogue.DEFAULT_ORDER.at(
                    parameter.span,
                    name=parameter.name.text,
                    hint=f"give it a default, or put it before `{defaulted.name.text}`",
                )
            )
