"""Writes comments as libcst nodes: on their own lines, at the end of a line, between items.

`saftc.syntax.comments` has attached each comment to its statement or item. Doc comments that
document something are not handled here: they become docstrings.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.context import Context
from saftc.codegen.python import Expression
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.comments import between, take
from saftc.syntax.tokens import Comment

_Listing = TypeVar("_Listing", bound=cst.List | cst.Tuple | cst.Dict | cst.Call | cst.FunctionDef)
_Commented = TypeVar("_Commented", bound=py.Statement)


def written(comment: Comment) -> cst.Comment:
    """Returns the comment in Python's syntax: `// note` becomes `# note`."""
    return py.comment(comment.text.lstrip("/").removeprefix(" "))


def comment_line(comment: Comment) -> cst.EmptyLine:
    """Returns the comment on its own line."""
    return cst.EmptyLine(comment=written(comment))


def beside(comment: Comment | None) -> cst.TrailingWhitespace:
    """Returns the white space that ends a line, including the comment if there is one."""
    if comment is None:
        return cst.TrailingWhitespace()
    return cst.TrailingWhitespace(cst.SimpleWhitespace("  "), written(comment))


def with_beside(made: _Commented, comment: Comment | None) -> _Commented:
    """Returns the statement with a comment at the end of its first line."""
    if comment is None:
        return made
    if isinstance(made, cst.SimpleStatementLine):
        return made.with_changes(trailing_whitespace=beside(comment))
    return made.with_changes(body=made.body.with_changes(header=beside(comment)))


def one_a_line(
    context: Context,
    node: n.ListLiteral | n.TupleLiteral | n.ObjectLiteral | n.Call,
    made: py.Listing,
    items: Sequence[n.Node],
) -> Expression:
    """Returns `made` with one item per line if it is written like that in the script.

    If the script has comments between the items, `made` also gets one item per line, and the
    comments are kept.
    """
    if py.is_spread(made):
        # `str(x)` may be emitted as `x`, which has its comments already.
        return made
    inner = take(context.inner, *node.span) if items else []
    match made:
        case cst.Call(args=[cst.Arg(value=cst.GeneratorExp(lpar=()) as alone) as only]):
            # Python allows no trailing comma after a generator.
            if not inner:
                return made
            made = made.with_changes(args=[only.with_changes(value=py.parenthesized(alone))])
        case _:
            pass
    if inner:
        return with_comments(made, [item.span for item in items], inner, context.source)
    # The comma of `(a,)` makes it a tuple; it does not ask for several lines.
    count = len(py.items_of(made))
    is_spread = node.is_spread and count and not (count == 1 and isinstance(made, cst.Tuple))
    return py.spread(made) if is_spread else made


def with_comments(
    made: _Listing, items: Sequence[Span], comments: Sequence[Comment], source: Source
) -> _Listing:
    """Returns `made` with one item per line, and the comments of the source between the items.

    `items` are the spans of the items in the source. Items that are only in the output come last.
    """
    above, beside_items = between(source, items, comments)
    first, *others = map(_line_break, (None, *beside_items), above)
    match made:
        case cst.Call():
            return made.with_changes(args=_apart(made.args, others), whitespace_before_args=first)
        case cst.FunctionDef():
            parameters = made.params.with_changes(params=_apart(made.params.params, others))
            return made.with_changes(params=parameters, whitespace_before_params=first)
        case cst.List():
            opening: dict[str, Any] = {"lbracket": cst.LeftSquareBracket(first)}
        case cst.Dict():
            opening = {"lbrace": cst.LeftCurlyBrace(first)}
        case _:
            opening = {"lpar": [cst.LeftParen(first)]}
    return made.with_changes(elements=_apart(made.elements, others), **opening)


def _apart(items: Sequence[Any], spaces: Sequence[cst.ParenthesizedWhitespace]) -> list[Any]:
    added = [_line_break(None, ())] * (len(items) - len(spaces))
    return [
        item.with_changes(comma=cst.Comma(whitespace_after=space))
        for item, space in zip(items, (*spaces, *added), strict=True)
    ]


def _line_break(trailing: Comment | None, above: Sequence[Comment]) -> cst.ParenthesizedWhitespace:
    lines = [comment_line(comment) for comment in above]
    return cst.ParenthesizedWhitespace(beside(trailing), lines, indent=True)
