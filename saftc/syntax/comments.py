"""Attaches each comment of a script to its statement, block or item.

    // above            is leading for the statement below it
    x = 1  // beside    is beside the statement
    if x:  // head      is at the head of a block
        y = 2
        // below        is in the footer of the block, by its indentation
    z = [
        1,  // inner    is inside the statement: the formatter writes it at its item, or else above
    ]

`/// text` is a doc comment. It is directly above a function, a type, a field or a parameter, or at
the end of the line of a field or parameter. A doc comment at the top of the file documents the
module if it is above an import or a blank line. Consecutive lines are one text.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import Comment
from saftc.syntax.walk import walk

# The nodes that a doc comment may also document at the end of their line.
FIELDS = (n.Parameter, n.SchemaField, n.PatternField)
_IMPORTS = n.ImportStmt | n.FromImport | n.ServerImport
_DOCUMENTED = (n.FunctionDef, n.TypeAlias, n.RecordDef, *FIELDS)

_GAP = re.compile(r"(?:\s+|//[^\n]*)*")


def skip(text: str, offset: int) -> int:
    """Returns the offset of the next character that is neither blank nor in a comment."""
    match = _GAP.match(text, offset)
    return match.end() if match else offset


# Doc comments


def find_docs(
    source: Source, statements: Sequence[n.Statement], comments: Sequence[Comment]
) -> dict[Comment, n.Node | None]:
    """Maps each doc comment to the node that it documents, or to None for the module.

    Doc comments that document nothing are not in the map.
    """
    docs = [comment for comment in comments if comment.is_doc]
    if not docs:
        return {}
    above = {source.line_of(doc.span.start): doc for doc in docs if not doc.is_trailing}
    beside = {source.line_of(doc.span.start): doc for doc in docs if doc.is_trailing}
    found: dict[Comment, n.Node | None] = dict.fromkeys(_at_the_top(source, statements, comments))
    starts = [doc.span.start for doc in docs]
    for statement in statements:
        # Parts of the statement can have a doc comment only if one begins after the statement does.
        line_end = source.line_start(source.line_of(statement.span.end) + 1)
        is_inside = bisect_left(starts, statement.span.start) < bisect_left(starts, line_end)
        for node in walk(statement) if is_inside else (statement,):
            if not isinstance(node, _DOCUMENTED) or not _begins_line(source, node):
                continue
            line = source.line_of(node.span.start)
            lines: list[Comment] = []
            while (comment := above.get(line - 1 - len(lines))) is not None:
                if isinstance(node, n.Statement) and _is_deeper(source, comment, node):
                    break  # it belongs to the block above
                lines.insert(0, comment)
            if isinstance(node, FIELDS) and not lines:
                # If a nested field ends on the same line, the comment belongs to the outer field.
                last = beside.pop(source.line_of(node.span.end), None)
                lines = [last] if last is not None else []
            found |= dict.fromkeys(lines, node)
    return found


def _is_deeper(source: Source, comment: Comment, node: n.Node) -> bool:
    column = source.position(node.span.start).column
    return source.position(comment.span.start).column > column


def texts_of(docs: dict[Comment, n.Node | None]) -> dict[n.Node | None, str]:
    """Maps each documented node to its doc text, without slashes. The key None means the module."""
    lines: dict[n.Node | None, list[str]] = {}
    for comment, node in docs.items():
        text = comment.text.removeprefix("///").removeprefix(" ")
        lines.setdefault(node, []).append(text)
    return {node: "\n".join(texts).strip() for node, texts in lines.items()}


def _at_the_top(
    source: Source, statements: Sequence[n.Statement], comments: Sequence[Comment]
) -> list[Comment]:
    """Returns the doc comments at the top of the file that document the module."""
    lines: list[Comment] = []
    first = statements[0].span.start if statements else len(source.text)
    for comment in comments:
        line = source.line_of(comment.span.start)
        follows = not lines or line == source.line_of(lines[-1].span.start) + 1
        if not comment.is_doc or comment.is_trailing or comment.span.start > first or not follows:
            break
        lines.append(comment)
    if lines and statements and not isinstance(statements[0], _IMPORTS):
        below = source.line_of(lines[-1].span.start) + 1
        return [] if source.line_of(first) == below else lines
    return lines


def needless_docs(
    source: Source, comments: Iterable[Comment], docs: Mapping[Comment, n.Node | None]
) -> Iterator[Diagnostic]:
    """Yields a warning for each doc comment that documents nothing.

    Consecutive lines count once.
    """
    last = -1
    for comment in comments:
        # A longer row of slashes is a separator line.
        if not comment.is_doc or comment in docs or comment.text.startswith("////"):
            continue
        line = source.line_of(comment.span.start)
        if line != last + 1:
            yield catalogue.DOCUMENTS_NOTHING.at(
                comment.span,
                hint=_TRAILING if comment.is_trailing else _ABOVE,
            )
        last = line


_TRAILING = "write it above a function or a type, or beside a field that has its own line"
_ABOVE = "write it directly above a function, a type, a field or a parameter; `//` is a comment"


def _begins_line(source: Source, node: n.Node) -> bool:
    start = source.line_start(source.line_of(node.span.start))
    return not source.text[start : node.span.start].strip()


# Comments of statements


@dataclass(slots=True)
class StatementComments:
    """The comments of a statement, or of an `elif`, an `else` or an `except` in a statement."""

    leading: list[Comment] = field(default_factory=list[Comment])
    inner: list[Comment] = field(default_factory=list[Comment])
    head: Comment | None = None
    beside: Comment | None = None


class Comments:
    """The comments of a module, attached to its statements.

    `end` has the comments below the last statement.
    """

    def __init__(self, source: Source, module: n.Module, comments: Iterable[Comment]) -> None:
        self._source = source
        self._pending = list(comments)
        self._pending.reverse()
        self._attached: dict[n.Node, StatementComments] = {}
        self._others: dict[n.Node, StatementComments] = {}
        self._footers: dict[n.Node, list[Comment]] = {}
        self._block(module.statements)
        self.end = self._take(len(source.text) + 1)

    def take_title(self, module: n.Module) -> list[Comment]:
        """Removes and returns the comments at the top of the file that are about the whole file.

        They have a blank line below them, or are above an import.
        """
        leading = self.of(module.statements[0]).leading if module.statements else []
        title: list[Comment] = []
        if module.statements and isinstance(module.statements[0], _IMPORTS):
            title = leading[:]
        for position, comment in enumerate(leading):
            if self._source.blank_lines_below(comment.span.start):
                title = leading[: max(len(title), position + 1)]
        del leading[: len(title)]
        return title

    def of(self, node: n.Statement | n.Branch) -> StatementComments:
        """The comments of a statement or an `elif`, and those in the head of its first block."""
        return self._attached.setdefault(node, StatementComments())

    def of_else(self, node: n.IfStmt | n.TryStmt) -> StatementComments:
        """The comments of the `else` of an `if`, or of the `except` of a `try`."""
        return self._others.setdefault(node, StatementComments())

    def footer(self, body: Sequence[n.Statement]) -> list[Comment]:
        """The comments at the end of a block."""
        return self._footers.get(body[0], []) if body else []

    def _take(self, end: int) -> list[Comment]:
        taken: list[Comment] = []
        while self._pending and self._pending[-1].span.start < end:
            taken.append(self._pending.pop())
        return taken

    def _block(self, statements: Sequence[n.Statement]) -> None:
        for statement in statements:
            if not self._pending:
                return
            own = StatementComments(self._take(statement.span.start))
            self._attached[statement] = own
            match statement:
                case n.IfStmt():
                    self._if(statement, own)
                case n.FunctionDef() | n.ForStmt() | n.WhileStmt():
                    self._body(statement.body, own)
                case n.RecordDef(rules=rules) if rules:
                    self._body(rules, own)
                case n.TryStmt():
                    self._body(statement.body, own)
                    self._else(statement, statement.body[-1].span.end, statement.handler)
                case _:
                    own.inner = self._take(statement.span.end)
                    line_end = self._source.line_start(self._source.line_of(statement.span.end) + 1)
                    own.beside = next(iter(self._take(line_end)), None)

    def _if(self, statement: n.IfStmt, own: StatementComments) -> None:
        for branch in statement.branches:
            if branch is not statement.branches[0]:
                own = self._attached[branch] = StatementComments(self._take(branch.span.start))
            self._body(branch.body, own)
        if statement.other:
            self._else(statement, statement.branches[-1].span.end, statement.other)

    def _else(
        self, statement: n.IfStmt | n.TryStmt, end: int, body: Sequence[n.Statement]
    ) -> None:
        """Attaches the comments of an `else` or `except`.

        `end` is the offset where the block before it ends.
        """
        own = self._others[statement] = StatementComments(self._take(skip(self._source.text, end)))
        self._body(body, own)

    def _body(self, body: Sequence[n.Statement], own: StatementComments) -> None:
        """Attaches the comments of a block: in its head, in the block, and at its end."""
        text, first = self._source.text, body[0].span.start
        while self._pending and self._pending[-1].span.start < first:
            is_in_head = skip(text, self._pending[-1].span.end) < first
            if not is_in_head and not self._pending[-1].is_trailing:
                # The comment has its own line in the block.
                break
            comment = self._pending.pop()
            if is_in_head:
                own.inner.append(comment)
            else:
                own.head = comment
        self._block(body)
        end = skip(text, body[-1].span.end)
        column = self._source.position(first).column
        footer = self._footers[body[0]] = list[Comment]()
        while self._pending and self._pending[-1].span.start < end:
            if self._source.position(self._pending[-1].span.start).column < column:
                break
            footer.append(self._pending.pop())


# Comments of items


def take(comments: list[Comment], start: int, end: int) -> list[Comment]:
    """Removes the comments that begin between two offsets from `comments`, and returns them."""
    first, last = (
        bisect_left(comments, offset, key=lambda comment: comment.span.start)
        for offset in (start, end)
    )
    taken = comments[first:last]
    del comments[first:last]
    return taken


def between(
    source: Source, items: Sequence[Span], comments: Iterable[Comment]
) -> tuple[list[list[Comment]], list[Comment | None]]:
    """Returns the comments above each item, and the comment beside each item, if there is one.

    The first list has one more entry, for the comments below the last item.
    """
    above: list[list[Comment]] = [[] for _ in range(len(items) + 1)]
    beside: list[Comment | None] = [None] * len(items)
    for comment in comments:
        gap = sum(item.end <= comment.span.start for item in items)
        line = source.line_of(comment.span.start)
        if gap and source.line_of(items[gap - 1].end - 1) == line:
            beside[gap - 1] = comment
        else:
            above[gap].append(comment)
    return above, beside
