"""Writes the tree of a script as text in the standard format, with comments and blank lines.

    x=[1,2]   // note          x = [1, 2]  // note
    if(x):                     if x:
     print( "a" )                  print("a")

Blocks are indented by four spaces. A sequence that exceeds `WIDTH` columns, or ends with a comma,
has one item per line. A comment keeps its place above or beside a statement or item. A comment
elsewhere, such as between a name and its `=`, moves above the statement or item. Blank lines
separate paragraphs: at most two at the top level, and one in a block. Functions, and records with
rules, have at least one blank line above and below.
"""

import re
from collections.abc import Sequence
from typing import assert_never

from saftc.formatter.documents import INDENT, Doc, render
from saftc.formatter.expressions import write_behind, write_expression, write_pattern
from saftc.formatter.listings import index_for_displaced, plain_text
from saftc.formatter.original import Original
from saftc.formatter.schemas import write_annotation, write_parameters, write_pattern_fields
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.comments import StatementComments

WIDTH = 100

# An expression that begins like this is written in parentheses. Otherwise it would be parsed as
# another statement.
_OTHER_STATEMENT = re.compile(r"\{|(?:f|type|conv|from|import)[ ]+[A-Za-z_]")


def format_module(source: Source, module: n.Module) -> str:
    """Returns the text of `module`, which was parsed from `source`."""
    return _Unparser(source, module).run()


class _Unparser:
    def __init__(self, source: Source, module: n.Module) -> None:
        self.original = Original(source, module)
        self.comments = self.original.comments
        self.module = module
        self.lines: list[str] = []
        # True if the next line is the first of its block, and so has no blank line above it.
        self.begins_block = True

    def run(self) -> str:
        self._block(self.module.statements, 0)
        for comment in self.comments.end:
            self._line(comment.text, 0, self._blank_lines(comment.span.start, 0))
        return "".join(f"{line}\n" for line in self.lines)

    # Blocks

    def _block(self, statements: Sequence[n.Statement], indent: int) -> None:
        self.begins_block = True
        was_function = False
        for statement in statements:
            is_function = isinstance(statement, n.FunctionDef) or (
                isinstance(statement, n.RecordDef) and bool(statement.rules)
            )
            least = 1 if is_function or was_function else 0
            self._statement(statement, indent, least)
            was_function = is_function

    def _body(self, statements: Sequence[n.Statement], indent: int) -> None:
        """Writes a block below its head, and the comments at the end of the block."""
        indent += INDENT
        self._block(statements, indent)
        for comment in self.comments.footer(statements):
            self._line(comment.text, indent, self._blank_lines(comment.span.start, indent))

    # Statements

    def _statement(self, node: n.Statement, indent: int, least: int) -> None:
        own = self.comments.of(node)
        self.original.inner = own.inner
        match node:
            case n.FunctionDef():
                self._put(_function_head(self.original, node), own, node.span.start, indent, least)
                self._body(node.body, indent)
            case n.IfStmt():
                self._if(node, indent, least)
            case n.ForStmt():
                iterable = write_expression(self.original, node.iterable)
                schema = write_annotation(self.original, ": ", node.schema)
                doc = ("for ", write_pattern(node.pattern), schema, " in ", iterable, ":")
                self._put(doc, own, node.span.start, indent, least)
                self._body(node.body, indent)
            case n.RecordDef(rules=rules) if rules:
                doc = (_record_head(self.original, node), ":")
                self._put(doc, own, node.span.start, indent, least)
                self._body(rules, indent)
            case n.WhileStmt():
                doc = ("while ", write_expression(self.original, node.condition), ":")
                self._put(doc, own, node.span.start, indent, least)
                self._body(node.body, indent)
            case n.TryStmt():
                self._put("try:", own, node.span.start, indent, least)
                self._body(node.body, indent)
                head = "except:" if node.error is None else f"except {node.error.text}:"
                self._last(node, node.body[-1].span.end, head, node.handler, indent)
            case _:
                self._put(_simple_stmt(self.original, node), own, node.span.start, indent, least)

    def _if(self, node: n.IfStmt, indent: int, least: int) -> None:
        for branch in node.branches:
            is_first = branch is node.branches[0]
            own = self.comments.of(node if is_first else branch)
            self.original.inner = own.inner
            condition = write_expression(self.original, branch.condition)
            doc = ("if " if is_first else "elif ", condition, ":")
            self.begins_block = self.begins_block or not is_first
            self._put(doc, own, branch.span.start, indent, least)
            self._body(branch.body, indent)
        if node.other:
            self._last(node, node.branches[-1].span.end, "else:", node.other, indent)

    def _last(
        self,
        node: n.IfStmt | n.TryStmt,
        end: int,
        head: str,
        body: Sequence[n.Statement],
        indent: int,
    ) -> None:
        """Writes the `else` or `except` of a statement with its block.

        `end` is the end of the block before it.
        """
        self.begins_block = True
        self._put(head, self.comments.of_else(node), self.original.skip(end), indent, 0)
        self._body(body, indent)

    # Lines

    def _put(self, doc: Doc, own: StatementComments, start: int, indent: int, least: int) -> None:
        """Writes a statement or a head of a block, with the comments above, beside and inside it.

        If the script has no blank lines above, `least` blank lines are added.
        """
        lines = [
            (comment.text, self._blank_lines(comment.span.start, indent)) for comment in own.leading
        ]
        lines.append((render(doc, WIDTH, indent), self._blank_lines(start, indent)))
        lost = [(plain_text(comment), 0) for comment in own.inner]
        if lost:
            position = index_for_displaced(own.leading)
            text, blank_lines = lines[position]
            lines[position] = (text, 0)
            lines[position:position] = [(lost[0][0], blank_lines), *lost[1:]]
        if not any(blank_lines for _, blank_lines in lines):
            lines[0] = (lines[0][0], least)
        for text, blank_lines in lines:
            self._line(text, indent, blank_lines)
        beside = own.head or own.beside
        if beside is not None:
            self.lines[-1] += f"  {beside.text}"

    def _line(self, text: str, indent: int, blank_lines: int) -> None:
        if not self.begins_block:
            self.lines += [""] * blank_lines
        self.begins_block = False
        self.lines.append(" " * indent + text)

    def _blank_lines(self, offset: int, indent: int) -> int:
        if not self.original.begins_line(offset):
            return 0
        return min(self.original.source.blank_lines_above(offset), 1 if indent else 2)


def _function_head(original: Original, node: n.FunctionDef) -> Doc:
    opening = original.skip(node.name.span.end)
    last = node.parameters[-1].span.end if node.parameters else opening + 1
    inside = Span(opening, original.closing(last) + 1)
    parameters = write_parameters(original, node.parameters, inside)
    word = "conv " if node.is_conversion else "f "
    return (word, node.name.text, parameters, write_annotation(original, " -> ", node.returns), ":")


def _record_head(original: Original, node: n.RecordDef) -> Doc:
    opening = original.skip(node.name.span.end)
    last = node.fields[-1].span.end if node.fields else opening + 1
    inside = Span(opening, original.closing(last) + 1)
    return ("type ", node.name.text, write_parameters(original, node.fields, inside))


def _simple_stmt(original: Original, node: n.SimpleStatement) -> Doc:
    match node:
        case n.AssignStmt():
            schema = write_annotation(original, ": ", node.schema)
            return (node.name.text, schema, " = ", write_expression(original, node.value))
        case n.AugmentedAssignStmt():
            operand = write_expression(original, node.value.right)
            return (node.name.text, f" {node.value.operator}= ", operand)
        case n.UnpackStmt():
            return (write_pattern(node.pattern), " = ", write_expression(original, node.value))
        case n.DestructureStmt():
            inside = Span(node.span.start, original.closing(node.fields[-1].span.end))
            fields = write_pattern_fields(original, node.fields, inside)
            return (fields, " = ", write_expression(original, node.value))
        case n.BreakStmt():
            return "break"
        case n.ContinueStmt():
            return "continue"
        case n.RetStmt():
            return ("ret", write_behind(original, " ", node.value))
        case n.AssertStmt():
            condition = write_expression(original, node.condition)
            return ("assert ", condition, write_behind(original, ", ", node.message))
        case n.FailStmt():
            return ("fail ", write_expression(original, node.value))
        case n.TypeAlias():
            return ("type ", node.name.text, write_annotation(original, " = ", node.schema))
        case n.RecordDef():
            return _record_head(original, node)
        case n.ImportStmt():
            return f"import {_with_alias(node.module, node.alias)}"
        case n.FromImport():
            names = ", ".join(_with_alias(name.name, name.alias) for name in node.names)
            return f"from {node.module.text} import {names}"
        case n.ServerImport():
            names = ", ".join(_with_alias(name.name, name.alias) for name in node.names)
            return f"from mcp({original.token_at(node.server.span.start)}) import {names}"
        case n.ExpressionStmt():
            doc = write_expression(original, node.value)
            return ("(", doc, ")") if _OTHER_STATEMENT.match(render(doc, WIDTH, 0)) else doc
        case _:
            assert_never(node)


def _with_alias(name: n.Identifier, alias: n.Identifier | None) -> str:
    return name.text if alias is None else f"{name.text} as {alias.text}"
