"""Comments as libcst has them: on lines of their own, at the end of a line, between items.

Which statement or item a comment belongs to, `saftc.syntax.comments` has found. Doc comments that
document something are not comments here: they become docstrings.
"""

import re
from collections.abc import Sequence
from typing import Any, TypeVar

import libcst as cst

from saftc.source import Source, Span
from saftc.syntax.comments import between
from saftc.syntax.tokens import Comment

_Listing = TypeVar("_Listing", bound=cst.List | cst.Tuple | cst.Dict | cst.Call | cst.FunctionDef)

# Words that mean something to those who read Python, at the beginning of a comment or of one in it.
_DIRECTIVE = re.compile(
    r"((?:^|[#;])\s*(?:-\*-\s*)?)"
    r"(coding|flake8|fmt|isort|mypy|noqa|nosec|pragma|pylint|pyright|ruff|type|yapf)\b",
    re.IGNORECASE,
)


def python_comment(text: str) -> cst.Comment:
    """A comment of the script as one of Python: `// note` is `# note`.

    What black, Python or a linter would take for a word to itself, it does not: `// fmt: off` is
    "# `fmt`: off".
    """
    body = _DIRECTIVE.sub(r"\1`\2`", text.lstrip("/"))
    return cst.Comment("#" + body if not body or body.startswith(" ") else "# " + body)


def comment_line(comment: Comment) -> cst.EmptyLine:
    """The comment on a line of its own."""
    return cst.EmptyLine(comment=python_comment(comment.text))


def beside(comment: Comment | None) -> cst.TrailingWhitespace:
    """What stands at the end of a line with this comment beside it."""
    if comment is None:
        return cst.TrailingWhitespace()
    return cst.TrailingWhitespace(cst.SimpleWhitespace("  "), python_comment(comment.text))


def with_comments(
    made: _Listing, items: Sequence[Span], comments: Sequence[Comment], source: Source
) -> _Listing:
    """`made` with one item a line, and the comments of the source between them.

    `items` are the places of its items in the source; those that the output adds stand at the end.
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
