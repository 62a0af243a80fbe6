"""What the tree leaves out of a script: comments, blank lines, and texts as they were written.

An `Original` hands out each comment once: whoever writes the part of the tree that it stands in
takes it, and what nobody has taken is found by the next part around it.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.docs import FIELDS, documenting
from saftc.syntax.lexer import dedent
from saftc.syntax.tokens import Comment
from saftc.syntax.walk import walk

_HOLE = "\0"
_GAP = re.compile(r"(?:\s+|//[^\n]*)*")
_OPENED_GAP = re.compile(r"(?:\s+|//[^\n]*|\()*")
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|[0-9][0-9A-Za-z_]*(?:\.[0-9][0-9A-Za-z_]*)?(?:(?<=[eE])[+-][0-9A-Za-z_]+)?"
    r"|[A-Za-z_][0-9A-Za-z_]*",
    re.DOTALL,
)
_LAST_TEXT = re.compile(r"(?:[^\\$]|\\.)*", re.DOTALL)


class Original:
    """The source of a tree, and the comments that have not been written yet."""

    def __init__(self, source: Source, module: n.Module) -> None:
        self.source = source
        self.text = source.text
        self.docs = documenting(source, module)
        # The doc comments at the end of a field's line stand by the field, wherever its line ends.
        self._docs_beside = self._find_docs_beside(module)
        placed = set(self._docs_beside.values())
        self._pending = [comment for comment in module.comments if comment not in placed]
        self._starts = [comment.span.start for comment in self._pending]

    # Comments

    def take(self, start: int, end: int) -> list[Comment]:
        """The comments left between two offsets, in source order; they are left no longer."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        taken = self._pending[first:last]
        del self._pending[first:last], self._starts[first:last]
        return taken

    def take_beside(self, offset: int) -> Comment | None:
        """The comment at the end of the line of `offset`, when it is left."""
        end = self.source.line_start(self.line_of(offset) + 1)
        position = bisect_left(self._starts, offset)
        if position < len(self._pending) and self._pending[position].span.start < end:
            return self.take(offset, end)[0]
        return None

    def doc_beside(self, node: n.Node) -> Comment | None:
        """The doc comment at the end of a field's line that documents it."""
        return self._docs_beside.get(node)

    def next_comment(self, end: int) -> Comment | None:
        """The first comment left, when it stands before `end`."""
        return self._pending[0] if self._pending and self._starts[0] < end else None

    def _find_docs_beside(self, module: n.Module) -> dict[n.Node, Comment]:
        beside = {
            self.line_of(comment.span.start): comment
            for comment in self.docs
            if comment.is_trailing
        }
        above = {
            self.line_of(comment.span.start) for comment in self.docs if not comment.is_trailing
        }
        found: dict[n.Node, Comment] = {}
        for node in walk(module) if beside else ():
            if not isinstance(node, FIELDS) or node not in module.docs:
                continue
            if self.line_of(node.span.start) - 1 in above:
                continue
            comment = beside.pop(self.line_of(node.span.end), None)
            if comment is not None:
                found[node] = comment
        return found

    # Lines

    def line_of(self, offset: int) -> int:
        """The line of `offset`, counted from 1."""
        return self.source.line_of(offset)

    def column_of(self, offset: int) -> int:
        """The column of `offset`, counted from 1."""
        return self.source.position(offset).column

    def blank_lines_above(self, offset: int) -> int:
        """How many blank lines stand above the line of `offset`."""
        line = self.line_of(offset) - 1
        count = 0
        while line >= 1 and not self.source.line_text(line).strip():
            count += 1
            line -= 1
        return count

    # Places

    def skip(self, offset: int) -> int:
        """The offset of the next thing that is neither blank nor a comment."""
        match = _GAP.match(self.text, offset)
        return match.end() if match else offset

    def core(self, span: Span) -> int:
        """The offset of what stands in the parentheses that `span` may begin with."""
        match = _OPENED_GAP.match(self.text, span.start)
        return match.end() if match else span.start

    def has_comma(self, offset: int) -> bool:
        """Whether a comma comes next."""
        return self.text.startswith(",", self.skip(offset))

    def closing(self, offset: int) -> int:
        """The offset of the bracket that comes next, behind a comma or not."""
        offset = self.skip(offset)
        return self.skip(offset + 1) if self.text.startswith(",", offset) else offset

    def is_grouped(self, node: n.Node, first: n.Node) -> bool:
        """Whether `node`, which begins with `first`, has parentheses of its own."""
        return self.text.startswith("(", node.span.start) and first.span.start > node.span.start

    # Texts

    def token_at(self, offset: int) -> str:
        """The number, string or word at `offset`, as it was written."""
        match = _TOKEN.match(self.text, offset)
        assert match is not None
        return match.group()

    def prompt_text(self, prompt: n.Prompt, holes: Sequence[n.Hole]) -> tuple[list[str], bool]:
        """The text before each hole and after the last, and whether it takes several lines.

        The texts are as written, less their indentation and the blank lines at both ends.
        """
        start = self.text.index("$", self.core(prompt.span)) + 1
        texts: list[str] = []
        for hole in holes:
            texts.append(self.text[start : hole.span.start])
            start = hole.span.end
        match = _LAST_TEXT.match(self.text, start)
        texts.append(match.group() if match else "")
        has_lines = any("\n" in text for text in texts)
        return dedent(_HOLE.join(texts)).split(_HOLE), has_lines


def string_lines(written: str) -> list[str]:
    r'''The lines of a `"""` string without quotes and common indentation.

    The first line, which stands behind the quotes, does not count for the indentation.
    '''
    first, *rest = written[3:-3].split("\n")
    margins = [len(line) - len(line.lstrip(" ")) for line in rest if line.strip()]
    margin = min(margins, default=0)
    return [first, *(line[margin:] if line.strip() else "" for line in rest)]
