"""Parts of Python programs, as nodes of Python's own tree (`ast`).

    binary(binary(one, "+", two), "*", three)

gives the tree of `(one + two) * three`. Parentheses, quotes and lines are no part of a tree:
`printing` puts them.
"""

import ast
import keyword
import math
from collections.abc import Iterable, Sequence

Expression = ast.expr
Listing = ast.Call | ast.List | ast.Tuple | ast.Dict

BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "%": ast.Mod,
    "|": ast.BitOr,
}
COMPARISONS: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
    "in": ast.In,
    "not in": ast.NotIn,
    "is": ast.Is,
    "is not": ast.IsNot,
}
LOGICAL: dict[str, type[ast.boolop]] = {"and": ast.And, "or": ast.Or}

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Written(ast.Constant):
    """A constant that is not written in the usual way: `1_000`, or a text of several lines."""

    def __init__(self, value: int | float | str, source: str) -> None:
        super().__init__(value)
        self.source = source


def name(text: str) -> ast.Name:
    """A name."""
    return ast.Name(text)


def constant(value: int | float | str | bool | None) -> Expression:
    """A literal; a negative number is a negation."""
    match value:
        case None | bool() | str():
            return ast.Constant(value)
        case int():
            return negation(ast.Constant(-value)) if value < 0 else ast.Constant(value)
        case float():
            return floating(value)


def floating(value: float) -> Expression:
    """A float literal."""
    if math.copysign(1, value) < 0:
        return negation(floating(-value))
    if value == math.inf:
        return call(name("float"), [ast.Constant("inf")])
    return ast.Constant(value)


def attribute(value: Expression, text: str) -> ast.Attribute:
    """`value.text`."""
    return ast.Attribute(value, text)


def call(
    function: Expression,
    positional: Sequence[Expression] = (),
    named: Iterable[tuple[str, Expression]] = (),
) -> ast.Call:
    """`function(positional, name=named)`."""
    return ast.Call(function, list(positional), [ast.keyword(text, value) for text, value in named])


def subscript(value: Expression, *keys: Expression) -> ast.Subscript:
    """`value[key]`, or `value[key, key]` for several."""
    return ast.Subscript(value, keys[0] if len(keys) == 1 else ast.Tuple(list(keys)))


def slice_(value: Expression, start: Expression | None, stop: Expression | None) -> ast.Subscript:
    """`value[start:stop]`."""
    return ast.Subscript(value, ast.Slice(start, stop))


def binary(left: Expression, operator: str, right: Expression) -> ast.BinOp:
    """`left operator right`; the operators group to the left."""
    return ast.BinOp(left, BINARY[operator](), right)


def comparison(left: Expression, operator: str, right: Expression) -> ast.Compare:
    """`left operator right`."""
    return ast.Compare(left, [COMPARISONS[operator]()], [right])


def both(left: Expression, operator: str, right: Expression) -> ast.BoolOp:
    """`left and right`, `left or right`; Python has one node for `a and b and c`."""
    kind = LOGICAL[operator]
    first = left.values if isinstance(left, ast.BoolOp) and isinstance(left.op, kind) else [left]
    return ast.BoolOp(kind(), [*first, right])


def negated(operand: Expression) -> Expression:
    """`not operand`, written as the opposite comparison where there is one."""
    if isinstance(operand, ast.Compare) and len(operand.ops) == 1:
        opposite = _OPPOSITE.get(type(operand.ops[0]))
        if opposite is not None:
            return ast.Compare(operand.left, [opposite()], operand.comparators)
    return ast.UnaryOp(ast.Not(), operand)


def negation(operand: Expression) -> ast.UnaryOp:
    """`-operand`."""
    return ast.UnaryOp(ast.USub(), operand)


def conditional(then: Expression, condition: Expression, other: Expression) -> ast.IfExp:
    """`then if condition else other`."""
    return ast.IfExp(condition, then, other)


def comprehension(
    target: Expression, iterable: Expression, conditions: Sequence[Expression] = ()
) -> ast.comprehension:
    """`for target in iterable if condition`."""
    return ast.comprehension(target, iterable, list(conditions), 0)


def parameters(
    entries: Iterable[tuple[str, Expression | None, Expression | None]],
) -> ast.arguments:
    """The parameters of a function, each with its name, its annotation and its default."""
    entries = list(entries)
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(text, annotation) for text, annotation, _ in entries],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[default for _, _, default in entries if default is not None],
    )


def tuple_(items: Sequence[Expression]) -> ast.Tuple:
    """`(a, b)`, `(a,)`, `()`."""
    return ast.Tuple(list(items))


def list_(items: Sequence[Expression]) -> ast.List:
    """`[a, b]`."""
    return ast.List(list(items))


def dict_(entries: Sequence[tuple[str, Expression]]) -> ast.Dict:
    """`{"a": 1}`."""
    return ast.Dict([ast.Constant(key) for key, _ in entries], [value for _, value in entries])


def item_count(listing: Listing) -> int:
    """How many items or arguments a listing has."""
    match listing:
        case ast.Call():
            return len(listing.args) + len(listing.keywords)
        case ast.Dict():
            return len(listing.values)
        case _:
            return len(listing.elts)


def assignment(target: Expression, value: Expression) -> ast.Assign:
    """`target = value`."""
    return ast.Assign([target], value)


def annotated(
    target: ast.Name, annotation: Expression, value: Expression | None = None
) -> ast.AnnAssign:
    """`target: annotation = value`."""
    return ast.AnnAssign(target, annotation, value, 1)


def field_name(text: str) -> str:
    """The Python name of a record's field: its own, with an underscore after a keyword."""
    return text + "_" if keyword.iskeyword(text) else text


def is_identifier(text: str) -> bool:
    """Whether `text` can be a name in Python."""
    return text.isidentifier() and not keyword.iskeyword(text)
