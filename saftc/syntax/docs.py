"""Doc comments to what they document.

`/// text` stands directly above a function, a type, a field or a parameter, or at the end of the
field's or parameter's line; at the top of the file, with a blank line below it, it documents the
module. Several lines are one text.
"""

from collections.abc import Iterable, Sequence

from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.tokens import Comment
from saftc.syntax.walk import walk

# What a doc comment at the end of its line documents as well.
FIELDS = (n.Parameter, n.SchemaField, n.PatternField)
_DOCUMENTED = (n.FunctionDef, n.TypeAlias, n.RecordDef, *FIELDS)


def attach_docs(
    source: Source, statements: Sequence[n.Statement], comments: Iterable[Comment]
) -> dict[n.Node, str]:
    """The doc text of each documented node. The module's own is `module_doc`."""
    found = _documented(source, statements, comments)
    return {node: text_of(lines) for node, lines in found.items()}


def documenting(source: Source, module: n.Module) -> set[Comment]:
    """The doc comments that document something; the others are ordinary comments."""
    found = _documented(source, module.statements, module.comments)
    used = {comment for lines in found.values() for comment in lines}
    return used | set(module_doc(source, module)[1])


def _documented(
    source: Source, statements: Sequence[n.Statement], comments: Iterable[Comment]
) -> dict[n.Node, list[Comment]]:
    docs = [comment for comment in comments if comment.is_doc]
    if not docs:
        return {}
    own_line = {source.line_of(doc.span.start): doc for doc in docs if not doc.is_trailing}
    trailing = {source.line_of(doc.span.start): doc for doc in docs if doc.is_trailing}
    result: dict[n.Node, list[Comment]] = {}
    for statement in statements:
        for node in walk(statement):
            if not isinstance(node, _DOCUMENTED) or not _begins_line(source, node):
                continue
            lines = _block_above(own_line, source.line_of(node.span.start))
            if isinstance(node, FIELDS) and not lines:
                # Where a field of a field ends on the same line, the text is the outer one's.
                last = trailing.pop(source.line_of(node.span.end), None)
                lines = [last] if last is not None else []
            if lines:
                result[node] = lines
    return result


def _begins_line(source: Source, node: n.Node) -> bool:
    start = source.line_start(source.line_of(node.span.start))
    return not source.text[start : node.span.start].strip()


def module_doc(source: Source, module: n.Module) -> tuple[str, tuple[Comment, ...]]:
    """The module's doc text and the comments it is made of; empty when there is none."""
    lines: list[Comment] = []
    first = module.statements[0].span.start if module.statements else len(source.text)
    for comment in module.comments:
        line = source.line_of(comment.span.start)
        follows = not lines or line == source.line_of(lines[-1].span.start) + 1
        if not comment.is_doc or comment.is_trailing or comment.span.start > first or not follows:
            break
        lines.append(comment)
    if not lines:
        return "", ()
    below = source.line_of(lines[-1].span.start) + 1
    if module.statements and source.line_of(first) == below:
        return "", ()
    return text_of(lines), tuple(lines)


def text_of(lines: Sequence[Comment]) -> str:
    """The text of doc comments, without their slashes."""
    return "\n".join(line.text.removeprefix("///").removeprefix(" ") for line in lines).strip()


def _block_above(own_line: dict[int, Comment], line: int) -> list[Comment]:
    lines: list[Comment] = []
    while (comment := own_line.get(line - 1)) is not None:
        lines.insert(0, comment)
        line -= 1
    return lines
