"""Python expressions as libcst nodes, with the parentheses that libcst does not add.

    binary(binary(one, "+", two), "*", three)

gives `(1 + 2) * 3`: every function here puts its operands in parentheses when they bind less
tightly than their place needs. `_PRECEDENCE` is the one table of how tightly they bind.
"""

import keyword
from collections.abc import Iterable, Sequence

import libcst as cst

# From the loosest to the tightest; what is not listed is an atom or a postfix expression.
_CONDITIONAL, _OR, _AND, _NOT, _COMPARISON, _BIT_OR, _SUM, _PRODUCT, _SIGN, _POSTFIX = range(10)

_PRECEDENCE: dict[type[cst.CSTNode], int] = {
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
    cst.Modulo: _PRODUCT,
    cst.Minus: _SIGN,
}

_BINARY: dict[str, type[cst.BaseBinaryOp]] = {
    "+": cst.Add,
    "-": cst.Subtract,
    "*": cst.Multiply,
    "/": cst.Divide,
    "%": cst.Modulo,
    "|": cst.BitOr,
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

Expression = cst.BaseExpression

_LEFT = (cst.LeftParen(),)
_RIGHT = (cst.RightParen(),)


def precedence(node: Expression) -> int:
    """How tightly `node` binds; more is tighter. Parentheses around it make it an atom."""
    if node.lpar:
        return _POSTFIX
    match node:
        case cst.BinaryOperation() | cst.BooleanOperation() | cst.UnaryOperation():
            return _PRECEDENCE.get(type(node.operator), _POSTFIX)
        case _:
            return _PRECEDENCE.get(type(node), _POSTFIX)


def parenthesized(node: Expression) -> Expression:
    """`node` in parentheses, unless it has them or needs none anywhere."""
    return node if node.lpar else node.with_changes(lpar=_LEFT, rpar=_RIGHT)


def _at_least(node: Expression, level: int) -> Expression:
    return node if precedence(node) >= level else parenthesized(node)


def name(text: str) -> cst.Name:
    """A name."""
    return cst.Name(text)


def integer(value: int) -> Expression:
    """An integer literal; a negative one is a negation."""
    return negation(cst.Integer(str(-value))) if value < 0 else cst.Integer(str(value))


def floating(value: float) -> Expression:
    """A float literal."""
    if value < 0:
        return negation(floating(-value))
    if value == float("inf"):
        return call(name("float"), [string("inf")])
    return cst.Float(repr(value))


def string(text: str) -> cst.SimpleString:
    """A string literal on one line, in the quotes that need fewer escapes."""
    single, double = _quoted(text, "'"), _quoted(text, '"')
    return cst.SimpleString(single if single.count("\\") < double.count("\\") else double)


def _quoted(text: str, quote: str) -> str:
    body = "".join(_escaped(character, quote) for character in text)
    return f"{quote}{body}{quote}"


def _escaped(character: str, quote: str) -> str:
    if character == quote or character == "\\":
        return "\\" + character
    if character.isprintable():
        return character
    return repr(character)[1:-1]


def block_text(text: str) -> str:
    """The inside of a triple-quoted string for `text`, whose lines stay lines."""
    escaped = "\n".join(
        "".join(c if c == '"' else _escaped(c, "") for c in line) for line in text.split("\n")
    )
    return escaped.replace('"""', '\\"\\"\\"')


def constant(value: int | float | str | bool | None) -> Expression:
    """A literal."""
    match value:
        case None | bool():
            return name(str(value))
        case int():
            return integer(value)
        case float():
            return floating(value)
        case str():
            return string(value)


def attribute(value: Expression, text: str) -> cst.Attribute:
    """`value.text`."""
    if isinstance(value, cst.Integer | cst.Float):
        value = parenthesized(value)
    return cst.Attribute(_at_least(value, _POSTFIX), cst.Name(text))


def call(
    function: Expression,
    positional: Sequence[Expression] = (),
    named: Iterable[tuple[str, Expression]] = (),
) -> cst.Call:
    """`function(positional, name=named)`."""
    arguments = [cst.Arg(argument) for argument in positional]
    arguments += [
        cst.Arg(
            value,
            keyword=cst.Name(text),
            equal=cst.AssignEqual(_NO_SPACE, _NO_SPACE),
        )
        for text, value in named
    ]
    return cst.Call(_at_least(function, _POSTFIX), arguments)


_NO_SPACE = cst.SimpleWhitespace("")


def subscript(value: Expression, *keys: Expression) -> cst.Subscript:
    """`value[key]`, or `value[key, key]` for several."""
    elements = [cst.SubscriptElement(cst.Index(key)) for key in keys]
    return cst.Subscript(_at_least(value, _POSTFIX), elements)


def slice_(value: Expression, start: Expression | None, stop: Expression | None) -> cst.Subscript:
    """`value[start:stop]`; spaces around the colon when an end is more than a name or number."""
    is_simple = all(end is None or _is_simple(end) for end in (start, stop))
    first = cst.SimpleWhitespace("" if is_simple or start is None else " ")
    second = cst.SimpleWhitespace("" if is_simple or stop is None else " ")
    ends = cst.Slice(start, stop, first_colon=cst.Colon(first, second))
    return cst.Subscript(_at_least(value, _POSTFIX), [cst.SubscriptElement(ends)])


def _is_simple(node: Expression) -> bool:
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.expression, cst.Name | cst.Integer)
    return isinstance(node, cst.Name | cst.Integer)


def binary(left: Expression, operator: str, right: Expression) -> cst.BinaryOperation:
    """`left operator right`; the operators group to the left."""
    kind = _BINARY[operator]
    level = _PRECEDENCE[kind]
    return cst.BinaryOperation(_at_least(left, level), kind(), _at_least(right, level + 1))


def comparison(left: Expression, operator: str, right: Expression) -> cst.Comparison:
    """`left operator right`; a comparison as an operand is in parentheses, so it does not chain."""
    target = cst.ComparisonTarget(_COMPARISONS[operator](), _at_least(right, _COMPARISON + 1))
    return cst.Comparison(_at_least(left, _COMPARISON + 1), [target])


def both(left: Expression, operator: str, right: Expression) -> cst.BooleanOperation:
    """`left and right`, `left or right`."""
    level = _AND if operator == "and" else _OR
    kind = cst.And() if operator == "and" else cst.Or()
    return cst.BooleanOperation(_at_least(left, level), kind, _at_least(right, level + 1))


def negated(operand: Expression) -> Expression:
    """`not operand`, written as the opposite comparison where there is one."""
    if isinstance(operand, cst.Comparison) and len(operand.comparisons) == 1:
        opposite = _OPPOSITE.get(type(operand.comparisons[0].operator))
        if opposite is not None:
            target = operand.comparisons[0].with_changes(operator=opposite())
            return operand.with_changes(comparisons=[target])
    return cst.UnaryOperation(cst.Not(), _at_least(operand, _NOT))


_OPPOSITE: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
}


def negation(operand: Expression) -> cst.UnaryOperation:
    """`-operand`."""
    if isinstance(operand, cst.UnaryOperation):
        # `--x` reads like a decrement.
        operand = parenthesized(operand)
    return cst.UnaryOperation(cst.Minus(), _at_least(operand, _SIGN))


def conditional(then: Expression, condition: Expression, other: Expression) -> cst.IfExp:
    """`then if condition else other`."""
    return cst.IfExp(
        _at_least(condition, _OR), _at_least(then, _OR), _at_least(other, _CONDITIONAL)
    )


def iterated(node: Expression) -> Expression:
    """`node` as what a comprehension goes over, where a bare conditional would not parse."""
    return _at_least(node, _OR)


def tuple_(items: Sequence[Expression]) -> cst.Tuple:
    """`(a, b)`, `(a,)`, `()`."""
    elements = [cst.Element(item) for item in items]
    if len(elements) == 1:
        elements[0] = cst.Element(items[0], comma=cst.Comma())
    return cst.Tuple(elements, lpar=_LEFT, rpar=_RIGHT)


def list_(items: Sequence[Expression]) -> cst.List:
    """`[a, b]`."""
    return cst.List([cst.Element(item) for item in items])


def dict_(entries: Sequence[tuple[str, Expression]]) -> cst.Dict:
    """`{"a": 1}`."""
    return cst.Dict([cst.DictElement(string(key), value) for key, value in entries])


def spread(node: cst.Call | cst.List | cst.Tuple | cst.Dict) -> Expression:
    """`node` with a comma after its last item, so that it is laid out with one item a line."""
    field = "args" if isinstance(node, cst.Call) else "elements"
    items = list(getattr(node, field))
    if not items:
        return node
    items[-1] = items[-1].with_changes(comma=cst.Comma())
    return node.with_changes(**{field: items})


def field_name(text: str) -> str:
    """The Python name of a record's field: its own, with an underscore after a keyword."""
    return text + "_" if keyword.iskeyword(text) else text


def is_identifier(text: str) -> bool:
    """Whether `text` can be a name in Python."""
    return text.isidentifier() and not keyword.iskeyword(text)
