"""Which statement each comment belongs to.

    // above            is leading for the statement below it
    x = 1  // beside    is trailing
    if x:  // head      is on the head of a block
        y = 2
        // below        is at the end of the block, by its indentation
    z = [
        1,  // inner    is inside; the emitter of the list puts it back, or it goes above
    ]

Doc comments that document something are not comments here: they become docstrings.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.python import Expression
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.docs import documenting
from saftc.syntax.tokens import Comment

if TYPE_CHECKING:
    from saftc.codegen.context import Context

_CLOSING = re.compile(r"(?:[\s,(]|//[^\n]*)*\)")
_Listing = TypeVar("_Listing", bound=cst.List | cst.Tuple | cst.Dict | cst.Call | cst.FunctionDef)
_Commented = TypeVar("_Commented", bound=py.Statement)

_ELSE = re.compile(r"^[ ]*else[ ]*:", re.MULTILINE)


@dataclass(slots=True)
class Attached:
    """The comments of one statement, or of a later branch of one."""

    leading: list[Comment] = field(default_factory=list[Comment])
    head: Comment | None = None
    trailing: Comment | None = None
    inner: list[Comment] = field(default_factory=list[Comment])


class Comments:
    """The comments of a module by what they belong to.

    A block is known by its first statement, a later branch of an `if` by its branch (`else` by the
    statement itself, under `others`).
    """

    def __init__(self, source: Source, module: n.Module) -> None:
        self.source = source
        docs = documenting(source, module)
        self.pending = [comment for comment in module.comments if comment not in docs]
        self.pending.reverse()
        self.attached: dict[n.Node, Attached] = {}
        self.others: dict[n.Node, Attached] = {}
        self.footers: dict[n.Node, list[Comment]] = {}
        self._block(module.statements, len(source.text))
        self.file_footer = list(reversed(self.pending))

    def of(self, node: n.Node) -> Attached:
        """The comments of a statement or a branch."""
        return self.attached.setdefault(node, Attached())

    def footer(self, body: tuple[n.Statement, ...]) -> list[Comment]:
        """The comments at the end of a block."""
        return self.footers.get(body[0], []) if body else []

    def blank_lines_before(self, offset: int) -> int:
        """How many blank lines stand above the line of `offset`."""
        line = self.source.line_of(offset) - 1
        count = 0
        while line >= 1 and not self.source.line_text(line).strip():
            count += 1
            line -= 1
        return count

    def blank_lines_after(self, offset: int) -> int:
        """How many blank lines stand below the line of `offset`."""
        line = self.source.line_of(offset) + 1
        count = 0
        while self.source.line_start(line) < len(self.source.text):
            if self.source.line_text(line).strip():
                break
            count += 1
            line += 1
        return count

    def parameters_end(self, statement: n.FunctionDef) -> int:
        """Where the parenthesis stands that closes the parameters."""
        last = statement.parameters[-1] if statement.parameters else statement.name
        match = _CLOSING.match(self.source.text, last.span.end)
        return match.end() if match else last.span.end

    # Attaching

    def _block(self, statements: tuple[n.Statement, ...], end: int) -> None:
        """Attaches the comments up to `end` to the statements of a block, or its end."""
        for statement in statements:
            own = self.of(statement)
            own.leading += self._take(statement.span.start)
            self._inside(statement, own)
            self._beside(statement, own)
        if statements and end < len(self.source.text):
            column = self.source.position(statements[0].span.start).column
            footer: list[Comment] = []
            while self.pending and self.pending[-1].span.start < end:
                if self.source.position(self.pending[-1].span.start).column < column:
                    break
                footer.append(self.pending.pop())
            self.footers[statements[0]] = footer

    def _take(self, end: int) -> list[Comment]:
        taken: list[Comment] = []
        while self.pending and self.pending[-1].span.start < end:
            taken.append(self.pending.pop())
        return taken

    def _inside(self, statement: n.Statement, own: Attached) -> None:
        match statement:
            case n.IfStmt():
                self._if(statement, own)
            case n.ForStmt():
                own.inner += self._take(statement.iterable.span.end)
                self._headed(own, statement.body, self._block_end(statement.body))
            case n.WhileStmt():
                own.inner += self._take(statement.condition.span.end)
                self._headed(own, statement.body, self._block_end(statement.body))
            case n.FunctionDef():
                own.inner += self._take(self.parameters_end(statement))
                self._headed(own, statement.body, self._block_end(statement.body))
            case _:
                own.inner += self._take(statement.span.end)

    def _headed(self, own: Attached, body: tuple[n.Statement, ...], end: int) -> None:
        """A block behind a head: what stands beside the head, and the block itself."""
        first = body[0].span.start
        line = self.source.line_of(first)
        while self.pending and self.pending[-1].span.start < first:
            comment = self.pending[-1]
            # What stands on lines of its own below the head belongs to the block.
            if not comment.is_trailing:
                break
            self.pending.pop()
            if own.head is None and self.source.line_of(comment.span.start) < line:
                own.head = comment
            else:
                own.inner.append(comment)
        self._block(body, end)

    def _if(self, statement: n.IfStmt, own: Attached) -> None:
        for position, branch in enumerate(statement.branches):
            part = own if position == 0 else self.of(branch)
            if position:
                part.leading += self._take(branch.span.start)
            part.inner += self._take(branch.condition.span.end)
            self._headed(part, branch.body, self._block_end(branch.body))
        if statement.other:
            part = self.others.setdefault(statement, Attached())
            part.leading += self._take(self._else_offset(statement))
            self._headed(part, statement.other, self._block_end(statement.other))

    def _else_offset(self, statement: n.IfStmt) -> int:
        start = statement.branches[-1].span.end
        match = _ELSE.search(self.source.text, start, statement.other[0].span.start)
        return match.start() if match else start

    def _block_end(self, body: tuple[n.Statement, ...]) -> int:
        """Where the lines that may belong to a block end: the next line of code."""
        offset = body[-1].span.end
        text = self.source.text
        line = self.source.line_of(offset) + 1
        while (start := self.source.line_start(line)) < len(text):
            stripped = self.source.line_text(line).strip()
            if stripped and not stripped.startswith("//"):
                return start
            line += 1
        return len(text) - 1

    def _beside(self, statement: n.Statement, own: Attached) -> None:
        line = self.source.line_of(statement.span.end)
        while self.pending and self.source.line_of(self.pending[-1].span.start) == line:
            if not self.pending[-1].is_trailing:
                break
            own.trailing = self.pending.pop()


def written(comment: Comment) -> cst.Comment:
    """The comment as Python writes it: `// note` is `# note`."""
    return py.comment(comment.text.lstrip("/").removeprefix(" "))


def comment_line(comment: Comment) -> cst.EmptyLine:
    """The comment on a line of its own."""
    return cst.EmptyLine(comment=written(comment))


def beside(comment: Comment | None) -> cst.TrailingWhitespace:
    """What stands at the end of a line with this comment beside it."""
    if comment is None:
        return cst.TrailingWhitespace()
    return cst.TrailingWhitespace(cst.SimpleWhitespace("  "), written(comment))


def with_beside(made: _Commented, comment: Comment | None) -> _Commented:
    """The statement with a comment at the end of its first line, which is its last or its head."""
    if comment is None:
        return made
    if isinstance(made, cst.SimpleStatementLine):
        return made.with_changes(trailing_whitespace=beside(comment))
    return made.with_changes(body=made.body.with_changes(header=beside(comment)))


def one_a_line(
    context: "Context",
    node: n.ListLiteral | n.TupleLiteral | n.ObjectLiteral | n.Call,
    made: py.Listing,
    items: Sequence[n.Node],
) -> Expression:
    """Keeps one item a line where the source has it so, and the comments between items."""
    if py.is_spread(made):
        # `str(x)` is `x`, and has its comments already.
        return made
    inner = context.take_inner(node.span) if items else []
    if inner:
        return with_comments(made, [item.span for item in items], inner, context.source)
    # The comma of `(a,)` makes the tuple; it says nothing about lines.
    count = len(py.items_of(made))
    is_spread = node.is_spread and count and not (count == 1 and isinstance(made, cst.Tuple))
    return py.spread(made) if is_spread else made


def with_comments(
    made: _Listing, items: Sequence[Span], comments: Sequence[Comment], source: Source
) -> _Listing:
    """`made` with one item a line, and the comments of the source between them.

    `items` are the places of its items in the source; those that the output adds stand at the end.
    """
    gaps: list[tuple[Comment | None, list[Comment]]] = [(None, []) for _ in range(len(items) + 1)]
    for comment in comments:
        gap = sum(span.end <= comment.span.start for span in items)
        trailing, above = gaps[gap]
        if gap and source.line_of(items[gap - 1].end - 1) == source.line_of(comment.span.start):
            gaps[gap] = (comment, above)
        else:
            gaps[gap] = (trailing, [*above, comment])
    first, *others = [_line_break(*gap) for gap in gaps]
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
