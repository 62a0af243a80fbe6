"""Builds parts of Python programs as libcst nodes, with the parentheses that they need.

    binary(binary(one, "+", two), "*", three)

returns `(one + two) * three`: every function puts an operand in parentheses if its precedence is
too low for its place. `_LEVELS` has all precedences. black decides about quotes, the form of
numbers and line breaks.
"""

import keyword
import math
import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

import libcst as cst

Expression = cst.BaseExpression
Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
Listing = cst.Call | cst.List | cst.Tuple | cst.Dict
_Listing = TypeVar("_Listing", bound=Listing)

# Precedences, from loosest to tightest; all other expressions are atoms or postfix expressions.
_ANY, _CONDITIONAL, _OR, _AND, _NOT, _COMPARISON = range(6)
_BIT_OR, _SUM, _PRODUCT, _SIGN, _AWAIT, _POSTFIX = range(6, 12)
_LEVELS: dict[type[cst.CSTNode], int] = {
    cst.Lambda: _CONDITIONAL,
    cst.IfExp: _CONDITIONAL,
    cst.Or: _OR,
    cst.And: _AND,
    cst.Not: _NOT,
    cst.Comparison: _COMPARISON,
    cst.BitOr: _BIT_OR,
    cst.Add: _SUM,
    cst.Subtract: _SUM,
    cst.Multiply: _PRODUCT,
    cst.Divide: _PRODUCT,
    cst.FloorDivide: _PRODUCT,
    cst.Modulo: _PRODUCT,
    cst.Minus: _SIGN,
    cst.Await: _AWAIT,
}

_BINARY: dict[str, type[cst.BaseBinaryOp]] = {
    "+": cst.Add,
    "-": cst.Subtract,
    "*": cst.Multiply,
    "/": cst.Divide,
    "//": cst.FloorDivide,
    "%": cst.Modulo,
    "|": cst.BitOr,
}
_AUGMENTED: dict[str, type[cst.BaseAugOp]] = {
    "+": cst.AddAssign,
    "-": cst.SubtractAssign,
    "*": cst.MultiplyAssign,
    "/": cst.DivideAssign,
    "%": cst.ModuloAssign,
}
_COMPARISONS: dict[str, type[cst.BaseCompOp]] = {
    "==": cst.Equal,
    "!=": cst.NotEqual,
    "<": cst.LessThan,
    "<=": cst.LessThanEqual,
    ">": cst.GreaterThan,
    ">=": cst.GreaterThanEqual,
    "in": cst.In,
    "not in": cst.NotIn,
    "is": cst.Is,
    "is not": cst.IsNot,
}
_OPPOSITE: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
}

# Shared nodes, as libcst would create and validate a new one for each space.
_NONE, _SPACE = cst.SimpleWhitespace(""), cst.SimpleWhitespace(" ")
_OPEN, _CLOSE = (cst.LeftParen(_NONE),), (cst.RightParen(_NONE),)
_COMMA, _DOT = cst.Comma(_NONE, _SPACE), cst.Dot(_NONE, _NONE)
_EQUAL, _SPACED_EQUAL = cst.AssignEqual(_NONE, _NONE), cst.AssignEqual(_SPACE, _SPACE)
_END_OF_LINE = cst.TrailingWhitespace(_NONE)

_NOTHING = cst.Module([])
# A text up to this length is one string; black would join its parts anyway.
_SHORT_TEXT = 80

BLANK = cst.EmptyLine(indent=False)


def _level(node: Expression) -> int:
    """Returns the precedence of `node`.

    In parentheses, every node has the precedence of an atom.
    """
    if node.lpar:
        return _POSTFIX
    match node:
        case cst.BinaryOperation() | cst.BooleanOperation() | cst.UnaryOperation():
            return _LEVELS[type(node.operator)]
        case _:
            return _LEVELS.get(type(node), _POSTFIX)


def _at_least(node: Expression, level: int) -> Expression:
    return node if _level(node) >= level else node.with_changes(lpar=_OPEN, rpar=_CLOSE)


# Atoms


def name(text: str) -> cst.Name:
    """The node for a name."""
    return cst.Name(text)


def dotted(text: str) -> cst.Name | cst.Attribute:
    """A name, or names with dots between them."""
    first, *rest = text.split(".")
    made: cst.Name | cst.Attribute = name(first)
    for part in rest:
        made = cst.Attribute(made, name(part), _DOT)
    return made


def constant(value: int | float | str | bool | None) -> Expression:
    """The literal of a value. A negative number becomes the negation of a positive one."""
    match value:
        case None | bool():
            return name(str(value))
        case str():
            return cst.SimpleString(_quoted(value))
        case int():
            return negation(constant(-value)) if value < 0 else cst.Integer(str(value))
        case float():
            return floating(value)


def _quoted(text: str) -> str:
    """The source of a string literal, with the quotes that black prefers if possible."""
    written = repr(text)
    return written if '"' in written else f'"{written[1:-1]}"'


def in_lines(text: cst.SimpleString, width: int) -> Expression:
    """Splits a text into adjacent literals.

    The literals end at words or lines, and fit the width if possible.
    """
    lines = [""]
    for word in re.findall(r"\s*\S*\s", f"{text.evaluated_value} "):
        if lines[-1].endswith("\n") or (lines[-1] and len(_quoted(lines[-1] + word)) > width):
            lines.append("")
        lines[-1] += word
    lines[-1] = lines[-1][:-1]
    return text if len(lines) == 1 else joined(list(filter(None, lines)))


def floating(value: float) -> Expression:
    """A float literal."""
    if math.copysign(1, value) < 0:
        return negation(floating(-value))
    if value == math.inf:
        return call(name("float"), [constant("inf")])
    return cst.Float(repr(value))


def as_written(text: str) -> Expression:
    """A number in the notation of the script, such as `1_000`."""
    return cst.Integer(text) if text.replace("_", "").isdigit() else cst.Float(text)


def joined(texts: Sequence[str]) -> Expression:
    """A string literal for each text. The literals are adjacent, so Python joins them."""
    return _concatenated(list(map(constant, texts)))


def _concatenated(strings: Sequence[Expression]) -> Expression:
    *others, last = strings
    for text in reversed(others):
        last = cst.ConcatenatedString(text, last, whitespace_between=_SPACE)  # type: ignore[arg-type]
    return last.with_changes(lpar=_OPEN, rpar=_CLOSE)


Parts = Sequence[str | tuple[Expression, str]]


def formatted(parts: Parts) -> Expression:
    """An f-string. If it is long and has several lines, each line has a literal."""
    lines = _lines_of(parts)
    made: list[Expression] = []
    for line in lines if len(lines) > 1 and _width(parts) > _SHORT_TEXT else [list(parts)]:
        if all(isinstance(part, str) for part in line):
            made.append(constant("".join(part for part in line if isinstance(part, str))))
        else:
            made.append(_formatted_line(line))
    return made[0] if len(made) == 1 else _concatenated(made)


def _width(parts: Parts) -> int:
    return sum(len(repr(part)) if isinstance(part, str) else 10 for part in parts)


def _lines_of(parts: Parts) -> list[list[str | tuple[Expression, str]]]:
    """Splits the parts of an f-string into lines.

    All lines except the last end with a line break.
    """
    lines: list[list[str | tuple[Expression, str]]] = [[]]
    for part in parts:
        pieces = part.splitlines(keepends=True) if isinstance(part, str) else [part]
        for piece in pieces:
            lines[-1].append(piece)
            if isinstance(piece, str) and piece.endswith("\n"):
                lines.append([])
    return lines if lines[-1] else lines[:-1]


def _formatted_line(parts: Parts) -> cst.FormattedString:
    made: list[cst.BaseFormattedStringContent] = []
    for part in parts:
        if isinstance(part, str):
            made.append(cst.FormattedStringText(_quoted_for_format(part)))
            continue
        value, spec = part
        # Without a blank, two braces would be an escaped brace.
        pad = _SPACE if _NOTHING.code_for_node(value).startswith("{") else _NONE
        made.append(
            cst.FormattedStringExpression(
                value,
                format_spec=[cst.FormattedStringText(_quoted_for_format(spec))] if spec else None,
                whitespace_before_expression=pad,
                whitespace_after_expression=pad,
            )
        )
    return cst.FormattedString(made, start='f"', end='"')


def _quoted_for_format(text: str) -> str:
    """Escapes a text so that it can be written between the quotes of an f-string."""
    inside = "".join(one if one in "'\"" else repr(one)[1:-1] for one in text)
    return inside.replace('"', '\\"').replace("{", "{{").replace("}", "}}")


def template(parts: Parts) -> Expression:
    """The format string for `str.format`, with a `{}` for each value."""
    return constant(
        "".join(
            part.replace("{", "{{").replace("}", "}}")
            if isinstance(part, str)
            else f"{{:{part[1]}}}"
            if part[1]
            else "{}"
            for part in parts
        )
    )


def single_quoted(node: Expression) -> Expression:
    """The expression, with single quotes around strings that contain no quotes or escapes."""
    if '"' not in _NOTHING.code_for_node(node):
        return node
    changed = node.visit(_SingleQuotes())
    assert isinstance(changed, cst.BaseExpression)
    return changed


class _SingleQuotes(cst.CSTTransformer):
    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        text = original_node.value
        is_plain = text.startswith('"') and not text.startswith('"""')
        if not is_plain or "'" in text or "\\" in text:
            return updated_node
        return updated_node.with_changes(value=f"'{text[1:-1]}'")


# Postfix expressions


def attribute(value: Expression, text: str) -> cst.Attribute:
    """`value.text`."""
    if isinstance(value, cst.Integer | cst.Float):
        # `1.real` would be parsed as a number followed by a word.
        value = value.with_changes(lpar=_OPEN, rpar=_CLOSE)
    return cst.Attribute(_at_least(value, _POSTFIX), name(text), _DOT)


def call(
    function: Expression,
    positional: Sequence[Expression] = (),
    named: Iterable[tuple[str, Expression]] = (),
) -> cst.Call:
    """`function(positional, name=named)`."""
    arguments = [_argument(value) for value in positional]
    arguments += [_argument(value, text) for text, value in named]
    return cst.Call(
        _at_least(function, _POSTFIX),
        arguments,
        whitespace_after_func=_NONE,
        whitespace_before_args=_NONE,
    )


def _argument(value: Expression, text: str | None = None, star: str = "") -> cst.Arg:
    return cst.Arg(
        value,
        None if text is None else name(text),
        cst.MaybeSentinel.DEFAULT if text is None else _EQUAL,
        star=star,  # type: ignore[arg-type]
        whitespace_after_star=_NONE,
        whitespace_after_arg=_NONE,
    )


def with_rest(made: cst.Call, at: int, rest: Expression) -> cst.Call:
    """The call with `*rest` after its first `at` arguments."""
    arguments = [*made.args[:at], _argument(rest, star="*"), *made.args[at:]]
    return made.with_changes(args=arguments)


def passed_to(function: Expression, made: cst.Call) -> cst.Call:
    """`function(g, a)`, from the call `g(a)`."""
    given = [_argument(made.func), *made.args]
    return made.with_changes(func=function, args=given)


def subscript(value: Expression, *keys: Expression) -> cst.Subscript:
    """`value[key]`, or `value[key, key]` for several keys."""
    return _subscript(value, [cst.Index(key) for key in keys])


def slice_(
    value: Expression,
    start: Expression | None,
    stop: Expression | None,
    step: Expression | None = None,
) -> cst.Subscript:
    """`value[start:stop:step]`."""
    colon = cst.Colon(_NONE, _NONE)
    second = cst.MaybeSentinel.DEFAULT if step is None else colon
    return _subscript(value, [cst.Slice(start, stop, step, colon, second)])


def _subscript(value: Expression, keys: Sequence[cst.BaseSlice]) -> cst.Subscript:
    elements = [cst.SubscriptElement(key) for key in keys]
    return cst.Subscript(_at_least(value, _POSTFIX), elements, whitespace_after_value=_NONE)


# Operators


def binary(left: Expression, operator: str, right: Expression) -> cst.BinaryOperation:
    """`left operator right`. The right operand gets parentheses if it has the same precedence."""
    kind = _BINARY[operator]
    made = kind(whitespace_before=_SPACE, whitespace_after=_SPACE)  # type: ignore[call-arg]
    return cst.BinaryOperation(
        _at_least(left, _LEVELS[kind]), made, _at_least(right, _LEVELS[kind] + 1)
    )


def union(parts: Sequence[Expression]) -> Expression:
    """`a | b | c`."""
    result, *others = parts
    for part in others:
        result = binary(result, "|", part)
    return result


def nested_union(made: Expression) -> Expression:
    """Changes `a | b | c` to `a | (b | c)`. Other expressions are returned unchanged."""
    parts: list[Expression] = []
    while isinstance(made, cst.BinaryOperation) and isinstance(made.operator, cst.BitOr):
        parts.insert(0, made.right)
        made = made.left
    if not parts:
        return made
    return binary(made, "|", union(parts))


def comparison(left: Expression, operator: str, right: Expression) -> cst.Comparison:
    """`left operator right`.

    An operand that is a comparison gets parentheses, so that the comparisons do not chain.
    """
    target = cst.ComparisonTarget(_COMPARISONS[operator](), _at_least(right, _COMPARISON + 1))
    return cst.Comparison(_at_least(left, _COMPARISON + 1), [target])


def both(left: Expression, operator: str, right: Expression) -> cst.BooleanOperation:
    """Returns `left and right` or `left or right`.

    The parentheses of `a and (b and c)` are kept.
    """
    kind = cst.And if operator == "and" else cst.Or
    level = _LEVELS[kind]
    return cst.BooleanOperation(
        _at_least(left, level), kind(_SPACE, _SPACE), _at_least(right, level + 1)
    )


def negated(operand: Expression) -> Expression:
    """Returns `not operand`. A comparison with `in` or `is` becomes the opposite comparison."""
    match operand:
        case cst.Comparison(comparisons=[cst.ComparisonTarget() as target]):
            opposite = _OPPOSITE.get(type(target.operator))
            if opposite is not None:
                return operand.with_changes(
                    comparisons=[target.with_changes(operator=opposite())], lpar=(), rpar=()
                )
        case _:
            pass
    return cst.UnaryOperation(cst.Not(_SPACE), _at_least(operand, _NOT))


def negation(operand: Expression) -> cst.UnaryOperation:
    """`-operand`."""
    # `--x` would read like a decrement.
    return cst.UnaryOperation(cst.Minus(_NONE), _at_least(operand, _SIGN + 1))


def conditional(then: Expression, condition: Expression, other: Expression) -> cst.IfExp:
    """`then if condition else other`."""
    return cst.IfExp(_at_least(condition, _OR), _at_least(then, _OR), other)


def awaited(value: Expression) -> cst.Await:
    """`await value`."""
    return cst.Await(_at_least(value, _POSTFIX))


def unwrapped(value: Expression) -> Expression:
    """The expression without parentheses around it."""
    return value.with_changes(lpar=(), rpar=()) if value.lpar else value


def lambda_(value: Expression, given: "Iterable[Parameter]" = ()) -> cst.Lambda:
    """`lambda given: value`."""
    return cst.Lambda(parameters(given), value)


# Comprehensions

Clause = tuple[Expression, Expression, Sequence[Expression]]


def comprehension(
    item: Expression, clauses: Sequence[Clause], awaiting: Sequence[bool] = ()
) -> cst.ListComp:
    """`[item for target in iterable if condition]`.

    Each clause has a target, an iterable and conditions. `awaiting` says for each clause whether it
    is `async for`.
    """
    return cst.ListComp(item, _clauses(clauses, awaiting or [False] * len(clauses)))


def dict_comprehension(
    key: Expression, value: Expression, clauses: Sequence[Clause], awaiting: Sequence[bool] = ()
) -> cst.DictComp:
    """`{key: value for target in iterable if condition}`."""
    return cst.DictComp(key, value, _clauses(clauses, awaiting or [False] * len(clauses)))


def generator(made: cst.ListComp) -> cst.GeneratorExp:
    """The generator with the same items as the list comprehension."""
    return cst.GeneratorExp(made.elt, made.for_in, lpar=(), rpar=())


def parenthesized(made: cst.GeneratorExp) -> cst.GeneratorExp:
    """The generator in parentheses, for calls with more arguments or a trailing comma."""
    return made.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _clauses(clauses: Sequence[Clause], awaiting: Sequence[bool]) -> cst.CompFor:
    (target, iterable, conditions), *others = clauses
    return cst.CompFor(
        bare(target),  # type: ignore[arg-type]
        # A conditional without parentheses would not parse here.
        _at_least(iterable, _OR),
        [cst.CompIf(_at_least(condition, _OR)) for condition in conditions],
        _clauses(others, awaiting[1:]) if others else None,
        asynchronous=cst.Asynchronous() if awaiting[0] else None,
    )


# Listings


def tuple_(items: Sequence[Expression]) -> cst.Tuple:
    """`(a, b)`, `(a,)`, `()`."""
    elements = [cst.Element(item) for item in items]
    if len(elements) == 1:
        elements[0] = cst.Element(items[0], comma=cst.Comma(_NONE, _NONE))
    return cst.Tuple(elements, lpar=_OPEN, rpar=_CLOSE)


def bare(node: Expression) -> Expression:
    """Removes the parentheses of a tuple, for code that needs none.

    Other nodes are left unchanged.
    """
    is_plain = isinstance(node, cst.Tuple) and len(node.elements) > 1 and node.lpar == _OPEN
    return node.with_changes(lpar=(), rpar=()) if is_plain else node


def list_(items: Sequence[Expression]) -> cst.List:
    """`[a, *b]`."""
    is_element = cst.StarredElement
    return cst.List([one if isinstance(one, is_element) else cst.Element(one) for one in items])


def starred(value: Expression) -> cst.StarredElement:
    """`*value` in a list."""
    return cst.StarredElement(_at_least(value, _BIT_OR))


# A key of a dict and its value; None as the key for an unpacked dict, `**value`.
Entry = tuple[str | Expression | None, Expression]


def dict_(entries: Sequence[Entry]) -> cst.Dict:
    """`{"a": 1, key: 2, **c}`."""
    return cst.Dict([_entry(key, value) for key, value in entries])


def _entry(key: str | Expression | None, value: Expression) -> cst.BaseDictElement:
    if key is None:
        return cst.StarredDictElement(_at_least(value, _BIT_OR))
    return cst.DictElement(constant(key) if isinstance(key, str) else key, value)


def items_of(made: Listing) -> Sequence[cst.Arg | cst.BaseElement | cst.BaseDictElement]:
    """Returns the items of a list, tuple or dict, or the arguments of a call."""
    return made.args if isinstance(made, cst.Call) else made.elements


def is_spread(made: Listing) -> bool:
    """True if the last item has a trailing comma.

    The comma that makes `(a,)` a tuple does not count.
    """
    items = items_of(made)
    return len(items) > (isinstance(made, cst.Tuple)) and isinstance(items[-1].comma, cst.Comma)


def spread(made: _Listing) -> _Listing:
    """Adds a trailing comma, which makes black write one item per line."""
    *others, last = items_of(made)
    items = [*others, last.with_changes(comma=_COMMA)]
    return made.with_changes(**{"args" if isinstance(made, cst.Call) else "elements": items})


# Comments


def with_remark(made: cst.Call, text: str) -> cst.Call:
    """The call with one argument per line, and a comment beside the last one."""
    told = cst.TrailingWhitespace(cst.SimpleWhitespace("  "), comment(text))
    comma = cst.Comma(whitespace_after=cst.ParenthesizedWhitespace(told, indent=True))
    return made.with_changes(args=[*made.args[:-1], made.args[-1].with_changes(comma=comma)])


# Directives of Python and its tools, at the beginning of a comment or of a part of it.
_DIRECTIVE = re.compile(
    r"((?:^|[#;])\s*(?:-\*-\s*)?)"
    r"(noqa\b|nosec\b"
    r"|(?:coding|flake8|fmt|isort|mypy|pragma|pylint|pyright|ruff|type|yapf)(?=\s*[:=]))",
    re.IGNORECASE,
)
# Marks the first line of a module in async form; see `saftc.project.files`.
ASYNC_FORM = "This is the async form."
_ENCODING = re.compile(r"coding(?=[:=])")


def comment(text: str) -> cst.Comment:
    """The comment `# text`.

    Words that black, Python or a linter would read as a directive get backticks: "# `fmt`: off".
    """
    return cst.Comment("# " + _DIRECTIVE.sub(r"\1`\2`", text) if text else "#")


def header(name: str, *, is_async: bool = False) -> cst.EmptyLine:
    """The first line of a module, which says that it was compiled from the file `name`.

    Characters of the name that would break the line or declare an encoding are changed.
    """
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    shown = _ENCODING.sub("coding ", shown)
    form = f" {ASYNC_FORM}" if is_async else ""
    return cst.EmptyLine(
        comment=comment(f"Compiled by saftc from {shown}; edit that file instead.{form}")
    )


# Statements


def loop(
    target: Expression, iterable: Expression, body: cst.BaseSuite, *, is_async: bool = False
) -> cst.For:
    """`for target in iterable:`."""
    asynchronous = cst.Asynchronous() if is_async else None
    return cst.For(bare(target), bare(iterable), body, asynchronous=asynchronous)  # type: ignore[arg-type]


def assignment(target: Expression, value: Expression) -> cst.Assign:
    """`target = value`."""
    return cst.Assign([cst.AssignTarget(bare(target), _SPACE, _SPACE)], value)  # type: ignore[arg-type]


def augmented(target: cst.Name | cst.Subscript, operator: str, value: Expression) -> cst.AugAssign:
    """`target += value`."""
    made = _AUGMENTED[operator](whitespace_before=_SPACE, whitespace_after=_SPACE)  # type: ignore[call-arg]
    return cst.AugAssign(target, made, value)


def annotated(
    target: cst.Name, annotation: Expression, value: Expression | None = None
) -> cst.AnnAssign:
    """`target: annotation = value`."""
    return cst.AnnAssign(target, cst.Annotation(annotation), value)


def returned(value: Expression | None) -> cst.Return:
    """`return value`, or `return` if there is no value."""
    return cst.Return(value)


def yielded(value: Expression) -> cst.Expr:
    """`yield value`."""
    return cst.Expr(cst.Yield(value))


def line(
    small: cst.BaseSmallStatement, beside: cst.TrailingWhitespace = _END_OF_LINE
) -> cst.SimpleStatementLine:
    """The line of a statement without a block."""
    return cst.SimpleStatementLine([small], trailing_whitespace=beside)


def block(
    body: Sequence[Statement],
    beside: cst.TrailingWhitespace = _END_OF_LINE,
    footer: Sequence[cst.EmptyLine] = (),
) -> cst.IndentedBlock:
    """The block of a statement. `beside` ends the line above it, and `footer` is at its end."""
    return cst.IndentedBlock(body, header=beside, footer=footer)


def function(
    text: str,
    parameters: cst.Parameters,
    returns: Expression | None,
    body: cst.BaseSuite,
    *,
    is_async: bool = False,
) -> cst.FunctionDef:
    """`def text(parameters) -> returns:`."""
    return cst.FunctionDef(
        name(text),
        parameters,
        body,
        returns=None if returns is None else cst.Annotation(returns),
        asynchronous=cst.Asynchronous() if is_async else None,
    )


# The name of a parameter, its annotation and its default.
Parameter = tuple[str, Expression | None, Expression | None]


def parameters(entries: Iterable[Parameter]) -> cst.Parameters:
    """The parameters of a function."""
    return cst.Parameters([_parameter(*entry) for entry in entries])


def _parameter(text: str, annotation: Expression | None, default: Expression | None) -> cst.Param:
    return cst.Param(
        name(text),
        None if annotation is None else cst.Annotation(annotation),
        cst.MaybeSentinel.DEFAULT
        if default is None
        else (_EQUAL if annotation is None else _SPACED_EQUAL),
        default,
    )


def class_(
    text: str,
    bases: Sequence[Expression],
    body: Sequence[cst.BaseSmallStatement],
    decorators: Sequence[Expression] = (),
    methods: Sequence[cst.FunctionDef] = (),
) -> cst.ClassDef:
    """`class text(bases):`."""
    return cst.ClassDef(
        name(text),
        block([*map(line, body), *methods]),
        [_argument(base) for base in bases],
        decorators=[cst.Decorator(one) for one in decorators],
    )


def field_name(text: str) -> str:
    """The Python name of a record's field. A keyword of Python gets an underscore."""
    return text + "_" if keyword.iskeyword(text) else text


class _Names(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        node.value.visit(self)
        return False

    def visit_Name(self, node: cst.Name) -> None:
        self.found.add(node.value)


def names_in(made: Expression) -> set[str]:
    """Returns the names that Python looks up to evaluate an annotation."""
    names = _Names()
    made.visit(names)
    return names.found


def is_identifier(text: str) -> bool:
    """True if `text` can be a name in Python."""
    return text.isidentifier() and not keyword.iskeyword(text)
