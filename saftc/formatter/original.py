"""The parts of a script that its tree lacks: comments, blank lines, and texts as written.

A comment inside a statement is written once, by the innermost part of the tree around it that can
contain comments.
"""

import re
from collections.abc import Sequence

from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.comments import Comments, skip
from saftc.syntax.texts import dedent
from saftc.syntax.tokens import Comment

_HOLE = "\0"
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
        self.doc_comments = module.doc_comments
        # A trailing doc comment stays at its field, wherever the field's line ends.
        self.docs_beside = {
            node: comment for comment, node in module.doc_comments.items() if comment.is_trailing
        }
        placed = set(self.docs_beside.values())
        free = [comment for comment in module.comments if comment not in placed]
        self.comments = Comments(source, module, free)
        # The comments inside the current statement that have not been written yet.
        self.inner: list[Comment] = []

    # Places

    def skip(self, offset: int) -> int:
        """Returns the offset of the next character that is neither blank nor in a comment."""
        return skip(self.text, offset)

    def core(self, span: Span) -> int:
        """Returns the offset of the content of `span`, after its opening parentheses."""
        match = _OPENED_GAP.match(self.text, span.start)
        return match.end() if match else span.start

    def has_comma(self, offset: int) -> bool:
        """True if the next character after blanks and comments is a comma."""
        return self.text.startswith(",", self.skip(offset))

    def begins_line(self, offset: int) -> bool:
        """True if only blanks precede `offset` on its line."""
        line_start = self.source.line_start(self.source.line_of(offset))
        return not self.text[line_start:offset].strip()

    def closing(self, offset: int) -> int:
        """Returns the offset of the next closing bracket, after an optional comma."""
        offset = self.skip(offset)
        return self.skip(offset + 1) if self.text.startswith(",", offset) else offset

    def is_grouped(self, node: n.Node, first: n.Node) -> bool:
        """True if `node`, whose first part is `first`, is in parentheses."""
        return self.text.startswith("(", node.span.start) and first.span.start > node.span.start

    # Texts

    def token_at(self, offset: int) -> str:
        """Returns the number, string or word at `offset`, as written in the script."""
        match = _TOKEN.match(self.text, offset)
        assert match is not None
        return match.group()

    def prompt_text(self, prompt: n.Prompt, holes: Sequence[n.Hole]) -> tuple[list[str], bool]:
        """Returns the texts around a prompt's holes, and whether any text has several lines.

        The list has the text before each hole, then the text after the last hole. The texts are as
        written, without their common indentation and without blank lines at both ends.
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
